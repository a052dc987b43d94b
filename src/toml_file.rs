//! Reading a TOML file that a person wrote, so that every mistake in it is named at once: file,
//! line, field, what was expected, what to do.
//!
//! Serde would stop at the first mistake and forget where it was as soon as a value had to make
//! sense and not only have a type. Here the parsed document is walked by hand; each reader hands
//! back `None` for what is wrong and notes the problem, and the caller goes on to the next field.

use std::{cell::RefCell, fmt, ops::Range, sync::LazyLock, time::Duration};

use serde_json::{Map, Number, Value};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use crate::words;

/// One thing that is wrong in a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Problem {
    /// The file as the user named it, or what was embedded.
    pub file: String,
    /// Counted from 1; `None` when the file as a whole is meant.
    pub line: Option<usize>,
    /// The field's path in the file, such as `source.command`; may be empty.
    pub field: String,
    /// What is wrong, what was expected, what to do.
    pub text: String,
}

impl Problem {
    /// A problem with the file as a whole.
    pub fn of_file(file: impl Into<String>, text: impl Into<String>) -> Self {
        Self { file: file.into(), line: None, field: String::new(), text: text.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if !self.field.is_empty() {
            write!(f, ": {}", self.field)?;
        }
        write!(f, ": {}", self.text)
    }
}

/// Everything that is wrong in one or several files; never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Problems(pub Vec<Problem>);

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Self(vec![problem])
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, problem) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}

/// The name and text of a file that is being read, and the problems found so far.
pub struct TomlFile<'t> {
    name: &'t str,
    text: &'t str,
    problems: RefCell<Vec<Problem>>,
}

