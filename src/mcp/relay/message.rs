//! Reads the JSON-RPC message of a line.

use std::borrow::Cow;
use std::ops::Range;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// Fields of a message of JSON-RPC.
#[derive(Deserialize)]
pub struct Message<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub error: Option<&'a RawValue>,
}

/// The id of a request. Texts and numbers are different ids.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Id {
    /// The id as the client wrote it.
    pub raw: String,
    text: Option<String>,
    /// The session to which it belongs, where a server has several.
    session: String,
}

impl Id {
    fn of(raw: &RawValue) -> Option<Self> {
        let raw = raw.get();
        if raw == "null" {
            return None;
        }
        // A server may write the same text differently.
        let text: Option<String> = serde_json::from_str(raw).ok();
        let raw =
            text.as_ref().map_or_else(|| raw.to_owned(), |text| Value::from(&**text).to_string());
        Some(Self { raw, text, session: String::new() })
    }

    /// Whether this is the id but for its type, which some servers do not keep.
    pub fn is_like(&self, other: &Id) -> bool {
        self.shown() == other.shown()
    }

    /// The id of a request among those of its client's session with a server.
    pub fn within(self, session: &str) -> Self {
        Self { session: session.to_owned(), ..self }
    }

    /// For people.
    pub fn shown(&self) -> &str {
        self.text.as_deref().unwrap_or(&self.raw)
    }
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct Meta<'a> {
    #[serde(borrow, default, rename = "progressToken")]
    token: Option<&'a RawValue>,
    /// Only the stateless revision has it.
    #[serde(borrow, default, rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<&'a RawValue>,
}

/// A request of a client to call a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct CallRequest {
    pub id: Id,
    pub tool: String,
    pub arguments: Value,
    /// The range of the arguments in the line; `None` if there are none: new ones are inserted after the byte `inner`.
    place: Option<Range<usize>>,
    inner: usize,
    /// The token with which the client requests progress notes, as it wrote it.
    pub token: Option<String>,
    pub is_stateless: bool,
}

/// A line as text, if it is a message.
pub fn read(line: &[u8]) -> Option<(&str, Message<'_>)> {
    let text = std::str::from_utf8(line).ok()?;
    // Batches and stray lines are not messages.
    text.trim_start().starts_with('{').then_some(())?;
    Some((text, serde_json::from_str(text).ok()?))
}

/// The places of the messages in a line: those of a list, or the whole line.
pub fn parts(line: &[u8]) -> Vec<Range<usize>> {
    let text = std::str::from_utf8(line).unwrap_or_default();
    let list = text.trim_start().starts_with('[');
    let list = list.then(|| serde_json::from_str::<Vec<&RawValue>>(text).ok()).flatten();
    let place = |part: &&RawValue| {
        let at = part.get().as_ptr() as usize - text.as_ptr() as usize;
        at..at + part.get().len()
    };
    let whole = 0..line.len();
    list.map_or_else(|| vec![whole], |list| list.iter().map(place).collect())
}

/// The calls in a list of requests; none in any other line.
pub fn batch(line: &[u8]) -> Vec<CallRequest> {
    let parts = parts(line).into_iter().filter(|part| part.len() < line.len());
    let calls = parts.filter_map(|part| {
        let (text, message) = read(&line[part])?;
        message.call(text)
    });
    calls.collect()
}

/// Whether a message of the server answers the request with this id, the only one that is open or not.
pub fn answers(part: &[u8], id: &Id, is_only: bool) -> bool {
    match read(part) {
        Some((_, message)) if message.method.is_some() => false,
        Some((_, message)) => match message.id() {
            Some(its) => its.is_like(id),
            // A server that could not read the request does not know its id.
            None => is_only && message.error.is_some(),
        },
        None => names(part, id),
    }
}

/// Whether bytes that cannot be read have this id.
fn names(part: &[u8], id: &Id) -> bool {
    let text = String::from_utf8_lossy(part);
    text.match_indices("\"id\"").any(|(at, name)| {
        let value = text[at + name.len()..].trim_start().strip_prefix(':').map(str::trim_start);
        let rest = value.and_then(|value| value.strip_prefix(id.raw.as_str()));
        rest.is_some_and(|rest| {
            !rest.starts_with(|next: char| next.is_ascii_alphanumeric() || next == '.')
        })
    })
}

impl<'a> Message<'a> {
    pub fn id(&self) -> Option<Id> {
        Id::of(self.id?)
    }

