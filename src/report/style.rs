//! How text may look: colour, characters, width. Decided once, handed to every renderer.

use anstyle::{AnsiColor, Style as Ansi};
use clap::ColorChoice;

/// What the place that the text goes to can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    pub colour: bool,
    /// The lab's own lines and marks in ASCII; names and data stay as they are.
    pub ascii: bool,
    /// In columns.
    pub width: usize,
}

/// What a piece of text is, so that it can be coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    Plain,
    Heading,
    /// An actor, by its index.
    Session(usize),
    Value,
    Aside,
    Wait,
    Good,
    Bad,
}

/// Without a terminal, so that logs and tests look the same everywhere.
const DEFAULT_WIDTH: usize = 80;

/// Red, green and yellow are left for bad, good and waiting.
const SESSION_COLOURS: [AnsiColor; 5] =
    [AnsiColor::Cyan, AnsiColor::Magenta, AnsiColor::Blue, AnsiColor::BrightCyan, AnsiColor::BrightMagenta];

impl Style {
    /// No colour, 80 columns.
    pub const PLAIN: Style = Style { colour: false, ascii: false, width: DEFAULT_WIDTH };

    /// Decides for one stream. `columns` is its terminal's width, none where it is no terminal; `variable` looks up
    /// the environment. For colour the flag comes first, then NO_COLOR, CLICOLOR_FORCE, TERM=dumb, and the terminal.
    pub fn resolve(
        colour: ColorChoice,
        ascii: bool,
        columns: Option<usize>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Style {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let colour = match colour {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto if set("NO_COLOR").is_some() => false,
            ColorChoice::Auto if set("CLICOLOR_FORCE").is_some_and(|value| value != "0") => true,
            ColorChoice::Auto => columns.is_some() && set("TERM").as_deref() != Some("dumb"),
        };
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
        // Where nothing is set, as in most containers, terminals speak UTF-8 all the same.
        let utf8 = locale.is_none_or(|locale| locale.to_ascii_lowercase().replace('-', "").contains("utf8"));
        Style { colour, ascii: ascii || !utf8, width: columns.unwrap_or(DEFAULT_WIDTH) }
    }

    /// The text in its colour.
    pub fn paint(&self, ink: Ink, text: &str) -> String {
        let style = ink.ansi();
        if self.colour && !text.is_empty() && !style.is_plain() {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }

    /// One of two ways to draw the same.
    pub fn pick<'a>(&self, utf8: &'a str, ascii: &'a str) -> &'a str {
        if self.ascii { ascii } else { utf8 }
    }
}

impl Ink {
    fn ansi(self) -> Ansi {
        match self {
            Ink::Plain => Ansi::new(),
            Ink::Heading | Ink::Value => Ansi::new().bold(),
            Ink::Session(index) => {
                Ansi::new().bold().fg_color(Some(SESSION_COLOURS[index % SESSION_COLOURS.len()].into()))
            }
            Ink::Aside => Ansi::new().dimmed(),
            Ink::Wait => AnsiColor::Yellow.on_default(),
            Ink::Good => AnsiColor::Green.on_default().bold(),
            Ink::Bad => AnsiColor::Red.on_default().bold(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(colour: ColorChoice, columns: Option<usize>, environment: &[(&str, &str)]) -> Style {
        Style::resolve(colour, false, columns, |name| {
            environment.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn a_flag_wins_over_the_environment() {
        assert!(resolved(ColorChoice::Always, None, &[("NO_COLOR", "1")]).colour);
        assert!(!resolved(ColorChoice::Never, Some(80), &[("CLICOLOR_FORCE", "1")]).colour);
    }

    #[test]
    fn the_environment_wins_over_the_terminal() {
        let colour = |columns, environment: &[(&str, &str)]| resolved(ColorChoice::Auto, columns, environment).colour;
        assert!(colour(Some(80), &[]));
        assert!(!colour(None, &[]));
        assert!(!colour(Some(80), &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]));
        assert!(colour(Some(80), &[("NO_COLOR", "")]));
        assert!(colour(None, &[("CLICOLOR_FORCE", "1"), ("TERM", "dumb")]));
        assert!(!colour(None, &[("CLICOLOR_FORCE", "0")]));
        assert!(!colour(Some(80), &[("TERM", "dumb")]));
    }

    #[test]
    fn only_a_locale_that_is_not_utf8_asks_for_ascii() {
        let ascii = |environment: &[(&str, &str)]| resolved(ColorChoice::Auto, None, environment).ascii;
        assert!(!ascii(&[]));
        assert!(!ascii(&[("LANG", "en_GB.UTF-8")]));
        assert!(!ascii(&[("LANG", "C"), ("LC_ALL", "C.utf8")]));
        assert!(ascii(&[("LANG", "C")]));
        assert!(ascii(&[("LANG", "en_GB.UTF-8"), ("LC_CTYPE", "de_DE.ISO-8859-1")]));
    }

    #[test]
    fn without_a_terminal_the_width_is_fixed() {
        assert_eq!(resolved(ColorChoice::Auto, None, &[]).width, 80);
        assert_eq!(resolved(ColorChoice::Auto, Some(132), &[]).width, 132);
    }

    #[test]
    fn plain_text_has_no_escapes() {
        assert_eq!(Style::PLAIN.paint(Ink::Bad, "FAILS"), "FAILS");
        let coloured = Style { colour: true, ..Style::PLAIN };
        assert_eq!(coloured.paint(Ink::Wait, "waits"), "\u{1b}[33mwaits\u{1b}[0m");
    }
}
