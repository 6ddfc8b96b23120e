//! A file cut into its sections: comments that begin with `-- @`, and what stands below each.

use super::slice::Slice;

/// The words that may follow `-- @`.
pub const WORDS: [&str; 19] = [
    "check",
    "database",
    "expect",
    "file",
    "finally",
    "fix",
    "load",
    "measure",
    "order",
    "param",
    "pool",
    "requires",
    "retry",
    "schema",
    "session",
    "setup",
    "title",
    "transaction",
    "variant",
];

/// How a section begins, in the first column.
pub const MARK: &str = "-- @";

/// A section as it stands in the file.
#[derive(Debug, Clone, Copy)]
pub struct Section<'a> {
    pub whole: Slice<'a>,
    pub word: Slice<'a>,
    /// What follows the word, trimmed.
    pub header: Slice<'a>,
    pub body: Slice<'a>,
}

impl<'a> Section<'a> {
    /// The comments right below the header, lines joined by LF.
    pub fn description(&self) -> String {
        comments(self.body.text.lines().take_while(|line| line.starts_with("--")))
    }

    /// All comments of the body, with the blank lines between them.
    pub fn all_comments(&self) -> String {
        comments(self.body.text.lines().filter(|line| line.starts_with("--") || line.trim().is_empty()))
    }
}

fn comments<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let lines: Vec<&str> = lines.map(|line| comment_text(line).trim_end()).collect();
    lines.join("\n").trim().to_owned()
}

/// What a comment line says.
pub fn comment_text(line: &str) -> &str {
    let text = line.strip_prefix("--").unwrap_or(line);
    text.strip_prefix(' ').unwrap_or(text)
}

/// UTF-8 without a BOM, with LF line ends. All CRs before an LF go, so that nothing changes a second time.
pub fn normalised(text: &str) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut plain = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match line.strip_suffix('\n') {
            Some(line) => {
                plain += line.trim_end_matches('\r');
                plain.push('\n');
            }
            None => plain += line,
        }
    }
    plain
}

/// The same text, of the same length, in which a header that goes on in the comments below it is one line: while its
/// text ends in `,` or `;` the next line's `--` is blank.
pub fn with_headers_joined(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    let mut open = false;
    for line in text.split_inclusive('\n') {
        if open && line.starts_with("--") && !line.starts_with(MARK) {
            joined.pop();
            joined.push_str("   ");
            joined.push_str(&line[2..]);
        } else {
            open = line.starts_with(MARK);
            joined.push_str(line);
        }
        open &= line.trim_end().ends_with([',', ';']);
    }
    joined
}

/// What stands before the first section, and the sections.
pub fn split(text: Slice<'_>) -> (Slice<'_>, Vec<Section<'_>>) {
    let mut starts = Vec::new();
    let mut at = 0;
    for line in text.text.split_inclusive('\n') {
        if line.starts_with(MARK) {
            starts.push(at);
        }
        at += line.len();
    }
    let preamble = text.get(0..starts.first().copied().unwrap_or(at));
    starts.push(at);
    let sections = starts.windows(2).map(|bounds| section(text.get(bounds[0]..bounds[1]))).collect();
    (preamble, sections)
}

fn section(whole: Slice<'_>) -> Section<'_> {
    let line = whole.text.find('\n').unwrap_or(whole.text.len());
    let (header, body) = whole.split(line);
    let (word, rest) = header.from(MARK.len()).first_word();
    let body = if body.is_empty() { body } else { body.from(1) };
    Section { whole, word, header: rest.trim(), body }
}

/// The section that a comment is almost the header of: `--@check`, or one that is indented.
pub fn almost_header(comment: &str) -> Option<&'static str> {
    let text = comment.strip_prefix("--")?.trim_start().strip_prefix('@')?;
    let word = &text[..text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len())];
    WORDS.into_iter().find(|known| known.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_goes_on_while_it_ends_in_a_comma_or_semicolon() {
        let text = "-- @order a 1,\n--   b 1,\n-- a 2\n-- a comment\n-- @title x\n-- story,\n-- more\n";
        let joined = with_headers_joined(text);
        assert_eq!(joined.len(), text.len());
        assert_eq!(joined, "-- @order a 1,      b 1,    a 2\n-- a comment\n-- @title x\n-- story,\n-- more\n");
    }

    #[test]
    fn line_ends_are_the_same_however_often_they_are_made_so() {
        let plain = normalised("\u{feff}a\r\r\n\rb\r\nc\r");
        assert_eq!(plain, "a\n\rb\nc\r");
        assert_eq!(normalised(&plain), plain);
    }

    #[test]
    fn sections_have_a_word_a_header_and_a_body() {
        let text = "-- intro\n-- @title  Write skew \n-- Two\n\n-- more\n-- @check\nSELECT 1;";
        let (preamble, sections) = split(Slice::whole(text, 0));
        assert_eq!(preamble.text, "-- intro\n");
        let parts: Vec<_> = sections.iter().map(|s| (s.word.text, s.header.text, s.body.text)).collect();
        assert_eq!(parts, [("title", "Write skew", "-- Two\n\n-- more\n"), ("check", "", "SELECT 1;")]);
        assert_eq!(sections[0].description(), "Two");
        assert_eq!(sections[0].all_comments(), "Two\n\nmore");
    }

    #[test]
    fn only_a_known_word_is_almost_a_header() {
        assert_eq!(almost_header("--@check x"), Some("check"));
        assert_eq!(almost_header("--  @Order a b"), Some("order"));
        assert_eq!(almost_header("-- @author me"), None);
        assert_eq!(almost_header("-- check"), None);
    }
}
