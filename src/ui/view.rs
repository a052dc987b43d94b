//! State that only the screen needs: the focus, the selections, the scroll positions, the moment looked at. It is never
//! journaled and never sent. Selections are ids, so a list keeps its selection when it is sorted or shortened.

use std::sync::Arc;
use std::time::Duration;

use strum::{IntoStaticStr, VariantArray};

use super::agent_output::AgentLines;
use super::knob_preview::Ahead;
use super::layout::{Border, Layouts, Placed};
use super::moment_run::Looked;
use super::pane_search::PaneSearch;
use super::play::Play;
pub use super::round::Round;
use super::{hits::Hits, key::Key, pane::PaneId, popups::Popup};
use super::{request::Requests, window::Window};
use super::{sweep::Sweep, twin::Twin, watch::Watch};
use crate::domain::seat::SeatKind;
use crate::domain::{
    BreakpointId, EffectId, EvidenceId, Knob, Mode, ModelName, Role, State, Target, TaskId,
    TaskState, ToolName,
};
use crate::papers::sweep::Measure;

/// The view of the graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, VariantArray, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum GraphView {
    /// The agent's node and the possible next ones.
    #[default]
    Focus,
    /// The whole graph, laid out.
    Map,
    /// Weights as a heat map.
    Matrix,
}

impl Round for GraphView {}

/// Lanes in the pane of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, VariantArray, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum LanesView {
    /// Model calls and tool calls.
    #[default]
    All,
    /// Tool calls, and the evidence that a planner wrote down.
    Tools,
}

impl Round for LanesView {}

/// Content of the pane of resilience below the strip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, VariantArray, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum ResilienceView {
    /// A little of everything.
    #[default]
    Strip,
    Scores,
    Cost,
}

impl Round for ResilienceView {}

impl Round for Measure {}

/// The knob selected in the budget pane; `None`: turning changes the uses of the selected tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lever(pub Option<Knob>);

impl Default for Lever {
    fn default() -> Self {
        Self(Some(Knob::Budget))
    }
}

/// The number of messages that are kept.
const MESSAGES: usize = 500;

/// Tone of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Good,
    Plain,
    /// A refusal or a failure.
    Bad,
}

impl Tone {
    /// Time of a message in the last line.
    pub fn stays(self) -> Duration {
        Duration::from_secs(if self == Self::Bad { 8 } else { 4 })
    }
}

/// A message from the screen to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Microseconds since the session was opened.
    pub at: u64,
    pub tone: Tone,
    pub text: String,
}

/// From this width on, notices that no key has caused stand in the transcript only.
const WIDE: u16 = 120;

/// Order of the list of tools: those that were used or scored always come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, VariantArray, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum ToolSort {
    #[default]
    Score,
    /// By weight of the edge from the agent's node.
    Weight,
    Calls,
    Name,
}

impl Round for ToolSort {}

/// Order of the table of pairs: the best first, unknown values last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, VariantArray, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum PairSort {
    #[default]
    Accuracy,
    Cost,
    Tokens,
    Steps,
    Tasks,
    Name,
}

impl Round for PairSort {}

/// Why a session cannot be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadOnly {
    /// The session is recorded.
    Replay,
    /// The session was live, and its engine has stopped without ending it.
    BrokenOff,
    /// The session runs, and another screen controls it, or no screen does.
    Watching,
    /// The session may run elsewhere, and only its journal is read.
    Following,
}

impl ReadOnly {
    /// The name in the first line.
    pub fn name(self) -> &'static str {
        match self {
            ReadOnly::Replay => "REPLAY",
            ReadOnly::BrokenOff => "INTERRUPTED",
            ReadOnly::Watching => "WATCHING",
            ReadOnly::Following => "FOLLOWING",
        }
    }

    /// Message to a person who tries to change something.
    pub fn why(self) -> &'static str {
        match self {
            ReadOnly::Replay => "a replay is read-only",
            ReadOnly::BrokenOff => "session interrupted: the engine has stopped",
            ReadOnly::Watching => "this screen only watches: take control first (<key:control>)",
            ReadOnly::Following => "a followed journal is read-only",
        }
    }

    /// Whether the session may go on.
    pub fn is_live(self) -> bool {
        matches!(self, ReadOnly::Watching | ReadOnly::Following)
    }
}

