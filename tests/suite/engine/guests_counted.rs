//! What came after what in the calls of watched agents, and what they did about a fault: both are counted again, by the
//! script of the agents and by the events of the journal.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::json;
use toolyard::domain::state::Keeps;
use toolyard::domain::{
    Command, EffectId, Event, Finish, Knob, Outcome, Reaction, Record, Reply, State, TaskEvent,
    TaskId, ToolCallEvent, Usage,
};
use toolyard::papers::agent_verdict::{Deeds, HitPrice};

use super::guests::{Agent, Watch, answer, calling, watch};
use super::yard::{Trial, on_paused_time};

/// Two of them are named as toolyard names no tool, and as no endpoint would.
const TOOLS: [&str; 5] = ["weather", "ask_expert", "mcp__files__read", "end", "\u{1b}[31mred"];
const EXPERT: &str = "Describe the climate of Oslo, in short.";

/// The calls of each answer of a task, and whether it was answered.
type Asked = (Vec<Vec<String>>, bool);
type Edges = BTreeMap<(String, String), u32>;

fn edges(tasks: impl IntoIterator<Item = Asked>) -> Edges {
    let mut edges = Edges::new();
    for (answers, is_answered) in tasks {
        let mut before = BTreeSet::from(["start".to_owned()]);
        let end = vec!["end".to_owned()];
        let of_tool = |name: String| match name.as_str() {
            "start" | "end" => format!("{name} (tool)"),
            _ => name,
        };
        let has_calls = !answers.is_empty();
        let answers = answers.into_iter().map(|names| names.into_iter().map(of_tool).collect());
        for names in answers.chain((is_answered && has_calls).then_some(end)) {
            let now: BTreeSet<String> = names.into_iter().collect();
            for (after, came) in before.iter().flat_map(|one| now.iter().map(move |it| (one, it))) {
                *edges.entry((after.clone(), came.clone())).or_default() += 1;
            }
            before = now;
        }
    }
    edges
}

/// What a journal says, counted without the state.
fn recounted(records: &[Arc<Record>]) -> Edges {
    let mut tasks: BTreeMap<TaskId, (Option<EffectId>, Asked)> = BTreeMap::new();
    for record in records {
        match &record.event {
            Event::ToolCall(ToolCallEvent::ToolCallRequested { effect, task, tool, .. }) => {
                let (parent, (answers, _)) = tasks.entry(*task).or_default();
                if answers.is_empty() || *parent != effect.parent {
                    answers.push(Vec::new());
                }
                *parent = effect.parent;
                answers.last_mut().unwrap().push(tool.to_string());
            }
            Event::Task(TaskEvent::TaskFinished { task, outcome, answer, .. }) => {
                let is_answered = *outcome == Outcome::Answered && answer.is_some();
                tasks.entry(*task).or_default().1.1 = is_answered;
            }
            _ => {}
        }
    }
    edges(tasks.into_values().map(|(_, asked)| asked))
}

fn counted(state: &State) -> Edges {
    let edges = state.followed.edges();
    edges.map(|edge| ((edge.after.to_string(), edge.came.to_string()), edge.times)).collect()
}

/// The tools of an answer: often one of them twice.
fn tools(question: usize, turn: usize, round: usize) -> Vec<String> {
    let tool = |call: usize| TOOLS[(question + 3 * round + 2 * turn + call / 2) % TOOLS.len()];
    (0..1 + (question + round) % 3).map(|call| tool(call).to_owned()).collect()
}

/// An answer with these calls, whose ids are those of every other answer.
fn reply(tools: &[String]) -> Reply {
    const IDS: [&str; 3] = ["c0", "c1", "c2"];
    let calls: Vec<_> = tools
        .iter()
        .zip(IDS)
        .map(|(it, id)| (id, it.as_str(), json!({"question": EXPERT})))
        .collect();
    calling(&calls)
}

async fn round(watch: &Watch, agent: &mut Agent, tools: &[String]) {
    let reply = reply(tools);
    answer(agent.send(watch), &reply).await;
    agent.go_on(&reply, &["so", "so", "so"]);
}

