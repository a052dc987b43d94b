//! The one path of effects: what stations see, what runs beside what, and sessions that are run again.

use std::{cell::Cell, rc::Rc, sync::Arc, time::Duration};

use futures::future::LocalBoxFuture;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use toolyard::app::session::SessionSpec;
use toolyard::domain::{
    Command, EffectId, Event, EvidenceId, Judge, Knob, Lane, ModelCallPhase, ModelError, ModelSpec,
    Outcome, Record, Reply, Request, SessionEvent, State, Strategy, ToolError, ToolOutput,
    ToolSpec,
};
use toolyard::engine::{self, Beginning, Passage, Passing, Setup, Station, StationVerdict};
use toolyard::model::{Model, ModelProgress};
use toolyard::tool::{Invocation, Tool, ToolBox};

use super::yard::{Trial, on_paused_time, say};

/// Counts what passes it.
struct Counter(Cell<usize>);

impl Station for Counter {
    fn before<'a>(&'a self, _passage: &'a mut Passage) -> Passing<'a, StationVerdict> {
        self.0.set(self.0.get() + 1);
        engine::now(StationVerdict::Go)
    }
}

/// Runs a session to its end, and gives its records and its last state.
pub async fn run(setup: Setup, commands: &[(u64, Command)]) -> (Vec<Record>, State) {
    let (wish, wishes) = mpsc::unbounded_channel();
    let (tell, mut told) = mpsc::unbounded_channel();
    let mut due = commands.to_vec();
    let listener = Box::new(move |record: &Arc<Record>| {
        while let Some((_, command)) = due.first().filter(|(n, _)| *n == record.n).cloned() {
            due.remove(0);
            wish.send(command).unwrap();
        }
        tell.send((**record).clone()).unwrap();
    });
    let state = engine::run(setup, wishes, listener).await.unwrap();
    let mut records = Vec::new();
    while let Ok(record) = told.try_recv() {
        records.push(record);
    }
    (records, state)
}

pub fn demo(spec: SessionSpec) -> Setup {
    let spec = SessionSpec { fresh: true, ..spec };
    spec.prepare().unwrap().setup(None).unwrap()
}

#[test]
fn the_last_station_sees_every_effect_that_starts_whatever_the_strategy() {
    for strategy in Strategy::all() {
        on_paused_time(async move {
            let counter = Rc::new(Counter(Cell::new(0)));
            let spec = SessionSpec {
                strategy: Some(strategy),
                tasks_limit: Some(2),
                knobs: [(Knob::Judge, Judge::Model as u8 as f64)].into(),
                ..SessionSpec::default()
            };
            let setup = Setup { stations: vec![counter.clone()], ..demo(spec) };
            let (records, _) = run(setup, &[]).await;
            let started = ["ModelCallStarted", "ToolCallStarted", "EmbeddingStarted"];
            let started = records.iter().filter(|record| started.contains(&record.event.kind()));
            let started = started.count();
            assert!(started > 0);
            assert_eq!(counter.0.get(), started, "{strategy}");
        });
    }
}

/// A model or tool that must not be touched.
struct Untouchable<T>(Arc<T>);

impl Model for Untouchable<ModelSpec> {
    fn spec(&self) -> &Arc<ModelSpec> {
        &self.0
    }

    fn ask<'a>(
        &'a self,
        request: &'a Request,
        _progress: &'a mut dyn FnMut(ModelProgress),
    ) -> LocalBoxFuture<'a, Result<Reply, ModelError>> {
        panic!("the {} is asked", request.role)
    }
}

impl Tool for Untouchable<ToolSpec> {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.0
    }

    fn call<'a>(
        &'a self,
        _invocation: &'a Invocation,
    ) -> LocalBoxFuture<'a, Result<ToolOutput, ToolError>> {
        panic!("{} is called", self.0.name)
    }
}

