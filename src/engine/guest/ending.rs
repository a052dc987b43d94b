//! Ends the calls of an agent: with the results that a request has, with what the agent made of them in a text, or as
//! the answer of their task.

use futures::future::join_all;

use super::answers::FoundCalls;
use super::calls::{NO_RESULT, OpenCall, Returned, note_unseen, returned};
use super::talk::{RequestPlace, SharedTalks, Talk};
use crate::domain::{
    EffectId, Message, Messages, SessionEvent, ToolError, ToolErrorKind, ToolOutput, UnseenResult,
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
    /// The place of the message that is plainly the result of this call and of no other.
    at: Option<usize>,
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
    let effects: Vec<EffectId> = open.iter().map(|open| open.effect).collect();
    let answer = handle.read(|session| answer_in(session, &open, (messages, found)));
    let ended = open.into_iter().map(|open| {
        let end = end_of(&open, effects.len() == 1, (messages, found));
        end_call(handle, talks, place, (messages, open, end))
    });
    join_all(ended).await;
    if let Some(talk) = talks.borrow_mut().talk(place) {
        talk.answer = answer.or(talk.answer.take());
    }
}

/// How a call ends with this request. `is_alone`: no other call ends with it.
fn end_of(open: &OpenCall, is_alone: bool, (messages, found): (&Messages, &FoundCalls)) -> End {
    let result = found.result(open.effect).and_then(|at| returned(messages.get(at)?));
    if let Some(result) = result {
        return End::Returned(result);
    }
    match found.answer(open.effect).and_then(|at| in_text(open, is_alone, messages, at)) {
        Some(text) => End::InText(text),
        None if open.is_forced => End::Answer,
        None => End::Lost,
    }
}

/// The messages that follow a call, if the message at its place has it as a text.
fn in_text(open: &OpenCall, is_alone: bool, messages: &Messages, at: usize) -> Option<InText> {
    let Some(Message::Assistant { text, calls, .. }) = messages.get(at) else { return None };
    let is_user = |message: &&Message| matches!(message, Message::User { .. });
    let following = || messages.iter().skip(at + 1).take_while(is_user);
    let is_result = |message: &Message| message.text().trim_start().starts_with(OBSERVATION);
    let names_it = text.contains(open.call.tool.as_str());
    if !calls.is_empty() || !(names_it || following().any(is_result)) {
        return None;
    }
    let texts: Vec<&str> = following().map(|message| without_name(message.text())).collect();
    let mut results = following().enumerate().filter(|(_, message)| is_result(message));
    let first = results.next().map(|(nth, _)| at + 1 + nth);
    let is_plain = is_alone && results.next().is_none();
    Some(InText { text: texts.join("\n"), at: first.filter(|_| is_plain) })
}

/// The text of a result without the word before it.
fn without_name(text: &str) -> &str {
    text.trim_start().strip_prefix(OBSERVATION).map_or(text, str::trim_start)
}

async fn end_call(
    handle: &Handle,
    talks: &SharedTalks,
    place: RequestPlace,
    (messages, open, end): (&Messages, OpenCall, End),
) {
    let (effect, tool) = (open.effect, open.call.tool.clone());
    let read = |text: String| Ok(ToolOutput { text, cut_from: None });
    let (result, unseen) = match &end {
        End::Returned(result) => (result.clone(), None),
        End::InText(InText { text, .. }) => (read(text.clone()), Some(UnseenResult::InText)),
        End::Answer => (read(String::new()), Some(UnseenResult::Answer)),
        End::Lost => (Err(ToolError::new(ToolErrorKind::Unavailable, NO_RESULT)), None),
    };
    if let Some(why) = unseen {
        handle.write(|session| note_unseen(session, effect, why));
    }
    let recalled =
        matches!(end, End::Returned(_)).then(|| talks.borrow().recalled(place, &open, &result));
    let in_text = match &end {
        End::Returned(_) => None,
        End::InText(InText { at, .. }) => *at,
        End::Answer | End::Lost => None,
    };
    let is_reached = matches!(end, End::Returned(_)) || in_text.is_some();
    let decided = open.end(handle, result, recalled.flatten(), is_reached).await;
    let Some(decision) = decided else { return };
    match (talks.borrow_mut().talk(place), in_text.map(|at| (at, messages.get(at)))) {
        (Some(talk), Some((at, Some(sent)))) => {
            talk.decided.text(at, sent, format!("{OBSERVATION}\n{}", decision.text));
        }
        (Some(talk), None) if is_reached => talk.decided.result(effect, decision),
        _ => {}
    }
    if unseen.is_some() && !is_reached {
        let text = not_reached(tool.as_str(), unseen == Some(UnseenResult::Answer));
        handle.emit(SessionEvent::Noticed { text });
    }
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
    let ends = |open: &OpenCall| match end_of(open, false, (messages, found)) {
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
        call.give(Ok(ToolOutput { text: String::new(), cut_from: None }));
    }
}
