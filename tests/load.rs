//! Load tests on real PostgreSQL, through the engine.

mod common;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use common::{installations, server_by_flag};
use isolab::load::statistics::LoadRow;
use isolab::load::{LoadError, LoadOptions, LoadTest};
use isolab::scenario::{Disk, LoadAmount, Scenario, load, parse};
use isolab::server::Server;

fn options() -> LoadOptions {
    LoadOptions {
        strategies: Vec::new(),
        levels: Vec::new(),
        workers: None,
        amount: None,
        set: Vec::new(),
        seed: 7,
        shuffled: false,
        attempts: None,
        warm_up: Duration::ZERO,
        deadline: Instant::now() + Duration::from_secs(120),
    }
}

fn tried(server: &Server, scenario: &Scenario, options: LoadOptions) -> Result<Vec<LoadRow>, LoadError> {
    let test = LoadTest::new(scenario, options)?;
    test.strategies().iter().map(|strategy| test.run(server, strategy, &|| ())).collect()
}

fn rows(server: &Server, scenario: &Scenario, options: LoadOptions) -> Vec<LoadRow> {
    let rows = tried(server, scenario, options).expect("a load test");
    for row in &rows {
        assert_eq!(row.ok + row.rejected + row.gave_up + row.failed + row.unknown, row.requests, "{row:?}");
        let explained: u64 = row.errors.iter().map(|error| error.requests).sum();
        assert_eq!(explained, row.gave_up + row.failed + row.unknown, "{row:?}");
    }
    rows
}

/// Runs the only strategy of a scenario on every installed version.
fn on_every_version(text: &str, check: impl Fn(LoadRow)) {
    for bin in installations() {
        let (_throwaway, server) = server_by_flag(&bin);
        check(only(rows(&server, &scenario(text), options())));
    }
}

fn scenario(text: &str) -> Scenario {
    parse(&Disk, Path::new("test.sql"), text).expect("a valid scenario").scenario
}

fn only(mut rows: Vec<LoadRow>) -> LoadRow {
    assert_eq!(rows.len(), 1);
    rows.remove(0)
}

fn measure(row: &LoadRow, name: &str) -> i64 {
    let measure = row.measures.iter().find(|measure| measure.name == name).expect(name);
    measure.value.as_ref().expect("a value").parse().expect("a whole number")
}

#[test]
fn the_naive_strategies_overspend_and_the_fixes_never_do() {
    for bin in installations() {
        let (_throwaway, server) = server_by_flag(&bin);
        let rows = rows(&server, &load("overspend").expect("built in"), options());
        let names: Vec<&str> = rows.iter().map(|row| row.strategy.as_str()).collect();
        assert_eq!(names, ["naive-rc", "naive-rr", "serializable", "for-update", "conditional"]);
        for row in &rows {
            assert_eq!((row.requests, row.workers), (400, 16));
            let over_budget = measure(row, "over_budget");
            assert_eq!(over_budget > 0, row.strategy.starts_with("naive"), "{row:?}");
            assert_eq!(row.checks[0].holds, over_budget == 0, "{row:?}");
            assert_eq!(over_budget, (measure(row, "total") - 50_000).max(0), "{row:?}");
            assert_eq!(row.failed + row.unknown, 0, "{row:?}");
        }
    }
}

#[test]
fn requests_that_reach_the_cap_give_up() {
    for bin in installations() {
        let (_throwaway, server) = server_by_flag(&bin);
        let scenario = load("overspend").expect("built in");
        let strategies = vec!["serializable".to_owned()];
        let row = only(rows(&server, &scenario, LoadOptions { strategies, attempts: Some(3), ..options() }));
        assert!(row.gave_up > 0, "{row:?}");
        assert_eq!((row.most_attempts, row.errors[0].error.sqlstate.as_str()), (3, "40001"));
        assert_eq!(measure(&row, "over_budget"), 0);
    }
}

#[test]
fn a_client_without_a_policy_does_not_retry() {
    let text = "
-- @schema
CREATE TABLE counter (n int);
-- @setup
INSERT INTO counter VALUES (0);
-- @transaction add()
SELECT n FROM counter \\gset
UPDATE counter SET n = :n + 1;
-- @load add() by 8 workers, 80 requests
-- @measure n
SELECT n FROM counter;
";
    for bin in installations() {
        let (_throwaway, server) = server_by_flag(&bin);
        let levels = vec!["repeatable-read".parse().expect("a level")];
        let row = only(rows(&server, &scenario(text), LoadOptions { levels, attempts: Some(5), ..options() }));
        assert_eq!((row.ok as i64, row.retries, row.most_attempts, row.gave_up), (measure(&row, "n"), 0, 1, 0));
        assert!(row.failed > 0, "{row:?}");
        assert_eq!(row.errors[0].error.place.as_deref(), Some("test.sql:8:1"));
    }
}

