//! Probing: tools are called to learn what they return, and later results are compared with it.

use std::cell::RefCell;
use std::rc::Rc;

use serde_json::json;
use toolyard::domain::probe::ProbeEnd;
use toolyard::domain::spec::EffectClass;
use toolyard::domain::{
    Command, Event, Knob, KnobChoice, ProbeEvent, Reply, Schemas, State, ToolName,
};
use toolyard::engine::{KeptSchemas, SchemaBook};
use toolyard::report::Report;

use super::yard::{Trial, Yard, calls, on_paused_time, say};

fn program(text: &str) -> Reply {
    say(&format!("What does it say?\n\n```python\n{text}\n```"))
}

fn probing(names: &'static [&'static str], replies: Vec<Reply>) -> Trial {
    crate::processes::with_reaper();
    let replies = replies.into_iter().map(Ok).collect();
    Trial { probe: true, tasks: 0, names, replies, strategy: "react", ..Trial::default() }
}

fn schema(state: &State, tool: &str) -> String {
    let learned = state.tools[&ToolName::from(tool)].learned.as_ref();
    learned.map(|known| known.learned.schema.to_text()).unwrap_or_default()
}

fn has_ended(state: &State) -> bool {
    !state.tasks.is_empty() && state.tasks.iter().all(|task| task.outcome().is_some())
}

fn drifts(yard: &Yard) -> Vec<String> {
    let records = yard.records.borrow();
    let drifts = records.iter().filter_map(|record| match &record.event {
        Event::Probe(ProbeEvent::SchemaDrifted { drift, .. }) => Some(drift.clone()),
        _ => None,
    });
    drifts.flatten().map(|drift| drift.to_string()).collect()
}

/// The number is not written in the program, so it can only be taken from the result.
const SEARCH: &str = "r = search(text='{\"id\": ' + str(617 * 2) + '}')";

#[test]
fn a_tool_that_needs_a_result_is_reached_with_the_tool_that_has_it() {
    on_paused_time(async {
        let replies = vec![
            program("print(details())"),
            program("print(details())"),
            program(&format!("{SEARCH}\nprint(r)")),
            program(&format!("{SEARCH}\nprint(details(text=str(r['id'])))")),
        ];
        let mut yard = probing(&["details", "search"], replies).start();
        let state = (&mut yard.session).await.unwrap();
        assert!(yard.kinds().iter().all(|kind| kind != "Judged"), "no task is helped by it");
        let probing = state.probing.as_ref().unwrap();
        assert_eq!((probing.reached(), probing.pass), ((2, 2), 1));
        assert_eq!(schema(&state, "search"), "{\n  id: int\n}");
        assert_eq!(schema(&state, "details"), "int");
        let known = state.tools[&ToolName::from("details")].learned.clone().unwrap();
        assert_eq!(known.learned.after, [ToolName::from("search")]);
        // Pass 0 tried twice, and not a third time: the reply was the same.
        assert_eq!((known.learned.samples, known.learned.pass), (3, 1));
        assert_eq!(known.learned.question, "What does it say?");
        assert!(state.learning.graph.has_edge("search", "details"));
        assert_eq!(state.tasks.last().unwrap().answer.as_deref(), Some("2 of 2 tools answered"));
        assert!(state.learning.scores.iter().next().is_none(), "nothing was scored");
    });
}

#[test]
fn without_the_chain_each_tool_is_called_alone() {
    on_paused_time(async {
        let replies =
            vec![program("print(details())"), program("print(details())"), program(SEARCH)];
        let mut trial = probing(&["details", "search"], replies);
        trial.knobs.extend([(Knob::ProbePasses, 0.0), (Knob::ProbeEdges, 0.0)]);
        let state = trial.start().session.await.unwrap();
        let probing = state.probing.as_ref().unwrap();
        assert_eq!((probing.reached(), probing.pass), ((1, 2), 0));
        let row = &probing.rows[&ToolName::from("details")];
        assert!(
            matches!(&row.end, Some(ProbeEnd::Failed(why)) if why.contains("missing")),
            "{row:?}"
        );
    });
}

#[test]
fn empty_lists_are_tried_again_and_kept_if_nothing_better_comes() {
    on_paused_time(async {
        let empty = || program("print(search(text='{\"total\": 0, \"results\": []}'))");
        let full = program("print(search(text='{\"total\": 1, \"results\": [{\"id\": 1}]}'))");
        let state = probing(&["search"], vec![empty(), full]).start().session.await.unwrap();
        assert_eq!(
            schema(&state, "search"),
            "{\n  total: int\n  results: [{\n    id: int\n  }]\n}"
        );
        let state = probing(&["search"], vec![empty(), empty()]).start().session.await.unwrap();
        assert_eq!(schema(&state, "search"), "{\n  total: int\n  results: []\n}");
        assert_eq!(state.probing.unwrap().reached(), (0, 1));
    });
}

