//! A server that says what another one said in a session.

use serde_json::{Value, json};

use super::answer;
use super::message::{CallRequest, Message, read};
use super::structure::Structure;
use crate::domain::ToolSpec;
use crate::domain::words::clipped;
use crate::tool::foreign_calls::Returned;
use crate::tool::{ToolError, ToolErrorKind};

/// The revision of the protocol, if the client asks for none.
const REVISION: &str = "2025-06-18";
/// The code for a method that a server does not have.
const NO_METHOD: i32 = -32601;
/// The most characters of arguments that an error shows.
const SHOWN: usize = 300;

/// A call of the session.
#[derive(Clone, Debug)]
pub struct RecordedCall {
    /// The server's own name of the tool.
    pub tool: String,
    pub arguments: Value,
    pub returned: Returned,
}

/// The answers of a server in a session. A call gets the next recorded result of the same tool with the same arguments.
pub struct RecordedServer {
    name: String,
    tools: Vec<ToolSpec>,
    calls: Vec<(RecordedCall, bool)>,
}

impl RecordedServer {
    /// The server of this name, with its tools by its own names, and its calls in their order.
    pub fn new(name: String, tools: Vec<ToolSpec>, calls: Vec<RecordedCall>) -> Self {
        Self { name, tools, calls: calls.into_iter().map(|call| (call, false)).collect() }
    }

    /// The answer to a line of a client; `None` if it needs none.
    pub fn answer(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        let (text, message) = read(line)?;
        if let Some(asked) = message.call(text) {
            return Some(self.call(&asked));
        }
        let (id, method) = (message.id()?, message.method.as_deref()?);
        let result = match method {
            "initialize" => self.greeting(&message),
            "ping" => json!({}),
            "tools/list" => json!({ "tools": self.tools.iter().map(listed).collect::<Vec<_>>() }),
            _ => {
                let why = format!("a recorded server has no {}", clipped(method, SHOWN));
                return Some(answer::error(&id, NO_METHOD, &why).into_bytes());
            }
        };
        Some(answer::result(&id, &result.to_string()))
    }

    fn greeting(&self, message: &Message<'_>) -> Value {
        let asked = message.parameters();
        let revision = asked.get("protocolVersion").and_then(Value::as_str).unwrap_or(REVISION);
        let server = json!({ "name": self.name, "version": "recorded" });
        json!({ "protocolVersion": revision, "capabilities": { "tools": {} }, "serverInfo": server })
    }

    fn call(&mut self, asked: &CallRequest) -> Vec<u8> {
        let is_same =
            |call: &RecordedCall| call.tool == asked.tool && call.arguments == asked.arguments;
        let next = self.calls.iter_mut().find(|(call, is_used)| !is_used && is_same(call));
        let schema = self.tools.iter().find(|tool| tool.name.as_str() == asked.tool);
        let schema = schema.and_then(|tool| Some(&tool.returns.as_ref()?.schema));
        let structure = Structure::of_schema(schema);
        if let Some((call, is_used)) = next {
            *is_used = true;
            return answer::recorded(asked, &call.returned, &structure);
        }
        let why = ToolError::new(ToolErrorKind::Failed, self.unknown(asked));
        answer::line(asked, &Err(why), &structure)
    }

    /// Why a call has no recorded result, with the nearest call that has one.
    fn unknown(&self, asked: &CallRequest) -> String {
        let shown = |tool: &str, arguments: &Value| {
            format!("{tool} {}", clipped(&arguments.to_string(), SHOWN))
        };
        let this = shown(&clipped(&asked.tool, SHOWN), &asked.arguments);
        let of_tool = self.calls.iter().filter(|(call, _)| call.tool == asked.tool);
        let of_tool =
            of_tool.map(|(call, _)| (differences(&call.arguments, &asked.arguments), call));
        let Some((apart, nearest)) = of_tool.min_by_key(|(apart, _)| apart.len()) else {
            let mut tools: Vec<_> = self.calls.iter().map(|(call, _)| call.tool.as_str()).collect();
            tools.sort_unstable();
            tools.dedup();
            let tools = clipped(&tools.join(", "), SHOWN);
            return format!("not recorded: {this}. The session has calls of: {tools}");
        };
        if apart.is_empty() {
            return format!("not recorded so often: {this}. Each recorded result is given once");
        }
        let nearest = shown(&nearest.tool, &nearest.arguments);
        let apart = clipped(&apart.join(", "), SHOWN);
        format!("not recorded: {this}. The nearest recorded call is {nearest}; {apart} differs")
    }
}

/// The names of the arguments that differ.
fn differences(one: &Value, other: &Value) -> Vec<String> {
    let (Some(one), Some(other)) = (one.as_object(), other.as_object()) else {
        return if one == other {
            Vec::new()
        } else {
            vec!["the form of the arguments".to_owned()]
        };
    };
    let names = one.keys().chain(other.keys().filter(|name| !one.contains_key(*name)));
    names.filter(|name| one.get(*name) != other.get(*name)).cloned().collect()
}

