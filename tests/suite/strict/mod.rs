//! Sessions against an endpoint that takes a request only if every known one would: all loops, all roles, both modes of
//! tools, a live switch of model, a session that runs again, `resume`, an edit in flight, and faults.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::{cell::RefCell, rc::Rc, time::Duration};

use serde_json::json;
use tokio::sync::mpsc;
use toolyard::app::session::{SessionSpec, TaskSource};
use toolyard::domain::edit::Edit;
use toolyard::domain::probe::Probe;
use toolyard::domain::{
    Base, Command, Event, Judge, Knob, Message, ModelCallEvent, Record, Role, State, Strategy,
    Task, ToolMode,
};
use toolyard::engine::{self, Beginning, Setup};
use toolyard::model::Model;
use toolyard::tool::ToolBox;

use self::endpoint::Strict;
use crate::engine::yard::Echo;
use crate::program::Home;

mod endpoint;
mod rules;

fn setup(strategy: Strategy, models: Vec<Rc<dyn Model>>, faults: &[&str]) -> Setup {
    setup_with(strategy, models, faults, |_| {})
}

/// A session with one tool and one task. The first model has all roles unless `change` says otherwise.
fn setup_with(
    strategy: Strategy,
    models: Vec<Rc<dyn Model>>,
    faults: &[&str],
    change: impl FnOnce(&mut SessionSpec),
) -> Setup {
    let mut tools = ToolBox::default();
    tools.join(Rc::new(Echo::new("echo", "Test", Rc::default())));
    // Without a class, so that a classifier is asked for one.
    tools.join(Rc::new(Echo::new("plain", "", Rc::default())));
    let knobs =
        [(Knob::Judge, f64::from(Judge::Model as u8)), (Knob::MaxSteps, 6.0), (Knob::Tries, 2.0)];
    let mut spec = SessionSpec {
        workspace: Some("test".into()),
        strategy: Some(strategy),
        knobs: knobs.into(),
        tasks: TaskSource::List(vec![task()]),
        faults: faults.iter().map(|spec| spec.parse().unwrap()).collect(),
        ..SessionSpec::default()
    };
    change(&mut spec);
    spec.setup_with(models, tools).unwrap()
}

fn task() -> Task {
    Task { gold: Some("done".into()), ..Task::from_text("Say hello.") }
}

/// Runs a session to its end. `react` answers records with commands.
async fn run(
    setup: Setup,
    mut react: impl FnMut(&Record) -> Option<Command> + 'static,
) -> (Vec<Record>, State) {
    let (wish, wishes) = mpsc::unbounded_channel();
    let records = Rc::new(RefCell::new(Vec::new()));
    let seen = Rc::clone(&records);
    let listener = Box::new(move |record: &Arc<Record>| {
        react(record).into_iter().for_each(|command| wish.send(command).unwrap());
        seen.borrow_mut().push((**record).clone());
    });
    let session = engine::run(setup, wishes, listener);
    let state = tokio::time::timeout(Duration::from_secs(60), session).await.unwrap().unwrap();
    let records = records.borrow().clone();
    (records, state)
}

fn on_real_time(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, test);
}

const MODES: [ToolMode; 2] = [ToolMode::Native, ToolMode::Text];

#[test]
fn a_strict_endpoint_takes_every_request_of_every_loop() {
    on_real_time(async {
        for mode in MODES {
            // What is added to a loop changes its menus and its end, whatever the mode of tools.
            let is_plain = |it: &Strategy| !it.to_string().contains('+');
            let all = Strategy::all().filter(|it| mode == ToolMode::Native || is_plain(it));
            for strategy in all {
                let strict = Strict::start('a', &[]).await;
                let setup = setup(strategy, vec![strict.model("one", mode)], &[]);
                run(setup, |_| None).await;
                strict.expect_no_faults(&format!("{strategy} {mode:?}"));
            }
        }
    });
}

/// The roles that asked in a session.
fn asked(records: &[Record]) -> impl Iterator<Item = Role> {
    records.iter().filter_map(|record| match &record.event {
        Event::ModelCall(ModelCallEvent::ModelCallRequested { request, .. }) => Some(request.role),
        _ => None,
    })
}

