//! What reduction saves: for each program and level the orders, those that can happen, the schedules that are played with
//! reduction and without, and how long it takes.
//!
//! `cargo bench --bench reduction` for all of them, or `-- NAME...` for built-in scenarios and files. A dash: more than
//! 3,000 orders can happen, and not all were played.

#[path = "../tests/common/shapes.rs"]
mod shapes;

use std::time::{Duration, Instant};

use isolab::explore::{Exploration, Options, explore};
use isolab::scenario::{Level, Scenario, load};
use isolab::server::{Fetch, FindOptions, Server};

/// Not more are played of all orders.
const MOST_ORDERS: u64 = 3_000;

const BUILT_IN: [&str; 16] = [
    "write-skew",
    "read-skew",
    "nonrepeatable-read",
    "for-update-stale-at-rr",
    "deadlock-lock-order",
    "deadlock-share-upgrade",
    "check-then-debit",
    "double-claim-subselect",
    "delete-insert-replace",
    "fk-check-race",
    "max-plus-one",
    "skip-locked-reorder",
    "deposit-report",
    "read-only-anomaly",
    "outbox-cursor-gap",
    "long-fork",
];

fn main() -> anyhow::Result<()> {
    let server = Server::find(&FindOptions { fetch: Fetch::Always, ..FindOptions::default() })?;
    println!("{}\n", server.describe());
    let named: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let mut programs = Vec::new();
    if named.is_empty() {
        programs.push(("write skew 2 x 5".to_owned(), shapes::write_skew()));
        programs.extend((2..=4).map(|sessions| (format!("lost update {sessions} x 4"), shapes::lost_update(sessions))));
    }
    let names = if named.is_empty() { BUILT_IN.map(str::to_owned).to_vec() } else { named };
    for name in names {
        programs.push((name.clone(), load(&name)?));
    }
    println!(
        "{:<24}{:<17}{:>12}{:>12}{:>9}{:>9}{:>9}{:>9}",
        "program", "level", "orders", "can happen", "played", "seconds", "all", "seconds"
    );
    for (name, scenario) in &programs {
        for level in Level::ALL {
            let (reduced, seconds) = timed(&server, scenario, level, true)?;
            let (all, seconds_all) = timed(&server, scenario, level, false)?;
            let can_happen = if all.complete { all.schedules.to_string() } else { "-".to_owned() };
            let played = format!("{}{}", reduced.schedules, if reduced.complete { "" } else { "+" });
            println!(
                "{name:<24}{:<17}{:>12}{can_happen:>12}{played:>9}{seconds:>9.2}{:>9}{seconds_all:>9.2}",
                level.name(),
                reduced.orders,
                all.schedules
            );
        }
    }
    Ok(())
}

fn timed(server: &Server, scenario: &Scenario, level: Level, reduces: bool) -> anyhow::Result<(Exploration, f64)> {
    let begin = Instant::now();
    let options = Options {
        deadline: begin + Duration::from_secs(300),
        max_schedules: if reduces { 20_000 } else { MOST_ORDERS },
        fallback_seed: None,
        runners: 2,
        reduces,
        by_step: false,
        details: false,
    };
    let mut explored = explore(server, scenario, None, &[level], &options, &mut || ())?;
    let exploration = explored.pop().ok_or_else(|| anyhow::anyhow!("no level was explored"))?;
    Ok((exploration, begin.elapsed().as_secs_f64()))
}
