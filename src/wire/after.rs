//! Reads a request that continues an earlier one. A conversation sends its past again with every request, so only the
//! new part is read.

use crate::asked::{IncomingRequest, NotRead, Spot};
use crate::chat;
use crate::domain::{Message, Messages};
use crate::format::WireFormat;
use crate::ids::is_given_here;

/// The shortest list of messages, in bytes, for which this saves time.
const LONG: usize = 8 * 1024;

/// A request that was read, and its body.
#[derive(Clone, Debug)]
pub struct Earlier {
    format: WireFormat,
    /// The body up to the end of its last message.
    begin: Box<[u8]>,
    asked: IncomingRequest,
}

impl Earlier {
    /// A request that others may continue; `None` if reading it again takes no time.
    pub fn new(format: WireFormat, body: &[u8], asked: &IncomingRequest) -> Option<Self> {
        // Content that was not understood is counted again in each request.
        let listed = format!("{}[", format.codec().conversation);
        let is_known = !asked.unknown.keys().any(|what| what.starts_with(&listed));
        let is_long = asked.list.len() >= LONG;
        // Calls without ids get theirs from all calls before them.
        let is_counted = |message: &Message| match message {
            Message::Assistant { calls, source, .. } => {
                let source = source.as_deref();
                calls.iter().any(|call| chat::is_old(call, source) || is_given_here(call, source))
            }
            _ => false,
        };
        let has_ids = !asked.request.messages.iter().any(is_counted);
        let begin = body.get(..asked.list.end).filter(|_| is_known && is_long && has_ids)?;
        Some(Self { format, begin: begin.into(), asked: asked.clone() })
    }

    /// The bytes of a body that need not be read because it begins like this one: all of this one's messages.
    pub fn saves(&self, format: WireFormat, body: &[u8]) -> usize {
        let begins_so = || body.starts_with(&self.begin);
        if self.format == format && begins_so() { self.begin.len() } else { 0 }
    }

    /// Bytes that this keeps.
    pub fn size(&self) -> usize {
        self.begin.len()
    }

    /// Reads a body that begins like this one; `None` if it has to be read as a whole.
    pub fn read(&self, body: &[u8]) -> Option<Result<IncomingRequest, NotRead>> {
        let (list, known) = (&self.asked.list, &self.asked);
        let rest = body.get(list.end..)?;
        let next = rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
        let cut = match rest[next] {
            b',' => list.end + next + 1,
            b']' => list.end,
            _ => return None,
        };
        let short = [body.get(..list.start)?, body.get(cut..)?].concat();
        let asked = match self.format.read_request(&short) {
            Ok(asked) => asked,
            Err(why) => return Some(Err(why)),
        };
        let more = cut - list.start;
        let (calls, results) = counts(&known.request.messages);
        let joined = |known: &[Spot], new: Vec<Spot>, before: usize| -> Vec<Spot> {
            let moved = new.into_iter().map(|spot| Spot {
                number: spot.number + before,
                range: spot.range.start + more..spot.range.end + more,
                ..spot
            });
            known.iter().cloned().chain(moved).collect()
        };
        let end = if asked.list.is_empty() { list.end } else { asked.list.end + more };
        let messages = self.messages(&asked);
        let mut request = asked.request;
        request.messages = messages;
        Some(Ok(IncomingRequest {
            request,
            calls: joined(&known.calls, asked.calls, calls),
            results: joined(&known.results, asked.results, results),
            failures: joined(&known.failures, asked.failures, results),
            list: list.start..end,
            ..asked
        }))
    }

    /// The messages before the list as they are now, the known ones, and the new ones. A new result may belong to a
    /// known call.
    fn messages(&self, asked: &IncomingRequest) -> Messages {
        let known = &self.asked;
        let mut all = asked.request.messages.clone();
        all.truncate(asked.before);
        let rest = known.request.messages.shared_from(known.before);
        rest.cloned().for_each(|message| all.push_shared(message));
        // A long past is shared.
        all.share(&known.request.messages);
        let new = asked.request.messages.shared_from(asked.before);
        new.cloned().for_each(|message| all.push_shared(message));
        all.name_results();
        all
    }
}

/// The numbers of calls and of results.
fn counts(messages: &Messages) -> (usize, usize) {
    messages.iter().fold((0, 0), |(calls, results), message| match message {
        Message::Assistant { calls: own, .. } => (calls + own.len(), results),
        Message::Tool { .. } => (calls, results + 1),
        Message::System { .. } | Message::User { .. } => (calls, results),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn chat(messages: &[Value], more: &str) -> Vec<u8> {
        let list: Vec<String> = messages.iter().map(Value::to_string).collect();
        format!(r#"{{"model":"m", "messages": [ {} ]{more}}}"#, list.join(" , ")).into()
    }

    /// Checks the incremental reading of `second` against a whole reading; returns the bytes saved.
    fn agree(format: WireFormat, first: &[u8], second: &[u8]) -> usize {
        let asked = format.read_request(first).unwrap();
        let earlier = Earlier::new(format, first, &asked).unwrap();
        let saved = earlier.saves(format, second);
        if saved > 0 {
            let read = earlier.read(second).unwrap().unwrap();
            assert_eq!(read, format.read_request(second).unwrap());
        }
        saved
    }

    #[test]
    fn a_request_that_goes_on_is_read_as_a_whole_one_is() {
        let long = "it \"rains\"\n".repeat(1000);
        let call = json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "weather", "arguments": "{\"a\": 1.0}"}}]});
        let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": long});
        let user = |text: &str| json!({"role": "user", "content": text});
        let mut messages = vec![user(&long), call.clone()];
        let first = chat(&messages, "");
        messages.extend([result("c"), call.clone(), result("c"), result("none"), user("So?")]);
        let tools = r#","tools":[{"type":"function","function":{"name":"weather"}}],"stream":true"#;
        assert!(agree(WireFormat::Chat, &first, &chat(&messages, tools)) > 10_000);
        assert!(agree(WireFormat::Chat, &first, &chat(&messages[..2], tools)) > 10_000);
        assert_eq!(agree(WireFormat::Chat, &first, &chat(&messages[1..], "")), 0);
        let old =
            json!({"role": "assistant", "function_call": {"name": "weather", "arguments": "{}"}});
        let old = chat(&[user(&long), old], "");
        let asked = WireFormat::Chat.read_request(&old).unwrap();
        assert!(Earlier::new(WireFormat::Chat, &old, &asked).is_none(), "its calls have no ids");
        // The list ends with neither a comma nor a bracket.
        let broken = [&first[..first.len() - 3], b"x ]}"].concat();
        let asked = WireFormat::Chat.read_request(&first).unwrap();
        let earlier = Earlier::new(WireFormat::Chat, &first, &asked).unwrap();
        assert!(earlier.read(&broken).is_none_or(|read| read.is_err()));
    }

    #[test]
    fn what_stands_before_the_list_may_change() {
        let long = "word ".repeat(4000);
        let body = |system: &str, more: &str| -> Vec<u8> {
            format!(r#"{{"messages":[{{"role":"user","content":"{long}"}},{{"role":"assistant","content":[{{"type":"tool_use","id":"t","name":"weather","input":{{"a":1}}}}]}}{more}],"max_tokens":9,"system":{system}}}"#).into()
        };
        let first = body(r#""Be brief.""#, "");
        let more = r#",{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"rain"},{"type":"text","text":"So?"}]}"#;
        let second =
            body(r#"[{"type":"text","text":"Be long."},{"type":"text","text":"Now."}]"#, more);
        assert!(agree(WireFormat::Messages, &first, &second) > 10_000);
    }
}
