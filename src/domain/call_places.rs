//! The call of each result in a conversation. Ids of calls may repeat from answer to answer, within an answer, or be
//! missing, so a call is named by its place; its id only helps to find it.

use std::collections::HashMap;

use crate::chat::Message;
use crate::id::ToolName;
use crate::messages::Messages;

/// The place of a call in a list of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CallPlace {
    /// The place of the assistant's message, from 0.
    pub message: usize,
    /// The place among the calls of that message, from 0.
    pub call: usize,
}

/// A result, and the call that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultPlace {
    /// The place of the result's message, from 0.
    pub message: usize,
    /// `None`: no earlier call fits.
    pub call: Option<CallPlace>,
}

/// A call before a result.
struct Earlier<'a> {
    place: CallPlace,
    tool: &'a ToolName,
    has_result: bool,
}

impl Messages {
    /// The results in their order. A result belongs to the nearest earlier message that has its id: to the first of the
    /// calls with this id that has no result so far, else to the last of them. A result without an id belongs to
    /// the only call of the last answer that is left for its tool.
    pub fn results(&self) -> Vec<ResultPlace> {
        let (mut calls, mut by_id, mut results) = (Vec::new(), HashMap::new(), Vec::new());
        for (message, known) in self.iter().enumerate() {
            match known {
                Message::Assistant { calls: own, .. } => {
                    for (call, own) in own.iter().enumerate() {
                        let of_id: &mut Vec<usize> = by_id.entry(own.id.as_str()).or_default();
                        of_id.push(calls.len());
                        let place = CallPlace { message, call };
                        calls.push(Earlier { place, tool: &own.tool, has_result: false });
                    }
                }
                Message::Tool { id, tool, .. } => {
                    let of_id = by_id.get(id.as_str()).map_or(&[][..], Vec::as_slice);
                    let found = nearest(&calls, of_id).or_else(|| only_left(&calls, id, tool));
                    let found = found.and_then(|at| calls.get_mut(at));
                    let call = found.map(|call| {
                        call.has_result = true;
                        call.place
                    });
                    results.push(ResultPlace { message, call });
                }
                Message::System { .. } | Message::User { .. } => {}
            }
        }
        results
    }

    /// Gives each result the name of its call's tool.
    pub fn name_results(&mut self) {
        for ResultPlace { message, call } in self.results() {
            let Some(call) = call else { continue };
            let Some(Message::Assistant { calls, .. }) = self.get(call.message) else { continue };
            let Some(name) = calls.get(call.call).map(|call| call.tool.clone()) else { continue };
            let is_named =
                matches!(self.get(message), Some(Message::Tool { tool, .. }) if *tool == name);
            if let Some(Message::Tool { tool, .. }) = self.get_mut(message).filter(|_| !is_named) {
                *tool = name;
            }
        }
    }
}

/// The call of a result among the calls with its id.
fn nearest(calls: &[Earlier<'_>], of_id: &[usize]) -> Option<usize> {
    let last = *of_id.last()?;
    let message = calls.get(last)?.place.message;
    let of_message = of_id.iter().rev().map_while(|at| {
        let call = calls.get(*at)?;
        (call.place.message == message).then_some((*at, call.has_result))
    });
    let open = of_message.filter(|(_, has_result)| !has_result).last();
    Some(open.map_or(last, |(at, _)| at))
}

/// The call of a result that names none.
fn only_left(calls: &[Earlier<'_>], id: &str, tool: &ToolName) -> Option<usize> {
    let message = calls.last().filter(|_| id.is_empty())?.place.message;
    let is_left = |(_, call): &(usize, &Earlier<'_>)| {
        let fits = tool.as_str().is_empty() || call.tool == tool;
        call.place.message == message && !call.has_result && fits
    };
    let mut left = calls.iter().enumerate().filter(is_left);
    let (at, _) = left.next()?;
    left.next().is_none().then_some(at)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::chat::ToolCall;

    fn answer(calls: &[(&str, &str)]) -> Message {
        let call = |(id, tool): &(&str, &str)| ToolCall {
            id: (*id).into(),
            tool: (*tool).into(),
            arguments: json!({}),
        };
        Message::Assistant {
            text: String::new(),
            calls: calls.iter().map(call).collect(),
            source: None,
        }
    }

    fn result(id: &str) -> Message {
        Message::result(id, "".into(), "x")
    }

    fn calls(messages: &Messages) -> Vec<Option<(usize, usize)>> {
        let places = messages.results().into_iter().map(|it| it.call);
        places.map(|call| call.map(|it| (it.message, it.call))).collect()
    }

    #[test]
    fn the_nearest_answer_has_the_call_of_a_repeated_id() {
        let again = || answer(&[("weather:0", "weather")]);
        let messages: Messages =
            vec![again(), result("weather:0"), again(), result("weather:0"), again()].into();
        assert_eq!(calls(&messages), [Some((0, 0)), Some((2, 0))]);
    }

    #[test]
    fn equal_ids_of_an_answer_are_taken_in_their_order() {
        let both = answer(&[("0", "weather"), ("0", "clock"), ("1", "map")]);
        let mut messages: Messages =
            vec![both, result("0"), result("1"), result("0"), result("0"), result("2")].into();
        let twice = Some((0, 1));
        assert_eq!(calls(&messages), [Some((0, 0)), Some((0, 2)), twice, twice, None]);
        messages.name_results();
        let tools = messages.iter().filter_map(|message| match message {
            Message::Tool { tool, .. } => Some(tool.as_str()),
            _ => None,
        });
        assert_eq!(tools.collect::<Vec<_>>(), ["weather", "map", "clock", "clock", ""]);
    }

    #[test]
    fn a_result_without_an_id_is_not_guessed() {
        let named = |tool: &str| Message::result("", tool.into(), "x");
        let both = || answer(&[("a", "weather"), ("b", "clock")]);
        let one: Messages = vec![both(), named("clock"), named("")].into();
        assert_eq!(calls(&one), [Some((0, 1)), Some((0, 0))]);
        let either: Messages = vec![both(), named("")].into();
        assert_eq!(calls(&either), [None]);
        let empty: Messages = vec![answer(&[("", "a"), ("", "b")]), named(""), named("")].into();
        assert_eq!(calls(&empty), [Some((0, 0)), Some((0, 1))]);
    }
}
