//! The available loops and their modifiers, declared once: parsing, plans, the screen and the help
//! all read this table. The room `strategy` implements the loops.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{chat::Role, words};

/// A loop and its modifiers, written `workers+toolnet+btp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Strategy {
    pub base: Base,
    /// Offer the planner the tools that the graph suggests, with their weights, and have its tools scored
    /// (ToolNet). Only for loops that plan all calls at once; `toolnet` alone is a loop of its own.
    pub toolnet: bool,
    /// Tell the model what tools cost and what is left of the budget, and enforce nothing (BTP's
    /// baseline).
    pub prompt: bool,
    /// Plan which tools to use how often within the budget, and enforce it (BTP).
    pub btp: bool,
    /// Reflect on a failed attempt and try again (Reflexion).
    pub reflexion: bool,
}

/// A loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// A single model call without tools: the model's own knowledge.
    Direct,
    /// Thought, call, observation, with every tool offered and no weights (Yao et al. 2022).
    React,
    /// The same loop, walking a weighted graph of tools that an evaluator keeps teaching.
    ToolNet,
    /// The same loop on a weighted graph of tools that an evaluator keeps teaching.
    /// 2023).
    Dfsdt,
    /// Depth-first through a tree of decisions, the best first by votes (Yao et al. 2023).
    TotDfs,
    /// A plan of all calls first, then the calls, then the answer (Xu et al. 2023).
    Rewoo,
    /// The same, with tools of one class called together, and empty results kept from the solver
    /// (concurrent workers).
    Workers,
    /// A program over all tools for each task; a failing one is revised (Shi et al. 2024).
    Atc,
    /// A model writes, and a small model that reads along decides where which tool is called (Wu et al. 2025).
    Cotools,
}

/// When an agent decides on its tool calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decides {
    OnEachUse,
    /// On all of them, before the first.
    AtOnce,
}

/// The declaration of a loop.
#[derive(Debug)]
pub struct StrategySpec {
    pub base: Base,
    /// As written in the configuration and on the command line.
    pub name: &'static str,
    /// Description in one line, which helps to choose.
    pub doc: &'static str,
    pub decides: Decides,
    /// Whether it walks a tree of decisions and can backtrack.
    pub searches: bool,
    /// Whether it calls tools at all.
    pub calls_tools: bool,
    /// Whether it walks the weighted graph of tools, and teaches it.
    pub walks: bool,
    /// Whether tools of one class are called together, and empty results are filtered out.
    pub by_class: bool,
    /// The role that writes the answer from the results when nothing more can be tried.
    pub closes: Role,
    /// Roles called in addition to the tool uses, with the number of calls: the c_s of BTP. A planner counts only
    /// before there is a plan.
    pub besides: &'static [(Role, u32)],
}

/// Every loop, in the order of [`Base`], which is the display order.
pub const STRATEGIES: &[StrategySpec] = &[
    StrategySpec {
        calls_tools: false,
        ..stepping(Base::Direct, "direct", "one model call, no tools")
    },
    stepping(Base::React, "react", "every tool on every menu"),
    StrategySpec {
        walks: true,
        besides: &[(Role::Actor, 2), (Role::Evaluator, 1)],
        ..stepping(Base::ToolNet, "toolnet", "walks the weighted tool graph")
    },
    StrategySpec {
        searches: true,
        ..stepping(Base::Dfsdt, "dfsdt", "depth-first search, opens a new child when one fails")
    },
    StrategySpec {
        searches: true,
        // The votes on one pair.
        besides: &[(Role::Actor, 2), (Role::Judge, 2)],
        ..stepping(Base::TotDfs, "tot-dfs", "depth-first search, ranks the children by votes")
    },
    planning(Base::Rewoo, "rewoo", "plans all calls at once, one tool per plan"),
    StrategySpec {
        by_class: true,
        ..planning(
            Base::Workers,
            "workers",
            "plans all calls at once, tools of one class in parallel",
        )
    },
    StrategySpec {
        closes: Role::Programmer,
        besides: &[(Role::Programmer, 2), (Role::Attributor, 1)],
        ..planning(Base::Atc, "atc", "one program over the tools, revised when it fails")
    },
    stepping(
        Base::Cotools,
        "cotools",
        "writes text, and a small model that reads along starts tool calls",
    ),
];

