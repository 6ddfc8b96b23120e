//! What each request does: its call in turn, its row of the file, its random numbers. All of it follows from the
//! request's number and the seed, whichever worker takes it.

use std::sync::Arc;

use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

use super::columns;
use super::error::LoadError;
use crate::program::{Action, Variables};
use crate::scenario::template::Template;
use crate::scenario::value::Value;
use crate::scenario::{Load, LoadArgument, LoadCall, Plan, Transaction};

/// The requests of a load test.
#[derive(Debug)]
pub struct Workload<'a> {
    /// Taken in turn; there is at least one.
    calls: Vec<(Arc<Transaction>, &'a [LoadArgument])>,
    columns: &'a [String],
    /// Taken in turn.
    rows: Vec<Vec<Value>>,
    parameters: Variables,
    seed: u64,
}

/// One request: a call whose arguments are still to be evaluated.
#[derive(Debug)]
pub struct Request<'a> {
    pub transaction: &'a Arc<Transaction>,
    pub arguments: Vec<Argument<'a>>,
    /// What the arguments may use.
    pub scope: Variables,
}

#[derive(Debug, PartialEq)]
pub enum Argument<'a> {
    Value(Value),
    Expression(&'a Template),
}

impl<'a> Workload<'a> {
    /// `shuffled`: the rows come in an order by the seed. `parameters` are the values of `@param`.
    pub fn new(
        load: &'a Load,
        plan: &Plan,
        parameters: Variables,
        seed: u64,
        shuffled: bool,
    ) -> Result<Workload<'a>, LoadError> {
        let call = |call: &'a LoadCall| {
            let transaction = plan.transactions.iter().find(|transaction| transaction.name == call.transaction);
            let fitting = transaction.filter(|transaction| transaction.params.len() == call.arguments.len());
            fitting.map(|transaction| (Arc::clone(transaction), call.arguments.as_slice())).ok_or_else(|| {
                LoadError::NoSuchCall { transaction: call.transaction.clone(), arguments: call.arguments.len() }
            })
        };
        let calls = load.calls.iter().map(call).collect::<Result<Vec<_>, _>>()?;
        if calls.is_empty() {
            return Err(LoadError::NoCalls);
        }
        let (columns, mut rows) = match &load.rows {
            None => (&[][..], Vec::new()),
            Some(rows) => (rows.columns.as_slice(), columns::values(rows)),
        };
        if shuffled {
            rows.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
        }
        Ok(Workload { calls, columns, rows, parameters, seed })
    }

    /// The values of `@param`, which every transaction sees.
    pub fn parameters(&self) -> &Variables {
        &self.parameters
    }

    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// All expressions that are evaluated beside the statements: of the arguments and in the transactions.
    pub fn expressions(&self) -> impl Iterator<Item = &Template> {
        let arguments = self.calls.iter().flat_map(|(_, arguments)| *arguments).filter_map(|argument| match argument {
            LoadArgument::Expression(expression) => Some(expression),
            LoadArgument::Random { .. } => None,
        });
        let ops = self.calls.iter().flat_map(|(transaction, _)| &transaction.program.ops);
        arguments.chain(ops.filter_map(|op| match &op.action {
            Action::Set { value, .. } => Some(value),
            Action::JumpUnless { condition, .. } => Some(condition),
            _ => None,
        }))
    }

    /// The request of this number (from 1), taken by this worker (from 1).
    pub fn request(&self, number: u64, worker: u32) -> Request<'_> {
        let turn = |length: usize| (number.saturating_sub(1) % length as u64) as usize;
        let (transaction, arguments) = &self.calls[turn(self.calls.len())];
        let mut scope = self.parameters.clone();
        scope.set("worker", columns::number(&worker.to_string()));
        scope.set("request", columns::number(&number.to_string()));
        if !self.rows.is_empty() {
            let row = &self.rows[turn(self.rows.len())];
            for (column, value) in self.columns.iter().zip(row) {
                scope.set(column.as_str(), value.clone());
            }
        }
        // A generator of its own for each request: what it draws does not depend on who came before.
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let argument = |argument: &'a LoadArgument| match argument {
            LoadArgument::Expression(expression) => Argument::Expression(expression),
            LoadArgument::Random { low, high } => {
                Argument::Value(columns::number(&rng.random_range(*low..=*high.max(low)).to_string()))
            }
        };
        let arguments = arguments.iter().map(argument).collect();
        Request { transaction, arguments, scope }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::source::Span;
    use crate::scenario::template::Variables as _;
    use crate::scenario::{LoadAmount, LoadRows};

    fn load() -> Load {
        let call = |name: &str, arguments| LoadCall { transaction: name.to_owned(), arguments, span: Span::default() };
        Load {
            calls: vec![
                call("approve", vec![LoadArgument::Random { low: 1, high: 1_000_000 }]),
                call("report", Vec::new()),
            ],
            workers: 2,
            amount: LoadAmount::Requests(10),
            rows: Some(LoadRows {
                file: "amounts.csv".to_owned(),
                columns: vec!["amount".to_owned()],
                rows: (1..=30).map(|n| vec![n.to_string()]).collect(),
            }),
            set: Vec::new(),
            name: None,
            span: Span::default(),
        }
    }

    fn plan() -> Plan {
        let transaction = |name: &str, params: &[&str]| {
            Arc::new(Transaction {
                name: name.to_owned(),
                params: params.iter().map(|param| (*param).to_owned()).collect(),
                program: Default::default(),
                span: Span::default(),
            })
        };
        Plan { transactions: vec![transaction("approve", &["amount"]), transaction("report", &[])], ..Plan::default() }
    }

    fn amounts(workload: &Workload) -> Vec<String> {
        let amount = |number| workload.request(number, 1).scope.get("amount")?.text.clone();
        (1..=60).filter_map(amount).collect()
    }

    #[test]
    fn calls_and_rows_take_turns() {
        let (load, plan) = (load(), plan());
        let workload = Workload::new(&load, &plan, Variables::default(), 7, false).unwrap();
        let name = |number| workload.request(number, 1).transaction.name.clone();
        assert_eq!([name(1), name(2), name(3)], ["approve", "report", "approve"]);
        let rows = amounts(&workload);
        assert_eq!((rows[0].as_str(), rows[29].as_str(), rows[30].as_str()), ("1", "30", "1"));
        let request = workload.request(31, 2);
        assert_eq!(request.scope.get("worker"), Some(&Value::integer(2)));
        assert_eq!(request.scope.get("request"), Some(&Value::integer(31)));
    }

    #[test]
    fn a_seed_gives_the_same_rows_and_numbers_again() {
        let (load, plan) = (load(), plan());
        let drawn = |seed, worker| {
            let workload = Workload::new(&load, &plan, Variables::default(), seed, true).unwrap();
            let random = |number| format!("{:?}", workload.request(number, worker).arguments);
            let numbers: Vec<String> = (1..=9).step_by(2).map(random).collect();
            (amounts(&workload), numbers)
        };
        assert_eq!(drawn(7, 1), drawn(7, 2));
        assert_ne!(drawn(7, 1).0, drawn(8, 1).0);
        assert_ne!(drawn(7, 1).1, drawn(8, 1).1);
        let (mut rows, numbers) = drawn(7, 1);
        assert!(numbers.windows(2).all(|pair| pair[0] != pair[1]));
        rows.truncate(30);
        rows.sort_by_key(|row| row.parse::<u32>().unwrap());
        assert_eq!(rows, (1..=30).map(|n| n.to_string()).collect::<Vec<_>>());
    }

    #[test]
    fn a_call_that_a_fix_no_longer_has_is_an_error() {
        let (load, mut plan) = (load(), plan());
        plan.transactions.pop();
        assert!(Workload::new(&load, &plan, Variables::default(), 7, false).is_err());
    }
}
