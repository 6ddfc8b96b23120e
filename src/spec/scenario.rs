//! A `.spec` file as a scenario: what its sessions do, in whatever order.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::model::{Block, SpecFile, SpecSession, SpecStep};
use super::program::{Draft, TAKES_NO_SNAPSHOT};
use super::step_sets::StepSet;
use crate::program::{Action, Control, Op, Program, Statement};
use crate::scenario::source::Span;
use crate::scenario::template::{Piece as Text, Template};
use crate::scenario::{Level, Move, Piece, Plan, Requirement, Scenario, Script, Session, Variant, split};

/// What makes tables and what belongs to them, so that it need not be done for every schedule.
const MAKES: [&str; 6] = ["CREATE", "ALTER", "COMMENT", "GRANT", "SET", "DROP"];

impl From<&SpecFile> for Scenario {
    /// Each session's steps, one move each. Where the permutations leave steps out, or have them otherwise than the sessions,
    /// each set of steps that they use is a variant. Transactions name their levels themselves; where all name the same, that
    /// is the level.
    fn from(file: &SpecFile) -> Scenario {
        let names = session_names(file);
        let around = around_sessions(file);
        let sets = StepSet::all(file);
        let plan = |set: &StepSet| with_sessions(around.clone(), file, set, &names);
        let is_menu = !sets.iter().all(|set| set.is_whole(file));
        let variant = |set: &StepSet| {
            let plan = plan(set);
            let levels = own_level(&plan.sessions).into_iter().collect();
            let span = set.order.first().map(|&step| file.steps[step].span).unwrap_or_default();
            Variant { name: set.name(file), is_fix: false, levels, story: String::new(), span, plan }
        };
        let as_written = sets.first().map(plan).unwrap_or_default();
        Scenario {
            name: file.name.clone(),
            title: file.name.clone(),
            story: String::new(),
            sources: file.sources.clone(),
            levels: own_level(&as_written.sessions).into_iter().collect(),
            params: Vec::new(),
            databases: Vec::new(),
            pools: Vec::new(),
            load: None,
            variants: if is_menu { sets.iter().map(variant).collect() } else { Vec::new() },
            as_written,
            is_menu,
        }
    }
}

/// What is the same for every set of steps.
fn around_sessions(file: &SpecFile) -> Plan {
    let setups: Vec<Piece> = file.setups.iter().flat_map(pieces).collect();
    let made = setups.iter().take_while(|piece| MAKES.iter().any(|word| piece.begins_with(&[word]))).count();
    let (mut schema, mut setup) = (setups[..made].to_vec(), Vec::new());
    for piece in &setups[made..] {
        // Rows that are written before a table is made do not depend on it.
        let list = if is_plain_table(*piece) { &mut schema } else { &mut setup };
        list.push(*piece);
    }
    let teardown: Vec<Piece> = file.teardown.iter().flat_map(pieces).collect();
    Plan {
        requires: if needs_database(file) { vec![Requirement::Database] } else { Vec::new() },
        schema: script(&schema).into_iter().collect(),
        setup: script(&setup).into_iter().collect(),
        teardown: teardown.iter().map(|piece| text(&[*piece])).collect(),
        ..Plan::default()
    }
}

/// The plan of a set of steps; sessions without a part in it are left out.
fn with_sessions(around: Plan, file: &SpecFile, set: &StepSet, names: &[String]) -> Plan {
    let takes_part = |session: &usize| !set.of_sessions[*session].is_empty() || acts_before(&file.sessions[*session]);
    let taking_part: Vec<usize> = (0..file.sessions.len()).filter(takes_part).collect();
    let to_move = |&step: &usize| {
        let SpecStep { name, session, span, .. } = &file.steps[step];
        let session = taking_part.iter().position(|taking_part| taking_part == session)?;
        Some(Move::Step { session, transaction: None, step: name.clone(), span: *span })
    };
    let order = set.order.iter().filter_map(to_move).collect();
    let bound = |&session: &usize| bound(file, session, names[session].clone(), &set.of_sessions[session]);
    Plan { order, sessions: taking_part.iter().map(bound).collect(), ..around }
}

/// Whether a session does something in its setup that others can see.
fn acts_before(session: &SpecSession) -> bool {
    let quiet = |piece: &Piece| TAKES_NO_SNAPSHOT.iter().any(|word| piece.begins_with(&[word]));
    !session.setup.iter().flat_map(pieces).all(|piece| quiet(&piece))
}

/// Words of what is a whole database's, or says where in it something is. A file without them is content with a schema,
/// which is made in a tenth of the time.
const OF_A_DATABASE: [&str; 13] = [
    "pg_",
    "public",
    "notify",
    "listen",
    "database",
    "schema",
    "reg",
    "prepare",
    "extension",
    "role",
    "user",
    "concurrently",
    "temp",
];

