//! `-v` and `-vv` as a user meets them.

use std::process::Command;

/// Standard output and standard error.
fn run(flags: &[&str]) -> (String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isolab"));
    command.args(["run", "write-skew", "--isolation", "serializable"]).args(flags).env("ISOLAB_FETCH", "1");
    let output = command.output().expect("the program runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    assert_eq!(output.status.code(), Some(0), "{}", text(output.stderr));
    (text(output.stdout), text(output.stderr))
}

#[test]
fn what_the_server_is_sent_is_told_beside_the_report() {
    let (report, silence) = run(&[]);
    assert_eq!(silence, "");
    let (same, statements) = run(&["-v"]);
    assert_eq!(same, report);
    for part in ["/alice [", "] > COMMIT\n", "] < INSERT 0 1\n", "] < ERROR 40001: could not serialize access"] {
        assert!(statements.contains(part), "{part}:\n{statements}");
    }
    assert!(!statements.contains("row ("), "{statements}");
    let (same, messages) = run(&["-vv"]);
    assert_eq!(same, report);
    for part in ["] < columns budget\n", "] < row (5000)\n", "] < ready: InTransaction\n"] {
        assert!(messages.contains(part), "{part}:\n{messages}");
    }
}
