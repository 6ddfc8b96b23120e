//! The part of PostgreSQL's expression syntax that the client understands, with its precedences.
//!
//! <https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-PRECEDENCE>

use super::datum::{Arithmetic, Datum, Kind};

/// Nodes in one expression: bounds the depth of everything that walks it.
const MAX_NODES: usize = 200;

#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    Literal(Datum),
    Cast(Box<Expression>, Kind),
    Negate(Box<Expression>),
    Not(Box<Expression>),
    IsNull(Box<Expression>),
    Coalesce(Vec<Expression>),
    Binary(Operator, Box<Expression>, Box<Expression>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    And,
    Or,
    Compare(Comparison),
    Arithmetic(Arithmetic),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// The expression that a text is; none where it is anything else.
pub fn parse(sql: &str) -> Option<Expression> {
    let mut parser = Parser { tokens: tokens(sql)?, position: 0, nodes: 0 };
    let expression = parser.or()?;
    (parser.position == parser.tokens.len()).then_some(expression)
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    /// A keyword, a type or a function, in lower case.
    Word(String),
    /// Digits with at most one point.
    Number(String),
    Quoted(String),
    Symbol(&'static str),
}

/// Longer ones first.
const SYMBOLS: [&str; 14] = ["::", "<>", "!=", "<=", ">=", "<", ">", "=", "+", "-", "*", "(", ")", ","];

fn tokens(sql: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = sql.trim_start();
    while let Some(first) = rest.chars().next() {
        // A comment; and `!=-` is one operator to the server, where `<>-` is two.
        if rest.starts_with("--") || rest.starts_with("!=-") {
            return None;
        }
        let (token, length) = match first {
            '\'' => quoted(rest)?,
            '0'..='9' | '.' => number(rest)?,
            'a'..='z' | 'A'..='Z' | '_' => word(rest),
            _ => {
                let symbol = SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol))?;
                (Token::Symbol(symbol), symbol.len())
            }
        };
        tokens.push(token);
        rest = rest[length..].trim_start();
    }
    Some(tokens)
}

fn word(rest: &str) -> (Token, usize) {
    let length = rest.bytes().take_while(|byte| is_word_byte(*byte)).count();
    (Token::Word(rest[..length].to_ascii_lowercase()), length)
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || !byte.is_ascii()
}

fn number(rest: &str) -> Option<(Token, usize)> {
    let length = rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let runs_on = rest.as_bytes().get(length).is_some_and(|byte| is_word_byte(*byte));
    let text = &rest[..length];
    let is_number = text != "." && text.matches('.').count() <= 1 && !runs_on;
    is_number.then(|| (Token::Number(text.to_owned()), length))
}

fn quoted(rest: &str) -> Option<(Token, usize)> {
    let mut text = String::new();
    let mut at = 1;
    loop {
        let end = at + rest[at..].find('\'')?;
        text.push_str(&rest[at..end]);
        at = end + 1;
        if !rest[at..].starts_with('\'') {
            return Some((Token::Quoted(text), at));
        }
        text.push('\'');
        at += 1;
    }
}

struct Parser {
    tokens: Vec<Token>,
    position: usize,
    nodes: usize,
}

impl Parser {
    fn or(&mut self) -> Option<Expression> {
        let mut left = self.and()?;
        while self.word("or") {
            let right = self.and()?;
            left = self.binary(Operator::Or, left, right)?;
        }
        Some(left)
    }

    fn and(&mut self) -> Option<Expression> {
        let mut left = self.not()?;
        while self.word("and") {
            let right = self.not()?;
            left = self.binary(Operator::And, left, right)?;
        }
        Some(left)
    }

    fn not(&mut self) -> Option<Expression> {
        if !self.word("not") {
            return self.is_null();
        }
        self.node()?;
        Some(Expression::Not(Box::new(self.not()?)))
    }

    fn is_null(&mut self) -> Option<Expression> {
        let operand = self.comparison()?;
        if !self.word("is") {
            return Some(operand);
        }
        self.node()?;
        let negated = self.word("not");
        let test = self.word("null").then(|| Expression::IsNull(Box::new(operand)))?;
        Some(if negated { Expression::Not(Box::new(test)) } else { test })
    }

