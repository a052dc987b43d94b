//! Chooses among the offered tools for a plan.

use super::super::{choose::pick, request_parser::MenuTool};
use super::Planner;
use crate::domain::{ChainStep, Chance, Task, ToolName};

/// The most tools for one need, if several are allowed.
pub(super) const MOST: usize = 3;

impl Planner<'_> {
    /// The tools for a step, the usual one first.
    pub(super) fn fit(&self, task: &Task, at: usize, chance: Chance) -> Vec<ToolName> {
        let tools = task.chain[at].tools.iter().enumerate();
        let fitting: Vec<(&MenuTool<'_>, f64)> = tools
            .filter_map(|(place, tool)| {
                let choice = self.left().find(|choice| choice.def.name == *tool)?;
                Some((choice, self.settings.usualness(place)))
            })
            .collect();
        // Later steps need some of the remaining uses.
        let tools = &task.chain[at].tools;
        let shares = |step: &&ChainStep| step.tools.iter().any(|tool| tools.contains(tool));
        let later = task.chain[at + 1..].iter().filter(shares).count();
        let uses = fitting.iter().map(|(choice, _)| self.uses_left(choice));
        let room = uses.fold(0, usize::saturating_add).saturating_sub(later);
        self.draw(fitting, room.clamp(1, MOST), chance)
    }

    /// Draws some of these tools, in their order: several of one class if allowed, else one.
    pub(super) fn draw(
        &self,
        mut choices: Vec<(&MenuTool<'_>, f64)>,
        most: usize,
        chance: Chance,
    ) -> Vec<ToolName> {
        let class = |choice: &MenuTool<'_>| self.offered.class(&choice.def.name);
        let first = choices.first().and_then(|(choice, _)| class(choice));
        let together = first.is_some();
        if together {
            choices.retain(|(choice, _)| class(choice) == first);
        }
        let order: Vec<ToolName> =
            choices.iter().map(|(choice, _)| choice.def.name.clone()).collect();
        let mut drawn = Vec::new();
        for nth in 0..if together { most } else { 1 } {
            let chance = chance.with(&nth.to_le_bytes());
            let Some(choice) = pick(&choices, self.settings, chance) else { break };
            let name = choice.def.name.clone();
            choices.retain(|(choice, _)| choice.def.name != name);
            drawn.push(name);
        }
        order.into_iter().filter(|tool| drawn.contains(tool)).collect()
    }

    /// The tools that may still be called.
    pub(super) fn left(&self) -> impl Iterator<Item = &MenuTool<'_>> {
        self.menu.iter().filter(|choice| self.uses_left(choice) > 0)
    }

    fn uses_left(&self, choice: &MenuTool<'_>) -> usize {
        let tool = &choice.def.name;
        let used = self.uses.get(tool).copied().unwrap_or(0);
        self.offered.most(tool).map_or(usize::MAX, |most| most.saturating_sub(used))
    }
}
