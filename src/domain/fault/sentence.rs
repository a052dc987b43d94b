//! A fault in a sentence, for a person.

use super::{Drift, FaultKind, FaultSpec, Scores, Spread, Trigger, inject};
use crate::target::Target;
use crate::words;

impl FaultSpec {
    /// Describes the fault in a sentence: `search_web now fails: 503 Service Unavailable, on every call`.
    pub fn sentence(&self) -> String {
        let (target, what, when) = (target(&self.target), self.effect(), when(&self.trigger));
        format!("{target} now {what}, {when}")
    }

    fn effect(&self) -> String {
        match &self.kind {
            FaultKind::Error { status, text } => {
                let is_tool = self.target.sort().is_of_tools();
                let status = (!is_tool).then(|| status.unwrap_or(inject::STATUS).to_string());
                let default = if is_tool { Some(inject::TOOL_ERROR) } else { None };
                let text = text.as_deref().or(default).map(str::to_owned);
                let why: Vec<_> = status.into_iter().chain(text).collect();
                format!("fails: {}", why.join(" "))
            }
            FaultKind::Timeout => "never answers".to_owned(),
            FaultKind::Latency { ms, spread } => match spread {
                Spread::Fixed => format!("answers {ms} ms later"),
                Spread::Uniform => format!("answers 0 to {} ms later", ms.saturating_mul(2)),
                Spread::Normal => format!("answers about {ms} ms later"),
                Spread::Tail => format!("answers {ms} ms later on average, sometimes much later"),
            },
            FaultKind::RateLimit { retry_after } => {
                format!("refuses: 429 Too Many Requests, retry after {retry_after} s")
            }
            FaultKind::AuthExpired => "refuses: 401 Unauthorized".to_owned(),
            FaultKind::Reset => "breaks the connection before its answer is read".to_owned(),
            FaultKind::Flapping { up, down } => format!("works for {up} s and fails for {down} s"),
            FaultKind::Crash => "crashes".to_owned(),
            FaultKind::Empty => "answers with empty text".to_owned(),
            FaultKind::Truncated => "answers with a part of its answer".to_owned(),
            FaultKind::Garbage => "answers with garbage".to_owned(),
            FaultKind::Answer { text } => format!("answers: {}", words::clipped(text, 60)),
            FaultKind::Wrong => "answers with wrong numbers and names".to_owned(),
            FaultKind::HiddenError { .. } => {
                "answers with an error as if it were a result".to_owned()
            }
            FaultKind::Drift { change } => match change {
                Drift::Rename => "renames a field of its answer".to_owned(),
                Drift::Drop => "leaves out a field of its answer".to_owned(),
                Drift::Retype => "changes the type of a field of its answer".to_owned(),
            },
            FaultKind::ChangedList { change } => match change {
                Drift::Rename => "is listed with a renamed parameter".to_owned(),
                Drift::Drop => "is missing from the list".to_owned(),
                Drift::Retype => "is listed with a parameter of another type".to_owned(),
            },
            FaultKind::Stale => "repeats an earlier answer".to_owned(),
            FaultKind::Huge { kb } => format!("answers with {kb} KiB"),
            FaultKind::Escapes => "answers with sequences that control a terminal".to_owned(),
            FaultKind::Injection { .. } => "answers with an instruction for the agent".to_owned(),
            FaultKind::CutStream => "breaks off its answer".to_owned(),
            FaultKind::ResetStream => {
                "breaks the connection in the middle of its answer".to_owned()
            }
            FaultKind::ErrorEvent { .. } => "fails in the middle of its answer".to_owned(),
            FaultKind::SlowTokens { ms } => format!("needs {ms} ms more for each word"),
            FaultKind::Refusal { .. } => "refuses to answer".to_owned(),
            FaultKind::BrokenArguments => "breaks off the arguments of its tool calls".to_owned(),
            FaultKind::UnknownTool => "calls tools that do not exist".to_owned(),
            FaultKind::Overflow => "refuses: the prompt is too long".to_owned(),
            FaultKind::Scores { how, value } => match how {
                Scores::Flipped => "gives each score with the other sign".to_owned(),
                Scores::Noisy => format!("gives each score up to {value} higher or lower"),
                Scores::Constant => format!("gives every tool the score {value}"),
            },
            FaultKind::Price { times } => format!("costs {times} times as much"),
            FaultKind::WrongUsage { times } => format!("reports {times} times as many tokens"),
        }
    }
}

fn target(target: &Target) -> String {
    match target {
        Target::Any => "every call".to_owned(),
        Target::Tools => "every tool".to_owned(),
        Target::Models => "every model".to_owned(),
        Target::Tool(tool) => tool.to_string(),
        Target::Class(class) => format!("every tool of class {class}"),
        Target::Edge(from, to) => format!("{to} after {from}"),
        Target::Effect(class) => format!("every tool with the effect {}", class.name()),
        Target::Role(role) => format!("the model of the {}", role.name()),
        Target::Model(model) => format!("model {model}"),
        Target::Server(server) => format!("every model at {server}"),
        Target::Mcp(server) => format!("every tool of the MCP server {server}"),
        Target::Embedding => "the embedding model".to_owned(),
    }
}

