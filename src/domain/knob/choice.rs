//! Knobs with named values, as enums.

use serde::{Deserialize, Serialize};
use strum::{VariantArray, VariantNames};

use super::table::Knob;
use crate::graph::WeightFormat;

/// The values of a knob, in the order of its numbers.
pub trait KnobChoice: Copy + VariantArray + VariantNames {
    /// The knob that has these values.
    const KNOB: Knob;
    const ALL: &'static [Self] = <Self as VariantArray>::VARIANTS;
    /// As people write and read them.
    const NAMES: &'static [&'static str] = <Self as VariantNames>::VARIANTS;
}

/// Published method that turns experience into expected values and limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Estimation {
    /// As in the authors' code: the expected value of an unknown tool counts as one additional use,
    /// so that a single lucky use does not count as certainty. The limit is rounded half to even. A
    /// past query that the tool did not help counts as one use, however often the tool was tried on
    /// it.
    Smoothed,
    /// Equations 3 and 4 and the floor of algorithm 1, as printed (BTP).
    Paper,
}

/// Whether a tool whose result did not help is banned for the rest of the task (BTP, section 2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Blacklist {
    Off,
    /// Unless it has helped before (the authors' code).
    Protected,
    /// Always (the paper).
    Strict,
}

/// Judge of whether a result helped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Judge {
    Rules,
    Model,
}

/// Judge of the tools of a finished task (ToolNet, section 3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Scorer {
    /// The evaluator (the paper).
    Model,
    /// Failures, and the words of results that the agent used.
    Rules,
    /// Rules where the result says by itself whether it helped, else the evaluator.
    Auto,
}

/// Feedback on a failed program for the next one (ATC, table 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Reflect {
    /// The error, the tool whose call led to it, and its whole document.
    Attribute,
    /// The error.
    Naive,
    /// No feedback: there is no further program.
    Off,
}

/// Prompts that say what tools return.
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Schemas {
    /// None.
    Off,
    /// Prompts of programs.
    Programs,
    /// The descriptions of tools in all prompts.
    All,
}

/// Results that a schema is learned from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum ProbeSchema {
    /// All elements of all results.
    Merged,
    /// The first result, and of each list the first element (the authors' code).
    Paper,
}

/// Method that ranks tools for a text. Without a reader, words rank them in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[derive(VariantArray, VariantNames, Serialize, Deserialize)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Retrieve {
    /// BM25.
    #[default]
    Words,
    /// The heads' scores, or cosines of states.
    States,
    /// Alternately the best by words and the best by states, in the shares set by `mix`.
    Both,
}

/// Action of the judge that reads along while an answer is written (CoTools, eq. 3 and 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum CallJudge {
    Off,
    /// The judge only shows where it would call a tool.
    Mark,
    /// The judge ends the answer where a call starts.
    Act,
}

/// How fast sample tools and the simulated model answer; 1: as real ones do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, VariantArray, VariantNames)]
pub enum Speed {
    /// Answers come at once.
    #[default]
    #[strum(serialize = "off")]
    Off,
    #[strum(serialize = "1/4")]
    Quarter,
    #[strum(serialize = "1/2")]
    Half,
    #[strum(serialize = "1")]
    Normal,
    #[strum(serialize = "2")]
    Double,
    #[strum(serialize = "4")]
    Four,
    #[strum(serialize = "8")]
    Eight,
    #[strum(serialize = "16")]
    Sixteen,
}

impl Speed {
    /// The factor by which answers are faster than real ones; `None`: at once.
    pub fn factor(self) -> Option<f64> {
        match self {
            Speed::Off => None,
            Speed::Quarter => Some(0.25),
            Speed::Half => Some(0.5),
            Speed::Normal => Some(1.0),
            Speed::Double => Some(2.0),
            Speed::Four => Some(4.0),
            Speed::Eight => Some(8.0),
            Speed::Sixteen => Some(16.0),
        }
    }

    /// As the header shows it: `×4`.
    pub fn sign(self) -> &'static str {
        match self {
            Speed::Off => "",
            Speed::Quarter => "×¼",
            Speed::Half => "×½",
            Speed::Normal => "×1",
            Speed::Double => "×2",
            Speed::Four => "×4",
            Speed::Eight => "×8",
            Speed::Sixteen => "×16",
        }
    }
}

macro_rules! choices {
    ($($choice:ident of $knob:ident,)*) => {
        $(impl KnobChoice for $choice {
            const KNOB: Knob = Knob::$knob;
        })*
    };
}

choices! {
    Blacklist of Blacklist,
    CallJudge of CallJudge,
    Estimation of Estimate,
    Judge of Judge,
    ProbeSchema of ProbeSchema,
    Reflect of Reflect,
    Retrieve of Retrieve,
    Schemas of Schemas,
    Scorer of Scorer,
    Speed of Speed,
    WeightFormat of WeightFormat,
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use super::*;
    use crate::knob::{KNOBS, KnobKind, KnobSpec, Knobs};

    /// Checks that the knob has these names, each for the value of that name.
    fn has<C: KnobChoice + Debug + PartialEq>(names: &[&str]) -> Knob {
        let (spec, mut knobs) = (C::KNOB.spec(), Knobs::default());
        assert_eq!(spec.kind, KnobKind::Choice(C::NAMES), "{}", spec.name);
        assert_eq!(C::NAMES, names, "{}", spec.name);
        for (value, name) in C::ALL.iter().zip(names) {
            knobs.set(C::KNOB, spec.parse(name).unwrap());
            assert_eq!(knobs.choice::<C>(), *value, "{name}");
        }
        C::KNOB
    }

    #[test]
    fn a_choice_has_the_names_and_the_values_of_its_enum() {
        let choices = [
            has::<WeightFormat>(&["none", "/100", "/10", "integer", "x10"]),
            has::<Scorer>(&["model", "rules", "auto"]),
            has::<Speed>(&["off", "1/4", "1/2", "1", "2", "4", "8", "16"]),
            has::<Estimation>(&["smoothed", "paper"]),
            has::<Blacklist>(&["off", "protected", "strict"]),
            has::<Judge>(&["rules", "model"]),
            has::<Reflect>(&["attribute", "naive", "off"]),
            has::<Schemas>(&["off", "programs", "all"]),
            has::<ProbeSchema>(&["merged", "paper"]),
            has::<Retrieve>(&["words", "states", "both"]),
            has::<CallJudge>(&["off", "mark", "act"]),
        ];
        let is_choice = |spec: &&KnobSpec| matches!(spec.kind, KnobKind::Choice(_));
        let declared: Vec<_> = KNOBS.iter().filter(is_choice).map(|spec| spec.knob).collect();
        assert_eq!(declared, choices, "every choice has an enum");
    }

    #[test]
    fn a_number_that_is_no_value_is_the_nearest_one() {
        let mut knobs = Knobs::default();
        for (number, list) in
            [(-1.0, Blacklist::Off), (f64::NAN, Blacklist::Off), (9.0, Blacklist::Strict)]
        {
            knobs.set(Knob::Blacklist, number);
            assert_eq!(knobs.choice::<Blacklist>(), list, "{number}");
        }
    }

    #[test]
    fn every_speed_but_none_has_its_sign() {
        let signs: Vec<_> = Speed::ALL.iter().map(|speed| speed.sign()).collect();
        assert_eq!(signs, ["", "×¼", "×½", "×1", "×2", "×4", "×8", "×16"]);
    }
}
