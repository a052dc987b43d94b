//! Which loops there are, and what modifies them. What each of them does is in [`crate::strategy`].

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::domain::state::Decides;

/// A loop and its modifiers, written `toolnet+btp+reflexion`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Strategy {
    pub base: Base,
    /// Offer the planner the tools that the graph suggests, with their weights, and have its tools scored
    /// (ToolNet). Only for loops that plan all calls at once; `toolnet` alone is a loop of its own.
    pub toolnet: bool,
    /// Tell the model what tools cost and what is left of the budget, and enforce nothing (BTP's
    /// baseline).
    pub prompt: bool,
    /// Plan which tools to use how often within the budget, and hold to it (BTP).
    pub btp: bool,
    /// Reflect on a failed try and try again (Reflexion).
    pub reflexion: bool,
}

/// A loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// One ask, no tools: what the model knows by itself.
    Direct,
    /// Thought, call, observation, with every tool offered and no weights (Yao et al. 2022).
    React,
    /// The same loop, walking a weighted graph of tools that an evaluator keeps teaching.
    ToolNet,
    /// Depth-first through a tree of decisions, backing out of what the agent gives up (Qin et al.
    /// 2023).
    Dfsdt,
    /// Depth-first through a tree of decisions, the best first by votes (Yao et al. 2023).
    TotDfs,
    /// A plan of all calls first, then the calls, then the answer (Xu et al. 2023).
    Rewoo,
    /// The same with tools of one class called together, and results that say nothing kept from the
    /// solver (concurrent workers).
    Workers,
}

impl Base {
    pub const ALL: [Base; 7] = [
        Base::Direct,
        Base::React,
        Base::ToolNet,
        Base::Dfsdt,
        Base::TotDfs,
        Base::Rewoo,
        Base::Workers,
    ];

    /// When it decides on its uses of tools.
    pub fn decides(self) -> Decides {
        match self {
            Base::Direct | Base::React | Base::ToolNet | Base::Dfsdt | Base::TotDfs => {
                Decides::OnEachUse
            }
            Base::Rewoo | Base::Workers => Decides::AtOnce,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Base::Direct => "direct",
            Base::React => "react",
            Base::ToolNet => "toolnet",
            Base::Dfsdt => "dfsdt",
            Base::TotDfs => "tot-dfs",
            Base::Rewoo => "rewoo",
            Base::Workers => "workers",
        }
    }

    /// Whether a planner writes down all calls before the first of them is made.
    pub fn plans_ahead(self) -> bool {
        self.decides() == Decides::AtOnce
    }

    /// Whether it goes through a tree of decisions and can back out of them.
    pub fn searches(self) -> bool {
        match self {
            Base::Dfsdt | Base::TotDfs => true,
            Base::Direct | Base::React | Base::ToolNet | Base::Rewoo | Base::Workers => false,
        }
    }
}

impl From<Base> for Strategy {
    /// The bare loop.
    fn from(base: Base) -> Self {
        Self { base, toolnet: false, prompt: false, btp: false, reflexion: false }
    }
}

impl Strategy {
    /// The modifiers, in the order in which they are written.
    pub const MODIFIERS: [&str; 4] = ["toolnet", "prompt", "btp", "reflexion"];

    /// Every combination, in the order in which people are offered them.
    pub fn all() -> impl Iterator<Item = Strategy> {
        let all = (0..16).flat_map(|bits| {
            Base::ALL.into_iter().map(move |base| Strategy {
                base,
                toolnet: bits & 8 != 0,
                prompt: bits & 2 != 0,
                btp: bits & 1 != 0,
                reflexion: bits & 4 != 0,
            })
        });
        all.filter(|strategy| strategy.is_sound())
    }

    /// Whether its modifiers go with its loop.
    fn is_sound(self) -> bool {
        !self.toolnet || self.base.decides() == Decides::AtOnce
    }

    /// Whether the graph's scores are taught by it.
    pub fn learns(self) -> bool {
        self.toolnet || self.base == Base::ToolNet
    }

    fn modifier(&mut self, name: &str) -> Option<&mut bool> {
        match name {
            "toolnet" => Some(&mut self.toolnet),
            "prompt" => Some(&mut self.prompt),
            "btp" => Some(&mut self.btp),
            "reflexion" => Some(&mut self.reflexion),
            _ => None,
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = self.base.name().to_owned();
        let on = [self.toolnet, self.prompt, self.btp, self.reflexion];
        for (name, _) in Self::MODIFIERS.into_iter().zip(on).filter(|(_, on)| *on) {
            text.push('+');
            text.push_str(name);
        }
        f.pad(&text)
    }
}

impl FromStr for Strategy {
    type Err = String;

    /// Modifiers may stand in any order, each once.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "there is no strategy `{text}`; expected one of {}, and behind it any of +{}",
                Base::ALL.map(Base::name).join(", "),
                Self::MODIFIERS.join(", +"),
            )
        };
        let mut parts = text.split('+');
        let name = parts.next().unwrap_or_default();
        let base = Base::ALL.into_iter().find(|base| base.name() == name).ok_or_else(wrong)?;
        let mut strategy = Strategy::from(base);
        for part in parts {
            let on = strategy.modifier(part).filter(|on| !**on).ok_or_else(wrong)?;
            *on = true;
        }
        if !strategy.is_sound() {
            return Err(format!(
                "+toolnet goes with rewoo and workers, not with {name}; toolnet alone is a strategy"
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
        strategy.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strategies_read_what_they_write() {
        for strategy in Strategy::all() {
            assert_eq!(strategy.to_string().parse(), Ok(strategy));
        }
        let why = "react+toolnet".parse::<Strategy>().unwrap_err();
        assert!(why.contains("goes with rewoo and workers"), "{why}");
        let mixed = "react+reflexion+btp".parse::<Strategy>().map(|read| read.to_string());
        assert_eq!(mixed.as_deref(), Ok("react+btp+reflexion"));
        for wrong in ["react+magic", "react+btp+btp", "", "+btp", "react+", "React"] {
            let why = wrong.parse::<Strategy>().unwrap_err();
            assert!(why.contains("workers, and behind it any of +toolnet, +prompt"), "{why}");
        }
    }
}
