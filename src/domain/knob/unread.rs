//! Knobs that nothing reads, and why.

use super::{Knob, Knobs, Retrieve};
use crate::strategy::{Base, Strategy};

impl Knob {
    /// Why an agent of this strategy never reads the knob; `None`: it does.
    pub fn unread(self, strategy: Strategy, knobs: &Knobs) -> Option<&'static str> {
        let needs = |is_read: bool, why| (!is_read).then_some(why);
        match self {
            Knob::Alpha
            | Knob::Beta
            | Knob::TopK
            | Knob::Explore
            | Knob::WeightFormat
            | Knob::Learn
            | Knob::LearnInjected => {
                needs(strategy.learns(), "this strategy does not use the weights of the graph")
            }
            Knob::Tau
            | Knob::Candidates
            | Knob::Suits
            | Knob::Sharpness
            | Knob::Spread
            | Knob::Estimate
            | Knob::Widen
            | Knob::Blacklist => needs(strategy.btp, "only +btp plans a budget"),
            Knob::Budget => {
                needs(strategy.btp || strategy.prompt, "only +btp and +prompt read the budget")
            }
            Knob::Tries => needs(strategy.reflexion, "only +reflexion tries a task again"),
            Knob::Programs | Knob::Reflect | Knob::Reuse | Knob::Schemas => {
                needs(strategy.base == Base::Atc, "only atc writes programs")
            }
            Knob::ProbePasses
            | Knob::ProbeSamples
            | Knob::ProbeAll
            | Knob::ProbeSchema
            | Knob::ProbeEdges => needs(false, "used only by probing"),
            Knob::CallJudge | Knob::Theta | Knob::CallK => {
                needs(strategy.base == Base::Cotools, "only cotools asks where a call starts")
            }
            Knob::Mix | Knob::Near => {
                let is_both = knobs.choice::<Retrieve>() == Retrieve::Both;
                needs(is_both, "used only if both words and states rank (knob retrieve)")
            }
            Knob::Skip => needs(false, "only an agent that is watched can be kept from a call"),
            Knob::MenuMax
            | Knob::FixTools
            | Knob::MaxSteps
            | Knob::History
            | Knob::ResultMax
            | Knob::Temperature
            | Knob::Concurrency
            | Knob::MaxCalls
            | Knob::Speed
            | Knob::Judge
            | Knob::GoldFeedback
            | Knob::Grader
            | Knob::Retrieve => None,
        }
    }
}
