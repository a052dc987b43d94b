//! Ends the calls of an agent: with the results that a request has, with what the agent made of them in a text, or as
//! the answer of their task.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::future::join_all;

use super::answers::FoundCalls;
use super::calls::{NO_RESULT, OpenCall, Returned, note_unseen, returned};
use super::conversation_data::{RequestPlace, SharedTalks, Talk};
use crate::domain::{
    Message, Messages, RunEvent, SessionEvent, ToolError, ToolErrorKind, ToolOutput, UnseenResult,
};
use crate::handle::Handle;
use crate::session::Session;

/// The beginning of a message that is the result of a call.
const OBSERVATION: &str = "Observation:";

/// How a call ends.
enum End {
    Returned(Returned),
    InText(InText),
    Answer,
    Lost,
}

/// The messages that follow a call which its agent sends back as a text.
struct InText {
    text: String,
    /// The place of the text where it is plainly the result of this call.
    at: Option<TextPlace>,
}

/// The place of a result in a text.
#[derive(Clone, Copy)]
struct TextPlace {
    /// The place of the message.
    message: usize,
    /// The line of the result; `None`: all lines.
    line: Option<usize>,
}

/// Ends the calls whose results are in the request, and those that the conversation continues without.
pub async fn end_calls(
    handle: &Handle,
    talks: &SharedTalks,
    place: RequestPlace,
    (messages, found): (&Messages, &FoundCalls),
) {
    // Agents can take two ways from one past: calls that the other way waits for are not lost.
    let is_told = |open: &mut OpenCall| place.rewritten.is_none() || found.has(open.effect);
    let open: Vec<OpenCall> = match talks.borrow_mut().talk(place) {
        Some(talk) => talk.open.extract_if(.., is_told).collect(),
        None => return,
    };
    let answer = handle.read(|session| answer_in(session, &open, (messages, found)));
    let ends: Vec<End> = open.iter().map(|call| end_of(call, &open, (messages, found))).collect();
    let ended = open.into_iter().zip(ends);
    let ended = ended.map(|(open, end)| end_call(handle, talks, place, (open, end)));
    let texts: Vec<_> = join_all(ended).await.into_iter().flatten().collect();
    if let Some(talk) = talks.borrow_mut().talk(place) {
        talk.answer = answer.or(talk.answer.take());
        decide_texts(talk, messages, &texts);
    }
}

/// Notes what the model reads in place of results in texts.
fn decide_texts(talk: &mut Talk, messages: &Messages, texts: &[(TextPlace, String)]) {
    let places: BTreeSet<usize> = texts.iter().map(|(place, _)| place.message).collect();
    for at in places {
        let Some(sent) = messages.get(at) else { continue };
        let mut lines: Vec<&str> = without_name(sent.text()).split('\n').collect();
        for (place, text) in texts.iter().filter(|(place, _)| place.message == at) {
            match place.line {
                Some(line) => lines.iter_mut().skip(line).take(1).for_each(|own| *own = text),
                None => lines = vec![text],
            }
        }
        talk.decided.text(at, sent, format!("{OBSERVATION}\n{}", lines.join("\n")));
    }
}

/// How a call ends with this request. `all`: the calls that end with it.
fn end_of(open: &OpenCall, all: &[OpenCall], (messages, found): (&Messages, &FoundCalls)) -> End {
    let result = found.result(open.effect).and_then(|at| returned(messages.get(at)?));
    if let Some(result) = result {
        return End::Returned(result);
    }
    match found.answer(open.effect).and_then(|at| in_text(open, all, messages, at)) {
        Some(text) => End::InText(text),
        None if open.is_forced => End::Answer,
        None => End::Lost,
    }
}

/// The messages that follow a call, if the message at its place has it as a text.
fn in_text(open: &OpenCall, all: &[OpenCall], messages: &Messages, at: usize) -> Option<InText> {
    let Some(Message::Assistant { text, calls, .. }) = messages.get(at) else { return None };
    let is_user = |message: &&Message| matches!(message, Message::User { .. });
    let following = || messages.iter().skip(at + 1).take_while(is_user);
    let is_result = |message: &Message| message.text().trim_start().starts_with(OBSERVATION);
    let names_it = text.contains(open.call.tool.as_str());
    if !calls.is_empty() || !(names_it || following().any(is_result)) {
        return None;
    }
    let mut results = following().enumerate().filter(|(_, message)| is_result(message));
    let plain = results.next().filter(|_| results.next().is_none()).and_then(|(nth, result)| {
        let own = without_name(result.text());
        let lines: Vec<&str> = own.split('\n').collect();
        let mut siblings: Vec<_> = all.iter().filter(|it| it.parent == open.parent).collect();
        // The agent lists the calls in the order of their results.
        siblings.sort_by_key(|it| place_of_id(text, &it.call.id));
        let nth_call = siblings.iter().position(|it| it.effect == open.effect)?;
        let (line, own) = match siblings.len() {
            1 => (None, own),
            calls if calls == lines.len() => (Some(nth_call), *lines.get(nth_call)?),
            _ => return None,
        };
        Some((own.to_owned(), TextPlace { message: at + 1 + nth, line }))
    });
    Some(match plain {
        Some((text, place)) => InText { text, at: Some(place) },
        None => {
            let texts = following().map(|message| without_name(message.text()));
            InText { text: texts.collect::<Vec<_>>().join("\n"), at: None }
        }
    })
}

