//! A preview of one step of a knob: the agent's choices and the budget plan, computed by the code that makes them in a
//! run. A preview changes no knob.

mod choices;
mod retrace;

use std::rc::Rc;

use self::choices::MenuPlace;
use crate::domain::{BudgetPlan, InTask, Knob, KnobSpec, Lexical, State, ToolName};
use crate::papers::btp::policy::Policy;

/// The most tools for which a preview retrieves again; more would take too long.
const MOST_TOOLS: usize = 2_000;

/// The effects of a knob at its present value, one step below and one step above.
#[derive(Clone, Debug, PartialEq)]
pub struct Preview {
    pub knob: Knob,
    pub shows: Shows,
    pub now: PreviewSide,
    /// `None`: the knob is at the end of its range.
    pub less: Option<PreviewSide>,
    pub more: Option<PreviewSide>,
}

/// The content of a preview.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shows {
    /// The menu of the next decision, in the order in which the model sees it.
    Menu { from: ToolName },
    /// The weights of the edges from here, where no menu is known yet.
    Weights { from: ToolName },
    /// The uses of tools that the budget plan of the task has left.
    Plan,
    /// Neither; the text gives the reason.
    Nothing(String),
}

/// The choices and uses at one value of the knob.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PreviewSide {
    pub value: f64,
    /// In order; the number is a weight from 0 to 1, or uses.
    pub tools: Vec<(ToolName, Option<f64>)>,
}

/// A tool on both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct PreviewRow<'a> {
    pub tool: &'a ToolName,
    /// The place and the number of the tool; `None` if the tool is not there.
    pub now: Option<(usize, Option<f64>)>,
    pub then: Option<(usize, Option<f64>)>,
}

impl Preview {
    /// Previews one step of this knob. `index` is called only if tools are retrieved.
    pub fn of(state: &State, index: impl FnOnce() -> Rc<Lexical>, knob: Knob) -> Self {
        let (state, spec) = (state.in_shown(), knob.spec());
        let value = state.knobs.get(knob);
        let turned = |steps| Some(spec.turned(value, steps)).filter(|other| *other != value);
        let none = |shows| Self {
            knob,
            shows,
            now: PreviewSide { value, ..PreviewSide::default() },
            less: turned(-1).map(|value| PreviewSide { value, ..PreviewSide::default() }),
            more: turned(1).map(|value| PreviewSide { value, ..PreviewSide::default() }),
        };
        match subject(state, spec) {
            Subject::Nothing(why) => none(Shows::Nothing(why)),
            Subject::Plan(plan) => {
                let planned = |value| planned(state, plan, knob, value);
                let now = left(state, plan, value);
                let (less, more) = (turned(-1).map(planned), turned(1).map(planned));
                Self { knob, shows: Shows::Plan, now, less, more }
            }
            Subject::Choices(place) => {
                let index = place.retrieves().then(index);
                let at = |value| PreviewSide {
                    value,
                    tools: place.choices(state, (knob, value), index.as_deref()),
                };
                let (less, more) = (turned(-1).map(at), turned(1).map(at));
                Self { knob, shows: place.shows(), now: at(value), less, more }
            }
        }
    }

    /// The side one step up or one step down.
    pub fn side(&self, up: bool) -> Option<&PreviewSide> {
        if up { self.more.as_ref() } else { self.less.as_ref() }
    }

    /// The present tools in order, then those that join.
    pub fn rows<'a>(&'a self, then: &'a PreviewSide) -> Vec<PreviewRow<'a>> {
        let place = |side: &PreviewSide, tool: &ToolName| {
            let at = side.tools.iter().position(|(known, _)| known == tool)?;
            Some((at, side.tools[at].1))
        };
        let row = |tool| PreviewRow { tool, now: place(&self.now, tool), then: place(then, tool) };
        let joined = then.tools.iter().filter(|(tool, _)| place(&self.now, tool).is_none());
        self.now.tools.iter().chain(joined).map(|(tool, _)| row(tool)).collect()
    }
}

enum Subject<'a> {
    Choices(MenuPlace<'a>),
    Plan(&'a BudgetPlan),
    Nothing(String),
}

/// The choices or the plan that this knob affects, as far as they can be known now.
fn subject<'a>(state: InTask<'a>, spec: &KnobSpec) -> Subject<'a> {
    let nothing = |why: &str| Subject::Nothing(why.to_owned());
    match spec.knob {
        Knob::Alpha | Knob::Beta | Knob::TopK | Knob::Explore | Knob::MenuMax => {
            match MenuPlace::of(state, spec.knob, MOST_TOOLS) {
                Ok(place) => Subject::Choices(place),
                Err(why) => Subject::Nothing(why),
            }
        }
        _ if spec.replans => match budget_plan(state) {
            Some(plan) if !plan.known.is_empty() => Subject::Plan(plan),
            Some(_) => nothing("this budget plan has no candidates on record"),
            None if state.strategy.btp => {
                nothing("no running task has a budget plan; the next plan uses the new value")
            }
            None => nothing("there is no budget plan without +btp"),
        },
        Knob::Candidates | Knob::Suits | Knob::Sharpness => {
            nothing("it affects which tools the next task's budget plan considers; this plan stays")
        }
        Knob::WeightFormat => {
            nothing("it changes how weights are written, not the order or the plan")
        }
        _ => nothing("it does not change the order or the plan"),
    }
}

/// The plan of the task at work.
fn budget_plan(state: InTask<'_>) -> Option<&BudgetPlan> {
    state.current_task()?.budget.plan.as_deref()
}

/// The uses that are left, in the order of the plan.
fn left(state: InTask<'_>, plan: &BudgetPlan, value: f64) -> PreviewSide {
    let budget = state.current_task().map(|task| &task.budget);
    let uses = |tool| budget.map_or(0, |budget| budget.left_of(tool));
    let tools = plan.tools.iter().map(|tool| (tool.tool.clone(), Some(f64::from(uses(tool)))));
    PreviewSide { value, tools: tools.collect() }
}

/// The plan after turning the knob.
fn planned(state: InTask<'_>, plan: &BudgetPlan, knob: Knob, value: f64) -> PreviewSide {
    let Some(task) = state.current_task() else {
        return PreviewSide { value, ..PreviewSide::default() };
    };
    let turned = state.with_knob(knob, value);
    let policy = Policy { state: turned.in_task(task.id), known: &plan.known, allotted: 0.0 };
    let plan = policy.make_plan(task.id);
    let tools = plan.tools.into_iter().map(|tool| (tool.tool, Some(f64::from(tool.uses))));
    PreviewSide { value, tools: tools.collect() }
}
