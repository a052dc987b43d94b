//! Problems in files, worded so that authors can fix them.

use std::fmt;

/// A problem in a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Problem {
    /// The file as the user named it, or the name of embedded content.
    pub file: String,
    /// The line, from 1; `None` for the file as a whole.
    pub line: Option<usize>,
    /// The field's path in the file, such as `source.command`; may be empty.
    pub field: String,
    /// The fault, the expected value, and advice.
    pub text: String,
}

impl Problem {
    /// A problem with a field on the line of this number, from 1.
    pub fn of_line(
        file: impl Into<String>,
        line: usize,
        field: impl Into<String>,
        text: impl Into<String>,
    ) -> Self {
        Self { file: file.into(), line: Some(line), field: field.into(), text: text.into() }
    }

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

/// All problems of one or several files; never empty.
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