/// The same session with models and tools that must not be touched, and what it had before.
fn again(spec: SessionSpec, recorded: Vec<Record>) -> Setup {
    let setup = demo(spec);
    let mut tools = ToolBox::default();
    for spec in setup.tools.specs() {
        tools.join(Rc::new(Untouchable(Arc::clone(spec))));
    }
    let untouchable =
        |model: Rc<dyn Model>| -> Rc<dyn Model> { Rc::new(Untouchable(Arc::clone(model.spec()))) };
    let models = setup.models.into_iter().map(untouchable).collect();
    Setup {
        models,
        tools,
        beginning: Beginning::Over { of: recorded.into(), until: None },
        ..setup
    }
}

/// What happened, but for times and for where outcomes come from.
fn data(records: &[Record]) -> Vec<Value> {
    let bare = |record: &Record| {
        let mut event = serde_json::to_value(&record.event).unwrap();
        if let Some(effect) = event["data"].get_mut("effect").and_then(Value::as_object_mut) {
            effect.remove("origin");
        }
        event
    };
    records.iter().map(bare).collect()
}

#[test]
fn a_session_runs_again_from_its_record_without_models_and_tools() {
    for strategy in ["workers+toolnet+btp", "toolnet", "tot-dfs+btp+reflexion"] {
        on_paused_time(async move {
            let spec = SessionSpec {
                strategy: Some(strategy.parse().unwrap()),
                faults: vec!["search_web:error:from-task=20".parse().unwrap()],
                ..SessionSpec::default()
            };
            let commands = [
                (40, Command::TurnKnobBy { knob: Knob::Alpha, steps: 1 }),
                (90, Command::SetScore { tool: "wikipedia".into(), score: 2.0 }),
                (150, Command::SwitchTool { tool: "search_backup".into(), on: false }),
                (200, Command::Undo),
                (220, Command::Undo),
                (240, Command::Redo),
            ];
            let (first, state) = run(demo(spec.clone()), &commands).await;
            assert!(state.tasks_done >= 40 && first.len() > 400, "{}", first.len());
            let (second, _) = run(again(spec, first.clone()), &[]).await;
            let (first, second) = (data(&first), data(&second));
            for (n, (one, other)) in (1..).zip(first.iter().zip(&second)) {
                assert_eq!(one, other, "{strategy}: record {n}");
            }
            assert_eq!(first.len(), second.len());
        });
    }
}

#[test]
fn what_does_not_fit_a_record_is_said_and_done_live() {
    on_paused_time(async {
        let spec = SessionSpec { tasks_limit: Some(3), ..SessionSpec::default() };
        let (first, _) = run(demo(spec.clone()), &[]).await;
        let other = SessionSpec { knobs: [(Knob::TopK, 3.0)].into(), ..spec };
        let setup =
            Setup { beginning: Beginning::Over { of: first.into(), until: None }, ..demo(other) };
        let (second, state) = run(setup, &[]).await;
        assert_eq!(state.tasks_done, 3);
        let said = second.iter().find_map(|record| match &record.event {
            Event::Session(SessionEvent::Noticed { text }) => Some(text.clone()),
            _ => None,
        });
        let said = said.unwrap();
        assert!(said.contains("the record does not match: expected ModelCallRequested"), "{said}");
        assert!(said.contains("the first difference is data.request."), "{said}");
    });
}

/// A plan with two pieces of evidence that a model is asked for, and one call.
fn two_questions() -> Trial {
    let plan = "Plan: ask twice\n#E1 = LLM[one]\n#E2 = LLM[two]";
    let replies = vec![Ok(say(plan)), Ok(say("uno")), Ok(say("due")), Ok(say("done"))];
    let delay = Duration::from_millis(500);
    Trial { replies, strategy: "workers", names: &["echo"], delay, ..Trial::default() }
}

