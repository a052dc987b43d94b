//! Columns of the questions, the answers, the ids and the choices: named by the user, or guessed.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::rows::QuestionRow;
use crate::domain::words;
use crate::files::toml_file::Problem;

/// Names that published sets use, the most specific first.
const QUESTIONS: [&str; 8] =
    ["question", "query", "input", "problem", "claim", "instruction", "prompt", "text"];
const ANSWERS: [&str; 13] = [
    "answer",
    "answers",
    "target",
    "targets",
    "gold",
    "golds",
    "answerKey",
    "target_scores",
    "label",
    "output",
    "final_answer",
    "solution",
    "possible_answers",
];
const IDS: [&str; 6] = ["id", "_id", "qid", "question_id", "uid", "query_id"];
const CHOICES: [&str; 3] = ["choices", "options", "candidates"];

/// Columns as a user names them; `None` is guessed, an empty name means no column.
#[derive(Clone, Debug, Default)]
pub struct ColumnNames {
    pub question: Option<String>,
    pub answer: Option<String>,
    pub id: Option<String>,
    pub choices: Option<String>,
}

/// The columns of a set. A name with dots is a path, such as `answer.value`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Columns {
    pub question: String,
    pub answer: Option<String>,
    pub id: Option<String>,
    pub choices: Option<String>,
}

impl Columns {
    /// The columns, from the first row of a file.
    ///
    /// # Errors
    /// A column that the user names does not exist, or none holds questions.
    pub fn of(file: &str, row: &QuestionRow, chosen: &ColumnNames) -> Result<Self, Problem> {
        let known: Vec<&str> = row.fields.keys().map(String::as_str).collect();
        let find = |option: &str, given: &Option<String>, usual: &[&str]| match given.as_deref() {
            Some("") => Ok(None),
            Some(name) if find(row, name).is_some() => Ok(Some(name.to_owned())),
            Some(name) => {
                let expected = words::expected(name, known.iter().copied());
                let text = format!("there is no column {name:?} for --{option}; {expected}");
                Err(Problem::of_line(file, row.line, "", text))
            }
            None => {
                let same =
                    |usual: &&str| known.iter().find(|name| name.eq_ignore_ascii_case(usual));
                Ok(usual.iter().find_map(same).map(|name| (*name).to_owned()))
            }
        };
        let question = find("question", &chosen.question, &QUESTIONS)?;
        let Some(question) = question else {
            let text = format!(
                "no column of questions is known; name it with --question COLUMN (columns: {})",
                known.join(", ")
            );
            return Err(Problem::of_line(file, row.line, "", text));
        };
        let other = |column: Option<String>| column.filter(|column| *column != question);
        Ok(Self {
            answer: other(find("answer", &chosen.answer, &ANSWERS)?),
            id: other(find("id", &chosen.id, &IDS)?),
            choices: other(find("choices", &chosen.choices, &CHOICES)?),
            question,
        })
    }

    /// The column of ids, for messages.
    pub fn id(&self) -> &str {
        self.id.as_deref().unwrap_or_default()
    }
}

impl fmt::Display for Columns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "question: {}", self.question)?;
        for (what, column) in
            [("answer", &self.answer), ("id", &self.id), ("choices", &self.choices)]
        {
            if let Some(column) = column {
                write!(f, ", {what}: {column}")?;
            }
        }
        Ok(())
    }
}

/// The value of a column: by its name, else by a path with dots.
pub fn find<'r>(row: &'r QuestionRow, column: &str) -> Option<&'r Value> {
    row.fields.get(column).or_else(|| {
        let mut names = column.split('.');
        let first = row.fields.get(names.next()?)?;
        names.try_fold(first, |value, name| value.get(name))
    })
}
