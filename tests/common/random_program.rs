//! Small scenarios by a seed: two or three sessions, each with a transaction of a few statements on three rows.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

const TABLES: &str = "\
-- @schema
CREATE TABLE t (id int PRIMARY KEY, v int);
CREATE TABLE child (id int PRIMARY KEY, parent int REFERENCES t ON DELETE CASCADE);
CREATE TABLE drawn (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, v int UNIQUE);

-- @setup
INSERT INTO t VALUES (1, 0), (2, 1), (3, 2);
";

/// The text of a scenario with at most so many orders.
pub fn program(seed: u64, most_orders: u64) -> String {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let lengths = loop {
        let sessions = if random.random_bool(0.7) { 2 } else { 3 };
        let lengths: Vec<u64> = (0..sessions).map(|_| random.random_range(1..=4)).collect();
        if orders(&lengths) <= most_orders {
            break lengths;
        }
    };
    let mut text = format!("-- @title Random program {seed}\n{TABLES}");
    if random.random_bool(0.5) {
        text += "\n-- @retry 5\n";
    }
    for (session, &length) in lengths.iter().enumerate() {
        text += &format!("\n-- @session {}\n\\set x 0\n", ["a", "b", "c"][session]);
        for _ in 0..length {
            text += &statement(&mut random);
        }
        if random.random_bool(0.1) {
            text += "\\rollback no\n";
        }
    }
    text
}

/// In how many orders statements, and a COMMIT for each session, could start.
fn orders(lengths: &[u64]) -> u64 {
    let mut placed = 0;
    let factor = |step: u64, placed: &mut u64, orders: u64| {
        *placed += 1;
        orders * *placed / step
    };
    lengths
        .iter()
        .fold(1, |orders, length| (1..=length + 1).fold(orders, |orders, step| factor(step, &mut placed, orders)))
}

fn statement(random: &mut Xoshiro256PlusPlus) -> String {
    let statement = plain_statement(random);
    match random.random_range(0..10) {
        0 => format!("\\if :x > {}\n  {statement}\\endif\n", random.random_range(0..3)),
        _ => statement,
    }
}

fn plain_statement(random: &mut Xoshiro256PlusPlus) -> String {
    let key = match random.random_range(0..8) {
        0 => ":x % 3 + 1".to_owned(),
        1 => "4".to_owned(),
        _ => random.random_range(1..=3).to_string(),
    };
    let value = match random.random_range(0..4) {
        0 => ":x + 1".to_owned(),
        _ => random.random_range(0..4).to_string(),
    };
    let limit = random.random_range(0..3);
    let lock = ["UPDATE", "NO KEY UPDATE", "SHARE", "KEY SHARE"][random.random_range(0..4)];
    match random.random_range(0..26) {
        0..=2 => format!("SELECT v AS x FROM t WHERE id = {key} \\gset\n"),
        3 => format!("SELECT count(*) AS x FROM t WHERE v > {limit} \\gset\n"),
        4 => "SELECT sum(v) AS x FROM t \\gset\n".to_owned(),
        5 => "SELECT * FROM t;\n".to_owned(),
        6 => "SELECT count(*) AS x FROM child \\gset\n".to_owned(),
        7 | 8 => format!("SELECT v AS x FROM t WHERE id = {key} FOR {lock} \\gset\n"),
        9 => format!("SELECT id FROM t WHERE v > {limit} ORDER BY id FOR {lock};\n"),
        10 | 11 => format!("UPDATE t SET v = {value} WHERE id = {key};\n"),
        12 | 13 => format!("UPDATE t SET v = v + 1 WHERE id = {key};\n"),
        14 => format!("UPDATE t SET v = v + 2 WHERE id = {key} AND v < {limit};\n"),
        15 => format!("UPDATE t SET v = v + 1 WHERE v > {limit};\n"),
        16 => format!("UPDATE t SET v = (SELECT max(v) FROM t) + 1 WHERE id = {key};\n"),
        17 => format!("INSERT INTO t VALUES ({}, {value});\n", random.random_range(3..=5)),
        18 => format!("INSERT INTO t VALUES ({}, {value}) ON CONFLICT DO NOTHING;\n", random.random_range(3..=5)),
        19 => format!(
            "INSERT INTO t VALUES ({}, {value}) ON CONFLICT (id) DO UPDATE SET v = t.v + 1;\n",
            random.random_range(3..=5)
        ),
        20 => format!("DELETE FROM t WHERE id = {key};\n"),
        21 => format!("DELETE FROM t WHERE v > {};\n", limit + 1),
        23 => format!("INSERT INTO drawn (v) VALUES ({value});\n"),
        24 => format!("SELECT count(*) AS x FROM drawn WHERE v = {limit} \\gset\n"),
        22 => format!("INSERT INTO child VALUES ({}, {key});\n", random.random_range(1..=2)),
        _ => format!("SELECT id AS x FROM t ORDER BY id LIMIT 1 FOR {lock} SKIP LOCKED \\gset\n"),
    }
}