#[test]
fn independent_model_calls_take_the_longest_of_their_times() {
    on_paused_time(async {
        let state = two_questions().start().session.await.unwrap();
        let took = |evidence| {
            let call =
                state.model_calls.iter().find(|ask| ask.evidence == Some(EvidenceId(evidence)));
            let call = call.unwrap();
            (call.started.unwrap() / 1000, call.ended.unwrap() / 1000)
        };
        assert_eq!(took(1), took(2), "both at once");
        assert_eq!(state.at / 1000, 1500, "planner, both questions, solver");
    });
}

#[test]
fn one_model_call_is_paused_or_cancelled_while_the_other_goes_on() {
    on_paused_time(async {
        let mut yard = two_questions().start();
        let (one, two) = (EffectId(2), EffectId(3));
        yard.until("both run", |state| {
            state.model_calls_in_flight().filter(|ask| ask.started.is_some()).count() == 2
        })
        .await;
        yard.wish(Command::PauseLane(Lane::Effect(one)));
        yard.wish(Command::Cancel(two));
        yard.until("one is held", |state| state.control.is_held(Lane::Effect(one))).await;
        let failed = |state: &State| {
            matches!(state.model_call(two).unwrap().phase, ModelCallPhase::Failed { .. })
        };
        assert!(failed(&yard.state.borrow()));
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert_eq!(yard.state.borrow().model_calls.len(), 3, "the solver waits for what is held");
        yard.wish(Command::ResumeLane(Lane::Effect(one)));
        let state = (&mut yard.session).await.unwrap();
        assert_eq!(state.evidence_text(&state.tasks[0].work, EvidenceId(1)), Some("uno"));
        assert_eq!(state.tasks[0].outcome(), Some(Outcome::Answered));
    });
}

#[test]
fn verdicts_of_a_model_come_beside_calls_that_depend_on_the_result() {
    on_paused_time(async {
        let plan = "Plan: a\n#E1 = echo[{\"text\": \"one\"}]\n#E2 = echo[{\"text\": \"#E1 two\"}]";
        let verdict = r#"{"helpful": true, "reason": "yes"}"#;
        let replies = [plan, verdict, verdict, "done"].map(|text| Ok(say(text))).into();
        let delay = Duration::from_millis(500);
        let knobs = vec![(Knob::Judge, Judge::Model as u8 as f64)];
        let strategy = "workers";
        let state = Trial { replies, strategy, delay, knobs, ..Trial::default() };
        let state = state.start().session.await.unwrap();
        assert_eq!(state.tasks[0].correct, Some(true));
        assert_eq!(state.at / 1000, 1500, "planner, both verdicts at once, solver");
        let solver = state.model_calls.last().unwrap();
        assert!(state.tool_calls.iter().all(|call| call.helpful == Some(true)));
        assert!(
            state
                .model_calls
                .iter()
                .all(|ask| ask.ended.unwrap() <= solver.started.unwrap() || ask.id == solver.id)
        );
        let judged = state.model_calls.iter().filter_map(|ask| ask.parent).collect::<Vec<_>>();
        assert_eq!(judged, [EffectId(2), EffectId(3)], "a verdict names the call it is about");
    });
}

#[test]
fn a_long_result_in_which_something_was_not_found_is_a_good_one_for_everybody() {
    on_paused_time(async {
        let article = format!(
            "{} The comet was not found until 1931. {}",
            "It is old. ".repeat(30),
            "Then it shone. ".repeat(30)
        );
        let plan = format!("Plan: a\n#E1 = echo[{}]", json!({ "text": article }));
        let replies = vec![Ok(say(&plan)), Ok(say("done"))];
        let knobs = vec![(Knob::Budget, 50_000.0), (Knob::Tau, 0.0)];
        let trial = Trial { replies, strategy: "workers+btp", knobs, ..Trial::default() };
        let state = trial.start().session.await.unwrap();
        assert_eq!(state.tool_calls[0].helpful, Some(true));
        assert_eq!(state.tasks[0].budget.blacklist.len(), 0);
        let work = &state.tasks[0].work;
        assert_eq!(state.evidence_text(work, EvidenceId(1)), Some(article.as_str()));
    });
}
