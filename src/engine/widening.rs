//! Plans for what an agent says that it lacks. The paper plans once over the tools that come with a
//! query; here tools are many and the first choice of them may miss the right one, so that an agent
//! would give a task up with credits left. With the knob `widen` it is asked to say what is missing, and
//! the plan is made again with tools that do that.

use super::session::Session;
use crate::{
    domain::{
        event::BudgetPlan,
        id::{TaskId, ToolName},
    },
    engine::candidates,
};

impl Session {
    /// Makes the plan of the task at work again with further tools, in view of what the agent says;
    /// whether that brought a tool that was not to be used any more, or not at all, before. One more use
    /// of a tool that is meant and has helped with this task is further, too: how often it helps with such tasks was
    /// an estimate, and that it did is none. `why` is what is said of the new plan.
    pub fn widen(&mut self, said: &str, why: &str) -> bool {
        let Some((task, budget)) = self.budgeted().filter(|_| self.state.may_widen()) else {
            return false;
        };
        let (id, text) = (task.id, task.task.text.clone());
        let meant = candidates::meant(&self.state, &self.index, said);
        let used_up = |tool: &&ToolName| {
            budget.helped.contains(*tool) && budget.left(tool.as_str()) == Some(0)
        };
        let again: Vec<ToolName> = meant.iter().filter(used_up).cloned().collect();
        for known in self.known.iter_mut().filter(|known| again.contains(&known.tool)) {
            known.more += 1;
        }
        self.know(&text, meant.clone());
        self.mark_lacked(id, &meant);
        let is_known = |tool: &ToolName| self.known.iter().any(|known| known.tool == *tool);
        let others = candidates::others(&self.state, &self.index, [said, &text], is_known);
        for more in [Vec::new()].into_iter().chain(others) {
            self.know(&text, more);
            let plan = self.make_plan(id);
            if self.offers_more(&plan) {
                self.say(id, why, plan);
                return true;
            }
        }
        false
    }

    /// Notes what the agent means, and nothing else that it meant before.
    fn mark_lacked(&mut self, task: TaskId, meant: &[ToolName]) {
        let tools = self.state.task(task).map(|task| &task.budget.tools);
        for known in &mut self.known {
            let used = tools.and_then(|tools| tools.get(&known.tool)).map_or(0, |tool| tool.uses);
            known.lacked = meant.contains(&known.tool).then_some(used);
        }
    }

    /// Adds candidates to those of the task at work.
    fn know(&mut self, text: &str, mut tools: Vec<ToolName>) {
        tools.retain(|tool| self.known.iter().all(|known| known.tool != *tool));
        let known = self.what_is_known(text, tools);
        self.known.extend(known);
    }

    /// Whether a plan has a use of a tool of which none is left.
    fn offers_more(&self, plan: &BudgetPlan) -> bool {
        let Some((_, budget)) = self.budgeted() else { return false };
        plan.tools.iter().any(|planned| planned.uses > 0 && !budget.allows(planned.tool.as_str()))
    }
}
