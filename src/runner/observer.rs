//! A connection beside the sessions: it asks the server who waits for whom, and evaluates expressions where they see
//! no table, take no lock and start no snapshot of the session. It is made when it is first needed, or before.

use std::time::{Duration, Instant};

use crate::program::{Variables, arithmetic};
use crate::scenario::template::Template;
use crate::scenario::value::Value;
use crate::wire::{ConnectOptions, Connecting, Connection, ResultSet, ServerError, WireError};

/// No question of the observer takes longer on a server that answers at all.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

/// Asked several times a run, so planned once.
const PREPARE_WAITS: &str = "PREPARE isolab_waits (int[]) AS
 SELECT pid, pg_blocking_pids(pid) || pg_safe_snapshot_blocking_pids(pid) FROM unnest($1) AS pid";

/// The pids that a backend waits for, as the server sees it (`pg_blocking_pids`, `pg_safe_snapshot_blocking_pids`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wait {
    pub pid: i32,
    /// 0 stands for a prepared transaction.
    pub by: Vec<i32>,
}

/// The observer's connection.
pub(crate) struct Observer {
    options: ConnectOptions,
    connecting: Option<Connecting>,
    connection: Option<Connection>,
    /// Knows the statement that asks for waits.
    is_prepared: bool,
}

impl Observer {
    /// `options` are those of the sandbox; the search path is emptied, so that an expression that reads a table fails.
    pub fn new(options: ConnectOptions) -> Observer {
        let options = options.with_setting("search_path", "");
        Observer { options, connecting: None, connection: None, is_prepared: false }
    }

    /// Begins to connect; the first question waits for it.
    pub fn begin(&mut self) -> Result<(), WireError> {
        self.connecting = Some(Connection::begin(&self.options)?);
        Ok(())
    }

    /// Waits for the connection, where it was begun.
    pub fn finish(&mut self) -> Result<(), WireError> {
        match self.connecting.is_some() {
            true => self.connect(),
            false => Ok(()),
        }
    }

    /// Connects now, so that no question has to wait for it.
    pub fn connect(&mut self) -> Result<(), WireError> {
        self.connection().map(|_| ())
    }

    /// Closes the connection; the next question is asked on another one.
    pub fn leave(&mut self) {
        self.connection = None;
        self.connecting = None;
        self.is_prepared = false;
    }

    /// Whether a question would not have to wait for the server to start a session.
    pub fn is_connected(&self) -> bool {
        self.connection.is_some()
    }

    /// Which of these backends wait, and for whom. Those that do not wait are left out.
    pub fn waits(&mut self, pids: &[i32]) -> Result<Vec<Wait>, WireError> {
        let list: Vec<String> = pids.iter().map(i32::to_string).collect();
        let prepare = (!std::mem::replace(&mut self.is_prepared, true)).then_some(PREPARE_WAITS);
        let execute = format!("EXECUTE isolab_waits ('{{{}}}')", list.join(","));
        let result = self.last_of(prepare.into_iter().chain([execute.as_str()]))?;
        let wait = |row: &Vec<Option<String>>| {
            let pid = row.first()?.as_ref()?.parse().ok()?;
            let by: Vec<i32> =
                row.get(1)?.as_ref()?.trim_matches(['{', '}']).split(',').filter_map(|pid| pid.parse().ok()).collect();
            (!by.is_empty()).then_some(Wait { pid, by })
        };
        Ok(result.rows.iter().filter_map(wait).collect())
    }

    /// Whether a backend waits for one of `others`, or at an injection point: as isolationtester asks it.
    pub fn is_blocked(&mut self, pid: i32, others: &[i32]) -> Result<bool, WireError> {
        let list: Vec<String> = others.iter().map(i32::to_string).collect();
        let sql = format!("SELECT pg_isolation_test_session_is_blocked({pid}, '{{{}}}')", list.join(","));
        Ok(single_value(&self.query(&sql)?).text.as_deref() == Some("t"))
    }

