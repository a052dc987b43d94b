//! The calculator: numbers, `+ - * / ^ !`, percentages, brackets and functions of one number.

use std::iter::Peekable;
use std::str::Chars;

use serde_json::Value;

use super::{arguments, numbers::plain};
use crate::domain::words::clipped;
use crate::tool::{ToolError, ToolErrorKind};

/// The most characters of an expression: each may nest one level deeper.
const LENGTH: usize = 300;
/// The largest number with a factorial that a double can hold.
const LARGEST_FACTORIAL: f64 = 170.0;

type NumberFunction = fn(f64) -> f64;
const FUNCTIONS: [(&str, NumberFunction); 14] = [
    ("sqrt", f64::sqrt),
    ("cbrt", f64::cbrt),
    ("abs", f64::abs),
    ("round", f64::round),
    ("floor", f64::floor),
    ("ceil", f64::ceil),
    ("exp", f64::exp),
    ("ln", f64::ln),
    ("log", f64::log10),
    ("log10", f64::log10),
    ("log2", f64::log2),
    ("sin", f64::sin),
    ("cos", f64::cos),
    ("tan", f64::tan),
];
const CONSTANTS: [(&str, f64); 2] = [("pi", std::f64::consts::PI), ("e", std::f64::consts::E)];

/// The value of `expression`, as plain text.
///
/// # Errors
/// [`ToolErrorKind::Arguments`] with the reason: it is too long, not an expression, or has no finite value.
pub fn calculate(arguments: &Value) -> Result<String, ToolError> {
    let expression = arguments::text(arguments, "expression")?;
    check(expression)?;
    let value = evaluate(expression).map_err(|why| {
        unusable(format!("cannot calculate {:?}: {why}", clipped(expression, 80)))
    })?;
    Ok(plain(value))
}

/// Refuses an expression that is too long, or has characters that no expression has.
pub(super) fn check(expression: &str) -> Result<(), ToolError> {
    if expression.chars().count() > LENGTH {
        return Err(unusable(format!("expected an expression of at most {LENGTH} characters")));
    }
    let is_known =
        |c: &char| c.is_alphanumeric() || *c == ' ' || "+-*/^%!().,_°√×÷−·²³".contains(*c);
    match expression.chars().find(|c| !is_known(c)) {
        Some(bad) => Err(unusable(format!("{bad:?} is not allowed in an expression"))),
        None => Ok(()),
    }
}

/// An error in the arguments, not of the calculator.
pub(super) fn unusable(text: String) -> ToolError {
    ToolError::new(ToolErrorKind::Arguments, text)
}

fn evaluate(expression: &str) -> Result<f64, String> {
    let mut parser = Parser { rest: expression.chars().peekable() };
    let value = parser.sum()?;
    match parser.peek() {
        Some(c) => Err(format!("unexpected {c:?}")),
        None if value.is_finite() => Ok(value),
        None => Err("the value is not finite".to_owned()),
    }
}

/// A recursive descent parser that computes while it parses.
struct Parser<'a> {
    rest: Peekable<Chars<'a>>,
}

