//! Which model where: what came of whose tasks outlives the session, and who can be reached is looked for
//! beside whatever runs.

use std::{path::Path, time::Duration};

use toolyard::domain::{
    Command, Event, Knob, MenuReason, ModelCallEvent, ModelError, ModelErrorKind, ModelName,
    Outcome, PairTally, Reach, Reachable, Reply, Role, State, Usage, pairs::Cost, tokens,
};
use toolyard::engine::Memory;
use toolyard::report::Report;
use toolyard::store::experience::{Experience, Same};

use super::yard::{Trial, Yard, on_paused_time, say};

fn memory(path: &Path) -> Option<Memory> {
    let store = Experience::open(path).unwrap();
    Some(Memory { store: store.into(), is_kept: true, same: Same::Counts, embedder: None })
}

/// Two tasks: one is answered right, and of the other the planner fails.
fn replies() -> Vec<Result<Reply, ModelError>> {
    vec![
        Ok(say("Plan: a\n#E1 = echo[x]\nPlan: b\n#E2 = echo[y]")),
        Ok(say("done")),
        Err(ModelError::new(ModelErrorKind::Refused, "no")),
    ]
}

fn plan(path: &Path) -> Trial {
    Trial {
        replies: replies(),
        strategy: "workers",
        class: "Test",
        tasks: 2,
        memory: memory(path),
        ..Trial::default()
    }
}

fn only(state: &State) -> &PairTally {
    let [tally] = state.pairs.all() else { panic!("one pair: {:#?}", state.pairs) };
    tally
}

#[test]
fn what_came_of_whose_tasks_is_counted_on_in_the_next_session() {
    on_paused_time(async {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("e.sqlite");
        let mut first = plan(&path);
        // To count is not to learn.
        first.knobs = vec![(Knob::Learn, 0.0)];
        let state = first.start().session.await.unwrap();
        let outcomes: Vec<_> = state.tasks.iter().map(|task| task.outcome().unwrap()).collect();
        assert_eq!(outcomes, [Outcome::Answered, Outcome::Failed]);
        let tally = only(&state);
        assert_eq!((tally.tasks, tally.with_gold, tally.correct), (2, 2, 1), "a failure counts");
        let tokens: u64 = state.tasks.iter().map(|task| task.tokens()).sum();
        assert_eq!(tally.tokens_in + tally.tokens_out, tokens);
        // Two plans and an answer; then a planner that said nothing.
        assert_eq!(tally.steps, 4);
        let dollars: f64 = state.tasks.iter().map(|task| *task.dollars).sum();
        assert!(dollars >= 4.0, "the failure is paid for too: {dollars}");
        assert_eq!(tally.cost(), Cost::Known(1000.0 * dollars / 2.0));
        assert!(tally.pair.is_simulated());

        let yard = plan(&path).start();
        let records = yard.records.clone();
        let state = yard.session.await.unwrap();
        assert_eq!((only(&state).tasks, only(&state).correct), (4, 2));
        assert!(records.borrow().iter().any(|record| record.event.kind() == "PairsLoaded"));
        assert_eq!(State::fold(records.borrow().iter().map(|record| &**record)), state);
        let kept = Experience::open_existing(&path).unwrap().pairs("test").unwrap();
        assert_eq!(kept, state.pairs.all());
    });
}

#[test]
fn the_pair_is_who_was_asked_and_a_task_that_the_user_stopped_is_nobodys() {
    on_paused_time(async {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("e.sqlite");
        let mut plan = plan(&path);
        plan.delay = Duration::from_millis(100);
        plan.faults = vec!["class:Test:latency:ms=100"];
        plan.second = vec![Ok(say("done"))];
        let yard = plan.start();
        yard.until("planned", |state| !state.tool_calls.is_empty()).await;
        let model = ModelName::from("second");
        yard.wish(Command::BindRole { role: Role::Solver, model: model.clone() });
        yard.until("at the second", |state| state.tasks_done == 1 && !state.at_work.is_empty())
            .await;
        yard.wish(Command::Stop);
        let state = yard.session.await.unwrap();
        assert_eq!(state.tasks[1].outcome(), Some(Outcome::Stopped));
        let pair = &only(&state).pair;
        assert_eq!(pair.planner.as_ref().unwrap().model.as_str(), "script");
        assert_eq!((&pair.solver.model, only(&state).tasks), (&model, 1));
    });
}

#[test]
fn an_endpoint_that_ignores_tools_is_told_of_once() {
    on_paused_time(async {
        let session = async |tokens_in: u64| {
            let said = Reply { usage: Usage { tokens_in, ..Usage::default() }, ..say("done") };
            let names =
                &["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o"];
            let replies = vec![Ok(said.clone()), Ok(said)];
            let trial = Trial { replies, names, strategy: "react", tasks: 2, ..Trial::default() };
            trial.start().session.await.unwrap()
        };
        let all = session(0).await;
        assert_eq!(Report::of(&all).notices, Vec::<String>::new());
        let request = &all.model_calls[0].request;
        let sent = tokens::count_request(request);
        assert_eq!(Report::of(&session(sent).await).notices, Vec::<String>::new());
        let counted = sent - tokens::count_tools(&request.tools);
        let state = session(counted).await;
        assert_eq!(state.model_calls.len(), 2);
        let said = format!(
            "the endpoint of script seems to ignore tools: it counted {counted} tokens, about {sent} \
             were sent; set `tools = \"text\"` for this model"
        );
        assert_eq!(Report::of(&state).notices, [said]);
    });
}

