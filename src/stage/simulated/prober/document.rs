//! The documents of functions with their results, read as any model would read them.

use super::words;

/// A function.
#[derive(Debug, Default, PartialEq)]
pub struct Document {
    pub name: String,
    /// The names of the required arguments.
    pub needs: Vec<String>,
    /// The lines that describe the result.
    returns: Vec<String>,
    /// A call that worked.
    example: String,
}

/// A scalar of a result.
struct ResultField<'a> {
    key: &'a str,
    /// The key of the object that has it.
    parent: &'a str,
    path: String,
}

/// The place of a value in a result.
#[derive(Debug, PartialEq)]
pub struct ResultPath {
    /// The path as an expression after the result: `["results"][0]["id"]`.
    pub path: String,
    /// How certainly the value is what the argument means.
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
            if let Some(first) = line.strip_prefix("Returns ") {
                last.returns = vec![first.to_owned()];
            } else if let Some(example) = line.strip_prefix("Example: ") {
                last.example = example.to_owned();
            } else if !last.returns.is_empty() {
                last.returns.push(line.to_owned());
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
    Some(Document { name: name.to_owned(), needs: needs.collect(), ..Document::default() })
}

impl Document {
    /// The place in its result of the value for an argument.
    pub fn place_of(&self, argument: &str) -> Option<ResultPath> {
        let stem = argument.strip_suffix("_id");
        let is_about = |name: &str| stem.is_some_and(|stem| words(name).any(|word| word == stem));
        self.best(|field| match field.key {
            key if key == argument => 4,
            "id" if is_about(field.parent) => 3,
            "id" if stem.is_some() && is_about(&self.name) => 2,
            _ => 0,
        })
    }

    /// The place in its result of a name of something that another function is about.
    pub fn name_for(&self, function: &Document) -> Option<ResultPath> {
        let is_about =
            |name: &str| words(name).any(|word| words(&function.name).any(|of| of == word));
        self.best(|field| match field.key {
            "name" | "title" if is_about(field.parent) => 2,
            "name" | "title" if field.parent.is_empty() && is_about(&self.name) => 1,
            _ => 0,
        })
    }

    /// The value of an argument in the call that worked, as an expression; `None` for an id.
    pub fn worked_with(&self, argument: &str) -> Option<&str> {
        let value = self.example.split_once(&format!("{argument}="))?.1;
        let end = match value.strip_prefix('"') {
            Some(text) => text.find('"')? + 2,
            None => value.find([',', ')'])?,
        };
        let is_id = argument == "id" || argument.ends_with("_id");
        value.get(..end).filter(|value| !is_id && !value.contains(['\\', '…']))
    }

    /// The first of the best-fitting scalars.
    fn best(&self, fits: impl Fn(&ResultField<'_>) -> usize) -> Option<ResultPath> {
        let mut best: Option<ResultPath> = None;
        for field in self.fields() {
            let fits = fits(&field);
            if fits > best.as_ref().map_or(0, |best| best.fits) {
                best = Some(ResultPath { path: field.path, fits });
            }
        }
        best
    }

    fn fields(&self) -> Vec<ResultField<'_>> {
        let mut open: Vec<(&str, String)> = Vec::new();
        let mut fields = Vec::new();
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
                open.push((key, step));
                continue;
            }
            let parent = open.iter().rev().map(|(key, _)| *key).find(|key| !key.is_empty());
            let path = open.iter().map(|(_, step)| step.as_str()).collect::<String>() + &step;
            fields.push(ResultField { key, parent: parent.unwrap_or_default(), path });
        }
        fields
    }
}
