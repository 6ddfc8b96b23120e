//! Numbers for people: money and counts whole, durations and rates with at most three significant digits.

use crate::history::MeasureResult;

/// Where there is no number to show.
const NOT_AVAILABLE: &str = "n/a";

/// A measure with its unit: `$1,899` where that is a currency sign, `1,899 rows` otherwise.
pub fn measure(measure: &MeasureResult) -> String {
    let Some(value) = &measure.value else { return "null".to_owned() };
    let number = grouped(value);
    match measure.unit.as_deref() {
        None => number,
        Some(unit) if unit.chars().any(char::is_alphanumeric) || unit == "%" => format!("{number} {unit}"),
        Some(sign) => match number.strip_prefix('-') {
            Some(number) => format!("-{sign}{number}"),
            None => format!("{sign}{number}"),
        },
    }
}

/// A count: `12,345`.
pub fn count(count: u64) -> String {
    grouped(&count.to_string())
}

/// A number of no known kind: whole where it is whole, else to three decimals.
pub fn number(number: f64) -> String {
    if number.is_finite() { grouped(format!("{number:.3}").trim_end_matches('0')) } else { NOT_AVAILABLE.to_owned() }
}

/// `850 µs`, `1.23 ms`, `45.6 s`.
pub fn milliseconds(milliseconds: f64, ascii: bool) -> String {
    if !milliseconds.is_finite() {
        return NOT_AVAILABLE.to_owned();
    }
    let seconds = significant(milliseconds) / 1e3;
    let (amount, unit) = match seconds {
        s if s >= 1.0 => (s, "s"),
        s if s >= 1e-3 => (s * 1e3, "ms"),
        s => (s * 1e6, if ascii { "us" } else { "µs" }),
    };
    format!("{} {unit}", three_digits(amount))
}

/// `5,430/s`.
pub fn per_second(rate: f64) -> String {
    if rate.is_finite() { format!("{}/s", three_digits(rate)) } else { NOT_AVAILABLE.to_owned() }
}

/// Rounded to three significant digits.
fn significant(number: f64) -> f64 {
    if number == 0.0 {
        return 0.0;
    }
    let scale = 10f64.powi(2 - number.abs().log10().floor() as i32);
    (number * scale).round() / scale
}

fn three_digits(number: f64) -> String {
    let number = significant(number);
    let decimals = match number.abs() {
        n if n >= 100.0 || n == 0.0 => 0,
        n if n >= 10.0 => 1,
        n if n >= 1.0 => 2,
        _ => 3,
    };
    grouped(&format!("{number:.decimals$}"))
}

/// Groups the digits before the point by three, and drops a fraction of zeros. Text that is no plain number stays as it is.
fn grouped(text: &str) -> String {
    let (sign, unsigned) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    if whole.is_empty() || !whole.chars().chain(fraction.chars()).all(|digit| digit.is_ascii_digit()) {
        return text.to_owned();
    }
    let mut grouped = sign.to_owned();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    if fraction.chars().any(|digit| digit != '0') {
        grouped.push('.');
        grouped.push_str(fraction);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(value: Option<&str>, unit: Option<&str>) -> String {
        measure(&MeasureResult {
            name: "total".to_owned(),
            unit: unit.map(str::to_owned),
            value: value.map(str::to_owned),
        })
    }

    #[test]
    fn money_is_whole_and_grouped() {
        assert_eq!(shown(Some("1899"), Some("$")), "$1,899");
        assert_eq!(shown(Some("1234567.00"), Some("€")), "€1,234,567");
        assert_eq!(shown(Some("-50.25"), Some("$")), "-$50.25");
    }

    #[test]
    fn other_units_follow_the_number() {
        assert_eq!(shown(Some("1200"), Some("rows")), "1,200 rows");
        assert_eq!(shown(Some("12"), Some("%")), "12 %");
        assert_eq!(shown(Some("2"), None), "2");
    }

    #[test]
    fn what_is_no_number_is_shown_as_it_is() {
        assert_eq!(shown(None, Some("$")), "null");
        assert_eq!(shown(Some("NaN"), None), "NaN");
        assert_eq!(shown(Some("1e+30"), None), "1e+30");
    }

    #[test]
    fn durations_have_three_digits_and_a_unit() {
        let shown: Vec<String> = [0.0, 0.0504, 0.8504, 0.99996, 1.234, 45.67, 999.9, 61_234.0]
            .into_iter()
            .map(|duration| milliseconds(duration, true))
            .collect();
        assert_eq!(shown, ["0 us", "50.4 us", "850 us", "1 ms", "1.23 ms", "45.7 ms", "1 s", "61.2 s"]);
        assert_eq!(milliseconds(f64::NAN, false), "n/a");
    }

    #[test]
    fn rates_have_three_digits() {
        assert_eq!(per_second(5432.1), "5,430/s");
        assert_eq!(per_second(0.5), "0.500/s");
        assert_eq!(per_second(f64::INFINITY), "n/a");
    }

    #[test]
    fn bare_numbers_keep_a_short_fraction() {
        assert_eq!(number(1899.0), "1,899");
        assert_eq!(number(34.25), "34.25");
        assert_eq!(number(0.0), "0");
    }
}
