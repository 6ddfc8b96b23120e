//! `isolab explore` and `isolab run` on `.spec` files.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use serde_json::Value;

use crate::common::{installations, query, server_by_flag};
use crate::postgresql::shared;
use crate::{Run, database, run};

fn file(name: &str) -> String {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/spec/explored").join(name).display().to_string()
}

fn isolab(db: &str, args: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isolab"));
    command.args(args).args(["--db", db, "--no-progress", "--color", "never"]).env_remove("ISOLAB_TIME_LIMIT");
    run(&mut command)
}

/// The parts of the JSON document that the command fills.
fn json(part: &str, args: &[&str]) -> (i32, Vec<Value>) {
    let told = isolab(database(), &[args, &["--format", "json"]].concat());
    let document: Value = serde_json::from_str(&told.out).unwrap_or_else(|error| panic!("{error}: {}", told.err));
    (told.code, document[part].as_array().expect("rows").clone())
}

#[test]
fn a_spec_needs_no_permutations_and_no_expected_output() {
    let seats = file("seats.spec");
    let (code, found) = json("explore", &["explore", &seats]);
    assert_eq!((code, &found[0]["verdict"]), (1, &"broken".into()), "{found:#?}");
    assert_eq!((&found[0]["orders"], &found[0]["complete"]), (&20.into(), &true.into()));
    let failure = &found[0]["failures"][0];
    assert_eq!(failure["kind"], "lost update (P4)");
    let replay = failure["replay"].as_str().expect("a schedule");
    let (_, runs) = json("runs", &["run", &seats, "--replay", replay]);
    assert_eq!(runs[0]["schedule"], replay);
    let (code, found) = json("explore", &["explore", &seats, "--isolation", "repeatable-read", "--no-reduce"]);
    assert_eq!((code, &found[0]["verdict"]), (0, &"safe".into()), "{found:#?}");
}

#[test]
fn transactions_that_name_their_level_are_explored_at_that() {
    let (code, found) = json("explore", &["explore", &file("rooms.spec"), "--isolation", "all"]);
    let levels: Vec<&Value> = found.iter().map(|found| &found["isolation"]).collect();
    assert_eq!((code, levels), (0, vec![&"serializable".into()]));
    assert_eq!((&found[0]["verdict"], &found[0]["complete"]), (&"safe".into(), &true.into()), "{found:#?}");
}

#[test]
fn what_changes_tables_and_the_cluster_leaves_nothing() {
    let bin = installations().pop().expect("a PostgreSQL");
    let (throwaway, _server) = server_by_flag(&bin);
    let url = crate::common::url(&throwaway);
    let told = isolab(&url, &["explore", &file("migration.spec"), "--runners", "2", "--format", "json"]);
    let document: Value = serde_json::from_str(&told.out).unwrap_or_else(|error| panic!("{error}: {}", told.err));
    let found = &document["explore"][0];
    // Two steps each; the second reader of a table that has another column gives what an order gives.
    assert_eq!((&found["verdict"], &found["complete"]), (&"safe".into(), &true.into()), "{found:#?}");
    assert_eq!(query(&url, "SELECT rolname FROM pg_roles WHERE rolname LIKE 'isolab%'"), [""; 0]);
    assert_eq!(query(&url, "SELECT datname FROM pg_database WHERE datname LIKE 'isolab%'"), [""; 0]);
}

#[test]
fn a_spec_is_staged_in_the_order_of_its_first_permutation() {
    let (_, runs) = json("runs", &["run", &file("seats.spec")]);
    assert_eq!(runs[0]["schedule"], "first_buyer second_buyer first_buyer second_buyer first_buyer second_buyer");
    assert_eq!(runs[0]["blocked"][0]["step"], "sell2");
}

#[test]
fn each_set_of_steps_that_the_permutations_use_is_explored() {
    let menu = file("menu.spec");
    let (code, found) = json("explore", &["explore", &menu, "--no-reduce"]);
    let shown = |found: &Value| (found["fix"].clone(), found["orders"].as_u64(), found["verdict"].clone());
    let set = |name: &str, orders, verdict: &str| (name.into(), Some(orders), verdict.into());
    let expected = [
        set("add inc c1 c2", 6, "safe"),
        set("read inc c2 add c1", 10, "safe"),
        set("set inc c2 c1", 6, "safe"),
        set("read read inc c2 c1", 10, "broken"),
    ];
    assert_eq!((code, found.iter().map(shown).collect::<Vec<_>>()), (1, expected.to_vec()));
    assert!(found.iter().all(|found| found["complete"] == true));
    let matrix = isolab(database(), &["matrix", &menu]);
    assert!(matrix.code == 2 && matrix.err.contains("choose from its steps"), "{}", matrix.err);
    let chosen = json("explore", &["explore", &menu, "--fix", "set inc c2 c1", "--isolation", "all"]);
    assert_eq!((chosen.0, chosen.1.len()), (0, 3));
}

