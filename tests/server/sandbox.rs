//! Sandboxes: nothing else is touched, and nothing stays.

use std::time::{Duration, Instant};

use crate::common::{as_guest, installations, query, server_by_flag, url};
use isolab::server::{FindOptions, Sandbox, SandboxKind, Server, Throwaway};
use isolab::wire::{ConnectOptions, ResultSet};
use postgres::{Client, Config, NoTls};

const SCHEMAS: &str = "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'isolab%'";
const DATABASES: &str = "SELECT datname FROM pg_database WHERE datname LIKE 'isolab%'";

fn connect(options: &ConnectOptions) -> Client {
    let settings: String = options.settings.iter().map(|(name, value)| format!("-c {name}={value} ")).collect();
    let mut config = Config::new();
    config.host("127.0.0.1").port(options.port).user(&options.user).dbname(&options.database);
    config.password(options.password.as_deref().unwrap_or_default());
    config.application_name(&options.application_name).options(&settings);
    config.connect(NoTls).expect("a session in the sandbox")
}

fn text(client: &mut Client, sql: &str) -> String {
    client.query_one(sql, &[]).expect(sql).get(0)
}

#[test]
fn a_schema_stands_beside_the_users_tables_and_leaves_them_alone() {
    for bin in installations() {
        let (throwaway, server) = server_by_flag(&bin);
        let url = url(&throwaway);
        query(&url, "CREATE TABLE teams (id int); INSERT INTO teams VALUES (1), (2)");
        let objects = "SELECT oid FROM pg_class UNION ALL SELECT oid FROM pg_namespace ORDER BY 1";
        let before = query(&url, objects);

        let sandbox = Sandbox::create(&server, &SandboxKind::Schema).unwrap();
        let mut session = connect(&sandbox.options());
        session.batch_execute("CREATE TABLE teams (id int); INSERT INTO teams VALUES (7)").unwrap();
        assert_eq!(text(&mut session, "SELECT min(id)::text FROM teams"), "7");
        assert_eq!(text(&mut session, "SHOW search_path"), sandbox.name());
        assert_eq!(text(&mut session, "SHOW jit"), "off");
        assert_eq!(text(&mut session, "SELECT current_setting('application_name')"), sandbox.name());
        // A session that sits in the middle of a transaction must not keep the sandbox alive.
        session.batch_execute("BEGIN; LOCK TABLE teams").unwrap();
        sandbox.close().unwrap();

        assert_eq!(query(&url, "SELECT sum(id) FROM teams"), ["3"]);
        assert_eq!(query(&url, objects), before, "{}", server.describe());
    }
}

#[test]
fn databases_are_dropped_with_sessions_and_prepared_transactions_in_them() {
    for bin in installations() {
        let (throwaway, server) = server_by_flag(&bin);
        let kind = SandboxKind::Database { extra: vec!["ledger".to_owned(), "stock".to_owned()] };
        let sandbox = Sandbox::create(&server, &kind).unwrap();
        assert_eq!(query(&url(&throwaway), DATABASES).len(), 3);
        assert!(sandbox.database("other").is_none());

        let stock = sandbox.database("stock").unwrap();
        let mut own = connect(&sandbox.options());
        let mut further = connect(&stock);
        assert_eq!(text(&mut own, "SELECT current_database()::text"), sandbox.name());
        assert_eq!(text(&mut further, "SELECT current_database()::text"), stock.database);
        further.batch_execute("CREATE TABLE t (); BEGIN; LOCK TABLE t; PREPARE TRANSACTION 'it''s half done'").unwrap();
        own.batch_execute("BEGIN; CREATE TABLE t ()").unwrap();
        sandbox.close().unwrap();
        assert!(query(&url(&throwaway), DATABASES).is_empty());
    }
}

#[test]
fn a_schema_goes_although_a_prepared_transaction_locks_it_and_the_admin_connection_is_lost() {
    for bin in installations() {
        let (throwaway, server) = server_by_flag(&bin);
        let url = url(&throwaway);
        let sandbox = Sandbox::create(&server, &SandboxKind::Schema).unwrap();
        let mut session = connect(&sandbox.options());
        session.batch_execute("CREATE TABLE t (); BEGIN; LOCK TABLE t; PREPARE TRANSACTION 'half'").unwrap();
        let lost = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'isolab\\_%'";
        assert!(!query(&url, lost).is_empty());
        drop(sandbox);
        assert!(query(&url, SCHEMAS).is_empty());
        assert!(query(&url, "SELECT gid FROM pg_prepared_xacts").is_empty());
        // The server's own connection was lost as well.
        assert_eq!(server.setting("max_prepared_transactions").unwrap(), "64");
    }
}

/// The server as a role that is made with these options.
fn server_as_guest(throwaway: &Throwaway, options: &str) -> Server {
    let db = Some(as_guest(&url(throwaway), options));
    Server::find(&FindOptions { db, ..Default::default() }).unwrap()
}

#[test]
fn a_limit_of_the_role_or_the_database_counts() {
    for bin in installations() {
        let (throwaway, superuser) = server_by_flag(&bin);
        let server = server_as_guest(&throwaway, "CONNECTION LIMIT 6; GRANT CREATE ON DATABASE postgres TO guest");
        let free = || server.connections().unwrap().free();
        assert_eq!(free(), 5, "one is ours");
        query(&url(&throwaway), "ALTER DATABASE postgres CONNECTION LIMIT 4");
        assert!(free() < 4, "the superuser has one as well");
        query(&url(&throwaway), "ALTER ROLE guest CONNECTION LIMIT -1; ALTER DATABASE postgres CONNECTION LIMIT -1");
        assert!(free() > 6 && superuser.connections().unwrap().left_by_limit.is_none());
    }
}

#[test]
fn a_schema_goes_although_its_connection_is_lent_and_there_is_no_room_yet_for_another() {
    for bin in installations() {
        let (throwaway, _) = server_by_flag(&bin);
        let url = url(&throwaway);
        let server = server_as_guest(&throwaway, "CONNECTION LIMIT 1; GRANT CREATE ON DATABASE postgres TO guest");
        let mut sandbox = Sandbox::create(&server, &SandboxKind::Schema).unwrap();
        let mut lent = sandbox.lend().expect("the schema's connection");
        assert!(sandbox.lend().is_none());
        let deadline = Instant::now() + Duration::from_secs(10);
        let rows = |results: Vec<ResultSet>| results.last().expect("a result").rows[0][0].clone();
        lent.query("CREATE TABLE t ()", deadline).unwrap();
        assert_eq!(rows(lent.query("SHOW search_path", deadline).unwrap()).as_deref(), Some(sandbox.name()));
        assert_eq!(query(&url, "SELECT objsubid FROM pg_locks WHERE locktype = 'advisory'"), ["2"], "the owner's lock");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(100));
                drop(lent);
            });
            sandbox.close().unwrap();
        });
        assert!(query(&url, SCHEMAS).is_empty());
    }
}

#[test]
fn a_user_who_may_not_create_schemas_is_told_so() {
    for bin in installations() {
        let (throwaway, _) = server_by_flag(&bin);
        let server = server_as_guest(&throwaway, "");
        assert!(!server.is_superuser() && !server.is_ours());
        let error = Sandbox::create(&server, &SandboxKind::Schema).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("cannot create the schema isolab_") && text.contains("42501"), "{text}");
        assert!(!format!("{text} {error:?} {server:?}").contains("S3cret"));
    }
}
