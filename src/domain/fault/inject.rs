//! The outcome of a fault that fires. To the agent it looks real.
//!
//! The engine waits: for [`FaultKind::Timeout`] and [`FaultKind::Latency`] nothing is made here.

use serde_json::Value;

use super::kind::FaultKind;
use crate::domain::chat::{Finish, Reply, Usage};
use crate::domain::error::{ModelError, ModelErrorKind, ToolError, ToolErrorKind};
use crate::domain::{chance::Chance, output::ToolOutput};

pub(super) const TOOL_ERROR: &str = "503 Service Unavailable";
/// The status of a model error that names none.
pub(super) const STATUS: u16 = 500;
const TOO_MANY: u16 = 429;

impl FaultKind {
    /// A tool's outcome without a call; `None`: the tool is called, or never answers.
    pub fn tool_outcome(&self, chance: Chance) -> Option<Result<ToolOutput, ToolError>> {
        let output = |text| Some(Ok(ToolOutput { text, cut_from: None }));
        match self {
            FaultKind::Error { text, .. } => {
                let text = text.as_deref().unwrap_or(TOOL_ERROR);
                Some(Err(ToolError::new(ToolErrorKind::Failed, text)))
            }
            FaultKind::Empty => output(String::new()),
            FaultKind::Garbage => output(garbage(chance)),
            FaultKind::Answer { text } => output(text.clone()),
            FaultKind::Timeout
            | FaultKind::Latency { .. }
            | FaultKind::RateLimit { .. }
            | FaultKind::CutStream
            | FaultKind::BrokenArguments => None,
        }
    }

    /// A model's outcome without a call; `None`: the model is called, or never answers.
    pub fn model_outcome(&self, chance: Chance) -> Option<Result<Reply, ModelError>> {
        let reply = |text| {
            let (reasoning, calls, usage) = (String::new(), Vec::new(), Usage::default());
            Some(Ok(Reply { text, reasoning, calls, finish: Finish::Stop, usage }))
        };
        match self {
            FaultKind::Empty => reply(String::new()),
            FaultKind::Garbage => reply(garbage(chance)),
            FaultKind::Answer { text } => reply(text.clone()),
            FaultKind::Error { .. }
            | FaultKind::RateLimit { .. }
            | FaultKind::Timeout
            | FaultKind::Latency { .. }
            | FaultKind::CutStream
            | FaultKind::BrokenArguments => self.model_error().map(Err),
        }
    }

    /// The failure of a request to a model or an embedding model that is not sent, if any: the
    /// error of the client after its own retries.
    pub fn model_error(&self) -> Option<ModelError> {
        match self {
            FaultKind::Error { status, text } => Some(refused(status.unwrap_or(STATUS), text)),
            FaultKind::RateLimit { retry_after } => {
                let said = format!("Too Many Requests. It asks to wait {retry_after} s.");
                Some(refused(TOO_MANY, &Some(said)))
            }
            FaultKind::Timeout
            | FaultKind::Latency { .. }
            | FaultKind::Empty
            | FaultKind::Garbage
            | FaultKind::Answer { .. }
            | FaultKind::CutStream
            | FaultKind::BrokenArguments => None,
        }
    }

    /// The damaged form of a model's real answer. A cut stream keeps the part that arrived; broken
    /// arguments cut those of one requested tool call. An answer without calls stays whole.
    pub fn spoil_reply(&self, mut reply: Reply, chance: Chance) -> Result<Reply, ModelError> {
        match self {
            FaultKind::CutStream => {
                let text = "the stream ended before the answer did.";
                let partial = beginning(&reply.text, chance).to_owned();
                Err(ModelError { partial, ..ModelError::new(ModelErrorKind::BadAnswer, text) })
            }
            FaultKind::BrokenArguments => {
                let which = chance.with(b"call").pick(&vec![1.0; reply.calls.len()]);
                if let Some(call) = which.and_then(|i| reply.calls.get_mut(i)) {
                    let json = call.arguments.to_string();
                    call.arguments = Value::String(beginning(&json, chance).to_owned());
                }
                Ok(reply)
            }
            FaultKind::Error { .. }
            | FaultKind::RateLimit { .. }
            | FaultKind::Timeout
            | FaultKind::Latency { .. }
            | FaultKind::Empty
            | FaultKind::Garbage
            | FaultKind::Answer { .. } => Ok(reply),
        }
    }
}

fn refused(status: u16, text: &Option<String>) -> ModelError {
    let said = text.as_ref().map_or_else(String::new, |text| format!(": {text}"));
    ModelError::new(ModelErrorKind::of_status(status), format!("HTTP {status}{said}"))
}

/// At least one character, and at least one less than all; nothing of a text that is too short.
fn beginning(text: &str, chance: Chance) -> &str {
    let cuts: Vec<usize> = text.char_indices().map(|(at, _)| at).skip(1).collect();
    let cut = chance.with(b"cut").pick(&vec![1.0; cuts.len()]);
    &text[..cut.and_then(|i| cuts.get(i)).copied().unwrap_or(0)]
}

