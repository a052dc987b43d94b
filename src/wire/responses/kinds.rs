//! The types of items and of the parts of their contents.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::asked::SpotForm;
use crate::domain::blocks::BlockKind;
use crate::domain::{ReplySource, ToolCall};
use crate::node::JsonFields;

/// Items that the endpoint wrote itself, or that only it understands.
const SERVER: [&str; 16] = [
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "mcp_call",
    "mcp_list_tools",
    "mcp_approval_request",
    "mcp_approval_response",
    "tool_search_call",
    "tool_search_output",
    "shell_call",
    "shell_call_output",
    "compaction_trigger",
    "program",
    "program_output",
    "item_reference",
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
    LocalShell,
    /// Commands, which an endpoint may also run in a container of its own.
    Shell,
    ApplyPatch,
    Computer,
    /// A search for tools, which an endpoint may also make itself.
    ToolSearch,
}

impl ClientCallKind {
    const ALL: [Self; 7] = [
        ClientCallKind::Function,
        ClientCallKind::Custom,
        ClientCallKind::LocalShell,
        ClientCallKind::Shell,
        ClientCallKind::ApplyPatch,
        ClientCallKind::Computer,
        ClientCallKind::ToolSearch,
    ];

    pub fn of(kind: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|call| call.kind() == kind)
    }

    /// The kind of an item of this type with these fields, if the client runs it.
    pub fn of_value(kind: &str, fields: &Map<String, Value>) -> Option<Self> {
        let text = |value: Option<&'_ Value>| value.and_then(Value::as_str).map(str::to_owned);
        let environment = fields.get("environment").and_then(|environment| environment.get("type"));
        let place = text(fields.get("execution")).or_else(|| text(environment));
        Self::of(kind)?.unless_at(place.as_deref())
    }

    /// The kind of an item, if the client runs it.
    pub fn of_fields(fields: &JsonFields<'_>) -> Option<Self> {
        Self::of(&fields.string("type")?)?.unless_at(place(fields).as_deref())
    }

    /// The kind of call that an item is the client's result of.
    pub fn of_output(fields: &JsonFields<'_>) -> Option<Self> {
        let kind = fields.string("type")?;
        let call = Self::ALL.into_iter().find(|call| call.output() == kind)?;
        call.unless_at(place(fields).as_deref())
    }

    /// The same kind, unless the endpoint runs the call, as the place of its execution says.
    fn unless_at(self, place: Option<&str>) -> Option<Self> {
        let is_elsewhere = match self {
            ClientCallKind::ToolSearch => place != Some("client"),
            ClientCallKind::Shell => place.is_some_and(|place| place.starts_with("container")),
            _ => false,
        };
        (!is_elsewhere).then_some(self)
    }

    /// The kind of a call on the wire. It is in the endpoint's fields, since a tool call has no field for it.
    pub fn of_call(call: &ToolCall, source: Option<&ReplySource>) -> Self {
        let fields = source.and_then(|source| source.calls.get(&call.id));
        let kind = fields.and_then(|fields| fields.get("type")).and_then(|kind| kind.as_str());
        kind.and_then(ClientCallKind::of).unwrap_or(ClientCallKind::Function)
    }

    /// The types of the item and of its result, its fields with the tool's input, the tool if the item does not name one,
    /// and the beginning of ids.
    const fn words(
        self,
    ) -> (&'static str, &'static str, &'static [&'static str], &'static str, &'static str) {
        match self {
            ClientCallKind::Function => {
                ("function_call", "function_call_output", &["arguments"], "", "fc")
            }
            ClientCallKind::Custom => {
                ("custom_tool_call", "custom_tool_call_output", &["input"], "", "ctc")
            }
            ClientCallKind::LocalShell => {
                ("local_shell_call", "local_shell_call_output", &["action"], "local_shell", "lsh")
            }
            ClientCallKind::Shell => {
                ("shell_call", "shell_call_output", &["action"], "shell", "sh")
            }
            ClientCallKind::ApplyPatch => (
                "apply_patch_call",
                "apply_patch_call_output",
                &["operation"],
                "apply_patch",
                "apc",
            ),
            ClientCallKind::Computer => {
                ("computer_call", "computer_call_output", &["action", "actions"], "computer", "cu")
            }
            ClientCallKind::ToolSearch => {
                ("tool_search_call", "tool_search_output", &["arguments"], "tool_search", "tsc")
            }
        }
    }

    pub fn kind(self) -> &'static str {
        self.words().0
    }

    pub fn output(self) -> &'static str {
        self.words().1
    }

    /// The field of a result with what the tool returned, and its form.
    pub fn result(self) -> (&'static str, SpotForm) {
        match self {
            ClientCallKind::Shell => ("output", SpotForm::Shell),
            ClientCallKind::ApplyPatch => ("output", SpotForm::Output),
            ClientCallKind::Computer => ("output", SpotForm::Screenshot),
            ClientCallKind::ToolSearch => ("tools", SpotForm::Tools),
            _ => ("output", SpotForm::Content),
        }
    }

    /// The field with the tool's input, of those that an item has.
    pub fn input(self, has: impl Fn(&str) -> bool) -> &'static str {
        let fields = self.words().2;
        fields.iter().find(|field| has(field)).or(fields.first()).copied().unwrap_or_default()
    }

    /// The field for this input. A computer takes one action, or a list of them.
    pub fn input_for(self, arguments: &Value) -> &'static str {
        self.input(|name| !arguments.is_array() || name == "actions")
    }

    /// Whether the input is an object rather than a text.
    pub fn takes_object(self) -> bool {
        !matches!(self, ClientCallKind::Function | ClientCallKind::Custom)
    }

    /// The tool of a call whose item does not name it.
    pub fn tool(self) -> Option<&'static str> {
        Some(self.words().3).filter(|tool| !tool.is_empty())
    }

    /// The beginning of the ids of such items.
    pub fn prefix(self) -> &'static str {
        self.words().4
    }

    /// Whether this field of a call has its own place in a tool call, or is of no use later.
    pub fn defines(self, field: &str) -> bool {
        let own = ["type", "id", "call_id", "name", "status"];
        self.words().2.contains(&field) || own.contains(&field)
    }
}

