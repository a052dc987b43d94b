//! Answers to calls: reads the server's, and writes those that replace them.

use serde_json::{Value, json};

use super::message::{CallRequest, Id, Message, parts, read};
use super::structure::Structure;
use crate::client::answer;
use crate::tool::foreign_calls::Returned;
use crate::tool::output::{MAX_OUTPUT, bounded};
use crate::tool::{ToolError, ToolErrorKind, ToolOutput};

/// The codes that clients themselves use for a timeout, and for a server that is gone.
const TIMED_OUT: i32 = -32001;
const CLOSED: i32 = -32000;
/// The code for wrong parameters, such as the name of a tool.
const UNKNOWN: i32 = -32602;
/// The code for a request that is not served in this form.
const INVALID: i32 = -32600;

/// Reads a server's answer as the tool result that a model gets.
pub fn returned(message: &Message<'_>) -> Returned {
    if let Some(result) = message.result {
        return match serde_json::from_str(result.get()).map(answer::read) {
            Ok(Ok(read)) => {
                answer::output(&read, None).map(|output| with_whole(output, result.get()))
            }
            // The result may have another form, such as a question to the user.
            _ => Ok(bounded(result.get(), MAX_OUTPUT)),
        };
    }
    let error = message.error.map_or("null", |error| error.get());
    let said = serde_json::from_str::<Value>(error).unwrap_or_default();
    let text = said.get("message").and_then(Value::as_str).unwrap_or(error);
    Err(ToolError::new(ToolErrorKind::Failed, bounded(text, MAX_OUTPUT).text))
}

/// The output with the whole result, unless its text says all of it, or the result is large.
fn with_whole(output: ToolOutput, result: &str) -> ToolOutput {
    let is_text = serde_json::from_str::<Value>(result).is_ok_and(|result| {
        result == json!({ "content": [{ "type": "text", "text": output.text }] })
    });
    let whole = (!is_text && result.len() <= MAX_OUTPUT).then(|| result.into());
    ToolOutput { whole, ..output }
}

/// The line of an answer with the result of a session, in the server's own form if that is known.
pub fn recorded(asked: &CallRequest, returned: &Returned, structure: &Structure) -> Vec<u8> {
    match returned.as_ref().ok().and_then(|output| output.whole.as_deref()) {
        Some(whole) => result(&asked.id, whole),
        None => line(asked, returned, structure),
    }
}

/// The line of an answer with a result.
pub fn result(id: &Id, result: &str) -> Vec<u8> {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{result}}}\n", id.raw).into_bytes()
}

/// The line of an answer that replaces the server's. A failure is a result with an error, which clients show to the
/// model; without an answer, it is the error that clients use for that.
pub fn line(asked: &CallRequest, returned: &Returned, structure: &Structure) -> Vec<u8> {
    let (text, failed) = match returned {
        Ok(output) => (&output.text, false),
        Err(error) => match error.kind {
            ToolErrorKind::Timeout => return refusal(asked, TIMED_OUT, &error.text),
            ToolErrorKind::Unavailable => return refusal(asked, CLOSED, &error.text),
            _ => (&error.text, true),
        },
    };
    let mut result = json!({ "content": [{ "type": "text", "text": text }] });
    if failed {
        result["isError"] = true.into();
    }
    if let Some(content) = structure.content(text).filter(|_| !failed) {
        result["structuredContent"] = content;
    }
    if asked.is_stateless {
        result["resultType"] = "complete".into();
    }
    self::result(&asked.id, &result.to_string())
}

fn refusal(asked: &CallRequest, code: i32, text: &str) -> Vec<u8> {
    error(&asked.id, code, text).into_bytes()
}

/// The line of an answer with an error.
pub fn error(id: &Id, code: i32, text: &str) -> String {
    let error = json!({ "code": code, "message": text });
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"error\":{error}}}\n", id.raw)
}

/// The answer to a call of a tool that the server does not offer, as official servers write it.
pub fn unknown(id: &Id, tool: &str) -> Vec<u8> {
    error(id, UNKNOWN, &format!("Unknown tool: {tool}")).into_bytes()
}

/// The answer to a list of requests, none of which the server gets.
pub fn refused(list: &[u8], why: &str) -> Vec<u8> {
    let ids = parts(list).into_iter().filter_map(|part| read(&list[part])?.1.id());
    let errors: Vec<_> = ids.map(|id| error(&id, INVALID, why)).collect();
    format!("[{}]\n", errors.join(",").replace('\n', "")).into_bytes()
}

/// The line that tells a server that no client waits for its answer any longer.
pub fn cancel(asked: &CallRequest) -> Vec<u8> {
    let params = format!("{{\"requestId\":{},\"reason\":\"cancelled by toolyard\"}}", asked.id.raw);
    let method = "\"method\":\"notifications/cancelled\"";
    format!("{{\"jsonrpc\":\"2.0\",{method},\"params\":{params}}}\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(line: &str) -> CallRequest {
        let (text, message) = read(line.as_bytes()).unwrap();
        message.call(text).unwrap()
    }

    #[test]
    fn an_answer_is_what_clients_read() {
        let call = asked("{\"id\":\"x\",\"method\":\"tools/call\",\"params\":{\"name\":\"t\"}}");
        let json = |returned: &Returned, structure: Structure| {
            serde_json::from_slice::<Value>(&line(&call, returned, &structure)).unwrap()
        };
        let output = |text: &str| Ok(ToolOutput::of(text));
        let failed = |kind| Err(ToolError::new(kind, "no"));
        let told = json(&output("a\nb"), Structure::Object);
        assert_eq!(told["result"], json!({"content": [{"type": "text", "text": "a\nb"}]}));
        assert_eq!(
            json(&output("{\"a\":1}"), Structure::Object)["result"]["structuredContent"]["a"],
            1
        );
        assert_eq!(
            json(&failed(ToolErrorKind::Failed), Structure::None)["result"]["isError"],
            true
        );
        assert_eq!(json(&failed(ToolErrorKind::Timeout), Structure::None)["error"]["code"], -32001);
        assert_eq!(json(&failed(ToolErrorKind::Unavailable), Structure::None)["id"], "x");
    }

    #[test]
    fn what_a_server_says_is_read() {
        let said = |line: &str| returned(&read(line.as_bytes()).unwrap().1);
        let ok = said("{\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]}}");
        assert_eq!(ok.unwrap().text, "hi");
        let error = said("{\"id\":1,\"error\":{\"code\":-32602,\"message\":\"no such tool\"}}");
        assert_eq!(error.unwrap_err().text, "no such tool");
        assert!(said("{\"id\":1,\"result\":{\"resultType\":\"input_required\"}}").is_ok());
    }
}