/// State that the screen remembers between two frames.
#[derive(Debug, Default)]
pub struct View {
    pub focus: PaneId,
    pub zoom: Option<PaneId>,
    pub layouts: Layouts,
    /// Positions of the panes in the last frame.
    pub placed: Vec<Placed>,
    /// The border between panes that the mouse holds.
    pub border: Option<Border>,

    /// The tool that tool actions mean. Selecting a call, an edge or a line selects its tool too.
    pub tool: Option<ToolName>,
    /// The edge to pin: from, to.
    pub edge: Option<(ToolName, ToolName)>,
    /// The middle of the graph's focus view; `None`: the agent's node.
    pub centre: Option<ToolName>,
    /// The selected tool call; `None`: the newest, or the evidence's.
    pub call: Option<EffectId>,
    /// A piece of evidence of a task's plan. It goes before the call, and is set only if no call is selected.
    pub evidence: Option<(TaskId, EvidenceId)>,
    /// The selected model call; `None`: the newest.
    pub model_call: Option<EffectId>,
    /// The selected task; `None`: the running one.
    pub task: Option<TaskId>,
    /// A line of the transcript by its event's number; `None`: the newest line, also when others arrive.
    pub line: Option<u64>,
    pub knob: Option<Knob>,
    /// Preview of one step of that knob.
    pub ahead: Ahead,
    pub role: Option<Role>,
    /// A configured model. It goes before the role when a fault is armed.
    pub model: Option<ModelName>,
    pub lever: Lever,
    /// A node of the search tree of a task; `None`: the current node of the search.
    pub node: Option<(TaskId, u32)>,

    /// A program of a task; `None`: the last one of the task that is shown.
    pub program: Option<(TaskId, u32)>,
    /// A line of the program that is shown; `None`: the line where it is held.
    pub program_line: Option<u32>,
    /// A variable of the program that is shown, by its name.
    pub variable: Option<String>,
    /// The moment of the program that is looked at.
    pub looked: Looked,

    /// The selected breakpoint; `None`: the one that stopped the agent, else the first.
    pub breakpoint: Option<BreakpointId>,
    /// The selected problem by its number; `None`: the newest.
    pub problem: Option<u64>,
    /// The selected server of tools.
    pub server: Option<Arc<str>>,
    pub watches: Vec<Watch>,
    /// The selected watch, by its index in the list.
    pub watch: Option<usize>,

    /// Output of the process of a watched agent; `None`: this screen did not start one.
    pub agent: Option<AgentLines>,
    /// The address where a watched agent asks; `None`: this screen did not open one.
    pub address: Option<String>,

    pub graph: GraphView,
    /// The lanes of the pane of calls; `None`: all for watched agents, else those of tools.
    pub lanes: Option<LanesView>,
    pub resilience: ResilienceView,
    /// The selected tool of the pane of resilience; `None`: the first on its strip.
    pub strip: Option<ToolName>,
    /// The session beside this one.
    pub twin: Option<Twin>,
    /// Whether the session from which this one came can stand beside it.
    pub has_origin: bool,
    /// Whether all knobs are listed, not only the usual ones.
    pub all_knobs: bool,
    /// The last sweep of a knob.
    pub sweep: Option<Sweep>,
    /// Measure by which the values of the sweep are judged.
    pub measure: Measure,
    pub sort: ToolSort,
    pub pair_sort: PairSort,
    /// Rows that each pane showed in the last frame.
    pub windows: [Window; PaneId::ALL.len()],
    /// The past event looked at; `None`: now.
    pub moment: Option<u64>,
    pub play: Play,
    /// The moments from which jumps began, the latest last.
    pub jumps: Vec<Option<u64>>,
    /// The task that the last key jumped to; `enter` opens it.
    pub arrived: Option<TaskId>,
    /// Search in a pane, with the rows that match.
    pub find: Option<PaneSearch>,
    /// Why the session cannot be changed from here, if it cannot.
    pub read_only: Option<ReadOnly>,
    /// Kind of this screen's seat, where several screens can share the session.
    pub seat: Option<SeatKind>,
    /// Whether a live session goes on behind it.
    pub hides_live: bool,

