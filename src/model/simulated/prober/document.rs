//! The documents of functions with what they return, read as any model would read them.

use super::words;

/// A function.
#[derive(Debug, PartialEq)]
pub struct Document {
    pub name: String,
    /// The names of the required arguments.
    pub needs: Vec<String>,
    /// The lines that say what it returns.
    returns: Vec<String>,
}

/// Where a result has a value.
#[derive(Debug, PartialEq)]
pub struct Place {
    /// As an expression behind the result: `["results"][0]["id"]`.
    pub path: String,
    /// How surely it is what the argument means.
    pub fits: usize,
}

/// All documents of a text.
pub fn documents(text: &str) -> Vec<Document> {
    let mut all: Vec<Document> = Vec::new();
    for line in text.lines() {
        if let Some(function) = signature(line) {
            all.push(function);
        } else if let Some(last) = all.last_mut() {
            let line = line.trim().trim_end_matches("\"\"\"");
            match line.strip_prefix("Returns ") {
                Some(first) => last.returns = vec![first.to_owned()],
                None if !last.returns.is_empty() => last.returns.push(line.to_owned()),
                None => {}
            }
        }
    }
    all
}

fn signature(line: &str) -> Option<Document> {
    let (name, rest) = line.strip_prefix("def ")?.split_once('(')?;
    let (arguments, _) = rest.rsplit_once("):")?;
    let needs = arguments.split(", ").filter(|argument| !argument.contains(" = "));
    let needs = needs.filter_map(|argument| Some(argument.split_once(": ")?.0.to_owned()));
    Some(Document { name: name.to_owned(), needs: needs.collect(), returns: Vec::new() })
}

impl Document {
    /// Where its result has the value of an argument.
    pub fn place_of(&self, argument: &str) -> Option<Place> {
        let stem = argument.strip_suffix("_id");
        let is_about = |name: &str| stem.is_some_and(|stem| words(name).any(|word| word == stem));
        let own = is_about(&self.name);
        let mut open: Vec<(String, String)> = Vec::new();
        let mut best: Option<Place> = None;
        for (at, line) in self.returns.iter().enumerate() {
            if line.starts_with(['}', ']']) {
                open.pop();
                continue;
            }
            let (key, kind) = match line.split_once(": ") {
                Some((key, kind)) if at > 0 => (key.trim_end_matches('?').trim_matches('"'), kind),
                _ => ("", line.as_str()),
            };
            let firsts = "[0]".repeat(kind.matches('[').count());
            let step = if key.is_empty() { firsts } else { format!("[{key:?}]{firsts}") };
            if kind.ends_with('{') {
                open.push((key.to_owned(), step));
                continue;
            }
            let parent = open.iter().rev().map(|(key, _)| key.as_str()).find(|key| !key.is_empty());
            let fits = match key {
                key if key == argument => 4,
                "id" if parent.is_some_and(is_about) => 3,
                "id" if own && stem.is_some() => 2,
                _ => continue,
            };
            if best.as_ref().is_none_or(|best| best.fits < fits) {
                let path: String = open.iter().map(|(_, step)| step.as_str()).collect();
                best = Some(Place { path: path + &step, fits });
            }
        }
        best
    }
}
