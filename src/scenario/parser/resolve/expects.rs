//! Expectations that can come true.

use std::collections::HashMap;

use super::Form;
use super::track::Track;
use crate::scenario::model::{Comparison, Expect, ExpectedOfAll, ExpectedOutcome, Level, Plan};
use crate::scenario::parser::Parser;
use crate::scenario::parser::declared::DeclaredExpect;
use crate::scenario::parser::header::Name;
use crate::scenario::source::Span;

/// What two expectations have in common when only the first of them is ever asked.
type Case = (Level, Option<(Comparison, u32)>);

impl Parser<'_> {
    pub(super) fn bind_expects(
        &mut self,
        expects: Vec<DeclaredExpect>,
        plan: &Plan,
        form: Option<&Form>,
    ) -> Vec<Expect> {
        let tracks: HashMap<&str, Track<'_>> =
            plan.sessions.iter().map(|session| (session.name.as_str(), Track::new(session))).collect();
        let mut seen: HashMap<Case, Span> = HashMap::new();
        let mut bound = Vec::new();
        for DeclaredExpect { expect, stops } in expects {
            for (session, step) in &stops {
                self.check_stop(session, step, &tracks, form);
            }
            self.check_outcome(&expect, plan);
            self.check_levels(&expect, form, &mut seen);
            bound.push(expect);
        }
        bound
    }

    fn check_stop(&mut self, session: &Name, step: &Name, tracks: &HashMap<&str, Track<'_>>, form: Option<&Form>) {
        match tracks.get(session.text.as_str()) {
            None => self.unknown_session(session, tracks.keys().copied()),
            Some(track) if !track.has(None, &step.text) => {
                self.unknown_step(&session.text, &step.text, step.span, track, form);
            }
            Some(_) => {}
        }
    }

    fn check_outcome(&mut self, expect: &Expect, plan: &Plan) {
        let happens = matches!(expect.outcome, ExpectedOutcome::Happens(_));
        if (happens || expect.explored == Some(ExpectedOfAll::Happens)) && plan.checks.is_empty() {
            self.diagnostics
                .error(expect.span, "`happens` can never come true: there is no `@check` that could fail")
                .help("write down what should hold: `-- @check the stock is never negative`, and a query below it");
        }
        if expect.then_holds.is_some() && plan.retry.is_none() {
            self.diagnostics
                .warning(expect.span, "`then` says what comes after the retries, but there is no `@retry`")
                .help("`-- @retry 10` says that the client runs the transaction again");
        }
    }

    fn check_levels(&mut self, expect: &Expect, form: Option<&Form>, seen: &mut HashMap<Case, Span>) {
        let pinned = form.map_or(&[][..], |form| &form.levels);
        let is_all = Level::ALL.iter().all(|level| expect.levels.contains(level));
        for level in &expect.levels {
            if !pinned.is_empty() && !pinned.contains(level) && !is_all {
                self.diagnostics.warning(expect.span, format!("this never runs at {level}")).help("see its `at`");
            }
            let first = *seen.entry((*level, expect.version)).or_insert(expect.span);
            if first != expect.span {
                self.diagnostics
                    .error(expect.span, format!("what to expect at {level} is said twice"))
                    .note(first, "first here");
            }
        }
    }
}