#[test]
fn what_may_change_something_is_probed_only_where_it_is_named() {
    on_paused_time(async {
        let mut trial = probing(&["search"], vec![program("print(search(text='7'))")]);
        (trial.effect, trial.stay) = (EffectClass::Write, true);
        let yard = trial.start();
        yard.until("ends", has_ended).await;
        let refused = |tool: &str| {
            let state = yard.state.borrow();
            state.probing.as_ref().unwrap().rows[&ToolName::from(tool)].refused.clone()
        };
        let why = "its effect is write: name it to probe it";
        assert_eq!(refused("search").as_deref(), Some(why));
        assert_eq!(yard.state.borrow().model_calls.len(), 0);
        yard.wish(Command::Probe { tools: vec!["search".into()] });
        yard.until("answers", |state| !schema(state, "search").is_empty()).await;
        assert_eq!(refused("search"), None);
        yard.wish(Command::Stop);
        yard.session.await.unwrap();
    });
}

#[test]
fn a_result_that_differs_is_told_once_and_the_schema_takes_it_in() {
    on_paused_time(async {
        let other = || calls(&[("echo", json!({"text": "{\"b\": 2}"}))]);
        let replies = vec![program("print(echo(text='{\"a\": 1}'))"), other(), other()];
        let mut trial = probing(&["echo"], replies);
        trial.tasks = 1;
        trial.knobs.push((Schemas::KNOB, Schemas::All as usize as f64));
        let yard = trial.start();
        yard.until("ends", has_ended).await;
        assert_eq!(drifts(&yard), ["a is missing", "b is new"]);
        let state = yard.session.await.unwrap();
        assert_eq!(schema(&state, "echo"), "{\n  a?: int\n  b?: int\n}");
        assert_eq!(state.tools[&ToolName::from("echo")].learned.as_ref().unwrap().drifts, 1);
        // A probing is no task that an agent has done.
        let report = Report::of(&state);
        assert_eq!((report.totals.tasks, report.quality.tasks, state.laps.len()), (1, 1, 1));
        assert_eq!(report.probing.unwrap().calls, 1);
        let asked = state.model_calls.iter().rfind(|call| !call.request.tools.is_empty()).unwrap();
        let echo = asked.request.tools.iter().find(|tool| tool.name.as_str() == "echo").unwrap();
        assert!(echo.description.contains("Returns {\n  a"), "{}", echo.description);
    });
}

#[test]
fn a_known_schema_is_not_asked_for_again() {
    on_paused_time(async {
        let saved: Rc<RefCell<KeptSchemas>> = Rc::default();
        let book = |saved: &Rc<RefCell<KeptSchemas>>| {
            let (kept, saved) = (saved.borrow().clone(), Rc::clone(saved));
            let save = Box::new(move |new: &KeptSchemas| {
                saved.borrow_mut().extend(new.clone());
                Ok(())
            });
            SchemaBook { kept, save }
        };
        let mut first = probing(&["echo"], vec![program("print(echo(text='{\"a\": 1}'))")]);
        first.schemas = book(&saved);
        first.start().session.await.unwrap();
        assert_eq!(saved.borrow().len(), 1);
        let mut second = probing(&["echo"], vec![]);
        (second.schemas, second.stay) = (book(&saved), true);
        let yard = second.start();
        yard.until("ends", has_ended).await;
        assert_eq!(yard.state.borrow().model_calls.len(), 0);
        assert_eq!(schema(&yard.state.borrow(), "echo"), "{\n  a: int\n}");
        // A tool that is named is probed again.
        let probe = || Command::Probe { tools: vec!["echo".into()] };
        yard.wish(probe());
        yard.wish(Command::Probe { tools: vec!["oracle".into()] });
        yard.until("asks", |state| !state.model_calls.is_empty()).await;
        assert_eq!(yard.refusals(), ["there is no tool oracle"]);
        yard.wish(Command::Stop);
        yard.session.await.unwrap();
    });
}

#[test]
fn tools_wait_for_one_probing_only() {
    on_paused_time(async {
        let trial = Trial { paused: true, stay: true, tasks: 0, ..Trial::default() };
        let yard = trial.start();
        yard.settle().await;
        for tool in ["echo", "hang", "echo"] {
            yard.wish(Command::Probe { tools: vec![tool.into()] });
        }
        yard.settle().await;
        assert_eq!(yard.refusals(), ["this is already being probed, or queued for it"]);
        assert_eq!(yard.state.borrow().tasks.len(), 2);
    });
}
