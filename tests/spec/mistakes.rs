//! Every mistake gets isolationtester's message, and the exit code 2.

use crate::{isolab, run, written};

const SESSIONS: &str = "session a step a1 { SELECT 1; } step a2 { SELECT 2; }\nsession b step b1 { SELECT 3; }\n";

/// No server is needed to find a mistake.
fn told(text: &str, args: &[&str]) -> (i32, String, String) {
    let (_folder, path) = written("x.spec", text);
    let told = run(isolab(args).arg(path).args(["--db", "host=/nowhere"]));
    (told.code, told.out, told.err)
}

#[track_caller]
fn assert_mistake(text: &str, message: &str) {
    assert_eq!(told(text, &["--format", "isolationtester"]), (2, String::new(), format!("{message}\n")), "{text}");
    let (code, _, err) = told(text, &[]);
    assert_eq!(code, 2, "{text}");
    assert!(err.starts_with(&format!("error: {message}\n")) && err.contains("x.spec:"), "{err}");
}

#[test]
fn syntax_errors() {
    for (text, message) in [
        ("", "syntax error at line 1"),
        ("\nSTEP a { }", "syntax error at line 2"),
        ("session a\nstep { SELECT 1; }", "syntax error at line 2"),
        ("session a\nsetup { }\nsetup { }\nstep x { }", "syntax error at line 3"),
        ("teardown { }\nsetup { }", "syntax error at line 2"),
        ("session a step x { }\npermutation x\nsession b step y { }", "syntax error at line 3"),
        ("session a step x { }\npermutation x(\n)", "syntax error at line 3"),
        ("session a step x { }\npermutation x(y notices z)", "syntax error at line 2"),
        ("session a step x { }\npermutation\n", "syntax error at line 3"),
        ("session a step x { SELECT '{}'; }", "syntax error at line 1: unexpected character \"'\""),
        ("session a step x { }\n; ", "syntax error at line 2: unexpected character \";\""),
        ("session a step a-1 { }", "syntax error at line 1: unexpected character \"-\""),
    ] {
        assert_mistake(text, message);
    }
}

#[test]
fn what_is_not_closed() {
    assert_mistake("session a\nstep x { SELECT 1;\n", "unterminated sql block at line 3");
    assert_mistake("session a\nstep \"x { SELECT 1; }", "unterminated quoted identifier at line 2");
    assert_mistake("session a\nstep \"x\n\" { SELECT 1; }", "unexpected newline in quoted identifier at line 2");
}

#[test]
fn names_that_mean_nothing_or_too_much() {
    for (permutations, message) in [
        ("permutation a1 zz", "undefined step \"zz\" specified in permutation"),
        ("permutation a1(zz) b1", "undefined blocking step \"zz\" referenced in permutation step \"a1\""),
        ("permutation a1(b1)", "undefined blocking step \"b1\" referenced in permutation step \"a1\""),
        ("permutation a1(a2) a2", "permutation step \"a1\" cannot block on its own session"),
    ] {
        assert_mistake(&format!("{SESSIONS}{permutations}"), message);
    }
    assert_mistake("session a step x { }\nsession b step x { }", "duplicate step name: x");
}

#[test]
fn all_mistakes_are_drawn_at_once() {
    let (_, _, err) = told(&format!("{SESSIONS}permutation a1 bl\npermutation a1(a2) a2"), &[]);
    assert!(err.contains("did you mean `b1`?") && err.contains("cannot block on its own session"), "{err}");
}

#[test]
fn a_file_that_cannot_be_read_or_is_no_text() {
    let missing = run(&mut isolab(&["/nowhere/x.spec"]));
    assert_eq!(missing.code, 2);
    assert!(missing.err.contains("cannot read /nowhere/x.spec"), "{}", missing.err);
    let folder = tempfile::tempdir().expect("a folder");
    let empty = run(isolab(&[]).arg(folder.path()));
    assert_eq!((empty.code, empty.out.as_str()), (4, ""));
    std::fs::write(folder.path().join("x.spec"), b"session \xff").expect("written");
    let latin = run(isolab(&[]).arg(folder.path()));
    assert_eq!(latin.code, 2);
    assert!(latin.err.contains("is not UTF-8"), "{}", latin.err);
}

#[test]
fn an_unused_step_is_only_mentioned() {
    let text = format!("{SESSIONS}permutation b1");
    let (_folder, path) = written("x.spec", &text);
    let played = crate::spec(&["--format", "isolationtester", &path]);
    assert_eq!((played.code, played.err.as_str()), (0, "unused step name: a1\nunused step name: a2\n"));
    assert!(played.out.starts_with("Parsed test spec with 2 sessions\n\nstarting permutation: b1\n"), "{}", played.out);
}
