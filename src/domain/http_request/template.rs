//! Texts with places for arguments and for environment variables: `Bearer ${TOKEN}`, `{movie_id}`, `{ids*}`.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::style::{self, Style};

/// Writes a text so that it fits between the literal parts.
pub type Escape = fn(&str) -> String;

/// A text with places. It is written, and serialised, as a person writes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Template(Vec<TemplatePiece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum TemplatePiece {
    Text(String),
    /// `{name}`, `{name*}` for each of its parts, or `{name:style}`.
    Argument(ArgumentSlot),
    /// `${NAME}`: an environment variable, whose value is a secret.
    Variable(String),
}

/// The place of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentSlot {
    pub name: String,
    /// Whether each part of a list or an object has a place of its own (RFC 6570: the modifier `*`).
    pub each: bool,
    /// How it is written.
    pub style: Option<Style>,
    /// The name that the server knows, where the style writes it and it differs.
    pub wire: Option<String>,
}

impl ArgumentSlot {
    /// The value in a path, in a header, or within a text.
    pub fn written(&self, value: &Value, escaped: Escape) -> String {
        let name = self.wire.as_ref().unwrap_or(&self.name);
        style::written(self.style, self.each, &escaped(name), value, escaped)
    }

    /// The pairs that the value makes in a query, a form or cookies.
    pub fn pairs(&self, name: &str, value: &Value, escaped: Escape) -> Vec<(String, String)> {
        style::pairs_of(self.style, self.each, name, value, escaped)
    }

    /// The value of this argument, if the call gives one.
    ///
    /// # Errors
    /// The value has parts that the style cannot write.
    pub fn given<'a>(&self, arguments: &'a Value) -> Result<Option<&'a Value>, Unfilled> {
        let value = given(arguments, &self.name);
        if let (Some(style), Some(value)) = (self.style, value)
            && !style::has_places(Some(style), value)
        {
            let (name, style) = (&self.name, style.name());
            let text = format!(
                "arguments.{name}: expected texts, numbers or flags within it; the style {style} has no place for more"
            );
            return Err(Unfilled::Value(text));
        }
        Ok(value)
    }
}

/// Why a text could not be filled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfilled {
    /// The call does not give this argument.
    #[error("arguments.{0}: missing")]
    Argument(String),
    /// A value does not fit its place, and why.
    #[error("{0}")]
    Value(String),
    /// The value of an environment variable is not available, and why.
    #[error("{0}")]
    Variable(String),
}

/// The value of an environment variable, or why there is none.
pub type Variables<'v> = &'v dyn Fn(&str) -> Result<String, String>;

impl Template {
    /// Reads a text. `{{` and `}}` stand for braces.
    ///
    /// # Errors
    /// A brace without its other half, or an impossible name, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, brace) = rest.split_at(at);
            plain.push_str(before);
            if let Some(after) = brace.strip_prefix("{{").or_else(|| brace.strip_prefix("}}")) {
                plain.push_str(&brace[..1]);
                rest = after;
                continue;
            }
            let inside = brace.strip_prefix('{').and_then(|inside| inside.split_once('}'));
            let Some((name, after)) = inside else {
                return Err(format!(
                    "a brace without its other half in {text:?}; write {{{{ or }}}} for a brace"
                ));
            };
            let is_variable = plain.ends_with('$');
            if is_variable {
                plain.pop();
            }
            if !plain.is_empty() {
                pieces.push(TemplatePiece::Text(std::mem::take(&mut plain)));
            }
            pieces.push(if is_variable { variable(name)? } else { argument(name)? });
            rest = after;
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            pieces.push(TemplatePiece::Text(plain));
        }
        Ok(Self(pieces))
    }

    /// Exactly this text.
    pub fn literal(text: &str) -> Self {
        Self(vec![TemplatePiece::Text(text.to_owned())])
    }

    /// The place of this argument and nothing else.
    pub fn place(name: &str) -> Self {
        let slot = ArgumentSlot { name: name.to_owned(), each: false, style: None, wire: None };
        Self(vec![TemplatePiece::Argument(slot)])
    }

    /// The place of one argument and nothing else; such a place keeps the type of its value.
    pub fn slot(&self) -> Option<&ArgumentSlot> {
        match self.0.as_slice() {
            [TemplatePiece::Argument(slot)] => Some(slot),
            _ => None,
        }
    }

    /// The places of its arguments.
    pub fn slots(&self) -> impl Iterator<Item = &ArgumentSlot> {
        self.0.iter().filter_map(|piece| match piece {
            TemplatePiece::Argument(slot) => Some(slot),
            TemplatePiece::Text(_) | TemplatePiece::Variable(_) => None,
        })
    }

    /// The names of its arguments.
    pub fn arguments(&self) -> impl Iterator<Item = &str> {
        self.slots().map(|slot| slot.name.as_str())
    }

    /// The names of its environment variables.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            TemplatePiece::Variable(name) => Some(name.as_str()),
            TemplatePiece::Text(_) | TemplatePiece::Argument(_) => None,
        })
    }

    /// The text for these arguments. `escaped` writes each of their values so that it fits between the literal
    /// parts; values of `variables` come as they are to be written.
    ///
    /// # Errors
    /// An argument is missing or null, or an environment variable has no value.
    pub fn fill(
        &self,
        arguments: &Value,
        variables: Variables<'_>,
        escaped: Escape,
    ) -> Result<String, Unfilled> {
        let mut text = String::new();
        for piece in &self.0 {
            match piece {
                TemplatePiece::Text(plain) => text.push_str(plain),
                TemplatePiece::Variable(name) => {
                    text.push_str(&variables(name).map_err(Unfilled::Variable)?);
                }
                TemplatePiece::Argument(slot) => {
                    let value = slot.given(arguments)?;
                    let value = value.ok_or_else(|| Unfilled::Argument(slot.name.clone()))?;
                    text.push_str(&slot.written(value, escaped));
                }
            }
        }
        Ok(text)
    }
}

