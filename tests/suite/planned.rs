//! Plans that cannot be used: the planner is told once, and then the task has failed; or it has said what
//! it has to say, and the answer is marked.

use toolyard::domain::state::What;
use toolyard::domain::{Caveat, Finish, Outcome, Reply, Role, State, TaskId};
use toolyard::report::Report;

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
                let told = |why: &String| why.starts_with("plan rejected: ");
                assert_eq!(said.into_iter().filter(told).count(), 2);
            }
        }
    });
}

/// A session of a planner that says this.
async fn planned(strategy: &'static str, replies: Vec<Reply>) -> State {
    let replies = replies.into_iter().map(Ok).collect();
    Trial { replies, strategy, ..Trial::default() }.start().session.await.unwrap()
}

fn cut(text: &str) -> Reply {
    Reply { finish: Finish::Length, ..say(text) }
}

const GOOD: &str = "Plan: say it\n#E1 = echo[hello]";

#[test]
fn a_plan_of_labelled_bullets_is_carried_out() {
    on_paused_time(async {
        let bullets = "### Plan\n1. **Say it.**\n   - **Tool:** echo\n   - **Input:** hello\n   - **Evidence:** #E1";
        for strategy in ["rewoo", "workers"] {
            let state = planned(strategy, vec![say(bullets), say("done")]).await;
            assert_eq!(state.tool_calls.len(), 1);
            assert_eq!(state.tool_calls[0].arguments["text"], "hello");
            let task = &state.tasks[0];
            assert_eq!((task.work.refused.len(), task.caveats.as_slice()), (0, &[][..]));
        }
    });
}

#[test]
fn a_plan_that_says_too_little_is_asked_for_again_with_the_reason() {
    on_paused_time(async {
        let more = "Plan: say it\n#E1 = echo[hello]\nPlan: combine #E1 and #E2";
        for (first, why) in [
            (say("Plan: I know it."), "it calls no tool, though tools are offered"),
            (say(more), "it names #E2, but no call finds that"),
            (
                say("**Step 1:** Say it.\n- **Tool:** echo\n- **Evidence:** #E1"),
                "echo has no input",
            ),
            (cut(GOOD), "the limit of tokens cut it off"),
            (cut("Plan: say it\n#E1 = echo[hel"), "the limit of tokens cut it off"),
        ] {
            let state = planned("workers", vec![first, say(GOOD), say("done")]).await;
            let task = &state.tasks[0];
            assert_eq!(task.correct, Some(true));
            assert_eq!(task.work.refused.len(), 1);
            assert!(task.work.refused[0].starts_with(why), "{:?}", task.work.refused);
            let asked = state.model_calls.iter().filter(|ask| ask.role == Role::Planner).count();
            assert_eq!((asked, state.tool_calls.len()), (2, 1));
            assert!(task.caveats.is_empty());
            let report = serde_json::to_value(Report::of(&state)).unwrap();
            let told = report["tasks"][0]["plans_refused"][0].as_str().unwrap();
            assert!(told.starts_with(why), "{told}");
        }
    });
}

#[test]
fn a_second_plan_without_calls_is_accepted_and_the_answer_is_marked() {
    on_paused_time(async {
        let known = "Plan: I know it.";
        let state = planned("workers", vec![say(known), say(known), say("done")]).await;
        let task = &state.tasks[0];
        assert_eq!(task.outcome(), Some(Outcome::Answered));
        assert_eq!(task.caveats, [Caveat::WithoutEvidence]);
        assert_eq!(task.ended_as().as_deref(), Some("answered without evidence"));
        assert_eq!(task.work.refused.len(), 1);
        let report = serde_json::to_value(Report::of(&state)).unwrap();
        assert_eq!(report["tasks"][0]["caveats"], serde_json::json!(["without_evidence"]));
    });
}

#[test]
fn an_answer_from_null_evidence_alone_is_marked_too() {
    on_paused_time(async {
        let state = planned("workers", vec![say("Plan: a\n#E1 = hang[x]"), say("done")]).await;
        assert_eq!(state.tasks[0].caveats, [Caveat::WithoutEvidence]);
    });
}

#[test]
fn a_second_plan_that_is_cut_is_used_and_that_is_said() {
    on_paused_time(async {
        let state = planned("workers", vec![cut(GOOD), cut(GOOD), say("done")]).await;
        assert_eq!((state.tool_calls.len(), state.tasks[0].correct), (1, Some(true)));
        let told = state.transcript.iter().filter_map(|line| match &line.what {
            What::Told { event } => Some(toolyard::ui::wording::told(event)),
            _ => None,
        });
        let said = "the second plan is used as it is: the limit of tokens cut it off";
        assert_eq!(told.filter(|told| told.starts_with(said)).count(), 1);
    });
}

#[test]
fn an_answer_that_is_cut_is_marked_whatever_the_strategy() {
    on_paused_time(async {
        for strategy in ["direct", "react", "toolnet", "dfsdt", "workers"] {
            for (finish, caveat) in
                [(Finish::Length, Caveat::CutOff), (Finish::Filtered, Caveat::Filtered)]
            {
                let first = if strategy == "workers" { vec![say(GOOD)] } else { vec![] };
                let last = Reply { finish, ..cut("don") };
                let state = planned(strategy, first.into_iter().chain([last]).collect()).await;
                let task = &state.tasks[0];
                assert_eq!(task.outcome(), Some(Outcome::Answered), "{strategy}");
                assert_eq!(task.caveats.first(), Some(&caveat), "{strategy}");
            }
        }
    });
}
