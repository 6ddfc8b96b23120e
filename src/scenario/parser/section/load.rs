//! `@load`: what the workers of the load test do.

use std::time::Duration;

use crate::scenario::model::{Load, LoadAmount, LoadArgument, LoadCall, LoadRows};
use crate::scenario::parser::Parser;
use crate::scenario::parser::body::scope::{Names, check_expression};
use crate::scenario::parser::header::{Header, Name};
use crate::scenario::parser::lexer::Token;
use crate::scenario::parser::sections::Section;
use crate::scenario::parser::slice::Slice;
use crate::scenario::parser::statement::lexemes;
use crate::scenario::parser::templates;
use crate::scenario::source::Span;

const FORM: &str = "`-- @load CALL; … by N workers, N requests`, or `for 30s` in place of the requests; then `from FILE.csv`, `set PARAM = VALUE`, `as NAME`";

/// What stands behind `by`.
#[derive(Default)]
struct Clauses {
    workers: Option<u32>,
    amount: Option<LoadAmount>,
    rows: Option<LoadRows>,
    /// The rows could not be read.
    has_unknown_columns: bool,
    set: Vec<(String, crate::scenario::template::Template)>,
    name: Option<String>,
}

/// A call whose arguments are still text.
type RawCall<'a> = (Name, Vec<Slice<'a>>, Span);

