//! Text that goes to two streams, in one order.

use std::ops::Range;

/// What isolationtester prints, on standard output and, in between, on standard error.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transcript {
    bytes: Vec<u8>,
    errors: Vec<Range<usize>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Output,
    Error,
}

impl Transcript {
    pub fn say(&mut self, text: impl AsRef<[u8]>) {
        self.bytes.extend_from_slice(text.as_ref());
    }

    pub fn complain(&mut self, text: impl AsRef<[u8]>) {
        let start = self.bytes.len();
        self.say(text);
        self.errors.push(start..self.bytes.len());
    }

    /// Both streams in one, as an expected output has them.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The pieces, each for its stream, in their order.
    pub fn pieces(&self) -> impl Iterator<Item = (Stream, &[u8])> {
        let starts = std::iter::once(0).chain(self.errors.iter().map(|error| error.end));
        let ends = self.errors.iter().map(|error| error.start).chain([self.bytes.len()]);
        let outputs = starts.zip(ends).map(|range| (Stream::Output, range.0..range.1));
        let errors = self.errors.iter().map(|range| (Stream::Error, range.clone()));
        let mut pieces: Vec<(Stream, Range<usize>)> =
            outputs.chain(errors).filter(|(_, range)| !range.is_empty()).collect();
        pieces.sort_by_key(|(_, range)| range.start);
        pieces.into_iter().map(|(stream, range)| (stream, &self.bytes[range]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_come_in_their_order() {
        let mut transcript = Transcript::default();
        transcript.complain("a\n");
        transcript.say("b\n");
        transcript.say("c\n");
        transcript.complain("d\n");
        let expected: [(Stream, &[u8]); 3] =
            [(Stream::Error, b"a\n"), (Stream::Output, b"b\nc\n"), (Stream::Error, b"d\n")];
        assert_eq!(transcript.pieces().collect::<Vec<_>>(), expected);
        assert_eq!(transcript.bytes(), b"a\nb\nc\nd\n");
    }
}