    /// The lock that a backend waits for, in words: `row of teams`.
    pub fn awaited_lock(&mut self, pid: i32) -> Result<Option<String>, WireError> {
        // A session that waits for a row waits for the transaction that holds it, and meanwhile holds the row's place
        // in the queue, a tuple lock.
        let sql = format!(
            "SELECT CASE w.locktype
                      WHEN 'relation' THEN 'table ' || w.relation::regclass
                      WHEN 'tuple' THEN 'row of ' || w.relation::regclass
                      WHEN 'advisory' THEN 'advisory lock ' || CASE w.objsubid
                           WHEN 1 THEN ((w.classid::bigint << 32) | w.objid::bigint)::text
                           ELSE w.classid || ', ' || w.objid END
                      WHEN 'transactionid' THEN
                        coalesce((SELECT 'row of ' || t.relation::regclass FROM pg_locks t
                                   WHERE t.pid = w.pid AND t.locktype = 'tuple' AND t.granted LIMIT 1),
                                 'end of a transaction')
                      ELSE w.locktype END
               FROM pg_locks w WHERE w.pid = {pid} AND NOT w.granted LIMIT 1"
        );
        let result = self.query(&sql)?;
        let name = result.rows.first().and_then(|row| row.first()).cloned().flatten();
        // Without a search path every table carries its schema; the sandbox's own is noise.
        Ok(name.map(|name| match (name.rsplit_once(' '), name.rsplit_once('.')) {
            (Some((what, _)), Some((_, table))) => format!("{what} {table}"),
            _ => name,
        }))
    }

    /// The value of an SQL expression over variables; the inner error is the expression's own.
    pub fn evaluate(
        &mut self,
        expression: &Template,
        variables: &Variables,
    ) -> Result<Result<Value, ServerError>, WireError> {
        if let Some(value) = arithmetic::evaluate(expression, variables) {
            return Ok(Ok(value));
        }
        const HEAD: &str = "SELECT (";
        match self.query(&format!("{HEAD}{}\n)", expression.sql(variables))) {
            Ok(result) => Ok(Ok(single_value(&result))),
            Err(WireError::Server(error)) => {
                let position = error.position.map(|position| position.saturating_sub(HEAD.len()));
                Ok(Err(ServerError { position, ..*error }))
            }
            Err(other) => Err(other),
        }
    }

    /// Whether a backend still serves its client.
    pub fn has_client(&mut self, pid: i32) -> Result<bool, WireError> {
        let result = self.query(&format!("SELECT FROM pg_stat_activity WHERE pid = {pid}"))?;
        Ok(!result.rows.is_empty())
    }

    /// Whether the server has gone away, as far as this connection can tell.
    pub fn is_gone(&mut self) -> bool {
        self.query("SELECT 1").is_err()
    }

    fn connection(&mut self) -> Result<&mut Connection, WireError> {
        match &mut self.connection {
            Some(connection) => Ok(connection),
            none => {
                let connecting = self.connecting.take();
                let connecting = connecting.map_or_else(|| Connection::begin(&self.options), Ok)?;
                Ok(none.insert(connecting.finish()?))
            }
        }
    }

    fn query(&mut self, sql: &str) -> Result<ResultSet, WireError> {
        self.last_of([sql])
    }

    /// Sends queries in one round trip and gives the last result of the last one. A connection that breaks is forgotten.
    fn last_of<'q>(&mut self, queries: impl IntoIterator<Item = &'q str>) -> Result<ResultSet, WireError> {
        let answers =
            self.connection()?.query_each(queries, Instant::now() + ANSWER_LIMIT).inspect_err(|_| self.leave())?;
        let results = answers.into_iter().next_back().unwrap_or(Ok(Vec::new())).map_err(WireError::Server)?;
        Ok(results.into_iter().next_back().unwrap_or_default())
    }
}

fn single_value(result: &ResultSet) -> Value {
    let type_oid = result.columns.first().map_or(Value::null().type_oid, |column| column.type_oid);
    let text = result.rows.first().and_then(|row| row.first()).cloned().flatten();
    Value { type_oid, text }
}
