//! Messages as servers write them. What is plain is repaired: halves of characters, an object behind other text, an error
//! that is a text, an id of another kind. For an answer that cannot be read, the open request gets an error at once.

use std::collections::{BTreeMap, BTreeSet};

use memchr::{memchr, memmem};
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, ErrorData, Implementation,
    InitializeResult, RequestId, ServerCapabilities, ServerJsonRpcMessage, ServerResult,
};
use serde_json::{Deserializer, Map, Value, json};

use super::answer;
use crate::domain::words::clipped;
use crate::files::safe_text::visible;
use crate::net::known::without_keys;
use crate::wire::{json as lenient, pieces};

/// The code of an error whose server gives none: the message says it all.
pub const NO_CODE: ErrorCode = ErrorCode(0);
/// The most characters of a line that are shown.
const BEGINNING: usize = 200;
/// The most bytes of a line that are looked at for that.
const SHOWN: usize = 4 * BEGINNING;
/// How often an object is looked for in a line, which bounds the time that a hostile line takes.
const TRIES: usize = 32;
/// The most requests that are remembered.
const MOST: usize = 1000;

/// The result that a request expects.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Expected {
    Call,
    Greeting,
    /// A request that stays open as long as the connection, so no answer without an id is its own.
    Subscription,
    Other,
}

/// The requests at one server, as far as its answers need them.
#[derive(Debug, Default)]
pub struct Asked {
    open: BTreeMap<i64, Expected>,
    /// The largest id of a request.
    latest: i64,
    /// Requests that were cancelled: their answers may come late.
    given_up: BTreeSet<i64>,
    /// The last answer that was taken, and the id that it had.
    last: Option<(i64, Value)>,
    /// Whether the server answers requests by their ids; `None` if that is not known yet.
    knows_ids: Option<bool>,
}

/// The request that an answer belongs to.
enum Whose {
    Open(i64),
    /// None any more: it was cancelled, or had its answer. Or nobody can know, and other requests may get theirs.
    Past,
    /// The server does not know ids, so that none of several open requests gets its answer.
    Unknown,
}

impl Asked {
    /// Follows what the client sends.
    pub fn sent(&mut self, message: &ClientJsonRpcMessage) {
        match message {
            ClientJsonRpcMessage::Request(sent) => {
                let RequestId::Number(id) = sent.id else { return };
                let expected = match &sent.request {
                    ClientRequest::CallToolRequest(_) => Expected::Call,
                    // A server that ignored the request before will not answer it any more.
                    ClientRequest::InitializeRequest(_) => {
                        self.open.clear();
                        Expected::Greeting
                    }
                    ClientRequest::SubscriptionsListenRequest(_) => Expected::Subscription,
                    _ => Expected::Other,
                };
                self.open.insert(id, expected);
                self.latest = id.max(self.latest);
                if self.open.len() > MOST {
                    self.open.pop_first();
                }
            }
            ClientJsonRpcMessage::Notification(sent) => {
                let ClientNotification::CancelledNotification(cancelled) = &sent.notification
                else {
                    return;
                };
                if let Some(RequestId::Number(id)) = cancelled.params.request_id {
                    self.forget(id);
                }
            }
            _ => {}
        }
    }

    /// Forgets a request whose answer nobody awaits.
    pub fn forget(&mut self, id: i64) {
        self.open.remove(&id);
        self.given_up.insert(id);
        if self.given_up.len() > MOST {
            self.given_up.pop_first();
        }
    }

    /// The messages of a line; `None` if it has none. What it has belongs to this request, if one is given.
    pub fn read(&mut self, line: &[u8], of: Option<i64>) -> Option<Vec<ServerJsonRpcMessage>> {
        let found = documents(line, of.is_some());
        if found.is_empty() {
            return None;
        }
        Some(found.into_iter().flat_map(|document| self.message(document, of)).collect())
    }

    /// The error that an answer that cannot be read is for the request that it belongs to.
    pub fn unread(&mut self, line: &[u8], of: Option<i64>) -> Option<ServerJsonRpcMessage> {
        let has = |word: &str| memmem::find(line, word.as_bytes()).is_some();
        let ends = has("\"result\"") || has("\"error\"");
        let named = written_id(line).filter(|id| self.open.contains_key(id));
        let is_answer = ends && (has("\"id\"") || has("\"jsonrpc\""));
        // Servers also print requests that they got.
        let is_named = named.is_some() && has("\"jsonrpc\"") && !has("\"method\"");
        (is_answer || is_named).then_some(())?;
        let id = named.or(of.filter(|id| self.open.contains_key(id))).or_else(|| self.only())?;
        self.open.remove(&id);
        Some(failure(id, format!("its answer cannot be read: {}", beginning(line))))
    }