impl Parser<'_> {
    /// `@load CALL; … by N workers, N requests`, then further clauses in any order.
    pub(super) fn read_load(&mut self, section: &Section<'_>) {
        self.only_comments(section);
        self.define(None, "load", "", section.word.span());
        let mut header = Header::new(section.header);
        let Some(raw_calls) = self.raw_calls(&mut header) else { return };
        let mut clauses = Clauses::default();
        while !header.at_end() {
            if self.clause(&mut header, &mut clauses).is_none() {
                return;
            }
            if !header.eat(",") {
                header.finish(FORM, &mut self.diagnostics);
            }
        }
        let calls = self.load_calls(raw_calls, &clauses);
        let (Some(workers), Some(amount)) = (clauses.workers, clauses.amount) else {
            self.diagnostics
                .error(section.word.span(), "a load needs its workers and a number of requests or a time")
                .help(FORM);
            return;
        };
        let Clauses { rows, set, name, .. } = clauses;
        self.load = Some(Load { calls, workers, amount, rows, set, name, span: section.word.span() });
    }

    fn raw_calls<'a>(&mut self, header: &mut Header<'a>) -> Option<Vec<RawCall<'a>>> {
        let mut calls = Vec::new();
        loop {
            calls.push(self.call(header)?);
            if header.eat_word("by") {
                return Some(calls);
            }
            if !header.eat(";") {
                self.diagnostics.error(header.rest().span(), "`by N workers` is missing here").help(FORM);
                return None;
            }
        }
    }

    fn clause(&mut self, header: &mut Header<'_>, clauses: &mut Clauses) -> Option<()> {
        let word = header.word();
        match word.text {
            "for" => {
                let time = header.word();
                let duration = self.duration(time)?;
                self.set_amount(clauses, LoadAmount::For(duration), word.span());
            }
            "from" => {
                clauses.rows = self.rows(header.until_comma());
                clauses.has_unknown_columns = clauses.rows.is_none();
            }
            "as" => clauses.name = Some(header.name("strategy", &mut self.diagnostics)?.text),
            "set" => {
                let name = header.name("variable", &mut self.diagnostics)?;
                if !self.param_names.contains(&name.text) {
                    let known = self.params.iter().map(|param| param.name.as_str());
                    self.diagnostics.unknown("parameter", name.span, &name.text, known);
                }
                if !header.eat("=") {
                    self.diagnostics.error(header.rest().span(), "`set NAME` needs `= VALUE`");
                    return None;
                }
                let value = templates::sql(header.until_comma(), &mut self.diagnostics);
                check_expression(&value, &Names::default(), &mut self.diagnostics);
                clauses.set.push((name.text, value));
            }
            number => {
                let unit = header.word();
                match (number.parse::<u32>().ok().filter(|number| *number > 0), unit.text) {
                    (Some(workers), "workers" | "worker") => clauses.workers = Some(workers),
                    (Some(requests), "requests" | "request") => {
                        self.set_amount(clauses, LoadAmount::Requests(requests.into()), word.span());
                    }
                    _ => {
                        self.diagnostics.error(word.span(), format!("unexpected `{}`", word.text)).help(FORM);
                        return None;
                    }
                }
            }
        }
        Some(())
    }

    fn set_amount(&mut self, clauses: &mut Clauses, amount: LoadAmount, span: Span) {
        if clauses.amount.replace(amount).is_some() {
            self.diagnostics.error(span, "a load ends after a number of requests or after a time, not both");
        }
    }

    fn duration(&mut self, text: Slice<'_>) -> Option<Duration> {
        let duration = humantime::parse_duration(text.text).ok().filter(|duration| !duration.is_zero());
        if duration.is_none() {
            self.diagnostics.error(text.span(), format!("`{}` is no time", text.text)).help("such as 30s or 2m");
        }
        duration
    }

    fn rows(&mut self, file: Slice<'_>) -> Option<LoadRows> {
        let text = self.read_beside(file)?;
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
        let rows = reader.headers().cloned().and_then(|columns| {
            let rows: Result<Vec<csv::StringRecord>, csv::Error> = reader.records().collect();
            Ok((columns, rows?))
        });
        let fields = |record: &csv::StringRecord| record.iter().map(str::to_owned).collect::<Vec<_>>();
        match rows {
            Ok((_, rows)) if rows.is_empty() => {
                self.diagnostics.error(file.span(), format!("`{}` has no rows below its header", file.text));
                None
            }
            Ok((columns, rows)) => Some(LoadRows {
                file: file.text.to_owned(),
                columns: fields(&columns),
                rows: rows.iter().map(fields).collect(),
            }),
            Err(error) => {
                self.diagnostics.error(file.span(), format!("cannot read `{}`: {error}", file.text));
                None
            }
        }
    }

    fn load_calls(&mut self, calls: Vec<RawCall<'_>>, clauses: &Clauses) -> Vec<LoadCall> {
        let mut known = Names::clone(&self.param_names);
        if clauses.has_unknown_columns {
            known.open("");
        }
        let columns = clauses.rows.iter().flat_map(|rows| &rows.columns);
        for name in ["worker", "request"].into_iter().chain(columns.map(String::as_str)) {
            known.insert(name);
        }
        let mut read = Vec::new();
        for (transaction, arguments, span) in calls {
            let arguments = arguments.into_iter().map(|argument| self.load_argument(argument, &known));
            read.push(LoadCall { arguments: arguments.collect(), transaction: transaction.text, span });
        }
        read
    }

    fn load_argument(&mut self, text: Slice<'_>, known: &Names) -> LoadArgument {
        if let Some((low, high)) = random(text) {
            if low > high {
                self.diagnostics.error(text.span(), format!("there is no number from {low} to {high}"));
            }
            return LoadArgument::Random { low, high };
        }
        let template = templates::sql(text, &mut self.diagnostics);
        check_expression(&template, known, &mut self.diagnostics);
        LoadArgument::Expression(template)
    }
}

/// `random(LO, HI)` of two whole numbers.
fn random(text: Slice<'_>) -> Option<(i64, i64)> {
    let mut lexemes = lexemes(text);
    let is_random = lexemes.next().is_some_and(|lexeme| lexeme.is_word("RANDOM"));
    let has_bracket = lexemes.next().is_some_and(|lexeme| lexeme.token == Token::Open);
    if !is_random || !has_bracket {
        return None;
    }
    let bounds = text.text.split_once('(')?.1.strip_suffix(')')?;
    let (low, high) = bounds.split_once(',')?;
    Some((low.trim().parse().ok()?, high.trim().parse().ok()?))
}
