//! Typed values and what PostgreSQL's operators make of them.

use super::decimal::Decimal;
use super::syntax::Comparison;
use crate::scenario::value::{TEXT, Value};

/// The types that are known here; the numbers from narrow to wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A quoted literal or NULL whose type its neighbour decides.
    Unknown,
    Text,
    Bool,
    Int2,
    Int4,
    Int8,
    Numeric,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arithmetic {
    Add,
    Subtract,
    Multiply,
}

/// A value of one of the known types, or its null.
#[derive(Debug, Clone, PartialEq)]
pub struct Datum {
    kind: Kind,
    scalar: Option<Scalar>,
}

#[derive(Debug, Clone, PartialEq)]
enum Scalar {
    Text(String),
    Bool(bool),
    Number(Decimal),
}

impl Kind {
    /// A type by its SQL name, in lower case.
    pub fn named(name: &str) -> Option<Kind> {
        Some(match name {
            "text" => Kind::Text,
            "bool" | "boolean" => Kind::Bool,
            "int2" | "smallint" => Kind::Int2,
            "int4" | "int" | "integer" => Kind::Int4,
            "int8" | "bigint" => Kind::Int8,
            "numeric" | "decimal" => Kind::Numeric,
            _ => return None,
        })
    }

    fn is_number(self) -> bool {
        self >= Kind::Int2
    }

    fn oid(self) -> u32 {
        match self {
            Kind::Unknown | Kind::Text => TEXT,
            Kind::Bool => 16,
            Kind::Int2 => 21,
            Kind::Int4 => 23,
            Kind::Int8 => 20,
            Kind::Numeric => 1700,
        }
    }

    /// The value as a number of this type; none where it does not fit, since the server has its own word for that.
    fn holding(self, number: Decimal) -> Option<Datum> {
        let fits = match self {
            Kind::Int2 => number.is_within(i16::MIN.into(), i16::MAX.into()),
            Kind::Int4 => number.is_within(i32::MIN.into(), i32::MAX.into()),
            Kind::Int8 => number.is_within(i64::MIN.into(), i64::MAX.into()),
            Kind::Numeric => true,
            Kind::Unknown | Kind::Text | Kind::Bool => false,
        };
        fits.then_some(Datum { kind: self, scalar: Some(Scalar::Number(number)) })
    }

    /// The type that both sides of an operator come to: the wider number, or what the other side says of an unknown.
    fn common(self, other: Kind) -> Option<Kind> {
        match (self, other) {
            (left, right) if left == right => Some(left),
            (Kind::Unknown, known) | (known, Kind::Unknown) => Some(known),
            (left, right) if left.is_number() && right.is_number() => Some(left.max(right)),
            _ => None,
        }
    }
}

impl Datum {
    pub fn unknown(text: Option<String>) -> Datum {
        Datum { kind: Kind::Unknown, scalar: text.map(Scalar::Text) }
    }

    pub fn boolean(value: Option<bool>) -> Datum {
        Datum { kind: Kind::Bool, scalar: value.map(Scalar::Bool) }
    }

    /// A number as written: the narrowest of int4, int8 and numeric that holds it.
    pub fn number(digits: &str) -> Option<Datum> {
        let number = Decimal::parse(digits)?;
        if digits.contains('.') {
            return Kind::Numeric.holding(number);
        }
        [Kind::Int4, Kind::Int8, Kind::Numeric].into_iter().find_map(|kind| kind.holding(number))
    }

    pub fn into_value(self) -> Value {
        let text = self.scalar.map(|scalar| match scalar {
            Scalar::Text(text) => text,
            Scalar::Bool(value) => if value { "t" } else { "f" }.to_owned(),
            Scalar::Number(number) => number.to_string(),
        });
        Value { type_oid: self.kind.oid(), text }
    }

    pub fn is_null(&self) -> bool {
        self.scalar.is_none()
    }

    pub fn cast(self, kind: Kind) -> Option<Datum> {
        if self.kind == kind {
            return Some(self);
        }
        let Some(scalar) = self.scalar else {
            let known = self.kind == Kind::Unknown || self.kind.is_number() && kind.is_number();
            return known.then_some(Datum { kind, scalar: None });
        };
        match scalar {
            Scalar::Text(text) if self.kind == Kind::Unknown => Datum::input(text, kind),
            // From numeric to an integer the server rounds.
            Scalar::Number(number) if self.kind != Kind::Numeric => kind.holding(number),
            _ => None,
        }
    }

