//! Backslash commands and their arguments.

use super::header::{Header, Name, name, sqlstate};
use super::slice::Slice;
use crate::scenario::diagnostic::Diagnostics;

/// The words that may follow a backslash between statements.
pub const WORDS: [&str; 19] = [
    "connect", "crash", "echo", "effect", "elif", "else", "endif", "endtry", "endwhile", "if", "on", "reject",
    "rollback", "set", "sleep", "step", "try", "while", "gset",
];

/// A command, its expressions not yet looked into.
#[derive(Debug)]
pub enum Command<'a> {
    Set { name: Name, value: Slice<'a> },
    If(Slice<'a>),
    Elif(Slice<'a>),
    Else,
    EndIf,
    While(Slice<'a>),
    EndWhile,
    Try,
    On(Vec<String>),
    EndTry,
    Step(Name),
    Reject { text: Slice<'a>, commit: bool },
    Echo(Slice<'a>),
    Sleep { milliseconds: u64 },
    Crash,
    Effect(Slice<'a>),
    Connect(Name),
}

/// Reads a command; none where it is none, or its arguments do not fit.
pub fn command<'a>(word: Slice<'a>, text: Slice<'a>, diagnostics: &mut Diagnostics) -> Option<Command<'a>> {
    let mut header = Header::new(text);
    let command = match word.text {
        "set" => {
            let (variable, value) = text.first_word();
            if variable.is_empty() {
                diagnostics
                    .error(word.span(), "`\\set` needs the name of a variable and an expression")
                    .help("such as `\\set tries :tries + 1`");
                return None;
            }
            let name = name(variable, "variable", diagnostics)?;
            return Some(Command::Set { name, value: expression(word, value.trim(), diagnostics)? });
        }
        "if" => return Some(Command::If(expression(word, text, diagnostics)?)),
        "elif" => return Some(Command::Elif(expression(word, text, diagnostics)?)),
        "while" => return Some(Command::While(expression(word, text, diagnostics)?)),
        "effect" => return Some(Command::Effect(expression(word, text, diagnostics)?)),
        "reject" | "rollback" => {
            return Some(Command::Reject { text, commit: word.text == "reject" });
        }
        "echo" => return Some(Command::Echo(text)),
        "else" => Command::Else,
        "endif" => Command::EndIf,
        "endwhile" => Command::EndWhile,
        "try" => Command::Try,
        "endtry" => Command::EndTry,
        "crash" => Command::Crash,
        "on" => Command::On(sqlstates(&mut header, diagnostics)?),
        "step" => Command::Step(header.name("step", diagnostics)?),
        "connect" => Command::Connect(header.name("connection", diagnostics)?),
        "sleep" => Command::Sleep { milliseconds: milliseconds(&mut header, word, diagnostics)? },
        "gset" | "lost" => {
            diagnostics
                .error(word.span(), format!("`\\{}` has no statement before it", word.text))
                .help(format!("it takes the place of the `;`: write `SELECT … \\{}`", word.text));
            return None;
        }
        _ => {
            diagnostics.unknown("command", word.span(), word.text, WORDS);
            return None;
        }
    };
    header.finish(&format!("`\\{}` takes no more than that", word.text), diagnostics);
    Some(command)
}

/// An expression or statement up to the end of the line; a `;` there is not needed and does no harm.
fn expression<'a>(word: Slice<'a>, text: Slice<'a>, diagnostics: &mut Diagnostics) -> Option<Slice<'a>> {
    let text = text.get(0..text.text.trim_end_matches(|c: char| c == ';' || c.is_whitespace()).len());
    if text.is_empty() {
        diagnostics
            .error(word.span(), format!("`\\{}` needs an expression", word.text))
            .help("SQL over the variables, such as `:stock > 0`");
        return None;
    }
    Some(text)
}

fn sqlstates(header: &mut Header<'_>, diagnostics: &mut Diagnostics) -> Option<Vec<String>> {
    let mut states = Vec::new();
    loop {
        states.push(sqlstate(header.word(), diagnostics)?);
        if !header.eat(",") {
            return Some(states);
        }
    }
}

fn milliseconds(header: &mut Header<'_>, word: Slice<'_>, diagnostics: &mut Diagnostics) -> Option<u64> {
    let number = header.word().text.parse().ok();
    if number.is_none() || !header.eat_word("ms") {
        diagnostics.error(word.span(), "`\\sleep` needs a time in milliseconds").help("such as `\\sleep 20 ms`");
        return None;
    }
    number
}