fn when(trigger: &Trigger) -> String {
    let Trigger { probability, nth, first, from, to, every, .. } = trigger;
    let mut calls = match (nth, first, (from, to), every) {
        (Some(nth), ..) => format!("on call {nth} only"),
        (_, Some(1), ..) => "on the next call only".to_owned(),
        (_, Some(first), ..) => format!("on the next {first} calls"),
        (_, _, (Some(from), Some(to)), _) => format!("on calls {from} to {to}"),
        (_, _, (Some(from), None), _) => format!("from call {from} on"),
        (_, _, (None, Some(to)), _) => format!("up to call {to}"),
        (_, _, _, Some(1)) | (None, None, (None, None), None) => match probability {
            Some(p) => format!("on {}% of calls", percent(f64::from(*p))),
            None => "on every call".to_owned(),
        },
        (_, _, _, Some(every)) => format!("on every call number {every}"),
    };
    let mut add = |more: String| calls.push_str(&more);
    if let Some(p) = probability.filter(|_| !every_call(trigger)) {
        add(format!(", with probability {p}"));
    }
    match (trigger.from_task, trigger.to_task) {
        (Some(from), None) => add(format!(" from task {from} on")),
        (Some(from), Some(to)) => add(format!(" from task {from} to task {to}")),
        (None, Some(to)) => add(format!(" up to task {to}")),
        (None, None) => {}
    }
    if let Some(condition) = &trigger.condition {
        add(format!(" where {condition}"));
    }
    if let Some(most) = trigger.most {
        add(format!(", at most {}", words::counted(most, "time")));
    }
    if let Some(seconds) = trigger.seconds {
        add(format!(", for {seconds} s"));
    }
    calls
}

/// Whether no trigger counts calls.
fn every_call(trigger: &Trigger) -> bool {
    let Trigger { nth, first, from, to, every, .. } = trigger;
    [nth, first, from, to, every].iter().all(|count| count.is_none())
}

/// A share in per cent with at most one digit after the point.
fn percent(share: f64) -> f64 {
    (share * 1000.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_target_and_trigger_has_its_words() {
        for (spec, sentence) in [
            ("search_web:error", "search_web now fails: 503 Service Unavailable, on every call"),
            ("a:error:text=gone", "a now fails: gone, on every call"),
            ("a:timeout:nth=3", "a now never answers, on call 3 only"),
            ("a:latency:ms=20:p=0.305", "a now answers 20 ms later, on 30.5% of calls"),
            (
                "class:Maps:empty",
                "every tool of class Maps now answers with empty text, on every call",
            ),
            ("a:empty:to-task=9", "a now answers with empty text, on every call up to task 9"),
            (
                "a:empty:from-task=5:to-task=9",
                "a now answers with empty text, on every call from task 5 to task 9",
            ),
            ("a:answer:first=3:text=42", "a now answers: 42, on the next 3 calls"),
            ("a:garbage:from-task=5", "a now answers with garbage, on every call from task 5 on"),
            (
                "role:planner:rate-limit",
                "the model of the planner now refuses: 429 Too Many Requests, retry after 30 s, on every call",
            ),
            ("model:m:error", "model m now fails: 500, on every call"),
            ("model:m:cut-stream", "model m now breaks off its answer, on every call"),
            (
                "model:m:broken-arguments:nth=2:p=0.5",
                "model m now breaks off the arguments of its tool calls, on call 2 only, with probability 0.5",
            ),
            (
                "tools:error:every=3",
                "every tool now fails: 503 Service Unavailable, on every call number 3",
            ),
            (
                "edge:a->b:wrong:from=2:to=4:p=0.5",
                "b after a now answers with wrong numbers and names, on calls 2 to 4, with probability 0.5",
            ),
            (
                "any:latency:ms=10:spread=uniform:most=2:for=60",
                "every call now answers 0 to 20 ms later, on every call, at most 2 times, for 60 s",
            ),
            (
                "effect:write:reset:if=task > 2",
                "every tool with the effect write now breaks the connection before its answer is read, on every call \
                 where task > 2",
            ),
            (
                "role:evaluator:scores:how=noisy:value=1",
                "the model of the evaluator now gives each score up to 1 higher or lower, on every call",
            ),
            ("models:price:times=3", "every model now costs 3 times as much, on every call"),
            ("embedding:error:status=502", "the embedding model now fails: 502, on every call"),
        ] {
            assert_eq!(spec.parse::<FaultSpec>().unwrap().sentence(), sentence);
        }
    }
}