fn listed(tool: &ToolSpec) -> Value {
    let mut listed = json!({
        "name": tool.name.as_str(),
        "description": tool.description,
        "inputSchema": tool.parameters,
    });
    if let Some(returns) = &tool.returns {
        listed["outputSchema"] = returns.schema.clone();
    }
    listed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Definition;
    use crate::domain::ToolName;
    use crate::tool::ToolOutput;

    fn server() -> RecordedServer {
        let tool = json!({"name": "weather", "description": "Weather", "inputSchema": {"type": "object"},
            "outputSchema": {"type": "object", "properties": {"result": {"type": "string"}}}});
        let tool = Definition::of(&serde_json::from_value(tool).unwrap());
        let spec = tool.spec(ToolName::new("weather"), "w");
        let call = |city: &str, returned: Returned| {
            let arguments = json!({"city": city, "unit": "C"});
            RecordedCall { tool: "weather".into(), arguments, returned }
        };
        let whole = "{\"content\":[{\"type\":\"image\",\"data\":\"AA\",\"mimeType\":\"i\"}]}";
        let image = ToolOutput { whole: Some(whole.into()), ..ToolOutput::of("[image i]") };
        let failed = ToolError::new(ToolErrorKind::Failed, "no such city");
        let calls = [
            call("Oslo", Ok(ToolOutput::of("rain"))),
            call("Rome", Err(failed)),
            call("Oslo", Ok(image)),
        ];
        RecordedServer::new("w".into(), vec![spec], calls.to_vec())
    }

    fn said(server: &mut RecordedServer, method: &str, params: Value) -> Value {
        let line = json!({"jsonrpc": "2.0", "id": "a", "method": method, "params": params});
        let line = server.answer(line.to_string().as_bytes()).unwrap();
        let said: Value = serde_json::from_slice(&line).unwrap();
        assert_eq!((&said["id"], &said["jsonrpc"]), (&json!("a"), &json!("2.0")));
        assert!(line.ends_with(b"}\n") && line.iter().filter(|byte| **byte == b'\n').count() == 1);
        said
    }

    #[test]
    fn a_client_is_greeted_and_reads_the_list() {
        let mut server = server();
        let hello = said(&mut server, "initialize", json!({"protocolVersion": "2024-11-05"}));
        assert_eq!(hello["result"]["protocolVersion"], "2024-11-05");
        assert_eq!(
            said(&mut server, "initialize", Value::Null)["result"]["protocolVersion"],
            REVISION
        );
        assert_eq!(said(&mut server, "ping", json!({}))["result"], json!({}));
        let list = said(&mut server, "tools/list", json!({}));
        let tool = &list["result"]["tools"][0];
        assert_eq!((&tool["name"], &tool["description"]), (&json!("weather"), &json!("Weather")));
        assert_eq!(tool["outputSchema"]["type"], "object");
        assert_eq!(said(&mut server, "server/discover", json!({}))["error"]["code"], NO_METHOD);
        assert_eq!(server.answer(b"{\"method\":\"notifications/initialized\"}"), None);
        assert_eq!(server.answer(b"stray"), None);
    }

    #[test]
    fn calls_that_repeat_get_their_results_in_order_and_others_the_nearest_call() {
        let mut server = server();
        let mut call = |tool: &str, arguments: Value| {
            let params = json!({"name": tool, "arguments": arguments});
            said(&mut server, "tools/call", params)["result"].take()
        };
        let oslo = json!({"unit": "C", "city": "Oslo"});
        let rain = call("weather", oslo.clone());
        assert_eq!(rain["content"][0]["text"], "rain");
        assert_eq!(rain["structuredContent"], json!({"result": "rain"}));
        assert_eq!(call("weather", oslo.clone())["content"][0]["type"], "image");
        let rome = call("weather", json!({"city": "Rome", "unit": "C"}));
        assert_eq!(
            (&rome["isError"], &rome["content"][0]["text"]),
            (&json!(true), &json!("no such city"))
        );
        let mut why = |tool: &str, arguments: Value| {
            let unknown = call(tool, arguments);
            assert_eq!(unknown["isError"], true);
            unknown["content"][0]["text"].as_str().unwrap().to_owned()
        };
        let text = why("weather", oslo);
        assert!(text.starts_with("not recorded so often: weather {"), "{text}");
        let text = why("weather", json!({"city": "Rome", "unit": "F"}));
        assert!(
            text.contains("nearest recorded call is weather {\"city\":\"Rome\"")
                && text.ends_with("; unit differs"),
            "{text}"
        );
        let text = why("whether", json!({}));
        assert!(
            text.starts_with("not recorded: whether {}. The session has calls of: weather"),
            "{text}"
        );
    }
}
