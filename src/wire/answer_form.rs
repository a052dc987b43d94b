//! The form in which an answer comes.

/// The form of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnswerForm {
    /// A JSON document.
    #[default]
    Whole,
    /// A stream of server-sent events.
    Events,
    /// A stream of JSON objects, one in each line.
    Lines,
    /// A stream of JSON objects that form a list.
    List,
}

impl AnswerForm {
    /// The form of most endpoints: a stream of events, or a document.
    pub fn of_stream(streams: bool) -> Self {
        if streams { AnswerForm::Events } else { AnswerForm::Whole }
    }

    /// Whether the answer comes in parts.
    pub fn streams(self) -> bool {
        self != AnswerForm::Whole
    }

    /// The content type of an answer in this form.
    pub fn content_type(self) -> &'static str {
        match self {
            AnswerForm::Whole | AnswerForm::List => "application/json",
            AnswerForm::Events => "text/event-stream; charset=utf-8",
            AnswerForm::Lines => "application/x-ndjson",
        }
    }

    /// Whether an answer of this content type can be in this form.
    pub fn has_type(self, kind: &str) -> bool {
        let is_json = kind.contains("json");
        match self {
            AnswerForm::Whole | AnswerForm::List => is_json,
            AnswerForm::Events => !is_json,
            // A document is a line too, and servers name lines in several ways.
            AnswerForm::Lines => true,
        }
    }

    /// A stream of events in this form. `is_whole`: nothing follows.
    pub(crate) fn of_events(self, stream: String, is_whole: bool) -> String {
        if self != AnswerForm::List {
            return stream;
        }
        let frames = crate::frames::frames(stream.as_bytes());
        let items: Vec<&str> = frames.iter().map(|frame| frame.data.as_str()).collect();
        let end = if is_whole { "\n]\n" } else { "" };
        format!("[{}{end}", items.join("\n,\n"))
    }
}
