//! Rows as libpq's `PQprint` draws them with header, alignment and `|` between columns.

use crate::spec::event::Table;

/// Nothing at all for a result without columns.
pub(super) fn table(table: &Table) -> Vec<u8> {
    if table.columns.is_empty() {
        return Vec::new();
    }
    let columns: Vec<Column> = (0..table.columns.len()).map(|index| Column::of(table, index)).collect();
    let names: Vec<&[u8]> = table.columns.iter().map(|name| name.as_bytes()).collect();
    let mut text = line(&columns, &names);
    let dashes: Vec<String> = columns.iter().map(|column| "-".repeat(column.width)).collect();
    text.extend_from_slice(dashes.join("+").as_bytes());
    text.push(b'\n');
    for row in &table.rows {
        let values: Vec<&[u8]> = row.iter().map(Vec::as_slice).collect();
        text.extend(line(&columns, &values));
    }
    let count = table.rows.len();
    let noun = if count == 1 { "row" } else { "rows" };
    text.extend_from_slice(format!("({count} {noun})\n\n").as_bytes());
    text
}

struct Column {
    /// In bytes, whatever the characters are.
    width: usize,
    is_numeric: bool,
}

impl Column {
    fn of(table: &Table, index: usize) -> Column {
        let values = || table.rows.iter().filter_map(|row| row.get(index));
        let longest = values().map(Vec::len).max().unwrap_or(0);
        Column { width: longest.max(table.columns[index].len()), is_numeric: values().all(|value| is_numeric(value)) }
    }
}

/// An empty value counts as a number; so do a date with dashes and a column of nulls.
fn is_numeric(value: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'E' | b'e' | b' ' | b'-');
    let (Some(first), Some(last)) = (value.first(), value.last()) else { return true };
    value.iter().all(is_part) && !first.eq_ignore_ascii_case(&b'e') && last.is_ascii_digit()
}

/// The last column is padded too.
fn line(columns: &[Column], values: &[&[u8]]) -> Vec<u8> {
    let cell = |(column, value): (&Column, &&[u8])| {
        let padding = vec![b' '; column.width.saturating_sub(value.len())];
        if column.is_numeric { [&padding, *value].concat() } else { [*value, &padding].concat() }
    };
    let mut line = columns.iter().zip(values).map(cell).collect::<Vec<_>>().join(&b'|');
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn<const COLUMNS: usize>(columns: [&str; COLUMNS], rows: &[[&str; COLUMNS]]) -> String {
        let rows = rows.iter().map(|row| row.iter().map(|value| value.as_bytes().to_vec()).collect()).collect();
        let columns = columns.iter().map(|name| (*name).to_owned()).collect();
        String::from_utf8(table(&Table { columns, rows })).unwrap()
    }

    #[test]
    fn numbers_stand_right_and_the_rest_left_and_the_last_column_is_padded() {
        let expected = "id|name \n--+-----\n 1|anna \n10|x    \n  |naïv\n(3 rows)\n\n";
        assert_eq!(drawn(["id", "name"], &[["1", "anna"], ["10", "x"], ["", "naïv"]]), expected);
    }

    #[test]
    fn what_counts_as_a_number() {
        for number in ["", "1", "-1", "1.5e10", " 7", "1 2", "01-02-2024"] {
            assert!(is_numeric(number.as_bytes()), "{number}");
        }
        for text in ["a", "1.", "E1", "e1", "f", "1,0", "é1", "-"] {
            assert!(!is_numeric(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn one_row_none_and_no_columns() {
        assert_eq!(drawn(["a"], &[["x"]]), "a\n-\nx\n(1 row)\n\n");
        assert_eq!(drawn(["ab"], &[]), "ab\n--\n(0 rows)\n\n");
        assert_eq!(drawn([], &[[], []]), "");
    }
}
