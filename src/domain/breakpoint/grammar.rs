//! The text form of a breakpoint, on the command line, in files and on the screen.
//!
//! Parts are separated by colons; `\:` is a colon in a name or in an expression.

use std::{fmt, str::FromStr};

use super::{BreakpointPlace, BreakpointSide, BreakpointSpec, Template, Trouble};
use crate::expression::{Expression, Scope};
use crate::target::{Sort, Target};
use crate::words;

/// The text form of a breakpoint, for errors.
const BREAKPOINT_SYNTAX: &str = "PLACE[:OPTION]…, such as search_web:after:if=ms > 500 (`toolyard run --help` lists \
     places and options)";

/// Every place and option, for the help.
pub const BREAKPOINT_HELP: &str = "\
Breakpoints: PLACE[:OPTION]…, where `\\:` is a colon in a name or an expression
  places             the targets of faults; task, step, plan, evaluation, error, error:NAME,
                     line:8, variable:NAME and frame:DEPTH of a program, value:EXPRESSION, score:TOOL, weight:FROM->TO, evidence:E1, left
  options            before, after, both, if=EXPRESSION, hits=3, hits=>3, hits=%10, once, alone,
                     log=TEXT with {expressions}, crosses=NUMBER (of values);
                     in programs, expressions are Python over the variables there";

/// The words for places other than calls, by themselves or before a name.
const WORDS: [&str; 13] = [
    "task",
    "step",
    "plan",
    "evaluation",
    "error",
    "line",
    "variable",
    "frame",
    "value",
    "score",
    "weight",
    "left",
    "evidence",
];

impl FromStr for BreakpointSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::read(text)
            .map_err(|what| format!("breakpoint `{text}`: {what}\nexpected {BREAKPOINT_SYNTAX}"))
    }
}

impl BreakpointSpec {
    /// Like `parse`, but an error contains only the reason: for forms, whose user writes no syntax.
    ///
    /// # Errors
    /// A message that says what is wrong.
    pub fn read(text: &str) -> Result<Self, String> {
        let parts = split(text);
        let mut parts = parts.iter().map(String::as_str).peekable();
        let first = parts.next().unwrap_or_default().trim();
        let named = takes_name(first);
        // `error` may stand alone, and before an option.
        let name = match first {
            "error" => {
                parts.next_if(|name| Trouble::named(name.trim()).is_ok() || !is_option(name))
            }
            _ if named => parts.next(),
            _ => None,
        };
        let mut spec = Self::at(place(first, name.map(str::trim))?);
        for option in parts {
            spec.set(option.trim())?;
        }
        Ok(spec)
    }

    fn set(&mut self, option: &str) -> Result<(), String> {
        let scope = self.place.scope();
        let side = BreakpointSide::ALL.into_iter().find(|side| side.name() == option);
        if let Some(side) = side {
            if !self.place.has_sides() {
                return Err(format!("`{option}` applies only to calls"));
            }
            self.side = side;
            return Ok(());
        }
        match option.split_once('=') {
            None if option == "once" => self.once = true,
            None if option == "alone" && self.place.scope() == Scope::Call => self.alone = true,
            None if option == "alone" => return Err("`alone` applies only to calls".to_owned()),
            Some(("if", text)) if self.place.is_in_program() => {
                self.python.condition = Some(text.trim().to_owned());
            }
            Some(("log", text)) if self.place.is_in_program() => {
                self.python.log = Some(text.to_owned());
            }
            Some(("if", text)) => {
                let condition = Expression::condition(text, scope);
                self.condition = Some(condition.map_err(|error| format!("if: {error}"))?);
            }
            Some(("hits", text)) => self.hits = Some(text.parse()?),
            Some(("log", text)) => self.log = Some(Template::read(text, scope)?),
            Some(("crosses", text)) => {
                let BreakpointPlace::Value { crosses, .. } = &mut self.place else {
                    return Err("`crosses` applies only to values".to_owned());
                };
                let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
                *crosses = Some(
                    (number.ok_or_else(|| format!("crosses is `{text}`, not a number"))?).into(),
                );
            }
            _ => {
                let word = option.split('=').next().unwrap_or_default();
                let expected = words::expected(word, OPTIONS.iter().copied());
                return Err(format!(
                    "unknown option `{word}`; {expected}; write a colon inside a text as `\\:`"
                ));
            }
        }
        Ok(())
    }

    /// Returns the options besides the place, in the order of the text form.
    pub fn options(&self) -> Vec<(&'static str, String)> {
        let mut options = Vec::new();
        if let BreakpointPlace::Value { crosses: Some(number), .. } = self.place {
            options.push(("crosses", number.to_string()));
        }
        options.extend(self.condition.as_ref().map(|it| ("if", it.to_string())));
        options.extend(self.python.condition.as_ref().map(|it| ("if", it.clone())));
        options.extend(self.hits.map(|hits| ("hits", hits.to_string())));
        options.extend(self.log.as_ref().map(|log| ("log", log.text().to_owned())));
        options.extend(self.python.log.as_ref().map(|log| ("log", log.clone())));
        options
    }
}

