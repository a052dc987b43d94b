//! What an agent is told of its answers, and what it does with that.

use std::rc::Rc;

use serde_json::json;
use toolyard::domain::{Event, Knob, Role, SessionEvent};

use super::yard::{Trial, calls, on_paused_time, say};

#[test]
fn reflexion_tries_again_with_what_it_learned() {
    on_paused_time(async {
        let wrong = || Ok(calls(&[("Finish", json!({"answer": "wrong"}))]));
        let replies = vec![wrong(), Ok(say("look closer")), wrong(), Ok(say("look again"))];
        let knobs = vec![(Knob::GoldFeedback, 1.0)];
        let plan = Trial { replies, strategy: "react+reflexion", knobs, ..Trial::default() };
        let state = plan.start().session.await.unwrap();
        let task = &state.tasks[0];
        assert_eq!((task.tries, task.correct), (3, Some(true)));
        assert_eq!(task.reflections, ["look closer", "look again"]);
        let last = state.model_calls.last().unwrap();
        assert!(last.request.messages[1].text().contains("look closer"));
    });
}

#[test]
fn without_gold_feedback_no_agent_is_told_whether_the_answer_is_right() {
    on_paused_time(async {
        for (knobs, told) in [
            (vec![], "Whether the answer is right is not known."),
            (vec![(Knob::GoldFeedback, 1.0)], "The answer is wrong."),
        ] {
            let call = calls(&[("echo", json!({"text": "x"}))]);
            let wrong = calls(&[("Finish", json!({"answer": "wrong"}))]);
            let replies = vec![Ok(call), Ok(wrong)];
            let strategy = "toolnet+reflexion";
            let plan = Trial { replies, strategy, knobs, ..Trial::default() };
            let yard = plan.start();
            let records = Rc::clone(&yard.records);
            let state = yard.session.await.unwrap();
            let of = |role| state.model_calls.iter().filter(move |call| call.role == role);
            let evaluator = of(Role::Evaluator).next().unwrap();
            assert!(evaluator.request.messages[1].text().ends_with(told));
            let is_told = told.contains("wrong");
            assert_eq!(of(Role::Reflector).count() > 0, is_told);
            let said = "+reflexion has no effect on answers";
            let said = records.borrow().iter().filter(|record| {
                matches!(&record.event, Event::Session(SessionEvent::Noticed { text }) if text.starts_with(said))
            }).count();
            assert_eq!(said, usize::from(!is_told));
        }
    });
}
