//! `kill -9` of toolyard at random moments of conversations whose tools fail by chance.

use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use toolyard::domain::{Chance, Finish, Message as Said, Reply, ToolCall};
use toolyard::store::journal;

use super::http::Message;
use super::started::{Watch, post};
use super::upstream::{Upstream, upstream};
use crate::program::{Home, text};

/// Conversations at once.
const AGENTS: usize = 4;
/// Requests of each, unless toolyard is killed before.
const TURNS: usize = 40;
/// The longest life in milliseconds.
const LIFE: u64 = 400;

fn kills() -> u64 {
    std::env::var("TOOLYARD_WATCH_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(8)
}

/// An endpoint that always calls the weather once more.
fn forecaster() -> Upstream {
    upstream(Arc::new(|_, asked, _| {
        let messages = &asked.request.messages;
        let of = messages.iter().find(|it| matches!(it, Said::User { .. })).unwrap().text();
        let results = asked.results.len();
        let id = format!("call_{}_{results}", of.len());
        let call = ToolCall { id, tool: "weather".into(), arguments: json!({"day": results}) };
        Reply { calls: vec![call], finish: Finish::Calls, ..Reply::of_text("") }
    }))
}

/// An agent of one conversation.
struct Agent {
    messages: Vec<Value>,
}

impl Agent {
    fn new(number: usize) -> Self {
        let text = format!("How is it?{}", " Tell me.".repeat(number));
        Self { messages: vec![json!({"role": "user", "content": text})] }
    }

    /// Asks once, and runs the call of the answer; false: toolyard is gone.
    fn go_on(&mut self, address: SocketAddr) -> bool {
        let tool = json!({"type": "function", "function": {"name": "weather"}});
        let body = json!({"model": "m", "messages": self.messages, "tools": [tool]}).to_string();
        let answer = TcpStream::connect(address).and_then(|mut stream| {
            stream.set_read_timeout(Some(Duration::from_secs(60)))?;
            stream.write_all(&post("/v1/chat/completions", "", &body))?;
            Message::read(&mut stream, &mut Vec::new())
        });
        let Ok(Some(answer)) = answer else { return false };
        let answer: Value = serde_json::from_slice(&answer.body).unwrap();
        let message = answer["choices"][0]["message"].clone();
        let call = &message["tool_calls"][0];
        let result = format!("rain {}", self.messages.len());
        let result = json!({"role": "tool", "tool_call_id": call["id"], "content": result});
        self.messages.extend([message, result]);
        true
    }
}

/// The longest past of each conversation that the endpoint has read.
fn read(endpoint: &Upstream) -> Vec<Vec<Value>> {
    let mut longest = vec![Vec::new(); AGENTS];
    for exchange in endpoint.record.lock().unwrap().drain(..) {
        let body: Value = serde_json::from_slice(&exchange.request.body).unwrap();
        let messages = body["messages"].as_array().unwrap().clone();
        let said = messages[0]["content"].as_str().unwrap().matches("Tell me.").count();
        if messages.len() > longest[said].len() {
            longest[said] = messages;
        }
    }
    longest
}

#[test]
fn whenever_toolyard_is_killed_no_event_is_lost_and_no_decision_changes() {
    let (mut asked, mut failed) = (0, 0);
    for kill in 0..kills() {
        let (home, endpoint) = (Home::new(), forecaster());
        let variables = [("OPENAI_BASE_URL", format!("http://{}/v1", endpoint.address))];
        let fault = ["--fault", "weather:error:p=0.5:text=down"];
        let watch = Watch::with(&home, &variables, &fault);
        let mut agents: Vec<Agent> = (0..AGENTS).map(Agent::new).collect();
        let (address, life) = (watch.address, Chance::new(kill).bits() % LIFE);
        let (answered, answers) = mpsc::channel();
        thread::scope(|scope| {
            for agent in &mut agents {
                let answered = answered.clone();
                scope.spawn(move || {
                    for _ in 0..TURNS {
                        if !agent.go_on(address) {
                            break;
                        }
                        // Only the first is awaited.
                        let _awaited_no_more = answered.send(());
                    }
                });
            }
            // On a machine at work no life would be long enough; and half of them may end before any answer.
            if kill % 2 == 1 {
                answers.recv_timeout(Duration::from_secs(20)).unwrap();
            }
            thread::sleep(Duration::from_millis(life));
            watch.kill();
        });
        let before = read(&endpoint);
        let (path, again) = (home.path("j.jsonl"), home.path("j.2.jsonl"));
        // It may have been killed before its journal began.
        let read_back =
            if path.exists() { journal::read(&path).unwrap().records } else { Vec::new() };
        // What an agent has read was on the disk, or about to be: an answer is recorded before it goes on.
        let ended = read_back.iter().filter(|it| it.event.kind() == "ModelCallFinished").count();
        let got: usize = agents.iter().map(|agent| agent.messages.len() / 2).sum();
        assert!(ended >= got, "kill {kill} after {life} ms: {ended} of {got} answers are known");
        asked += got;
        if got == 0 {
            continue;
        }
        let more = ["--resume", text(&path), "--journal", text(&again)];
        let watch = Watch::with(&home, &variables, &more);
        for agent in agents.iter_mut().filter(|agent| agent.messages.len() > 1) {
            assert!(agent.go_on(watch.address), "kill {kill}: it does not go on");
        }
        for (agent, (before, now)) in agents.iter().zip(before.iter().zip(read(&endpoint))) {
            // The last message that was read before the kill may be of a request without an answer.
            let known = before.len().min(now.len());
            assert_eq!(now[..known], before[..known], "kill {kill} after {life} ms");
            failed += now.iter().filter(|message| message["content"] == "down").count();
            assert_eq!(
                agent.messages[0],
                now.first().cloned().unwrap_or_else(|| agent.messages[0].clone())
            );
        }
        let state = home.succeed(&["replay", text(&again), "--json", "--full"]);
        let state: Value = serde_json::from_str(&state).unwrap();
        assert!(
            state["runs"].as_object().unwrap().len() <= AGENTS,
            "kill {kill}: conversations are known again"
        );
    }
    println!("{} kills: {asked} answers, {failed} results failed in what was read again", kills());
    assert!(kills() < 8 || asked > 20 && failed > 5, "{asked} answers, {failed} failed");
}