/// The argument of this name; a null counts as none.
pub fn given<'a>(arguments: &'a Value, name: &str) -> Option<&'a Value> {
    arguments.get(name).filter(|value| !value.is_null())
}

/// A value as a text: a text stays as it is, other values are JSON.
pub fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Only a style that is known ends a name: names may have a colon.
fn argument(text: &str) -> Result<TemplatePiece, String> {
    let styled = text.rsplit_once(':').and_then(|(name, style)| {
        let (style, wire) = match style.split_once('=') {
            Some((style, wire)) => (style, Some(wire.to_owned())),
            None => (style, None),
        };
        Some((name, Some(style.parse::<Style>().ok()?), wire))
    });
    let (name, style, wire) = styled.unwrap_or((text, None, None));
    let (name, each) = name.strip_suffix('*').map_or((name, false), |name| (name, true));
    if name.is_empty() || name.contains(['{', '}', '*']) {
        return Err(format!("{{{name}}} names no argument; expected {{name}} or {{name*}}"));
    }
    Ok(TemplatePiece::Argument(ArgumentSlot { name: name.to_owned(), each, style, wire }))
}

/// Lower case is refused, because a mistaken value is usually a key, which must not become a name that is shown.
fn variable(name: &str) -> Result<TemplatePiece, String> {
    let good = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    if name.is_empty() || !name.chars().all(good) || name.starts_with(|c: char| c.is_ascii_digit())
    {
        let text =
            "expected the name of an environment variable in upper case, such as ${API_TOKEN}";
        return Err(text.to_owned());
    }
    Ok(TemplatePiece::Variable(name.to_owned()))
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in &self.0 {
            match piece {
                TemplatePiece::Text(text) => {
                    f.write_str(&text.replace('{', "{{").replace('}', "}}"))?
                }
                TemplatePiece::Argument(slot) => slot.fmt(f)?,
                TemplatePiece::Variable(name) => write!(f, "${{{name}}}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for ArgumentSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ArgumentSlot { name, each, style, wire } = self;
        write!(f, "{{{name}{}", if *each { "*" } else { "" })?;
        if let Some(style) = style {
            write!(f, ":{}", style.name())?;
        }
        if let Some(wire) = wire {
            write!(f, "={wire}")?;
        }
        f.write_str("}")
    }
}

impl From<Template> for String {
    fn from(template: Template) -> Self {
        template.to_string()
    }
}

impl TryFrom<String> for Template {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn fill(text: &str, arguments: Value) -> Result<String, Unfilled> {
        let variables = |name: &str| match name {
            "TOKEN" => Ok("t0k3n".to_owned()),
            _ => Err(format!("{name} is not set")),
        };
        Template::parse(text).unwrap().fill(&arguments, &variables, str::to_owned)
    }

    #[test]
    fn places_are_filled_and_braces_are_kept() {
        let arguments = json!({"id": 7, "name": "A b", "list": ["x", 2], "none": null});
        for (text, filled) in [
            ("Bearer ${TOKEN}", "Bearer t0k3n"),
            ("/a/{id}.{name}", "/a/7.A b"),
            ("{list}", "x,2"),
            ("{{id}} costs $5", "{id} costs $5"),
            ("", ""),
        ] {
            assert_eq!(fill(text, arguments.clone()).as_deref(), Ok(filled), "{text}");
        }
        assert_eq!(fill("{none}", arguments.clone()), Err(Unfilled::Argument("none".into())));
        let unset = Unfilled::Variable("OTHER is not set".into());
        assert_eq!(fill("${OTHER}", arguments), Err(unset));
    }

    #[test]
    fn impossible_texts_are_refused_without_repeating_a_key() {
        for text in ["{", "a}", "{}", "{*}", "${}", "${1A}", "{a{b}}"] {
            assert!(Template::parse(text).is_err(), "{text}");
        }
        let error = Template::parse("Bearer ${s3cr3t-value}").unwrap_err();
        assert!(error.contains("upper case") && !error.contains("s3cr3t"), "{error}");
    }

    proptest! {
        #[test]
        fn a_template_is_written_as_it_is_read(text in "([a{}$* ]|\\{a\\}|\\{b\\*\\}|\\{c\\*?:(matrix=d|json|x)\\}|\\$\\{V\\}){0,8}") {
            if let Ok(template) = Template::parse(&text) {
                prop_assert_eq!(Template::parse(&template.to_string()), Ok(template));
            }
        }

        #[test]
        fn a_literal_is_its_own_text(text in "[^{}]{0,20}") {
            let read = Template::parse(&text).unwrap();
            prop_assert_eq!(read.fill(&Value::Null, &|_| Err(String::new()), str::to_owned), Ok(text));
        }
    }
}
