//! A person changes the queue of tasks, skips one, and asks further.

use std::rc::Rc;

use serde_json::json;
use toolyard::domain::{
    Command, Event, ModelCallEvent, Outcome, State, Task, TaskEvent, TaskId, ToolCallPhase,
};
use toolyard::engine;

use super::yard::{Trial, Yard, calls, on_paused_time};

/// Three tasks `b`, `c` and `d` wait behind the first one, which the person holds.
async fn waiting() -> Yard {
    let yard = Trial { paused: true, stay: true, ..Trial::default() }.start();
    for text in ["b", "c", "d"] {
        yard.wish(Command::QueueTask { text: text.into() });
    }
    yard.settle().await;
    yard
}

fn texts(yard: &Yard) -> Vec<String> {
    let state = yard.state.borrow();
    assert!(state.tasks.iter().zip(1..).all(|(task, n)| task.id == TaskId(n)));
    state.tasks.iter().map(|task| task.task.text.clone()).collect()
}

/// What the model was asked last, for the second task.
fn asked_last(yard: &Yard) -> String {
    let records = yard.records.borrow();
    let asked = records.iter().rev().find_map(|record| match &record.event {
        Event::ModelCall(ModelCallEvent::ModelCallRequested {
            task: TaskId(2), request, ..
        }) => Some(request.messages.iter().map(|message| message.text()).collect()),
        _ => None,
    });
    asked.unwrap()
}

async fn does(yard: &Yard, command: Command, after: &[&str]) {
    yard.wish(command);
    yard.settle().await;
    assert_eq!(texts(yard), after);
}

#[test]
fn waiting_tasks_are_moved_and_removed_and_every_change_is_undone() {
    on_paused_time(async {
        let yard = waiting().await;
        let first = "Say hello.";
        let task = |n| TaskId(n);
        does(&yard, Command::MoveTaskBy { task: task(2), by: 1 }, &[first, "c", "b", "d"]).await;
        does(&yard, Command::MoveTaskBy { task: task(4), by: -9 }, &["d", first, "c", "b"]).await;
        does(&yard, Command::RunNext { task: task(4) }, &["b", "d", first, "c"]).await;
        let gone = vec![Task::from_text("d")];
        let remove = Command::RemoveTasks { first: task(2), tasks: gone.clone() };
        does(&yard, remove.clone(), &["b", first, "c"]).await;
        // The task that has this number now is another one.
        does(&yard, remove, &["b", first, "c"]).await;
        does(&yard, Command::MoveTaskBy { task: task(1), by: -1 }, &["b", first, "c"]).await;
        does(&yard, Command::MoveTask { task: task(9), to: task(1) }, &["b", first, "c"]).await;
        assert_eq!(
            yard.refusals(),
            [
                "the queue has changed in the meantime",
                "task 1 is already the first waiting task",
                "there is no task 9"
            ]
        );
        does(&yard, Command::Undo, &["b", "d", first, "c"]).await;
        does(&yard, Command::Undo, &["d", first, "c", "b"]).await;
        does(&yard, Command::Undo, &[first, "c", "b", "d"]).await;
        does(&yard, Command::Undo, &[first, "b", "c", "d"]).await;
        does(&yard, Command::Undo, &[first, "b", "c"]).await;
        does(&yard, Command::Redo, &[first, "b", "c", "d"]).await;
        does(&yard, Command::Redo, &[first, "c", "b", "d"]).await;
        does(&yard, Command::QueueNext { text: " e ".into() }, &["e", first, "c", "b", "d"]).await;
        does(&yard, Command::Undo, &[first, "c", "b", "d"]).await;
        yard.wish(Command::Run);
        yard.until("all are done", |state| state.tasks_done == 4).await;
        let worked = yard.state.borrow().tasks.iter().map(|task| task.started).collect::<Vec<_>>();
        assert!(worked.is_sorted(), "{worked:?}");
        yard.wish(Command::MoveTaskBy { task: task(2), by: 1 });
        yard.settle().await;
        assert_eq!(yard.refusals().last().unwrap(), "task 2 has ended already");
        let folded = State::fold(yard.records.borrow().iter().map(|record| &**record));
        assert_eq!(folded, *yard.state.borrow());
    });
}

#[test]
fn the_tasks_of_the_beginning_are_queued_again() {
    on_paused_time(async {
        let yard = waiting().await;
        let first = "Say hello.";
        does(&yard, Command::QueueAgain, &[first, "b", "c", "d", first]).await;
        does(&yard, Command::Undo, &[first, "b", "c", "d"]).await;
        assert_eq!(yard.refusals(), Vec::<String>::new());
    });
}

#[test]
fn a_removed_task_is_not_put_back_among_those_that_are_done() {
    on_paused_time(async {
        let yard = waiting().await;
        let gone = vec![Task::from_text("b")];
        let remove = Command::RemoveTasks { first: TaskId(2), tasks: gone };
        does(&yard, remove, &["Say hello.", "c", "d"]).await;
        yard.wish(Command::Run);
        yard.until("all are done", |state| state.tasks_done == 3).await;
        does(&yard, Command::Undo, &["Say hello.", "c", "d"]).await;
        let why = "the queue no longer has a place for task 2";
        assert_eq!(yard.refusals(), [why]);
    });
}

