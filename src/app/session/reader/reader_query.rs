//! A query in the form for readers.

use crate::engine::Query;

/// A query that a thread can own.
pub(super) struct Asking {
    pub question: String,
    pub answer: Option<String>,
    pub is_need: bool,
}

impl Asking {
    /// The domain of this query. Questions and thoughts are worded differently, so each kind has its own mean.
    pub fn domain(&self, workspace: &str) -> String {
        let kind = match self {
            Self { is_need: true, .. } => "needs",
            Self { answer: Some(_), .. } => "places",
            _ => "tasks",
        };
        format!("{workspace}: {kind}")
    }
}

impl From<Query<'_>> for Asking {
    fn from(query: Query<'_>) -> Self {
        let Query { question, answer, is_need } = query;
        Self { question: question.to_owned(), answer: answer.map(str::to_owned), is_need }
    }
}
