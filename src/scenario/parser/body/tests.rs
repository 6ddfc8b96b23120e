use super::*;
use crate::scenario::parser::slice::Slice;

const TRANSACTION: Kind = Kind::Transaction { autocommit: false };

/// Compiles a body; an operation a line: its step, what it does, and for a jump its target.
fn compiled(body: &str, kind: Kind) -> (Vec<String>, Vec<String>) {
    let mut diagnostics = Diagnostics::default();
    let connections = BTreeSet::from(["other".to_owned()]);
    let mut context = Context { diagnostics: &mut diagnostics, connections: &connections };
    let compiled = compile(Slice::whole(body, 0), kind, Span::default(), Scope::new(Vec::new()), &mut context);
    let program = compiled.program;
    let lines = program.ops.iter().map(|op| format!("{}: {}", program.steps[op.step], told(&op.action)));
    (lines.collect(), diagnostics.into_sorted().into_iter().map(|diagnostic| diagnostic.message).collect())
}

fn told(action: &Action) -> String {
    match action {
        Action::Statement(statement) => statement.text.written(),
        Action::Set { name, value } => format!("set {name} {}", value.written()),
        Action::JumpUnless { condition, target } => format!("unless {} go {target}", condition.written()),
        Action::Jump { target } => format!("go {target}"),
        Action::Reject { text, commit } => format!("reject {} commit={commit}", text.written()),
        Action::Try { arms } => {
            let arms: Vec<_> = arms.iter().map(|arm| format!("{} {}", arm.sqlstates.join(" "), arm.target)).collect();
            format!("try {}", arms.join(", "))
        }
        Action::Echo(text) => format!("echo {}", text.written()),
        Action::Effect(statement) => format!("effect {}", statement.written()),
        other => format!("{other:?}").to_lowercase(),
    }
}

#[track_caller]
fn compiles(body: &str, kind: Kind, expected: &[&str]) {
    let (ops, messages) = compiled(body, kind);
    assert_eq!(messages, [""; 0]);
    assert_eq!(ops, expected);
}

#[track_caller]
fn complains(body: &str, kind: Kind, expected: &[&str]) {
    assert_eq!(compiled(body, kind).1, expected);
}

#[test]
fn begin_and_commit_are_added_to_a_body_without_them() {
    compiles("A;\nB;", TRANSACTION, &["1: BEGIN", "1: A", "2: B", "commit: COMMIT"]);
    compiles("\\step x\nA;\nB;\n\\step y\nC;", TRANSACTION, &["x: BEGIN", "x: A", "x: B", "y: C", "commit: COMMIT"]);
    compiles("A;\nB;", Kind::Transaction { autocommit: true }, &["1: A", "2: B"]);
}

#[test]
fn what_leads_up_to_a_transaction_comes_before_its_begin() {
    compiles(
        "\\connect other\n\\set i 1\n\\while :i < 3\nA;\n\\endwhile",
        TRANSACTION,
        &[
            "1: connect { name: \"other\" }",
            "1: set i 1",
            "1: BEGIN",
            "1: unless :i < 3 go 7",
            "1: round { limit: 1000 }",
            "1: A",
            "1: go 3",
            "commit: COMMIT",
        ],
    );
}

#[test]
fn own_begins_and_commits_are_steps_as_written() {
    let body = "BEGIN;\n\\step load\nA;\n\\step loaded\nCOMMIT;\nBEGIN;\nB;\nROLLBACK;\n\\step discard\nC;\nBEGIN;\nPREPARE TRANSACTION 'x';\n\\crash";
    compiles(
        body,
        TRANSACTION,
        &[
            "load: BEGIN",
            "load: A",
            "loaded: COMMIT",
            "1: BEGIN",
            "1: B",
            "rollback: ROLLBACK",
            "discard: C",
            "prepare: BEGIN",
            "prepare: PREPARE TRANSACTION 'x'",
            "prepare: crash",
        ],
    );
}

#[test]
fn a_begin_that_a_step_names_is_of_that_step() {
    compiles(
        "\\step begin\nBEGIN;\n\\step read\nA;\nCOMMIT;",
        TRANSACTION,
        &["begin: BEGIN", "read: A", "commit: COMMIT"],
    );
}

#[test]
fn commands_run_with_the_statement_before_them() {
    compiles(
        "\\set a 1\nA;\n\\echo x\n\\step pay\n\\effect E\nBEGIN;\n\\set b 2\n\\step y\nB;\nCOMMIT;\n\\set c 3",
        TRANSACTION,
        &[
            "1: set a 1",
            "1: A",
            "1: echo x",
            "pay: effect E",
            "y: BEGIN",
            "y: set b 2",
            "y: B",
            "commit: COMMIT",
            "commit: set c 3",
        ],
    );
}