    /// Open requests that may have an answer without their ids.
    fn awaited(&self) -> impl Iterator<Item = i64> {
        let open = self.open.iter();
        open.filter(|(_, expected)| **expected != Expected::Subscription).map(|(id, _)| *id)
    }

    /// The open request, if there is one only.
    fn only(&self) -> Option<i64> {
        let mut open = self.awaited();
        open.next().filter(|_| open.next().is_none())
    }

    fn whose(&mut self, id: Option<i64>, of: Option<i64>, answer: &Value) -> Whose {
        if let Some(id) = id {
            if self.open.contains_key(&id) {
                if self.last.as_ref().is_some_and(|(last, _)| *last != id) {
                    self.knows_ids = Some(true);
                }
                return Whose::Open(id);
            }
            let is_again = || self.last.as_ref().is_some_and(|last| *last == (id, answer.clone()));
            let is_past = id <= self.latest && self.knows_ids.unwrap_or_else(is_again);
            if self.given_up.remove(&id) || is_past {
                return Whose::Past;
            }
            // A server that gives every answer the same id gives it to different answers.
            self.knows_ids = self.knows_ids.or((id <= self.latest).then_some(false));
        }
        match of.filter(|of| self.open.contains_key(of)).or_else(|| self.only()) {
            Some(id) => Whose::Open(id),
            None if self.knows_ids == Some(true) || self.awaited().next().is_none() => Whose::Past,
            None => Whose::Unknown,
        }
    }

    fn message(
        &mut self,
        document: Map<String, Value>,
        of: Option<i64>,
    ) -> Vec<ServerJsonRpcMessage> {
        let mut fields = document;
        if fields.get("method").is_some_and(Value::is_string) {
            fields.insert("jsonrpc".to_owned(), "2.0".into());
            fields.retain(|field, value| field != "id" || !value.is_null());
            // A notification that cannot be read is none that the client needs.
            return serde_json::from_value(fields.into()).into_iter().collect();
        }
        let id = fields.remove("id");
        let answer = Value::Object(fields);
        let number = id.as_ref().and_then(number);
        match self.whose(number, of, &answer) {
            Whose::Past => Vec::new(),
            Whose::Open(open) => {
                let expected = self.open.remove(&open).unwrap_or(Expected::Other);
                let message = answered(open, expected, &answer);
                // An answer is compared only until it is known what ids mean.
                let answer = if self.knows_ids.is_none() { answer } else { Value::Null };
                self.last = number.map(|id| (id, answer));
                vec![message]
            }
            Whose::Unknown => {
                let text = beginning(answer.to_string().as_bytes());
                let id = id.unwrap_or_default();
                let why = format!("its answer has the id {id}, which no open request has: {text}");
                let all: Vec<_> = self.awaited().collect();
                self.open.retain(|id, _| !all.contains(id));
                all.into_iter().map(|id| failure(id, why.clone())).collect()
            }
        }
    }
}

/// The objects of a line that are messages, in their order. Behind other text, a request is one that the server got. In an
/// exchange, an object that names neither request nor protocol is an answer, too.
fn documents(line: &[u8], is_exchange: bool) -> Vec<Map<String, Value>> {
    let is_message = |fields: &Map<String, Value>| {
        let has = |field: &str| fields.contains_key(field);
        let is_answer = has("result") || fields.get("error").is_some_and(|error| !error.is_null());
        let is_named = has("id") || has("jsonrpc") || is_exchange;
        fields.get("method").is_some_and(Value::is_string) || is_answer && is_named
    };
    if let Ok(document) = mended(line) {
        let all = if let Value::Array(all) = document { all } else { vec![document] };
        let objects = all.into_iter().filter_map(|document| match document {
            Value::Object(fields) => Some(fields).filter(is_message),
            _ => None,
        });
        return objects.collect();
    }
    let is_no_request =
        |fields: &Map<String, Value>| !fields.contains_key("method") || !fields.contains_key("id");
    let mut found = Vec::new();
    let mut rest = line;
    let mut tries = 0;
    while let Some(at) = memchr(b'{', rest) {
        let from = rest.get(at..).unwrap_or_default();
        rest = from.get(1..).unwrap_or_default();
        if rest.trim_ascii_start().first() != Some(&b'"') {
            continue;
        }
        tries += 1;
        if tries > TRIES {
            break;
        }
        let mut documents = Deserializer::from_slice(from).into_iter::<Map<String, Value>>();
        match documents.next() {
            Some(Ok(fields)) if is_message(&fields) => {
                found.extend(Some(fields).filter(is_no_request));
                rest = from.get(documents.byte_offset()..).unwrap_or_default();
            }
            Some(Ok(_)) => {}
            _ => match mended(from) {
                Ok(Value::Object(fields)) if is_message(&fields) => {
                    found.extend(Some(fields).filter(is_no_request));
                    break;
                }
                _ => {}
            },
        }
    }
    found
}

