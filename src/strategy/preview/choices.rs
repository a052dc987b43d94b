//! The menu at the agent's position, computed again from the state.

use std::borrow::Cow;

use super::Shows;
use super::retrace::{AttemptTrace, retrace};
use crate::Sought;
use crate::domain::{InTask, Knob, Lexical, Strategy, TaskState, ToolName};
use crate::menu::{self, FoundTools};
use crate::papers::toolnet::Weights;

/// The number of edges shown where no menu is known.
const EDGES: usize = 32;

/// The place and the method of the next menu.
pub(super) enum MenuPlace<'a> {
    /// An agent walks the graph, and is here.
    Walk { task: &'a TaskState, strategy: Strategy, way: AttemptTrace },
    /// A planner gets all tools at once.
    Planner { task: &'a TaskState, strategy: Strategy },
    /// No task is at work.
    Edges,
}

/// The tools that these texts find in a state, by their words and by the reader's rankings in the task at work. A
/// preview reads nothing.
fn found(
    state: &InTask<'_>,
    index: Option<&Lexical>,
    texts: Vec<(Cow<'_, str>, Sought)>,
) -> FoundTools {
    let most = menu::most_found(state);
    let find = |(text, sought): (Cow<'_, str>, Sought)| {
        let ranking = state.ranking(&text).map(|ranking| &**ranking);
        let hits = index.into_iter().flat_map(|index| index.offered(*state, &text, ranking));
        (sought, hits.take(most).map(|(tool, _)| tool.clone()).collect())
    };
    FoundTools(texts.into_iter().map(find).collect())
}

impl<'a> MenuPlace<'a> {
    /// Where this knob changes choices; an error states why it changes none.
    pub fn of(state: InTask<'a>, knob: Knob, most_tools: usize) -> Result<Self, String> {
        let is_weight = matches!(knob, Knob::Alpha | Knob::Beta);
        let task = state.current_task();
        let strategy = task.and_then(|task| task.strategy).unwrap_or(state.strategy);
        let base = strategy.base.spec();
        if !base.walks && !strategy.toolnet {
            return Err(match knob {
                Knob::MenuMax => {
                    "it limits a menu of all tools; it changes no weight and no plan".to_owned()
                }
                _ => format!("{strategy} does not use the weights of the graph"),
            });
        }
        let Some(task) = task.filter(|_| state.tools.len() <= most_tools) else {
            return match (is_weight, task) {
                (true, _) => Ok(MenuPlace::Edges),
                (false, None) => {
                    Err("no task is running; its menus follow the new value".to_owned())
                }
                (false, Some(_)) => {
                    Err(format!("more than {most_tools} tools are too many to look ahead"))
                }
            };
        };
        if base.walks {
            return Ok(MenuPlace::Walk { task, strategy, way: retrace(&state, task) });
        }
        match knob {
            Knob::Explore | Knob::MenuMax => {
                Err("a planner gets its tools at once; this knob limits later menus only"
                    .to_owned())
            }
            Knob::TopK if state.has_plan() => {
                Err("the budget plan selects the planner's tools, not this knob".to_owned())
            }
            _ => Ok(MenuPlace::Planner { task, strategy }),
        }
    }

    /// Whether its menus contain tools found by words.
    pub fn retrieves(&self) -> bool {
        !matches!(self, MenuPlace::Edges)
    }

    pub fn shows(&self) -> Shows {
        match self {
            MenuPlace::Walk { way, .. } => Shows::Menu { from: way.at.clone() },
            MenuPlace::Planner { .. } => Shows::Menu { from: ToolName::start() },
            MenuPlace::Edges => Shows::Weights { from: ToolName::start() },
        }
    }

    /// The choices with the knob at this value, in order.
    pub fn choices(
        &self,
        state: InTask<'_>,
        (knob, value): (Knob, f64),
        index: Option<&Lexical>,
    ) -> Vec<(ToolName, Option<f64>)> {
        let turned = || state.with_knob(knob, value);
        let menu = match self {
            MenuPlace::Walk { strategy, way, .. } if way.is_stuck && state.has_plan() => {
                menu::whole_plan(&turned().in_shown(), strategy.base, &way.at)
            }
            MenuPlace::Walk { task, strategy, way: AttemptTrace { at, done, .. } } => {
                let (turned, base) = (turned(), strategy.base);
                let state = &turned.in_shown();
                let texts = menu::texts(state, base.spec().walks, &task.task, at, done);
                menu::menu(state, base, at, done, &found(state, index, texts))
            }
            MenuPlace::Planner { task, strategy } => {
                let (turned, by_graph) = (turned(), strategy.toolnet);
                let state = &turned.in_shown();
                let texts = menu::texts_of_planner(state, by_graph, &task.task);
                menu::for_planner(state, by_graph, &found(state, index, texts))
            }
            MenuPlace::Edges => {
                let mut knobs = state.knobs.clone();
                knobs.set(knob, value);
                let row =
                    Weights::of(&state.learning, &knobs).top(ToolName::START, EDGES).into_iter();
                let row = row.filter(|edge| state.offers(edge.to.as_str()));
                return row.map(|edge| (edge.to, Some(edge.weight))).collect();
            }
        };
        menu.iter().map(|item| (item.tool.clone(), item.weight.map(f64::from))).collect()
    }
}