#[test]
fn where_nobody_plans_it_is_the_actor() {
    on_paused_time(async {
        let state = Trial::default().start().session.await.unwrap();
        let tally = only(&state);
        assert_eq!((tally.pair.planner.as_ref(), tally.steps), (None, 2));
        assert_eq!(tally.pair.solver.model.as_str(), "script");
    });
}

fn reachable(yard: &Yard, model: &str) -> Reachable {
    yard.state.borrow().models.known[model].reachable.clone()
}

#[test]
fn who_can_be_reached_is_looked_for_beside_what_runs() {
    on_paused_time(async {
        let mut yard = Trial { stay: true, ..Trial::default() }.start();
        yard.wish(Command::ProbeModels);
        yard.until("done", |state| state.tasks_done == 1).await;
        assert!(matches!(reachable(&yard, "script"), Reachable::Tried { how: Reach::Yes, .. }));
        let since = yard.state.borrow().models.known["second"].reachable.clone();
        assert!(matches!(since, Reachable::Trying { .. }), "the task did not wait: {since:?}");
        yard.wish(Command::ProbeModels);
        yard.settle().await;
        assert_eq!(reachable(&yard, "second"), since, "it is not looked for twice at once");
        yard.until("no answer", |state| {
            matches!(&state.models.known["second"].reachable,
                Reachable::Tried { how: Reach::No, text } if text.contains("nobody is there"))
        })
        .await;
        yard.wish(Command::ProbeModels);
        yard.settle().await;
        yard.wish(Command::Stop);
        let state = (&mut yard.session).await.unwrap();
        let kinds = yard.kinds();
        assert_eq!(kinds.iter().filter(|kind| *kind == "ModelsProbed").count(), 3);
        // Nobody answers any more, and nothing on the screen should wait for it.
        assert_eq!(state.models.known["second"].reachable, Reachable::NotTried);
        assert_eq!(yard.refusals(), Vec::<String>::new());
        let asked = |record: &toolyard::domain::event::Record| {
            matches!(record.event, Event::ModelCall(ModelCallEvent::ModelCallStarted { .. }))
        };
        let asks = yard.records.borrow().iter().filter(|record| asked(record)).count();
        assert_eq!(asks, state.model_calls.len(), "to look is not to ask");
    });
}

#[test]
fn what_a_model_says_is_told_while_it_says_it() {
    on_paused_time(async {
        let delay = Duration::from_secs(2);
        let yard = Trial { delay, strategy: "react", ..Trial::default() }.start();
        yard.until("a part has come", |state| !state.model_calls.is_empty()).await;
        let Yard { session, records, .. } = yard;
        session.await.unwrap();
        let records = records.borrow();
        let mut said = records.iter().filter_map(|record| match &record.event {
            Event::ModelCall(ModelCallEvent::ModelCallProgressed { effect, text, .. }) => {
                Some((effect.id, text.as_str()))
            }
            _ => None,
        });
        let (first, text) = said.next().unwrap();
        assert_eq!(text, "thinking");
        assert!(said.all(|(effect, _)| effect != first), "what comes right after it is not told");
        let place = |is: fn(&ModelCallEvent) -> bool| {
            records.iter().position(|record| {
                matches!(&record.event, Event::ModelCall(event) if is(event))
                    && record.event.effect().is_some_and(|effect| effect.id == first)
            })
        };
        let started = place(|event| matches!(event, ModelCallEvent::ModelCallStarted { .. }));
        let part = place(|event| matches!(event, ModelCallEvent::ModelCallProgressed { .. }));
        let ended = place(|event| matches!(event, ModelCallEvent::ModelCallFinished { .. }));
        assert!(started < part && part < ended, "{started:?} {part:?} {ended:?}");
    });
}

/// More is explored than there is.
#[test]
fn a_menu_ends_where_no_other_tool_fits() {
    on_paused_time(async {
        let knobs = vec![(Knob::Explore, 5.0)];
        let yard = Trial { knobs, ..Trial::default() }.start();
        let state = yard.session.await.unwrap();
        assert_eq!(state.tasks[0].outcome(), Some(Outcome::Answered));
    });
}

#[test]
fn a_menu_offers_every_tool_that_it_can_hold() {
    on_paused_time(async {
        for (most, offered) in [(3.0, 3), (2.0, 2)] {
            let (names, strategy) = (&["echo", "hang", "other"][..], "react");
            let knobs = vec![(Knob::MenuMax, most)];
            let yard = Trial { names, strategy, knobs, ..Trial::default() }.start();
            let state = yard.session.await.unwrap();
            let menu = &state.tasks[0].steps[0].menu;
            let tools = menu.iter().filter(|item| item.why != MenuReason::Finish).count();
            assert_eq!(tools, offered, "{menu:?}");
        }
    });
}