impl<'t> TomlFile<'t> {
    /// Reads `text` with `read`, which notes problems on the way and may give up with `None`.
    ///
    /// # Errors
    /// Every problem found: bad TOML, what `read` noted.
    pub fn read<T>(
        name: &'t str,
        text: &'t str,
        read: impl FnOnce(Fields<'_>) -> Option<T>,
    ) -> Result<T, Problems> {
        let file = TomlFile { name, text, problems: RefCell::default() };
        let (document, errors) = DeTable::parse_recoverable(text);
        for error in &errors {
            file.note(error.span(), String::new(), format!("not TOML: {}", error.message()));
        }
        let read = if errors.is_empty() {
            let root = Fields::new(&file, String::new(), 0..0, document.get_ref());
            read(root)
        } else {
            None
        };
        match (read, file.problems.into_inner()) {
            (Some(value), problems) if problems.is_empty() => Ok(value),
            (None, problems) if problems.is_empty() => {
                Err(Problem::of_file(name, "cannot be used").into())
            }
            (_, problems) => Err(Problems(problems)),
        }
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

/// The fields of one table. What is asked for becomes known; [`Fields::finish`] refuses the rest.
pub struct Fields<'f> {
    file: &'f TomlFile<'f>,
    path: String,
    span: Range<usize>,
    table: &'f DeTable<'f>,
    known: Vec<&'static str>,
    /// Refused already.
    forbidden: Vec<&'f str>,
}

impl<'f> Fields<'f> {
    fn new(
        file: &'f TomlFile<'f>,
        path: String,
        span: Range<usize>,
        table: &'f DeTable<'f>,
    ) -> Self {
        Self { file, path, span, table, known: Vec::new(), forbidden: Vec::new() }
    }

    /// The field of this name, where there is one.
    pub fn get(&mut self, key: &'static str) -> Option<Field<'f>> {
        self.known.push(key);
        let (name, value) = self.table.get_key_value(key)?;
        Some(self.field(name, value))
    }

    /// The field of this name; that it is missing is a problem, and `advice` says what to write.
    pub fn need(&mut self, key: &'static str, advice: &str) -> Option<Field<'f>> {
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

    /// All fields in the order they were written, for tables whose keys are names.
    pub fn all(&self) -> Vec<(&'f str, Field<'f>)> {
        let mut fields: Vec<_> =
            self.table.iter().map(|(name, value)| (name.span().start, name, value)).collect();
        fields.sort_by_key(|(start, ..)| *start);
        fields
            .into_iter()
            .map(|(_, name, value)| (name.get_ref().as_ref(), self.field(name, value)))
            .collect()
    }

    /// Refuses these keys with advice. They are not suggested to anyone, and their values, which may
    /// be secrets, are not repeated.
    pub fn forbid(&mut self, is_forbidden: impl Fn(&str) -> bool, advice: &str) {
        for (name, field) in self.all() {
            if is_forbidden(name) && !self.known.contains(&name) {
                field.refuse(advice);
                self.forbidden.push(name);
            }
        }
    }

    /// Notes a problem with the table as a whole.
    pub fn refuse(&self, text: impl Into<String>) {
        self.file.note(Some(self.span.clone()), self.path.clone(), text.into());
    }

    /// Refuses every key that was not asked for, with the nearest one that was.
    pub fn finish(self) {
        for (name, field) in self.all() {
            if !self.known.contains(&name) && !self.forbidden.contains(&name) {
                let expected = words::expected(name, self.known.iter().copied());
                field.refuse(format!("unknown key; {expected}"));
            }
        }
    }

    fn field(
        &self,
        name: &'f Spanned<std::borrow::Cow<'f, str>>,
        value: &'f Spanned<DeValue<'f>>,
    ) -> Field<'f> {
        Field {
            file: self.file,
            path: join(&self.path, name.get_ref()),
            span: name.span(),
            value: value.get_ref(),
        }
    }
}

/// One value and where it stands.
#[derive(Clone)]
pub struct Field<'f> {
    file: &'f TomlFile<'f>,
    path: String,
    span: Range<usize>,
    value: &'f DeValue<'f>,
}

impl<'f> Field<'f> {
    /// Notes a problem with this field.
    pub fn refuse(&self, text: impl Into<String>) {
        self.file.note(Some(self.span.clone()), self.path.clone(), text.into());
    }

    /// Notes that something else was expected, and what is there.
    pub fn wrong(&self, expected: &str) {
        self.refuse(format!("expected {expected}, got {}", self.shown()));
    }

    /// Notes what is wrong in another file that this field names.
    pub fn refuse_for(&self, problems: Problems) {
        self.file.problems.borrow_mut().extend(problems.0);
    }

    /// No fields at all, for an optional table that belongs to this field and is not there.
    pub fn without_fields(&self) -> Fields<'f> {
        static NOTHING: LazyLock<DeTable<'static>> = LazyLock::new(DeTable::new);
        Fields::new(self.file, self.path.clone(), self.span.clone(), &NOTHING)
    }

    /// A text.
    pub fn text(&self) -> Option<&'f str> {
        self.or_wrong(self.value.as_str(), "a text in quotes")
    }

    /// A finite number between `least` and `most`, whole or not.
    pub fn number(&self, least: f64, most: f64) -> Option<f64> {
        let number = match self.value {
            DeValue::Integer(whole) => integer(whole).map(|whole| whole as f64),
            DeValue::Float(float) => float.as_str().replace('_', "").parse().ok(),
            DeValue::String(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_)
            | DeValue::Table(_) => None,
        };
        let inside = number.filter(|number: &f64| (least..=most).contains(number));
        self.or_wrong(inside, &format!("a number {}", between(least, most)))
    }

    /// A whole number between `least` and `most`.
    pub fn whole(&self, least: i64, most: i64) -> Option<i64> {
        let number = self.value.as_integer().and_then(integer);
        let inside = number.filter(|number| (least..=most).contains(number));
        self.or_wrong(inside, &format!("a whole number from {least} to {most}"))
    }

    /// A length of time such as `"500ms"`, `"10s"` or `"2m"`, between `least` and `most`.
    pub fn duration(&self, least: Duration, most: Duration) -> Option<Duration> {
        let duration = self.value.as_str().and_then(parse_duration);
        let inside = duration.filter(|duration| (least..=most).contains(duration));
        let expected =
            format!("a time such as \"500ms\", \"10s\" or \"2m\", from {least:?} to {most:?}");
        self.or_wrong(inside, &expected)
    }

    /// Whether it is a text: for settings that have a short and a long form, and for those that must
    /// not be repeated when they are wrong.
    pub fn is_text(&self) -> bool {
        self.value.is_str()
    }

    /// True or false.
    pub fn flag(&self) -> Option<bool> {
        self.or_wrong(self.value.as_bool(), "true or false")
    }

    /// One of a few words.
    pub fn one_of<T: Copy>(&self, choices: &[(&str, T)]) -> Option<T> {
        let text = self.text()?;
        let found = choices.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        if found.is_none() {
            let expected = words::expected(text, choices.iter().map(|(word, _)| *word));
            self.refuse(format!("{} is not possible; {expected}", self.shown()));
        }
        found
    }

    /// The elements of a list.
    pub fn list(&self) -> Option<Vec<Field<'f>>> {
        let array = self.or_wrong(self.value.as_array(), "a list in [brackets]")?;
        let element = |(at, value): (usize, &'f Spanned<DeValue<'f>>)| Field {
            file: self.file,
            path: format!("{}[{at}]", self.path),
            span: value.span(),
            value: value.get_ref(),
        };
        Some(array.iter().enumerate().map(element).collect())
    }

