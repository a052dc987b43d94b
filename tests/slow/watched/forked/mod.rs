//! Forks of watched sessions. The agent, which is this test program itself, runs again over its record, with one thing
//! changed.

mod agent;
mod clients;
mod conversations;
mod drift;
mod files;

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

use self::agent::{Asked, endpoint};
use crate::program::{Home, Ran, text};

/// The arguments with which this program is the agent.
pub const AGENT: [&str; 3] = ["--exact", "watched::forked::agent::the_agent", "--nocapture"];

/// A session of the agent in a folder of its own.
pub struct Session {
    pub home: Home,
    pub asked: Asked,
    environment: Vec<(String, String)>,
}

impl Session {
    /// Records the agent in the folder `agent`, with these questions.
    pub fn record(
        questions: &str,
        streams: bool,
        more: &[&str],
        prepare: impl FnOnce(&Home),
    ) -> Self {
        let home = Home::new();
        home.write("agent/notes.txt", "notes");
        prepare(&home);
        let (address, asked) = endpoint();
        let mut environment = vec![
            ("AGENT_QUESTIONS".to_owned(), questions.to_owned()),
            ("OPENAI_BASE_URL".to_owned(), format!("http://{address}/v1")),
        ];
        environment.extend(streams.then(|| ("AGENT_STREAMS".to_owned(), "1".to_owned())));
        let session = Self { home, asked, environment };
        let (program, agent) = (std::env::current_exe().unwrap(), AGENT);
        let agent = [&[text(&program)], &agent[..]].concat();
        let journal = session.home.path("j.jsonl.zst");
        let watch = ["watch", "--headless", "--journal", text(&journal)];
        let ran = session.run("agent", &[&watch, more, &["--"], &agent[..]].concat(), &[]);
        assert_eq!(ran.code, 0, "{ran:?}");
        session
    }

    /// The value of a variable of the agent.
    pub fn environment(&self, name: &str) -> &str {
        self.environment.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value)
    }

    pub fn command(&self, folder: &str, arguments: &[&str], more: &[(&str, &str)]) -> Command {
        let mut command = self.home.command(arguments);
        command.current_dir(self.home.path(folder));
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.envs(more.iter().copied());
        command
    }

    pub fn run(&self, folder: &str, arguments: &[&str], more: &[(&str, &str)]) -> Ran {
        Ran::of(self.command(folder, arguments, more).output().unwrap())
    }

    /// Forks the record, from another folder than the agent's. Returns what the agent said, and the bodies that its endpoint
    /// got meanwhile.
    pub fn fork(&self, options: &[&str]) -> (BTreeMap<String, String>, Vec<Value>) {
        self.asked.lock().unwrap().clear();
        let fork = ["fork", "j.jsonl.zst", "--headless", "--trust-journal"];
        let ran = self.run(".", &[&fork, options].concat(), &[]);
        assert_eq!(ran.code, 0, "{options:?}: {ran:?}");
        (answers(&ran), std::mem::take(&mut *self.asked.lock().unwrap()))
    }

    pub fn events(&self) -> Vec<Value> {
        let lines = self.home.read("j.jsonl.zst");
        lines.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

pub fn answers(ran: &Ran) -> BTreeMap<String, String> {
    let said = ran.out.lines().filter_map(|line| line.strip_prefix("said: ")?.split_once(" = "));
    said.map(|(question, answer)| (question.to_owned(), answer.to_owned())).collect()
}

/// Each call of the record: its number, its question and the number of requests of that question so far.
pub fn calls(events: &[Value], kind: &str) -> Vec<(u64, String, usize)> {
    let (mut of_task, mut asked) = (BTreeMap::new(), BTreeMap::<String, usize>::new());
    let (mut of_call, mut found) = (BTreeMap::new(), Vec::new());
    for event in events {
        let data = &event["data"];
        match event["kind"].as_str().unwrap() {
            "TasksQueued" => {
                let text = data["tasks"][0]["text"].as_str().unwrap().to_owned();
                of_task.insert(data["first"].as_u64().unwrap(), text);
            }
            "ModelCallRequested" | "ToolCallRequested" => {
                let question = of_task[&data["task"].as_u64().unwrap()].clone();
                let is_model = event["kind"] == "ModelCallRequested";
                *asked.entry(question.clone()).or_default() += usize::from(is_model);
                of_call.insert(data["effect"]["id"].as_u64().unwrap(), question);
            }
            _ => {}
        }
        if event["kind"] == kind {
            let id = data["effect"]["id"].as_u64().unwrap();
            let question = &of_call[&id];
            found.push((id, question.clone(), asked[question]));
        }
    }
    found
}
