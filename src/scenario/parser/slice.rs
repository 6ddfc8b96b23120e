//! A piece of a file that knows where it stands.

use std::ops::Range;

use crate::scenario::source::Span;

/// Text of a scenario file together with its place.
#[derive(Debug, Clone, Copy)]
pub struct Slice<'a> {
    pub text: &'a str,
    file: u16,
    start: u32,
}

impl<'a> Slice<'a> {
    /// A whole file.
    pub fn whole(text: &'a str, file: u16) -> Slice<'a> {
        Slice { text, file, start: 0 }
    }

    /// A text that stands at this place.
    pub fn at(text: &'a str, span: Span) -> Slice<'a> {
        Slice { text, file: span.file, start: span.start }
    }

    pub fn span(self) -> Span {
        Span { file: self.file, start: self.start, end: self.start + self.text.len() as u32 }
    }

    pub fn is_empty(self) -> bool {
        self.text.is_empty()
    }

    /// A part of it, by byte offsets.
    pub fn get(self, range: Range<usize>) -> Slice<'a> {
        Slice { text: &self.text[range.clone()], file: self.file, start: self.start + range.start as u32 }
    }

    pub fn from(self, start: usize) -> Slice<'a> {
        self.get(start..self.text.len())
    }

    /// Before and after a byte offset.
    pub fn split(self, at: usize) -> (Slice<'a>, Slice<'a>) {
        (self.get(0..at), self.from(at))
    }

    pub fn trim(self) -> Slice<'a> {
        let start = self.text.len() - self.text.trim_start().len();
        self.get(start..start + self.text.trim().len())
    }

    pub fn trim_start(self) -> Slice<'a> {
        self.from(self.text.len() - self.text.trim_start().len())
    }

    /// The first word, up to white space, and what follows it.
    pub fn first_word(self) -> (Slice<'a>, Slice<'a>) {
        self.split(self.text.find(char::is_whitespace).unwrap_or(self.text.len()))
    }

    /// An empty slice at its end.
    pub fn end(self) -> Slice<'a> {
        self.from(self.text.len())
    }
}
