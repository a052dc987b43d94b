//! Reads one value: each reader reports what it expected if the value is something else.

use std::{borrow::Cow, ops::Range, sync::LazyLock, time::Duration};

use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::{FieldLines, Problem, Problems, TomlFields, TomlFile};
use crate::domain::words;

/// A value and its place in a file.
#[derive(Clone)]
pub struct TomlField<'f> {
    pub(super) file: &'f TomlFile<'f>,
    pub(super) path: String,
    pub(super) span: Range<usize>,
    pub(super) value: &'f DeValue<'f>,
}

impl<'f> TomlField<'f> {
    /// Notes a problem with this field.
    pub fn refuse(&self, text: impl Into<String>) {
        self.file.note(Some(self.span.clone()), self.path.clone(), text.into());
    }

    /// A problem with this field, for faults that are found later.
    pub fn problem(&self, text: impl Into<String>) -> Problem {
        Problem::of_line(self.file.name, self.line(), self.path.as_str(), text)
    }

    /// The name of the field, or that of the list that it is in.
    pub fn key(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or_default()
    }

    /// The name of its file.
    pub fn file(&self) -> &'f str {
        self.file.name
    }

    /// The line of the field, from 1.
    pub fn line(&self) -> usize {
        self.file.line(self.span.start)
    }

    /// Notes the first line of a fault, since a problem is one line.
    pub fn refuse_briefly(&self, text: &str) {
        self.refuse(text.lines().next().unwrap_or_default());
    }

    /// Notes the expected and the actual value.
    pub fn wrong(&self, expected: &str) {
        self.refuse(format!("expected {expected}, got {}", self.shown()));
    }

    /// Notes the problems of another file that this field names.
    pub fn refuse_for(&self, problems: Problems) {
        self.file.problems.borrow_mut().extend(problems.0);
    }

    /// The lines of the fields of this table.
    pub fn lines(&self) -> Option<FieldLines> {
        Some(self.table()?.lines())
    }

    /// No fields at all, for an optional table of this field that is missing.
    pub fn without_fields(&self) -> TomlFields<'f> {
        static NOTHING: LazyLock<DeTable<'static>> = LazyLock::new(DeTable::new);
        TomlFields::new(self.file, self.path.clone(), self.span.clone(), &NOTHING)
    }

    /// A text.
    pub fn text(&self) -> Option<&'f str> {
        self.or_wrong(self.value.as_str(), "a text in quotes")
    }

    /// Parses a text with `read`; if that fails, `expected` describes the right value.
    pub fn text_as<T>(&self, expected: &str, read: impl FnOnce(&'f str) -> Option<T>) -> Option<T> {
        self.or_wrong(self.value.as_str().and_then(read), expected)
    }

    /// A non-empty text.
    pub fn filled(&self, expected: &str) -> Option<&'f str> {
        self.text_as(expected, |text| Some(text).filter(|text| !text.trim().is_empty()))
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
        let expected =
            format!("a time such as \"500ms\", \"10s\" or \"2m\", from {least:?} to {most:?}");
        let inside = |duration: &Duration| (least..=most).contains(duration);
        self.text_as(&expected, |text| parse_duration(text).filter(inside))
    }

    /// Whether it is a text: for settings that have a short and a long form, and for values that
    /// must not be repeated in errors.
    pub fn is_text(&self) -> bool {
        self.value.is_str()
    }

    /// Whether it is this text, but for spaces around it.
    pub fn is(&self, text: &str) -> bool {
        self.value.as_str().is_some_and(|value| value.trim() == text)
    }

    /// Whether it is a table, for settings that also have a short form.
    pub fn is_table(&self) -> bool {
        self.value.is_table()
    }

    /// Whether it is a list, for settings that also have another form.
    pub fn is_list(&self) -> bool {
        self.value.is_array()
    }

    /// A text, or a number or a flag as a text.
    pub fn plain(&self) -> Option<Cow<'f, str>> {
        match self.value {
            DeValue::Integer(whole) => Some(whole.to_string().into()),
            DeValue::Float(float) => Some(float.to_string().into()),
            DeValue::Boolean(flag) => Some(flag.to_string().into()),
            DeValue::String(_) | DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => {
                self.text().map(Cow::Borrowed)
            }
        }
    }

    /// True or false.
    pub fn flag(&self) -> Option<bool> {
        self.or_wrong(self.value.as_bool(), "true or false")
    }

    /// Reads one of a few words, and returns its value.
    pub fn one_of<T: Copy>(&self, choices: &[(&str, T)]) -> Option<T> {
        let text = self.text()?;
        let found = choices.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        if found.is_none() {
            let expected = words::expected(text, choices.iter().map(|(word, _)| *word));
            self.refuse(format!("{} is not a valid value; {expected}", self.shown()));
        }
        found
    }

    /// The elements of a list.
    pub fn list(&self) -> Option<Vec<TomlField<'f>>> {
        let array = self.or_wrong(self.value.as_array(), "a list in [brackets]")?;
        let element = |(at, value): (usize, &'f Spanned<DeValue<'f>>)| TomlField {
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
    pub fn table(&self) -> Option<TomlFields<'f>> {
        let table = self.or_wrong(self.value.as_table(), "a table of keys and values")?;
        Some(TomlFields::new(self.file, self.path.clone(), self.span.clone(), table))
    }

    /// The same value as JSON, with keys in the order they were written.
    pub fn json(&self) -> Option<Value> {
        match self.value {
            DeValue::String(text) => Some(Value::from(text.as_ref())),
            DeValue::Boolean(flag) => Some(Value::from(*flag)),
            DeValue::Integer(whole) => {
                // Seeds have all 64 bits.
                let large = || whole.as_str().replace('_', "").parse::<u64>().ok();
                let number = integer(whole).map(Value::from).or_else(|| large().map(Value::from));
                self.or_wrong(number, "a whole number of 64 bits")
            }
            DeValue::Float(_) => {
                let number = self.number(f64::MIN, f64::MAX)?;
                Number::from_f64(number).map(Value::Number)
            }
            DeValue::Datetime(_) => self.or_wrong(None, "a date in quotes (JSON has no dates)"),
            DeValue::Array(_) => {
                self.list()?.iter().map(TomlField::json).collect::<Option<_>>().map(Value::Array)
            }
            DeValue::Table(_) => {
                let fields = self.table()?.all();
                let entry =
                    |(key, field): (&str, TomlField<'_>)| Some((key.to_owned(), field.json()?));
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

/// Parses a length of time: a number and `ms`, `s`, `m` or `h`.
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

fn integer(whole: &DeInteger<'_>) -> Option<i64> {
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

#[cfg(test)]
mod tests {
    use super::*;

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
