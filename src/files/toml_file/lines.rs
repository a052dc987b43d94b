//! The lines of a file's fields, for problems that are found after reading.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Problem, TomlFields, TomlFile, join};

/// A file, and the line of each of its fields by its path, such as `faults[1]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldLines {
    file: String,
    lines: BTreeMap<String, usize>,
}

impl TomlFields<'_> {
    /// The lines of these fields, and of all fields below them.
    pub fn lines(&self) -> FieldLines {
        let mut lines = FieldLines { file: self.file.name.to_owned(), lines: BTreeMap::new() };
        lines.add_table(self.file, &self.path, self.table);
        lines
    }
}

impl FieldLines {
    /// A problem with this field. A missing field has the line of the nearest one above it.
    pub fn problem(&self, field: &str, text: impl Into<String>) -> Problem {
        let mut at = field;
        let mut line = self.lines.get(at);
        while let (None, Some(end)) = (line, at.rfind(['.', '['])) {
            at = &at[..end];
            line = self.lines.get(at);
        }
        let (file, field) = (self.file.clone(), field.to_owned());
        Problem { file, line: line.copied(), field, text: text.into() }
    }

    fn add_table(&mut self, file: &TomlFile<'_>, path: &str, table: &DeTable<'_>) {
        for (name, value) in table {
            let path = join(path, name.get_ref());
            self.lines.insert(path.clone(), file.line(name.span().start));
            self.add_value(file, &path, value);
        }
    }

    fn add_value(&mut self, file: &TomlFile<'_>, path: &str, value: &Spanned<DeValue<'_>>) {
        match value.get_ref() {
            DeValue::Table(table) => self.add_table(file, path, table),
            DeValue::Array(list) => {
                for (at, value) in list.iter().enumerate() {
                    let path = format!("{path}[{at}]");
                    self.lines.insert(path.clone(), file.line(value.span().start));
                    self.add_value(file, &path, value);
                }
            }
            DeValue::String(_)
            | DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_has_its_line_or_that_of_the_nearest_above() {
        let text = "a = [\n 1,\n 2,\n]\n[b]\nc.d = 1\n[[e]]\nf = 1\n[[e]]\nf = 2\n";
        let lines = TomlFile::read("f.toml", text, |fields| Some(fields.lines())).unwrap();
        let line = |field: &str| lines.problem(field, "").line;
        assert_eq!([line("a"), line("a[1]"), line("a[7]")], [Some(1), Some(3), Some(1)]);
        assert_eq!([line("b.c.d"), line("b.c.x"), line("b.x.y")], [Some(6), Some(6), Some(5)]);
        assert_eq!([line("e[1].f"), line("e[1].x"), line("z")], [Some(10), Some(9), None]);
    }
}
