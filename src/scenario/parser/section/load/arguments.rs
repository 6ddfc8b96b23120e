//! The arguments of the calls of a `@load`.

use super::clauses::Clauses;
use crate::scenario::model::{LoadArgument, LoadCall};
use crate::scenario::parser::Parser;
use crate::scenario::parser::body::scope::{Names, check_expression};
use crate::scenario::parser::header::Header;
use crate::scenario::parser::section::session::RawCall;
use crate::scenario::parser::slice::Slice;
use crate::scenario::parser::templates;

impl Parser<'_> {
    pub(super) fn load_calls(&mut self, calls: Vec<RawCall<'_>>, clauses: &Clauses) -> Vec<LoadCall> {
        let mut known = Names::clone(&self.param_names);
        if clauses.has_unknown_columns {
            known.open("");
        }
        let columns = clauses.rows.iter().flat_map(|rows| &rows.columns);
        for name in ["worker", "request"].into_iter().chain(columns.map(String::as_str)) {
            known.insert(name);
        }
        let mut read = Vec::new();
        for RawCall { transaction, arguments, span } in calls {
            let arguments = arguments.into_iter().map(|argument| self.load_argument(argument, &known));
            read.push(LoadCall { arguments: arguments.collect(), transaction: transaction.text, span });
        }
        read
    }

    fn load_argument(&mut self, text: Slice<'_>, known: &Names) -> LoadArgument {
        if let Some(bounds) = self.random(text) {
            return bounds;
        }
        let template = templates::sql(text, &mut self.diagnostics);
        check_expression(&template, known, &mut self.diagnostics);
        LoadArgument::Expression(template)
    }

    /// `random(LO, HI)`.
    fn random(&mut self, text: Slice<'_>) -> Option<LoadArgument> {
        let bracket = text.text.find('(')?;
        if !text.text[..bracket].trim().eq_ignore_ascii_case("random") {
            return None;
        }
        let mut header = Header::new(text.from(bracket));
        let bounds = header.arguments(&mut self.diagnostics);
        let [low, high] = bounds.as_slice() else { return None };
        if !header.at_end() {
            return None;
        }
        match (low.text.parse(), high.text.parse()) {
            (Ok(low), Ok(high)) if low <= high => Some(LoadArgument::Random { low, high }),
            (Ok(low), Ok(high)) => {
                self.diagnostics
                    .error(text.span(), format!("there is no number from {low} to {high}"))
                    .help(format!("the lower one comes first: `random({high}, {low})`"));
                Some(LoadArgument::Random { low, high })
            }
            _ => {
                self.diagnostics
                    .error(text.span(), "`random` takes two whole numbers")
                    .help("such as `random(1, 100)`, both ends included");
                Some(LoadArgument::Random { low: 0, high: 0 })
            }
        }
    }
}
