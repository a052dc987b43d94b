//! A fault in a sentence, for a person.

use super::{FaultKind, FaultSpec, Target, Trigger, inject};
use crate::domain::words;

impl FaultSpec {
    /// What happens from now on: `search_web now fails: 503 Service Unavailable, on every call`.
    pub fn sentence(&self) -> String {
        let (target, what, when) = (target(&self.target), self.effect(), when(self.trigger));
        format!("{target} now {what}, {when}")
    }

    fn effect(&self) -> String {
        match &self.kind {
            FaultKind::Error { status, text } => {
                let is_tool = matches!(self.target, Target::Tool(_) | Target::Class(_));
                let status = (!is_tool).then(|| status.unwrap_or(inject::STATUS).to_string());
                let default = if is_tool { Some(inject::TOOL_ERROR) } else { None };
                let text = text.as_deref().or(default).map(str::to_owned);
                let why: Vec<_> = status.into_iter().chain(text).collect();
                format!("fails: {}", why.join(" "))
            }
            FaultKind::Timeout => "never answers".to_owned(),
            FaultKind::Latency { ms } => format!("answers {ms} ms later"),
            FaultKind::Empty => "answers with empty text".to_owned(),
            FaultKind::Garbage => "answers with garbage".to_owned(),
            FaultKind::Answer { text } => format!("answers: {}", words::clipped(text, 60)),
            FaultKind::RateLimit { retry_after } => {
                format!("refuses: 429 Too Many Requests, retry after {retry_after} s")
            }
            FaultKind::CutStream => "breaks off its answer".to_owned(),
            FaultKind::BrokenArguments => "breaks off the arguments of its tool calls".to_owned(),
        }
    }
}

fn target(target: &Target) -> String {
    match target {
        Target::Tool(tool) => tool.to_string(),
        Target::Class(class) => format!("every tool of class {class}"),
        Target::Role(role) => format!("the model of the {}", role.name()),
        Target::Model(model) => format!("model {model}"),
        Target::Embedding => "the embedding model".to_owned(),
    }
}

fn when(trigger: Trigger) -> String {
    let Trigger { probability, nth, first, from_task, to_task } = trigger;
    let calls = match (nth, probability) {
        (None, None) if first == Some(1) => "on the next call only".to_owned(),
        (None, None) if first.is_some() => format!("on the next {} calls", first.unwrap_or(0)),
        (None, None) => "on every call".to_owned(),
        (None, Some(p)) => format!("on {}% of calls", percent(p)),
        (Some(nth), None) => format!("on call {nth} only"),
        (Some(nth), Some(p)) => format!("on call {nth} only, with probability {p}"),
    };
    match (from_task, to_task) {
        (Some(from), None) => format!("{calls} from task {from} on"),
        (Some(from), Some(to)) => format!("{calls} from task {from} to task {to}"),
        (None, Some(to)) => format!("{calls} up to task {to}"),
        (None, None) => calls,
    }
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
            ("embedding:error:status=502", "the embedding model now fails: 502, on every call"),
        ] {
            assert_eq!(spec.parse::<FaultSpec>().unwrap().sentence(), sentence);
        }
    }
}
