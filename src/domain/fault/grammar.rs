//! The text form of a fault, on the command line, in files and on the screen.
//!
//! A word such as `role` before the first colon always names the kind of target, so a tool called
//! `role` is written `tool:role`. In a name, `\` makes the next character part of the name; in a
//! condition, `\:` is a colon. A text extends to the end, unless it is in quotes.

use std::{fmt, str::FromStr};

use super::settings::{number, positive};
use super::{FaultKind, FaultSpec, Trigger, quoted};
use crate::expression::{Expression, Scope};
use crate::target::{Sort, Target};
use crate::words;

/// The text form of a fault, for errors.
const FAULT_SYNTAX: &str = "TARGET:KIND[:KEY=VALUE]…, such as search_web:error:p=0.5 (`toolyard run --help` lists \
     targets, kinds and keys)";

/// Every target, kind and key, for the help.
pub const FAULT_HELP: &str = "\
Faults: TARGET:KIND[:KEY=VALUE]…, where `\\:` is a colon in a name or a condition
  targets            a tool's name, class:NAME, edge:FROM->TO, effect:NAME, mcp:NAME, tools,
                     role:NAME, model:NAME, server:ADDRESS, models, embedding, any
  kinds              error, timeout, latency, rate-limit, auth-expired, reset, flapping
    tools, models    empty, truncated, garbage, answer, wrong, huge, escapes, injection
    tools            crash, hidden-error, drift, stale
    mcp:NAME         changed-list
    models           cut-stream, reset-stream, error-event, slow-tokens, broken-arguments,
                     unknown-tool, refusal, overflow, price, wrong-usage
    role:evaluator   scores
  keys               p (0 to 1), nth, first, from, to, every, most (calls), for (seconds),
                     from-task, to-task, if (a condition)
    of kinds         ms (latency, slow-tokens), spread=fixed|uniform|normal|tail (latency),
                     retry-after (rate-limit), up, down (flapping), status (error of models),
                     kb (huge), times (price, wrong-usage),
                     change=rename|drop|retype (drift, changed-list),
                     how=flipped|noisy|constant, value (scores),
                     text (error, answer, hidden-error, injection, error-event, refusal; takes the
                     whole rest, or what is in quotes: text=\"no\":nth=2)";

/// Displayed in its text form: `search_web:error:from-task=50`.
impl fmt::Display for FaultSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.target, self.kind.name())?;
        let settings = self.settings();
        settings.iter().try_for_each(|(key, value)| f.write_str(&Self::written(key, value)))
    }
}

impl FromStr for FaultSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::read(text).map_err(|what| {
            // An expression's error has a line with a caret below it.
            let between = if what.contains('\n') { "\n" } else { "; " };
            format!("fault `{text}`: {what}{between}expected {FAULT_SYNTAX}")
        })
    }
}

impl FaultSpec {
    /// Returns the settings besides target and kind: the keys and values of the text form, in its order.
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        let own = self.kind.keys(self.target.sort()).iter();
        let own = own.filter_map(|key| Some((*key, self.kind.setting(key)?)));
        let (last, mut settings): (Vec<_>, Vec<_>) = own.partition(|(key, _)| *key == "text");
        settings.extend(self.trigger.settings());
        // A text extends to the end, so it comes last.
        settings.extend(last);
        settings
    }

    /// Returns a setting as the text form has it, with the colon before it.
    pub fn written(key: &str, value: &str) -> String {
        match key {
            "if" => format!(":if={}", value.replace(':', "\\:")),
            "text" => format!(":text={}", quoted::written(value)),
            key => format!(":{key}={value}"),
        }
    }

    /// Like `parse`, but an error contains only the reason: for forms, whose user writes no syntax.
    ///
    /// # Errors
    /// A message that says what is wrong.
    pub fn read(text: &str) -> Result<Self, String> {
        let (target, rest) = target(text)?;
        let (kind, mut rest) = split(rest);
        let mut kind = FaultKind::by_name(kind).ok_or_else(|| unknown_kind(kind))?;
        kind.check(&target)?;
        let mut trigger = Trigger::default();
        while let Some(left) = rest {
            let (key, value);
            (key, value, rest) = match left.strip_prefix("text=") {
                // A text may contain colons.
                Some(text) => {
                    let (text, rest) = quoted::read(text)?;
                    ("text", text, rest)
                }
                None => option(left)?,
            };
            let is_set = trigger.set(key, &value)?
                || kind.keys(target.sort()).contains(&key) && kind.set(key, &value)?;
            if !is_set {
                return Err(unknown_key(key, &kind, &target));
            }
        }
        trigger.check()?;
        if matches!(&kind, FaultKind::Answer { text } if text.is_empty()) {
            return Err(
                "answer needs `text`, the answer; use `empty` for an empty answer".to_owned()
            );
        }
        Ok(FaultSpec { target, kind, trigger })
    }
}

impl Trigger {
    /// The keys of its text form, in order.
    pub const KEYS: &[&str] =
        &["if", "p", "nth", "first", "from", "to", "every", "most", "for", "from-task", "to-task"];

