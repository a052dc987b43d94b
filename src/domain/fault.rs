//! What is made to go wrong: a target, a trigger and a kind. Pure: the engine asks [`FaultSpec::fires`].

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::domain::{chance::Chance, id::ToolName};

/// A fault, armed or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FaultSpec {
    pub tool: ToolName,
    pub kind: FaultKind,
    #[serde(default)]
    pub trigger: Trigger,
}

/// What happens instead of, or before, the real call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// The call fails with this text.
    Error { text: String },
    /// The call never answers: it runs into the tool's own timeout.
    Timeout,
    /// The call is real, but starts so many milliseconds later.
    Latency { ms: u64 },
    /// The call answers with nothing.
    Empty,
    /// The call answers with characters that mean nothing.
    Garbage,
}

/// When a fault fires; everything that is set must hold. Nothing set: always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trigger {
    /// With this probability, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
    /// Only at the nth call of the tool since the fault was armed, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nth: Option<u32>,
    /// Only from this task on, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_task: Option<u32>,
}

/// What is known about a call when a fault must decide.
#[derive(Clone, Copy, Debug)]
pub struct Occasion {
    /// The task's number, from 1.
    pub task: u32,
    /// Which call of this tool it is since the fault was armed, from 1.
    pub nth: u32,
    /// A draw that depends on the seed, the fault, the tool, the arguments and their nth occurrence,
    /// never on a shared stream: concurrency must not change who fails.
    pub chance: Chance,
}

impl FaultSpec {
    /// Whether the fault fires on this occasion.
    pub fn fires(&self, occasion: Occasion) -> bool {
        let Trigger { probability, nth, from_task } = self.trigger;
        nth.is_none_or(|nth| nth == occasion.nth)
            && from_task.is_none_or(|task| occasion.task >= task)
            && probability.is_none_or(|p| occasion.chance.unit() < p)
    }
}

impl FaultKind {
    pub const NAMES: [&str; 5] = ["error", "timeout", "latency", "empty", "garbage"];

    pub fn name(&self) -> &'static str {
        match self {
            FaultKind::Error { .. } => "error",
            FaultKind::Timeout => "timeout",
            FaultKind::Latency { .. } => "latency",
            FaultKind::Empty => "empty",
            FaultKind::Garbage => "garbage",
        }
    }

    /// The fault that one key arms: what a crashed service answers.
    pub fn crash() -> Self {
        FaultKind::Error { text: "503 Service Unavailable".to_owned() }
    }
}

/// Written as it is read: `search_web:error:from-task=50`.
impl fmt::Display for FaultSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.tool, self.kind.name())?;
        match &self.kind {
            FaultKind::Latency { ms } => write!(f, ":ms={ms}")?,
            FaultKind::Error { .. }
            | FaultKind::Timeout
            | FaultKind::Empty
            | FaultKind::Garbage => {}
        }
        let Trigger { probability, nth, from_task } = self.trigger;
        if let Some(p) = probability {
            write!(f, ":p={p}")?;
        }
        if let Some(nth) = nth {
            write!(f, ":nth={nth}")?;
        }
        if let Some(task) = from_task {
            write!(f, ":from-task={task}")?;
        }
        // Last: a text takes all that is left.
        match &self.kind {
            FaultKind::Error { text } if *text != error_text() => write!(f, ":text={text}"),
            FaultKind::Error { .. }
            | FaultKind::Timeout
            | FaultKind::Latency { .. }
            | FaultKind::Empty
            | FaultKind::Garbage => Ok(()),
        }
    }
}

fn error_text() -> String {
    match FaultKind::crash() {
        FaultKind::Error { text } => text,
        FaultKind::Timeout | FaultKind::Latency { .. } | FaultKind::Empty | FaultKind::Garbage => {
            String::new()
        }
    }
}

/// How a fault is written, for errors and help.
pub const FAULT_SYNTAX: &str = "TOOL:KIND[:KEY=VALUE]…, KIND one of error, timeout, latency, empty, \
     garbage; KEY one of p (0 to 1), nth, from-task, ms (latency), text (error; last)";

impl FromStr for FaultSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::read(text).map_err(|what| format!("fault `{text}`: {what}; expected {FAULT_SYNTAX}"))
    }
}