fn needs_database(file: &SpecFile) -> bool {
    let says = |block: &Block| {
        let sql = block.sql.to_lowercase();
        OF_A_DATABASE.iter().any(|word| sql.contains(word))
    };
    file.blocks().any(says)
}

/// A table without rows that no other is part of.
fn is_plain_table(piece: Piece) -> bool {
    let sql = piece.text().to_lowercase();
    let others = [" as ", "select", "partition", "inherits", "values", "execute"];
    piece.begins_with(&["CREATE", "TABLE"]) && !others.iter().any(|word| sql.contains(word))
}

fn pieces(block: &Block) -> Vec<Piece<'_>> {
    split(&block.sql, block.span)
}

fn script(pieces: &[Piece]) -> Option<Script> {
    let (first, last) = (pieces.first()?, pieces.last()?);
    let op = |piece: &Piece| Op { step: 0, action: statement(text(&[*piece]), piece.control()), span: piece.span() };
    let program = Program { ops: pieces.iter().map(op).collect(), steps: Vec::new() };
    let span = Span { end: last.span().end, ..first.span() };
    Some(Script { program: Arc::new(program), span })
}

pub(super) fn statement(text: Template, control: Control) -> Action {
    Action::Statement(Statement { text, capture: None, lost: false, control, implicit: false })
}

/// The statements as one query.
pub(super) fn text(pieces: &[Piece]) -> Template {
    let mut texts = Vec::new();
    for piece in pieces {
        if !texts.is_empty() {
            texts.push(Text::Text { text: "; ".to_owned(), span: Span::default() });
        }
        texts.push(Text::Text { text: piece.text().to_owned(), span: piece.span() });
    }
    Template { pieces: texts, span: pieces.first().map(|piece| piece.span()).unwrap_or_default() }
}

/// Names that a schedule can be written with: others are given to sessions that share one or have blanks in it.
fn session_names(file: &SpecFile) -> Vec<String> {
    let mut taken = BTreeSet::new();
    file.sessions.iter().map(|session| unique(&session.name, &mut taken)).collect()
}

fn unique(name: &str, taken: &mut BTreeSet<String>) -> String {
    let plain = |c: char| if c.is_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    let name: String = name.chars().map(plain).collect();
    let mut unique = name.clone();
    let mut number = 1;
    while !taken.insert(unique.clone()) {
        number += 1;
        unique = format!("{name}-{number}");
    }
    unique
}

fn bound(file: &SpecFile, session: usize, name: String, steps: &[usize]) -> Session {
    let session = &file.sessions[session];
    let mut draft = Draft::new(&name, session.span);
    let setup: Vec<Piece> =
        session.setup.iter().flat_map(pieces).filter(|piece| !sets_deadlock_timeout(*piece)).collect();
    // What comes before its BEGIN is done before anybody moves.
    let begun = setup.iter().position(|piece| piece.control() == Control::Begin).unwrap_or(setup.len());
    let (before, opening) = setup.split_at(begun);
    draft.open(opening);
    for step in steps.iter().map(|&step| &file.steps[step]) {
        draft.step(&step.name, &step.block);
    }
    let calls = draft.finish(session.teardown.as_ref());
    Session {
        name,
        level: None,
        setup: before.iter().map(|piece| text(&[*piece])).collect(),
        calls,
        span: session.span,
    }
}

/// The lab sets it itself, so that a deadlock's victim is the session that closes the cycle.
fn sets_deadlock_timeout(piece: Piece) -> bool {
    let words = [
        &["SET", "DEADLOCK_TIMEOUT"][..],
        &["SET", "LOCAL", "DEADLOCK_TIMEOUT"],
        &["SET", "SESSION", "DEADLOCK_TIMEOUT"],
    ];
    words.iter().any(|words| piece.begins_with(words))
}

