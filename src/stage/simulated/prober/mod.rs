//! The prober: a question and a program that call one function, and the functions that may help. It knows only common
//! values. It takes ids from the documented results of other functions.

mod document;
#[cfg(test)]
mod tests;
mod values;

use std::collections::BTreeSet;

use self::document::{Document, ResultPath, documents};
use self::values::Values;
use super::request_parser::user_texts;
use crate::domain::markers::FUNCTIONS;
use crate::domain::{Message, Request};

/// The most calls before the one that is probed.
const DEEPEST: usize = 3;

/// The reply: helpful functions if a list of functions was given, else a question and a program.
pub(super) fn reply(request: &Request) -> String {
    let mut texts = user_texts(request);
    let Some(text) = texts.find(|text| text.contains(FUNCTIONS)) else { return "none".to_owned() };
    let (before, after) = text.split_once(FUNCTIONS).unwrap_or_default();
    match documents(before).first() {
        Some(function) => select(function, after),
        None => {
            let is_reply = |message: &&Message| matches!(message, Message::Assistant { .. });
            let nth = request.messages.iter().filter(is_reply).count();
            write(&documents(after), &Values::new(nth))
        }
    }
}

/// Functions of a list that have a needed value; then those whose names share its subjects: some that need no id, and
/// some that need one, since an id may be two calls away. Among equal ones, those that search come first, and then the
/// more general ones, whose names are short.
fn select(function: &Document, list: &str) -> String {
    let listed: Vec<Listed<'_>> = list.lines().filter_map(Listed::of).collect();
    let has = || listed.iter().filter(|listed| listed.has_it).take(3);
    let own = words(&function.name).chain(function.needs.iter().flat_map(|name| words(name)));
    let of_those = has().flat_map(|listed| listed.needs.split(", ")).flat_map(words);
    let about: BTreeSet<&str> = own
        .chain(of_those)
        .filter(|word| !matches!(*word, "id" | "get" | "GET" | "number"))
        .collect();
    let mut ranked: Vec<&Listed<'_>> = listed.iter().filter(|listed| !listed.has_it).collect();
    ranked.sort_by_key(|listed| {
        let common: BTreeSet<_> = words(listed.name).filter(|word| about.contains(word)).collect();
        let searches = listed.name.contains("search");
        (usize::MAX - common.len(), !searches, listed.name.len(), listed.name)
    });
    let named = |needs_id: bool, most: usize| {
        ranked.iter().filter(move |listed| listed.needs_id() == needs_id).take(most).copied()
    };
    let chosen = has().chain(named(false, 3)).chain(named(true, 2));
    let names: Vec<&str> = chosen.map(|listed| listed.name).collect();
    if names.is_empty() { "none".to_owned() } else { names.join("\n") }
}

/// A line of the list.
struct Listed<'a> {
    name: &'a str,
    needs: &'a str,
    has_it: bool,
}

impl<'a> Listed<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let (name, rest) = line.strip_prefix("- ")?.split_once('(')?;
        let (needs, rest) = rest.split_once(')')?;
        Some(Self { name, needs, has_it: rest.contains("; has ") })
    }

    fn needs_id(&self) -> bool {
        self.needs.contains("id")
    }
}

/// A question and a program.
fn write(functions: &[Document], values: &Values) -> String {
    let Some((function, helpers)) = functions.split_first() else { return "none".to_owned() };
    let mut program = ProbeProgram { helpers, values, lines: Vec::new() };
    let result = program.call(function, DEEPEST);
    program.lines.push(format!("print({result})"));
    let question = format!("What does {} say of {}?", function.name, values.subject(function));
    format!("{question}\n\n```python\n{}\n```", program.lines.join("\n"))
}

struct ProbeProgram<'a> {
    helpers: &'a [Document],
    values: &'a Values,
    lines: Vec<String>,
}

impl<'a> ProbeProgram<'a> {
    /// Writes a call, after the calls whose results it needs. Returns the variable that holds its result.
    fn call(&mut self, function: &Document, depth: usize) -> String {
        let mut arguments = Vec::new();
        for name in &function.needs {
            if let Some(value) = self.value(function, name, depth) {
                arguments.push(format!("{name}={value}"));
            }
        }
        let variable = format!("r{}", self.lines.len() + 1);
        self.lines.push(format!("{variable} = {}({})", function.name, arguments.join(", ")));
        variable
    }

    /// The expression of an argument; `None` if the model knows none, since it does not guess.
    fn value(&mut self, function: &Document, name: &str, depth: usize) -> Option<String> {
        if let Some(plain) = self.values.of(function, name) {
            // A name from a result is more certain than a commonly known one.
            let named = if depth == DEEPEST { self.named(function, name, depth) } else { None };
            let worked = || function.worked_with(name).map(str::to_owned);
            return Some(named.or_else(worked).unwrap_or(plain));
        }
        let (helper, place, _) = self.source(function, name, depth)?;
        let result = self.call(helper, depth - 1);
        Some(format!("{result}{}", place.path))
    }

    /// The name of something that the probed function is about, from the result of another one.
    fn named(&mut self, function: &Document, argument: &str, depth: usize) -> Option<String> {
        if !Values::is_name(argument) {
            return None;
        }
        let depth = depth.checked_sub(1)?;
        let sources = self.helpers.iter().filter_map(|helper| {
            let place = helper.name_for(function)?;
            Some((helper, place, self.calls_for(helper, depth)?))
        });
        let (helper, place, _) =
            sources.min_by_key(|(_, place, calls)| (*calls, usize::MAX - place.fits))?;
        let result = self.call(helper, depth);
        Some(format!("{result}{}", place.path))
    }

    /// Finds a function whose result contains an argument: first the one that needs the fewest calls, then the others.
    fn source(
        &self,
        function: &Document,
        name: &str,
        depth: usize,
    ) -> Option<(&'a Document, ResultPath, usize)> {
        let is_probed = depth == DEEPEST;
        let depth = depth.checked_sub(1)?;
        let helpers = self.helpers.iter().filter(|helper| helper.name != function.name);
        let sources = helpers.filter_map(|helper| {
            let place = helper.place_of(name)?;
            Some((helper, place, 1 + self.calls_for(helper, depth)?))
        });
        let mut sources: Vec<_> = sources.collect();
        sources.sort_by_key(|(_, place, calls)| (*calls, usize::MAX - place.fits));
        // After a failed program, the value of the probed function comes from another result.
        let turn = if is_probed { self.values.nth() % sources.len().max(1) } else { 0 };
        (turn < sources.len()).then(|| sources.swap_remove(turn))
    }

    /// The number of calls that a function needs before its own; `None` if it cannot be called.
    fn calls_for(&self, function: &Document, depth: usize) -> Option<usize> {
        let needed = function.needs.iter().map(|name| match self.values.of(function, name) {
            Some(_) => Some(0),
            None => self.source(function, name, depth).map(|(.., calls)| calls),
        });
        needed.sum()
    }
}

/// The words of a name, in the singular.
fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split('_').filter(|word| !word.is_empty()).map(|word| match word.strip_suffix('s') {
        Some(one) if one.len() > 3 && !one.ends_with('s') => one,
        _ => word,
    })
}
