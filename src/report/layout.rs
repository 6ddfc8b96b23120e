//! Fitting text into columns.

use textwrap::{Options, WordSplitter};

/// Wraps at spaces; lines after the first are indented by `indent` columns. Always gives a line.
pub fn wrap(text: &str, width: usize, indent: usize) -> Vec<String> {
    let indent = " ".repeat(indent);
    let options = Options::new(width.max(1)).subsequent_indent(&indent).word_splitter(WordSplitter::NoHyphenation);
    textwrap::wrap(text, options).into_iter().map(|line| line.trim_end().to_owned()).collect()
}

/// Fits text into one line by leaving out words in its middle, since both ends of a statement tell the most.
pub fn shorten(text: &str, width: usize, gap: &str) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let room = width.saturating_sub(columns(gap));
    let head: String = take_columns(text.chars(), room - room / 3).into_iter().collect();
    let tail: String = take_columns(text.chars().rev(), room / 3).into_iter().rev().collect();
    let whole_head = head.rsplit_once(' ').map_or(head.as_str(), |(words, _)| words);
    let whole_tail = tail.split_once(' ').map_or(tail.as_str(), |(_, words)| words);
    format!("{whole_head}{gap}{whole_tail}")
}

/// The text padded with spaces to a width.
pub fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(text))))
}

/// How many columns a terminal needs for it.
pub fn columns(text: &str) -> usize {
    textwrap::core::display_width(text)
}

/// Text from outside on one line: control characters would move the cursor or do worse.
pub fn printable(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect::<Vec<_>>() } else { vec![c] }).collect()
}

fn take_columns(characters: impl Iterator<Item = char>, width: usize) -> Vec<char> {
    let mut left = width;
    characters
        .take_while(|c| {
            let needed = columns(c.encode_utf8(&mut [0; 4]));
            let fits = needed <= left;
            left = left.saturating_sub(needed);
            fits
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_after_the_first_are_indented() {
        assert_eq!(wrap("one two three four", 9, 2), ["one two", "  three", "  four"]);
        assert_eq!(wrap("", 9, 2), [""]);
    }

    #[test]
    fn a_long_text_keeps_both_ends() {
        let short = shorten("SELECT budget FROM teams WHERE id = 'design' FOR UPDATE", 38, " … ");
        assert_eq!(short, "SELECT budget FROM … FOR UPDATE");
        assert_eq!(shorten("SELECT 1", 30, " … "), "SELECT 1");
    }

    #[test]
    fn wide_characters_count_twice() {
        assert_eq!(pad("預算", 6), "預算  ");
        assert!(columns(&shorten(&"預".repeat(40), 20, "…")) <= 20);
    }

    #[test]
    fn control_characters_are_shown_not_sent() {
        assert_eq!(printable("a\u{1b}[2J\nb"), "a\\u{1b}[2J\\nb");
    }
}
