//! `@requires`: what a server must have, or the run is skipped with the reason.

use std::time::Instant;

use super::error::RunError;
use super::reset;
use crate::scenario::value::quoted_identifier;
use crate::scenario::{Comparison, Plan, Requirement, Scenario};
use crate::server::{SandboxKind, Server};
use crate::wire::{Connection, WireError};

/// The sandbox that a plan needs.
pub(super) fn sandbox_kind(scenario: &Scenario, plan: &Plan) -> SandboxKind {
    let needs_own = |need: &Requirement| matches!(need, Requirement::Database | Requirement::Extension(_));
    if plan.requires.iter().any(needs_own) || !scenario.databases.is_empty() || reset::prepares(plan) {
        SandboxKind::Database { extra: scenario.databases.clone() }
    } else {
        SandboxKind::Schema
    }
}

/// The extensions that a plan needs.
pub(super) fn extensions(plan: &Plan) -> impl Iterator<Item = &str> {
    plan.requires.iter().filter_map(|need| match need {
        Requirement::Extension(name) => Some(name.as_str()),
        _ => None,
    })
}

/// Creates an extension in the sandbox's database; one that is not installed is unmet.
pub(super) fn create_extension(home: &mut Connection, name: &str, deadline: Instant) -> Result<(), RunError> {
    match home.query(&format!("CREATE EXTENSION {}", quoted_identifier(name)), deadline) {
        Ok(_) => Ok(()),
        Err(WireError::Server(error)) => {
            Err(RunError::Unmet { reason: format!("needs extension {name}: {}", error.message) })
        }
        Err(other) => Err(other.into()),
    }
}

/// Fails with [`RunError::Unmet`] where the server lacks something.
pub(super) fn check(plan: &Plan, server: &Server) -> Result<(), RunError> {
    for need in &plan.requires {
        let unmet = match need {
            Requirement::Version { comparison, version } => {
                let found = server.version().major;
                (!comparison.holds(&found, version))
                    .then(|| format!("needs PostgreSQL {} {version}; this is {found}", comparison.symbol()))
            }
            Requirement::Setting { name, comparison, value } => {
                let found = server.setting(name)?;
                (!comparison_holds(*comparison, &found, value))
                    .then(|| format!("needs {name} {} {value}; here it is {found}", comparison.symbol()))
            }
            Requirement::Extension(_) | Requirement::Database => None,
        };
        if let Some(reason) = unmet {
            return Err(RunError::Unmet { reason });
        }
    }
    Ok(())
}

/// Numbers are compared as numbers, all else as text.
fn comparison_holds(comparison: Comparison, found: &str, needed: &str) -> bool {
    match (found.parse::<f64>(), needed.parse::<f64>()) {
        (Ok(found), Ok(needed)) => comparison.holds(&found, &needed),
        _ => comparison.holds(&found, &needed),
    }
}
