//! The moves of an order against the steps that its sessions have.

use std::collections::HashMap;

use super::track::Track;
use super::{Form, inside};
use crate::scenario::model::{Move, Session};
use crate::scenario::parser::Parser;
use crate::scenario::parser::declared::{DeclaredMove, DeclaredOrder};
use crate::scenario::parser::header::Name;
use crate::scenario::source::Span;

/// The sessions of a plan by name, with their tracks.
type Tracks<'a> = HashMap<&'a str, (usize, Track<'a>)>;

/// The step of a move.
struct Step {
    session: Name,
    transaction: Option<Name>,
    name: Name,
}

impl Parser<'_> {
    pub(super) fn bind_order(
        &mut self,
        order: Option<DeclaredOrder>,
        sessions: &[Session],
        form: Option<&Form>,
    ) -> Vec<Move> {
        let Some(order) = order else { return Vec::new() };
        let mut tracks: Tracks<'_> = HashMap::new();
        for (index, session) in sessions.iter().enumerate() {
            tracks.insert(&session.name, (index, Track::new(session)));
        }
        let mut moves = Vec::new();
        for next in order.moves {
            moves.extend(match next {
                DeclaredMove::Wait { session, span } => {
                    self.known_session(&session, &mut tracks).map(|(session, _)| Move::Wait { session: *session, span })
                }
                DeclaredMove::Step { session, transaction, step, span } => {
                    self.bind_step(Step { session, transaction, name: step }, span, &mut tracks, form)
                }
            });
        }
        moves
    }

    /// A move to a step; none where the session lacks it. A fix that takes over the order loses such moves silently.
    fn bind_step(&mut self, step: Step, span: Span, tracks: &mut Tracks<'_>, form: Option<&Form>) -> Option<Move> {
        let (index, track) = self.known_session(&step.session, tracks)?;
        let transaction = step.transaction.as_ref().map(|transaction| transaction.text.as_str());
        if track.go(transaction, &step.name.text) {
            let transaction = step.transaction.map(|transaction| transaction.text);
            return Some(Move::Step { session: *index, transaction, step: step.name.text, span });
        }
        let inherited = form.filter(|form| !form.own_order);
        match (inherited, track.has(transaction, &step.name.text)) {
            (None, true) => self.passed(&step, form),
            (None, false) => self.lacking(&step, track, form),
            (Some(form), true) => {
                let message = format!(
                    "in `{}` session `{}` has passed step `{}` when the order as written moves it there",
                    form.name, step.session.text, step.name.text
                );
                self.diagnostics
                    .warning(form.span, message)
                    .note(step.name.span, "this move is left out")
                    .help("give it an `@order` of its own");
            }
            (Some(_), false) => {}
        }
        None
    }

    fn known_session<'t, 'a>(
        &mut self,
        session: &Name,
        tracks: &'t mut Tracks<'a>,
    ) -> Option<&'t mut (usize, Track<'a>)> {
        if !tracks.contains_key(session.text.as_str()) {
            self.unknown_session(session, tracks.keys().copied());
        }
        tracks.get_mut(session.text.as_str())
    }

    pub(super) fn unknown_session<'a>(&mut self, session: &Name, known: impl Iterator<Item = &'a str>) {
        let mut known: Vec<&str> = known.collect();
        known.sort_unstable();
        self.diagnostics.unknown("session", session.span, &session.text, known);
    }

    fn lacking(&mut self, step: &Step, track: &Track<'_>, form: Option<&Form>) {
        let full = match &step.transaction {
            Some(transaction) => format!("{}.{}", transaction.text, step.name.text),
            None => step.name.text.clone(),
        };
        self.unknown_step(&step.session.text, &full, step.name.span, track, form);
    }

    pub(super) fn unknown_step(
        &mut self,
        session: &str,
        step: &str,
        span: Span,
        track: &Track<'_>,
        form: Option<&Form>,
    ) {
        let message = format!("session `{session}`{} has no step `{step}`", inside(form));
        self.diagnostics.error_with_suggestion(span, message, step, || track.steps());
    }

    fn passed(&mut self, step: &Step, form: Option<&Form>) {
        let (session, name) = (&step.session.text, &step.name.text);
        self.diagnostics
            .error(step.name.span, format!("session `{session}`{} has passed step `{name}` before", inside(form)))
            .help("a move goes to the next such step; one that a session has passed comes again only in a later call or round of a loop");
    }
}
