//! Plan, work, solve: the planner writes down all calls, workers start each call as soon as its
//! inputs exist, and the solver writes the answer (ReWOO, Xu et al. 2023; concurrent workers). It
//! takes two model calls regardless of the number of tool calls, and a call waits only for calls
//! that it needs.

use std::sync::Arc;

use super::prompt::lack::{keeping, lacking};
use super::prompt::planner_prompts::{self as prompt, RefusedPlan};
use super::{Context, Ending, Strategy, Trajectory, classify, close, menu, work};
use crate::domain::markers::{LLM, UNKNOWN};
use crate::domain::{
    BudgetEvent, Caveat, Knob, MenuItem, MenuReason, Outcome, Plan, PlanEvent, Reply, Role,
    SessionEvent, Task, TaskEvent, ToolName,
};
use crate::papers::plan::{self, PlanReading};

/// The most model calls of the planner; the second one includes the faults of the first plan.
const ASKED: usize = 2;

/// The reason for requesting a plan again that was cut off.
const CUT: &str = "the limit of tokens cut it off; write a shorter plan";
/// The reason for requesting a plan again that has no calls.
const NO_CALL: &str = "it calls no tool, though tools are offered; write each call as `#E1 = Tool[input]`, or the same \
                       plan again if none helps";

/// Makes one attempt at a task.
pub async fn act(
    ctx: &impl Context,
    strategy: Strategy,
    task: &Task,
    reflections: &[String],
) -> (Trajectory, Ending) {
    let mut planner = Planner { ctx, strategy, task, reflections, menu: Arc::default(), step: 0 };
    planner.look().await;
    let plan = match planner.plan().await {
        Ok(plan) => plan,
        Err(ending) => return (Trajectory::default(), ending),
    };
    let Planner { menu, step, .. } = planner;
    let (trajectory, worklog, found_any) =
        work::work(ctx, strategy.base, task, &plan, &menu, step).await;
    if ctx.state(|state| state.has_plan()) {
        let why = "all evidence collected".to_owned();
        ctx.say(|task| BudgetEvent::SummaryStarted { task, why });
    }
    let mut ending = solve(ctx, task, reflections, &worklog).await;
    if !found_any && ending.outcome == Outcome::Answered {
        ending.caveats.insert(0, Caveat::WithoutEvidence);
    }
    (trajectory, ending)
}

struct Planner<'a, C> {
    ctx: &'a C,
    strategy: Strategy,
    task: &'a Task,
    reflections: &'a [String],
    menu: Arc<[MenuItem]>,
    /// The number of menus that the planner has seen.
    step: u32,
}