/// Forty meaningless characters.
fn garbage(chance: Chance) -> String {
    const SIGNS: &[u8] = b"#@%&$!?~^*+=<>|/0123456789abcdefxyzQWJK ";
    (0u8..40)
        .map(|i| {
            let at = chance.with(&[i]).bits() as usize % SIGNS.len();
            char::from(SIGNS[at])
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::{chat::ToolCall, fault::FaultSpec};

    fn kind(text: &str) -> FaultKind {
        text.parse::<FaultSpec>().unwrap().kind
    }

    fn reply(text: &str, arguments: &[Value]) -> Reply {
        let call = |(i, arguments): (usize, &Value)| ToolCall {
            id: i.to_string(),
            tool: "t".into(),
            arguments: arguments.clone(),
        };
        Reply {
            text: text.to_owned(),
            reasoning: String::new(),
            calls: arguments.iter().enumerate().map(call).collect(),
            finish: Finish::Stop,
            usage: Usage { tokens_in: 7, ..Usage::default() },
        }
    }

    #[test]
    fn a_tool_answers_as_its_kind_says_or_is_left_to_run() {
        let chance = Chance::new(3);
        let outcome = |text: &str| kind(text).tool_outcome(chance);
        let failed = |text: &str| Some(Err(ToolError::new(ToolErrorKind::Failed, text)));
        assert_eq!(outcome("a:error"), failed("503 Service Unavailable"));
        assert_eq!(outcome("a:error:text=no"), failed("no"));
        assert_eq!(outcome("a:empty").unwrap().unwrap().text, "");
        let garbage = outcome("a:garbage").unwrap().unwrap().text;
        assert_eq!(garbage.len(), 40);
        assert_ne!(garbage, kind("a:garbage").tool_outcome(Chance::new(4)).unwrap().unwrap().text);
        assert_eq!((outcome("a:timeout"), outcome("a:latency")), (None, None));
    }

    #[test]
    fn a_model_fails_as_its_client_would_tell_it() {
        for (fault, kind, text) in [
            ("error", ModelErrorKind::Endpoint, "HTTP 500"),
            ("error:status=401:text=no key", ModelErrorKind::Auth, "HTTP 401: no key"),
            ("error:status=404", ModelErrorKind::Refused, "HTTP 404"),
            (
                "rate-limit:retry-after=9",
                ModelErrorKind::RateLimited,
                "HTTP 429: Too Many Requests. It asks to wait 9 s.",
            ),
        ] {
            let error = ModelError::new(kind, text);
            let of_model = self::kind(&format!("role:actor:{fault}"));
            assert_eq!(of_model.model_outcome(Chance::new(1)), Some(Err(error.clone())));
            assert_eq!(self::kind(&format!("embedding:{fault}")).model_error(), Some(error));
        }
        for fault in ["timeout", "latency", "cut-stream", "broken-arguments"] {
            let kind = kind(&format!("model:m:{fault}"));
            assert_eq!(kind.model_outcome(Chance::new(1)), None, "{fault}");
        }
        let outcome = |text: &str| kind(text).model_outcome(Chance::new(1)).unwrap().unwrap();
        assert_eq!(outcome("model:m:empty").text, "");
        assert_eq!(outcome("model:m:garbage").text.len(), 40);
    }

    #[test]
    fn a_cut_stream_keeps_the_part_that_came() {
        let kind = kind("role:actor:cut-stream");
        for seed in 0..50 {
            let error = kind.spoil_reply(reply("äöü ß", &[]), Chance::new(seed)).unwrap_err();
            assert_eq!(error.kind, ModelErrorKind::BadAnswer);
            assert!("äöü ß".starts_with(&error.partial), "{error:?}");
            assert!((1..5).contains(&error.partial.chars().count()), "{error:?}");
        }
        for short in ["", "a"] {
            let error = kind.spoil_reply(reply(short, &[]), Chance::new(1)).unwrap_err();
            assert_eq!(error.partial, "");
        }
    }

    #[test]
    fn broken_arguments_are_json_cut_off_in_one_call_of_several() {
        let kind = kind("role:actor:broken-arguments");
        let meant = [json!({"city": "Köln"}), json!({})];
        let mut broken = [0, 0];
        for seed in 0..50 {
            let whole = reply("so", &meant);
            let spoiled = kind.spoil_reply(whole.clone(), Chance::new(seed)).unwrap();
            assert_eq!((&spoiled.text, spoiled.usage), (&whole.text, whole.usage));
            let is_broken = |i: &usize| spoiled.calls[*i].arguments != meant[*i];
            let which: Vec<usize> = (0..2).filter(is_broken).collect();
            assert_eq!(which.len(), 1);
            broken[which[0]] += 1;
            let left = spoiled.calls[which[0]].arguments.as_str().unwrap();
            assert!(meant[which[0]].to_string().starts_with(left) && !left.is_empty());
            assert!(serde_json::from_str::<Value>(left).is_err(), "{left}");
        }
        assert!(broken.iter().all(|times| *times > 5), "{broken:?}");
        let without = reply("no calls", &[]);
        assert_eq!(kind.spoil_reply(without.clone(), Chance::new(1)), Ok(without));
    }

    #[test]
    fn other_kinds_leave_a_real_answer_as_it_is() {
        let whole = reply("so", &[json!({"a": 1})]);
        for kind in FaultKind::ALL {
            if !matches!(kind, FaultKind::CutStream | FaultKind::BrokenArguments) {
                assert_eq!(kind.spoil_reply(whole.clone(), Chance::new(1)), Ok(whole.clone()));
            }
        }
    }
}
