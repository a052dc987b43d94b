//! What the session knows is what the agents wrote down: calls, arguments, results, order, tokens, and who began whom.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use serde_json::{Value, json};
use toolyard::domain::{Finish, Message as Said, Reply, ToolCall, Usage};
use toolyard::wire::{IncomingRequest, WireFormat};

use super::clients::start;
use super::upstream::{Rule, upstream};
use crate::program::{Home, Ran, text};

const SEEDS: u64 = 10;

/// The deepest sub-agents.
const DEEPEST: usize = 2;

/// A model that calls tools by chance: the same past leads to the same answer.
fn rule(seed: u64) -> Rule {
    Arc::new(move |_: WireFormat, asked: &IncomingRequest, _: usize| {
        let messages: Vec<&Said> = asked.request.messages.iter().collect();
        let is_user = |message: &&Said| matches!(message, Said::User { .. });
        let first = messages.iter().copied().find(is_user).unwrap().text();
        let turn = messages.iter().rev().take_while(|message| !is_user(message)).count();
        let mut chance = Chance::of((seed, first, messages.len()));
        let usage = usage(first, results(&messages));
        let is_last = turn > 8 || (turn > 0 && chance.below(3) == 0);
        if is_last {
            let answer = format!("Answer {:x} after {turn} messages.", chance.next());
            return Reply { usage, ..Reply::of_text(answer) };
        }
        let text = if chance.below(2) == 0 { String::new() } else { format!("I try {turn}.") };
        let calls = (0..=chance.below(3)).map(|_| call(&mut chance, depth(first))).collect();
        Reply { calls, finish: Finish::Calls, usage, ..Reply::of_text(text) }
    })
}

fn call(chance: &mut Chance, depth: usize) -> ToolCall {
    let kinds = if depth < DEEPEST { 4 } else { 3 };
    let (tool, arguments) = match chance.below(kinds) {
        0 => ("look", json!({"city": format!("Oslo \"{}\" é", chance.below(99))})),
        1 => ("add", json!({"a": chance.below(1000), "b": -1.5})),
        2 => ("fail", json!({"why": format!("reason {}", chance.below(9))})),
        _ => {
            let task = format!("Part {:x} at depth {}: look there.", chance.next(), depth + 1);
            ("delegate", json!({ "task": task }))
        }
    };
    ToolCall { id: format!("call_{:x}", chance.next()), tool: tool.into(), arguments }
}

fn depth(first: &str) -> usize {
    let (_, rest) = first.split_once("at depth ").unwrap();
    rest[..1].parse().unwrap()
}

fn results(messages: &[&Said]) -> usize {
    messages.iter().filter(|message| matches!(message, Said::Tool { .. })).count()
}

/// Tokens that the log can be compared with.
fn usage(first: &str, results: usize) -> Usage {
    let tokens_in = (1000 * results + first.len()) as u64;
    Usage { tokens_in, tokens_out: 7 + results as u64, cached: 5, ..Usage::default() }
}

/// Numbers made of what they depend on.
struct Chance(u64);

impl Chance {
    fn of(what: impl Hash) -> Self {
        let mut hasher = DefaultHasher::new();
        what.hash(&mut hasher);
        Self(hasher.finish())
    }

    fn next(&mut self) -> u64 {
        *self = Self::of(self.0);
        self.0
    }

    fn below(&mut self, most: u64) -> u64 {
        self.next() % most
    }
}

#[test]
fn the_session_knows_what_the_agents_wrote_down() {
    let Some(start) = start("team.py") else {
        eprintln!("SKIPPED: the SDKs of Python are not in target/sdks: run scripts/sdks.sh");
        return;
    };
    let mut all = [0; 4];
    for seed in 0..SEEDS {
        let (home, upstream) = (Home::new(), upstream(rule(seed)));
        let [state, journal, log] =
            ["s.json", "j.jsonl", "log.json"].map(|name| text(&home.path(name)).to_owned());
        let mut command = home.command(&["watch", "--headless"]);
        command.args(["--state", &state, "--journal", &journal, "--"]).args(&start);
        command.args([&seed.to_string(), &log]);
        command.env("OPENAI_BASE_URL", format!("http://{}/v1", upstream.address));
        command.env("ANTHROPIC_BASE_URL", format!("http://{}", upstream.address));
        let ran = Ran::of(command.output().unwrap());
        assert_eq!(ran.code, 0, "seed {seed}: {ran:?}");
        let (log, state) = (home.json("log.json"), home.json("s.json"));
        let known = Known { seed, log: list(&log), state: &state };
        for (sum, more) in all.iter_mut().zip(known.expect_all()) {
            *sum += more;
        }
        let replayed = home.succeed(&["replay", &journal, "--json", "--full"]);
        let replayed: Value = serde_json::from_str(&replayed).unwrap();
        assert!(replayed == state, "seed {seed}: the replay knows something else");
    }
    println!(
        "{SEEDS} seeds: {} conversations, {} tasks, {} model calls, {} tool calls",
        all[0], all[1], all[2], all[3]
    );
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

/// What the agents wrote down, and what the session knows.
struct Known<'k> {
    seed: u64,
    log: &'k [Value],
    state: &'k Value,
}

