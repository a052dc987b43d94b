use serde_json::json;

use super::*;
use crate::domain::ToolCall;

fn letter(messages: &Messages) -> Letter<'_> {
    Letter { format: WireFormat::Chat, session: None, messages, previous: None, is_retry: false }
}

fn asked(text: &str) -> Messages {
    [Message::system("You help."), Message::user(text)].into()
}

fn calls(id: &str) -> Reply {
    let call = ToolCall { id: id.into(), tool: "weather".into(), arguments: json!({"at": "Oslo"}) };
    Reply { calls: vec![call], ..Reply::of_text("") }
}

/// The request after this answer, with the result of its call.
fn after(mut messages: Messages, reply: &Reply, then: &str) -> Messages {
    let (text, calls) = (reply.text.clone(), reply.calls.clone());
    let results: Vec<_> =
        calls.iter().map(|call| Message::result(&*call.id, call.tool.clone(), then)).collect();
    let has_calls = !results.is_empty();
    messages.push(Message::Assistant { text, calls, source: None });
    messages.extend(results);
    if !has_calls {
        messages.push(Message::user(then));
    }
    messages
}

#[test]
fn a_request_goes_on_in_the_conversation_of_its_calls() {
    let mut all = Conversations::default();
    let first = asked("How is the weather?");
    assert_eq!(all.place(letter(&first)), Placed { at: 0, how: How::New });
    // The same question, at once: another conversation, until call ids tell them apart.
    assert_eq!(all.place(letter(&first)), Placed { at: 1, how: How::New });
    all.answered(0, &calls("a"), None);
    all.answered(1, &calls("b"), None);
    for (at, id) in [(1, "b"), (0, "a")] {
        let next = after(first.clone(), &calls(id), "rain");
        assert_eq!(all.place(letter(&next)), Placed { at, how: How::Continued });
    }
}

#[test]
fn equal_conversations_are_told_apart_by_their_answers() {
    let mut all = Conversations::default();
    let first = asked("hello");
    let replies = ["hi", "hi", "hello there"].map(Reply::of_text);
    for (at, _) in replies.iter().enumerate() {
        assert_eq!(all.place(letter(&first)), Placed { at, how: How::New });
    }
    for (at, reply) in replies.iter().enumerate() {
        all.answered(at, reply, None);
    }
    let next = |reply: &Reply, then: &str| after(first.clone(), reply, then);
    // The answer of the third is its own; of the two others the one that was idle longest goes on.
    let expected =
        [(2, next(&replies[2], "x")), (0, next(&replies[0], "y")), (1, next(&replies[1], "z"))];
    for (at, messages) in expected {
        assert_eq!(all.place(letter(&messages)), Placed { at, how: How::Continued });
    }
}

#[test]
fn what_failed_is_asked_again_in_the_same_conversation() {
    let mut all = Conversations::default();
    let first = asked("hello");
    all.place(letter(&first));
    all.failed(0);
    assert_eq!(all.place(letter(&first)), Placed { at: 0, how: How::Again });
    // The client says that it tries again, before the failure of the first try is known.
    let retry = Letter { is_retry: true, ..letter(&first) };
    assert_eq!(all.place(retry), Placed { at: 0, how: How::Again });
    all.answered(0, &Reply::of_text("hi"), None);
    assert_eq!(all.place(letter(&first)), Placed { at: 1, how: How::New }, "asked anew");
}

#[test]
fn another_past_is_a_rewritten_one() {
    let mut all = Conversations::default();
    let first = asked("count");
    all.place(letter(&first));
    all.answered(0, &calls("a"), None);
    let second = after(first.clone(), &calls("a"), "one");
    all.place(letter(&second));
    all.answered(0, &Reply::of_text("one so far"), None);
    // Compaction: the calls are gone, a summary is in their place.
    let compacted = after(first.clone(), &Reply::of_text("summary: one"), "go on");
    let how = How::Rewritten { kept: 2, dropped: 2 };
    assert_eq!(all.place(letter(&compacted)), Placed { at: 0, how });
    all.answered(0, &Reply::of_text("two"), None);
    // A result that the agent changed afterwards.
    let edited = after(first, &calls("a"), "eleven");
    let how = How::Rewritten { kept: 2, dropped: 2 };
    assert_eq!(all.place(letter(&edited)), Placed { at: 0, how });
}

#[test]
fn an_answer_written_back_otherwise_still_goes_on() {
    let mut all = Conversations::default();
    let first = asked("hello");
    all.place(letter(&first));
    all.answered(0, &Reply::of_text("<b>hi</b>"), None);
    let next = after(first, &Reply::of_text("hi"), "and?");
    assert_eq!(all.place(letter(&next)), Placed { at: 0, how: How::Continued });
}

