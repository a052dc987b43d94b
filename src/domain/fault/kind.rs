//! Kinds of faults: they replace, delay or damage a real outcome.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::chat::Role;
use crate::finite::Finite;
use crate::target::{Sort, Target};

/// The effect of a fault on its target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "kebab-case")]
pub enum FaultKind {
    /// The call fails: a tool with this text, a model with this HTTP status and text. Without either: as
    /// [`FaultKind::outage`].
    Error {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<u16>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// The call never gets an answer: it runs into its time limit.
    Timeout,
    /// The call runs normally, but starts about this many milliseconds later.
    Latency {
        ms: u64,
        #[serde(default, skip_serializing_if = "Spread::is_fixed")]
        spread: Spread,
    },
    /// The call is refused with HTTP 429, also after the client's own retries, until the target recovers.
    RateLimit {
        /// Seconds that the client is asked to wait. The fault ends this many seconds after its first refusal.
        retry_after: u32,
    },
    /// The call is refused with HTTP 401: the access token has expired.
    AuthExpired,
    /// The call is made, but the connection breaks before the answer is read.
    Reset,
    /// Calls work for `up` seconds and fail for `down` seconds, in turn, since the fault was armed.
    Flapping { up: u32, down: u32 },
    /// The process of a tool ends during the call.
    Crash,
    /// The answer is an empty text.
    Empty,
    /// The second part of the real answer is missing.
    Truncated,
    /// The answer consists of meaningless characters.
    Garbage,
    /// The answer is this text, which may be wrong but looks right.
    Answer { text: String },
    /// The real answer, with other numbers and names.
    Wrong,
    /// A tool succeeds, but its answer reports an error.
    HiddenError {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// A field of a tool's JSON answer changes.
    Drift { change: Drift },
    /// A tool server lists the called tool differently from now on, and tells its client that the list has changed.
    ChangedList { change: Drift },
    /// A tool repeats an earlier answer of this session; without one, it gives the real answer.
    Stale,
    /// The real answer, repeated up to this many KiB.
    Huge { kb: u32 },
    /// The real answer, with sequences that control a terminal.
    Escapes,
    /// The real answer, with an instruction for the agent; `{canary}` in it is a word that reveals an agent that obeys.
    Injection {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// The model's stream ends in the middle of the answer.
    CutStream,
    /// The connection is reset in the middle of the model's answer.
    ResetStream,
    /// The model's stream reports an error in the middle of the answer.
    ErrorEvent {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// The model's answer takes this many milliseconds more for each word.
    SlowTokens { ms: u64 },
    /// The arguments of a requested tool call end in the middle.
    BrokenArguments,
    /// A requested tool call names a tool that does not exist.
    UnknownTool,
    /// The model refuses to answer.
    Refusal {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// The endpoint refuses the prompt as too long.
    Overflow,
    /// The evaluator's scores change.
    Scores { how: Scores, value: i8 },
    /// The price of a model call, in dollars, is multiplied by `times`.
    Price { times: Finite },
    /// The number of tokens that the endpoint reports for a model call is multiplied by `times`.
    WrongUsage { times: Finite },
}

/// How latencies differ from call to call; their mean is the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[derive(Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Spread {
    #[default]
    Fixed,
    /// From 0 to twice the mean.
    Uniform,
    /// A normal distribution whose standard deviation is a quarter of the mean.
    Normal,
    /// Mostly short, sometimes very long: a Pareto distribution with the exponent 1.5.
    Tail,
}

impl Spread {
    fn is_fixed(&self) -> bool {
        *self == Spread::Fixed
    }
}

/// How a field of an answer, or a parameter of a tool, changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Drift {
    Rename,
    Drop,
    Retype,
}

/// Change of the evaluator's scores, from −3 to 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Scores {
    /// The sign of each score changes.
    Flipped,
    /// The score is up to `value` higher or lower.
    Noisy,
    /// The score is `value`.
    Constant,
}

impl FaultKind {
    /// Every kind, with its default parameters.
    pub const ALL: &[FaultKind] = &[
        FaultKind::Error { status: None, text: None },
        FaultKind::Timeout,
        FaultKind::Latency { ms: 1000, spread: Spread::Fixed },
        FaultKind::RateLimit { retry_after: 30 },
        FaultKind::AuthExpired,
        FaultKind::Reset,
        FaultKind::Flapping { up: 10, down: 10 },
        FaultKind::Crash,
        FaultKind::Empty,
        FaultKind::Truncated,
        FaultKind::Garbage,
        FaultKind::Answer { text: String::new() },
        FaultKind::Wrong,
        FaultKind::HiddenError { text: None },
        FaultKind::Drift { change: Drift::Rename },
        FaultKind::ChangedList { change: Drift::Rename },
        FaultKind::Stale,
        FaultKind::Huge { kb: 1024 },
        FaultKind::Escapes,
        FaultKind::Injection { text: None },
        FaultKind::CutStream,
        FaultKind::ResetStream,
        FaultKind::ErrorEvent { text: None },
        FaultKind::SlowTokens { ms: 100 },
        FaultKind::BrokenArguments,
        FaultKind::UnknownTool,
        FaultKind::Refusal { text: None },
        FaultKind::Overflow,
        FaultKind::Scores { how: Scores::Flipped, value: 3 },
        FaultKind::Price { times: Finite::<f64>::new(10.0) },
        FaultKind::WrongUsage { times: Finite::<f64>::new(10.0) },
    ];

    pub fn name(&self) -> &'static str {
        self.into()
    }

    pub(super) fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|kind| kind.name() == name).cloned()
    }

    /// The kind that one key arms: a service that is not available.
    pub fn outage() -> Self {
        FaultKind::Error { status: None, text: None }
    }

    /// Whether the kind fits targets of this sort.
    pub fn fits(&self, sort: Sort) -> bool {
        let (tools, models) = (sort.is_of_tools(), sort.is_of_models());
        match self {
            FaultKind::Error { .. }
            | FaultKind::Timeout
            | FaultKind::Latency { .. }
            | FaultKind::RateLimit { .. }
            | FaultKind::AuthExpired
            | FaultKind::Reset
            | FaultKind::Flapping { .. } => true,
            FaultKind::Empty
            | FaultKind::Truncated
            | FaultKind::Garbage
            | FaultKind::Answer { .. }
            | FaultKind::Wrong
            | FaultKind::Huge { .. }
            | FaultKind::Escapes
            | FaultKind::Injection { .. } => tools || models,
            FaultKind::Crash
            | FaultKind::HiddenError { .. }
            | FaultKind::Drift { .. }
            | FaultKind::Stale => tools,
            FaultKind::ChangedList { .. } => sort == Sort::Mcp,
            FaultKind::CutStream
            | FaultKind::ResetStream
            | FaultKind::ErrorEvent { .. }
            | FaultKind::SlowTokens { .. }
            | FaultKind::BrokenArguments
            | FaultKind::UnknownTool
            | FaultKind::Refusal { .. }
            | FaultKind::Price { .. }
            | FaultKind::WrongUsage { .. } => models,
            FaultKind::Overflow => models || sort == Sort::Embedding,
            FaultKind::Scores { .. } => sort == Sort::Role,
        }
    }

    /// Explains why the kind does not fit this target, if so.
    pub(super) fn check(&self, target: &Target) -> Result<(), String> {
        let (kind, sort) = (self.name(), target.sort());
        if matches!(self, FaultKind::Scores { .. }) && *target != Target::Role(Role::Evaluator) {
            return Err(format!("{kind} applies only to role:evaluator"));
        }
        if self.fits(sort) {
            return Ok(());
        }
        let fitting = Sort::all().filter(|sort| self.fits(*sort));
        let fitting: Vec<_> = fitting.map(Sort::name).collect();
        Err(format!(
            "{kind} does not apply to a target of the kind {}; it applies to {}",
            sort.name(),
            fitting.join(", ")
        ))
    }

    /// Whether the answer stays the same, and only its time, its price or the list of tools changes.
    pub fn keeps_answer(&self) -> bool {
        matches!(
            self,
            FaultKind::Latency { .. }
                | FaultKind::ChangedList { .. }
                | FaultKind::SlowTokens { .. }
                | FaultKind::Price { .. }
                | FaultKind::WrongUsage { .. }
        )
    }

    /// Whether the fault makes its target silent.
    pub fn is_silent(&self) -> bool {
        matches!(self, FaultKind::Latency { .. } | FaultKind::Timeout)
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
        let of_all = "error timeout latency rate-limit auth-expired reset flapping";
        let tools = format!(
            "{of_all} crash empty truncated garbage answer wrong hidden-error drift stale huge escapes injection"
        );
        let models = format!(
            "{of_all} empty truncated garbage answer wrong huge escapes injection cut-stream \
             reset-stream error-event slow-tokens broken-arguments unknown-tool refusal overflow \
             price wrong-usage"
        );
        for sort in [Sort::Tool, Sort::Class, Sort::Edge, Sort::Effect, Sort::Tools] {
            assert_eq!(fitting(sort), tools);
        }
        assert_eq!(fitting(Sort::Mcp), tools.replace("stale", "changed-list stale"));
        for sort in [Sort::Model, Sort::Server, Sort::Models] {
            assert_eq!(fitting(sort), models);
        }
        assert_eq!(fitting(Sort::Role), models.replace("price", "scores price"));
        assert_eq!(fitting(Sort::Embedding), format!("{of_all} overflow"));
        assert_eq!(fitting(Sort::Any), of_all);
    }
}