    /// The call that the message requests, if any.
    pub fn call(&self, line: &str) -> Option<CallRequest> {
        (self.method.as_deref()? == "tools/call").then_some(())?;
        let (id, raw) = (self.id()?, self.params?);
        let params: Params<'_> = serde_json::from_str(raw.get()).ok()?;
        let meta = params.meta.and_then(|meta| serde_json::from_str::<Meta<'_>>(meta.get()).ok());
        let meta = meta.unwrap_or_default();
        let at = |part: &str| part.as_ptr() as usize - line.as_ptr() as usize;
        let arguments = match params.arguments {
            Some(raw) => serde_json::from_str(raw.get()).ok()?,
            None => Value::Object(Default::default()),
        };
        let place = params.arguments.map(|raw| at(raw.get())..at(raw.get()) + raw.get().len());
        Some(CallRequest {
            id,
            tool: params.name.into_owned(),
            arguments,
            place,
            inner: at(raw.get()) + 1,
            token: meta.token.map(|token| token.get().to_owned()),
            is_stateless: meta.version.is_some(),
        })
    }

    /// The parameters as a value; `null` if there are none.
    pub fn parameters(&self) -> Value {
        self.params.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
    }

    /// The request that the client cancels, if it cancels one.
    pub fn cancelled(&self) -> Option<Id> {
        #[derive(Deserialize)]
        struct Params<'a> {
            #[serde(borrow, rename = "requestId")]
            id: &'a RawValue,
        }
        (self.method.as_deref()? == "notifications/cancelled").then_some(())?;
        Id::of(serde_json::from_str::<Params<'_>>(self.params?.get()).ok()?.id)
    }

    /// The token and the number of a progress note, if the message is one.
    pub fn progress(&self) -> Option<(&'a str, f64)> {
        #[derive(Deserialize)]
        struct Params<'a> {
            #[serde(borrow, rename = "progressToken")]
            token: &'a RawValue,
            progress: f64,
        }
        (self.method.as_deref()? == "notifications/progress").then_some(())?;
        let params: Params<'a> = serde_json::from_str(self.params?.get()).ok()?;
        Some((params.token.get(), params.progress))
    }
}

impl CallRequest {
    /// The call among those of its client's session with a server.
    pub fn within(self, session: &str) -> Self {
        Self { id: self.id.within(session), ..self }
    }

    /// The line with other arguments. Everything else stays byte for byte.
    pub fn with(&self, line: &[u8], arguments: &Value) -> Vec<u8> {
        let new = match &self.place {
            Some(_) => arguments.to_string(),
            None => format!("\"arguments\":{arguments},"),
        };
        let place = self.place.clone().unwrap_or(self.inner..self.inner);
        [&line[..place.start], new.as_bytes(), &line[place.end..]].concat()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(line: &str) -> Option<CallRequest> {
        let (text, message) = read(line.as_bytes())?;
        message.call(text)
    }

    #[test]
    fn only_the_arguments_change_in_a_line() {
        let line = "{ \"id\":\"a\\u0062\", \"method\":\"tools/call\",\"params\":{\"_meta\":{\"progressToken\":7},\
                    \"arguments\" : {\"a\": 1.50},\"name\":\"t\"},\"jsonrpc\":\"2.0\"}\r\n";
        let call = asked(line).unwrap();
        assert_eq!((call.tool.as_str(), &call.arguments), ("t", &json!({"a": 1.5})));
        assert_eq!((call.id.raw.as_str(), call.token.as_deref()), ("\"ab\"", Some("7")));
        let other = call.with(line.as_bytes(), &json!({"b": "ü"}));
        assert_eq!(
            String::from_utf8(other).unwrap(),
            line.replace("{\"a\": 1.50}", "{\"b\":\"ü\"}")
        );
        let without = "{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"t\"}}\n";
        let other = asked(without).unwrap().with(without.as_bytes(), &json!({"b": 1}));
        let expected = "{\"id\":1,\"method\":\"tools/call\",\"params\":{\"arguments\":{\"b\":1},\"name\":\"t\"}}\n";
        assert_eq!(String::from_utf8(other).unwrap(), expected);
    }

    #[test]
    fn what_is_no_call_is_left_alone() {
        for line in [
            "",
            "hello\n",
            "[{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"t\"}}]\n",
            "{\"method\":\"tools/call\",\"params\":{\"name\":\"t\"}}\n",
            "{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":4}}\n",
            "{\"id\":1,\"method\":\"tools/list\"}\n",
            "{\"id\":1,\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"t\"}}\n",
        ] {
            assert_eq!(asked(line), None, "{line}");
        }
    }
}