    /// Whether to open the next call by hand when it begins.
    pub opens_call: bool,

    /// Pressed keys of an incomplete sequence.
    pub pending: Vec<Key>,
    /// Whether the keys that may follow are shown.
    pub hinted: bool,
    /// Popups from the bottom up; the topmost has the keyboard.
    pub popups: Vec<Box<dyn Popup>>,
    /// Caption of a tour.
    pub caption: Option<String>,
    /// Whether a tour presses keys.
    pub is_toured: bool,
    /// Whether the run key runs all tasks again once they are done. Samples cost nothing.
    pub runs_again: bool,
    /// Messages so far, oldest first.
    pub messages: Vec<Message>,
    /// The tool that is selected without a person's choice.
    pub first_tool: Option<ToolName>,
    /// The tool that a fault was armed on as the most used one, since the person had chosen none.
    pub most_used: Option<ToolName>,
    /// Number of messages that were shown.
    pub tells: u64,
    /// Whether the last message is still shown: no key was pressed after it, and its time is not over.
    pub told: bool,
}

impl View {
    /// Takes over the positions and windows that a frame has shown.
    pub fn settle(&mut self, hits: &Hits) {
        for (pane, window) in &hits.windows {
            self.windows[*pane as usize] = *window;
        }
        self.placed.clone_from(&hits.placed);
    }

    /// Gives a pane the keyboard, and brings it into its slot. A zoomed pane gives way to it.
    pub fn go_to(&mut self, pane: PaneId) {
        let is_spare = |it: &Placed| it.pane == pane && it.spare.is_some();
        if !self.placed.iter().any(is_spare) {
            self.layouts.now.show(pane, self.focus);
        }
        self.focus = pane;
        if self.zoom.is_some() {
            self.zoom = Some(pane);
        }
    }

    /// Opens a popup above all others.
    pub fn open(&mut self, popup: impl Popup + 'static) -> Requests {
        self.popups.push(Box::new(popup));
        Vec::new()
    }

    /// Shows the user a message until the next key, or until its time is over.
    pub fn tell(&mut self, at: u64, tone: Tone, text: impl Into<String>) {
        self.keep(at, tone, text);
        self.tells += 1;
        self.told = true;
    }

    /// Tells what no key has caused. Where the transcript shows it as well, the keys stay in the last line.
    pub fn notice(&mut self, at: u64, tone: Tone, text: impl Into<String>) {
        let right = self.placed.iter().map(|it| it.area.right()).max().unwrap_or_default();
        let is_told = self.placed.iter().any(|it| it.pane == PaneId::Transcript);
        match is_told && right >= WIDE {
            true => self.keep(at, tone, text),
            false => self.tell(at, tone, text),
        }
    }

    /// Adds a message to those that the list of messages shows.
    fn keep(&mut self, at: u64, tone: Tone, text: impl Into<String>) {
        if self.messages.len() == MESSAGES {
            self.messages.remove(0);
        }
        self.messages.push(Message { at, tone, text: text.into() });
    }

    /// The message to show.
    pub fn message(&self) -> Option<&Message> {
        self.messages.last().filter(|_| self.told)
    }

    /// The height of a pane's list in the last frame, which is the step of a page key.
    pub fn page(&self, pane: PaneId) -> usize {
        self.windows[pane as usize].rows
    }

    /// Whether a pane is on the screen.
    pub fn sees(&self, pane: PaneId) -> bool {
        match self.zoom {
            Some(zoomed) => zoomed == pane,
            None => {
                self.placed.iter().any(|it| it.pane == pane)
                    || self.layouts.now.seen(|_| true).contains(&pane)
            }
        }
    }

    /// Lets a pane's list follow its selection again after the wheel moved it.
    pub fn follow(&mut self, pane: PaneId) {
        self.windows[pane as usize].free = false;
    }

