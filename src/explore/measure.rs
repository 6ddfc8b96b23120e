//! Measures what every statement of a program touches, by running its calls in serial orders, statement by statement.

use std::time::Instant;

use super::catalog::{Catalog, Snapshot};
use super::contents::Contents;
use super::footprints::Footprints;
use super::pages::Pages;
use super::probe::{NEW_ROW, Probe};
use crate::history::StatementError;
use crate::program::{Answer, Control, Interpreter, Request};
use crate::runner::{RunError, Stage};
use crate::scenario::{Level, Plan};
use crate::schedule::Footprint;
use crate::wire::{Connection, ResultSet, ServerError};

/// Of more serial orders only so many are measured.
const MOST_ORDERS: usize = 24;

/// A statement that waits for a lock which a finished session keeps would wait for ever.
const PATIENCE: (&str, &str) = ("lock_timeout", "100ms");
const AS_IT_IS: &[(&str, &str)] = &[PATIENCE];
/// Without sequential scans, rows are read by their keys even where a table has one page.
const BY_ROW: &[(&str, &str)] = &[PATIENCE, ("enable_seqscan", "off"), ("enable_bitmapscan", "off")];

/// The footprints at a level; none where tables are parts of others.
pub fn measure(
    stage: &mut Stage,
    plan: &Plan,
    contents: &Contents,
    level: Level,
    deadline: Instant,
) -> Result<Option<Footprints>, RunError> {
    let catalog = Catalog::find(stage, contents)?;
    if catalog.has_inheritance {
        return Ok(None);
    }
    let by_row = level != Level::Serializable;
    let mut connections = Vec::new();
    let settings = if by_row { BY_ROW } else { AS_IT_IS };
    for session in 0..plan.sessions.len() {
        connections.push(stage.connect_session(session, level, settings)?);
    }
    let pages = Pages::find(stage, plan)?;
    let probe = Probe { catalog, by_row, pages, snapshot: Snapshot::default(), labels: Default::default(), deadline };
    let footprints = Footprints::default();
    let mut measurement =
        Measurement { stage, plan, level, probe, connections, footprints, committed: Vec::new(), open: Vec::new() };
    let calls: Vec<usize> = plan.sessions.iter().map(|session| session.calls.len()).collect();
    for order in serial_orders(&calls) {
        measurement.measure_order(&order)?;
    }
    let mut footprints = measurement.footprints;
    if !by_row {
        footprints.lock_pages();
    }
    Ok(Some(footprints))
}

struct Measurement<'m, 'a> {
    stage: &'m mut Stage<'a>,
    plan: &'m Plan,
    level: Level,
    probe: Probe,
    connections: Vec<Connection>,
    footprints: Footprints,
    /// What was committed since the tables were fresh: session and statement.
    committed: Vec<(usize, String)>,
    /// The same of the transaction that is open.
    open: Vec<(usize, String)>,
}

impl Measurement<'_, '_> {
    fn measure_order(&mut self, order: &[usize]) -> Result<(), RunError> {
        self.committed.clear();
        self.open.clear();
        self.probe.labels.clear();
        for connection in &mut self.connections {
            connection.query("SELECT pg_advisory_unlock_all()", self.probe.deadline)?;
        }
        self.set_the_scene()?;
        let mut next = vec![0; self.plan.sessions.len()];
        for &session in order {
            self.measure_call(session, next[session])?;
            next[session] += 1;
        }
        Ok(())
    }

    fn set_the_scene(&mut self) -> Result<(), RunError> {
        let sessions = self.stage.sessions(self.level);
        self.stage.set_the_scene(&sessions)?;
        self.probe.snapshot = self.probe.catalog.snapshot(self.stage)?;
        Ok(())
    }

