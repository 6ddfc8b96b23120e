//! Where text came from: the files of a scenario and places in them.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A place in one of a scenario's files: byte offsets into [`SourceFile::text`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    /// Index into [`Sources::files`].
    pub file: u16,
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// One file that a scenario is made of: the scenario itself, or what its `@schema` names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// As shown to the user: a path, or the name of a built-in file.
    pub name: String,
    /// UTF-8, without a BOM, with LF line ends.
    pub text: String,
}

/// All files of a scenario; the first is the scenario's own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sources {
    pub files: Vec<Arc<SourceFile>>,
}

/// A line and a column, both counted from 1; a tab and a character count as one column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub file: String,
    pub line: usize,
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl Sources {
    pub fn file(&self, span: Span) -> &SourceFile {
        &self.files[span.file as usize]
    }

    /// The text that a span covers.
    pub fn text(&self, span: Span) -> &str {
        &self.file(span).text[span.range()]
    }

    /// The line and column at which a span starts.
    pub fn place(&self, span: Span) -> Place {
        let file = self.file(span);
        let before = &file.text[..span.start as usize];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Place {
            file: file.name.clone(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}
