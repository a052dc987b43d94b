//! An agent's view of a request: the JSON on the wire and the words of the prompt, like that of any model behind an
//! endpoint.

use std::collections::HashMap;

use serde_json::Value;

/// A parsed request.
pub(super) struct ParsedRequest<'a> {
    pub task: &'a str,
    system: String,
    /// Text of the last user message.
    told: &'a str,
    /// Names of the tools that the agent may call now, in the order of the request.
    pub offered: Vec<&'a str>,
    /// Cost of a call in credits, for each tool whose cost the prompt states.
    pub costs: HashMap<&'a str, f64>,
    pub done: Vec<Done>,
}

/// A call and its result.
#[derive(Clone, Debug)]
pub(super) struct Done {
    pub tool: String,
    pub arguments: Value,
    pub result: String,
}

impl Done {
    /// Whether the result looks useful: no error, no refusal, and something was found.
    pub fn is_of_use(&self) -> bool {
        let text = self.result.trim();
        let lower = text.to_lowercase();
        let is_error = text.starts_with("Error:") || text.starts_with("Not called:");
        let is_nothing = ["nothing", "no result", "no entry", "not found", "unknown", "no such"]
            .iter()
            .any(|words| lower.starts_with(words) || lower.contains(&format!("{words} was found")));
        !(text.is_empty() || is_error || is_nothing)
    }
}

impl<'a> ParsedRequest<'a> {
    pub fn of(body: &'a Value) -> Self {
        let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
        let said = |role: &'static str| {
            let of_role = messages.iter().filter(move |message| message["role"] == role);
            of_role.filter_map(|message| message["content"].as_str())
        };
        let task = said("user").find_map(|text| text.strip_prefix("Task: "));
        let task = task.unwrap_or_default().split("\n\n").next().unwrap_or_default();
        let told = said("user").next_back().unwrap_or_default();
        let tools = body["tools"].as_array().into_iter().flatten();
        let names = tools.filter_map(|tool| tool["function"]["name"].as_str());
        let may = offer(told);
        let offered = names.filter(|name| may.as_ref().is_none_or(|may| may.contains(name)));
        let offered = offered.filter(|name| *name != "Finish" && *name != "more").collect();
        let costs = said("system").chain(said("user")).find_map(|text| {
            let (_, costs) = text.split_once("Calls cost credits: ")?;
            Some(costs.split(", ").map_while(cost).collect())
        });
        let system = said("system").collect::<Vec<_>>().join("\n");
        Self { task, system, told, offered, costs: costs.unwrap_or_default(), done: done(messages) }
    }

    /// Whether the agent may say what it lacks.
    pub fn may_lack(&self) -> bool {
        [self.told, &self.system].iter().any(|text| text.contains("other tools may be offered"))
    }

    /// Whether the agent must score tools.
    pub fn is_evaluation(&self) -> bool {
        self.system.starts_with("You judge the tools of an agent")
    }

    /// The calls that an evaluator gets, as lines of JSON.
    pub fn account(&self) -> impl Iterator<Item = Done> {
        self.told.lines().filter_map(|line| {
            let call: Value = serde_json::from_str(line).ok()?;
            Some(Done {
                tool: call["tool"].as_str()?.to_owned(),
                arguments: call["arguments"].clone(),
                result: call["result"].as_str()?.to_owned(),
            })
        })
    }
}

/// The tools of the line about allowed calls; `None` without one.
fn offer(told: &str) -> Option<Vec<&str>> {
    let line = told.lines().rev().find_map(|line| line.strip_prefix("You may call now: "))?;
    let names = line.trim_end_matches('.').split(", ");
    Some(names.filter_map(|one| one.split(" (").next()).collect())
}

/// `NAME CREDITS`.
fn cost(entry: &str) -> Option<(&str, f64)> {
    let (name, rest) = entry.split_once(' ')?;
    Some((name, rest.split(' ').next()?.trim_end_matches('.').parse().ok()?))
}

fn done(messages: &[Value]) -> Vec<Done> {
    let mut calls: HashMap<&str, (&str, &str)> = HashMap::new();
    let mut done = Vec::new();
    for message in messages {
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let function = &call["function"];
            let parts = (call["id"].as_str(), function["name"].as_str());
            if let (Some(id), Some(name)) = parts {
                calls.insert(id, (name, function["arguments"].as_str().unwrap_or("{}")));
            }
        }
        let result = message["tool_call_id"].as_str().and_then(|id| calls.get(id));
        if let Some((tool, arguments)) = result {
            done.push(Done {
                tool: (*tool).to_owned(),
                arguments: serde_json::from_str(arguments).unwrap_or_default(),
                result: message["content"].as_str().unwrap_or_default().to_owned(),
            });
        }
    }
    done
}