/// Twenty questions, two at a time, each with another one after it; and one of a sub-agent.
async fn ask_all(watch: &Watch) -> Vec<Asked> {
    let mut asked: Vec<Asked> = Vec::new();
    for pair in 0..10 {
        let questions = [2 * pair, 2 * pair + 1];
        let mut agents = questions.map(|q| Agent::asking(&format!("What about number {q}?")));
        for turn in 0..2 {
            let rounds = (pair + turn) % 4;
            let mut answers = questions.map(|_| Vec::new());
            for at in 0..rounds {
                for ((agent, question), answers) in
                    agents.iter_mut().zip(questions).zip(&mut answers)
                {
                    let tools = tools(question, turn, at);
                    let reply = reply(&tools);
                    answer(agent.send(watch), &reply).await;
                    if question == 4 && at == 0 && turn == 0 {
                        let mut expert = Agent::asking(EXPERT);
                        let weather = vec!["weather".to_owned()];
                        round(watch, &mut expert, &weather).await;
                        answer(expert.send(watch), &Reply::of_text("Cold.")).await;
                        asked.push((vec![weather], true));
                    }
                    agent.go_on(&reply, &["so", "so", "so"]);
                    answers.push(tools);
                }
            }
            for (agent, answers) in agents.iter_mut().zip(answers) {
                let said = Reply::of_text("It is so.");
                answer(agent.send(watch), &said).await;
                agent.messages.push(json!({"role": "assistant", "content": said.text}));
                agent.messages.push(json!({"role": "user", "content": "And what after that?"}));
                asked.push((answers, true));
            }
        }
    }
    // The last one is never answered.
    let mut agent = Agent::asking("What is it that nobody waits for?");
    round(watch, &mut agent, &["weather".to_owned()]).await;
    asked.push((vec![vec!["weather".to_owned()]], false));
    asked
}

/// The events of all this, and what the agents asked for.
pub fn asked() -> (Vec<Arc<Record>>, Edges) {
    let mut done = None;
    on_paused_time(async {
        let watch = watch(Trial::default());
        let asked = ask_all(&watch).await;
        let ended = asked.iter().filter(|(_, is_answered)| *is_answered).count();
        watch.yard.until("all have ended", |state| state.tasks_done == ended).await;
        let records = watch.yard.records.borrow().clone();
        done = Some((records, edges(asked)));
    });
    done.unwrap()
}

#[test]
fn what_came_after_what_is_counted_as_the_journal_has_it() {
    let (records, by_script) = asked();
    let state = State::fold(records.iter().map(|record| &**record));
    assert!(by_script.len() > 12, "{by_script:?}");
    assert_eq!(counted(&state), by_script);
    assert_eq!(counted(&state), recounted(&records));
    assert_eq!(state.followed.others, 0);
    let mut sums = BTreeMap::<String, u32>::new();
    counted(&state).into_iter().for_each(|((after, _), n)| *sums.entry(after).or_default() += n);
    for edge in state.followed.edges() {
        let share = f64::from(edge.times) / f64::from(sums[edge.after.as_str()]);
        assert!((edge.share - share).abs() < 1e-12, "{edge:?}");
    }
    assert_eq!(state.followed.edges().next().unwrap().after.as_str(), "start");

    // The details of old tasks do not matter.
    let mut short = State::keeping(Keeps::Details(2));
    records.iter().for_each(|record| short.apply(record));
    assert!(short.bare() > 30, "{}", short.bare());
    assert_eq!(short.followed, state.followed);
    let json = serde_json::to_string(&state).unwrap();
    assert_eq!(serde_json::from_str::<State>(&json).unwrap().followed, state.followed);
}

/// An answer with its price.
fn priced(reply: Reply) -> Reply {
    Reply { usage: Usage { tokens_in: 100, tokens_out: 20, ..Usage::default() }, ..reply }
}

/// Asks a question: calls one tool after the other about a place, and ends with an answer.
async fn ask(watch: &Watch, question: &str, calls: &[(&str, &str)], last: Reply) {
    let mut agent = Agent::asking(question);
    for (tool, at) in calls {
        let reply = priced(calling(&[("c0", tool, json!({"at": at}))]));
        answer(agent.send(watch), &reply).await;
        agent.go_on(&reply, &["sun"]);
    }
    answer(agent.send(watch), &priced(last)).await;
}

/// The weather fails from the second task on, and each agent does something else about it.
pub fn broken() -> Vec<Arc<Record>> {
    let mut records = Vec::new();
    on_paused_time(async {
        let faults = vec!["weather:error:from-task=2"];
        let watch = watch(Trial { faults, ..Trial::default() });
        let text = Reply::of_text;
        let oslo = "How is the weather in Oslo?";
        ask(&watch, oslo, &[("weather", "Oslo")], text("It is sunny.")).await;
        let twice = [("weather", "Oslo"), ("weather", "Oslo")];
        ask(&watch, &format!(" {oslo}\n"), &twice, text("I couldn't look that up.")).await;
        let other = [("weather", "Bergen"), ("ask_expert", "Bergen")];
        ask(&watch, "And in Bergen?", &other, text("An expert says: rain.")).await;
        ask(&watch, "Is it warm in Rome?", &[("weather", "Rome")], text("Rome is always warm."))
            .await;
        let cut = Reply { finish: Finish::Length, ..text("The weather of Paris is") };
        ask(&watch, "What of Paris?", &[("weather", "Paris")], cut).await;
        watch.yard.until("all have ended", |state| state.tasks_done == 5).await;
        records = watch.yard.records.borrow().clone();
    });
    records
}

