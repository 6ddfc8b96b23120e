//! Bodies made by chance: blocks in blocks, steps anywhere, transactions that begin and end anywhere.

use std::path::Path;

use proptest::prelude::*;

use super::survives;

/// Lines that may stand anywhere in a body that brings its own BEGIN and COMMIT.
const LINES: [&str; 16] = [
    "SELECT 1;",
    "SELECT n FROM t \\gset",
    "SELECT n FROM t \\gset p_",
    "UPDATE t\n    SET n = :x\n  WHERE true;",
    "BEGIN;",
    "COMMIT;",
    "COMMIT \\lost",
    "ROLLBACK;",
    "PREPARE TRANSACTION 'p';",
    "\\set x :x + 1",
    "\\echo it is :x",
    "\\connect other",
    "\\connect main",
    "\\effect SELECT 2",
    "\\reject no",
    "\\crash",
];

/// Names of steps, some of which look like those that statements get by themselves.
const STEPS: [&str; 6] = ["look", "1", "2", "commit", "rollback", "look"];

#[derive(Debug, Clone)]
enum Piece {
    Line(&'static str),
    Step(&'static str, &'static str),
    If(Vec<Vec<Piece>>, Option<Vec<Piece>>),
    While(Vec<Piece>),
    Try(Vec<Piece>, Vec<Vec<Piece>>),
}

fn pieces() -> impl Strategy<Value = Vec<Piece>> {
    let line = || prop::sample::select(LINES.as_slice());
    let leaf = prop_oneof![
        4 => line().prop_map(Piece::Line),
        1 => (prop::sample::select(STEPS.as_slice()), line()).prop_map(|(name, line)| Piece::Step(name, line)),
    ];
    let piece = leaf.prop_recursive(4, 24, 4, |piece| {
        let some = || prop::collection::vec(piece.clone(), 0..4);
        let branches = || prop::collection::vec(some(), 1..4);
        prop_oneof![
            (branches(), prop::option::of(some())).prop_map(|(branches, other)| Piece::If(branches, other)),
            some().prop_map(Piece::While),
            (some(), branches()).prop_map(|(tried, arms)| Piece::Try(tried, arms)),
        ]
    });
    prop::collection::vec(piece, 1..6)
}

fn write(pieces: &[Piece], text: &mut String) {
    for piece in pieces {
        match piece {
            Piece::Line(line) => *text += &format!("{line}\n"),
            Piece::Step(name, line) => *text += &format!("\\step {name}\n{line}\n"),
            Piece::If(branches, other) => {
                for (index, branch) in branches.iter().enumerate() {
                    *text += if index == 0 { "\\if :x > 1\n" } else { "\\elif :x\n" };
                    write(branch, text);
                }
                if let Some(other) = other {
                    *text += "\\else\n";
                    write(other, text);
                }
                *text += "\\endif\n";
            }
            Piece::While(body) => {
                *text += "\\while :x\n";
                write(body, text);
                *text += "\\endwhile\n";
            }
            Piece::Try(tried, arms) => {
                *text += "\\try\n";
                write(tried, text);
                for arm in arms {
                    *text += "\\on 40001, 23505\n";
                    write(arm, text);
                }
                *text += "\\endtry\n";
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_body_survives(pieces in pieces(), autocommit in any::<bool>()) {
        let autocommit = if autocommit { " autocommit" } else { "" };
        let mut text = format!("-- @title t\n-- @param x = 1\n-- @database other\n-- @session s{autocommit}\n");
        write(&pieces, &mut text);
        let begins = text.contains("BEGIN");
        let may_be_wrong = autocommit.is_empty() && !begins || text.contains("\\step");
        prop_assert!(survives(Path::new("body.sql"), &text) || may_be_wrong, "{}", text);
    }
}
