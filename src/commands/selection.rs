//! Which forms of which scenarios run, and at which levels: the arguments that commands share, and what they choose.

use std::str::FromStr;

use clap::Args;

use super::exit::UsageError;
use crate::scenario::{self, Level, Plan, Scenario, nearest};

/// Which scenarios.
#[derive(Debug, Args)]
pub struct ScenarioArgs {
    /// Built-in scenarios by name, or files; also `.spec` files of PostgreSQL's isolation tests.
    #[arg(value_name = "NAME|FILE", required_unless_present = "all")]
    names: Vec<String>,
    /// Every built-in scenario.
    #[arg(long, conflicts_with = "names")]
    all: bool,
}

impl ScenarioArgs {
    /// What names them.
    pub fn names(&self) -> Vec<&str> {
        match self.all {
            true => scenario::builtin().map(|builtin| builtin.name).collect(),
            false => self.names.iter().map(String::as_str).collect(),
        }
    }
}

/// Which of their forms, and at which levels.
#[derive(Debug, Args)]
pub struct FormArgs {
    /// The isolation level: read-committed, repeatable-read, serializable or all. Repeatable.
    #[arg(long, value_name = "LEVEL")]
    pub isolation: Vec<LevelChoice>,
    /// Only this fix or variant, or set of steps of a `.spec` file; all: as written and every one of them. Repeatable.
    #[arg(long, value_name = "NAME")]
    fix: Vec<String>,
    #[command(flatten)]
    pub params: ParamArgs,
}

impl FormArgs {
    /// The forms of `scenarios` that are chosen.
    pub fn select<'a>(&self, scenarios: &'a [Scenario]) -> Result<Vec<Selection<'a>>, UsageError> {
        select(scenarios, &self.fix, &self.isolation)
    }
}

/// With what parameters.
#[derive(Debug, Args)]
pub struct ParamArgs {
    /// Give a parameter of the scenario another value. Repeatable.
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    pub set: Vec<(String, String)>,
}

impl ParamArgs {
    /// Loads every scenario and sets its parameters; the first that cannot be loaded ends it.
    pub fn load(&self, names: &[&str]) -> anyhow::Result<Vec<Scenario>> {
        let load = |name: &&str| {
            let mut scenario = scenario::load(name)?;
            self.set.iter().try_for_each(|(name, value)| scenario.set_param(name, value))?;
            Ok(scenario)
        };
        names.iter().map(load).collect()
    }
}

/// A name and a value.
fn setting(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("no `=` in it; write NAME=VALUE, as in budget=5000")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// `--isolation`: a level, or all three.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LevelChoice {
    One(Level),
    All,
}

impl FromStr for LevelChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<LevelChoice, String> {
        if text == "all" {
            return Ok(LevelChoice::All);
        }
        text.parse().map(LevelChoice::One).map_err(|()| no_level(text, &["all"]))
    }
}

/// A level by its name.
pub fn level_of(text: &str) -> Result<Level, String> {
    text.parse().map_err(|()| no_level(text, &[]))
}

fn no_level(text: &str, others: &[&'static str]) -> String {
    let names: Vec<&str> = Level::ALL.iter().map(|level| level.name()).chain([Level::ReadUncommitted.name()]).collect();
    let names = [names.as_slice(), others].concat();
    match nearest(text, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the levels are {}", names.join(", ")),
    }
}

/// One scenario in one form, at the levels at which it is to run.
#[derive(Debug)]
pub struct Selection<'a> {
    pub scenario: &'a Scenario,
    /// A fix or variant; none as written.
    pub fix: Option<&'a str>,
    pub levels: Vec<Level>,
}

impl Selection<'_> {
    /// What is to run.
    pub fn plan(&self) -> &Plan {
        self.scenario.plan(self.fix).unwrap_or(&self.scenario.as_written)
    }
}

/// All selections in the order of the command line. A form with levels of its own runs at those.
pub fn select<'a>(
    scenarios: &'a [Scenario],
    fixes: &[String],
    levels: &[LevelChoice],
) -> Result<Vec<Selection<'a>>, UsageError> {
    let levels = chosen_levels(levels);
    let mut selections = Vec::new();
    for scenario in scenarios {
        for fix in forms(scenario, fixes)? {
            let own = match fix.and_then(|name| scenario.variant(name)) {
                Some(variant) => &variant.levels,
                None => &scenario.levels,
            };
            let levels = if own.is_empty() { levels.clone() } else { own.clone() };
            selections.push(Selection { scenario, fix, levels });
        }
    }
    Ok(selections)
}

/// Each level once, in the order of the command line; read-committed where none is chosen.
pub fn chosen_levels(choices: &[LevelChoice]) -> Vec<Level> {
    let mut levels = Vec::new();
    for choice in choices {
        match choice {
            LevelChoice::One(level) => levels.push(*level),
            LevelChoice::All => levels.extend(Level::ALL),
        }
    }
    if levels.is_empty() {
        levels.push(Level::ReadCommitted);
    }
    let mut seen = Vec::new();
    levels.retain(|level| !seen.contains(level) && (seen.push(*level), true).1);
    levels
}

/// The forms that `--fix` names; for none as written, or every set of steps. An unknown one is met with what could be meant.
pub fn forms<'a>(scenario: &'a Scenario, fixes: &[String]) -> Result<Vec<Option<&'a str>>, UsageError> {
    let names = || scenario.variants.iter().map(|variant| variant.name.as_str());
    if fixes.is_empty() && !scenario.is_menu {
        return Ok(vec![None]);
    }
    if fixes.is_empty() {
        return Ok(names().map(Some).collect());
    }
    let mut forms = Vec::new();
    for fix in fixes {
        if fix == "all" {
            forms.extend((!scenario.is_menu).then_some(None));
            forms.extend(names().map(Some));
            continue;
        }
        let Some(variant) = scenario.variant(fix) else {
            let help = match (nearest(fix, names()), names().collect::<Vec<_>>()) {
                (Some(near), _) => format!("did you mean `{near}`?"),
                (None, names) if names.is_empty() => "it has none".to_owned(),
                (None, names) => format!("it has {}", names.join(", ")),
            };
            let message = format!("scenario {} has no fix or variant `{fix}`", scenario.name);
            return Err(UsageError { message, help: Some(help) });
        };
        forms.push(Some(variant.name.as_str()));
    }
    forms.dedup();
    Ok(forms)
}
