//! The arguments of `toolyard-lab compare`.

use clap::{Args, ValueEnum};

use crate::app::compare::CompareOptions;

#[derive(Debug, Args)]
pub struct CompareArgs {
    /// The comparison; every option overrides it.
    #[arg(value_enum)]
    pub preset: Preset,
    #[command(flatten)]
    pub options: CompareOptions,
}

/// A comparison of a paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Preset {
    /// Tables 2 to 5 of BTP: four loops, bare, with +prompt, with +btp as published and as it is here.
    Btp,
    /// Figure 2 of BTP: solved within the budget, and average cost, against the budget.
    Budgets,
    /// Figure 3 of BTP: the same against tau.
    Taus,
    /// Tables 3 to 5 and figures 3 and 4 of ToolNet, with its menu and with ours; and what the prompt
    /// cache changes with 21 to 1,223 tools.
    #[value(name = "toolnet")]
    ToolNet,
    /// Best planner and solver models: `workers` with every pair, and its baselines. The planner's
    /// model also classifies tools, the solver's model also answers questions of a plan.
    Pairs,
    /// Tables 1, 4 and 5 and figures 5 and 7 of ATC, with the film sample: programs against other loops, by
    /// reflection and by number of programs, and tools reached by probing.
    Atc,
}
