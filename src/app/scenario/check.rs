//! Compares expectations with observations.

use serde::Serialize;

use super::expect::{
    AtLeast, ConversationExpectations, EndExpectations, Expectations, QuestionRef, TaskExpectations,
};
use super::limits::Limits;
use super::observation::{EndedTask, Observed, TaskSums};
use crate::domain::State;
use crate::domain::expression::{Evaluator, Expression, Resolver};
use crate::domain::words::{clipped, counted};
use crate::papers::facts::Facts;
use crate::papers::grading::is_correct;
use crate::papers::resilience::{Broken, RecoveryVerdict, Resilience};

/// The most characters that are shown of a text.
const SHOWN: usize = 120;

/// An expectation, and whether it holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Checked {
    /// The expectation in words: `at most 12 tool calls`.
    pub expected: String,
    pub held: bool,
    /// The observed value: `14 tool calls`.
    pub found: String,
}

impl Checked {
    fn new(expected: impl Into<String>, held: bool, found: impl Into<String>) -> Self {
        Self { expected: expected.into(), held, found: found.into() }
    }

    /// Checks that `found` is not larger than `most`.
    fn at_most(thing: &str, most: u64, found: u64) -> Self {
        let expected = format!("at most {}", counted(most, thing));
        Self::new(expected, found <= most, counted(found, thing))
    }
}

/// Checks each expectation by itself, in the order of the documentation.
pub fn check(expect: &Expectations, state: &State, observed: &Observed) -> Vec<Checked> {
    let mut checked = Vec::new();
    let all = (state.tasks.len() as u64).saturating_sub(observed.cut_off());
    checked
        .extend(expect.answered.map(|least| at_least("answered", least, observed.answered, all)));
    checked.extend(
        expect.right.map(|least| at_least("right", least, observed.right, observed.judged)),
    );
    limits(&expect.limits, &observed.sums_of(state), "", &mut checked);
    checked.extend(expect.recovered.map(|most| recovered(most, state, observed)));
    if expect.writes_once {
        checked.push(writes_once(observed));
    }
    checked.extend(expect.holds.iter().map(|condition| holds(condition, state)));
    expect.tasks.iter().for_each(|task| of_task(task, observed.named(&task.task), &mut checked));
    expect.conversations.iter().for_each(|it| of_conversations(it, observed, &mut checked));
    checked
}

/// Every conversation that begins with the expected words.
fn of_conversations(
    expect: &ConversationExpectations,
    observed: &Observed,
    checked: &mut Vec<Checked>,
) {
    let ConversationExpectations { begins, question, end } = expect;
    let words = in_short(begins).to_lowercase();
    let begins_so = |text: &str| in_short(text).to_lowercase().starts_with(&words);
    let meant = || observed.conversations.iter().filter(|(_, known)| begins_so(&known.begins));
    if meant().next().is_none() {
        let came = observed.conversations.values().map(|known| quoted(&known.begins));
        let came: Vec<_> = came.collect();
        let found = match came.as_slice() {
            [] => "no conversation came".to_owned(),
            came => format!("these came: {}", clipped(&came.join(", "), 8 * SHOWN)),
        };
        let expected = format!("a conversation begins with {}", quoted(begins));
        return checked.push(Checked::new(expected, false, found));
    }
    let is_one = meant().count() == 1;
    for (run, known) in meant() {
        let number = if is_one { String::new() } else { format!(" ({run})") };
        let place = format!("conversation {}{number}", quoted(begins));
        let Some(question) = question else {
            of_end(&format!("{place}: "), end, &observed.whole(known), checked);
            continue;
        };
        let is_meant = |(number, task): &(u32, &EndedTask)| match question {
            QuestionRef::Every => !observed.is_cut_off(task),
            QuestionRef::Number(meant) => number == meant,
        };
        let mut meant = (1..).zip(&known.questions).filter(is_meant).peekable();
        if meant.peek().is_none() {
            let found = format!("it has {}", counted(known.questions.len(), "question"));
            let meant = match question {
                QuestionRef::Every => "a question".to_owned(),
                QuestionRef::Number(number) => format!("question {number}"),
            };
            checked.push(Checked::new(format!("{place}: {meant} is done"), false, found));
        }
        for (number, task) in meant {
            of_end(&format!("{place}, question {number}: "), end, task, checked);
        }
    }
}