#[test]
fn a_task_that_hangs_is_skipped_and_the_next_one_runs() {
    on_paused_time(async {
        let replies =
            vec![Ok(calls(&[("hang", json!({"text": "x"})), ("echo", json!({"text": "y"}))]))];
        let yard = Trial { replies, tasks: 2, ..Trial::default() }.start();
        yard.until("it hangs", |state| {
            state.tool_calls_in_flight().count() == 1 && state.tool_calls.len() == 2
        })
        .await;
        yard.wish(Command::SkipTask { task: TaskId(2) });
        yard.wish(Command::SkipTask { task: TaskId(1) });
        let records = Rc::clone(&yard.records);
        yard.settle().await;
        assert_eq!(yard.refusals(), ["task 2 is not running"]);
        let state = yard.session.await.unwrap();
        let outcomes: Vec<_> = state.tasks.iter().map(|task| task.outcome()).collect();
        assert_eq!(outcomes, [Some(Outcome::Stopped), Some(Outcome::Answered)]);
        match &state.tool_calls[0].phase {
            ToolCallPhase::Failed { error } => assert_eq!(error.text, "the task was skipped"),
            other => panic!("{other:?}"),
        }
        assert!(state.effects_in_flight().next().is_none());
        // A session that is continued does not do the task again.
        let past: Vec<_> = records.borrow().iter().map(|record| (**record).clone()).collect();
        let end = past.iter().position(|record| {
            matches!(record.event, Event::Task(TaskEvent::TaskFinished { task: TaskId(1), .. }))
        });
        assert_eq!(engine::resumable(past[..=end.unwrap()].to_vec()).len(), end.unwrap() + 1);
    });
}

#[test]
fn a_held_task_is_skipped_at_once() {
    on_paused_time(async {
        let yard = Trial { paused: true, tasks: 2, stay: true, ..Trial::default() }.start();
        yard.settle().await;
        for boundary in ["before a model call", "after a model call"] {
            yard.wish(Command::Step);
            yard.settle().await;
            assert_eq!(yard.held(), [boundary]);
        }
        yard.wish(Command::SkipTask { task: TaskId(1) });
        yard.until("it waits before the next", |state| state.tasks_done == 1).await;
        yard.settle().await;
        assert_eq!(yard.held(), ["before a task"]);
        assert_eq!(yard.state.borrow().tool_calls.len(), 0);
    });
}

#[test]
fn a_further_question_comes_next_and_the_model_reads_what_was_said() {
    on_paused_time(async {
        let yard = Trial { paused: true, stay: true, tasks: 2, ..Trial::default() }.start();
        yard.settle().await;
        let ask = |text: &str| Command::FollowUp { task: TaskId(1), text: text.into() };
        yard.wish(ask("And louder?"));
        yard.settle().await;
        assert_eq!(yard.refusals(), ["task 1 has no answer"]);
        yard.wish(Command::StepTask);
        yard.until("one is done", |state| state.tasks_done == 1).await;
        yard.wish(ask("  "));
        yard.wish(ask("And louder?"));
        yard.settle().await;
        assert_eq!(yard.refusals()[1..], ["the question is empty"]);
        assert_eq!(texts(&yard), ["Say hello.", "And louder?", "Say hello."]);
        yard.wish(Command::StepTask);
        yard.until("two are done", |state| state.tasks_done == 2).await;
        let asked = asked_last(&yard);
        assert!(
            asked.contains(
                "Task: And louder?\n\nIt follows on from this conversation:\n\
                 {\"question\":\"Say hello.\",\"answer\":\"done\"}"
            ),
            "{asked}"
        );
        // A question after that one knows both.
        yard.wish(Command::FollowUp { task: TaskId(2), text: "And softer?".into() });
        yard.settle().await;
        let state = yard.state.borrow();
        let before = &state.tasks[2].task.before;
        let asked: Vec<_> = before.iter().map(|exchange| exchange.question.as_str()).collect();
        assert_eq!(asked, ["Say hello.", "And louder?"]);
    });
}

#[test]
fn a_session_does_not_run_far_ahead_of_its_screen() {
    on_paused_time(async {
        let (screen, taken) = tokio::sync::watch::channel(0);
        let yard = Trial { tasks: 600, taken: Some(taken), ..Trial::default() }.start();
        yard.settle().await;
        let shown = || yard.records.borrow().len() as u64;
        let first = shown();
        assert!((2_048..2_200).contains(&first), "{first}");
        yard.settle().await;
        assert_eq!(shown(), first, "it waits");
        screen.send_replace(1_000);
        yard.settle().await;
        assert!((first + 900..first + 1_100).contains(&shown()), "{}", shown());
        // Without a screen nobody is waited for.
        drop(screen);
        let state = yard.session.await.unwrap();
        assert_eq!(state.tasks.iter().filter(|task| task.outcome().is_some()).count(), 600);
    });
}