impl FaultSpec {
    /// As `parse`, but an error says only what is wrong: for who fills in a form and writes no syntax.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut parts = text.split(':');
        let tool = parts.next().filter(|tool| !tool.is_empty());
        let tool = tool.ok_or("no tool named")?;
        let kind = parts.next().ok_or("no kind named")?;
        let mut kind = match kind {
            "error" => FaultKind::crash(),
            "timeout" => FaultKind::Timeout,
            "latency" => FaultKind::Latency { ms: 1000 },
            "empty" => FaultKind::Empty,
            "garbage" => FaultKind::Garbage,
            other => return Err(format!("there is no kind `{other}`")),
        };
        let mut trigger = Trigger::default();
        while let Some(part) = parts.next() {
            let (key, value) =
                part.split_once('=').ok_or_else(|| format!("`{part}` has no `=`"))?;
            match (key, &mut kind) {
                ("p", _) => {
                    let p = number::<f64>(key, value)?;
                    if !(0.0..=1.0).contains(&p) {
                        return Err(format!("p is {p}, not from 0 to 1"));
                    }
                    trigger.probability = Some(p);
                }
                ("nth", _) => trigger.nth = Some(positive(key, value)?),
                ("from-task", _) => trigger.from_task = Some(positive(key, value)?),
                ("ms", FaultKind::Latency { ms }) => *ms = number(key, value)?,
                // A text may hold colons, so it takes all that is left.
                ("text", FaultKind::Error { text }) => {
                    *text =
                        std::iter::once(value).chain(parts.by_ref()).collect::<Vec<_>>().join(":");
                }
                (other, kind) => {
                    return Err(format!("`{other}` is no key of {}", kind.name()));
                }
            }
        }
        Ok(FaultSpec { tool: tool.into(), kind, trigger })
    }
}

fn number<T: FromStr>(key: &str, value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("{key} is `{value}`, not a number it takes"))
}

fn positive(key: &str, value: &str) -> Result<u32, String> {
    match value.parse().map_err(|_| format!("{key} is `{value}`, not a whole number from 1"))? {
        0 => Err(format!("{key} counts from 1")),
        n => Ok(n),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(task: u32, nth: u32) -> Occasion {
        Occasion { task, nth, chance: Chance::new(7).with(&nth.to_le_bytes()) }
    }

    #[test]
    fn reads_what_it_writes() {
        for text in [
            "search_web:error",
            "search_web:error:from-task=50",
            "calc:latency:ms=800:p=0.3",
            "x.y:timeout:nth=3",
            "a:garbage",
            "a:empty:p=0.5:from-task=2",
            "a:error:p=0.5:nth=2:text=no: none",
        ] {
            assert_eq!(text.parse::<FaultSpec>().unwrap().to_string(), text);
        }
        let spec: FaultSpec = "a:error:p=1:text=no: none".parse().unwrap();
        assert_eq!(spec.kind, FaultKind::Error { text: "no: none".into() });
    }

    #[test]
    fn says_what_is_wrong() {
        for (text, phrase) in [
            ("", "no tool"),
            ("a", "no kind"),
            ("a:melt", "no kind `melt`"),
            ("a:error:p=2", "p is 2"),
            ("a:error:nth=0", "counts from 1"),
            ("a:error:ms=4", "no key of error"),
            ("a:error:p", "has no `=`"),
        ] {
            let error = text.parse::<FaultSpec>().unwrap_err();
            assert!(error.contains(phrase), "{text}: {error}");
        }
    }

    #[test]
    fn fires_when_everything_holds() {
        let spec: FaultSpec = "a:error:from-task=50".parse().unwrap();
        assert!(!spec.fires(at(49, 1)) && spec.fires(at(50, 1)) && spec.fires(at(51, 9)));
        let spec: FaultSpec = "a:error:nth=2".parse().unwrap();
        assert!(!spec.fires(at(1, 1)) && spec.fires(at(1, 2)) && !spec.fires(at(1, 3)));
        let spec: FaultSpec = "a:error:p=0.3".parse().unwrap();
        let fired = (0..10_000).filter(|n| spec.fires(at(1, *n))).count();
        assert!((2_700..3_300).contains(&fired), "{fired}");
    }
}