/// Checks that at least this many tasks were found, of those that count.
fn at_least(what: &str, least: AtLeast, found: u64, of: u64) -> Checked {
    let share = 100.0 * found as f64 / of.max(1) as f64;
    let (expected, held) = match least {
        AtLeast::Count(least) => (counted(least, "task"), found >= least),
        AtLeast::Percent(least) => (format!("{least} % of the tasks"), of > 0 && share >= least),
    };
    let found = match least {
        AtLeast::Count(_) => format!("{found} of {of}"),
        AtLeast::Percent(_) => format!("{found} of {of} ({share:.1} %)"),
    };
    Checked::new(format!("at least {expected} {what}"), held, found)
}

/// Checks the limits of a session, or of the task that `place` begins with.
fn limits(limits: &Limits, sums: &TaskSums, place: &str, checked: &mut Vec<Checked>) {
    let before = checked.len();
    for called in &limits.used {
        let (calls, found) = sums.of_calls(called);
        checked.push(Checked::new(format!("{called} is used"), calls > 0, found));
    }
    for called in &limits.not_used {
        let (calls, found) = sums.of_calls(called);
        checked.push(Checked::new(format!("{called} is not used"), calls == 0, found));
    }
    let counts = [
        ("tool call", limits.calls, sums.calls()),
        ("model call", limits.model_calls, sums.model_calls),
        ("token", limits.tokens, sums.tokens),
    ];
    for (thing, most, found) in counts {
        checked.extend(most.map(|most| Checked::at_most(thing, most, found)));
    }
    if let Some(most) = limits.credits {
        let found = format!("{:.2} credits", sums.credits);
        checked.push(Checked::new(format!("at most {most} credits"), sums.credits <= most, found));
    }
    if let Some(most) = limits.dollars {
        let found = match sums.is_unpriced {
            true => format!("{:.4} dollars and calls with an unknown price", sums.dollars),
            false => format!("{:.4} dollars", sums.dollars),
        };
        // An unknown price never counts as 0.
        let held = !sums.is_unpriced && sums.dollars <= most;
        checked.push(Checked::new(format!("at most {most} dollars"), held, found));
    }
    for one in checked.iter_mut().skip(before) {
        one.expected.insert_str(0, place);
    }
}

fn recovered(most: u64, state: &State, observed: &Observed) -> Checked {
    let expected = format!("recovered after at most {}", counted(most, "task"));
    let Some((_, broken)) = Broken::newest(state, None) else {
        return Checked::new(expected, false, "no tool was broken");
    };
    let verdict = Resilience::of(&observed.laps, &broken, false).verdict;
    let held = matches!(verdict, RecoveryVerdict::Recovered { after } if after as u64 <= most);
    Checked::new(expected, held, verdict.to_string())
}

fn writes_once(observed: &Observed) -> Checked {
    let found = match observed.repeats {
        0 => "none is repeated".to_owned(),
        repeats => {
            let named: Vec<_> = observed.repeated.iter().map(|call| clipped(call, SHOWN)).collect();
            let more = if repeats > named.len() as u64 { ", …" } else { "" };
            format!("{}: {}{more}", counted(repeats, "repetition"), named.join(", "))
        }
    };
    Checked::new("no write is repeated", observed.repeats == 0, found)
}

fn holds(condition: &Expression, state: &State) -> Checked {
    let facts = Facts::of_session(state);
    let resolver = Resolver(&facts);
    let value = Evaluator::new(&resolver).value(condition);
    let held = value.as_ref().is_ok_and(|value| value.flag() == Some(true));
    let found = match value {
        Ok(value) => value.shown(),
        Err(why) => why,
    };
    Checked::new(condition.text(), held, clipped(&found, SHOWN))
}

