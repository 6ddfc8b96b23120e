//! Where the results go: file by file while they come, or in one document at the end.

use std::io::{self, Write};

use super::Format;
use super::inputs::Input;
use super::outcome::Outcome;
use crate::commands::context::Context;
use crate::report::json::{self, Document};
use crate::report::specs::{self, SpecResult, SpecRow};
use crate::scenario::render;
use crate::server::Server;
use crate::spec::Stream;

pub struct Teller<'a> {
    pub format: Format,
    pub compares: bool,
    /// None where there is nothing to play.
    pub server: Option<&'a Server>,
}

impl Teller<'_> {
    /// Says which server is used.
    pub fn introduce(&self, context: &mut Context) -> io::Result<()> {
        match (self.server, self.format) {
            (Some(server), Format::Text) if !context.global.quiet => context.introduce(server),
            _ => Ok(()),
        }
    }

    /// Tells of one file.
    pub fn tell(&self, input: &Input, outcome: &Outcome, context: &mut Context) -> anyhow::Result<()> {
        if self.format == Format::Isolationtester {
            return transcribe(outcome, context);
        }
        if self.format == Format::Text && !self.compares {
            let story = specs::story(context.style, &outcome.row, context.global.verbose > 0);
            context.say(&story)?;
        }
        if !outcome.diagnostics.is_empty() {
            context.note(&render(&outcome.diagnostics, input.sources(), context.error_style.colour));
        }
        Ok(())
    }

    /// Tells what can be told only when all is over.
    pub fn conclude(&self, outcomes: &[Outcome], context: &mut Context) -> anyhow::Result<()> {
        let rows: Vec<SpecRow> = outcomes.iter().map(|outcome| outcome.row.clone()).collect();
        let text = match (self.format, self.server) {
            (Format::Text, _) if self.compares => specs::list(context.style, &rows),
            (Format::Json, Some(server)) => {
                let (version, source) = (server.version().to_string(), server.source().name().to_owned());
                let mut document = Document::new(json::Server { version, source }, None);
                document.specs = Some(rows);
                document.to_text()?
            }
            (Format::Junit, Some(server)) => specs::junit::document(&rows, &server.version().to_string())?,
            (Format::Isolationtester, _) if self.compares && !context.global.quiet => {
                context.note(&specs::totals(context.error_style, &rows));
                return Ok(());
            }
            _ => return Ok(()),
        };
        context.say(&text)?;
        Ok(())
    }
}

/// Both streams as isolationtester has them; on standard error also what differs.
fn transcribe(outcome: &Outcome, context: &mut Context) -> anyhow::Result<()> {
    // Nobody can be told that standard error is closed.
    let complain = |text: &[u8]| drop(io::stderr().write_all(text));
    for (stream, text) in outcome.transcript.pieces() {
        match stream {
            Stream::Output => {
                context.out.write_all(text)?;
                context.out.flush()?;
            }
            Stream::Error => complain(text),
        }
    }
    let row = &outcome.row;
    if let (SpecResult::Differs, Some(message)) = (row.result, &row.message) {
        context.note(&format!("{}: {message}", row.file));
    }
    complain(&row.diff);
    Ok(())
}
