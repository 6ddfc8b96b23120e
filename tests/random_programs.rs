//! Reduction loses nothing on programs that nobody wrote: small transactions drawn by a seed, explored with and without it.
//!
//! `ISOLAB_PROGRAMS=5000` draws so many in place of the usual ones, `ISOLAB_SEED=7` the first of them from that seed, and
//! `ISOLAB_ORDERS=252` longer ones.

mod common;

use std::convert::Infallible;
use std::fs;
use std::path::Path;

use common::forms::{explored, losses, options};
use common::random_program::program;
use isolab::explore::Verdict;
use isolab::runner::{room, side_by_side};
use isolab::scenario::{Disk, Level, parse};
use isolab::server::Server;

const PROGRAMS: u64 = 200;
const ORDERS: u64 = 100;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect(variable))
}

/// What is wrong with exploring a program.
fn mistakes(server: &Server, text: &str) -> Vec<String> {
    let scenario = parse(&Disk, Path::new("random.sql"), text).expect("valid").scenario;
    let [all, reduced] =
        [false, true].map(|reduces| explored(server, &scenario, None, &Level::ALL, &options(reduces, 2_000, 120)));
    assert_eq!((all.len(), reduced.len()), (3, 3), "{text}");
    let mut mistakes = Vec::new();
    for (all, reduced) in all.iter().zip(&reduced) {
        assert!(all.complete && reduced.complete, "{text}");
        let losses = losses(all, reduced);
        if !losses.is_empty() {
            mistakes.push(format!("{}:\n{losses}", all.isolation));
        }
        let proves = all.isolation == Level::Serializable && all.by_design.is_empty();
        if proves && all.verdict == Verdict::Broken {
            mistakes.push(format!("broken at SERIALIZABLE:\n{:#?}", all.failures));
        }
    }
    mistakes.iter().map(|mistake| format!("{mistake}\n{text}")).collect()
}

/// Programs that an earlier relation between choices got wrong.
#[test]
fn reduction_loses_no_outcome_that_it_once_lost() {
    let server = Server::find(&common::find_options()).expect("a server");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    for entry in folder.read_dir().expect("a folder") {
        let text = fs::read_to_string(entry.expect("an entry").path()).expect("readable");
        assert_eq!(mistakes(&server, &text), Vec::<String>::new());
    }
}

#[test]
fn reduction_loses_no_outcome_of_random_programs() {
    let server = Server::find(&common::find_options()).expect("a server");
    let first = number("ISOLAB_SEED").unwrap_or(0);
    let orders = number("ISOLAB_ORDERS").unwrap_or(ORDERS);
    let seeds: Vec<u64> = (first..first + number("ISOLAB_PROGRAMS").unwrap_or(PROGRAMS)).collect();
    let mut wrong = Vec::new();
    let take = |mistakes: Vec<String>| {
        mistakes.iter().for_each(|mistake| eprintln!("{mistake}"));
        wrong.extend(mistakes);
        Ok::<(), Infallible>(())
    };
    let of_seed = |seed| -> Vec<String> {
        let found = mistakes(&server, &program(seed, orders));
        found.iter().map(|mistake| format!("ISOLAB_SEED={seed} ISOLAB_ORDERS={orders} {mistake}")).collect()
    };
    let threads = room(&server).expect("an answer");
    side_by_side(&seeds, threads, |_| false, |seed| of_seed(*seed), take).expect("no error stops it");
    assert!(wrong.is_empty(), "{} mistakes with {} programs from seed {first}", wrong.len(), seeds.len());
}
