//! A connection beside those of the file: asks the server who waits for whom.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::wait_graph::WaitGraph;
use crate::wire::{ConnectOptions, Connection, Message, WireError};

/// No question takes longer on a server that answers at all.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

const GRAPH: &str = "graph";
const BLOCKED: &str = "blocked";
/// An OID.
const INTEGER_ARRAY: u32 = 1007;
/// An OID.
const INTEGER: u32 = 23;

pub(super) struct Witness {
    connection: Connection,
}

impl Witness {
    pub fn connect(options: &ConnectOptions) -> Result<Witness, WireError> {
        let mut connection = Connection::connect(options)?;
        let graph = "SELECT pid, pg_catalog.pg_blocking_pids(pid) || pg_catalog.pg_safe_snapshot_blocking_pids(pid) \
                     FROM pg_catalog.unnest($1) AS pid";
        connection.buffer_parse(GRAPH, graph, &[INTEGER_ARRAY])?;
        let blocked = "SELECT pg_catalog.pg_isolation_test_session_is_blocked($1, $2)";
        connection.buffer_parse(BLOCKED, blocked, &[INTEGER, INTEGER_ARRAY])?;
        let mut witness = Witness { connection };
        witness.answer()?;
        Ok(witness)
    }

    /// Whether isolationtester would call this backend blocked by one of the others.
    pub fn is_blocked(&mut self, pid: i32, by: &[i32]) -> Result<bool, WireError> {
        let rows = self.ask(BLOCKED, &[&pid.to_string(), &array(by)])?;
        Ok(rows.first().is_some_and(|row| row.first().is_some_and(|value| value.as_deref() == Some("t"))))
    }

    /// Who waits for whom among these backends, all looked at twice: none where the two looks differ.
    pub fn wait_graph(&mut self, pids: &[i32]) -> Result<Option<WaitGraph>, WireError> {
        let mut rows = self.ask(GRAPH, &[&array(&[pids, pids].concat())])?;
        let second = rows.split_off(rows.len().min(pids.len()));
        let graph = |rows: Vec<Vec<Option<String>>>| WaitGraph::new(rows.iter().filter_map(|row| wait(row)));
        let (first, second) = (graph(rows), graph(second));
        Ok((first == second).then_some(second))
    }

    fn ask(&mut self, statement: &str, parameters: &[&str]) -> Result<Vec<Vec<Option<String>>>, WireError> {
        let parameters: Vec<Option<&str>> = parameters.iter().copied().map(Some).collect();
        self.connection.buffer_bind("", statement, &parameters)?;
        self.connection.buffer_execute("", 0)?;
        self.answer()
    }

    fn answer(&mut self) -> Result<Vec<Vec<Option<String>>>, WireError> {
        self.connection.buffer_sync();
        self.connection.flush();
        let deadline = Instant::now() + ANSWER_LIMIT;
        let mut rows = Vec::new();
        let mut failure = None;
        loop {
            match self.connection.message(deadline)? {
                Message::DataRow(row) => rows.push(row.texts()),
                Message::Error(error) => failure = Some(error),
                Message::ReadyForQuery(_) => return failure.map_or(Ok(rows), |error| Err(WireError::Server(error))),
                _ => {}
            }
        }
    }
}

/// A backend and those that it waits for.
fn wait(row: &[Option<String>]) -> Option<(i32, BTreeSet<i32>)> {
    let [Some(pid), Some(by)] = row else { return None };
    let by = by.trim_matches(['{', '}']).split(',').filter_map(|pid| pid.parse().ok());
    Some((pid.parse().ok()?, by.collect()))
}

fn array(pids: &[i32]) -> String {
    let pids: Vec<String> = pids.iter().map(i32::to_string).collect();
    format!("{{{}}}", pids.join(","))
}