#[test]
fn branches_become_jumps() {
    compiles(
        "A;\n\\if a\nB;\n\\elif b\nC;\n\\else\nD;\n\\endif\n\\if c\n\\endif",
        Kind::Script,
        &[
            "1: A",
            "1: unless a go 4",
            "2: B",
            "2: go 8",
            "2: unless b go 7",
            "3: C",
            "3: go 8",
            "4: D",
            "4: unless c go 9",
        ],
    );
}

#[test]
fn errors_are_caught_by_arms() {
    compiles(
        "\\try\nA;\n\\on 23505, 40001\nB;\n\\on 40P01\nC;\n\\endtry\nD;",
        Kind::Script,
        &["1: try 23505 40001 4, 40P01 6", "1: A", "1: leave", "1: go 7", "2: B", "2: go 7", "3: C", "4: D"],
    );
}

#[test]
fn a_call_that_can_be_rejected_has_a_commit_step() {
    let mut diagnostics = Diagnostics::default();
    let connections = BTreeSet::new();
    let mut context = Context { diagnostics: &mut diagnostics, connections: &connections };
    let kind = Kind::Transaction { autocommit: true };
    let body = Slice::whole("A;\n\\reject no", 0);
    let program = compile(body, kind, Span::default(), Scope::new(Vec::new()), &mut context).program;
    assert_eq!(program.steps, ["1", "commit"]);
}

#[test]
fn blocks_close_in_their_body() {
    complains("\\if a\n\\while b\nA;\n\\endwhile", Kind::Script, &["this `\\if` has no `\\endif`"]);
    complains("\\if a\n\\endwhile\n\\endif", Kind::Script, &["this `\\endwhile` belongs to no open `\\while`"]);
    complains("\\else\nA;", Kind::Script, &["this `\\else` belongs to no open `\\if`"]);
    complains("\\if a\n\\else\n\\else\n\\endif", Kind::Script, &["this `\\else` belongs to no open `\\if`"]);
    complains("\\try\nA;\n\\endtry", Kind::Script, &["this `\\try` has no `\\on` that says which errors it catches"]);
}

#[test]
fn a_variable_needs_something_that_sets_it() {
    complains("SELECT :a;\n\\set a 1", Kind::Script, &[]);
    complains("SELECT :a;\nSELECT 1 AS a \\gset", Kind::Script, &["variable `a` is used before anything sets it"]);
    complains("SELECT 1 AS a \\gset p_\nSELECT :p_a, :a;", Kind::Script, &["unknown variable `a`"]);
    complains("SELECT * FROM t \\gset\nSELECT :anything;", Kind::Script, &[]);
    complains(
        "SELECT Total, \"Total\" FROM t \\gset\nSELECT :total, :Total, :TOTAL;",
        Kind::Script,
        &["unknown variable `TOTAL`"],
    );
    complains("SELECT :ROW_COUNT, :SQLSTATE, :COMMAND_TAG, :NOTIFIED;", Kind::Script, &[]);
}

#[test]
fn a_reject_after_a_write_is_doubtful() {
    let warning = "`\\reject` commits what the transaction has written";
    complains("UPDATE t SET a = 1;\n\\if true\n\\reject no\n\\endif", TRANSACTION, &[warning]);
    complains("UPDATE t SET a = 1;\n\\if :ROW_COUNT = 0\n\\reject no\n\\endif", TRANSACTION, &[]);
    complains("UPDATE t SET a = 1 RETURNING id \\gset\n\\if :id IS NULL\n\\reject no\n\\endif", TRANSACTION, &[]);
    complains(
        "DELETE FROM t;\nUPDATE t SET a = 1;\n\\if :ROW_COUNT = 0\n\\reject no\n\\endif",
        TRANSACTION,
        &[warning],
    );
    complains("BEGIN;\nDELETE FROM t;\nCOMMIT;\n\\reject no", TRANSACTION, &[]);
    complains("DELETE FROM t;\n\\rollback no", TRANSACTION, &[]);
}

#[test]
fn what_a_body_cannot_do_is_said() {
    complains("A;\nCOMMIT;", TRANSACTION, &["`COMMIT` without a BEGIN before it"]);
    complains(
        "A;\n\\connect other\nB;",
        TRANSACTION,
        &["`\\connect` inside a transaction whose BEGIN and COMMIT the lab adds"],
    );
    complains("\\step x\nA;", Kind::Script, &["`\\step` has its place in a transaction"]);
    complains(
        "\\step x\n\\step y\nA;\n\\step z",
        TRANSACTION,
        &["this step has nothing in it", "this step has nothing in it"],
    );
    complains("COPY t FROM STDIN;", Kind::Script, &["COPY FROM STDIN has no client here to send its rows"]);
}