#[test]
fn every_role_asks_in_both_modes_beside_an_actor_of_either_mode() {
    on_real_time(async {
        let mut seen = BTreeSet::new();
        for (actor, others) in [(MODES[0], MODES[1]), (MODES[1], MODES[0]), (MODES[1], MODES[1])] {
            // Modifiers ask the same roles whatever the modes.
            let is_tried = |it: &Strategy| actor != others || *it == it.base.into();
            for strategy in Strategy::all().filter(is_tried) {
                let (one, two) = (Strict::start('a', &[]).await, Strict::start('b', &[]).await);
                let models = vec![one.model("one", actor), two.model("two", others)];
                let bind = |spec: &mut SessionSpec| {
                    let others = Role::all().filter(|role| *role != Role::Actor);
                    spec.roles = others.map(|role| (role, "two".into())).collect();
                    spec.knobs.insert(Knob::Grader, 1.0);
                    if strategy.base == Base::React {
                        spec.tasks =
                            TaskSource::List(vec![task(), Task::of_probe(Probe::default())]);
                    }
                };
                let (records, _) = run(setup_with(strategy, models, &[], bind), |_| None).await;
                let what = format!("{strategy} {actor:?} {others:?}");
                one.expect_takes(&what);
                two.expect_takes(&what);
                let mode = |role| if role == Role::Actor { actor } else { others };
                seen.extend(asked(&records).map(|role| (role, format!("{:?}", mode(role)))));
            }
        }
        let missing = Role::all().flat_map(|role| MODES.map(|mode| (role, format!("{mode:?}"))));
        let missing: Vec<_> = missing.filter(|pair| !seen.contains(pair)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    });
}

#[test]
fn words_of_schemas_that_are_refused_are_left_out_and_said_once() {
    on_real_time(async {
        for strategy in ["react", "toolnet+reflexion", "dfsdt"] {
            let words = &["additionalProperties", "const", "exclusiveMinimum", "oneOf", "$schema"];
            let strict = Strict::without_words(words).await;
            let parameters = json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "type": "object",
                "additionalProperties": false,
                "required": ["text"],
                "properties": {
                    "text": {"type": "string"},
                    "const": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
                    "kind": {"const": "a"},
                    "n": {"type": "array", "items": {"exclusiveMinimum": 3}},
                },
            });
            let mut tools = ToolBox::default();
            let echo = Echo::new("echo", "Test", Rc::default()).taking(parameters);
            tools.join(Rc::new(echo));
            let models = vec![strict.model("one", ToolMode::Native)];
            let setup = Setup { tools, ..setup(strategy.parse().unwrap(), models, &[]) };
            let (records, _) = run(setup, |_| None).await;
            strict.expect_no_faults(strategy);
            for word in words {
                let text = format!("leave out `{word}`");
                let said = records.iter().filter(|it| format!("{:?}", it.event).contains(&text));
                assert!(said.count() == 1, "{strategy}: {word}");
            }
            let sent = &strict.seen.lock().unwrap()[0];
            let sent = &sent["tools"][0]["function"]["parameters"]["properties"];
            assert!(sent["const"].is_object(), "a property may have the name: {sent}");
        }
    });
}

#[test]
fn a_resumed_session_sends_what_a_strict_endpoint_takes() {
    on_real_time(async {
        for mode in ["native", "text"] {
            let strict = Strict::start('a', &["temperature"]).await;
            let url = strict.url.clone();
            tokio::task::spawn_blocking(move || resume(&url, mode)).await.unwrap();
            strict.expect_no_faults(mode);
        }
    });
}

/// Runs a session, tears its journal after some calls, and resumes it.
fn resume(url: &str, mode: &str) {
    let home = Home::new();
    let model = format!(
        "kind = \"openai\"\nurl = \"{url}\"\nmodel = \"gpt-x\"\nstream = false\ntools = \"{mode}\""
    );
    home.write("c.toml", format!("[models.one]\n{model}\n[roles]\ndefault = \"one\"\n"));
    home.write("w/tasks.toml", "[[task]]\ntext = \"Say hello.\"\n");
    let run = ["run", "--config", "c.toml", "--workspace", "w", "--strategy", "react"];
    home.write("w/tools/echo.toml", ECHO);
    let ran = home.run(&[&run[..], &["--journal", "j.jsonl"]].concat());
    assert!(ran.code < 2, "{ran:?}");
    let whole = home.read("j.jsonl");
    let (cut, _) = whole.match_indices("\"ModelCallRequested\"").nth(1).expect(&whole);
    home.write("j.jsonl", &whole[..cut]);
    let ran = home.run(&["resume", "j.jsonl", "--config", "c.toml", "--headless"]);
    assert!(ran.code < 2, "{ran:?}");
    let state = home.succeed(&["replay", "j.2.jsonl", "--json"]);
    assert!(state.contains("\"recorded\"") && state.contains("\"live\""), "{state}");
}

const ECHO: &str = r#"name = "echo"
description = "says what it is told"
class = "Test"
effect = "read"
[parameters]
required = ["text"]
[parameters.properties.text]
type = "string"
[source]
command = ["cat"]
"#;

