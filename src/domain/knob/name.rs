//! Names of the knobs. Their declarations are in [`super::KNOBS`].

use serde::{Deserialize, Serialize};

/// Name of a knob.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Knob {
    Alpha,
    Beta,
    TopK,
    Explore,
    MenuMax,
    FixTools,
    WeightFormat,
    MaxSteps,
    History,
    ResultMax,
    Tries,
    Learn,
    LearnInjected,
    Temperature,
    Concurrency,
    MaxCalls,
    /// Older journals have `pace` in its place.
    #[serde(alias = "pace")]
    Speed,
    Budget,
    Tau,
    Candidates,
    Suits,
    Sharpness,
    Spread,
    Estimate,
    Widen,
    Blacklist,
    Judge,
    GoldFeedback,
    Grader,
    Programs,
    Reflect,
    Reuse,
    Schemas,
    ProbePasses,
    ProbeSamples,
    ProbeAll,
    ProbeSchema,
    ProbeEdges,
    Retrieve,
    Mix,
    Near,
    CallJudge,
    Theta,
    CallK,
    Skip,
}