/// The place in which a call runs, if the item says so.
fn place<'a>(fields: &JsonFields<'a>) -> Option<Cow<'a, str>> {
    let environment = || fields.fields("environment")?.string("type");
    fields.string("execution").or_else(environment)
}

/// The kind of block for an item that is neither a message nor a call or result of the client.
pub(super) fn of_item(kind: &str) -> BlockKind {
    match kind {
        kind if THOUGHTS.contains(&kind) => BlockKind::Thinking,
        kind if SERVER.contains(&kind) => BlockKind::Server,
        _ => BlockKind::Unknown,
    }
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::WireFormat;
    use crate::domain::{Message, Reply, Request, Role};
    use crate::{Feed, IncomingRequest, Report, changed, patch};

    const FORMAT: WireFormat = WireFormat::Responses;

    /// A call and its result, as the vendor's client has them.
    fn samples() -> [(Value, Value); 5] {
        let patched = json!({"type": "update_file", "path": "a", "diff": "@@\n-1\n+2"});
        [
            (
                json!({"type": "local_shell_call", "id": "i", "call_id": "c", "status": "completed",
                    "action": {"type": "exec", "command": ["ls", "-l"], "env": {}}}),
                json!({"type": "local_shell_call_output", "call_id": "c", "output": "a.txt"}),
            ),
            (
                json!({"type": "shell_call", "id": "i", "call_id": "c", "status": "completed",
                    "action": {"commands": ["ls"], "timeout_ms": 9}, "environment": {"type": "local"}}),
                json!({"type": "shell_call_output", "call_id": "c", "max_output_length": 9, "output": [
                    {"stdout": "a.txt", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]}),
            ),
            (
                json!({"type": "apply_patch_call", "id": "i", "call_id": "c", "status": "completed",
                    "operation": patched}),
                json!({"type": "apply_patch_call_output", "call_id": "c", "status": "completed"}),
            ),
            (
                json!({"type": "computer_call", "id": "i", "call_id": "c", "status": "completed",
                    "pending_safety_checks": [], "action": {"type": "type", "text": "Hello"}}),
                json!({"type": "computer_call_output", "call_id": "c", "output":
                    {"type": "computer_screenshot", "image_url": "data:image/png;base64,AAAA"}}),
            ),
            (
                json!({"type": "tool_search_call", "id": "i", "call_id": "c", "status": "completed",
                    "execution": "client", "arguments": {"query": "weather"}}),
                json!({"type": "tool_search_output", "call_id": "c", "execution": "client", "tools": [
                    {"type": "function", "name": "weather", "parameters": {}}]}),
            ),
        ]
    }

    fn asked(items: &[&Value]) -> (String, IncomingRequest) {
        let body = json!({"input": items}).to_string();
        let asked = FORMAT.read_request(body.as_bytes()).unwrap();
        (body, asked)
    }

    fn answered(bytes: &[u8]) -> Reply {
        let mut feed = Feed::new(FORMAT.begin(&Arc::default(), Report::default()));
        feed.feed(bytes, &mut |_| {}).unwrap();
        feed.end(&mut |_| {}).unwrap().reply(&Request::new(Role::Actor, Vec::new()), "e").0
    }

    /// The answer with this item: whole, and as the vendor streams it.
    fn answers(item: &Value) -> [String; 2] {
        let whole =
            json!({"id": "r", "object": "response", "status": "completed", "output": [item]});
        let mut begun = item.clone();
        begun["status"] = "in_progress".into();
        let more =
            |kind: &str| json!({"type": kind, "output_index": 0, "command_index": 0, "delta": "l"});
        let events = [
            json!({"type": "response.created", "response": {"id": "r", "output": []}}),
            json!({"type": "response.output_item.added", "output_index": 0, "item": begun}),
            more("response.shell_call_command.delta"),
            json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
            json!({"type": "response.completed", "response": whole}),
        ];
        let mut stream = String::new();
        for (at, mut event) in events.into_iter().enumerate() {
            event["sequence_number"] = at.into();
            stream += &format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
        }
        [whole.to_string(), stream]
    }

    #[test]
    fn every_item_that_a_client_answers_is_a_call_with_a_result() {
        for (call, output) in samples() {
            let kind = call["type"].as_str().unwrap();
            let known = ClientCallKind::of(kind).unwrap();
            let arguments = &call[known.input(|name| call.get(name).is_some())];
            let (body, asked) = asked(&[&call, &output]);
            let Message::Assistant { calls, .. } = &asked.request.messages[0] else {
                panic!("{kind}")
            };
            assert_eq!((calls[0].id.as_str(), &calls[0].arguments), ("c", arguments), "{kind}");
            assert_eq!(Some(calls[0].tool.as_str()), known.tool());
            assert_eq!(body[asked.calls[0].range.clone()], arguments.to_string());
            let Message::Tool { id, tool, failed: false, .. } = &asked.request.messages[1] else {
                panic!("{kind}")
            };
            assert_eq!((id.as_str(), tool), ("c", &calls[0].tool));
            assert_eq!(asked.unknown, [].into(), "{kind}");
            for answer in answers(&call) {
                let pieces = answer.lines().filter_map(|line| line.strip_prefix("data: "));
                assert!(
                    FORMAT.has_call(&answer) || pieces.clone().any(|data| FORMAT.has_call(data))
                );
                let reply = answered(answer.as_bytes());
                assert_eq!(reply.calls, calls[..], "{kind}");
                assert_eq!(reply.source.unwrap().calls["c"]["type"], kind);
            }
        }
    }

    #[test]
    fn what_a_result_becomes_is_what_the_endpoint_accepts() {
        for (call, output) in samples() {
            let (body, read) = asked(&[&call, &output]);
            let places = read.results.iter().chain(&read.failures);
            let places: Vec<_> =
                places.map(|spot| (spot.range.clone(), spot.written("503 \"no\"", true))).collect();
            let places: Vec<_> =
                places.iter().map(|(range, new)| (range.clone(), new.as_str())).collect();
            let new = patch(body.as_bytes(), &places).unwrap();
            let new: Value = serde_json::from_slice(&new).unwrap();
            let item = &new["input"][1];
            let exit = json!({"type": "exit", "exit_code": 1});
            match ClientCallKind::of(call["type"].as_str().unwrap()).unwrap() {
                ClientCallKind::Shell => assert_eq!(
                    item["output"],
                    json!([{"stdout": "", "stderr": "503 \"no\"", "outcome": exit}])
                ),
                ClientCallKind::ApplyPatch => {
                    assert_eq!(
                        (&item["status"], &item["output"]),
                        (&"failed".into(), &"503 \"no\"".into())
                    );
                }
                ClientCallKind::Computer => {
                    assert_eq!(item["output"]["type"], "computer_screenshot")
                }
                ClientCallKind::ToolSearch => assert_eq!(item["tools"], json!([])),
                _ => assert_eq!(item["output"], "503 \"no\""),
            }
            let takes_text = read.results[0].form.takes_text();
            let (_, read) = asked(&[&call, item]);
            let text = read.request.messages[1].text();
            assert!(text.contains("503 \"no\"") == takes_text, "{text}");
        }
    }

    #[test]
    fn arguments_are_changed_in_whole_answers_and_in_streams() {
        for (item, _) in samples() {
            for answer in answers(&item) {
                let reply = answered(answer.as_bytes());
                let new = json!({"commands": ["rm -r /"], "type": "exec"});
                let mut calls = reply.calls.clone();
                calls[0].arguments = new.clone();
                let edited = changed(FORMAT, answer.as_bytes(), "", &calls);
                let edited = String::from_utf8(edited).unwrap();
                assert_eq!(answered(edited.as_bytes()).calls, calls, "{edited}");
                assert!(!edited.contains("shell_call_command"), "{edited}");
                let same = changed(FORMAT, answer.as_bytes(), "", &reply.calls);
                assert_eq!(String::from_utf8(same).unwrap(), answer);
                assert!(answered(&changed(FORMAT, answer.as_bytes(), "", &[])).calls.is_empty());
                // A kind of item has only one tool.
                calls[0].tool = "weather".into();
                let other = changed(FORMAT, answer.as_bytes(), "", &calls);
                let other = answered(&other).calls;
                assert_eq!((other[0].tool.as_str(), &other[0].arguments), ("weather", &new));
            }
        }
    }

    #[test]
    fn what_the_endpoint_runs_is_no_call() {
        let hosted = [
            json!({"type": "shell_call", "call_id": "c", "action": {"commands": ["ls"]},
                "environment": {"type": "container_reference", "container_id": "x"}}),
            json!({"type": "tool_search_call", "execution": "server", "arguments": {}}),
            json!({"type": "mcp_approval_request", "id": "c", "name": "x", "arguments": "{}"}),
        ];
        for item in hosted {
            let (_, asked) = asked(&[&item]);
            assert_eq!((asked.calls.len(), asked.unknown.len()), (0, 0), "{item}");
            for answer in answers(&item) {
                let reply = answered(answer.as_bytes());
                assert!(reply.calls.is_empty(), "{item}");
                assert_eq!(reply.source.unwrap().blocks.len(), 1);
            }
        }
    }
}