    pub fn negated(self) -> Option<Datum> {
        match self.scalar {
            Some(Scalar::Number(number)) => {
                // The server's grammar takes the sign into the constant, which may then fit a narrower type.
                let narrower = number.is_within(1 << 31, 1 << 31) || number.is_within(1 << 63, 1 << 63);
                if narrower { None } else { self.kind.holding(number.negated()?) }
            }
            None if self.kind.is_number() => Some(self),
            _ => None,
        }
    }

    pub fn not(self) -> Option<Datum> {
        Some(Datum::boolean(self.truth()?.map(|value| !value)))
    }

    pub fn and(self, other: Datum) -> Option<Datum> {
        Some(Datum::boolean(match (self.truth()?, other.truth()?) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        }))
    }

    pub fn or(self, other: Datum) -> Option<Datum> {
        Some(Datum::boolean(match (self.truth()?, other.truth()?) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        }))
    }

    pub fn compared(self, comparison: Comparison, other: Datum) -> Option<Datum> {
        let kind = match self.kind.common(other.kind)? {
            Kind::Unknown => Kind::Text,
            known => known,
        };
        let (left, right) = (self.cast(kind)?.scalar, other.cast(kind)?.scalar);
        let (Some(left), Some(right)) = (left, right) else { return Some(Datum::boolean(None)) };
        let ordering = match (&left, &right) {
            (Scalar::Bool(left), Scalar::Bool(right)) => left.cmp(right),
            (Scalar::Number(left), Scalar::Number(right)) => left.compared(*right)?,
            // Which of two strings comes first is the collation's decision.
            (Scalar::Text(left), Scalar::Text(right)) => match comparison {
                Comparison::Equal | Comparison::NotEqual => left.cmp(right),
                _ => return None,
            },
            _ => return None,
        };
        Some(Datum::boolean(Some(match comparison {
            Comparison::Equal => ordering.is_eq(),
            Comparison::NotEqual => ordering.is_ne(),
            Comparison::Less => ordering.is_lt(),
            Comparison::LessOrEqual => ordering.is_le(),
            Comparison::Greater => ordering.is_gt(),
            Comparison::GreaterOrEqual => ordering.is_ge(),
        })))
    }

    pub fn computed(self, arithmetic: Arithmetic, other: Datum) -> Option<Datum> {
        let kind = self.kind.common(other.kind).filter(|kind| kind.is_number())?;
        let (left, right) = (self.cast(kind)?.scalar, other.cast(kind)?.scalar);
        match (left, right) {
            (Some(Scalar::Number(left)), Some(Scalar::Number(right))) => kind.holding(match arithmetic {
                Arithmetic::Add => left.plus(right)?,
                Arithmetic::Subtract => left.plus(right.negated()?)?,
                Arithmetic::Multiply => left.times(right)?,
            }),
            _ => Some(Datum { kind, scalar: None }),
        }
    }

    /// `coalesce`: all operands come to one type, text where none has any.
    pub fn first_not_null(operands: Vec<Datum>) -> Option<Datum> {
        let kind = operands.iter().try_fold(Kind::Unknown, |kind, operand| kind.common(operand.kind))?;
        let kind = if kind == Kind::Unknown { Kind::Text } else { kind };
        let operands: Vec<Datum> = operands.into_iter().map(|operand| operand.cast(kind)).collect::<Option<_>>()?;
        Some(operands.into_iter().find(|operand| !operand.is_null()).unwrap_or(Datum { kind, scalar: None }))
    }

    /// A quoted literal read as a type; only spellings that every version of PostgreSQL reads alike.
    fn input(text: String, kind: Kind) -> Option<Datum> {
        let scalar = match kind {
            Kind::Unknown | Kind::Text => Scalar::Text(text),
            Kind::Bool => Scalar::Bool(match text.as_str() {
                "t" | "true" => true,
                "f" | "false" => false,
                _ => return None,
            }),
            Kind::Int2 | Kind::Int4 | Kind::Int8 if text.contains('.') => return None,
            _ => return kind.holding(Decimal::parse(&text)?),
        };
        Some(Datum { kind, scalar: Some(scalar) })
    }

    /// The truth value of a boolean; none where it is not one.
    fn truth(self) -> Option<Option<bool>> {
        match (self.kind, self.cast(Kind::Bool)?.scalar) {
            (Kind::Bool | Kind::Unknown, None) => Some(None),
            (Kind::Bool | Kind::Unknown, Some(Scalar::Bool(value))) => Some(Some(value)),
            _ => None,
        }
    }
}
