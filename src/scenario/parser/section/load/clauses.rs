//! What stands behind `by` in a `@load`.

use std::time::Duration;

use super::FORM;
use crate::scenario::model::{LoadAmount, LoadRows};
use crate::scenario::parser::Parser;
use crate::scenario::parser::body::scope::{Names, check_expression};
use crate::scenario::parser::header::Header;
use crate::scenario::parser::slice::Slice;
use crate::scenario::parser::templates;
use crate::scenario::source::Span;
use crate::scenario::template::Template;

#[derive(Default)]
pub struct Clauses {
    pub workers: Option<u32>,
    pub amount: Option<LoadAmount>,
    pub rows: Option<LoadRows>,
    /// The rows could not be read.
    pub has_unknown_columns: bool,
    pub set: Vec<(String, Template)>,
    pub name: Option<String>,
}

impl Parser<'_> {
    /// All clauses; none after one that cannot be read.
    pub(super) fn clauses(&mut self, header: &mut Header<'_>) -> Option<Clauses> {
        let mut clauses = Clauses::default();
        while !header.at_end() {
            self.clause(header, &mut clauses)?;
            if !header.eat(",") {
                header.finish(FORM, &mut self.diagnostics);
            }
        }
        Some(clauses)
    }

    fn clause(&mut self, header: &mut Header<'_>, clauses: &mut Clauses) -> Option<()> {
        let word = header.word();
        match word.text {
            "for" => {
                let duration = self.duration(header.word())?;
                self.set_amount(clauses, LoadAmount::For(duration), word.span());
            }
            "from" => {
                clauses.rows = self.rows(header.until_comma());
                clauses.has_unknown_columns = clauses.rows.is_none();
            }
            "as" => clauses.name = Some(header.name("strategy", &mut self.diagnostics)?.text),
            "set" => clauses.set.push(self.set_clause(header)?),
            _ => self.count_clause(word, header.word(), clauses)?,
        }
        Some(())
    }

    /// `N workers` or `N requests`.
    fn count_clause(&mut self, number: Slice<'_>, unit: Slice<'_>, clauses: &mut Clauses) -> Option<()> {
        match (number.text.parse::<u32>().ok().filter(|number| *number > 0), unit.text) {
            (Some(workers), "workers" | "worker") => clauses.workers = Some(workers),
            (Some(requests), "requests" | "request") => {
                self.set_amount(clauses, LoadAmount::Requests(requests.into()), number.span());
            }
            _ => {
                self.diagnostics.error(number.span(), format!("unexpected `{}`", number.text)).help(FORM);
                return None;
            }
        }
        Some(())
    }

    fn set_amount(&mut self, clauses: &mut Clauses, amount: LoadAmount, span: Span) {
        if clauses.amount.replace(amount).is_some() {
            self.diagnostics
                .error(span, "a load ends after a number of requests or after a time, not both")
                .help("leave out one of `N requests` and `for TIME`");
        }
    }

    fn duration(&mut self, text: Slice<'_>) -> Option<Duration> {
        let duration = humantime::parse_duration(text.text).ok().filter(|duration| !duration.is_zero());
        if duration.is_none() {
            self.diagnostics.error(text.span(), format!("`{}` is no time", text.text)).help("such as 30s or 2m");
        }
        duration
    }

    /// `PARAM = VALUE` behind `set`.
    fn set_clause(&mut self, header: &mut Header<'_>) -> Option<(String, Template)> {
        let name = header.name("variable", &mut self.diagnostics)?;
        if !self.param_names.contains(&name.text) {
            let known = self.params.iter().map(|param| param.name.as_str());
            self.diagnostics.unknown("parameter", name.span, &name.text, known);
        }
        if !header.eat("=") {
            self.diagnostics.error(header.rest().span(), format!("`set {}` needs `= VALUE`", name.text));
            return None;
        }
        let value = templates::sql(header.until_comma(), &mut self.diagnostics);
        check_expression(&value, &Names::default(), &mut self.diagnostics);
        Some((name.text, value))
    }

    /// The rows of a CSV file, whose first line names its columns.
    fn rows(&mut self, file: Slice<'_>) -> Option<LoadRows> {
        let text = self.read_beside(file)?;
        match read_csv(&text) {
            Ok((_, rows)) if rows.is_empty() => {
                self.diagnostics.error(file.span(), format!("`{}` has no rows below its header", file.text));
                None
            }
            Ok((columns, rows)) => Some(LoadRows { file: file.text.to_owned(), columns, rows }),
            Err(error) => {
                self.diagnostics.error(file.span(), format!("cannot read `{}`: {error}", file.text));
                None
            }
        }
    }
}

fn read_csv(text: &str) -> csv::Result<(Vec<String>, Vec<Vec<String>>)> {
    let fields = |record: &csv::StringRecord| record.iter().map(str::to_owned).collect::<Vec<_>>();
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let columns = fields(reader.headers()?);
    let rows: csv::Result<Vec<_>> = reader.records().map(|record| Ok(fields(&record?))).collect();
    Ok((columns, rows?))
}