    /// A list of texts.
    pub fn texts(&self) -> Option<Vec<String>> {
        self.list()?.iter().map(|element| element.text().map(str::to_owned)).collect()
    }

    /// The fields of a table.
    pub fn table(&self) -> Option<Fields<'f>> {
        let table = self.or_wrong(self.value.as_table(), "a table of keys and values")?;
        Some(Fields::new(self.file, self.path.clone(), self.span.clone(), table))
    }

    /// The same value as JSON, with keys in the order they were written.
    pub fn json(&self) -> Option<Value> {
        match self.value {
            DeValue::String(text) => Some(Value::from(text.as_ref())),
            DeValue::Boolean(flag) => Some(Value::from(*flag)),
            DeValue::Integer(whole) => {
                self.or_wrong(integer(whole).map(Value::from), "a whole number of 64 bits")
            }
            DeValue::Float(_) => {
                let number = self.number(f64::MIN, f64::MAX)?;
                Number::from_f64(number).map(Value::Number)
            }
            DeValue::Datetime(_) => self.or_wrong(None, "a date in quotes (JSON has no dates)"),
            DeValue::Array(_) => {
                self.list()?.iter().map(Field::json).collect::<Option<_>>().map(Value::Array)
            }
            DeValue::Table(_) => {
                let fields = self.table()?.all();
                let entry = |(key, field): (&str, Field<'_>)| Some((key.to_owned(), field.json()?));
                fields.into_iter().map(entry).collect::<Option<Map<_, _>>>().map(Value::Object)
            }
        }
    }

    fn or_wrong<T>(&self, value: Option<T>, expected: &str) -> Option<T> {
        if value.is_none() {
            self.wrong(expected);
        }
        value
    }

    fn shown(&self) -> String {
        match self.value {
            DeValue::String(text) => format!("{:?}", words::clipped(text, 60)),
            DeValue::Integer(whole) => whole.to_string(),
            DeValue::Float(float) => float.to_string(),
            DeValue::Boolean(flag) => flag.to_string(),
            DeValue::Datetime(date) => date.to_string(),
            DeValue::Array(_) => "a list".into(),
            DeValue::Table(_) => "a table".into(),
        }
    }
}

/// A length of time as people write it: a number and `ms`, `s`, `m` or `h`.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    let number: f64 = digits.trim_end().parse().ok()?;
    Duration::try_from_secs_f64(number * unit).ok()
}

fn integer(whole: &toml::de::DeInteger<'_>) -> Option<i64> {
    i64::from_str_radix(&whole.as_str().replace('_', ""), whole.radix()).ok()
}

fn between(least: f64, most: f64) -> String {
    match (least == f64::MIN, most == f64::MAX) {
        (true, true) => "that is finite".into(),
        (false, true) => format!("of at least {least}"),
        (true, false) => format!("of at most {most}"),
        (false, false) => format!("from {least} to {most}"),
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str, read: impl FnOnce(Fields<'_>) -> Option<()>) -> Vec<String> {
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

    #[test]
    fn durations_have_a_unit() {
        assert_eq!(parse_duration("500ms"), Some(Duration::from_millis(500)));
        assert_eq!(parse_duration("1.5 s"), Some(Duration::from_millis(1500)));
        assert_eq!(parse_duration("2m"), Some(Duration::from_secs(120)));
        for bad in ["", "10", "ms", "-1s", "1e300h", "NaNs", "10 parsecs", "é"] {
            assert_eq!(parse_duration(bad), None, "{bad}");
        }
    }
}
