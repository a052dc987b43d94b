//! A model writes, and a judge that reads along has tools called (CoTools).

use std::rc::Rc;

use serde_json::json;
use toolyard::domain::Retrieve;
use toolyard::domain::{
    CallJudge, Finish, Knob, KnobChoice, ModelError, Outcome, Record, Reply, State, ToolName,
};
use toolyard::engine::Beginning;

use super::ranking::{Told, run};
use super::yard::{Trial, calls, say};

fn told() -> Told {
    let judged = vec![(" are", 0.9), ("two", 0.3)];
    Told { best: vec!["gamma", "alpha", "beta", "echo"], judged, ..Told::default() }
}

fn trial(replies: Vec<Reply>) -> Trial {
    Trial {
        strategy: "cotools",
        names: &["echo", "alpha", "beta", "gamma"],
        replies: replies.into_iter().map(Ok::<_, ModelError>).collect(),
        knobs: vec![(Knob::CallK, 2.0), (Knob::Retrieve, f64::from(Retrieve::States as u8))],
        ranker: Some(Rc::new(told())),
        ..Trial::default()
    }
}

fn written() -> Vec<Reply> {
    vec![
        say("One and two are five."),
        calls(&[("alpha", json!({"text": "three"}))]),
        say("The answer is done."),
    ]
}

fn replies(state: &State) -> Vec<(String, Finish)> {
    let replies = state.model_calls.iter().filter_map(|call| call.reply());
    replies.map(|reply| (reply.text.clone(), reply.finish.clone())).collect()
}

#[tokio::test(start_paused = true)]
async fn the_text_ends_where_a_call_starts_and_goes_on_with_its_result() {
    let (state, _) = run(trial(written())).await;
    let said = replies(&state);
    assert_eq!(said[0], ("One and two are".to_owned(), Finish::Judged));
    assert_eq!(said[2].1, Finish::Stop);
    let task = &state.tasks[0];
    assert_eq!((task.outcome(), task.answer.as_deref()), (Some(Outcome::Answered), Some("done")));
    let menu: Vec<&str> = task.steps[0].menu.iter().map(|item| item.tool.as_str()).collect();
    assert_eq!(menu, ["gamma", "alpha", ToolName::END], "the best for this place, by its meaning");
    let judged = &state.model_calls[0].judged;
    assert_eq!(judged.last().map(|piece| (piece.end, piece.p)), Some((15, 0.9.into())));
    assert!(judged.iter().any(|piece| piece.p == 0.3), "what is not above θ is shown, too");
    // The last request has the call and its result behind the text.
    let last = &state.model_calls[2].request.messages;
    assert!(last.iter().any(|message| message.text() == "three"));
}

#[tokio::test(start_paused = true)]
async fn the_threshold_and_the_knob_decide() {
    let with = |knob, value| {
        let mut trial = trial(vec![say("One and two are five. The answer is done.")]);
        trial.knobs.push((knob, value));
        trial
    };
    let named = |how: CallJudge| CallJudge::ALL.iter().position(|it| *it == how).unwrap() as f64;
    let (state, _) = run(with(Knob::Theta, 0.95)).await;
    assert_eq!((state.model_calls.len(), state.tasks_right), (1, 1));
    let (state, _) = run(with(Knob::CallJudge, named(CallJudge::Mark))).await;
    assert_eq!((state.model_calls.len(), state.model_calls[0].judged.is_empty()), (1, false));
    let (state, _) = run(with(Knob::CallJudge, named(CallJudge::Off))).await;
    assert!(state.model_calls.len() == 1 && state.model_calls[0].judged.is_empty());
    let (state, _) = run(with(Knob::Theta, 0.2)).await;
    assert_eq!(replies(&state)[0].0, "One and two");
}

#[tokio::test(start_paused = true)]
async fn two_calls_without_a_result_end_a_task() {
    let again = || [say("Two are"), say("No tool fits.")];
    let (state, _) = run(trial(again().into_iter().chain(again()).collect())).await;
    assert_eq!(state.tasks[0].outcome(), Some(Outcome::GaveUp));
    assert_eq!((state.model_calls.len(), state.tool_calls.len()), (4, 0));
}

#[tokio::test(start_paused = true)]
async fn without_a_trained_judge_an_equals_sign_starts_a_call() {
    let mut trial = trial(vec![say("6 * 7 = 41"), calls(&[("echo", json!({"text": "42"}))])]);
    trial.ranker = None;
    let (state, _) = run(trial).await;
    assert_eq!(replies(&state)[0], ("6 * 7 =".to_owned(), Finish::Judged));
}

#[tokio::test(start_paused = true)]
async fn a_recorded_session_runs_again_without_a_judge() {
    let (first, records): (State, Vec<Record>) = run(trial(written())).await;
    let mut again = trial(vec![]);
    (again.ranker, again.beginning) = (None, Beginning::Over { of: records.into(), until: None });
    let (second, _) = run(again).await;
    assert_eq!(replies(&second), replies(&first));
    assert_eq!(second.model_calls[0].judged, first.model_calls[0].judged);
}
