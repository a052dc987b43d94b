//! The text of a logpoint, with expressions in braces.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::expression::{Evaluator, Expression, Scope};

/// A text with expressions in braces: `score is {score.search_web}`. A doubled brace is a literal one.
#[derive(Clone, PartialEq)]
pub struct Template {
    text: Arc<str>,
    parts: Arc<[LogpointPart]>,
}

#[derive(Clone, Debug, PartialEq)]
enum LogpointPart {
    Text(String),
    Value(Expression),
}

impl Template {
    /// # Errors
    /// An expression is wrong, or a brace is not closed.
    pub fn read(text: &str, scope: Scope) -> Result<Self, String> {
        Self::parse(text, |part| Expression::read(part, scope).map_err(|error| error.to_string()))
    }

    fn parse(
        text: &str,
        expression: impl Fn(&str) -> Result<Expression, String>,
    ) -> Result<Self, String> {
        let (mut parts, mut plain) = (Vec::new(), String::new());
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            plain.push_str(&rest[..at]);
            let (brace, after) = rest[at..].split_at(1);
            if let Some(after) = after.strip_prefix(brace) {
                plain.push_str(brace);
                rest = after;
                continue;
            }
            if brace == "}" {
                return Err(format!("`{text}` has a `}}` without `{{`; double it to print it"));
            }
            let Some((inside, after)) = closed(after) else {
                return Err(format!("`{text}` has a `{{` without `}}`; double it to print it"));
            };
            parts.push(LogpointPart::Text(std::mem::take(&mut plain)));
            parts.push(LogpointPart::Value(expression(inside)?));
            rest = after;
        }
        plain.push_str(rest);
        parts.push(LogpointPart::Text(plain));
        Ok(Self { text: text.into(), parts: parts.into() })
    }

    /// The text with the values of its expressions, or why one has none.
    pub fn filled(&self, evaluator: &Evaluator<'_>) -> String {
        let filled = self.parts.iter().map(|part| match part {
            LogpointPart::Text(text) => text.clone(),
            LogpointPart::Value(expression) => match evaluator.value(expression) {
                Ok(answer) => answer.shown(),
                Err(why) => format!("({why})"),
            },
        });
        filled.collect()
    }

    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Splits a text that follows an opening brace into the part inside the braces and the rest. The inside may have braces
/// of its own; `None` if no brace closes it.
fn closed(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_u32;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => return Some((&text[..at], &text[at + 1..])),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.text, f)
    }
}

impl Serialize for Template {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Template {
    /// Only the syntax is checked: a newer version may know more fields.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let expression =
            |part: &str| Expression::unchecked(part).map_err(|error| error.to_string());
        Self::parse(&text, expression).map_err(de::Error::custom)
    }
}