/// The level that every transaction of every session names.
fn own_level(sessions: &[Session]) -> Option<Level> {
    let mut levels = sessions.iter().flat_map(|session| &session.calls).map(|call| {
        match call.transaction.program.ops.first().map(|op| &op.action) {
            Some(Action::Statement(statement)) if statement.control == Control::Begin => {
                Level::named_in(&statement.text.written())
            }
            _ => None,
        }
    });
    let first = levels.next()??;
    levels.all(|level| level == Some(first)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::testing::spec;

    fn scenario(text: &str) -> Scenario {
        Scenario::from(&spec(text))
    }

    /// Each call's statements, with their steps.
    fn calls(session: &Session) -> Vec<Vec<String>> {
        let shown = |program: &Program| {
            let op = |op: &Op| match &op.action {
                Action::Statement(statement) => format!("{}: {}", program.steps[op.step], statement.text.written()),
                _ => String::new(),
            };
            program.ops.iter().map(op).collect()
        };
        session.calls.iter().map(|call| shown(&call.transaction.program)).collect()
    }

    #[test]
    fn a_sessions_begin_goes_with_its_first_step() {
        let scenario = scenario(
            "session a setup { SET enable_seqscan = off; BEGIN ISOLATION LEVEL SERIALIZABLE; SET deadlock_timeout = '9s'; }
             step r { SELECT 1; } step c { COMMIT; }",
        );
        let [session] = &scenario.as_written.sessions[..] else { panic!("one session") };
        assert_eq!(session.setup[0].written(), "SET enable_seqscan = off");
        assert_eq!(calls(session), [["r: BEGIN ISOLATION LEVEL SERIALIZABLE", "r: SELECT 1", "c: COMMIT"]]);
        assert_eq!(scenario.levels, [Level::Serializable]);
    }

    #[test]
    fn a_setup_that_takes_a_snapshot_is_a_move_of_its_own() {
        let scenario = scenario("session a setup { BEGIN; SELECT 1; } step r { SELECT 2; } step c { COMMIT; }");
        assert_eq!(calls(&scenario.as_written.sessions[0]), [["setup: BEGIN; SELECT 1", "r: SELECT 2", "c: COMMIT"]]);
        assert_eq!(scenario.levels, []);
    }

    #[test]
    fn every_transaction_is_a_call_and_one_that_nobody_ends_is_rolled_back() {
        let scenario = scenario(
            "session a step w { UPDATE t SET x = 1; } step b { BEGIN; SELECT 1; } step c { SELECT 2; COMMIT; BEGIN; }
             step d { DELETE FROM t } session b step e { BEGIN; } teardown { ROLLBACK; }",
        );
        let sessions = &scenario.as_written.sessions;
        assert_eq!(
            calls(&sessions[0]),
            [
                vec!["w: UPDATE t SET x = 1"],
                vec!["b: BEGIN; SELECT 1", "c: SELECT 2; COMMIT; BEGIN", "d: DELETE FROM t", "rollback: ROLLBACK"],
            ]
        );
        assert_eq!(calls(&sessions[1]), [["e: BEGIN", "teardown: ROLLBACK"]]);
    }

    #[test]
    fn tables_are_made_once_and_filled_for_every_schedule() {
        let text = "setup { CREATE TABLE t (x int); INSERT INTO t VALUES (1); CREATE TABLE u (x int); }
                    setup { CREATE INDEX ON u (x); ANALYZE t; } teardown { DROP TABLE t; } session a step x { SELECT 1 }";
        let plan = scenario(text).as_written;
        let lengths = |scripts: &[Script]| scripts.iter().map(|script| script.program.ops.len()).collect::<Vec<_>>();
        assert_eq!((lengths(&plan.schema), lengths(&plan.setup)), (vec![2], vec![3]));
        assert_eq!(plan.teardown[0].written(), "DROP TABLE t");
    }

    #[test]
    fn the_first_permutation_is_the_order() {
        let sessions = "session \"a b\" step x {} step y {} session a_b step z {} ";
        let found = |permutations: &str| scenario(&format!("{sessions}{permutations}"));
        let whole = [found(""), found("permutation z x y")];
        assert!(whole.iter().all(|found| !found.is_menu && found.variants.is_empty()));
        assert_eq!(whole.map(|found| found.as_written.order.len()), [3, 3]);
        let names: Vec<String> = found("").as_written.sessions.into_iter().map(|session| session.name).collect();
        assert_eq!(names, ["a_b", "a_b-2"]);
    }

    #[test]
    fn each_set_of_steps_is_a_variant_of_the_sessions_that_have_a_part_in_it() {
        let menu = scenario(
            "session a setup { BEGIN; } step x { SELECT 1; } step y { SELECT 2; } teardown { COMMIT; }
             session b setup { BEGIN ISOLATION LEVEL SERIALIZABLE; } step z { COMMIT; }
             session c setup { LISTEN n; } step w { SELECT 3; }
             permutation x z permutation z x permutation z permutation y x",
        );
        let sessions = |plan: &Plan| plan.sessions.iter().map(|session| session.name.clone()).collect::<Vec<_>>();
        let shown: Vec<_> = menu.variants.iter().map(|set| (set.name.as_str(), sessions(&set.plan))).collect();
        let named = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let expected = [("x z", named(&["a", "b", "c"])), ("z", named(&["b", "c"])), ("y x", named(&["a", "c"]))];
        assert_eq!((menu.is_menu, shown), (true, expected.to_vec()));
        assert_eq!(menu.variants.iter().map(|set| set.plan.order.len()).collect::<Vec<_>>(), [2, 1, 2]);
        assert_eq!(
            calls(&menu.variants[2].plan.sessions[0]),
            [["y: BEGIN", "y: SELECT 2", "x: SELECT 1", "teardown: COMMIT"]]
        );
        assert_eq!(menu.variants[1].levels, [Level::Serializable]);
        assert_eq!(menu.variants[0].levels, []);
    }
}
