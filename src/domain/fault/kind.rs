//! Kinds of faults: they replace, delay or damage a real outcome.

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use super::target::{Sort, Target};

/// The effect of a fault on its target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "kebab-case")]
pub enum FaultKind {
    /// It fails: a tool with this text, a model with this HTTP status and text. Without either: as
    /// [`FaultKind::crash`].
    Error {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<u16>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// It never answers: it runs into its time limit.
    Timeout,
    /// It runs normally, but starts this many milliseconds later.
    Latency { ms: u64 },
    /// It answers with empty text.
    Empty,
    /// It answers with meaningless characters.
    Garbage,
    /// It answers with this text, which may be wrong but looks right.
    Answer { text: String },
    /// The endpoint refuses it with HTTP 429, also after the client's own retries.
    RateLimit {
        /// Seconds that the endpoint asks the client to wait.
        retry_after: u32,
    },
    /// The model's stream ends in the middle of the answer.
    CutStream,
    /// The arguments of a requested tool call end in the middle.
    BrokenArguments,
}

impl FaultKind {
    /// Every kind, with its default parameters.
    pub const ALL: &[FaultKind] = &[
        FaultKind::Error { status: None, text: None },
        FaultKind::Timeout,
        FaultKind::Latency { ms: 1000 },
        FaultKind::Empty,
        FaultKind::Garbage,
        FaultKind::Answer { text: String::new() },
        FaultKind::RateLimit { retry_after: 30 },
        FaultKind::CutStream,
        FaultKind::BrokenArguments,
    ];

    pub fn name(&self) -> &'static str {
        self.into()
    }

    pub(super) fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|kind| kind.name() == name).cloned()
    }

    /// The kind that one key arms: the answer of a crashed service.
    pub fn crash() -> Self {
        FaultKind::Error { status: None, text: None }
    }

    /// Whether it fits targets of this sort.
    pub fn fits(&self, sort: Sort) -> bool {
        match self {
            FaultKind::Error { .. } | FaultKind::Timeout | FaultKind::Latency { .. } => true,
            FaultKind::Empty | FaultKind::Garbage | FaultKind::Answer { .. } => {
                sort != Sort::Embedding
            }
            FaultKind::RateLimit { .. } => !matches!(sort, Sort::Tool | Sort::Class),
            FaultKind::CutStream | FaultKind::BrokenArguments => {
                matches!(sort, Sort::Role | Sort::Model)
            }
        }
    }

    /// Explains why it does not fit this target, if so.
    pub(super) fn check(&self, target: &Target) -> Result<(), String> {
        if self.fits(target.sort()) {
            return Ok(());
        }
        let fitting = Sort::all().filter(|sort| self.fits(*sort));
        let fitting: Vec<_> = fitting.map(Sort::name).collect();
        let (kind, sort) = (self.name(), target.sort().name());
        Err(format!(
            "{kind} does not fit a target of the kind {sort}; it fits {}",
            fitting.join(", ")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_fit_what_they_can_happen_to() {
        let fitting = |sort: Sort| {
            let kinds = FaultKind::ALL.iter().filter(|kind| kind.fits(sort));
            kinds.map(FaultKind::name).collect::<Vec<_>>().join(" ")
        };
        let of_tools = "error timeout latency empty garbage answer";
        let of_models = format!("{of_tools} rate-limit cut-stream broken-arguments");
        assert_eq!(fitting(Sort::Tool), of_tools);
        assert_eq!(fitting(Sort::Class), of_tools);
        assert_eq!(fitting(Sort::Role), of_models);
        assert_eq!(fitting(Sort::Model), of_models);
        assert_eq!(fitting(Sort::Embedding), "error timeout latency rate-limit");
    }
}
