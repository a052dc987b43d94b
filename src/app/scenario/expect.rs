//! Expectations of a scenario: in `[expect]` on the whole session, in `[[expect.task]]` on one task, and in
//! `[[expect.conversation]]` on conversations of a watched agent.

use std::fmt;

use serde::{Serialize, Serializer};

use super::limits::{Limits, count};
use crate::domain::expression::{Expression, Scope};
use crate::files::toml_file::{TomlField, TomlFields};

/// Expectations on a session. An omitted expectation is not checked.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Expectations {
    /// Tasks that end with an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered: Option<AtLeast>,
    /// Tasks whose answer is right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right: Option<AtLeast>,
    #[serde(flatten)]
    pub limits: Limits,
    /// Most tasks after which the agent recovers from the fault of a tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovered: Option<u64>,
    /// True if no call that changes something may be made twice with the same arguments.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub writes_once: bool,
    /// Repeats of the scenario that must pass, where it runs several times; `None`: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least: Option<AtLeast>,
    /// Conditions on the session at its end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<Expression>,
    #[serde(rename = "task", skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<TaskExpectations>,
    #[serde(rename = "conversation", skip_serializing_if = "Vec::is_empty")]
    pub conversations: Vec<ConversationExpectations>,
}

/// Expectations on each conversation of a watched agent that begins with these words.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ConversationExpectations {
    /// First words of the first question.
    pub begins: String,
    /// The questions whose answers are meant; `None`: the conversation as a whole, with its last answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<QuestionRef>,
    /// Expectations on the answer; nobody knows whether it is right.
    #[serde(flatten)]
    pub end: EndExpectations,
}

/// Expectations on one task.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaskExpectations {
    pub task: TaskRef,
    #[serde(flatten)]
    pub end: EndExpectations,
}

/// Expectations on the end of a task or of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EndExpectations {
    /// Whether there is an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered: Option<bool>,
    /// Whether the answer is right, by the right answers of the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right: Option<bool>,
    /// Text with the same meaning as the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Text that the answer contains, in upper or lower case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contains: Option<String>,
    #[serde(flatten)]
    pub limits: Limits,
}

/// A task by its number in the session, or by its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum TaskRef {
    /// From 1.
    Number(u32),
    Name(String),
}

/// Questions of a conversation. With this field, every expectation of a conversation can also mean one answer or each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum QuestionRef {
    Every,
    /// From 1.
    #[serde(untagged)]
    Number(u32),
}

/// A number of tasks, or a share of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AtLeast {
    Count(u64),
    Percent(f64),
}

impl AtLeast {
    /// Whether this count out of `all` is enough.
    pub fn is_met(self, count: usize, all: usize) -> bool {
        match self {
            Self::Count(least) => count as u64 >= least,
            Self::Percent(least) => 100.0 * count as f64 >= least * all as f64,
        }
    }
}

impl Expectations {
    pub fn is_empty(&self) -> bool {
        // A share of the repeats says nothing about one of them.
        *self == Self { at_least: self.at_least, ..Self::default() }
    }

    /// All limits, each with the path of its table.
    pub(super) fn limits(&self) -> impl Iterator<Item = (String, &Limits)> {
        let tasks = self.tasks.iter().enumerate();
        let tasks = tasks.map(|(at, it)| (format!("expect.task[{at}]"), &it.end.limits));
        let talks = self.conversations.iter().enumerate();
        let talks = talks.map(|(at, it)| (format!("expect.conversation[{at}]"), &it.end.limits));
        std::iter::once(("expect".to_owned(), &self.limits)).chain(tasks).chain(talks)
    }

    /// Reads the given expectations, and notes problems on the way.
    pub(super) fn read(fields: &mut TomlFields<'_>) -> Self {
        let mut expect = Self::default();
        fields.put("answered", &mut expect.answered, |field| at_least(field).map(Some));
        fields.put("right", &mut expect.right, |field| at_least(field).map(Some));
        expect.limits = Limits::read(fields);
        fields.put("at_least", &mut expect.at_least, |field| at_least(field).map(Some));
        fields.put("recovered", &mut expect.recovered, |field| count(field).map(Some));
        fields.put("writes_once", &mut expect.writes_once, TomlField::flag);
        fields.put("holds", &mut expect.holds, |field| {
            let texts = field.list()?;
            Some(texts.iter().filter_map(condition).collect())
        });
        fields.put("task", &mut expect.tasks, |field| {
            Some(field.list()?.iter().filter_map(of_task).collect())
        });
        fields.put("conversation", &mut expect.conversations, |field| {
            Some(field.list()?.iter().filter_map(of_conversation).collect())
        });
        expect
    }
}

