//! The connection that a sandbox is made on also sets its scene: nothing of one use may disturb the other.

mod common;

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{as_guest, installations, query, server_by_flag, url};
use isolab::server::{PgBin, Throwaway};

const SCHEMAS: &str = "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'isolab%'";
const SETTING_UP: &str =
    "SELECT pid FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%' AND pid <> pg_backend_pid()";
const PATIENCE: Duration = Duration::from_secs(15);

fn file(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::Builder::new().suffix(".sql").tempfile().expect("a file");
    file.write_all(text.as_bytes()).expect("written");
    file
}

/// A scenario of two sessions with these statements around them.
fn scenario(head: &str, schema: &str, setup: &str, check: &str) -> tempfile::NamedTempFile {
    file(&format!(
        "-- @title Lent\n{head}-- @schema\nCREATE TABLE t (n int);\n{schema}\n-- @setup\nINSERT INTO t VALUES (0);\n{setup}\n\
         -- @session a\nUPDATE t SET n = n + 1;\n\n-- @session b\nUPDATE t SET n = n + 1;\n\n-- @check so\n{check}\n"
    ))
}

fn isolab(db: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isolab"));
    command.args(arguments).args(["--db", db]).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// What it writes, and its exit code.
fn run(db: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let output = isolab(db, arguments).output().expect("it runs");
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).expect("UTF-8"))
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A run in the middle of a setup that takes a minute, as a role that may have four connections.
fn setting_up(bin: &PgBin) -> (Throwaway, tempfile::NamedTempFile, String, Child) {
    let (throwaway, _) = server_by_flag(bin);
    let url = url(&throwaway);
    let slow = scenario("", "", "SELECT pg_sleep(60);", "SELECT n = 2 FROM t;");
    let guest = as_guest(&url, "CONNECTION LIMIT 4; GRANT CREATE ON DATABASE postgres TO guest");
    let child = isolab(&guest, &["run", slow.path().to_str().expect("UTF-8")]).spawn().expect("it runs");
    until("it sets the scene", || !query(&url, SETTING_UP).is_empty());
    (throwaway, slow, url, child)
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status();
    assert!(sent.expect("kill runs").success());
}

#[test]
fn a_schema_goes_at_ctrl_c_although_nobody_may_log_in_any_more() {
    for bin in installations() {
        let (_throwaway, _file, url, mut child) = setting_up(&bin);
        query(&url, "ALTER ROLE guest CONNECTION LIMIT 0");
        signal(&child, "INT");
        assert_eq!(child.wait().expect("it ends").code(), Some(130));
        assert!(query(&url, SCHEMAS).is_empty());
    }
}

#[test]
fn what_a_killed_run_left_is_found_while_the_server_is_still_at_its_statement() {
    for bin in installations().into_iter().filter(|bin| bin.version.major >= 14) {
        let (_throwaway, _file, url, mut child) = setting_up(&bin);
        signal(&child, "KILL");
        child.wait().expect("it ends");
        assert_eq!(query(&url, SCHEMAS).len(), 1);
        until("it is found", || run(&url, &["server", "clean"]).1.contains("the schema isolab_"));
        assert!(query(&url, SCHEMAS).is_empty());
    }
}

#[test]
fn a_setup_that_forgets_everything_leaves_the_owner_its_lock() {
    let (throwaway, _server) = server_by_flag(&installations().pop().expect("a PostgreSQL"));
    let held = "SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory';";
    for forgets in ["DISCARD ALL;", "SELECT pg_advisory_unlock_all();", "RESET ALL;"] {
        let scenario = scenario("", "", forgets, held);
        let (code, text) = run(&url(&throwaway), &["run", scenario.path().to_str().expect("UTF-8")]);
        assert_eq!(code, Some(0), "{forgets}\n{text}");
    }
}

#[test]
fn what_a_schema_does_to_new_sessions_meets_those_under_test_alone() {
    let (throwaway, _server) = server_by_flag(&installations().pop().expect("a PostgreSQL"));
    let notes = "CREATE TABLE logins (who text);\nCREATE FUNCTION note() RETURNS event_trigger LANGUAGE plpgsql AS $$\n\
                 BEGIN INSERT INTO logins VALUES (current_setting('application_name')); END $$;\n\
                 CREATE EVENT TRIGGER on_login ON login EXECUTE FUNCTION note();\n";
    let head = "-- @requires version >= 17\n-- @requires database\n";
    let scenario = scenario(head, notes, "", "SELECT count(*) = 2 FROM logins;");
    let (code, text) = run(&url(&throwaway), &["run", scenario.path().to_str().expect("UTF-8")]);
    // On an older server it is skipped, and nothing matched.
    let is_skipped = code == Some(4) && text.contains("needs PostgreSQL >= 17");
    assert!(code == Some(0) || is_skipped, "{text}");
}

#[test]
fn the_name_of_a_schema_may_need_quotes() {
    let (throwaway, _server) = server_by_flag(&installations().pop().expect("a PostgreSQL"));
    let own = "CREATE SCHEMA \"My own\";\nSET search_path = \"My own\";\nCREATE TABLE t (n int);\n";
    let scenario = scenario("-- @requires database\n", own, "", "SELECT n = 2 FROM t;");
    for command in ["run", "explore"] {
        let (code, text) = run(&url(&throwaway), &[command, scenario.path().to_str().expect("UTF-8")]);
        assert!(!text.contains("3F000") && code != Some(3), "{text}");
    }
}
