//! SQL or prose with variables in it, and what it becomes when their values are known.

use super::source::Span;
use super::value::{Value, quoted_identifier};

/// Text in which `:name` and `:"name"` stand for values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Template {
    pub pieces: Vec<Piece>,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text that stays as it is; the span is where it stands in the file.
    Text { text: String, span: Span },
    /// `:name` or `:'name'`: a literal of the value's type.
    Value { name: String, span: Span },
    /// `:"name"`: an identifier.
    Identifier { name: String, span: Span },
}

/// Looks a variable up; the parser made sure that every name has something that sets it.
pub trait Variables {
    fn get(&self, name: &str) -> Option<&Value>;
}

/// A template whose values were written in as `$1`, `$2`, …: for the extended protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameterised {
    pub sql: String,
    pub values: Vec<Value>,
}

impl Template {
    /// Text without variables that stands in no file.
    pub fn verbatim(text: &str) -> Template {
        let span = Span::default();
        Template { pieces: vec![Piece::Text { text: text.to_owned(), span }], span }
    }

    /// The names of all variables in it, with their places.
    pub fn variables(&self) -> impl Iterator<Item = (&str, Span)> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text { .. } => None,
            Piece::Value { name, span } | Piece::Identifier { name, span } => Some((name.as_str(), *span)),
        })
    }

    /// The template as it was written. A variable is quoted only where what follows would become a part of its name.
    pub fn written(&self) -> String {
        let goes_on = |index: usize| match self.pieces.get(index + 1) {
            Some(Piece::Text { text, .. }) => text.starts_with(|c: char| c.is_alphanumeric() || c == '_'),
            _ => false,
        };
        let written = |(index, piece): (usize, &Piece)| match piece {
            Piece::Text { text, .. } => text.clone(),
            Piece::Value { name, .. } if goes_on(index) => format!(":'{name}'"),
            Piece::Value { name, .. } => format!(":{name}"),
            Piece::Identifier { name, .. } => format!(":{}", quoted_identifier(name)),
        };
        self.pieces.iter().enumerate().map(written).collect()
    }

    /// SQL with every value as a literal of its type; a variable that is not set is null.
    pub fn sql(&self, variables: &impl Variables) -> String {
        self.replaced(variables, Value::literal)
    }

    /// Prose with every value as the server's text for it.
    pub fn prose(&self, variables: &impl Variables) -> String {
        self.replaced(variables, |value| value.text.clone().unwrap_or_else(|| "null".to_owned()))
    }

    /// SQL with the values kept apart.
    pub fn parameterised(&self, variables: &impl Variables) -> Parameterised {
        let mut sql = String::new();
        let mut names: Vec<&str> = Vec::new();
        let mut values = Vec::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text { text, .. } => sql.push_str(text),
                Piece::Value { name, .. } => {
                    let position = names.iter().position(|known| known == name).unwrap_or_else(|| {
                        names.push(name);
                        values.push(lookup(variables, name));
                        names.len() - 1
                    });
                    sql.push_str(&format!("${}", position + 1));
                }
                Piece::Identifier { name, .. } => sql.push_str(&identifier(variables, name)),
            }
        }
        Parameterised { sql, values }
    }

    /// The place in the file of a character (counted from 0) of what [`Template::sql`] gave: where the server's caret belongs.
    pub fn place_of(&self, variables: &impl Variables, character: usize) -> Span {
        let mut left = character;
        for piece in &self.pieces {
            let (length, span, verbatim) = match piece {
                Piece::Text { text, span } => (text.chars().count(), *span, Some(text)),
                Piece::Value { name, span } => (lookup(variables, name).literal().chars().count(), *span, None),
                Piece::Identifier { name, span } => (identifier(variables, name).chars().count(), *span, None),
            };
            if left < length {
                let Some(text) = verbatim else { return span };
                let offset: usize = text.chars().take(left).map(char::len_utf8).sum();
                let width = text[offset..]
                    .chars()
                    .take_while(|c| c.is_alphanumeric() || *c == '_')
                    .map(char::len_utf8)
                    .sum::<usize>();
                let start = span.start + offset as u32;
                return Span { file: span.file, start, end: start + width.max(1) as u32 };
            }
            left -= length;
        }
        self.span
    }

    fn replaced(&self, variables: &impl Variables, write: impl Fn(&Value) -> String) -> String {
        self.pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text { text, .. } => text.clone(),
                Piece::Value { name, .. } => write(&lookup(variables, name)),
                Piece::Identifier { name, .. } => identifier(variables, name),
            })
            .collect()
    }
}

fn lookup(variables: &impl Variables, name: &str) -> Value {
    variables.get(name).cloned().unwrap_or_else(Value::null)
}

fn identifier(variables: &impl Variables, name: &str) -> String {
    quoted_identifier(lookup(variables, name).text.as_deref().unwrap_or_default())
}
