//! `--set NAME=VALUE`: another value for a `@param`.

use std::sync::Arc;

use super::model::Scenario;
use super::nearest::nearest;
use super::parser::expression;
use super::source::SourceFile;

/// Why a parameter cannot have a value.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SetError {
    #[error("scenario `{scenario}` has no parameter `{name}`{}", suggestion(.nearest.as_deref()))]
    Unknown { scenario: String, name: String, nearest: Option<String> },
    #[error("the value of `{name}` is no SQL expression: {reason}")]
    Value { name: String, reason: String },
}

fn suggestion(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

impl Scenario {
    /// Gives a parameter another value, an SQL expression as in the file.
    pub fn set_param(&mut self, name: &str, value: &str) -> Result<(), SetError> {
        let Some(param) = self.params.iter_mut().find(|param| param.name == name) else {
            let names = self.params.iter().map(|param| param.name.as_str());
            let nearest = nearest(name, names).map(str::to_owned);
            return Err(SetError::Unknown { scenario: self.name.clone(), name: name.to_owned(), nearest });
        };
        let file = self.sources.files.len() as u16;
        param.value = expression(value, file).map_err(|reason| SetError::Value { name: name.to_owned(), reason })?;
        self.sources.files.push(Arc::new(SourceFile { name: format!("--set {name}"), text: value.to_owned() }));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::scenario::{Disk, parse};

    fn scenario() -> Scenario {
        let text = "-- @title t\n-- @param budget = 5000\n-- @session a\nSELECT :budget;\n";
        parse(&Disk, Path::new("budget.sql"), text).unwrap().scenario
    }

    #[test]
    fn a_parameter_takes_another_value() {
        let mut scenario = scenario();
        scenario.set_param("budget", "50000").unwrap();
        assert_eq!(scenario.params[0].value.written(), "50000");
        assert_eq!(scenario.sources.text(scenario.params[0].value.span), "50000");
    }

    #[test]
    fn what_cannot_be_set_says_why() {
        let said = |name: &str, value: &str| scenario().set_param(name, value).unwrap_err().to_string();
        assert_eq!(said("budgt", "1"), "scenario `budget` has no parameter `budgt`; did you mean `budget`?");
        assert_eq!(said("budget", "'a"), "the value of `budget` is no SQL expression: this quote is not closed");
        assert_eq!(said("budget", ":a"), "the value of `budget` is no SQL expression: unknown variable `a`");
        assert_eq!(said("budget", " "), "the value of `budget` is no SQL expression: it is empty");
    }
}
