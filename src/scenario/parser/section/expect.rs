//! `@expect`: what the staged order gives, and what the others do.

use crate::scenario::model::{Expect, ExpectedOfAll, ExpectedOutcome, ExpectedStop};
use crate::scenario::parser::declared::DeclaredExpect;
use crate::scenario::parser::header::{Header, Name, sqlstate};
use crate::scenario::parser::sections::Section;
use crate::scenario::parser::{Form, Parser};

const OUTCOMES: [&str; 5] = ["happens", "stopped", "waits", "prevented", "holds"];

const WHOLE: &str = "`stopped SQLSTATE [at SESSION STEP] [and …] [then holds | then happens]`; behind any outcome but \
                     `happens`: `, explored happens` or `, explored anomaly`";

impl Parser<'_> {
    /// `@expect LEVEL, … [on OP VERSION]: OUTCOME [, explored happens | anomaly]`.
    pub(super) fn read_expect(&mut self, form: Form, section: &Section<'_>) {
        self.only_comments(section);
        let mut header = Header::new(section.header);
        let levels = header.levels(&mut self.diagnostics);
        let mut version = None;
        if header.eat_word("on") {
            let Some(comparison) = header.comparison() else {
                self.diagnostics.error(header.rest().span(), "`on` needs a comparison such as `on >= 18`");
                return;
            };
            let Some(number) = header.count("a version", &mut self.diagnostics) else { return };
            version = Some((comparison, number));
        }
        if !header.eat(":") {
            self.diagnostics
                .error(header.rest().span(), "a `:` and an outcome are missing here")
                .help("`-- @expect LEVEL, … [on OP VERSION]: OUTCOME`");
            return;
        }
        let written = header.rest().text;
        let mut stops = Vec::new();
        let Some(outcome) = self.outcome(&mut header, &mut stops) else { return };
        let mut then_holds = None;
        if matches!(outcome, ExpectedOutcome::Stopped(_)) && header.eat_word("then") {
            then_holds = match header.word().text {
                "holds" => Some(true),
                "happens" => Some(false),
                _ => {
                    self.diagnostics.error(section.header.span(), "`then` is followed by `holds` or `happens`");
                    return;
                }
            };
        }
        let written = &written[..written.len() - header.rest().text.len()];
        let text = written.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_silent = !matches!(outcome, ExpectedOutcome::Happens(_));
        let mut explored = None;
        if is_silent && header.eat(",") {
            explored = self.explored(&mut header);
            if explored.is_none() {
                return;
            }
        }
        header.finish(WHOLE, &mut self.diagnostics);
        let span = section.header.span();
        let expect = Expect { levels, version, outcome, then_holds, text, explored, span };
        self.declared(form).expects.push(DeclaredExpect { expect, stops });
    }

    /// `explored happens | anomaly`.
    fn explored(&mut self, header: &mut Header<'_>) -> Option<ExpectedOfAll> {
        let found = header.rest();
        let word = if header.eat_word("explored") { header.word().text } else { "" };
        let explored = ExpectedOfAll::EVERY.into_iter().find(|explored| explored.name() == word);
        if explored.is_none() {
            self.diagnostics
                .error(found.span(), "behind the `,` stands `explored happens` or `explored anomaly`")
                .help("what other orders than the staged one show: a failing check, or answers that no serial order gives");
        }
        explored
    }

    fn outcome(&mut self, header: &mut Header<'_>, places: &mut Vec<(Name, Name)>) -> Option<ExpectedOutcome> {
        let word = header.word();
        match word.text {
            "happens" if header.at_end() || header.rest().text.starts_with(',') => Some(ExpectedOutcome::Happens(None)),
            "happens" => Some(ExpectedOutcome::Happens(Some(self.stop(header, places)?))),
            "stopped" => {
                let mut stops = vec![self.stop(header, places)?];
                while header.eat_word("and") {
                    stops.push(self.stop(header, places)?);
                }
                Some(ExpectedOutcome::Stopped(stops))
            }
            "waits" => Some(ExpectedOutcome::Waits),
            "prevented" => Some(ExpectedOutcome::Prevented),
            "holds" => Some(ExpectedOutcome::Holds),
            unknown => {
                self.diagnostics.unknown("outcome", word.span(), unknown, OUTCOMES);
                None
            }
        }
    }

    /// `SQLSTATE [at SESSION STEP]`.
    fn stop(&mut self, header: &mut Header<'_>, places: &mut Vec<(Name, Name)>) -> Option<ExpectedStop> {
        let sqlstate = sqlstate(header.word(), &mut self.diagnostics)?;
        let mut at = None;
        if header.eat_word("at") {
            let session = header.name("session", &mut self.diagnostics)?;
            let step = header.name("step", &mut self.diagnostics)?;
            at = Some((session.text.clone(), step.text.clone()));
            places.push((session, step));
        }
        Some(ExpectedStop { sqlstate, at })
    }
}