/// A loop that decides on each use; the final request and the closing summary are additional.
const fn stepping(base: Base, name: &'static str, doc: &'static str) -> StrategySpec {
    StrategySpec {
        base,
        name,
        doc,
        decides: Decides::OnEachUse,
        searches: false,
        calls_tools: true,
        walks: false,
        by_class: false,
        closes: Role::Actor,
        besides: &[(Role::Actor, 2)],
    }
}

/// A loop that plans all uses at once.
const fn planning(base: Base, name: &'static str, doc: &'static str) -> StrategySpec {
    StrategySpec {
        decides: Decides::AtOnce,
        closes: Role::Solver,
        besides: &[(Role::Planner, 1), (Role::Solver, 1)],
        ..stepping(base, name, doc)
    }
}

impl Base {
    pub fn spec(self) -> &'static StrategySpec {
        &STRATEGIES[self as usize]
    }
}

/// The declaration of a modifier.
#[derive(Debug)]
pub struct ModifierSpec {
    /// As written after a `+`.
    pub name: &'static str,
    /// Description of what the modifier adds, in one line.
    pub doc: &'static str,
    switch: fn(&mut Strategy) -> &mut bool,
}

/// The modifiers, in the order in which they are written.
pub const MODIFIERS: &[ModifierSpec] = &[
    ModifierSpec {
        name: "toolnet",
        doc: "the graph suggests the tools and learns",
        switch: |strategy| &mut strategy.toolnet,
    },
    ModifierSpec {
        name: "prompt",
        doc: "the model sees costs and budget",
        switch: |strategy| &mut strategy.prompt,
    },
    ModifierSpec {
        name: "btp",
        doc: "plans for the budget and enforces it",
        switch: |strategy| &mut strategy.btp,
    },
    ModifierSpec {
        name: "reflexion",
        doc: "reflects and tries again",
        switch: |strategy| &mut strategy.reflexion,
    },
];

impl Default for Strategy {
    /// The loop of ToolNet.
    fn default() -> Self {
        Base::ToolNet.into()
    }
}

impl From<Base> for Strategy {
    /// The bare loop.
    fn from(base: Base) -> Self {
        Self { base, toolnet: false, prompt: false, btp: false, reflexion: false }
    }
}

impl Strategy {
    /// Every combination, in display order.
    pub fn all() -> impl Iterator<Item = Strategy> {
        let all = (0..16).flat_map(|bits| {
            STRATEGIES.iter().map(move |spec| Strategy {
                base: spec.base,
                toolnet: bits & 8 != 0,
                prompt: bits & 2 != 0,
                btp: bits & 1 != 0,
                reflexion: bits & 4 != 0,
            })
        });
        all.filter(|strategy| strategy.is_sound())
    }

    /// Whether the modifiers fit the loop.
    fn is_sound(self) -> bool {
        !self.toolnet || self.base.spec().decides == Decides::AtOnce
    }

    /// Whether the strategy teaches the scores of the graph.
    pub fn learns(self) -> bool {
        self.toolnet || self.base.spec().walks
    }

    /// Returns the strategy's modifiers, in the order in which they are written.
    pub fn modifiers(mut self) -> impl Iterator<Item = &'static ModifierSpec> {
        MODIFIERS.iter().filter(move |modifier| *(modifier.switch)(&mut self))
    }

    /// Describes the strategy in one line.
    pub fn doc(self) -> String {
        let docs =
            std::iter::once(self.base.spec().doc).chain(self.modifiers().map(|spec| spec.doc));
        docs.collect::<Vec<_>>().join("; ")
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&String::from(*self))
    }
}

