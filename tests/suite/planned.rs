//! Plans that cannot be used: the planner is told once, and then the task has failed.

use toolyard::domain::state::What;
use toolyard::domain::{Outcome, Role, State, TaskId};

use crate::engine::yard::{Trial, on_paused_time, say};

/// What the transcript says of a task besides what was asked and called.
fn notices(state: &State, task: TaskId) -> Vec<String> {
    let lines = state.transcript.iter().filter(|line| line.task == Some(task));
    let notices = lines.filter_map(|line| match &line.what {
        What::Told { event } => Some(toolyard::ui::wording::told(event)),
        _ => None,
    });
    notices.collect()
}

const NO_PLAN: &str = "I would search the web first and then see.";

#[test]
fn a_planner_that_writes_no_plan_is_told_so_and_asked_once_more() {
    on_paused_time(async {
        let plan = "Plan: say it\n#E1 = echo[hello]";
        let replies = vec![Ok(say(NO_PLAN)), Ok(say(plan)), Ok(say("done"))];
        let plan = Trial { replies, strategy: "workers", ..Trial::default() };
        let state = plan.start().session.await.unwrap();
        let task = &state.tasks[0];
        assert_eq!((task.correct, task.work.refused.len()), (Some(true), 1));
        let asked: Vec<_> =
            state.model_calls.iter().filter(|ask| ask.role == Role::Planner).collect();
        assert_eq!(asked.len(), 2);
        let again = &asked[1].request.messages;
        assert_eq!(again[again.len() - 2].text(), NO_PLAN);
        assert!(again[again.len() - 1].text().contains(&task.work.refused[0]), "{again:#?}");
    });
}

#[test]
fn a_planner_that_writes_no_plan_twice_fails_its_task_and_nothing_is_called() {
    on_paused_time(async {
        for bad in [NO_PLAN, "Plan: a\n#E1 = ehco[hello]", "Plan: a\n#E1 = echo[#E7]"] {
            for strategy in ["rewoo", "workers"] {
                let replies = vec![Ok(say(bad)), Ok(say(bad))];
                let plan = Trial { replies, strategy, ..Trial::default() };
                let state = plan.start().session.await.unwrap();
                let task = &state.tasks[0];
                assert_eq!(task.outcome(), Some(Outcome::Failed), "{strategy}: {bad}");
                assert_eq!(task.answer, None);
                assert!(task.tool_calls.is_empty() && task.work.plan.is_none());
                assert!(state.model_calls.iter().all(|ask| ask.role != Role::Solver));
                let said = notices(&state, task.id);
                let told = |why: &String| why.starts_with("the plan could not be used: ");
                assert_eq!(said.into_iter().filter(told).count(), 2);
            }
        }
    });
}
