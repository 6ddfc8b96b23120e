//! What every command gets besides its own arguments: where results go, how they look, where PostgreSQL comes from.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::finding;
use crate::cli::Global;
use crate::report::Style;
use crate::report::style::Ink;
use crate::server::{Server, ServerError};

pub struct Context<'a> {
    pub global: &'a Global,
    /// Standard output; only results go there.
    pub out: Box<dyn Write>,
    pub style: Style,
    /// How text on standard error looks.
    pub error_style: Style,
    server: Option<Rc<Server>>,
    introduced: bool,
}

impl<'a> Context<'a> {
    pub fn new(global: &'a Global) -> Context<'a> {
        Context {
            global,
            out: Box::new(io::BufWriter::new(io::stdout())),
            style: style_of(global, &io::stdout()),
            error_style: style_of(global, &io::stderr()),
            server: None,
            introduced: false,
        }
    }

    /// The server to use, found, started or fetched; the same one for all commands of a tour.
    pub fn server(&mut self) -> Result<Rc<Server>, ServerError> {
        if let Some(server) = &self.server {
            return Ok(Rc::clone(server));
        }
        let server = Rc::new(Server::find(&finding::options(self.global))?);
        self.server = Some(Rc::clone(&server));
        Ok(server)
    }

    /// Says once which server is used.
    pub fn introduce(&mut self, server: &Server) -> io::Result<()> {
        if std::mem::replace(&mut self.introduced, true) {
            return Ok(());
        }
        let line = self.style.paint(Ink::Aside, &server.describe());
        self.say(&format!("{line}\n\n"))
    }

    /// Whether progress may be drawn on standard error.
    pub fn shows_progress(&self) -> bool {
        let Global { no_progress, quiet, verbose, .. } = self.global;
        !no_progress && !quiet && *verbose == 0 && io::stderr().is_terminal() && env::var_os("CI").is_none()
    }

    /// Writes to standard output at once, so that a reader can follow.
    pub fn say(&mut self, text: &str) -> io::Result<()> {
        let written = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
        written.map_err(|error| io::Error::new(error.kind(), format!("cannot write to standard output: {error}")))
    }

    /// Something to know that is no result.
    pub fn note(&self, text: &str) {
        // Nobody can be told that standard error is closed.
        let _ = writeln!(io::stderr(), "{text}");
    }
}

pub fn style_of(global: &Global, stream: &impl std::os::fd::AsFd) -> Style {
    let columns = rustix::termios::isatty(stream)
        .then(|| rustix::termios::tcgetwinsize(stream).map_or(0, |size| usize::from(size.ws_col)));
    // A terminal that does not know its width says 0.
    let columns = columns.map(|columns| if columns == 0 { Style::PLAIN.width } else { columns });
    Style::resolve(global.color, global.ascii, columns, |name| env::var(name).ok())
}

/// When a limit that starts now is over; without one, or with one that no clock can tell, in a day.
pub fn deadline(limit: Option<Duration>) -> Instant {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    let now = Instant::now();
    limit.and_then(|limit| now.checked_add(limit)).unwrap_or(now + DAY)
}
