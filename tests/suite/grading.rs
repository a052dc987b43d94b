//! The grader: what it sees, what becomes of its verdict, and who pays for it.

use serde_json::json;
use toolyard::domain::{Knob, ModelError, ModelErrorKind, Reply, Role, State};
use toolyard::report::Report;

use crate::engine::yard::{Trial, calls, on_paused_time, say};

/// A session of one task that ends with this answer, and the grader's reply.
async fn graded(answer: &str, reply: Result<Reply, ModelError>, strategy: &'static str) -> State {
    let replies = vec![Ok(calls(&[("Finish", json!({ "answer": answer }))])), reply];
    let knobs = vec![(Knob::Grader, 1.0)];
    Trial { replies, strategy, knobs, ..Trial::default() }.start().session.await.unwrap()
}

#[test]
fn a_grader_sees_question_golds_and_answer_and_its_verdict_stands_beside_the_others() {
    on_paused_time(async {
        let verdict = say(r#"{"right": false, "reason": "it only says so"}"#);
        let state = graded("It is done or not.", Ok(verdict), "react").await;
        let task = &state.tasks[0];
        assert_eq!(task.correct, Some(true), "the lexical verdict stays");
        let grading = task.grading.as_ref().unwrap();
        assert_eq!((grading.right, grading.why.as_str()), (Some(false), "it only says so"));
        let call = state.model_calls.last().unwrap();
        assert_eq!(call.role, Role::Grader);
        assert!(call.request.tools.is_empty());
        assert_eq!(
            call.request.messages[1].text(),
            "Task: Say hello.\n\nTo grade: {\"right_answers\":[\"done\"],\"answer\":\"It is done or not.\"}"
        );
        let report = Report::of(&state);
        let grader = report.quality.grader.unwrap();
        assert_eq!((grader.tasks, grader.right, grader.agrees_with_lexical), (1, 0, 0.0));
        assert_eq!(grader.agrees_with_exact_match, 1.0);
    });
}

#[test]
fn grading_costs_money_and_none_of_the_agents_budget() {
    on_paused_time(async {
        let verdict = say(r#"{"right": true}"#);
        let state = graded("done", Ok(verdict), "react").await;
        let task = &state.tasks[0];
        // Two calls of a dollar for the million in, and a dollar for half a million out.
        assert_eq!(
            (task.dollars, task.grading.as_ref().unwrap().dollars),
            (2.0.into(), 2.0.into())
        );
        assert_eq!(task.tokens_in, 1_000_000);
        assert_eq!(task.credits(), 200.0);
        let report = Report::of(&state);
        assert_eq!((report.totals.dollars, report.tasks[0].dollars), (Some(4.0), Some(2.0)));
    });
}

#[test]
fn a_grader_that_fails_or_talks_gives_no_verdict() {
    on_paused_time(async {
        let refused = ModelError::new(ModelErrorKind::Refused, "no");
        for (reply, why) in [(Err(refused), "no"), (Ok(say("Sure!")), "no JSON object")] {
            let state = graded("done", reply, "react").await;
            let grading = state.tasks[0].grading.clone().unwrap();
            assert_eq!(grading.right, None);
            assert!(grading.why.contains(why), "{grading:?}");
            assert_eq!(Report::of(&state).quality.grader.unwrap().without_verdict, 1);
        }
    });
}

#[test]
fn a_missing_answer_is_wrong_without_a_call_and_nothing_is_graded_unless_asked_for() {
    on_paused_time(async {
        let give_up = calls(&[("Finish", json!({ "answer": "", "gave_up": true }))]);
        let knobs = vec![(Knob::Grader, 1.0)];
        let trial =
            Trial { replies: vec![Ok(give_up)], strategy: "react", knobs, ..Trial::default() };
        let state = trial.start().session.await.unwrap();
        assert_eq!(state.tasks[0].grading.as_ref().unwrap().right, Some(false));
        assert!(state.model_calls.iter().all(|call| call.role != Role::Grader));
        let state = Trial::default().start().session.await.unwrap();
        assert_eq!(state.tasks[0].grading, None);
        assert_eq!(Report::of(&state).quality.grader, None);
    });
}