fn of_task(expect: &TaskExpectations, task: Option<&EndedTask>, checked: &mut Vec<Checked>) {
    let place = format!("{}: ", expect.task);
    match task {
        Some(task) => of_end(&place, &expect.end, task, checked),
        None => checked.push(Checked::new(format!("{place}is done"), false, "it has not ended")),
    }
}

/// Checks whether there is an answer, whether it is right, its meaning, a part that it contains, and the limits.
fn of_end(place: &str, expect: &EndExpectations, task: &EndedTask, checked: &mut Vec<Checked>) {
    let given = task.answer.as_deref();
    let found = given.map_or("no answer".to_owned(), quoted);
    if let Some(answered) = expect.answered {
        let expected = if answered { "is answered" } else { "is not answered" };
        let held = task.has_answered == answered;
        checked.push(Checked::new(format!("{place}{expected}"), held, found.clone()));
    }
    if let Some(right) = expect.right {
        let expected = if right { "is right" } else { "is wrong" };
        let found = match task.correct {
            None => format!("{found}; no right answers known"),
            Some(_) => found.clone(),
        };
        let held = task.correct == Some(right);
        checked.push(Checked::new(format!("{place}{expected}"), held, found));
    }
    if let Some(answer) = &expect.answer {
        let held = given.is_some_and(|given| is_correct(given, answer));
        let expected = format!("{place}the answer is {}", quoted(answer));
        checked.push(Checked::new(expected, held, found.clone()));
    }
    if let Some(part) = &expect.contains {
        let has = |given: &str| given.to_lowercase().contains(&part.to_lowercase());
        let expected = format!("{place}the answer contains {}", quoted(part));
        checked.push(Checked::new(expected, given.is_some_and(has), found));
    }
    limits(&expect.limits, &task.sums, place, checked);
}

/// The beginning of a text, on one line.
fn quoted(text: &str) -> String {
    format!("“{}”", clipped(&in_short(text), SHOWN))
}

