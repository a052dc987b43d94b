//! Describes what an endpoint does with tools, and gives advice.

use super::{Behaviour, Server};
use crate::domain::words::{clipped, counted};

/// Characters of an answer or of an error that are shown.
const SHOWN: usize = 160;

/// A window below this is too short for an agent: prompt, tools, results and answers share it.
const LEAST: u64 = 4096;

/// Tokens that a first step needs besides the tools: for the prompt, the task, some results and the answer.
const ROOM: u64 = 2048;

/// A finding of a trial in words, with advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// Whether a session would work as intended.
    pub is_well: bool,
    pub text: String,
    pub advice: Option<String>,
}

impl Words {
    fn well(text: impl Into<String>) -> Self {
        Self { is_well: true, text: text.into(), advice: None }
    }

    fn bad(text: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { is_well: false, text: text.into(), advice: Some(advice.into()) }
    }
}

/// The setting that makes toolyard read calls from text.
const AS_TEXT: &str = "set `tools = \"text\"` for this model";

/// Describes the behaviour for the person who runs this server, with advice.
pub fn words(behaviour: &Behaviour, server: Server) -> Words {
    let calls = server.for_calls();
    match behaviour {
        Behaviour::Native => Words::well("native tool calls"),
        Behaviour::Text => Words::well("tool calls as text, as set"),
        Behaviour::CallAsText => Words::bad(
            format!(
                "tool calls arrive as text: {} did not find the call in the answer",
                server.name()
            ),
            format!("{calls}; or {AS_TEXT}"),
        ),
        Behaviour::OtherTool { name } => Words::bad(
            format!("called {:?}, which was not offered", clipped(name, 60)),
            "use a larger model, or one that is trained for tool calls",
        ),
        Behaviour::Dropped { counted, sent } => Words::bad(
            format!("the tools are dropped: it counted {counted} tokens, about {sent} were sent"),
            format!("{calls}; or {AS_TEXT}"),
        ),
        Behaviour::Cut { counted, sent } => Words::bad(
            format!(
                "the context is too short: it counted {counted} tokens, about {sent} were sent"
            ),
            server.for_window(),
        ),
        Behaviour::TooLong { why } => Words::bad(
            format!("the context is too short for one tool: {}", clipped(why, SHOWN)),
            server.for_window(),
        ),
        Behaviour::NoTools { why } => Words::bad(
            format!("refuses tools: {}", clipped(why, SHOWN)),
            format!("{calls}; or {AS_TEXT}"),
        ),
        Behaviour::NoCall { answer } => Words::bad(
            format!("answers without a tool call: {:?}", clipped(answer, SHOWN)),
            format!("{AS_TEXT}; if that does not help, use a model that is trained for tool calls"),
        ),
        Behaviour::Unfinished => Words::bad(
            "the answer reached its limit before a tool call",
            "a model that thinks for long needs a higher `max_tokens` of its role",
        ),
        Behaviour::Late { why } => Words::bad(
            format!("no tool call in time: {}", clipped(why, SHOWN)),
            "the model may still be loading: try again; a smaller model answers faster",
        ),
        Behaviour::Failed { why } => {
            Words::bad(format!("the trial failed: {}", clipped(why, SHOWN)), "see the server's log")
        }
    }
}

/// Describes whether a window of `window` tokens is large enough for tools of `tools` tokens.
pub fn of_window(window: u64, tools: u64, server: Server) -> Words {
    let need = LEAST.max(tools.saturating_add(ROOM));
    let text = format!("a window of {}", counted(window, "token"));
    if window >= need {
        return Words::well(text);
    }
    let beside = match tools {
        0 => String::new(),
        tools => format!(", and the tools of the workspace are about {tools}"),
    };
    let text = format!("the context is too short: {text}{beside}; {need} or more are needed");
    Words::bad(text, server.for_window())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVERS: [Server; 5] =
        [Server::LlamaCpp, Server::Ollama, Server::LmStudio, Server::Vllm, Server::Other];

    #[test]
    fn a_template_at_fault_is_said_with_the_switch_of_its_server() {
        let switches = ["--jinja", "ollama show", "LM Studio", "--tool-call-parser", "template"];
        for (server, switch) in SERVERS.into_iter().zip(switches) {
            for behaviour in [Behaviour::CallAsText, Behaviour::Dropped { counted: 60, sent: 350 }]
            {
                let said = words(&behaviour, server);
                let advice = said.advice.unwrap_or_default();
                assert!(advice.contains(switch) && advice.contains(AS_TEXT), "{advice}");
                assert!(!said.is_well && !said.text.is_empty());
            }
        }
        assert_eq!(words(&Behaviour::Native, Server::Vllm), Words::well("native tool calls"));
    }

    #[test]
    fn a_window_is_too_short_for_an_agent_or_for_its_tools() {
        let switches =
            ["-c 16384", "OLLAMA_CONTEXT_LENGTH", "Context Length", "--max-model-len", "16384"];
        for (server, switch) in SERVERS.into_iter().zip(switches) {
            let said = of_window(2048, 0, server);
            assert!(
                said.text.starts_with("the context is too short: a window of 2048 tokens; 4096")
            );
            assert!(said.advice.unwrap_or_default().contains(switch));
        }
        assert!(of_window(4096, 1000, Server::Ollama).is_well);
        let tools = of_window(8192, 7000, Server::Ollama);
        assert!(
            tools.text.ends_with("tools of the workspace are about 7000; 9048 or more are needed")
        );
    }
}