#[test]
fn statements_mean_the_same_prepared_or_not() {
    let text = "
-- @param tag = 'a'
-- @param memory = '123kB'
-- @schema
CREATE TABLE seen (worker int, request int, half int, long bool, setting text, doc jsonb, day date, tag text);
-- @transaction note(worker, request, day)
SET LOCAL work_mem = :memory;
\\set half :request / 2
\\set long length(:tag) > 3
SELECT current_setting('work_mem') AS setting \\gset
INSERT INTO seen VALUES (:worker, :request, :half, :long, :setting, jsonb_build_object('tag', :tag, 'n', :request), :day, :tag);
-- @load note(:worker, :request, date '2026-11-30' + :request) by 3 workers, 60 requests
-- @measure wrong
SELECT count(*) FILTER (WHERE half <> request / 2 OR long OR setting <> '123kB' OR doc <> jsonb_build_object('tag', 'a', 'n', request)
                           OR day <> date '2026-11-30' + request OR tag <> 'a' OR worker NOT BETWEEN 1 AND 3) FROM seen;
-- @measure requests
SELECT count(DISTINCT request) FROM seen WHERE request BETWEEN 1 AND 60;
";
    on_every_version(text, |row| {
        assert_eq!((row.ok, measure(&row, "wrong"), measure(&row, "requests")), (60, 0, 60), "{row:?}");
    });
}

#[test]
fn an_error_in_the_last_statement_is_that_statements_error() {
    let text = "
-- @schema
CREATE TABLE expenses (amount int CHECK (amount < 50));
-- @transaction add(amount)
INSERT INTO expenses VALUES (1);
INSERT INTO expenses VALUES (:amount);
-- @load add(:request) by 4 workers, 100 requests
-- @measure rows
SELECT count(*) FROM expenses;
";
    on_every_version(text, |row| {
        assert_eq!((row.ok, row.failed, row.unknown, measure(&row, "rows")), (49, 51, 0, 98), "{row:?}");
        assert_eq!(row.errors[0].error.sqlstate, "23514");
    });
}

#[test]
fn a_body_with_a_begin_of_its_own_catches_its_errors() {
    let text = "
-- @schema
CREATE TABLE taken (n int PRIMARY KEY);
CREATE TABLE log (n int, attempt text);
-- @transaction take(n)
\\sleep 1 ms
BEGIN;
\\try
INSERT INTO taken VALUES (:n % 10);
\\on 23505
ROLLBACK;
\\reject taken
\\endtry
INSERT INTO log VALUES (:n, :SQLSTATE);
COMMIT;
-- @load take(:request) by 4 workers, 100 requests
-- @measure taken
SELECT count(*) FROM taken;
-- @measure logged
SELECT count(*) FROM log WHERE attempt = '00000';
";
    on_every_version(text, |row| {
        assert_eq!(
            (row.ok, row.rejected, measure(&row, "taken"), measure(&row, "logged")),
            (10, 90, 10, 10),
            "{row:?}"
        );
    });
}

#[test]
fn the_record_says_what_every_attempt_was_told() {
    let text = "
-- @schema
CREATE TABLE counter (n int);
-- @setup
INSERT INTO counter VALUES (0);
-- @transaction add(request)
\\if :request > 90
  \\reject too late
\\endif
SELECT n FROM counter \\gset
UPDATE counter SET n = :n + 1;
-- @retry 100
-- @load add(:request) by 8 workers, 100 requests
-- @check told
SELECT count(*) FILTER (WHERE told = 'ok' AND fate = 'committed') = 90 AND count(*) FILTER (WHERE message = 'too late') = 10
   AND count(*) FILTER (WHERE told = 'retried' AND sqlstate = '40001') = count(*) - 100 AND raised('40001') FROM isolab_told;
-- @check read
SELECT seen('alice', 'check', 'n') IS NULL;
-- @measure n
SELECT n FROM counter;
-- @measure retried
SELECT count(*) FROM isolab_told WHERE told = 'retried';
";
    for bin in installations() {
        let (_throwaway, server) = server_by_flag(&bin);
        let levels = vec!["serializable".parse().expect("a level")];
        let row = only(rows(&server, &scenario(text), LoadOptions { levels, ..options() }));
        assert_eq!((row.ok, row.rejected, measure(&row, "n")), (90, 10, 90), "{row:?}");
        assert_eq!(row.retries as i64, measure(&row, "retried"));
        let checks: Vec<_> = row.checks.iter().map(|check| (check.name.as_str(), check.holds)).collect();
        assert_eq!((checks, row.left_out), (vec![("told", true)], vec!["read".to_owned()]));
    }
}