/// A text with single spaces between its words.
fn in_short(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::RunId;
    use crate::domain::expression::Scope;
    use crate::scenario::expect::TaskRef;
    use crate::scenario::expected_call::ExpectedCall;
    use crate::scenario::observation::Conversation;

    /// Lists each expectation with its observed value; `+` marks one that holds.
    fn said(checked: &[Checked]) -> Vec<String> {
        let sign = |held: bool| if held { '+' } else { '-' };
        let line = |one: &Checked| format!("{} {}: {}", sign(one.held), one.expected, one.found);
        checked.iter().map(line).collect()
    }

    fn sums() -> TaskSums {
        TaskSums {
            used: [("a".into(), 2), ("b".into(), 1)].into(),
            compared: Default::default(),
            model_calls: 4,
            tokens: 1000,
            credits: 5.5,
            dollars: 0.25,
            is_unpriced: false,
        }
    }

    #[test]
    fn a_number_or_a_share_of_tasks_is_a_lower_bound() {
        let said = |least, found, of| said(&[at_least("right", least, found, of)]).concat();
        assert_eq!(said(AtLeast::Count(3), 3, 4), "+ at least 3 tasks right: 3 of 4");
        assert_eq!(said(AtLeast::Count(4), 3, 4), "- at least 4 tasks right: 3 of 4");
        let three = AtLeast::Percent(75.0);
        assert_eq!(said(three, 3, 4), "+ at least 75 % of the tasks right: 3 of 4 (75.0 %)");
        assert_eq!(said(three, 2, 3), "- at least 75 % of the tasks right: 2 of 3 (66.7 %)");
        // Without tasks that can be right, no share holds.
        assert!(said(AtLeast::Percent(0.0), 0, 0).starts_with('-'));
    }

    #[test]
    fn each_limit_is_told_by_itself() {
        let tools = |names: [&str; 2]| names.map(|name| ExpectedCall::Tool(name.into())).to_vec();
        let limits_of = |most: u64, dollars: f64| Limits {
            used: tools(["a", "c"]),
            not_used: tools(["b", "c"]),
            calls: Some(most),
            model_calls: Some(most + 1),
            tokens: Some(most * 300),
            credits: Some(most as f64 + 2.5),
            dollars: Some(dollars),
        };
        let check = |most, dollars, sums: &TaskSums| {
            let mut checked = Vec::new();
            limits(&limits_of(most, dollars), sums, "", &mut checked);
            said(&checked)
        };
        let found = check(3, 0.25, &sums());
        assert_eq!(
            found,
            [
                "+ a is used: 2 calls",
                "- c is used: 0 calls",
                "- b is not used: 1 call",
                "+ c is not used: 0 calls",
                "+ at most 3 tool calls: 3 tool calls",
                "+ at most 4 model calls: 4 model calls",
                "- at most 900 tokens: 1000 tokens",
                "+ at most 5.5 credits: 5.50 credits",
                "+ at most 0.25 dollars: 0.2500 dollars",
            ]
        );
        let less = check(2, 0.2, &sums());
        assert!(less[4..].iter().all(|line| line.starts_with('-')), "{less:?}");
        let unpriced = check(3, 9.0, &TaskSums { is_unpriced: true, ..sums() });
        let why = "- at most 9 dollars: 0.2500 dollars and calls with an unknown price";
        assert_eq!(unpriced[8], why);
    }

    #[test]
    fn a_task_is_checked_by_its_answer_and_its_calls() {
        let task = EndedTask {
            name: "t".into(),
            has_answered: true,
            is_stopped: false,
            answer: Some("It is  The Salt Garden.".into()),
            correct: Some(true),
            sums: sums(),
        };
        let expect = |answer: &str, part: &str, right| TaskExpectations {
            task: TaskRef::Name("t".into()),
            end: EndExpectations {
                answered: Some(true),
                right: Some(right),
                answer: Some(answer.into()),
                contains: Some(part.into()),
                limits: Limits { calls: Some(3), ..Limits::default() },
            },
        };
        let check = |expect: &TaskExpectations, task: Option<&EndedTask>| {
            let mut checked = Vec::new();
            of_task(expect, task, &mut checked);
            said(&checked)
        };
        assert_eq!(
            check(&expect("salt garden", "salt GARDEN", true), Some(&task)),
            [
                "+ task t: is answered: “It is The Salt Garden.”",
                "+ task t: is right: “It is The Salt Garden.”",
                "+ task t: the answer is “salt garden”: “It is The Salt Garden.”",
                "+ task t: the answer contains “salt GARDEN”: “It is The Salt Garden.”",
                "+ task t: at most 3 tool calls: 3 tool calls",
            ]
        );
        let wrong = check(&expect("391", "pepper", false), Some(&task));
        assert!(wrong[1..4].iter().all(|line| line.starts_with('-')), "{wrong:?}");
        let silent = EndedTask::default();
        let found = check(&expect("391", "3", true), Some(&silent));
        assert!(found[..4].iter().all(|line| line.starts_with('-')), "{found:?}");
        assert_eq!(found[1], "- task t: is right: no answer; no right answers known");
        assert_eq!(check(&expect("391", "3", true), None), ["- task t: is done: it has not ended"]);
    }

    #[test]
    fn conversations_are_named_by_their_first_words() {
        let mut observed = Observed::default();
        let whole = |answer: &str| EndedTask {
            has_answered: true,
            answer: Some(answer.into()),
            sums: sums(),
            ..EndedTask::default()
        };
        for (run, begins, answer) in [
            (1, "How is the  weather\nin Oslo?", "Rain."),
            (2, "how is the weather in Rome?", "Sun."),
            (3, "Book a room.", "Done."),
        ] {
            let known = Conversation { begins: begins.into(), questions: vec![whole(answer)] };
            observed.conversations.insert(RunId(run), known);
        }
        let check = |begins: &str, contains: &str| {
            let expect = ConversationExpectations {
                begins: begins.into(),
                question: None,
                end: EndExpectations {
                    answered: Some(true),
                    contains: Some(contains.into()),
                    limits: Limits { calls: Some(2), ..Limits::default() },
                    ..EndExpectations::default()
                },
            };
            let mut checked = Vec::new();
            of_conversations(&expect, &observed, &mut checked);
            said(&checked)
        };
        assert_eq!(
            check("Book", "done"),
            [
                "+ conversation “Book”: is answered: “Done.”",
                "+ conversation “Book”: the answer contains “done”: “Done.”",
                "- conversation “Book”: at most 2 tool calls: 3 tool calls",
            ]
        );
        let both = check("How is the weather", "sun");
        assert_eq!(both.len(), 6);
        assert!(both[1].starts_with("- conversation “How is the weather” (1): "), "{both:?}");
        assert!(both[4].starts_with("+ conversation “How is the weather” (2): "), "{both:?}");
        let never = check("Cancel", "x").concat();
        assert_eq!(
            never,
            "- a conversation begins with “Cancel”: these came: “How is the weather in Oslo?”, “how \
             is the weather in Rome?”, “Book a room.”"
        );
        let none = Observed::default();
        let (mut checked, expect) = (Vec::new(), ConversationExpectations::default());
        of_conversations(&expect, &none, &mut checked);
        assert!(said(&checked).concat().ends_with("no conversation came"));
    }

    #[test]
    fn each_question_of_a_conversation_has_its_answer() {
        let question = |answer: Option<&str>, is_stopped| EndedTask {
            has_answered: answer.is_some(),
            is_stopped,
            answer: answer.map(str::to_owned),
            sums: sums(),
            ..EndedTask::default()
        };
        let mut observed = Observed::default();
        let questions = vec![question(Some("It rains."), false), question(Some("No."), false)];
        let known = Conversation { begins: "Rain?".into(), questions };
        observed.conversations.insert(RunId(1), known);
        let check = |observed: &Observed, question| {
            let end = EndExpectations { contains: Some("rain".into()), ..Default::default() };
            let expect = ConversationExpectations { begins: "rain".into(), question, end };
            let mut checked = Vec::new();
            of_conversations(&expect, observed, &mut checked);
            said(&checked)
        };
        let every = Some(QuestionRef::Every);
        let first = "+ conversation “rain”, question 1: the answer contains “rain”: “It rains.”";
        let second = "- conversation “rain”, question 2: the answer contains “rain”: “No.”";
        assert_eq!(check(&observed, every), [first, second]);
        assert_eq!(check(&observed, Some(QuestionRef::Number(1))), [first]);
        let third = "- conversation “rain”: question 3 is done: it has 2 questions";
        assert_eq!(check(&observed, Some(QuestionRef::Number(3))), [third]);
        let last = "- conversation “rain”: the answer contains “rain”: “No.”";
        assert_eq!(check(&observed, None), [last]);
        // The agent was at work on this one when a person ended the session.
        let known = observed.conversations.get_mut(&RunId(1)).unwrap();
        known.questions[1] = question(None, true);
        assert_eq!(check(&observed, every), [first]);
        assert!(check(&observed, None)[0].starts_with('+'));
        observed.conversations.get_mut(&RunId(1)).unwrap().questions.remove(0);
        let none = "- conversation “rain”: a question is done: it has 1 question";
        assert_eq!(check(&observed, every), [none]);
        assert!(check(&observed, None)[0].starts_with('-'));
    }

    #[test]
    fn conditions_are_read_of_the_session_at_its_end() {
        let state = State::default();
        let check = |text: &str| {
            let condition = Expression::condition(text, Scope::Session).unwrap();
            said(&[holds(&condition, &state)]).concat()
        };
        assert_eq!(check("done == 0"), "+ done == 0: true");
        assert_eq!(check("right > 0"), "- right > 0: false");
        assert!(check("score.nobody < 0.0").starts_with("- score.nobody < 0.0: "));
        let nothing = recovered(3, &state, &Observed::default());
        assert_eq!(said(&[nothing]), ["- recovered after at most 3 tasks: no tool was broken"]);
    }
}