    fn settings(&self) -> impl Iterator<Item = (&'static str, String)> {
        let count = |n: Option<u32>| n.map(|n| n.to_string());
        let values = [
            self.condition.as_ref().map(ToString::to_string),
            self.probability.map(|p| p.to_string()),
            count(self.nth),
            count(self.first),
            count(self.from),
            count(self.to),
            count(self.every),
            count(self.most),
            count(self.seconds),
            count(self.from_task),
            count(self.to_task),
        ];
        Self::KEYS.iter().zip(values).filter_map(|(key, value)| Some((*key, value?)))
    }

    /// # Errors
    /// A range without calls or tasks.
    fn check(&self) -> Result<(), String> {
        let ranges = [("", self.from, self.to), ("-task", self.from_task, self.to_task)];
        for (of, from, to) in ranges {
            if let (Some(from), Some(to)) = (from, to)
                && from > to
            {
                return Err(format!("to{of} is {to}, before from{of}, which is {from}"));
            }
        }
        Ok(())
    }

    /// Sets a condition; false if there is none of this key.
    fn set(&mut self, key: &str, value: &str) -> Result<bool, String> {
        let counted = match key {
            "if" => {
                let condition = Expression::condition(value, Scope::Call);
                self.condition = Some(condition.map_err(|error| format!("if: {error}"))?);
                return Ok(true);
            }
            "p" => {
                let p = number::<f64>(key, value)?;
                if !(0.0..=1.0).contains(&p) {
                    return Err(format!("p is {p}, not from 0 to 1"));
                }
                self.probability = Some(p.into());
                return Ok(true);
            }
            "nth" => &mut self.nth,
            "first" => &mut self.first,
            "from" => &mut self.from,
            "to" => &mut self.to,
            "every" => &mut self.every,
            "most" => &mut self.most,
            "for" => &mut self.seconds,
            "from-task" => &mut self.from_task,
            "to-task" => &mut self.to_task,
            _ => return Ok(false),
        };
        *counted = Some(positive(key, value)?);
        Ok(true)
    }
}

/// Why a kind is refused, with the nearest one.
fn unknown_kind(kind: &str) -> String {
    let near = words::nearest(kind, FaultKind::ALL.iter().map(FaultKind::name));
    let hint = near.map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default();
    format!("unknown kind `{kind}`{hint}")
}

fn unknown_key(key: &str, kind: &FaultKind, target: &Target) -> String {
    if let (FaultKind::Error { .. }, "status") = (kind, key) {
        return "error of a tool does not take `status`: tools have no status".to_owned();
    }
    let own = kind.keys(target.sort());
    let all = own.iter().chain(Trigger::KEYS).copied();
    let near = words::nearest(key, all.clone());
    let hint = near.map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default();
    format!(
        "{} does not take `{key}`{hint}; it takes {}",
        kind.name(),
        all.collect::<Vec<_>>().join(", ")
    )
}

/// The target, and the rest.
fn target(text: &str) -> Result<(Target, &str), String> {
    let (first, rest) = split(text);
    let sort = Sort::by_name(first);
    let (name, rest) = match (sort, rest) {
        (None, _) => name(text),
        (Some(sort), rest) if !sort.takes_name() => (String::new(), rest),
        (Some(_), rest) => name(rest.unwrap_or_default()),
    };
    let kind = rest.map(|rest| split(rest).0);
    // `role:error` may be meant for a tool called `role`.
    if sort.is_some() && kind.and_then(FaultKind::by_name).is_none() && is_kind(&name) {
        return Err(format!(
            "no kind given for the {first} `{name}`; write `tool:{first}` for a tool named `{first}`"
        ));
    }
    let sort = sort.unwrap_or(Sort::Tool);
    if sort.takes_name() && name.is_empty() {
        return Err(format!("no {} given", sort.name()));
    }
    let rest = rest.ok_or("no kind given")?;
    Ok((Target::named(sort, &name)?, rest))
}

fn is_kind(name: &str) -> bool {
    FaultKind::by_name(name).is_some()
}

/// A name up to its colon, and the rest.
fn name(text: &str) -> (String, Option<&str>) {
    let mut name = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            ':' => return (name.trim().to_owned(), Some(&text[at + 1..])),
            '\\' => name.extend(chars.next().map(|(_, next)| next)),
            c => name.push(c),
        }
    }
    (name.trim().to_owned(), None)
}

/// A key, its value up to the colon, in which `\:` is a colon, and the rest.
fn option(text: &str) -> Result<(&str, String, Option<&str>), String> {
    let mut last = '\0';
    let end = text.char_indices().find(|(_, c)| {
        let ends = *c == ':' && last != '\\';
        last = *c;
        ends
    });
    let (part, rest) = end.map_or((text, None), |(at, _)| (&text[..at], Some(&text[at + 1..])));
    let (key, value) = part.split_once('=').ok_or_else(|| format!("`{part}` has no `=`"))?;
    Ok((key, value.replace("\\:", ":"), rest))
}

/// The text before the first colon, and the text after it.
fn split(text: &str) -> (&str, Option<&str>) {
    text.split_once(':').map_or((text, None), |(before, behind)| (before, Some(behind)))
}

#[cfg(test)]
mod tests;
