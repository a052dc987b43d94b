use super::*;
use crate::domain::Outcome;

/// A task from words: `a` answered, `a!` was hit, `a?` failed by itself, `b<a` answered instead of `a`.
fn lap(n: u32, text: &str) -> Lap {
    let tried = |word: &str| {
        let (call, instead_of) = match word.split_once('<') {
            Some((call, tool)) => (call, Some(tool.into())),
            None => (word, None),
        };
        let (tool, end) = match call.as_bytes() {
            [.., b'!'] => (&call[..call.len() - 1], TriedEnd::Injected),
            [.., b'?'] => (&call[..call.len() - 1], TriedEnd::Failed),
            _ => (call, TriedEnd::Ok),
        };
        Tried { tool: tool.into(), end, instead_of }
    };
    Lap {
        task: TaskId(n),
        outcome: Some(Outcome::Answered),
        correct: Some(!text.contains('X')),
        tried: text.split_whitespace().filter(|word| *word != "X").map(tried).collect(),
        tokens: 100,
        credits: 2.0.into(),
        dollars: 0.0.into(),
        ..Lap::default()
    }
}

fn laps(texts: &[&str]) -> Vec<Lap> {
    (1..).zip(texts).map(|(n, text)| lap(n, text)).collect()
}

fn broken(from: u32) -> Broken {
    Broken { tools: vec!["a".into()], from: TaskId(from), until: None }
}

const TOOK_OVER: [&str; 11] = ["a", "a c", "a", "a! b<a", "c", "a! b<a", "b", "b c", "b", "b", "b"];

#[test]
fn the_choice_is_stable_where_five_tasks_in_a_row_choose_well() {
    let laps = laps(&TOOK_OVER);
    let found = Resilience::of(&laps, &broken(4), true);
    assert_eq!(found.strip, ["a", "b"].map(ToolName::from));
    assert_eq!((found.hit, found.stable), (Some(TaskId(4)), Some(TaskId(7))));
    assert_eq!(found.verdict, RecoveryVerdict::Recovered { after: 2 });
    assert_eq!((found.before.tasks, found.meanwhile.tasks, found.after.tasks), (3, 3, 5));
    assert_eq!(found.before.calls, 4.0 / 3.0);
    assert_eq!(
        sentence(&found, None),
        "recovered after 2 affected tasks (4–7), +0.3 calls each, 0 answers lost"
    );
    let sooner = Resilience::of(&laps[..10], &broken(4), true);
    assert_eq!(sooner.verdict, RecoveryVerdict::Recovering { tasks: 6 });
    let ended = Resilience::of(&laps[..10], &broken(4), false);
    assert_eq!(ended.verdict, RecoveryVerdict::NotRecovered { failed: 2, tasks: 6 });
}

#[test]
fn a_verdict_compares_with_tasks_before_and_fewer_calls_are_no_price() {
    let verdict = Resilience::of(&laps(&["a! b<a", "c", "a! b<a"]), &broken(1), true).verdict;
    assert_eq!(verdict, RecoveryVerdict::NoComparison);
    let found = Resilience::of(&laps(&["a a a a", "a! b<a"]), &broken(2), true);
    assert!(found.more_calls().is_some_and(|more| more < 0.0));
    assert!(!sentence(&found, None).contains("calls"), "{}", sentence(&found, None));
}

#[test]
fn a_first_choice_that_still_fails_in_the_eighth_task_is_the_end_of_it() {
    let verdict = |texts: &[&str]| Resilience::of(&laps(texts), &broken(3), true).verdict;
    let before = ["a", "a"];
    let all = [&before[..], &["a! b<a", "c"].repeat(8)].concat();
    assert_eq!(verdict(&all[..16]), RecoveryVerdict::Recovering { tasks: 7 });
    assert_eq!(verdict(&all), RecoveryVerdict::NotRecovered { failed: 8, tasks: 8 });
    // A good choice between failures is no recovery.
    let mixed = [&before[..], &["a! b<a", "b", "a! b<a"].repeat(3)].concat();
    assert_eq!(verdict(&mixed), RecoveryVerdict::NotRecovered { failed: 6, tasks: 9 });
    // Who chooses well from the seventh one on is given the time for five.
    let late = [&before[..], &["a! b<a"; 6], &["b"; 5]].concat();
    assert_eq!(verdict(&late[..10]), RecoveryVerdict::Recovering { tasks: 8 });
    assert_eq!(verdict(&late), RecoveryVerdict::Recovered { after: 6 });
}

#[test]
fn a_task_that_needs_none_of_the_tools_neither_helps_nor_harms() {
    let found = Resilience::of(&laps(&["a", "a! b<a", "c", "c", "c", "c", "c"]), &broken(2), true);
    assert_eq!(found.stable, None);
}

#[test]
fn a_fault_that_never_fires_or_is_repaired_is_told_as_such() {
    let laps = laps(&["a", "a! b<a", "a", "a", "a", "a", "a"]);
    assert_eq!(Resilience::of(&laps, &broken(3), true).verdict, RecoveryVerdict::NotAffected);
    let repaired = Broken { until: Some(TaskId(2)), ..broken(2) };
    let found = Resilience::of(&laps, &repaired, true);
    assert_eq!(found.verdict, RecoveryVerdict::NotRecovered { failed: 1, tasks: 1 });
    assert_eq!((found.meanwhile.tasks, found.after.tasks), (1, 5), "the repair ends it, too");
}

#[test]
fn lost_is_what_was_right_without_the_fault() {
    let with = laps(&["a", "a! X", "a! b<a", "a! X"]);
    let without = laps(&["a", "a", "a", "a X"]);
    assert_eq!(lost(&with, &without, TaskId(2)), 1);
    let found = Resilience::of(&with, &broken(2), false);
    assert_eq!(
        sentence(&found, Some(1)),
        "not recovered: 3 of 3 first choices failed, +0.3 calls each, 1 answer lost"
    );
    assert_eq!(
        sentence(&found, None),
        "not recovered: 3 of 3 first choices failed, +0.3 calls each, 33 % right (before: 100 %)"
    );
}

#[test]
fn each_task_uses_a_tool_in_one_way() {
    let strip = ["a", "b"].map(ToolName::from);
    let of = |text: &str| strip.clone().map(|tool| used(&lap(1, text), &tool, &strip));
    assert_eq!(of("a c"), [Use::First, Use::None]);
    assert_eq!(of("c a! b<a"), [Use::Injected, Use::Second]);
    assert_eq!(of("a? b<a"), [Use::Failed, Use::Second]);
    assert_eq!(of("b"), [Use::None, Use::First]);
    assert_eq!(of("b?"), [Use::None, Use::Failed]);
    assert_eq!(of("c"), [Use::None, Use::None]);
}
