//! Where isolationtester would hang or loop, a clear message comes within the limit.

use crate::{spec, written};

const TABLE: &str = "setup { CREATE TABLE t (id int); INSERT INTO t VALUES (1); }\nteardown { DROP TABLE t; }\n";

#[track_caller]
fn assert_ends(text: &str, code: i32, said: &[&str]) {
    let (_folder, path) = written("x.spec", text);
    let told = spec(&[&path, "--format", "isolationtester", "--step-limit", "1s"]);
    let all = told.out + &told.err;
    assert_eq!(told.code, code, "{all}");
    for part in said {
        assert!(all.contains(part), "{part} is missing in:\n{all}");
    }
}

#[test]
fn a_copy_in_a_step() {
    let text = "session a step x { SELECT 1 AS one; COPY pg_am TO STDOUT; } step y { SELECT 2; }";
    let said = ["  1\n(1 row)", "unexpected result status: PGRES_COPY_OUT\n", "isolab: step x runs COPY TO STDOUT"];
    assert_ends(text, 2, &said);
    assert_ends("session a step x { COPY pg_am FROM STDIN; }", 2, &["PGRES_COPY_IN", "step x runs COPY FROM STDIN"]);
}

#[test]
fn a_copy_in_a_setup_or_teardown() {
    assert_ends("setup { COPY pg_am TO STDOUT; } session a step x { }", 2, &["setup failed: "]);
    let teardown = "session a step x { } teardown { COPY pg_am TO STDOUT; }";
    assert_ends(teardown, 2, &["teardown of session a failed: ", "teardown of session a runs COPY TO STDOUT"]);
}

#[test]
fn a_lock_left_by_the_last_permutation() {
    let text = format!("{TABLE}session a step x {{ BEGIN; LOCK TABLE t; }}\npermutation x\npermutation x");
    assert_ends(&text, 5, &["isolab: teardown waits for a lock that session a holds"]);
}

#[test]
fn a_notice_before_a_blocked_statement() {
    let text = format!(
        "{TABLE}session a step a1 {{ BEGIN; LOCK TABLE t; }} step a2 {{ COMMIT; }}\n\
         session b step b1 {{ SELECT 1 AS one; DO $$ BEGIN RAISE NOTICE 'n'; END $$; SELECT id FROM t; }}\n\
         permutation a1 b1 a2"
    );
    assert_ends(&text, 5, &["b: NOTICE:  n\nstep b1:", "isolab: step b1 waits for a lock that session a holds"]);
}

#[test]
fn markers_that_hold_each_other_back() {
    let text = "session a step a1 { SELECT 1; }\nsession b step b1 { SELECT 2; }\npermutation b1(*, a1) a1(b1)";
    assert_ends(text, 2, &["failed to complete permutation due to mutually-blocking steps\n"]);
    let busy = "session a step a1 { SELECT 1; } step a2 { SELECT 1; }\nsession b step b1 { SELECT 2; }\n\
                permutation b1(*, a1) a1(*, b1) a2";
    assert_ends(busy, 5, &["step a1 timed out after 2 seconds\nactive steps are: a1 b1\n"]);
}

#[test]
fn a_step_that_takes_too_long_is_cancelled() {
    let text = "session a step x { SELECT pg_sleep(60); } step y { SELECT 'next' AS n; }";
    let said = [
        "isolationtester: canceling step x after 1 seconds\nstep x: SELECT pg_sleep(60);\n\
         ERROR:  canceling statement due to user request\n",
        "next",
    ];
    assert_ends(text, 0, &said);
    // The server may signal its backend twice for one request.
    let stubborn = "session a step x { DO $$ BEGIN LOOP BEGIN PERFORM pg_sleep(60); EXCEPTION WHEN query_canceled THEN \
                    NULL; END; END LOOP; END $$; }";
    assert_ends(stubborn, 5, &["step x timed out after 2 seconds\n"]);
}

#[test]
fn the_time_limit_ends_everything() {
    let (_folder, path) = written("x.spec", "session a step x { SELECT pg_sleep(60); }");
    let told = spec(&[&path, "--time-limit", "2s"]);
    assert_eq!(told.code, 5);
    assert!(told.out.contains("the time limit was reached while"), "{}", told.out);
}
