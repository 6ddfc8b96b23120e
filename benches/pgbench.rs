//! Compares the load test's throughput with pgbench's, for the same statements on the same server:
//!
//!     cargo bench --bench pgbench -- /usr/lib/postgresql/15/bin
//!
//! The argument is the folder of PostgreSQL's programs; the server is a throwaway one of that version. The two take
//! turns, and the medians are compared: above 1.0 the load test is the faster one.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use isolab::load::{LoadOptions, LoadTest};
use isolab::scenario::{LoadAmount, load};
use isolab::server::{Extra, FindOptions, PgBin, Server, Throwaway};

const ROUNDS: usize = 5;
const SECONDS: u64 = 3;
const WORKERS: u32 = 16;

fn main() -> anyhow::Result<()> {
    let folder = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let Some(folder) = folder.map(PathBuf::from) else {
        bail!("name the folder with PostgreSQL's programs: cargo bench --bench pgbench -- /usr/lib/postgresql/15/bin");
    };
    let throwaway = Throwaway::start(&PgBin::probe(&folder)?, &Extra::default())?;
    let options = throwaway.tcp_options();
    let password = options.password.clone().unwrap_or_default();
    let url = format!("postgres://{}:{password}@{}/{}", options.user, options.address(), options.database);
    let server = Server::find(&FindOptions { db: Some(url.clone()), ..FindOptions::default() })?;
    println!("{}, {WORKERS} workers, {ROUNDS} rounds of {SECONDS} s in turn", server.version());
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 1..=ROUNDS {
        ours.push(isolab(&server)?);
        theirs.push(pgbench(&folder, &url)?);
        println!("round {round}: isolab {:.0}/s, pgbench {:.0}/s", ours[round - 1], theirs[round - 1]);
    }
    let (ours, theirs) = (median(ours), median(theirs));
    println!("median: isolab {ours:.0}/s, pgbench {theirs:.0}/s, ratio {:.2}", ours / theirs);
    Ok(())
}

fn benches() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches")
}

fn isolab(server: &Server) -> anyhow::Result<f64> {
    let scenario = load(&benches().join("approve.sql").to_string_lossy())?;
    let options = LoadOptions {
        strategies: Vec::new(),
        levels: Vec::new(),
        workers: Some(WORKERS),
        amount: Some(LoadAmount::For(Duration::from_secs(SECONDS))),
        set: Vec::new(),
        seed: 1,
        shuffled: false,
        attempts: None,
        warm_up: Duration::ZERO,
        deadline: Instant::now() + Duration::from_secs(60),
    };
    let test = LoadTest::new(&scenario, options)?;
    let row = test.run(server, &test.strategies()[0], &|| ())?;
    ensure!(row.ok == row.requests, "requests failed: {:?}", row.errors);
    Ok(row.tps)
}

/// In its fastest form: prepared statements, a thread for each processor.
fn pgbench(folder: &Path, url: &str) -> anyhow::Result<f64> {
    let mut client = postgres::Client::connect(url, postgres::NoTls)?;
    client.batch_execute(
        "DROP TABLE IF EXISTS teams, expenses;
         CREATE TABLE teams (id int PRIMARY KEY, budget bigint NOT NULL, spent bigint NOT NULL DEFAULT 0);
         CREATE TABLE expenses (team_id int NOT NULL, amount int NOT NULL);
         INSERT INTO teams (id, budget) SELECT id, 1000000000000 FROM generate_series(1, 100) AS id",
    )?;
    let processors = std::thread::available_parallelism()?.get();
    let output = Command::new(folder.join("pgbench"))
        .args(["--no-vacuum", "--protocol=prepared"])
        .args([format!("--client={WORKERS}"), format!("--jobs={processors}"), format!("--time={SECONDS}")])
        .arg(format!("--file={}", benches().join("approve.pgbench").display()))
        .arg(url)
        .output()
        .context("pgbench")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let tps = text.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok());
    tps.with_context(|| format!("pgbench said: {text}{}", String::from_utf8_lossy(&output.stderr)))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