/// A document, in which half a character is a replacement character.
fn mended(text: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice(text).or_else(|_| {
        let document = lenient::read(text)?;
        serde_json::from_str(&pieces::joined(&document.to_string()))
    })
}

/// The answer to this request, as the client's side of the protocol expects it.
fn answered(id: i64, expected: Expected, answer: &Value) -> ServerJsonRpcMessage {
    let error = Some(&answer["error"]).filter(|error| !error.is_null());
    if let Some(error) = error {
        return ServerJsonRpcMessage::error(error_of(error), Some(RequestId::Number(id)));
    }
    let result = answer["result"].clone();
    let read = match expected {
        Expected::Call => answer::read(result).map(ServerResult::CallToolResult),
        Expected::Greeting => match greeting(&result) {
            Ok(greeting) => Ok(ServerResult::InitializeResult(greeting)),
            Err(why) => return failure(id, why),
        },
        Expected::Subscription | Expected::Other => Err(result),
    };
    let read = read.or_else(serde_json::from_value::<ServerResult>);
    match read {
        Ok(result) => ServerJsonRpcMessage::response(result, RequestId::Number(id)),
        Err(why) => failure(id, format!("its answer cannot be read: {why}")),
    }
}

/// The result of `initialize`. Only its revision has no plain default.
fn greeting(result: &Value) -> Result<InitializeResult, String> {
    let Some(revision) = result["protocolVersion"].as_str() else {
        let text = beginning(result.to_string().as_bytes());
        return Err(format!("its answer to `initialize` has no text `protocolVersion`: {text}"));
    };
    let revision = serde_json::from_value(json!(revision)).map_err(|error| error.to_string())?;
    let capabilities = serde_json::from_value(result["capabilities"].clone());
    let text = |field: &str| result["serverInfo"][field].as_str().unwrap_or_default().to_owned();
    let greeting =
        InitializeResult::new(capabilities.unwrap_or_else(|_| ServerCapabilities::default()));
    Ok(greeting
        .with_protocol_version(revision)
        .with_server_info(Implementation::new(text("name"), text("version"))))
}

/// An error in whatever form.
fn error_of(error: &Value) -> ErrorData {
    let code = number(&error["code"]).and_then(|code| i32::try_from(code).ok()).map(ErrorCode);
    let data = error.get("data").filter(|data| !data.is_null()).cloned();
    let message = match (error, &error["message"]) {
        (Value::String(text), _) | (_, Value::String(text)) => text.clone(),
        (Value::Object(_), Value::Null) if code.is_some() => String::new(),
        (_, Value::Null) => error.to_string(),
        (_, other) => other.to_string(),
    };
    match code.filter(|code| *code != NO_CODE) {
        Some(code) => ErrorData::new(code, message, data),
        None => ErrorData::new(NO_CODE, format!("error of the server: {message}"), data),
    }
}

/// An error that the client itself gives a request.
pub fn failure(id: i64, why: String) -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::error(ErrorData::new(NO_CODE, why, None), Some(RequestId::Number(id)))
}

/// The beginning of a line, for people.
pub fn beginning(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line.get(..SHOWN).unwrap_or(line));
    clipped(&visible(&without_keys(text.trim())), BEGINNING)
}

/// A whole number, also as a text.
fn number(value: &Value) -> Option<i64> {
    let whole = |number: &f64| number.fract() == 0.0 && number.abs() < 1e15;
    match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_i64().or_else(|| Some(other.as_f64().filter(whole)? as i64)),
    }
}

/// The number behind `"id":` in a text that is no document.
fn written_id(line: &[u8]) -> Option<i64> {
    let at = memmem::find(line, b"\"id\"")?;
    let rest = line.get(at + 4..)?.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    let rest = rest.strip_prefix(b"\"").unwrap_or(rest);
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(rest.get(..digits)?).ok()?.parse().ok()
}

#[cfg(test)]
mod tests;
