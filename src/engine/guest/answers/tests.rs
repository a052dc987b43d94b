use serde_json::json;

use super::*;

fn calls(ids: &[(&str, &str)]) -> Reply {
    let call = |(id, at): &(&str, &str)| ToolCall {
        id: (*id).into(),
        tool: "weather".into(),
        arguments: json!({ "at": at }),
    };
    Reply { calls: ids.iter().map(call).collect(), ..Reply::of_text("") }
}

/// A conversation whose every answer calls a tool with the same id.
#[derive(Default)]
struct AnsweredTalk {
    answers: Answers,
    messages: Messages,
    next: u32,
}

impl AnsweredTalk {
    fn asking(text: &str) -> Self {
        Self { messages: [Message::user(text)].into(), ..Self::default() }
    }

    fn found(&self, messages: &Messages) -> FoundCalls {
        self.answers.find(messages, &digest::of_messages(messages), None)
    }

    /// The answer to a request, and the results of its calls.
    fn answer(&mut self, reply: &Reply, results: &[&str]) -> Vec<EffectId> {
        let effects: Vec<_> = reply.calls.iter().map(|_| self.effect()).collect();
        let past = digest::of_past(&digest::of_messages(&self.messages));
        self.answers.given(past, reply, Some(&format!("resp{}", self.next)), &effects);
        let (text, calls) = (String::new(), reply.calls.clone());
        self.messages.push(Message::Assistant { text, calls, source: None });
        for (call, result) in reply.calls.iter().zip(results) {
            self.messages.push(Message::result(&*call.id, call.tool.clone(), *result));
        }
        self.answers.returned(&self.messages, &digest::of_messages(&self.messages));
        effects
    }

    fn effect(&mut self) -> EffectId {
        self.next += 1;
        EffectId(self.next)
    }

    fn three_turns() -> (Self, Vec<EffectId>) {
        let mut talk = Self::asking("How is the weather?");
        let same = calls(&[("w:0", "Oslo")]);
        let effects = ["a", "b", "c"].map(|result| talk.answer(&same, &[result])).concat();
        (talk, effects)
    }
}

fn returned(found: &FoundCalls) -> Vec<Option<EffectId>> {
    found.results.iter().map(|(_, effect)| *effect).collect()
}

#[test]
fn equal_calls_of_equal_answers_are_told_apart() {
    let (talk, effects) = AnsweredTalk::three_turns();
    let found = talk.found(&talk.messages);
    assert_eq!(returned(&found), effects.iter().copied().map(Some).collect::<Vec<_>>());
    assert_eq!(found.result(effects[1]), Some(4));
    assert_eq!(found.answer(effects[1]), Some(3));
}

#[test]
fn a_past_that_lost_its_beginning_keeps_its_calls() {
    let (talk, effects) = AnsweredTalk::three_turns();
    for dropped in [1..3, 1..5, 0..3] {
        let mut messages = talk.messages.clone();
        let turns = 3 - dropped.len() / 2;
        messages.remove(dropped.clone());
        let found = talk.found(&messages);
        let left = effects.iter().skip(3 - turns).copied().map(Some).collect::<Vec<_>>();
        assert_eq!(returned(&found), left, "{dropped:?}");
    }
}

#[test]
fn a_client_may_write_its_calls_otherwise() {
    let mut talk = AnsweredTalk::asking("How is the weather?");
    let both = calls(&[("a", "Oslo"), ("b", "Rome")]);
    let effects = talk.answer(&both, &["rain", "sun"]);
    // Other ids, and the results in another order.
    let mut messages: Messages = [Message::user("How is the weather?")].into();
    let calls = calls(&[("x", "Oslo"), ("y", "Rome")]).calls;
    messages.push(Message::Assistant { text: String::new(), calls, source: None });
    for (id, result) in [("y", "sun"), ("x", "rain")] {
        messages.push(Message::result(id, "weather".into(), result));
    }
    let found = talk.found(&messages);
    assert_eq!(returned(&found), [Some(effects[1]), Some(effects[0])]);
    // One call was left out.
    let mut messages: Messages = [Message::user("How is the weather?")].into();
    let second = vec![both.calls[1].clone()];
    messages.push(Message::Assistant { text: String::new(), calls: second, source: None });
    messages.push(Message::result("b", "weather".into(), "sun"));
    assert_eq!(returned(&talk.found(&messages)), [Some(effects[1])]);
}

#[test]
fn results_alone_belong_to_the_answer_that_the_request_names() {
    let mut talk = AnsweredTalk::asking("How is the weather?");
    let first = talk.answer(&calls(&[("w:0", "Oslo")]), &[]);
    let second = talk.answer(&calls(&[("w:0", "Rome"), ("w:0", "Bonn")]), &[]);
    let alone = |n: usize| -> Messages {
        (0..n).map(|at| Message::result("w:0", "".into(), at.to_string())).collect()
    };
    let find = |messages: &Messages, previous| {
        let found = talk.answers.find(messages, &digest::of_messages(messages), previous);
        returned(&found)
    };
    assert_eq!(find(&alone(1), Some("resp1")), [Some(first[0])]);
    assert_eq!(find(&alone(2), Some("resp3")), [Some(second[0]), Some(second[1])]);
    assert_eq!(find(&[Message::result("z", "".into(), "?")].into(), Some("resp1")), [None]);
}

#[test]
fn two_ways_from_one_past_keep_their_own_calls() {
    let mut talk = AnsweredTalk::asking("How is the weather?");
    let start = talk.messages.clone();
    let one = talk.answer(&calls(&[("w:0", "Oslo")]), &["rain"]);
    let way = std::mem::replace(&mut talk.messages, start);
    let other = talk.answer(&calls(&[("w:0", "Rome")]), &["sun"]);
    assert_eq!(returned(&talk.found(&way)), [Some(one[0])]);
    assert_eq!(returned(&talk.found(&talk.messages)), [Some(other[0])]);
}