#[test]
fn the_sets_of_steps_are_counted_and_told_in_few_lines() {
    let menu = file("menu.spec");
    let told = isolab(database(), &["explore", &menu]);
    assert!(
        told.out.contains("menu: 4 sets of steps in its permutations, each explored in every order\n"),
        "{}",
        told.out
    );
    let line = told.out.lines().find_map(|line| line.strip_prefix("  replay: isolab ")).expect("a command line");
    assert!(!told.out.contains("────\n    SELECT"), "nothing is drawn: {}", told.out);
    let again = format!("{} {line} --db '{}' --no-progress", env!("CARGO_BIN_EXE_isolab"), database());
    let played = run(Command::new("sh").args(["-c", &again]));
    assert!(played.code == 0 && played.out.contains("read read inc c2 c1"), "{}", played.out + &played.err);
}

#[test]
fn each_set_of_steps_is_staged_in_the_order_of_its_first_permutation() {
    let (code, runs) = json("runs", &["run", &file("menu.spec")]);
    let schedules: Vec<&Value> = runs.iter().map(|run| &run["schedule"]).collect();
    assert_eq!(
        (code, schedules),
        (
            0,
            vec!["a b a b", "a b.2 a.2", "a b.2 a", "a.2 b.2 a"]
                .into_iter()
                .map(Value::from)
                .collect::<Vec<_>>()
                .iter()
                .collect()
        )
    );
}

#[test]
fn what_cannot_be_explored_is_refused_with_its_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let refused = |name: &str, text: &str| {
        let path = folder.path().join(name).display().to_string();
        std::fs::write(&path, text).expect("written");
        let told = isolab(database(), &["explore", &path]);
        (told.code, told.err + &told.out)
    };
    let (code, text) = refused("setup.spec", "session a setup { SET no_such_setting = 1; } step x { SELECT 1 }");
    assert!(
        code == 2 && text.contains("setup of session a failed with 42704") && text.contains("setup.spec:1:19"),
        "{text}"
    );
    let (code, text) = refused("grammar.spec", "session a step x { SELECT 1 } step x { SELECT 2 }");
    assert!(code == 2 && text.contains("duplicate step name: x"), "{text}");
    let copies = "setup { CREATE TABLE t (x int); } session a step x { COPY t FROM STDIN; }";
    let (code, text) = refused("copy.spec", copies);
    assert!(code == 4 && text.contains("COPY FROM STDIN cannot be staged"), "{text}");
}

/// Each of PostgreSQL's own files within small limits: it ends by itself, says what it found or why not, and leaves nothing.
/// They take minutes, so without `ISOLAB_ALL` every eighth file stands for the rest.
#[test]
fn every_file_of_postgresqls_is_explored_or_refused() {
    let Some(folder) = shared() else { return };
    let mut files: Vec<PathBuf> = Path::new(&folder)
        .join("specs")
        .read_dir()
        .expect("specs")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    let each = if std::env::var_os("ISOLAB_ALL").is_some() { 1 } else { 8 };
    let files: Vec<PathBuf> = files.into_iter().step_by(each).collect();
    let left = Mutex::new(files.clone());
    let explored = Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let bin = installations().pop().expect("a PostgreSQL");
                let (throwaway, _server) = server_by_flag(&bin);
                let url = crate::common::url(&throwaway);
                while let Some(file) = left.lock().expect("the files").pop() {
                    let name = file.display().to_string();
                    let limits = ["--max-schedules", "4", "--time-limit", "20s", "--runners", "2", "--format", "json"];
                    let told = isolab(&url, &[&["explore", &name][..], &limits].concat());
                    let is_clear = told.err.contains("error: ") && !told.err.contains("panicked");
                    assert!([0, 1, 5].contains(&told.code) || is_clear, "{name}: {}\n{}", told.code, told.err);
                    *explored.lock().expect("the count") += i32::from(told.out.contains("\"verdict\""));
                }
                let left = "SELECT datname FROM pg_database WHERE datname LIKE 'isolab%' \
                            UNION ALL SELECT rolname FROM pg_roles WHERE rolname LIKE 'regress%' \
                            UNION ALL SELECT gid FROM pg_prepared_xacts";
                assert_eq!(query(&url, left), [""; 0]);
            });
        }
    });
    let explored = explored.into_inner().expect("the count");
    eprintln!("{explored} of {} files were explored", files.len());
    assert!(explored > 0, "none of {} files was explored", files.len());
}