#[test]
fn the_wire_may_say_it_by_an_id() {
    let mut all = Conversations::default();
    let first = asked("hello");
    all.place(letter(&first));
    all.answered(0, &Reply::of_text("hi"), Some("resp_1"));
    let more = Messages::from([Message::user("and?")]);
    let by_id = Letter { previous: Some("resp_1"), ..letter(&more) };
    assert_eq!(all.place(by_id), Placed { at: 0, how: How::Continued });
    assert_eq!(all.place(letter(&more)), Placed { at: 1, how: How::New });
}

#[test]
fn sessions_and_formats_are_kept_apart() {
    let mut all = Conversations::default();
    let first = asked("hello");
    all.place(Letter { session: Some("one"), ..letter(&first) });
    all.answered(0, &Reply::of_text("hi"), None);
    let next = after(first, &Reply::of_text("hi"), "and?");
    let other = Letter { session: Some("two"), ..letter(&next) };
    assert_eq!(all.place(other), Placed { at: 1, how: How::New });
    let other = Letter { format: WireFormat::Messages, ..letter(&next) };
    assert_eq!(all.place(other), Placed { at: 2, how: How::New });
    let own = Letter { session: Some("one"), ..letter(&next) };
    assert_eq!(all.place(own), Placed { at: 0, how: How::Continued });
}

#[test]
fn memory_is_bounded() {
    let mut all = Conversations::default();
    for at in 0..MOST + 10 {
        let first = asked(&format!("question {at}"));
        all.place(letter(&first));
        all.answered(at, &calls(&format!("call {at}")), None);
    }
    assert_eq!(all.open.len(), MOST);
    assert!(all.known[0].asked.is_empty() && !all.known[10].asked.is_empty());
}

#[test]
fn a_clock_in_the_instructions_begins_no_other_conversation() {
    let mut all = Conversations::default();
    let at = |system: &str| {
        let system = format!("You help people with what they want to know. {system}");
        Messages::from([Message::system(system), Message::user("hello")])
    };
    let hi = Reply::of_text("hi");
    all.place(letter(&at("It is 12:00.")));
    all.answered(0, &hi, None);
    let next = after(at("It is 12:01."), &hi, "and?");
    let how = How::Rewritten { kept: 0, dropped: 2 };
    assert_eq!(all.place(letter(&next)), Placed { at: 0, how });
    all.answered(0, &hi, None);
    // An agent with other instructions that has read the same.
    let other = "Now you are somebody else, and you only find mistakes in what others have said.";
    let other = after(at(other), &hi, "and?");
    assert_eq!(all.place(letter(&other)), Placed { at: 1, how: How::New });
}

/// A conversation of three questions, whose last answer has come.
fn long(all: &mut Conversations, says: [&str; 4]) -> Messages {
    let [first, one, second, two] = says;
    let mut messages: Messages = [Message::system("You help."), Message::user(first)].into();
    all.place(letter(&messages));
    all.answered(0, &Reply::of_text(one), None);
    messages.push(Message::assistant(one));
    messages.push(Message::user(second));
    all.place(letter(&messages));
    all.answered(0, &Reply::of_text(two), None);
    messages.push(Message::assistant(two));
    messages
}

/// The request of a client that has summarised all but the last messages.
fn summary(of: &Messages, last: usize, system: &str) -> Messages {
    let summary = Message::user("Summary of the conversation so far: all went well.");
    let kept = of.iter().skip(of.len() - last).cloned();
    let all = [Message::system(system), summary].into_iter().chain(kept);
    all.chain([Message::user("And the next one?")]).collect()
}

#[test]
fn a_summarised_past_stays_in_its_conversation() {
    let says = ["How is Oslo?", "It is sunny in Oslo.", "And in Bergen?", "It rains in Bergen."];
    for last in [2, 3] {
        let mut all = Conversations::default();
        let past = long(&mut all, says);
        let next = summary(&past, last, "You help.");
        let how = How::Rewritten { kept: 1, dropped: 3 };
        assert_eq!(all.place(letter(&next)), Placed { at: 0, how }, "{last}");
    }
    // Messages at another place, in another order or under other instructions are no sign of the same conversation.
    let mut all = Conversations::default();
    let past = long(&mut all, says);
    let mut turned: Vec<Message> = summary(&past, 2, "You help.").iter().cloned().collect();
    turned.swap(2, 3);
    let turned: Messages = turned.into();
    let cut: Messages = summary(&past, 2, "You help.").iter().take(3).cloned().collect();
    for other in [
        turned,
        cut,
        summary(&past, 2, "Write a poem about the sea."),
        summary(&past, 1, "You help."),
    ] {
        assert_eq!(all.place(letter(&other)).how, How::New, "{other:?}");
    }
}

#[test]
fn short_words_join_no_conversations() {
    let mut all = Conversations::default();
    let past = long(&mut all, ["Delete it?", "Sure?", "yes", "ok"]);
    assert_eq!(all.place(letter(&summary(&past, 2, "You help."))).how, How::New);
}