impl fmt::Display for AtLeast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AtLeast::Count(count) => write!(f, "{count}"),
            AtLeast::Percent(percent) => write!(f, "{percent} %"),
        }
    }
}

/// Serializes as in the file: `5`, or `"80%"`.
impl Serialize for AtLeast {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            AtLeast::Count(count) => serializer.serialize_u64(*count),
            AtLeast::Percent(percent) => serializer.collect_str(&format_args!("{percent}%")),
        }
    }
}

impl fmt::Display for TaskRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TaskRef::Number(number) => write!(f, "task {number}"),
            TaskRef::Name(name) => write!(f, "task {name}"),
        }
    }
}

fn at_least(field: &TomlField<'_>) -> Option<AtLeast> {
    if !field.is_text() {
        return count(field).map(AtLeast::Count);
    }
    let percent = |text: &str| text.strip_suffix('%')?.trim().parse::<f64>().ok();
    let within = |percent: &f64| (0.0..=100.0).contains(percent);
    let expected = "a number of tasks such as 5, or a share such as \"80%\", from 0 to 100 %";
    field.text_as(expected, |text| percent(text).filter(within)).map(AtLeast::Percent)
}

/// A condition; notes its problem with the position, if there is one.
fn condition(field: &TomlField<'_>) -> Option<Expression> {
    let text = field.filled("a condition such as \"score.search_web < 0\"")?;
    let read = Expression::condition(text, Scope::Session);
    read.map_err(|error| field.refuse(error.to_string())).ok()
}

fn text(field: &TomlField<'_>) -> Option<String> {
    field.filled("a non-empty text").map(str::to_owned)
}

/// Reads the expectations on one end, and its name. `has_right`: whether a right answer may be known.
fn end<'f, N>(
    field: &TomlField<'f>,
    (what, example, has_right): (&str, &str, bool),
    name: impl FnOnce(&mut TomlFields<'f>) -> Option<N>,
) -> Option<(N, EndExpectations)> {
    let mut fields = field.table()?;
    let name = name(&mut fields);
    let mut read = EndExpectations::default();
    fields.put("answered", &mut read.answered, |field| field.flag().map(Some));
    if has_right {
        fields.put("right", &mut read.right, |field| field.flag().map(Some));
    }
    fields.put("answer", &mut read.answer, |field| text(field).map(Some));
    fields.put("contains", &mut read.contains, |field| text(field).map(Some));
    read.limits = Limits::read(&mut fields);
    fields.finish();
    if name.is_some() && read == EndExpectations::default() {
        field.refuse(format!(
            "no expectation for this {what}; write at least one, such as {example} = true"
        ));
    }
    Some((name?, read))
}

fn of_task(field: &TomlField<'_>) -> Option<TaskExpectations> {
    let (task, end) = end(field, ("task", "right", true), |fields| {
        let field = fields.need("task", "task = 3, or the name of a task")?;
        if field.is_text() {
            return field.filled("the name of a task").map(|name| TaskRef::Name(name.to_owned()));
        }
        number(&field).map(TaskRef::Number)
    })?;
    Some(TaskExpectations { task, end })
}

/// The number of a task or of a question, from 1.
fn number(field: &TomlField<'_>) -> Option<u32> {
    u32::try_from(field.whole(1, i64::from(u32::MAX))?).ok()
}

fn questions(field: &TomlField<'_>) -> Option<QuestionRef> {
    if !field.is_text() {
        return number(field).map(QuestionRef::Number);
    }
    let every = |text: &str| (text == "every").then_some(QuestionRef::Every);
    field.text_as("\"every\", or the number of a question such as 2", every)
}

fn of_conversation(field: &TomlField<'_>) -> Option<ConversationExpectations> {
    let mut question = None;
    let (begins, end) = end(field, ("conversation", "answered", false), |fields| {
        fields.put("question", &mut question, |field| questions(field).map(Some));
        text(&fields.need("begins", "begins = \"the first words of its first question\"")?)
    })?;
    Some(ConversationExpectations { begins, question, end })
}
