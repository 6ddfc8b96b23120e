//! Binds what the sections say to each other: every fix and variant becomes a whole plan.

mod calls;
mod expects;
mod inherit;
mod load;
mod moves;
mod track;
mod unused;

use std::collections::HashMap;
use std::path::Path;

use unused::Unused;

use super::declared::{Declared, DeclaredVariant};
use super::section::TITLE;
use super::{Mistakes, Parsed, Parser};
use crate::scenario::model::{Level, Plan, Scenario, Variant};
use crate::scenario::source::Span;

/// So many sections, calls and moves may all forms of a scenario have together, those that they inherit included.
const LARGEST: usize = 1_000_000;

impl Parser<'_> {
    pub(super) fn finish(mut self) -> Result<Parsed, Mistakes> {
        let start = Span::default();
        if self.title.is_none() && !self.diagnostics.has_errors() {
            self.diagnostics.warning(start, "this scenario has no `@title`").help(TITLE);
        }
        let (as_written, variants) = self.plans();
        let has_errors = self.diagnostics.has_errors();
        let diagnostics = self.diagnostics.into_sorted();
        if has_errors {
            return Err(Mistakes { sources: self.sources, diagnostics });
        }
        let name = scenario_name(self.path);
        let scenario = Scenario {
            title: self.title.unwrap_or_else(|| name.clone()),
            name,
            story: self.story,
            sources: self.sources,
            params: self.params,
            databases: self.databases,
            pools: self.pools,
            load: self.load,
            levels: Vec::new(),
            as_written,
            variants,
            is_menu: false,
        };
        Ok(Parsed { scenario, warnings: diagnostics })
    }

    fn plans(&mut self) -> (Plan, Vec<Variant>) {
        let base = std::mem::take(&mut self.as_written);
        let variants = std::mem::take(&mut self.variants);
        if base.sessions.is_empty() && self.load.is_none() && !self.diagnostics.has_errors() {
            self.diagnostics
                .error(Span::default(), "nobody runs anything: there is no `@session` and no `@load`")
                .help("`-- @session alice: approve('alice', 3000)`");
        }
        if weight(&base) * (1 + variants.len()) > LARGEST {
            self.diagnostics
                .error(Span::default(), format!("this scenario is too large for its {} fixes", variants.len()));
            return Default::default();
        }
        let forms = variants.iter().map(|variant| &variant.declared).chain([&base]);
        let unused = Unused::find(forms, self.load.as_ref());
        let as_written = self.plan(base.clone(), None);
        let variants = variants.into_iter().map(|variant| self.variant(&base, variant)).collect();
        if !self.diagnostics.has_errors() {
            unused.warn(&mut self.diagnostics);
        }
        (as_written, variants)
    }

    fn variant(&mut self, base: &Declared, variant: DeclaredVariant) -> Variant {
        self.check_change(&variant);
        let DeclaredVariant { name, is_fix, levels, story, declared, .. } = variant;
        let form = Form { name: name.text, span: name.span, levels, own_order: declared.order.is_some() };
        let plan = self.plan(inherit::merged(base, declared), Some(&form));
        Variant { name: form.name, is_fix, levels: form.levels, story, span: form.span, plan }
    }

    /// A fix that says nothing would be the scenario as written.
    fn check_change(&mut self, variant: &DeclaredVariant) {
        if variant.levels.is_empty() && !variant.changes && !variant.name.text.is_empty() {
            let kind = if variant.is_fix { "fix" } else { "variant" };
            self.diagnostics
                .error(variant.name.span, format!("{kind} `{}` changes nothing", variant.name.text))
                .help("give it a level (`at serializable`), a `@transaction`, a `@retry` or another section");
        }
    }

    fn plan(&mut self, declared: Declared, form: Option<&Form>) -> Plan {
        let transactions: HashMap<_, _> =
            declared.transactions.iter().map(|transaction| (transaction.name.clone(), transaction.clone())).collect();
        let sessions = self.bind_sessions(declared.sessions, &transactions, form);
        let finally = self.bind_sessions(declared.finally, &transactions, form);
        let order = self.bind_order(declared.order, &sessions, form);
        self.check_load(&transactions, form);
        self.check_sleeps(&sessions);
        let plan = Plan {
            requires: declared.requires,
            schema: declared.schema,
            setup: declared.setup,
            teardown: Vec::new(),
            transactions: declared.transactions,
            sessions,
            order,
            retry: declared.retry,
            finally,
            checks: declared.checks,
            measures: declared.measures,
            expects: Vec::new(),
        };
        let expects = self.bind_expects(declared.expects, &plan, form);
        Plan { expects, ..plan }
    }
}

/// The fix or variant that a plan is made for.
struct Form {
    name: String,
    span: Span,
    levels: Vec<Level>,
    own_order: bool,
}

/// "in fix `x`" behind a message; nothing as written.
fn inside(form: Option<&Form>) -> String {
    form.map_or(String::new(), |form| format!(" in `{}`", form.name))
}

fn weight(declared: &Declared) -> usize {
    let calls: usize =
        declared.sessions.iter().chain(&declared.finally).map(|session| 1 + session.runs.calls().len()).sum();
    let moves = declared.order.as_ref().map_or(0, |order| order.moves.len());
    let sections = declared.transactions.len()
        + declared.schema.len()
        + declared.setup.len()
        + declared.requires.len()
        + declared.checks.len()
        + declared.measures.len();
    1 + calls + moves + sections
}

/// The file's name without folder and ending.
fn scenario_name(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}