/// The place of an id in quotes in a text.
fn place_of_id(text: &str, id: &str) -> Option<usize> {
    ['\'', '"'].iter().find_map(|quote| text.find(&format!("{quote}{id}{quote}")))
}

/// The text of a result without the word before it.
fn without_name(text: &str) -> &str {
    text.trim_start().strip_prefix(OBSERVATION).map_or(text, str::trim_start)
}

/// Ends a call. Returns the text that its model must read in place of its result in a text.
async fn end_call(
    handle: &Handle,
    talks: &SharedTalks,
    place: RequestPlace,
    (open, end): (OpenCall, End),
) -> Option<(TextPlace, String)> {
    let (effect, tool) = (open.effect, open.call.tool.clone());
    let read = |text: &str| Ok(ToolOutput::of(text));
    let (result, unseen, at) = match &end {
        End::Returned(result) => (result.clone(), None, None),
        End::InText(InText { text, at }) => (read(text), Some(UnseenResult::InText), *at),
        End::Answer => (read(""), Some(UnseenResult::Answer), None),
        End::Lost => (Err(ToolError::new(ToolErrorKind::Unavailable, NO_RESULT)), None, None),
    };
    if let Some(why) = unseen {
        handle.write(|session| note_unseen(session, effect, why));
    }
    let is_returned = matches!(end, End::Returned(_));
    let then = open.recorded.filter(|_| is_returned);
    if let Some(then) = then {
        handle.write(|session| {
            let mut talks = talks.borrow_mut();
            let drift = talks.drift(place, (effect, then), (&tool, &result)).map(Arc::new);
            let run = talks.talk(place).map(|talk| talk.run);
            let event = run.zip(drift).map(|(run, drift)| RunEvent::ResultDrifted { run, drift });
            event.into_iter().for_each(|event| session.emit(event));
        });
    }
    let recalled = then.and_then(|then| talks.borrow().recalled(place, then, &result));
    let is_reached = is_returned || at.is_some();
    let decision = open.end(handle, result, recalled, is_reached).await?;
    if is_returned && let Some(talk) = talks.borrow_mut().talk(place) {
        talk.decided.result(effect, decision);
        return None;
    }
    if unseen.is_some() && !is_reached {
        let text = not_reached(tool.as_str(), unseen == Some(UnseenResult::Answer));
        handle.emit(SessionEvent::Noticed { text });
    }
    at.map(|at| (at, decision.text))
}

/// Says that what was made of a result does not reach the model.
fn not_reached(tool: &str, is_answer: bool) -> String {
    match is_answer {
        true => format!(
            "the call of {tool} is the agent's answer and has no result: the agent keeps its arguments"
        ),
        false => format!(
            "the result of {tool} is inside a text of the agent: the model reads the agent's own"
        ),
    }
}

/// The answer of the task whose calls end with this request, if they are its answer: the client forced them, and no
/// result follows, or the next question of the user does.
fn answer_in(
    session: &Session,
    open: &[OpenCall],
    (messages, found): (&Messages, &FoundCalls),
) -> Option<String> {
    let ends = |open: &OpenCall| match end_of(open, &[], (messages, found)) {
        End::Answer => true,
        End::Returned(_) => {
            let last = found.result(open.effect);
            let mut following = messages.iter().skip(last.map_or(0, |at| at + 1));
            following.any(|message| matches!(message, Message::User { .. }))
        }
        End::InText(_) | End::Lost => false,
    };
    let is_it = |open: &OpenCall| open.is_forced && ends(open);
    (!open.is_empty() && open.iter().all(is_it)).then(|| arguments_of(session, open))
}

/// The arguments of calls that are an answer, as the agent has them.
fn arguments_of(session: &Session, calls: &[OpenCall]) -> String {
    let arguments = |open: &OpenCall| {
        let known = session.state().tool_call(open.effect);
        known.map_or(&open.call.arguments, |known| &known.arguments).to_string()
    };
    calls.iter().map(arguments).collect::<Vec<_>>().join("\n")
}

/// Ends the calls of a conversation that its agent has left: those that the client forced are the answer of their task,
/// all others have no result.
pub fn leave_calls(session: &mut Session, talk: &mut Talk) {
    let mut open = std::mem::take(&mut talk.open);
    if open.is_empty() || !open.iter().all(|open| open.is_forced) {
        return;
    }
    talk.answer = Some(arguments_of(session, &open));
    for call in &mut open {
        note_unseen(session, call.effect, UnseenResult::Answer);
        if session.state().effect(call.effect).is_some_and(|effect| effect.is_over()) {
            let text = not_reached(call.call.tool.as_str(), true);
            session.emit(SessionEvent::Noticed { text });
        }
        call.give(Ok(ToolOutput::of("")));
    }
}
