//! What the sections say, before they are bound to each other: calls by name, moves by name.

use std::sync::Arc;

use super::header::Name;
use crate::scenario::model::{Check, Expect, Level, Measure, Requirement, Retry, Script, Transaction};
use crate::scenario::source::Span;
use crate::scenario::template::Template;

/// The sections outside any fix, or those of one fix or variant.
#[derive(Debug, Clone, Default)]
pub struct Declared {
    pub requires: Vec<Requirement>,
    pub schema: Vec<Script>,
    pub setup: Vec<Script>,
    pub transactions: Vec<Arc<Transaction>>,
    pub sessions: Vec<DeclaredSession>,
    pub order: Option<DeclaredOrder>,
    pub retry: Option<Retry>,
    pub finally: Vec<DeclaredSession>,
    pub checks: Vec<Check>,
    pub measures: Vec<Measure>,
    pub expects: Vec<DeclaredExpect>,
}

/// `@fix` or `@variant` with the sections below it.
#[derive(Debug)]
pub struct DeclaredVariant {
    pub name: Name,
    pub is_fix: bool,
    pub levels: Vec<Level>,
    pub story: String,
    /// There is a section below it that says more than what to expect, and not just what stands above already.
    pub changes: bool,
    pub declared: Declared,
}

/// `@session` or `@finally`.
#[derive(Debug, Clone)]
pub struct DeclaredSession {
    pub name: Name,
    pub level: Option<Level>,
    pub runs: Runs,
}

#[derive(Debug, Clone)]
pub enum Runs {
    Calls(Vec<DeclaredCall>),
    Body(Arc<Transaction>),
}

impl Runs {
    /// Its calls by name; none where it has a body.
    pub fn calls(&self) -> &[DeclaredCall] {
        match self {
            Runs::Calls(calls) => calls,
            Runs::Body(_) => &[],
        }
    }
}

/// `approve('alice', 3000)`.
#[derive(Debug, Clone)]
pub struct DeclaredCall {
    pub transaction: Name,
    pub arguments: Vec<Template>,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub struct DeclaredOrder {
    pub moves: Vec<DeclaredMove>,
}

#[derive(Debug, Clone)]
pub enum DeclaredMove {
    Step { session: Name, transaction: Option<Name>, step: Name, span: Span },
    Wait { session: Name, span: Span },
}

/// An expectation and the sessions and steps that it names, with their places.
#[derive(Debug, Clone)]
pub struct DeclaredExpect {
    pub expect: Expect,
    pub stops: Vec<(Name, Name)>,
}