/// The strategy that a text with typos most likely means.
fn likely(text: &str) -> Option<Strategy> {
    let mut parts = text.split('+');
    let bases = STRATEGIES.iter().map(|spec| spec.name);
    let mut name = words::nearest(parts.next()?, bases)?.to_owned();
    for part in parts {
        name += "+";
        name += words::nearest(part, MODIFIERS.iter().map(|spec| spec.name))?;
    }
    // An unlikely guess fails here, since its own guess would be itself.
    if name == text { None } else { name.parse().ok() }
}

impl FromStr for Strategy {
    type Err = String;

    /// Modifiers may come in any order, each once.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            let bases: Vec<_> = STRATEGIES.iter().map(|spec| spec.name).collect();
            let modifiers: Vec<_> = MODIFIERS.iter().map(|spec| spec.name).collect();
            let hint = likely(text).map(|name| format!(" (did you mean `{name}`?)"));
            format!(
                "there is no strategy `{text}`{}; expected one of {}, followed by any of +{}",
                hint.unwrap_or_default(),
                bases.join(", "),
                modifiers.join(", +"),
            )
        };
        let mut parts = text.split('+');
        let name = parts.next().unwrap_or_default();
        let spec = STRATEGIES.iter().find(|spec| spec.name == name).ok_or_else(wrong)?;
        let mut strategy = Strategy::from(spec.base);
        for part in parts {
            let modifier = MODIFIERS.iter().find(|spec| spec.name == part).ok_or_else(wrong)?;
            if std::mem::replace((modifier.switch)(&mut strategy), true) {
                return Err(wrong());
            }
        }
        if !strategy.is_sound() {
            return Err(format!(
                "+toolnet goes with rewoo, workers and atc, not with {name}; toolnet alone is a strategy"
            ));
        }
        Ok(strategy)
    }
}

impl TryFrom<String> for Strategy {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Strategy> for String {
    fn from(strategy: Strategy) -> Self {
        let names = std::iter::once(strategy.base.spec().name)
            .chain(strategy.modifiers().map(|modifier| modifier.name));
        names.collect::<Vec<_>>().join("+")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_enum() {
        for (i, spec) in STRATEGIES.iter().enumerate() {
            assert_eq!(spec.base as usize, i, "{}", spec.name);
        }
    }

    #[test]
    fn one_line_says_what_the_loop_does_and_each_modifier() {
        for strategy in Strategy::all() {
            let doc = strategy.doc();
            let parts = 1 + strategy.to_string().matches('+').count();
            assert_eq!(doc.split("; ").filter(|part| !part.is_empty()).count(), parts, "{doc}");
        }
        let doc = "workers+toolnet".parse::<Strategy>().map(Strategy::doc).unwrap_or_default();
        assert!(doc.ends_with("; the graph suggests the tools and learns"), "{doc}");
    }

    #[test]
    fn strategies_read_what_they_write() {
        for strategy in Strategy::all() {
            assert_eq!(strategy.to_string().parse(), Ok(strategy));
        }
        let why = "react+toolnet".parse::<Strategy>().unwrap_err();
        assert!(why.contains("goes with rewoo, workers and atc"), "{why}");
        let mixed = "react+reflexion+btp".parse::<Strategy>().map(|read| read.to_string());
        assert_eq!(mixed.as_deref(), Ok("react+btp+reflexion"));
        for (slip, meant) in [("rect", "react"), ("workers+bpt", "workers+btp")] {
            let why = slip.parse::<Strategy>().unwrap_err();
            assert!(why.contains(&format!("(did you mean `{meant}`?); expected")), "{why}");
        }
        for wrong in ["react+magic", "react+btp+btp", "", "+btp", "react+", "React"] {
            let why = wrong.parse::<Strategy>().unwrap_err();
            assert!(why.contains("cotools, followed by any of +toolnet, +prompt"), "{why}");
        }
    }
}