    fn comparison(&mut self) -> Option<Expression> {
        let left = self.sum()?;
        let comparison = match self.symbol(&["=", "<>", "!=", "<", "<=", ">", ">="]) {
            None => return Some(left),
            Some("=") => Comparison::Equal,
            Some("<") => Comparison::Less,
            Some("<=") => Comparison::LessOrEqual,
            Some(">") => Comparison::Greater,
            Some(">=") => Comparison::GreaterOrEqual,
            Some(_) => Comparison::NotEqual,
        };
        let right = self.sum()?;
        self.binary(Operator::Compare(comparison), left, right)
    }

    fn sum(&mut self) -> Option<Expression> {
        let mut left = self.product()?;
        while let Some(symbol) = self.symbol(&["+", "-"]) {
            let arithmetic = if symbol == "+" { Arithmetic::Add } else { Arithmetic::Subtract };
            let right = self.product()?;
            left = self.binary(Operator::Arithmetic(arithmetic), left, right)?;
        }
        Some(left)
    }

    fn product(&mut self) -> Option<Expression> {
        let mut left = self.signed()?;
        while self.symbol(&["*"]).is_some() {
            let right = self.signed()?;
            left = self.binary(Operator::Arithmetic(Arithmetic::Multiply), left, right)?;
        }
        Some(left)
    }

    fn signed(&mut self) -> Option<Expression> {
        if self.symbol(&["-"]).is_none() {
            return self.cast();
        }
        self.node()?;
        Some(Expression::Negate(Box::new(self.signed()?)))
    }

    fn cast(&mut self) -> Option<Expression> {
        let mut operand = self.primary()?;
        while self.symbol(&["::"]).is_some() {
            self.node()?;
            let Token::Word(name) = self.next()? else { return None };
            operand = Expression::Cast(Box::new(operand), Kind::named(&name)?);
        }
        Some(operand)
    }

    fn primary(&mut self) -> Option<Expression> {
        self.node()?;
        let datum = match self.next()? {
            Token::Symbol("(") => {
                let inner = self.or()?;
                return self.symbol(&[")"]).map(|_| inner);
            }
            Token::Word(word) if word == "coalesce" => return self.coalesce(),
            Token::Word(word) => match word.as_str() {
                "true" => Datum::boolean(Some(true)),
                "false" => Datum::boolean(Some(false)),
                "null" => Datum::unknown(None),
                _ => return None,
            },
            Token::Number(digits) => Datum::number(&digits)?,
            Token::Quoted(text) => Datum::unknown(Some(text)),
            Token::Symbol(_) => return None,
        };
        Some(Expression::Literal(datum))
    }

    fn coalesce(&mut self) -> Option<Expression> {
        self.symbol(&["("])?;
        let mut operands = vec![self.or()?];
        while self.symbol(&[","]).is_some() {
            operands.push(self.or()?);
        }
        self.symbol(&[")"]).map(|_| Expression::Coalesce(operands))
    }

    fn binary(&mut self, operator: Operator, left: Expression, right: Expression) -> Option<Expression> {
        self.node()?;
        Some(Expression::Binary(operator, Box::new(left), Box::new(right)))
    }

    fn node(&mut self) -> Option<()> {
        self.nodes += 1;
        (self.nodes <= MAX_NODES).then_some(())
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.position).cloned();
        self.position += 1;
        token
    }

    /// Takes the next token where it is this keyword.
    fn word(&mut self, wanted: &str) -> bool {
        let found = matches!(self.tokens.get(self.position), Some(Token::Word(word)) if word == wanted);
        self.position += usize::from(found);
        found
    }

    /// Takes the next token where it is one of these.
    fn symbol(&mut self, wanted: &[&str]) -> Option<&'static str> {
        match self.tokens.get(self.position) {
            Some(Token::Symbol(symbol)) if wanted.contains(symbol) => {
                self.position += 1;
                Some(symbol)
            }
            _ => None,
        }
    }
}