    fn measure_call(&mut self, session: usize, call: usize) -> Result<(), RunError> {
        let mut interpreter =
            Interpreter::new(&self.plan.sessions[session].calls[call], self.stage.parameters().clone());
        let mut in_transaction = false;
        let mut touched = Footprint::default();
        loop {
            match interpreter.request() {
                Request::Run(statement) => {
                    let sql = statement.text.sql(interpreter.variables());
                    match statement.control {
                        Control::Begin => {
                            in_transaction = true;
                            interpreter.answered(&tag("BEGIN", true), 0);
                        }
                        Control::Commit | Control::Prepare => {
                            in_transaction = false;
                            self.note_commit((session, call), &std::mem::take(&mut touched));
                            self.committed.append(&mut self.open);
                            interpreter.answered(&tag("COMMIT", false), 0);
                        }
                        Control::Rollback => {
                            in_transaction = false;
                            self.undo()?;
                            interpreter.answered(&tag("ROLLBACK", false), 0);
                        }
                        Control::Other => {
                            let inserter = format!("{NEW_ROW}{session}.{call}");
                            let connection = &mut self.connections[session];
                            let (answer, footprint) = self.probe.run(self.stage, connection, &sql, &inserter)?;
                            if let Some(footprint) = footprint {
                                self.footprints.add((session, call), &sql, &footprint);
                                touched.absorb(&footprint);
                            }
                            match answer {
                                Ok(mut results) => {
                                    let log = if in_transaction { &mut self.open } else { &mut self.committed };
                                    log.push((session, sql));
                                    let last = results.pop().unwrap_or_default();
                                    interpreter.answered(&answer_of(last, in_transaction), 0);
                                }
                                Err(error) => interpreter.refused(failure(&error), in_transaction),
                            }
                        }
                    }
                }
                Request::Evaluate(expression) => match self.stage.evaluate(&expression, interpreter.variables())? {
                    Ok(value) => interpreter.evaluated(value),
                    Err(error) => interpreter.failed(failure(&error)),
                },
                Request::RollBack => {
                    in_transaction = false;
                    self.undo()?;
                    interpreter.rolled_back();
                }
                Request::Note(_) => {}
                Request::Over(_) => return Ok(()),
                Request::Sleep { .. } | Request::Effect(_) | Request::Connect { .. } => interpreter.done(),
                Request::Crash => return Ok(()),
            }
        }
    }

    /// Deferred triggers and constraints do at COMMIT what nobody has measured.
    fn note_commit(&mut self, of: (usize, usize), touched: &Footprint) {
        let is_deferred = |space: &str| self.probe.catalog.tables.get(space).is_some_and(|facts| facts.is_deferred);
        let commit = match touched.writes.iter().any(|object| is_deferred(&object.space)) {
            true => Footprint::of_everything(),
            false => Footprint::default(),
        };
        self.footprints.add_commit(of, &commit);
    }

    /// Every statement was committed by itself, so a rollback starts afresh and does again what was to stay.
    fn undo(&mut self) -> Result<(), RunError> {
        self.open.clear();
        self.set_the_scene()?;
        for (session, sql) in &self.committed {
            // It went through before; if it does not now, the next statements show it.
            let _ = self.connections[*session].query_each([sql.as_str()], self.probe.deadline)?;
        }
        self.probe.snapshot = self.probe.catalog.snapshot(self.stage)?;
        Ok(())
    }
}

fn tag(tag: &str, in_transaction: bool) -> Answer {
    Answer { tag: tag.to_owned(), in_transaction, ..Answer::default() }
}

fn answer_of(result: ResultSet, in_transaction: bool) -> Answer {
    Answer {
        tag: result.tag,
        columns: result.columns.into_iter().map(|column| (column.name, column.type_oid)).collect(),
        rows: result.rows,
        in_transaction,
    }
}

fn failure(error: &ServerError) -> StatementError {
    StatementError { sqlstate: error.sqlstate.clone(), message: error.message.clone(), ..StatementError::default() }
}

/// The merges of sessions with so many calls each, in order, at most [`MOST_ORDERS`].
fn serial_orders(calls: &[usize]) -> Vec<Vec<usize>> {
    fn extend(left: &mut [usize], order: &mut Vec<usize>, orders: &mut Vec<Vec<usize>>) {
        if orders.len() == MOST_ORDERS {
            return;
        }
        if left.iter().all(|left| *left == 0) {
            orders.push(order.clone());
            return;
        }
        for session in 0..left.len() {
            if left[session] > 0 {
                left[session] -= 1;
                order.push(session);
                extend(left, order, orders);
                order.pop();
                left[session] += 1;
            }
        }
    }
    let mut orders = Vec::new();
    extend(&mut calls.to_vec(), &mut Vec::new(), &mut orders);
    orders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serial_orders_keep_each_sessions_own() {
        assert_eq!(serial_orders(&[1, 1]), [[0, 1], [1, 0]]);
        assert_eq!(serial_orders(&[2, 1]), [[0, 0, 1], [0, 1, 0], [1, 0, 0]]);
        assert_eq!(serial_orders(&[1, 1, 1, 1, 1]).len(), MOST_ORDERS);
    }
}
