//! Expressions that the client can evaluate by itself, where it is certain to find what PostgreSQL would.
//!
//! Conditions such as `:approved + :amount > :budget` are asked between any two statements of a transaction. A round
//! trip for each would be most of what a load test measures, so integers, exact decimals, booleans, nulls and equal
//! strings are done here. Whatever could come out differently on a server (an overflow, a collation, a type or a
//! function that is not known here) is left to the server.

mod datum;
mod decimal;
mod syntax;

use datum::Datum;
use syntax::{Expression, Operator};

use super::Variables;
use crate::scenario::template::{self, Template};
use crate::scenario::value::Value;

/// The value of an SQL expression with the type that the server would give it; none where only the server can tell.
pub fn evaluate(expression: &Template, variables: &Variables) -> Option<Value> {
    value(&syntax::parse(&expression.sql(variables))?).map(Datum::into_value)
}

/// Whether [`evaluate`] knows everything in an expression but its variables. Their types may still send it to the server.
pub fn understands(expression: &Template) -> bool {
    syntax::parse(&expression.sql(&NoVariables)).is_some()
}

struct NoVariables;

impl template::Variables for NoVariables {
    fn get(&self, _name: &str) -> Option<&Value> {
        None
    }
}

fn value(expression: &Expression) -> Option<Datum> {
    match expression {
        Expression::Literal(datum) => Some(datum.clone()),
        Expression::Cast(operand, kind) => value(operand)?.cast(*kind),
        Expression::Negate(operand) => value(operand)?.negated(),
        Expression::Not(operand) => value(operand)?.not(),
        Expression::IsNull(operand) => Some(Datum::boolean(Some(value(operand)?.is_null()))),
        Expression::Coalesce(operands) => Datum::first_not_null(operands.iter().map(value).collect::<Option<_>>()?),
        Expression::Binary(operator, left, right) => {
            let (left, right) = (value(left)?, value(right)?);
            match operator {
                Operator::And => left.and(right),
                Operator::Or => left.or(right),
                Operator::Compare(comparison) => left.compared(*comparison, right),
                Operator::Arithmetic(arithmetic) => left.computed(*arithmetic, right),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `TYPE VALUE` of an expression, `null` for SQL null, `server` where the server has to be asked.
    fn outcome(sql: &str) -> String {
        let Some(value) = evaluate(&Template::verbatim(sql), &Variables::default()) else { return "server".to_owned() };
        let kind = match value.type_oid {
            16 => "bool",
            20 => "int8",
            21 => "int2",
            23 => "int4",
            25 => "text",
            1700 => "numeric",
            _ => "?",
        };
        format!("{kind} {}", value.text.as_deref().unwrap_or("null"))
    }

    #[test]
    fn arithmetic_has_the_type_of_its_wider_operand() {
        assert_eq!(outcome("1 + 2 * 3"), "int4 7");
        assert_eq!(outcome("'3000'::int8 + 1"), "int8 3001");
        assert_eq!(outcome("'3'::int2 - '5'::int2"), "int2 -2");
        assert_eq!(outcome("1.50 * 2.0 - 1"), "numeric 2.000");
        assert_eq!(outcome("-(2 - 5)"), "int4 3");
        assert_eq!(outcome("3000000000"), "int8 3000000000");
        assert_eq!(outcome("-0.00"), "numeric 0.00");
    }

    #[test]
    fn a_quoted_literal_takes_the_type_of_the_other_side() {
        assert_eq!(outcome("'377' + 1"), "int4 378");
        assert_eq!(outcome("'9' > 10"), "bool f");
        assert_eq!(outcome("'9' = '9'"), "bool t");
        assert_eq!(outcome("'t' AND true"), "bool t");
        assert_eq!(outcome("'o''hara'"), "text o'hara");
    }

    #[test]
    fn null_spreads_as_in_sql() {
        assert_eq!(outcome("NULL + 1"), "int4 null");
        assert_eq!(outcome("NULL = 1"), "bool null");
        assert_eq!(outcome("NULL::int8"), "int8 null");
        assert_eq!(outcome("NULL AND false"), "bool f");
        assert_eq!(outcome("NULL OR true"), "bool t");
        assert_eq!(outcome("NOT NULL"), "bool null");
        assert_eq!(outcome("1 = NULL IS NULL"), "bool t");
        assert_eq!(outcome("coalesce(NULL, NULL::int8, 5)"), "int8 5");
        assert_eq!(outcome("coalesce(NULL, 'x')"), "text x");
    }

    #[test]
    fn operators_bind_as_in_postgresql() {
        assert_eq!(outcome("NOT 1 = 2 AND 2 <> 3"), "bool t");
        assert_eq!(outcome("true OR true AND false"), "bool t");
        assert_eq!(outcome("1 + 1 >= 2 - -1"), "bool f");
        assert_eq!(outcome("2*-3"), "int4 -6");
    }

    #[test]
    fn what_only_the_server_knows_is_left_to_it() {
        for sql in [
            "2147483647 + 1",
            "'32767'::int2 + '1'::int2",
            "-2147483648",
            "'a' < 'b'",
            "'1' + '2'",
            "- '1'",
            "7 / 2",
            "length('x')",
            "1 < 2 < 3",
            "1 --1",
            "5::float8",
            "'0x10' + 1",
            "1_000",
            "1 + true",
            "coalesce('x', 1)",
            "x",
            "1, 2",
            "",
        ] {
            assert_eq!(outcome(sql), "server", "{sql}");
        }
    }

    #[test]
    fn a_deep_or_endless_expression_is_left_to_the_server() {
        assert_eq!(outcome(&"(".repeat(100_000)), "server");
        assert_eq!(outcome(&format!("1{}", " + 1".repeat(100_000))), "server");
    }

    #[test]
    fn variables_keep_their_types() {
        let mut variables = Variables::default();
        variables.set("approved", Value { type_oid: 20, text: Some("49900".to_owned()) });
        variables.set("amount", Value::text("377"));
        let sum = Template {
            pieces: vec![
                template::Piece::Value { name: "approved".to_owned(), span: Default::default() },
                template::Piece::Text { text: " + ".to_owned(), span: Default::default() },
                template::Piece::Value { name: "amount".to_owned(), span: Default::default() },
            ],
            span: Default::default(),
        };
        assert_eq!(evaluate(&sum, &variables), Some(Value { type_oid: 20, text: Some("50277".to_owned()) }));
        assert!(understands(&sum));
        assert!(!understands(&Template::verbatim("now()")));
    }
}
