//! The types of what a CSV file holds: a column of numbers is one of numbers, everything else is text.

use crate::program::{Variables, arithmetic};
use crate::scenario::LoadRows;
use crate::scenario::template::Template;
use crate::scenario::value::Value;

/// The rows with their types. In a column where every field is a number or empty, an empty one is null; otherwise all
/// fields are text.
pub fn values(rows: &LoadRows) -> Vec<Vec<Value>> {
    let is_number = |column: usize| {
        let mut fields =
            rows.rows.iter().filter_map(|row| row.get(column)).filter(|field| !field.is_empty()).peekable();
        fields.peek().is_some() && fields.all(|field| plain_number(field))
    };
    let numbers: Vec<bool> = (0..rows.columns.len()).map(is_number).collect();
    let typed = |row: &Vec<String>| {
        row.iter()
            .zip(&numbers)
            .map(|(field, is_number)| match is_number {
                true if field.is_empty() => Value::null(),
                true => number(field),
                false => Value::text(field.as_str()),
            })
            .collect()
    };
    rows.rows.iter().map(typed).collect()
}

/// A number as SQL would read it: the narrowest of int4, int8 and numeric that holds it.
pub fn number(digits: &str) -> Value {
    arithmetic::evaluate(&Template::verbatim(digits), &Variables::default()).unwrap_or_else(|| Value::text(digits))
}

/// `-12`, `1.50`; not `007`, which is a code of some kind and not a number.
fn plain_number(field: &str) -> bool {
    let digits = field.strip_prefix('-').unwrap_or(field);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let all_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    all_digits(whole) && all_digits(fraction) && (whole == "0" || !whole.starts_with('0')) && whole.len() <= 18
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(fields: &[&str]) -> Vec<(u32, Option<String>)> {
        let rows = fields.iter().map(|field| vec![(*field).to_owned()]).collect();
        let rows = LoadRows { file: String::new(), columns: vec!["column".to_owned()], rows };
        values(&rows).into_iter().flatten().map(|value| (value.type_oid, value.text)).collect()
    }

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn a_column_of_numbers_is_one_of_numbers() {
        assert_eq!(typed(&["377", "-5"]), [(23, some("377")), (23, some("-5"))]);
        assert_eq!(typed(&["1.50", "", "3000000000"]), [(1700, some("1.50")), (25, None), (20, some("3000000000"))]);
    }

    #[test]
    fn everything_else_is_text() {
        assert_eq!(typed(&["1", "x"]), [(25, some("1")), (25, some("x"))]);
        assert_eq!(typed(&["007"]), [(25, some("007"))]);
        assert_eq!(typed(&["", ""]), [(25, some("")), (25, some(""))]);
    }
}
