//! `@requires`: what a server must have, or the run is skipped with the reason.

use std::time::Instant;

use super::error::RunError;
use super::reset;
use crate::program::{Action, Program};
use crate::scenario::value::quoted_identifier;
use crate::scenario::{Comparison, Plan, Requirement, Scenario};
use crate::server::{Sandbox, SandboxKind, Server};
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

/// Begins to make the sandbox; a database of its own that the role may not create is unmet.
pub(super) fn sandbox(server: &Server, kind: &SandboxKind) -> Result<Sandbox, RunError> {
    Sandbox::begin(server, kind).map_err(|error| match kind {
        SandboxKind::Database { .. } if error.is_privilege() => {
            let user = &server.options().user;
            let reason =
                format!("needs a database of its own, and {user} may not create one (ALTER ROLE ... CREATEDB)");
            RunError::Unmet { reason }
        }
        _ => error.into(),
    })
}

/// What a statement says that asks about, or waits for, transactions anywhere in the cluster: the snapshot horizon, a safe
/// snapshot, prepared transactions, and what waits for older snapshots or is held up by them; or makes what is the cluster's.
const CLUSTER_WIDE: [&str; 9] = [
    "snapshot_xmin",
    "only deferrable",
    "only, deferrable",
    "pg_prepared_xacts",
    "concurrently",
    "vacuum",
    "create role",
    "create user",
    "create database",
];

/// Whether a run of the plan could be disturbed by whatever else runs in the cluster, even in another database. Prepared
/// transactions also have names that no other run may use meanwhile.
pub fn runs_alone(plan: &Plan) -> bool {
    let scripts = plan.schema.iter().chain(plan.checks.iter().map(|check| &check.script));
    let scripts = scripts.chain(plan.measures.iter().map(|measure| &measure.script));
    let mut programs = reset::programs(plan).chain(scripts.map(|script| script.program.as_ref()));
    programs.any(is_cluster_wide) || reset::prepares(plan)
}

fn is_cluster_wide(program: &Program) -> bool {
    program.ops.iter().any(|op| match &op.action {
        Action::Statement(statement) => {
            let sql = statement.text.written().to_lowercase();
            CLUSTER_WIDE.iter().any(|word| sql.contains(word))
        }
        _ => false,
    })
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
