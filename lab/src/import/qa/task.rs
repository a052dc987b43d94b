//! A row as a task.

use serde_json::Value;

use super::columns::{Columns, find};
use super::golds::{golds, list};
use super::rows::QuestionRow;
use crate::domain::Task;
use crate::files::toml_file::Problem;

/// The labels of choices without their own.
const LABELS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// A possible answer with its label.
struct AnswerChoice {
    label: String,
    text: String,
}

/// The task of a row. Its name is empty if the row has no id.
///
/// # Errors
/// A field is missing or wrong.
pub fn task(file: &str, row: &QuestionRow, columns: &Columns) -> Result<Task, Problem> {
    let wrong = |column: &str, text: &str| Problem::of_line(file, row.line, column, text);
    let need = |column: &str| {
        find(row, column).ok_or_else(|| wrong(column, "missing; every row needs this column"))
    };
    let question = need(&columns.question)?;
    let question = question.as_str().map(str::trim).filter(|text| !text.is_empty());
    let question = question.ok_or_else(|| wrong(&columns.question, "expected a non-empty text"))?;
    let choices = match &columns.choices {
        Some(column) => choices(need(column)?).ok_or_else(|| {
            wrong(column, "expected a list of texts, or an object of labels and texts")
        })?,
        None => Vec::new(),
    };
    let name = match &columns.id {
        Some(column) => match need(column)? {
            Value::String(id) if !id.trim().is_empty() => id.trim().to_owned(),
            Value::Number(id) => id.to_string(),
            _ => return Err(wrong(column, "expected a text or a number as id")),
        },
        None => String::new(),
    };
    let right = match &columns.answer {
        Some(column) => golds(need(column)?),
        None => Vec::new(),
    };
    let right = right.into_iter().flat_map(|gold| chosen(gold, &choices));
    Ok(Task { name, ..Task::from_text(with_choices(question, &choices)) }.with_golds(right))
}

/// The choices in a cell; `None` if it has another form.
fn choices(value: &Value) -> Option<Vec<AnswerChoice>> {
    let texts = |list: &[Value]| -> Option<Vec<String>> {
        list.iter().map(|value| value.as_str().map(str::to_owned)).collect()
    };
    let labelled = |texts: Vec<String>| {
        let labels = LABELS.chars().map(String::from);
        texts.into_iter().zip(labels).map(|(text, label)| AnswerChoice { label, text }).collect()
    };
    match value {
        Value::Null => Some(Vec::new()),
        Value::Array(list) => texts(list).map(labelled),
        Value::String(text) if text.trim().is_empty() => Some(Vec::new()),
        Value::String(text) => list(text).map(labelled),
        Value::Object(fields) => match (fields.get("text"), fields.get("label")) {
            (Some(Value::Array(text)), Some(Value::Array(label))) => {
                let both = texts(text)?.into_iter().zip(texts(label)?);
                Some(both.map(|(text, label)| AnswerChoice { label, text }).collect())
            }
            _ => {
                let choice = |(label, text): (&String, &Value)| {
                    Some(AnswerChoice { label: label.clone(), text: text.as_str()?.to_owned() })
                };
                fields.iter().map(choice).collect()
            }
        },
        Value::Bool(_) | Value::Number(_) => None,
    }
}

/// Finds a right answer among the choices, by its text, its label or its index from 0. Returns the text and the label;
/// without a match, the answer itself.
fn chosen(gold: String, choices: &[AnswerChoice]) -> Vec<String> {
    let is_text = |choice: &&AnswerChoice| choice.text.trim().eq_ignore_ascii_case(gold.trim());
    let is_label = |choice: &&AnswerChoice| choice.label.eq_ignore_ascii_case(gold.trim());
    let by_place = || choices.get(gold.trim().parse::<usize>().ok()?);
    let found = choices.iter().find(is_text).or_else(|| choices.iter().find(is_label));
    match found.or_else(by_place) {
        Some(AnswerChoice { label, text }) => vec![text.clone(), label.clone()],
        None => vec![gold],
    }
}

fn with_choices(question: &str, choices: &[AnswerChoice]) -> String {
    let lines = choices.iter().map(|AnswerChoice { label, text }| format!("\n{label}. {text}"));
    format!("{question}{}", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(fields: Value) -> Result<Task, Problem> {
        let Value::Object(fields) = fields else { panic!("an object") };
        let row = QuestionRow { line: 3, fields };
        let columns = Columns::of("s.jsonl", &row, &Default::default())?;
        task("s.jsonl", &row, &columns)
    }

    #[test]
    fn choices_are_part_of_the_question_and_an_answer_may_be_text_label_or_place() {
        for answer in [json!("B"), json!("blue"), json!(1)] {
            let task =
                of(json!({"question": "Which?", "choices": ["red", "blue"], "answer": answer}));
            let task = task.unwrap();
            assert_eq!(task.text, "Which?\nA. red\nB. blue");
            assert_eq!(task.golds().collect::<Vec<_>>(), ["blue", "B"]);
        }
        let arc = json!({"question": "Which?", "answerKey": "2",
            "choices": {"text": ["red", "blue"], "label": ["1", "2"]}});
        assert_eq!(of(arc).unwrap().gold.as_deref(), Some("blue"));
    }

    #[test]
    fn a_wrong_field_is_said_with_its_line() {
        for (fields, says) in [
            (
                json!({"question": " ", "answer": "a"}),
                "s.jsonl:3: question: expected a non-empty text",
            ),
            (json!({"question": "a", "id": null}), "s.jsonl:3: id: expected a text or a number"),
            (json!({"question": "a", "choices": 3}), "s.jsonl:3: choices: expected a list"),
            (
                json!({"frage": "a"}),
                "s.jsonl:3: no column of questions is known; name it with --question",
            ),
        ] {
            let why = of(fields).unwrap_err().to_string();
            assert!(why.starts_with(says), "{why}");
        }
    }
}
