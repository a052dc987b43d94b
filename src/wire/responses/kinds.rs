//! The types of items and of the parts of their contents.

use crate::domain::blocks::BlockKind;
use crate::domain::{ReplySource, ToolCall};

/// Items that the endpoint wrote itself, or that only it understands.
const SERVER: [&str; 17] = [
    "web_search_call",
    "file_search_call",
    "computer_call",
    "code_interpreter_call",
    "image_generation_call",
    "mcp_call",
    "mcp_list_tools",
    "mcp_approval_request",
    "mcp_approval_response",
    "tool_search_call",
    "tool_search_output",
    "local_shell_call",
    "shell_call",
    "apply_patch_call",
    "program",
    "program_output",
    "item_reference",
];
/// Items with which a client answers calls that are not functions.
const OBSERVATIONS: [&str; 4] = [
    "computer_call_output",
    "local_shell_call_output",
    "shell_call_output",
    "apply_patch_call_output",
];
/// Items with thoughts, or with a past that only the endpoint can read.
const THOUGHTS: [&str; 3] = ["reasoning", "compaction", "compaction_summary"];

/// A call that the client runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClientCallKind {
    /// A call whose arguments are JSON.
    Function,
    /// A call whose input is any text.
    Custom,
}

impl ClientCallKind {
    pub fn of(kind: &str) -> Option<Self> {
        [ClientCallKind::Function, ClientCallKind::Custom]
            .into_iter()
            .find(|call| call.kind() == kind)
    }

    /// The kind of call that an item of this type is the result of.
    pub fn of_output(kind: &str) -> Option<Self> {
        [ClientCallKind::Function, ClientCallKind::Custom]
            .into_iter()
            .find(|call| call.output() == kind)
    }

    /// The kind of a call on the wire. It is in the endpoint's fields, since a tool call has no field for it.
    pub fn of_call(call: &ToolCall, source: Option<&ReplySource>) -> Self {
        let fields = source.and_then(|source| source.calls.get(&call.id));
        let kind = fields.and_then(|fields| fields.get("type")).and_then(|kind| kind.as_str());
        kind.and_then(ClientCallKind::of).unwrap_or(ClientCallKind::Function)
    }

    pub fn kind(self) -> &'static str {
        match self {
            ClientCallKind::Function => "function_call",
            ClientCallKind::Custom => "custom_tool_call",
        }
    }

    pub fn output(self) -> &'static str {
        match self {
            ClientCallKind::Function => "function_call_output",
            ClientCallKind::Custom => "custom_tool_call_output",
        }
    }

    /// The field with the tool's input.
    pub fn input(self) -> &'static str {
        match self {
            ClientCallKind::Function => "arguments",
            ClientCallKind::Custom => "input",
        }
    }

    /// Whether this field of a call has its own place in a tool call, or is of no use later.
    pub fn defines(self, field: &str) -> bool {
        field == self.input() || ["type", "id", "call_id", "name", "status"].contains(&field)
    }
}

/// The kind of block for an item that is neither a message nor a call or result of the client.
pub(super) fn of_item(kind: &str) -> BlockKind {
    match kind {
        kind if THOUGHTS.contains(&kind) => BlockKind::Thinking,
        kind if SERVER.contains(&kind) || is_observation(kind) => BlockKind::Server,
        _ => BlockKind::Unknown,
    }
}

/// Whether a client answers a call that is not a function with such an item.
pub(super) fn is_observation(kind: &str) -> bool {
    OBSERVATIONS.contains(&kind)
}

/// The kind of block for a part of a content that is not a text.
pub(super) fn of_part(kind: &str) -> BlockKind {
    match kind {
        "input_image" | "computer_screenshot" => BlockKind::Image,
        "input_file" => BlockKind::Document,
        "input_audio" => BlockKind::Audio,
        _ => BlockKind::Unknown,
    }
}

/// The field with the text of a part of this type.
pub(super) fn text_field(kind: &str) -> Option<&'static str> {
    match kind {
        "input_text" | "output_text" | "text" | "reasoning_text" | "summary_text" => Some("text"),
        "refusal" => Some("refusal"),
        _ => None,
    }
}
