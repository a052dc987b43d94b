//! Rest of the current task's budget, and estimated costs (BTP, eq. 1): as declared at first, and as measured from the
//! first time on.

use crate::chat::{Role, Usage};
use crate::finite::Finite;
use crate::knob::Judge;
use crate::spec::{ModelSpec, Task};
use crate::state::State;
use crate::{id::ToolName, strategy::Decides};

/// Tokens of a request and of its answer, assumed for a model before its first call.
const ASSUMED: (u64, u64) = (1000, 150);

impl State {
    /// Credits for one use of a tool: its own cost, one model request where the agent decides on
    /// each use by itself, and the time of both (BTP, eq. 1); with the judge's request where a
    /// model judges. 0 for a tool that does not exist.
    pub fn use_cost(&self, tool: &ToolName, decides: Decides) -> f64 {
        let Some(known) = self.tools.get(tool) else { return 0.0 };
        let time = known.mean_micros().map_or(0.0, |micros| self.rates.time(micros));
        let judge = match self.knobs.choice() {
            Judge::Rules => 0.0,
            Judge::Model => self.model_call_cost(Role::Judge),
        };
        let decision = match decides {
            Decides::OnEachUse => self.model_call_cost(Role::Actor),
            Decides::AtOnce => 0.0,
        };
        self.rates.tool(known.spec.cost) + time + decision + judge
    }

    /// The fewest credits that the tools of a task's reference steps cost: for each step the cheapest tool that claims to
    /// do it. `None` without such steps, or if a step has no tool here. Models and time come on top, and a cheap tool
    /// may find nothing, so no way is cheaper.
    pub fn cheapest_way(&self, task: &Task) -> Option<f64> {
        let cost = |tool: &ToolName| Some(self.rates.tool(self.tools.get(tool)?.spec.cost));
        let steps =
            task.chain.iter().map(|step| step.tools.iter().filter_map(cost).reduce(f64::min));
        let ways: Option<Vec<f64>> = steps.collect();
        ways.filter(|steps| !steps.is_empty()).map(|steps| steps.iter().sum())
    }

    /// US dollars that models and embeddings have cost, as far as their prices are known. Costs of the simulated model
    /// are not included.
    pub fn dollars_spent(&self) -> f64 {
        let real = self.models.known.values().filter(|model| !model.spec.simulated);
        let real = real.map(|model| model.tally.dollars);
        real.chain([self.models.embeddings.dollars]).sum::<Finite>().into()
    }

    /// The limit of dollars, if a call has cost any, or a model bound to a role costs any.
    pub fn dollar_limit(&self) -> Option<Finite> {
        let costs = |spec: &ModelSpec| {
            let usage = Usage::estimate(1, 1);
            !spec.simulated && spec.price(&usage).is_some_and(|dollars| dollars > 0.0)
        };
        let mut models = self.models.roles.keys().filter_map(|role| self.models.of(*role));
        self.max_dollars
            .filter(|_| self.dollars_spent() > 0.0 || models.any(|model| costs(&model.spec)))
    }

    /// Credits for one request of this role, with its time: the average of its model, or the price
    /// of an assumed request.
    pub fn model_call_cost(&self, role: Role) -> f64 {
        let Some(model) = self.models.of(role) else { return 0.0 };
        if let Some((credits, micros)) = model.tally.average() {
            return credits + self.rates.time(micros);
        }
        let (tokens_in, tokens_out) = ASSUMED;
        self.rates.model(model.spec.price(&Usage::estimate(tokens_in, tokens_out)))
    }
}