impl Parser<'_> {
    fn peek(&mut self) -> Option<char> {
        while self.rest.next_if(|c| c.is_whitespace()).is_some() {}
        self.rest.peek().copied()
    }

    fn take(&mut self, wanted: &[char]) -> Option<char> {
        let next = self.peek().filter(|c| wanted.contains(c))?;
        self.rest.next();
        Some(next)
    }

    fn sum(&mut self) -> Result<f64, String> {
        let mut value = self.product()?;
        while let Some(sign) = self.take(&['+', '-', '−']) {
            let next = self.product()?;
            value = if sign == '+' { value + next } else { value - next };
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<f64, String> {
        let mut value = self.signed()?;
        loop {
            if self.take(&['*', '×', '·']).is_some() {
                value *= self.signed()?;
            } else if self.take(&['/', '÷']).is_some() {
                value /= self.signed()?;
            } else if matches!(self.peek(), Some(c) if c.is_alphanumeric() || "(√".contains(c)) {
                // `2 pi`, `3 (4 + 1)` and `4% of 250` are products.
                value *= self.signed()?;
            } else {
                return Ok(value);
            }
        }
    }

    /// A power binds tighter than the sign before it: -2^2 is -4.
    fn signed(&mut self) -> Result<f64, String> {
        match self.take(&['-', '−', '+']) {
            Some('+') => self.signed(),
            Some(_) => Ok(-self.signed()?),
            None => self.power(),
        }
    }

    fn power(&mut self) -> Result<f64, String> {
        let mut base = self.atom()?;
        while let Some(after) = self.take(&['!', '%']) {
            base = if after == '%' { base / 100.0 } else { factorial(base)? };
        }
        match self.take(&['^']) {
            Some(_) => Ok(base.powf(self.signed()?)),
            None => Ok(base),
        }
    }

    fn atom(&mut self) -> Result<f64, String> {
        match self.peek() {
            Some('(') => {
                self.rest.next();
                let value = self.sum()?;
                self.take(&[')']).map(|_| value).ok_or_else(|| "a `)` is missing".to_owned())
            }
            Some('√') => {
                self.rest.next();
                Ok(self.atom()?.sqrt())
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_alphabetic() => self.name(),
            Some(c) => Err(format!("expected a number, got {c:?}")),
            None => Err("it ends where a number is expected".to_owned()),
        }
    }

    /// A number; commas and underscores between digits are ignored.
    fn number(&mut self) -> Result<f64, String> {
        let mut digits = String::new();
        while let Some(c) = self.rest.next_if(|c| c.is_ascii_digit() || ".,_".contains(*c)) {
            digits.extend(Some(c).filter(|c| !",_".contains(*c)));
        }
        digits.parse().map_err(|_| format!("{digits:?} is not a number"))
    }

    fn name(&mut self) -> Result<f64, String> {
        let mut name = String::new();
        while let Some(c) = self.rest.next_if(|c| c.is_alphanumeric()) {
            name.extend(c.to_lowercase());
        }
        if name == "of" {
            return self.signed();
        }
        if let Some((_, value)) = CONSTANTS.iter().find(|(known, _)| *known == name) {
            return Ok(*value);
        }
        match FUNCTIONS.iter().find(|(known, _)| *known == name) {
            Some((_, function)) => Ok(function(self.atom()?)),
            None => Err(format!("unknown name {:?}", clipped(&name, 40))),
        }
    }
}

fn factorial(n: f64) -> Result<f64, String> {
    if n < 0.0 || n.fract() != 0.0 || n > LARGEST_FACTORIAL {
        return Err(format!("`!` needs a whole number from 0 to {LARGEST_FACTORIAL}"));
    }
    Ok((1..=n as u32).map(f64::from).product())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn value(expression: &str) -> Result<String, ToolError> {
        calculate(&json!({ "expression": expression }))
    }

    #[test]
    fn expressions_give_plain_numbers() {
        let cases = [
            ("2 + 3 * 4", "14"),
            ("(1240000 + 212000) / 2", "726000"),
            ("1,240,000 − 40_000", "1200000"),
            ("10 / 3", "3.3333333333"),
            ("2^64", "18446744073709551616"),
            ("2^3^2", "512"),
            ("-2^2", "-4"),
            ("2^-1", "0.5"),
            ("sqrt(2)", "1.4142135624"),
            ("√16 × 2 ÷ 4", "2"),
            ("round(6400000 / 84200)", "76"),
            ("5! / 3!", "20"),
            ("4% of 250", "10"),
            ("2 pi", "6.2831853072"),
            ("3 (4 + 1)", "15"),
            ("1000 * (1 + 0.04 / 12)^60", "1220.9965939421"),
        ];
        for (expression, expected) in cases {
            assert_eq!(value(expression).as_deref(), Ok(expected), "{expression}");
        }
    }

    #[test]
    fn what_is_no_expression_is_refused_with_a_reason() {
        let long = "1+".repeat(LENGTH);
        let bad = [
            "1/0",
            "2 +",
            "(1",
            "1)",
            "1.2.3",
            "f = 1",
            "$12 * 3",
            "\"a\" * 9",
            "9^9^9^9",
            "171!",
            "(-1)!",
            "sqrt(-1)",
            "foo(2)",
            "0/0",
            &long,
        ];
        for expression in bad {
            let error = value(expression).unwrap_err();
            assert_eq!(error.kind, ToolErrorKind::Arguments, "{expression}: {error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[-+*/^!%()0-9., a-z√]{0,320}") {
            let _ = value(&text);
        }
    }
}