impl Known<'_> {
    /// Compares all; returns how many conversations, tasks, model calls and tool calls these were.
    fn expect_all(&self) -> [usize; 4] {
        let runs = self.state["runs"].as_object().unwrap();
        assert_eq!(runs.len(), self.log.len(), "seed {}: conversations", self.seed);
        let mut all = [runs.len(), 0, 0, 0];
        for conversation in self.log {
            let run = self.run_of(conversation);
            let tasks: Vec<&Value> =
                list(&self.state["tasks"]).iter().filter(|task| number_of(task) == run).collect();
            let turns = list(&conversation["turns"]);
            assert_eq!(tasks.len(), turns.len(), "{}: run {run}", self.seed);
            self.expect_guest(conversation, run);
            all[1] += tasks.len();
            let mut results = 0;
            for (task, turn) in tasks.iter().zip(turns) {
                let which = format!("seed {}, run {run}, task {}", self.seed, task["id"]);
                let first = turns[0]["text"].as_str().unwrap();
                let (asks, calls) = self.expect_turn(&which, task, turn, (first, &mut results));
                all[2] += asks;
                all[3] += calls;
            }
        }
        assert_eq!(all[1..], ["tasks", "asks", "calls"].map(|it| list(&self.state[it]).len()));
        all
    }

    /// The run of a conversation: its first text is like no other.
    fn run_of(&self, conversation: &Value) -> u64 {
        let first = &conversation["turns"][0]["text"];
        let task = list(&self.state["tasks"]).iter().find(|task| task["task"]["text"] == *first);
        number_of(task.unwrap_or_else(|| panic!("seed {}: no task has {first}", self.seed)))
    }

    fn expect_guest(&self, conversation: &Value, run: u64) {
        let guest = &self.state["runs"][run.to_string()]["guest"];
        let wire = match conversation["wire"].as_str().unwrap() {
            "chat" => "OpenAI chat",
            "responses" => "OpenAI Responses",
            _ => "Anthropic Messages",
        };
        assert_eq!(guest["wire"], wire, "{}: run {run}", self.seed);
        let parent = &conversation["parent"];
        let began = |other: &&Value| {
            let mut turns = list(&other["turns"]).iter();
            turns.any(|turn| turn["results"].get(parent.as_str().unwrap_or_default()).is_some())
        };
        let expected = self.log.iter().find(began).map(|other| self.run_of(other));
        assert_eq!(expected.is_some(), parent.is_string());
        assert_eq!(guest["parent"].as_u64(), expected, "{}: the parent of run {run}", self.seed);
        let Some(call) = self.call(parent.as_str().unwrap_or_default()) else { return };
        let own = list(&self.state["tasks"]).iter().filter(|task| number_of(task) == run);
        for task in own {
            let during = [&call["started"], &task["started"], &task["ended"], &call["ended"]];
            let during = during.map(|at| at.as_u64().unwrap());
            assert!(
                during.is_sorted(),
                "{}: run {run} is not within its call: {during:?}",
                self.seed
            );
        }
    }

    fn call(&self, id: &str) -> Option<&Value> {
        list(&self.state["calls"]).iter().find(|call| call["wire_id"] == id)
    }

    fn expect_turn(
        &self,
        which: &str,
        task: &Value,
        turn: &Value,
        (first, results): (&str, &mut usize),
    ) -> (usize, usize) {
        assert_eq!(task["task"]["text"], turn["text"], "{which}");
        assert_eq!(task["answer"], turn["answer"], "{which}");
        let of_task = |part: &str| -> Vec<&Value> {
            list(&self.state[part]).iter().filter(|it| it["task"] == task["id"]).collect()
        };
        let (asks, calls) = (of_task("asks"), of_task("calls"));
        let logged = list(&turn["asks"]);
        assert_eq!(asks.len(), logged.len(), "{which}: model calls");
        let mut calls = calls.into_iter();
        let mut count = 0;
        for (ask, logged) in asks.iter().zip(logged) {
            let reply = &ask["phase"]["done"]["reply"];
            assert_eq!(reply["text"], logged["text"], "{which}");
            let usage = usage(first, *results);
            let tokens = json!([usage.tokens_in, usage.tokens_out]);
            let known = json!([reply["usage"]["tokens_in"], reply["usage"]["tokens_out"]]);
            assert_eq!(known, tokens, "{which}: tokens");
            assert!(logged["tokens"] == tokens || logged["tokens"].is_null(), "{which}: {logged}");
            for logged in list(&logged["calls"]) {
                let call = calls.next().unwrap_or_else(|| panic!("{which}: no call {logged}"));
                assert_eq!(call["parent"], ask["id"], "{which}: {call}");
                let known = json!([call["wire_id"], call["tool"], call["arguments"]]);
                assert_eq!(known, *logged, "{which}");
                self.expect_result(which, call, &turn["results"][logged[0].as_str().unwrap()]);
                *results += 1;
                count += 1;
            }
        }
        assert_eq!(calls.next(), None, "{which}: more calls than were logged");
        (asks.len(), count)
    }

    fn expect_result(&self, which: &str, call: &Value, logged: &Value) {
        let phase = &call["phase"];
        // Only one format says that a call failed.
        let is_told = logged[1] == true && call_wire(self.state, call) == "Anthropic Messages";
        let known = if is_told {
            &phase["failed"]["error"]["text"]
        } else {
            &phase["done"]["output"]["text"]
        };
        assert_eq!(*known, logged[0], "{which}: {call}");
    }
}

/// The run of a task; the first one is not written.
fn number_of(task: &Value) -> u64 {
    task["task"]["run"].as_u64().unwrap_or(1)
}

fn call_wire<'s>(state: &'s Value, call: &Value) -> &'s Value {
    let task = list(&state["tasks"]).iter().find(|task| task["id"] == call["task"]).unwrap();
    &state["runs"][number_of(task).to_string()]["guest"]["wire"]
}