const OPTIONS: [&str; 9] =
    ["before", "after", "both", "if", "hits", "once", "alone", "log", "crosses"];

fn is_option(part: &str) -> bool {
    OPTIONS.contains(&part.split('=').next().unwrap_or_default().trim())
}

fn takes_name(word: &str) -> bool {
    matches!(word, "value" | "score" | "weight" | "evidence" | "line" | "variable" | "frame")
        || Sort::by_name(word).is_some_and(Sort::takes_name)
}

fn place(word: &str, name: Option<&str>) -> Result<BreakpointPlace, String> {
    let name = name.unwrap_or_default();
    let value = |text: String| {
        let read = Expression::read(&text, Scope::Session).map_err(|error| error.to_string())?;
        Ok(BreakpointPlace::Value { of: read, crosses: None })
    };
    if takes_name(word) && name.is_empty() {
        return Err(format!("`{word}:` has no name; write `tool:{word}` for a tool of this name"));
    }
    if let Some(sort) = Sort::by_name(word) {
        return Target::named(sort, name).map(BreakpointPlace::Call);
    }
    Ok(match word {
        "" => return Err("no place given".to_owned()),
        "task" => BreakpointPlace::Task,
        "step" => BreakpointPlace::Step,
        "plan" => BreakpointPlace::Plan,
        "evaluation" => BreakpointPlace::Evaluation,
        "error" if name.is_empty() => BreakpointPlace::Trouble(None),
        "error" => BreakpointPlace::Trouble(Some(Trouble::named(name)?)),
        "line" => BreakpointPlace::Line(number(word, name)?),
        "variable" => BreakpointPlace::Variable(name.to_owned()),
        "frame" => BreakpointPlace::Frame(number(word, name)?),
        "value" => return value(name.to_owned()),
        "score" => return value(format!("score[{}]", quoted(name))),
        "weight" => match Target::named(Sort::Edge, name)? {
            Target::Edge(from, to) => {
                let (from, to) = (quoted(from.as_str()), quoted(to.as_str()));
                return value(format!("weight[{from}][{to}]"));
            }
            other => BreakpointPlace::Call(other),
        },
        "evidence" => return value(format!("evidence[{}]", quoted(name.trim_start_matches('#')))),
        "left" => return value("left".to_owned()),
        tool => BreakpointPlace::tool(tool.into()),
    })
}

/// A number from 1.
fn number<N: FromStr + PartialOrd + From<u8>>(word: &str, text: &str) -> Result<N, String> {
    let number = text.parse::<N>().ok().filter(|number| *number >= N::from(1));
    number.ok_or_else(|| format!("{word} is `{text}`, not a number from 1"))
}

/// A name as a text of the expression language.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Splits at colons. An escaped colon is part of the text, without its mark.
fn split(text: &str) -> Vec<String> {
    let (mut parts, mut part) = (Vec::new(), String::new());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.next_if_eq(&':').is_some() => part.push(':'),
            ':' => parts.push(std::mem::take(&mut part)),
            c => part.push(c),
        }
    }
    parts.push(part);
    parts
}

fn escaped(text: &str) -> String {
    text.replace(':', "\\:")
}

impl BreakpointPlace {
    /// Returns the word and the name of the place, as they are written; the name is empty where there is none.
    pub fn parts(&self) -> (&'static str, String) {
        match self {
            BreakpointPlace::Call(target) => (target.sort().name(), target.name()),
            BreakpointPlace::Task => ("task", String::new()),
            BreakpointPlace::Step => ("step", String::new()),
            BreakpointPlace::Plan => ("plan", String::new()),
            BreakpointPlace::Evaluation => ("evaluation", String::new()),
            BreakpointPlace::Trouble(None) => ("error", String::new()),
            BreakpointPlace::Trouble(Some(trouble)) => ("error", trouble.name().to_owned()),
            BreakpointPlace::Line(line) => ("line", line.to_string()),
            BreakpointPlace::Variable(name) => ("variable", name.clone()),
            BreakpointPlace::Frame(depth) => ("frame", depth.to_string()),
            BreakpointPlace::Value { of, .. } => ("value", of.to_string()),
        }
    }
}

impl fmt::Display for BreakpointPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, name) = self.parts();
        let is_word = WORDS.contains(&name.as_str()) || Sort::by_name(&name).is_some();
        match word {
            "tool" if !is_word => f.write_str(&escaped(&name)),
            word if name.is_empty() => f.write_str(word),
            word => write!(f, "{word}:{}", escaped(&name)),
        }
    }
}

/// Displayed in its text form: `search_web:after:if=ms > 500`.
impl fmt::Display for BreakpointSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.place)?;
        if !self.side.is_before() {
            write!(f, ":{}", self.side.name())?;
        }
        for (key, value) in self.options() {
            write!(f, ":{key}={}", escaped(&value))?;
        }
        let flags = [("once", self.once), ("alone", self.alone)];
        flags.iter().filter(|(_, is)| *is).try_for_each(|(name, _)| write!(f, ":{name}"))
    }
}
