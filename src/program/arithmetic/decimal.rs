//! Exact decimal numbers, with the digits after the point that PostgreSQL's `numeric` would show.

use std::cmp::Ordering;
use std::fmt;

/// `units` times ten to the power of minus `scale`. Every operation gives none where 128 bits do not hold its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decimal {
    units: i128,
    /// Digits after the point.
    scale: u32,
}

impl Decimal {
    /// `-12`, `1.50`, `.5`: a sign, digits and at most one point.
    pub fn parse(text: &str) -> Option<Decimal> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let written = whole.len() + fraction.len();
        if written == 0 || !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let magnitude: i128 = format!("{whole}{fraction}").parse().ok()?;
        let scale = u32::try_from(fraction.len()).ok()?;
        let units = if text.starts_with('-') { -magnitude } else { magnitude };
        Some(Decimal { units, scale })
    }

    pub fn is_within(self, low: i128, high: i128) -> bool {
        self.scale == 0 && (low..=high).contains(&self.units)
    }

    pub fn negated(self) -> Option<Decimal> {
        Some(Decimal { units: self.units.checked_neg()?, ..self })
    }

    pub fn plus(self, other: Decimal) -> Option<Decimal> {
        let (left, right, scale) = self.aligned(other)?;
        Some(Decimal { units: left.checked_add(right)?, scale })
    }

    pub fn times(self, other: Decimal) -> Option<Decimal> {
        Some(Decimal { units: self.units.checked_mul(other.units)?, scale: self.scale.checked_add(other.scale)? })
    }

    pub fn compared(self, other: Decimal) -> Option<Ordering> {
        let (left, right, _) = self.aligned(other)?;
        Some(left.cmp(&right))
    }

    /// The units of both at the larger scale.
    fn aligned(self, other: Decimal) -> Option<(i128, i128, u32)> {
        let scale = self.scale.max(other.scale);
        let units = |number: Decimal| number.units.checked_mul(10_i128.checked_pow(scale - number.scale)?);
        Some((units(self)?, units(other)?, scale))
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scale = self.scale as usize;
        let digits = format!("{:0>width$}", self.units.unsigned_abs(), width = scale + 1);
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        let sign = if self.units < 0 { "-" } else { "" };
        let point = if scale > 0 { "." } else { "" };
        write!(f, "{sign}{whole}{point}{fraction}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_as_they_went_in() {
        for text in ["0", "-12", "1.50", "-0.05", "170141183460469231731687303715884105727"] {
            assert_eq!(Decimal::parse(text).map(|number| number.to_string()).as_deref(), Some(text));
        }
        assert_eq!(Decimal::parse(".5").map(|number| number.to_string()).as_deref(), Some("0.5"));
    }

    #[test]
    fn what_is_no_plain_number_is_refused() {
        for text in
            ["", "-", ".", "+1", " 1", "1e3", "1.2.3", "NaN", "--1", "1-", "170141183460469231731687303715884105728"]
        {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
    }

    #[test]
    fn results_that_do_not_fit_are_refused() {
        let large = Decimal::parse("170141183460469231731687303715884105727").unwrap();
        let tenth = Decimal::parse("0.1").unwrap();
        assert_eq!(large.plus(tenth), None);
        assert_eq!(large.times(large), None);
        assert_eq!(large.compared(tenth), None);
    }
}
