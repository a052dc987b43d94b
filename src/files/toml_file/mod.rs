//! Parses a TOML file written by a person, so that every mistake in it is reported at once: file, line, field, the
//! expected value, and advice.
//!
//! Serde would stop at the first mistake, and would lose its place as soon as a value needs more
//! than a type check. Here the parsed document is walked by hand; each reader returns `None` for an
//! invalid value and notes the problem, and the caller continues with the next field. JSON with
//! comments becomes the same kind of document, so the same readers read it.

mod field;
mod json;
mod lines;
mod problem;
mod serde_fields;

use std::{borrow::Cow, cell::RefCell, ops::Range};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub use self::field::TomlField;
pub use self::lines::FieldLines;
pub use self::problem::{Problem, Problems};
pub use self::serde_fields::read_embedded;
use crate::domain::words;

/// The name and text of a file being parsed, and the problems found so far.
pub struct TomlFile<'t> {
    name: &'t str,
    text: &'t str,
    problems: RefCell<Vec<Problem>>,
}

impl<'t> TomlFile<'t> {
    /// Reads `text` with `read`, which notes problems on the way and may give up with `None`.
    ///
    /// # Errors
    /// All problems found: invalid TOML, and those noted by `read`.
    pub fn read<T>(
        name: &'t str,
        text: &'t str,
        read: impl FnOnce(TomlFields<'_>) -> Option<T>,
    ) -> Result<T, Problems> {
        let (read, problems) = Self::read_what_is_right(name, text, read);
        match read.flatten() {
            Some(value) if problems.is_empty() => Ok(value),
            None if problems.is_empty() => Err(Problem::of_file(name, "cannot be used").into()),
            _ => Err(Problems(problems)),
        }
    }

    /// Reads `text` with `read`, and returns its result regardless of other problems; `None` for
    /// invalid TOML.
    pub fn read_what_is_right<T>(
        name: &'t str,
        text: &'t str,
        read: impl FnOnce(TomlFields<'_>) -> T,
    ) -> (Option<T>, Vec<Problem>) {
        let file = TomlFile { name, text, problems: RefCell::default() };
        let (document, errors) = DeTable::parse_recoverable(text);
        for error in &errors {
            file.note(error.span(), String::new(), format!("not TOML: {}", error.message()));
        }
        let root = || TomlFields::new(&file, String::new(), 0..0, document.get_ref());
        let value = errors.is_empty().then(|| read(root()));
        (value, file.problems.into_inner())
    }

    /// The same for JSON, also with comments and trailing commas, as editors write it. A field that is null counts as
    /// missing. The second occurrence of a key is a problem, and the first one is read.
    pub fn read_json<T>(
        name: &'t str,
        text: &'t str,
        read: impl FnOnce(TomlFields<'_>) -> T,
    ) -> (Option<T>, Vec<Problem>) {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let file = TomlFile { name, text, problems: RefCell::default() };
        let document = json::document(text);
        let value = match &document {
            Ok(document) => {
                for key in &document.repeated {
                    let first = file.line(key.first);
                    let text = format!("is there twice; line {first} counts, remove or rename one");
                    file.note(Some(key.second..key.second), key.path.clone(), text);
                }
                Some(read(TomlFields::new(&file, String::new(), 0..0, &document.table)))
            }
            Err(fault) => {
                file.note(Some(fault.place.clone()), String::new(), fault.text.clone());
                None
            }
        };
        (value, file.problems.into_inner())
    }

    fn note(&self, span: Option<Range<usize>>, field: String, text: String) {
        let line = span.map(|span| self.line(span.start));
        self.problems.borrow_mut().push(Problem { file: self.name.into(), line, field, text });
    }

    fn line(&self, offset: usize) -> usize {
        let before = &self.text.as_bytes()[..offset.min(self.text.len())];
        1 + before.iter().filter(|byte| **byte == b'\n').count()
    }
}

/// The fields of one table. Requested fields become known; [`TomlFields::finish`] refuses the rest.
pub struct TomlFields<'f> {
    file: &'f TomlFile<'f>,
    path: String,
    span: Range<usize>,
    table: &'f DeTable<'f>,
    known: Vec<&'static str>,
    /// Already refused keys, and other spellings of known ones.
    done: Vec<&'f str>,
}

impl<'f> TomlFields<'f> {
    fn new(
        file: &'f TomlFile<'f>,
        path: String,
        span: Range<usize>,
        table: &'f DeTable<'f>,
    ) -> Self {
        Self { file, path, span, table, known: Vec::new(), done: Vec::new() }
    }

    /// The field of this name, if present.
    pub fn get(&mut self, key: &'static str) -> Option<TomlField<'f>> {
        self.known.push(key);
        let (name, value) = self.table.get_key_value(key)?;
        Some(self.field(name, value))
    }

    /// The fields with one of these names, which spaces separate, in the order of the names. Only letters and digits of a
    /// name count, and capitals are like small letters. The first name is the one that is suggested.
    pub fn spelled(&mut self, names: &'static str) -> Vec<TomlField<'f>> {
        let names = names.split(' ');
        self.known.extend(names.clone().next().filter(|name| !self.known.contains(name)));
        let all = self.all();
        let mut found = Vec::new();
        for name in names {
            for (key, field) in all.iter().filter(|(key, _)| plain(key).eq(plain(name))) {
                self.done.push(key);
                found.push(field.clone());
            }
        }
        found
    }

    /// The field of this name; a missing one is a problem, and `advice` says what to write.
    pub fn need(&mut self, key: &'static str, advice: &str) -> Option<TomlField<'f>> {
        let field = self.get(key);
        if field.is_none() {
            self.file.note(
                Some(self.span.clone()),
                join(&self.path, key),
                format!("missing; write {advice}"),
            );
        }
        field
    }

    /// Stores the value that `read` returns for the field of this name; if the field is missing or
    /// invalid, the place is unchanged.
    pub fn put<T>(
        &mut self,
        key: &'static str,
        place: &mut T,
        read: impl FnOnce(&TomlField<'f>) -> Option<T>,
    ) {
        if let Some(value) = self.get(key).and_then(|field| read(&field)) {
            *place = value;
        }
    }

    /// Reads the table of this name, if present, completely: fields that `read` does not request
    /// are refused.
    pub fn section(&mut self, key: &'static str, read: impl FnOnce(&mut TomlFields<'f>)) {
        if let Some(mut fields) = self.get(key).and_then(|field| field.table()) {
            read(&mut fields);
            fields.finish();
        }
    }

    /// All fields in written order, for tables whose keys are names.
    pub fn all(&self) -> Vec<(&'f str, TomlField<'f>)> {
        let mut fields: Vec<_> =
            self.table.iter().map(|(name, value)| (name.span().start, name, value)).collect();
        fields.sort_by_key(|(start, ..)| *start);
        fields
            .into_iter()
            .map(|(_, name, value)| (name.get_ref().as_ref(), self.field(name, value)))
            .collect()
    }

    /// Refuses these keys with advice. They are never suggested, and their values, which may be
    /// secrets, are not repeated.
    pub fn forbid(&mut self, is_forbidden: impl Fn(&str) -> bool, advice: &str) {
        for (name, field) in self.all() {
            if is_forbidden(name) && !self.known.contains(&name) {
                field.refuse(advice);
                self.done.push(name);
            }
        }
    }

    /// Notes a problem with the table as a whole.
    pub fn refuse(&self, text: impl Into<String>) {
        self.file.note(Some(self.span.clone()), self.path.clone(), text.into());
    }

    /// Refuses every key that was not requested, and suggests the nearest requested one.
    pub fn finish(self) {
        self.file.problems.borrow_mut().extend(self.unknown());
    }

    /// Problems that [`TomlFields::finish`] would note, for files in which other programs have their own settings.
    pub fn unknown(&self) -> Vec<Problem> {
        let is_known = |name: &str| self.known.contains(&name) || self.done.contains(&name);
        let unknown = self.all().into_iter().filter(|(name, _)| !is_known(name));
        let problem = |(name, field): (&str, TomlField<'_>)| {
            let expected = words::expected(name, self.known.iter().copied());
            field.problem(format!("unknown key; {expected}"))
        };
        unknown.map(problem).collect()
    }

    fn field(
        &self,
        name: &'f Spanned<Cow<'f, str>>,
        value: &'f Spanned<DeValue<'f>>,
    ) -> TomlField<'f> {
        TomlField {
            file: self.file,
            path: join(&self.path, name.get_ref()),
            span: name.span(),
            value: value.get_ref(),
        }
    }
}

/// The letters and digits of a name, small.
fn plain(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(|c| c.is_alphanumeric()).map(|c| c.to_ascii_lowercase())
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn problems(text: &str, read: impl FnOnce(TomlFields<'_>) -> Option<()>) -> Vec<String> {
        match TomlFile::read("f.toml", text, read) {
            Ok(()) => Vec::new(),
            Err(problems) => problems.0.iter().map(Problem::to_string).collect(),
        }
    }

    #[test]
    fn every_problem_is_named_with_file_line_field_and_expectation() {
        let text = "cost = \"dear\"\n\n[part]\nlimit = 70\nlmit = 3\n";
        let found = problems(text, |mut fields| {
            fields.get("cost").and_then(|field| field.number(0.0, f64::MAX));
            let mut part = fields.need("part", "[part]")?.table()?;
            part.get("limit").and_then(|field| field.whole(1, 9));
            part.need("name", "name = \"…\"");
            part.finish();
            fields.finish();
            Some(())
        });
        assert_eq!(
            found,
            [
                "f.toml:1: cost: expected a number of at least 0, got \"dear\"",
                "f.toml:4: part.limit: expected a whole number from 1 to 9, got 70",
                "f.toml:3: part.name: missing; write name = \"…\"",
                "f.toml:5: part.lmit: unknown key; did you mean `limit`? (known: limit, name)",
            ]
        );
    }

    #[test]
    fn broken_toml_is_reported_with_its_line() {
        let found = problems("a = 1\nb = = 2\n", |_| Some(()));
        assert!(found[0].starts_with("f.toml:2: not TOML: "), "{found:?}");
    }

    #[test]
    fn json_keeps_the_order_and_refuses_what_json_cannot_say() {
        let text = "z = 1\na = [true, 2.5, 0x1F]\nm = { y = \"t\", b = -1_000 }\nd = 2026-01-02\n";
        let found = problems(text, |fields| {
            let json: Vec<_> = fields.all().iter().map(|(_, field)| field.json()).collect();
            let shown: Vec<_> = json.iter().flatten().map(Value::to_string).collect();
            assert_eq!(shown, ["1", "[true,2.5,31]", "{\"y\":\"t\",\"b\":-1000}"]);
            Some(())
        });
        assert_eq!(
            found,
            ["f.toml:4: d: expected a date in quotes (JSON has no dates), got 2026-01-02"]
        );
    }
}
