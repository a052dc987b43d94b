//! A data set.

use crate::papers::cotools::QueryTemplate;

/// A tool of a data set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataTool {
    /// The name as the set writes it, such as `<film/film/genre>`.
    pub name: String,
    /// May be empty.
    pub description: String,
}

/// A text with calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub text: String,
    /// The first character of each call's result, in order.
    pub starts: Vec<usize>,
    /// The tool of each call, as a place in [`DataSet::tools`].
    pub tools: Vec<usize>,
}

/// A data set.
#[derive(Clone, Debug, PartialEq)]
pub struct DataSet {
    /// The name of the set, or that of its folder.
    pub name: String,
    /// The licence, or a note that it is not stated.
    pub licence: String,
    /// How its authors write a query.
    pub template: QueryTemplate,
    pub tools: Vec<DataTool>,
    /// Empty where the set has none.
    pub train: Vec<Record>,
    pub dev: Vec<Record>,
    /// Records that are never used to choose anything. Empty where the set has none.
    pub test: Vec<Record>,
}

impl DataSet {
    /// The name of the set with its licence.
    pub fn cited(&self) -> String {
        format!("{} ({})", self.name, self.licence)
    }

    /// The set as figures need it: without dev records, its test records take their place.
    pub fn measured(mut self) -> Self {
        if self.dev.is_empty() {
            self.dev = std::mem::take(&mut self.test);
        }
        self
    }
}

impl Record {
    /// The text before this character.
    pub fn before(&self, character: usize) -> &str {
        let end = self.text.char_indices().nth(character).map_or(self.text.len(), |(at, _)| at);
        &self.text[..end]
    }

    /// The question of a record with one call: the text before the result.
    pub fn question(&self) -> &str {
        self.before(self.starts.first().copied().unwrap_or(usize::MAX)).trim()
    }
}