#[test]
fn a_lost_connection_is_unknown_only_in_a_commit() {
    let text = "
-- @schema
CREATE TABLE log (n int);
CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(10); RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER die_at_commit AFTER INSERT ON log DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (NEW.n % 10 = 5) EXECUTE FUNCTION die();
-- @transaction add(n)
SELECT pg_terminate_backend(pg_backend_pid()) WHERE :n % 10 = 7;
INSERT INTO log VALUES (:n);
-- @load add(:request) by 4 workers, 100 requests
-- @measure rows
SELECT count(*) FROM log;
";
    on_every_version(text, |row| {
        assert_eq!((row.ok, row.failed, row.unknown, measure(&row, "rows")), (80, 10, 10, 80), "{row:?}");
        assert_eq!(row.errors[0].error.sqlstate, "57P01");
    });
}

#[test]
fn a_server_that_dies_ends_the_test() {
    let text = "
-- @transaction pause()
SELECT pg_sleep(0.01);
-- @load pause() by 4 workers, for 60s
";
    for bin in installations() {
        let (throwaway, server) = server_by_flag(&bin);
        let test = LoadTest::new(&scenario(text), options()).expect("a load test");
        let begun = AtomicBool::new(false);
        let ended = std::thread::scope(|scope| {
            let ended =
                scope.spawn(|| test.run(&server, &test.strategies()[0], &|| begun.store(true, Ordering::Relaxed)));
            while !begun.load(Ordering::Relaxed) && !ended.is_finished() {
                std::thread::sleep(Duration::from_millis(1));
            }
            drop(throwaway);
            ended.join().expect("no panic")
        });
        let error = ended.expect_err("the server is gone");
        assert!(matches!(error, LoadError::ServerLost { .. }), "{error:?}");
    }
}

#[test]
fn a_time_limit_cuts_the_test_short() {
    let text = "
-- @transaction pause()
SELECT pg_sleep(600);
-- @load pause() by 4 workers, 100 requests
";
    for bin in installations() {
        let (_throwaway, server) = server_by_flag(&bin);
        let deadline = Instant::now() + Duration::from_secs(5);
        let row = only(rows(&server, &scenario(text), LoadOptions { deadline, ..options() }));
        assert_eq!((row.requests, row.failed, row.cut_short), (4, 4, true), "{row:?}");
        assert_eq!(row.errors[0].error.sqlstate, "57014");
    }
}

#[test]
fn a_seed_gives_the_same_requests_again() {
    let text = "
-- @schema
CREATE TABLE log (n bigint, request int);
-- @transaction add(n, request)
INSERT INTO log VALUES (:n, :request);
-- @load add(random(1, 1000000), :request) by 4 workers, 50 requests
-- @measure digest
SELECT ('x' || left(md5(string_agg(n::text, ',' ORDER BY request)), 12))::bit(48)::bigint FROM log;
";
    for bin in installations().into_iter().take(1) {
        let (_throwaway, server) = server_by_flag(&bin);
        let digest = |seed, warm_up| {
            let row = only(rows(&server, &scenario(text), LoadOptions { seed, warm_up, ..options() }));
            assert_eq!(row.ok, 50);
            measure(&row, "digest")
        };
        assert_eq!(digest(7, Duration::ZERO), digest(7, Duration::from_millis(50)));
        assert_ne!(digest(7, Duration::ZERO), digest(8, Duration::ZERO));
    }
}

#[test]
fn a_duration_ends_it_too() {
    let text = "
-- @schema
CREATE TABLE log (n int);
-- @transaction add(n)
INSERT INTO log VALUES (:n);
-- @load add(:request) by 2 workers, 10 requests
-- @measure rows
SELECT count(*) FROM log;
";
    for bin in installations().into_iter().take(1) {
        let (_throwaway, server) = server_by_flag(&bin);
        let amount = Some(LoadAmount::For(Duration::from_millis(300)));
        let row = only(rows(&server, &scenario(text), LoadOptions { amount, ..options() }));
        assert_eq!((row.ok, row.ok as i64), (row.requests, measure(&row, "rows")));
        assert!(row.seconds >= 0.3 && !row.cut_short, "{row:?}");
    }
}

#[test]
fn too_many_workers_are_refused_before_they_start() {
    for bin in installations().into_iter().take(1) {
        let (_throwaway, server) = server_by_flag(&bin);
        let scenario = load("overspend").expect("built in");
        let error = tried(&server, &scenario, LoadOptions { workers: Some(500), ..options() }).expect_err("too many");
        let text = error.to_string();
        assert!(text.contains("500 are needed") && text.contains("max_connections = 200"), "{text}");
    }
}