#[test]
fn fields_that_are_refused_reach_the_endpoint_once_whatever_the_role() {
    on_real_time(async {
        for strategy in ["react+reflexion", "toolnet", "workers", "tot-dfs", "atc"] {
            let refused = &["temperature", "stop", "response_format", "stream_options", "stream"];
            let strict = Strict::start('a', refused).await;
            let setup =
                setup(strategy.parse().unwrap(), vec![strict.model("one", ToolMode::Text)], &[]);
            let (records, _) = run(setup, |_| None).await;
            strict.expect_no_faults(strategy);
            for field in refused {
                let text = format!("leave out `{field}`");
                let said = records.iter().filter(|it| format!("{:?}", it.event).contains(&text));
                assert!(said.count() <= 1, "{strategy}: {field}");
            }
            let failed = |it: &&Record| {
                matches!(it.event, Event::ModelCall(ModelCallEvent::ModelCallFailed { .. }))
            };
            let failed: Vec<_> = records.iter().filter(failed).collect();
            assert!(failed.is_empty(), "{strategy}: {failed:?}");
        }
    });
}

#[test]
fn after_a_switch_of_model_each_endpoint_gets_what_it_takes() {
    on_real_time(async {
        for (mode, other) in [(MODES[0], MODES[0]), (MODES[1], MODES[0]), (MODES[0], MODES[1])] {
            for strategy in ["react", "toolnet", "dfsdt", "tot-dfs"] {
                let (one, two) = (Strict::start('a', &[]).await, Strict::start('b', &[]).await);
                let models = vec![one.model("one", mode), two.model("two", other)];
                let mut asked = 0;
                let switch = move |record: &Record| {
                    let Event::ModelCall(ModelCallEvent::ModelCallFinished { .. }) = record.event
                    else {
                        return None;
                    };
                    asked += 1;
                    let model = if asked % 4 < 2 { "one" } else { "two" };
                    Some(Command::BindRole { role: Role::Actor, model: model.into() })
                };
                run(setup(strategy.parse().unwrap(), models, &[]), switch).await;
                one.expect_no_faults(&format!("{strategy} {mode:?}"));
                two.expect_no_faults(&format!("{strategy} {mode:?}, second"));
            }
        }
    });
}

#[test]
fn a_session_runs_again_and_goes_on_with_what_its_endpoint_wants_back() {
    on_real_time(async {
        let strict = Strict::start('a', &["temperature"]).await;
        let make =
            || setup("react".parse().unwrap(), vec![strict.model("one", ToolMode::Native)], &[]);
        let (records, _) = run(make(), |_| None).await;
        strict.expect_no_faults("the first");
        let asked = strict.seen.lock().unwrap().len();
        let is_reply = |it: &Record| {
            matches!(it.event, Event::ModelCall(ModelCallEvent::ModelCallFinished { .. }))
        };
        let third = records.iter().filter(|it| is_reply(it)).nth(2).unwrap().n;
        // A journal that breaks off in the first task.
        let recorded: Vec<Record> =
            records.into_iter().take_while(|record| record.n <= third).collect();
        run(
            Setup { beginning: Beginning::Over { of: recorded.into(), until: None }, ..make() },
            |_| None,
        )
        .await;
        strict.expect_no_faults("the second");
        assert!(strict.seen.lock().unwrap().len() > asked);
    });
}

#[test]
fn an_edit_in_flight_and_faults_leave_requests_that_a_strict_endpoint_takes() {
    on_real_time(async {
        for faults in [
            &["role:actor:empty:p=0.4"][..],
            &["echo:garbage:p=0.5"],
            &["echo:empty:p=0.5"],
            &["echo:error:p=0.5", "role:actor:error:p=0.2"],
        ] {
            let strict = Strict::start('a', &[]).await;
            let models = vec![strict.model("one", ToolMode::Native)];
            run(setup("react".parse().unwrap(), models, faults), |_| None).await;
            strict.expect_no_faults(&format!("{faults:?}"));
        }
        let strict = Strict::start('a', &[]).await;
        let edit = |record: &Record| match &record.event {
            Event::ModelCall(ModelCallEvent::ModelCallRequested { effect, request, .. }) => {
                let mut messages = request.messages.clone();
                for message in messages.iter_mut() {
                    if let Message::Assistant { text, .. } | Message::System { text } = message {
                        text.clear();
                    }
                }
                let edit = Box::new(Edit::Messages(messages));
                Some(Command::EditCall { effect: effect.id, edit, shown: true })
            }
            _ => None,
        };
        let models = vec![strict.model("one", ToolMode::Native)];
        run(setup("react".parse().unwrap(), models, &[]), edit).await;
        strict.expect_no_faults("edits");
    });
}