#[test]
fn what_an_agent_did_about_a_fault_is_said_without_a_before_and_after() {
    let records = broken();
    let state = State::fold(records.iter().map(|record| &**record));
    let laps = state.laps_with_current();
    let (id, _, deeds) = Deeds::newest(&state, &laps).unwrap();
    assert_eq!(
        deeds.sentence().unwrap(),
        "weather failed 5 times: retried 1 · other tool 1 · went on without it 1 · said so in the answer 1 · gave up 1"
    );
    assert_eq!(deeds.conversations, 4);
    let hits: Vec<_> = laps.iter().flat_map(|lap| &lap.hits).collect();
    let example = |reaction: Reaction| {
        hits.iter().find(|hit| hit.reaction == reaction).unwrap().example.clone().unwrap()
    };
    assert_eq!(example(Reaction::Retried).next.as_deref(), Some("weather"));
    assert_eq!(example(Reaction::Switched).next.as_deref(), Some("ask_expert"));
    assert_eq!(example(Reaction::GaveUp).answer, "The weather of Paris is");
    assert!(example(Reaction::Ignored).admits, "the first one says so");

    // Only the first question was asked without the fault.
    let price = HitPrice::of(&state, id, &laps).unwrap();
    assert_eq!((price.task, price.against), (TaskId(2), TaskId(1)));
    assert_eq!((price.calls, price.tokens), (1, 120));
    assert!(price.dollars.unwrap() > 0.0);
    let before: Vec<_> = laps.iter().filter(|lap| lap.task != TaskId(1)).cloned().collect();
    assert_eq!(HitPrice::of(&state, id, &before), None, "none began with the same question");

    let report = toolyard::report::Report::of(&state);
    let fault = &report.faults[0];
    assert_eq!(fault.verdict, deeds.sentence());
    assert_eq!(fault.taken.as_ref().unwrap().more, None);
    assert!(report.resilience.is_none());
}

/// While the task of a hit call is at work, nobody knows whether the agent goes on without it.
#[test]
fn an_agent_at_work_has_not_decided_yet() {
    on_paused_time(async {
        let watch = watch(Trial { faults: vec!["weather:error"], ..Trial::default() });
        let mut agent = Agent::asking("How is the weather in Oslo?");
        round(&watch, &mut agent, &["weather".to_owned()]).await;
        watch.yard.until("it was hit", |state| state.faults.values().any(|it| it.fired > 0)).await;
        let state = watch.yard.state.borrow();
        let (_, _, deeds) = Deeds::newest(&state, &state.laps_with_current()).unwrap();
        assert!(deeds.sentence().unwrap().ends_with("gave up 0 · still at work 1"), "{deeds:?}");
    });
}

#[test]
fn tools_are_scored_by_rules_only_if_a_person_asks_for_it() {
    on_paused_time(async {
        let watch = watch(Trial::default());
        let mut agent = Agent::asking("How is the weather in Oslo?");
        let calls = calling(&[
            ("a", "weather", json!({"at": "Oslo"})),
            ("b", "ask_expert", json!({"at": "Oslo"})),
        ]);
        // In the first task nobody has asked.
        for (asked, scores) in [(0.0, [0.0, 0.0]), (1.0, [1.0, -1.0]), (1.0, [2.0, -2.0])] {
            watch.yard.wish(Command::TurnKnob { knob: Knob::Scores, value: asked });
            let is_on = move |state: &State| state.knobs.is_on(Knob::Scores) == (asked > 0.0);
            watch.yard.until("the knob is turned", is_on).await;
            answer(agent.send(&watch), &calls).await;
            agent.go_on(&calls, &["sleet and thunder", "no idea"]);
            let said = Reply::of_text("Expect thunder.");
            answer(agent.send(&watch), &said).await;
            agent.go_on(&said, &[]);
            agent.messages.push(json!({"role": "user", "content": "And now?"}));
            watch.yard.until("the task is over", |state| !state.has_work()).await;
            let state = watch.yard.state.borrow();
            let score = |tool: &str| state.learning.score(&tool.into());
            assert_eq!(["weather", "ask_expert"].map(score), scores, "asked: {asked}");
        }
    });
}