impl<C: Context> Planner<'_, C> {
    /// Builds the planner's menu.
    async fn look(&mut self) {
        self.menu = menu::next_of_planner(self.ctx, self.strategy.toolnet, self.task).await;
        if self.strategy.base.spec().by_class {
            classify::classify(self.ctx, &self.menu).await;
        }
        self.step += 1;
        self.ctx.say(|task| {
            let (step, from, menu) = (self.step, ToolName::start(), Arc::clone(&self.menu));
            TaskEvent::StepStarted { task, step, from, menu }
        });
    }

    /// Gets the planner's plan. An unusable plan is recorded, and requested once more with the
    /// reason. If the planner names a missing capability and the budget allows replanning, it gets
    /// a new menu first.
    async fn plan(&mut self) -> Result<Arc<Plan>, Ending> {
        let most = self.ctx.state(|state| state.knobs.count(Knob::MaxSteps));
        let mut refused: Option<RefusedPlan> = None;
        let mut tries = 0;
        while tries < ASKED {
            let may_lack = (self.step as usize) < most && self.ctx.state(|state| state.may_widen());
            let reply = self.ask(refused.as_ref(), may_lack).await?;
            let needs = lacking(&reply.text);
            let offered = self.menu.iter().map(|item| (item.tool.as_str(), &item.tool));
            let kept = keeping(&reply.text, offered);
            if may_lack && !needs.is_empty() && self.ctx.widen(&needs, kept.as_deref()).await {
                self.look().await;
                continue;
            }
            let again = tries + 1 < ASKED;
            let read = self.read(&reply, !again);
            let read = read.and_then(|(plan, doubts)| match doubts {
                // The plan was already requested again, so its doubts are accepted.
                doubts if !again || doubts.is_empty() => Ok((plan, doubts)),
                doubts => Err(doubts),
            });
            match read {
                Ok((plan, doubts)) => {
                    if !doubts.is_empty() {
                        let text = format!("the second plan is used as it is: {doubts}");
                        self.ctx.say(|_| SessionEvent::Noticed { text });
                    }
                    let plan = Arc::new(plan);
                    self.ctx.say(|task| PlanEvent::PlanWritten { task, plan: Arc::clone(&plan) });
                    return Ok(plan);
                }
                Err(why) => {
                    self.ctx.say(|task| PlanEvent::PlanRefused { task, why: why.clone() });
                    refused = Some(RefusedPlan { text: reply.text.clone(), why });
                    tries += 1;
                }
            }
        }
        Err(Ending::without_answer(Outcome::Failed))
    }

    /// Reads a plan, and the doubts about it: it says too little, or was cut off. An error is a plan that cannot be
    /// carried out. Of the `last` plan whole calls are taken, and what has no end is left out.
    fn read(&self, reply: &Reply, last: bool) -> Result<(Plan, String), String> {
        let offered = self.ctx.state(|state| prompt::offered(state, &self.menu));
        let cut = Caveat::of(&reply.finish).map(|caveat| match caveat {
            Caveat::CutOff => CUT.to_owned(),
            other => format!("it is {}", other.name()),
        });
        let told = |why: String| cut.iter().cloned().chain([why]).collect::<Vec<_>>().join("\n");
        let read = plan::read(&reply.text, &offered).or_else(|why| {
            let whole = last.then(|| plan::read_whole_calls(&reply.text, &offered));
            let has_calls = |read: &PlanReading| read.plan.evidence().next().is_some();
            whole.and_then(Result::ok).filter(has_calls).ok_or(why)
        });
        let PlanReading { plan, doubts } = read.map_err(|why| told(why.to_string()))?;
        let model = ToolName::from(LLM);
        let tools = self.menu.iter().map(|item| &item.tool).chain([&model]);
        plan::check(&plan, tools).map_err(|faults| told(faults.to_string()))?;
        let doubts = doubts.iter().map(ToString::to_string);
        let mut doubts: Vec<String> = cut.iter().cloned().chain(doubts).collect();
        let has_tools = self.menu.iter().any(|item| item.why != MenuReason::Finish);
        if has_tools && plan.evidence().next().is_none() {
            doubts.push(NO_CALL.to_owned());
        }
        Ok((plan, doubts.join("\n")))
    }

    async fn ask(
        &self,
        refused: Option<&RefusedPlan>,
        may_lack: bool,
    ) -> Result<Arc<Reply>, Ending> {
        let Self { strategy, task, menu, reflections, .. } = self;
        let asked = prompt::PlannerInput {
            strategy: *strategy,
            task,
            menu,
            reflections,
            refused,
            may_lack,
        };
        let request = self.ctx.state(|state| prompt::planner(state, &asked));
        let reply = self.ctx.ask(Role::Planner, request).await;
        reply.map_err(|error| close::failed(&error))
    }
}

/// The solver's answer, from all plans and all evidence.
async fn solve(ctx: &impl Context, task: &Task, reflections: &[String], worklog: &str) -> Ending {
    let request = ctx.state(|state| prompt::solver(state, task, reflections, worklog));
    match ctx.ask(Role::Solver, request).await {
        Ok(reply) => answer(&reply.text).of(&reply),
        Err(error) => close::failed(&error),
    }
}

/// Reads the solver's reply without a leading label such as `Answer:`.
fn answer(text: &str) -> Ending {
    let text = text.trim();
    let said = ["Answer:", "answer:", "ANSWER:", "**Answer:**"];
    let text = said.iter().find_map(|said| text.strip_prefix(said)).unwrap_or(text).trim();
    let bare = text.trim_end_matches('.').to_lowercase();
    if bare.is_empty() || bare == UNKNOWN {
        Ending::without_answer(Outcome::GaveUp)
    } else {
        Ending::answered(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_as_solvers_write_them() {
        for text in ["Lumenport", " Answer: Lumenport\n", "**Answer:** Lumenport"] {
            assert_eq!(answer(text), Ending::answered("Lumenport"), "{text:?}");
        }
        for text in ["", "unknown", "Answer: Unknown."] {
            assert_eq!(answer(text), Ending::without_answer(Outcome::GaveUp), "{text:?}");
        }
    }
}