    /// Returns the search, if this pane is searched.
    pub fn found(&self, pane: PaneId) -> Option<&PaneSearch> {
        self.find.as_ref().filter(|found| found.pane == pane && !found.needle.is_empty())
    }

    /// The rows of this pane's list that a filter keeps; `None`: all are shown.
    pub fn kept(&self, pane: PaneId) -> Option<&[usize]> {
        self.found(pane)?.kept()
    }

    /// The knob that keys turn.
    pub fn knob(&self) -> Knob {
        self.knob.unwrap_or(Knob::Alpha)
    }

    /// Target of a fault from here: in the pane of models the selected role or model, in that of calls the tool of the
    /// selected call, elsewhere the selected tool.
    pub fn fault_target(&self, state: &State) -> Option<Target> {
        let known = |tool: &ToolName| state.tools.contains_key(tool);
        match self.focus {
            PaneId::Models => {
                // Where no role is bound, the first model is selected.
                let first = || state.models.known.keys().next().cloned();
                let first = first().filter(|_| state.models.roles.is_empty());
                let model = self.model.clone().or(first).map(Target::Model);
                Some(model.unwrap_or_else(|| Target::Role(self.role())))
            }
            PaneId::Calls => {
                let meant = self.meant_call(state);
                if let Some(call) = meant.and_then(|call| state.model_call(call)) {
                    return Some(Target::Model(call.model.clone()));
                }
                let call = meant.and_then(|call| state.tool_call(call));
                let tool = call.map(|call| &call.tool).or(self.tool.as_ref());
                tool.cloned().filter(known).map(Target::Tool)
            }
            _ => self.tool.clone().filter(known).map(Target::Tool),
        }
    }

    /// Selects a tool as soon as there is one, so that keys about it work at once.
    pub fn select_first(&mut self, live: &State) {
        if self.tool.is_none() {
            self.tool = live.tools.keys().next().cloned();
            self.first_tool.clone_from(&self.tool);
        }
    }

    /// Notes after an input whether it has chosen a tool.
    pub fn note_choice(&mut self) {
        if self.tool != self.first_tool {
            self.first_tool = None;
        }
    }

    /// Whether a person has chosen the selected tool.
    pub fn has_chosen_tool(&self) -> bool {
        self.tool.is_some() && self.tool != self.first_tool
    }

    /// Whether the run key would run all tasks again.
    pub fn offers_again(&self, live: &State) -> bool {
        let is_over = live.tasks_done > 0 && !live.has_work() && live.control.mode != Mode::Ended;
        self.runs_again && self.caption.is_none() && is_over
    }

    /// The role that keys bind a model to.
    pub fn role(&self) -> Role {
        self.role.unwrap_or(Role::Actor)
    }

    /// The task that panes about one task show: the selected one, else the running one.
    pub fn task_of<'a>(&self, state: &'a State) -> Option<&'a TaskState> {
        self.task.and_then(|task| state.task(task)).or_else(|| state.shown_task())
    }

    /// The task whose plan and calls are shown. The last task stays until the next one has some.
    pub fn worked_on<'a>(&self, state: &'a State) -> Option<&'a TaskState> {
        let task = self.task_of(state)?;
        let has_begun = |task: &TaskState| {
            let work = &task.work;
            let is_planned = work.plan.is_some() || !work.refused.is_empty();
            !task.tool_calls.is_empty() || is_planned || !task.programs.is_empty()
        };
        if self.task.is_some() || task.outcome().is_some() || has_begun(task) {
            return Some(task);
        }
        let before = task.id.0.checked_sub(1).and_then(|id| state.task(TaskId(id)));
        before.filter(|task| has_begun(task) && !state.is_bare(task.id)).or(Some(task))
    }

    /// The lanes of the pane of calls.
    pub fn lanes_of(&self, state: &State) -> LanesView {
        let usual = if state.watched.is_some() { LanesView::All } else { LanesView::Tools };
        self.lanes.unwrap_or(usual)
    }

    /// The model call that the prompt inspector opens: the selected one, else the newest.
    pub fn model_call(&self, state: &State) -> Option<EffectId> {
        self.model_call.or_else(|| state.model_calls.last().map(|call| call.id))
    }
}
