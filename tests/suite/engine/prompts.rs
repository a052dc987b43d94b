//! Prompts that a workspace overrides reach the models, and the first event has them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use toolyard::domain::{Event, Knob, Prompts, Rates, Reply, SessionEvent, State, prompt::PROMPTS};
use toolyard::engine::Memory;
use toolyard::store::experience::{Experience, Same, Use};

use super::yard::{Trial, calls, on_paused_time, say};

/// Each built-in text, with the prompt's name before it.
fn marked() -> Prompts {
    let text = |name: &str, built_in: &str| format!("[{name}] {built_in}");
    let all = PROMPTS.iter().map(|spec| (spec.prompt, text(spec.name, spec.built_in)));
    Prompts::new(&all.collect::<BTreeMap<_, _>>())
}

fn trial(strategy: &'static str, replies: Vec<Reply>) -> Trial {
    let replies = replies.into_iter().map(Ok).collect();
    Trial { strategy, replies, prompts: marked(), ..Trial::default() }
}

fn echo(text: &str) -> Reply {
    calls(&[("echo", json!({ "text": text }))])
}

fn give_up() -> Reply {
    calls(&[("Finish", json!({"answer": "", "gave_up": true}))])
}

/// Plans are made, and can be made again.
fn budgeted(mut trial: Trial) -> Trial {
    let mut store = Experience::private().unwrap();
    let past = |n: u32| Use {
        query: format!("Say hello to guest {n}."),
        tool: "echo".into(),
        parameters: json!({}),
        result: "hello".into(),
        helpful: true,
        at: jiff::Timestamp::UNIX_EPOCH,
        source: "test".into(),
    };
    store.add_all(&(0..6).map(past).collect::<Vec<_>>()).unwrap();
    trial.knobs.extend([(Knob::Budget, 6.0), (Knob::Candidates, 1.0), (Knob::Spread, 0.0)]);
    trial.rates = Rates { credits_per_dollar: 0.0.into(), ..Rates::default() };
    trial.memory =
        Some(Memory { store: store.into(), is_kept: true, same: Same::Counts, embedder: None });
    trial
}

/// One tool needs what another one returns, and there are so many that the prober chooses among them.
fn probed() -> Trial {
    let names = &["last", "a", "b", "c", "d", "e", "f"];
    let program = |text: &str| say(&format!("What is it?\n```python\n{text}\n```"));
    let mut replies = vec![program("last()"), program("last()")];
    for name in &names[1..] {
        replies.push(program(&format!("print({name}(text='1'))")));
        replies.push(program(&format!("print({name}(text='2'))")));
    }
    replies.extend([say("f\na"), program("print(last(text=a(text='3')))")]);
    let knobs = vec![(Knob::ProbeSamples, 2.0), (Knob::ProbeAll, 1.0)];
    Trial { probe: true, tasks: 0, names, knobs, ..trial("react", replies) }
}

/// Sessions that together use every prompt.
fn trials() -> Vec<Trial> {
    let plan = "Plan: ask\n#E1 = echo[x]\n#E2 = LLM[What is #E1?]";
    let mut judged = trial("toolnet", vec![echo("a"), say("{\"helpful\": true}")]);
    judged.knobs.push((Knob::Judge, 1.0));
    let mut closed = budgeted(trial("react+btp", vec![echo("a")]));
    closed.knobs.push((Knob::MaxSteps, 1.0));
    let mut banned = budgeted(trial("react+btp", vec![echo("a"), say("{\"helpful\": false}")]));
    banned.knobs.extend([(Knob::Judge, 1.0), (Knob::Blacklist, 2.0)]);
    let mut retried = trial("react+reflexion", vec![give_up(), say("Do better.")]);
    retried.knobs.push((Knob::Tries, 2.0));
    let mut planned = trial("workers+prompt", vec![say("no plan"), say(plan), say("x")]);
    planned.structured = true;
    let mut sorted = trial("workers", vec![say("{\"classes\": {}}"), say(plan), say("x")]);
    sorted.class = "";
    let mut graded = trial("direct", vec![say("done"), say("{\"right\": true}")]);
    graded.knobs.push((Knob::Grader, 1.0));
    let mut long = trial("react", vec![echo(&"a".repeat(300))]);
    long.knobs.push((Knob::ResultMax, 200.0));
    toolyard::process::set_reaper(env!("CARGO_BIN_EXE_toolyard").into());
    let failing = "```python\nx = echo(text='a')\nprint(x['b'] + y)\n```";
    let mut unclear = trial(
        "atc",
        vec![say("no program"), say("```python\nprint(1 / 0)\n```"), say("echo"), say(failing)],
    );
    unclear.knobs.push((Knob::Programs, 4.0));
    vec![
        unclear,
        probed(),
        long,
        judged,
        graded,
        closed,
        banned,
        retried,
        planned,
        sorted,
        trial("direct", vec![say("done")]),
        trial("cotools", vec![say("6 * 7 ="), echo("42"), say("The answer is 42.")]),
        trial("react+prompt", vec![say("")]),
        trial("react", vec![say("<tool_call>{\"name\": \"ec"), calls(&[("Finish", json!({}))])]),
        trial("dfsdt", vec![say(""), echo("a"), give_up(), echo("b")]),
        trial("tot-dfs", vec![echo("a"), echo("b"), say("{\"better\": 1}")]),
        budgeted(trial("rewoo+btp", vec![say(plan), say("x")])),
        budgeted(trial("atc+btp", vec![say("```python\nprint(echo(text='a'))\n```")])),
    ]
}

#[test]
fn every_overridden_prompt_reaches_the_roles_that_it_is_declared_for() {
    on_paused_time(async {
        let mut told = BTreeSet::new();
        for trial in trials() {
            let state: State = trial.start().session.await.unwrap();
            for ask in &state.model_calls {
                let messages = ask.request.messages.iter().map(|message| message.text());
                let menu = ask.request.tools.iter().map(|tool| tool.description.as_str());
                let text = messages.chain(menu).collect::<Vec<_>>().join("\n");
                assert!(
                    ["{why}", "{costs}", "{tools}"].iter().all(|place| !text.contains(place)),
                    "{text}"
                );
                for spec in PROMPTS {
                    if text.contains(&format!("[{}]", spec.name)) {
                        assert!(spec.roles.contains(&ask.role), "{}: {}", spec.name, ask.role);
                        told.insert(spec.name);
                    }
                }
            }
        }
        let never = PROMPTS.iter().map(|spec| spec.name).filter(|name| !told.contains(name));
        assert_eq!(never.collect::<Vec<_>>(), Vec::<&str>::new(), "no session used these");
    });
}

#[test]
fn the_first_event_says_what_models_are_told() {
    on_paused_time(async {
        let yard = trial("direct", vec![say("done")]).start();
        let records = yard.records.clone();
        let state = yard.session.await.unwrap();
        let records = records.borrow();
        let Event::Session(SessionEvent::SessionOpened { opening }) = &records[0].event else {
            panic!("{:?}", records[0])
        };
        assert_eq!((&opening.prompts, &state.prompts), (&marked(), &marked()));
        // Older journals have no prompts.
        let mut old = serde_json::to_value(&**opening).unwrap();
        old.as_object_mut().unwrap().remove("prompts");
        let old: toolyard::domain::event::Opening = serde_json::from_value(old).unwrap();
        assert_eq!(old.prompts, Prompts::default());
    });
}
