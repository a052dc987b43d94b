//! The table of actions, in the order in which help and palette show them.

use std::borrow::Cow;

use super::why::{self, never};
use super::{Action, Group};
use crate::domain::{Command, Knob, State};
use crate::ui::change::{self, no_tool};
use crate::ui::layout::Side;
use crate::ui::popups::{
    Actions, Choose, Confirm, Faults, Find, Form, Inspect, PairTable, Subject, TaskEntry,
    WatchEntry,
};
use crate::ui::request::{Requests, ScreenRequest, World, send};
use crate::ui::seek::Sought;
use crate::ui::update::past::{self, Way};
use crate::ui::update::{self, arrange, control, copied, debug, edits, jump, moments, own, queue};
use crate::ui::window::{self, Move};
use crate::ui::{pane::PaneId, view::View};

/// What is declared about an action.
#[derive(Debug)]
pub struct ActionSpec {
    pub action: Action,
    pub group: Group,
    /// As written in the configuration.
    pub name: &'static str,
    /// One or two words, for the footer.
    pub short: &'static str,
    pub doc: &'static str,
    /// Default keys in the global layer, as [`crate::ui::key::Keys`] reads them. Those in other layers are in
    /// [`super::LAYER_KEYS`].
    pub keys: Keys,
    /// Why it cannot be done where the session is not over.
    why_not: Why,
    pub does: Does,
}

/// Why an action cannot be done now; `None`: it can.
type Why = fn(&State, &View) -> Option<&'static str>;

/// What an action does.
#[derive(Clone, Copy, Debug)]
pub enum Does {
    /// Changes the view, and gives what it requests outside of the view.
    Run(fn(&World<'_>, &mut View) -> Requests),
    /// Changes the view only.
    Show(fn(&World<'_>, &mut View)),
    /// Turns what is selected up, or down.
    Turn(bool),
    /// Moves what is selected.
    Walk(Move),
    /// Goes to a pane, or zooms it.
    Visit(PaneId),
    /// Looks at another moment.
    Look(Way),
    /// To another match of the search.
    Match(window::Find),
    /// Makes the pane larger by so many rows or columns, or smaller.
    Resize(Side, i16),
}

use Does::{Look, Match, Resize, Run, Show, Turn, Visit, Walk};

impl Action {
    /// What is declared about it.
    pub fn spec(self) -> &'static ActionSpec {
        // The user's commands share what is declared about them.
        let declared = if let Action::Own(_) = self { Action::OwnCommand } else { self };
        let at = ACTIONS.iter().position(|spec| spec.action == declared);
        // A test keeps every action in the table; the first entry is a safe answer all the same.
        &ACTIONS[at.unwrap_or_default()]
    }

    pub fn by_name(name: &str) -> Option<Action> {
        ACTIONS.iter().find(|spec| spec.name == name).map(|spec| spec.action)
    }
}

impl ActionSpec {
    /// Why it cannot be done, given what is true now; `None`: it can. What is over is neither run nor changed.
    pub fn why_not(&self, state: &State, view: &View) -> Option<Cow<'static, str>> {
        let changes = matches!(self.group, Group::Run | Group::Change);
        let over = if changes { change::over(state, view) } else { None };
        let why = over.or_else(|| (self.why_not)(state, view)).map(Cow::Borrowed);
        why.or_else(|| match self.does {
            Look(way) => past::why_not(way, state, view).map(Cow::Owned),
            _ => None,
        })
    }

    /// The words follow what an action is, on a line of their own. A test asks for all of them.
    const fn says(self, short: &'static str, doc: &'static str) -> Self {
        Self { short, doc, ..self }
    }
}

type Keys = &'static [&'static str];

const fn run(action: Action, keys: Keys, why: Why, does: Does) -> ActionSpec {
    spec(Group::Run, action, keys, why, does)
}

const fn alter(action: Action, keys: Keys, why: Why, does: Does) -> ActionSpec {
    spec(Group::Change, action, keys, why, does)
}

const fn look(action: Action, keys: Keys, why: Why, does: Does) -> ActionSpec {
    spec(Group::Look, action, keys, why, does)
}

const fn past(action: Action, keys: Keys, why: Why, to: Way) -> ActionSpec {
    spec(Group::Past, action, keys, why, Look(to))
}

const fn copy(
    action: Action,
    keys: Keys,
    run: fn(&World<'_>, &mut View) -> Requests,
) -> ActionSpec {
    look(action, keys, copied::why_not, Run(run))
}

const fn go(action: Action, keys: Keys, does: Does) -> ActionSpec {
    spec(Group::Move, action, keys, never, does)
}

const fn pane(pane: PaneId, name: &'static str, keys: Keys, doc: &'static str) -> ActionSpec {
    ActionSpec { name, ..go(Action::Pane(pane), keys, Visit(pane)).says(name, doc) }
}

const fn screen(action: Action, keys: Keys, does: Does) -> ActionSpec {
    spec(Group::Screen, action, keys, never, does)
}

/// What only popups do; `why_not` refuses it elsewhere.
const fn popup(action: Action) -> ActionSpec {
    spec(Group::Popup, action, &[], why::only_in_popups, Show(|_, _| ()))
}

const fn spec(group: Group, action: Action, keys: Keys, why_not: Why, does: Does) -> ActionSpec {
    ActionSpec { action, group, name: action.into_str(), short: "", doc: "", keys, why_not, does }
}

/// Every action.
pub const ACTIONS: &[ActionSpec] = &[
    run(Action::RunOrPause, &["space"], never, Run(control::run_or_pause))
        .says("run/pause", "run, or pause at the next boundaries"),
    run(Action::Step, &["n"], never, Run(|_, _| send(Command::Step)))
        .says("step", "run to the next boundary: before or after a model or tool call, or before a line of a program"),
    run(Action::StepOver, &["N", "f10", "c s"], never, Run(debug::step_over))
        .says("step over", "run to the next step of the agent, or the next task; in a program over calls of functions"),
    run(Action::StepOut, &["o", "shift-f11", "c k"], never, Run(debug::step_out))
        .says("step out", "run to the end of this task; in a program out of the function, or to its end"),
    run(Action::Continue, &["c c"], never, Run(|_, _| send(Command::Run)))
        .says("continue", "run to the next breakpoint"),
    run(Action::RunToCall, &["c t"], never, Run(debug::run_to_call))
        .says("to a call", "run to the next tool call"),
    run(Action::RunToModel, &["c m"], never, Run(debug::run_to_model))
        .says("to a model", "run to the next model call"),
    run(Action::RunToPlan, &["c p"], never, Run(debug::run_to_plan))
        .says("to a plan", "run until a plan is written, or a budget is planned"),
    run(Action::RunToError, &["c e"], never, Run(debug::run_to_error))
        .says("to an error", "run until something fails"),
    run(Action::RunToHere, &["c h"], debug::nothing_to_break_at, Run(debug::run_to_here))
        .says("to here", "run until the selected tool is called, the role asked, the line reached, the value changed"),
    run(Action::RunToValue, &["c x"], never, Run(debug::run_to_value))
        .says("to a value", "run until an expression changes or becomes true, such as step >= 5 or spent > 10"),
    run(Action::BackToLine, &["c ,"], moments::nothing_before, Run(moments::back_to_line))
        .says("back a line", "take the held program back to the statement before; what it has called is not undone"),
    run(Action::BackToCall, &["c <"], moments::no_call_before, Run(moments::back_to_call))
        .says("back a call", "take the held program back to its last call, which is answered from the record"),
    run(Action::Remove, &["x"], why::nothing_to_remove, Run(update::remove)).says(
        "remove",
        "cancel the selected call; tasks: off the queue; tools: forget the score; graph: unpin; knobs: end the sweep; breakpoints, watches: delete",
    ),
    run(Action::CancelAll, &["X"], why::nothing_runs, Run(control::cancel_all))
        .says("cancel all", "cancel every call that runs or waits"),
    run(Action::HoldLane, &["H"], why::no_lane, Run(control::hold_lane))
        .says("hold lane", "hold the selected call alone at its next boundary, or let it go on"),
    run(Action::Stop, &["S"], never, Run(|_, view| view.open(Confirm::stop())))
        .says("stop", "end the session and cancel what runs; asks first"),
    run(Action::NewTask, &["t"], never, Run(|_, view| view.open(TaskEntry::default())))
        .says("new task", "write a task; it is queued last, or comes next"),
    run(Action::RunNext, &[], queue::not_waiting, Run(queue::run_next))
        .says("next", "move the selected task to the front of the queue"),
    run(Action::MoveDown, &[], queue::not_waiting, Run(|w, view| queue::move_by(w, view, 1)))
        .says("later", "move the selected task one place back in the queue"),
    run(Action::MoveUp, &[], queue::not_waiting, Run(|w, view| queue::move_by(w, view, -1)))
        .says("earlier", "move the selected task one place forward in the queue"),
    run(Action::FollowUp, &["Q"], queue::no_answer, Run(queue::follow_up))
        .says("ask further", "ask a further question after the answer of the selected task"),
    run(Action::CallTool, &["!"], change::no_tool_to_call, Run(change::call_tool))
        .says("call", "call the selected tool by hand, in a form made from its schema"),
    alter(Action::Breakpoint, &["b", "f9"], debug::nothing_to_break_at, Run(debug::toggle)).says(
        "break",
        "set a breakpoint on the selected tool, role, model, plan, line, variable, task or value, or delete it",
    ),
    alter(Action::AddBreakpoint, &["B"], never, Run(debug::add))
        .says("add break", "set a breakpoint with place, condition, hit count, log"),
    alter(Action::AddWatch, &["W"], never, Run(|_, view| view.open(WatchEntry::add())))
        .says("watch", "watch an expression, with a curve of its values"),
    alter(Action::Evaluate, &[";"], debug::nothing_to_ask, Run(debug::ask)).says(
        "evaluate",
        "evaluate an expression of Python where the program is held, or at the moment of it looked at",
    ),
    alter(Action::Answer, &["a"], edits::nothing_to_answer, Run(edits::answer))
        .says("answer", "answer the held or running call in place of its model or tool"),
    alter(Action::RunAgain, &["r"], edits::nothing_to_repeat, Run(edits::run_again))
        .says("run again", "make the call again that is held after its end; revisions: go on with the selected program; program: take it back to the moment looked at"),
    alter(Action::Consent, &["Y"], edits::nothing_asks, Run(edits::consent))
        .says("consent", "allow or refuse the call that waits for your consent"),
    alter(Action::Fail, &["f"], why::nothing_to_break, Run(change::toggle_fault))
        .says("fail", "make the selected tool, role or model fail, or repair it"),
    alter(Action::AddFault, &["F"], never, Run(change::add_fault))
        .says("add fault", "choose target, trigger and kind of a fault"),
    alter(Action::Edit, &["e"], why::nothing_to_edit, Run(update::edit))
        .says("edit", "type a new score, knob, budget or number of uses, or edit the held call, program or variable: whatever is selected"),
    alter(Action::Less, &["-", "_"], why::nothing_to_adjust, Turn(false))
        .says("less", "one step less of what is selected: score, knob, budget, tau, uses"),
    alter(Action::More, &["+", "="], why::nothing_to_adjust, Turn(true))
        .says("more", "one step more of what is selected: score, knob, budget, tau, uses"),
    alter(Action::Switch, &["d"], debug::nothing_to_switch, Run(debug::switch))
        .says("on/off", "switch the selected tool or breakpoint off or on"),
    alter(Action::Learning, &["L"], never, Run(|_, _| change::turn(Knob::Learn, 1)))
        .says("learning", "freeze learning, or let evaluations change scores again"),
    alter(Action::Strategy, &["A"], never, Run(change::choose_strategy))
        .says("strategy", "choose the strategy, from the next task on"),
    alter(Action::Model, &["m"], why::no_models, Run(change::bind_model))
        .says("model", "choose the model of the selected role, from the next model call on"),
    alter(Action::Pin, &[], why::no_edge, Run(change::pin))
        .says("pin", "pin the selected edge's weight at a value, or unpin it"),
    alter(Action::SetClass, &[], no_tool, Run(change::set_class))
        .says("class", "set the tool's class (tools of one class run in parallel)"),
    alter(Action::ReloadTools, &[], never, Run(|_, _| send(Command::ReloadTools)))
        .says("reload", "read the tools' manifests again"),
    alter(Action::Probe, &[], change::no_tool_to_call, Run(change::probe))
        .says("probe", "call the selected tool next, to learn what it returns"),
    alter(Action::ProbeAll, &[], never, Run(|_, _| send(Command::Probe { tools: Vec::new() })))
        .says("probe all", "call all tools next that change nothing and are not learned yet, to learn what they return"),
    alter(Action::CheckModels, &[], why::no_models, Run(|_, _| send(Command::ProbeModels)))
        .says("check", "check again which models can be reached"),
    alter(Action::Undo, &["u"], why::nothing_to_undo, Run(|_, _| send(Command::Undo)))
        .says("undo", "undo your latest change; quick presses of one key are one change"),
    alter(Action::Redo, &["U", "ctrl-r"], why::nothing_to_redo, Run(|_, _| send(Command::Redo)))
        .says("redo", "do again what you undid last"),
    run(Action::Slower, &["("], why::is_slowest, Run(|_, _| change::turn(Knob::Speed, -1)))
        .says("slower", "half the speed of sample tools and the simulated model, down to 1/4"),
    run(Action::Faster, &[")"], why::is_fastest, Run(|_, _| change::turn(Knob::Speed, 1)))
        .says("faster", "twice the speed of sample tools and the simulated model, up to 16"),
    run(Action::Twin, &["T"], why::no_twin, Run(control::twin)).says(
        "twin",
        "run the same tasks beside this session, without the fault or without learning; or end that",
    ),
    run(Action::Sweep, &["&"], why::no_sweep, Run(control::sweep)).says(
        "sweep",
        "try the selected knob at several values beside this session, on the tasks that are left",
    ),
    alter(Action::UseBest, &[], why::no_best, Run(change::use_best))
        .says("use best", "set the selected knob to the best value of its sweep"),
    look(Action::Open, &["enter"], never, Run(update::open))
        .says("open", "show the details of what is selected"),
    look(Action::InspectTool, &["i"], no_tool, Run(update::inspect_tool))
        .says("tool", "the selected tool: schema, score history, calls, faults"),
    look(Action::Prompt, &["v"], why::no_model_calls, Run(update::inspect_prompt))
        .says("prompt", "exactly what the model saw, with tokens for each part"),
    look(Action::NextView, &["V"], why::one_view, Show(|_, view| update::next_view(view))).says(
        "view",
        "the next view: the graph as focus, map or matrix; resilience by scores or cost; a sweep by its measures",
    ),
    look(Action::Sort, &["s"], why::no_order, Show(|_, view| update::sort(view)))
        .says("sort", "the next order of this list: tools by score, weight, calls or name"),
    look(Action::Pairs, &[], why::no_pairs, Run(|_, view| view.open(PairTable::default())))
        .says("pairs", "planner/solver pairs across sessions: accuracy and cost"),
    look(Action::Why, &["w"], moments::no_value, Run(moments::why))
        .says("why", "where a value of a program comes from: the way back to the calls that made it"),
    look(Action::Compare, &["D"], moments::nothing_to_compare, Run(moments::compare))
        .says("compare", "what the selected program has called, beside the one before"),
    copy(Action::Copy, &["y y"], |w, view| copied::selected_as(Form::Shown, w, view))
        .says("copy", "copy what is selected to the terminal's clipboard, as it is shown"),
    copy(Action::CopyValue, &["y v"], |w, view| copied::selected_as(Form::Value, w, view))
        .says("copy JSON", "copy what is selected as JSON; a line as its event"),
    copy(Action::CopyPath, &["y p"], |w, view| copied::selected_as(Form::Path, w, view))
        .says("copy path", "copy a jq filter that finds it in what `toolyard replay --json` prints"),
    copy(Action::CopyCommand, &["y c"], |w, view| copied::selected_as(Form::Command, w, view))
        .says("copy command", "copy a model call as curl, a tool call as `toolyard call`"),
    look(Action::CopyToFile, &["y f"], never, Run(|_, _| vec![ScreenRequest::KeepCopy]))
        .says("copy to file", "write what was copied last to a file"),
    look(
        Action::SaveScenario,
        &["ctrl-s"],
        why::no_task_done,
        Run(|_, _| vec![ScreenRequest::SaveScenario]),
    )
    .says("scenario", "save this session as a scenario, which `toolyard run --scenario` runs and checks"),
    look(Action::Editor, &["E"], copied::why_not, Run(own::edit))
        .says("editor", "open what is selected in $VISUAL, $EDITOR or $PAGER"),
    look(Action::OwnCommand, &["O"], copied::why_not, Run(own::choose))
        .says("commands", "run a command of your own on what is selected"),
    past(Action::EventBack, &[",", "alt-left"], why::at_the_start, Way::Event(-1))
        .says("event back", "look one event earlier; the agent runs on"),
    past(Action::EventForward, &[".", "alt-right"], why::is_live, Way::Event(1))
        .says("event", "look one event later"),
    past(Action::StepBack, &["<"], why::at_the_start, Way::StepBack)
        .says("step back", "look one step of the agent earlier"),
    past(Action::StepForward, &[">"], why::is_live, Way::StepForward)
        .says("time", "look one step of the agent later"),
    past(Action::TaskBack, &["{", "alt-up"], why::at_the_start, Way::TaskBack)
        .says("task back", "look at the beginning of this task, then of the one before"),
    past(Action::TaskForward, &["}", "alt-down"], why::is_live, Way::TaskForward)
        .says("task", "look at the beginning of the next task"),
    past(Action::FirstEvent, &["^", "ctrl-home"], why::at_the_start, Way::Start)
        .says("start", "look at the first event"),
    past(Action::Live, &["$", "ctrl-end"], why::is_live, Way::Live)
        .says("live", "look at the present again (esc does it too)"),
    spec(Group::Past, Action::GoToMoment, &["@", "alt-m"], jump::why_not, Run(jump::to_selected))
        .says("moment", "look at the moment of the selected task, call or line"),
    past(Action::PreviousWrong, &["[ w"], never, Way::Previous(Sought::Wrong))
        .says("wrong", "to the task before that ended wrong"),
    past(Action::NextWrong, &["] w"], never, Way::Next(Sought::Wrong))
        .says("wrong", "to the next task that ended wrong"),
    past(Action::PreviousOver, &["[ o"], never, Way::Previous(Sought::Over))
        .says("over", "to the call before that took a task over its budget"),
    past(Action::NextOver, &["] o"], never, Way::Next(Sought::Over))
        .says("over", "to the next call that took a task over its budget"),
    past(Action::PreviousFailure, &["[ f", "alt-p"], never, Way::Previous(Sought::Failure))
        .says("failure", "to the failed call before"),
    past(Action::NextFailure, &["] f", "alt-n"], never, Way::Next(Sought::Failure))
        .says("failure", "to the next failed call"),
    past(Action::PreviousTaskEnd, &["[ t"], never, Way::Previous(Sought::TaskEnd))
        .says("task end", "to the end of a task before"),
    past(Action::NextTaskEnd, &["] t"], never, Way::Next(Sought::TaskEnd))
        .says("task end", "to the next end of a task"),
    past(Action::PreviousChange, &["[ c"], never, Way::Previous(Sought::Change))
        .says("change", "to the change before of a score, weight, plan or knob"),
    past(Action::NextChange, &["] c"], never, Way::Next(Sought::Change))
        .says("change", "to the next change of a score, weight, plan or knob"),
    past(Action::PreviousEdit, &["[ e"], never, Way::Previous(Sought::Edit))
        .says("edit", "to the change before that a person made"),
    past(Action::NextEdit, &["] e"], never, Way::Next(Sought::Edit))
        .says("edit", "to the next change that a person made"),
    past(Action::PreviousFault, &["[ x"], never, Way::Previous(Sought::Fault))
        .says("fault", "to the injected fault before"),
    past(Action::NextFault, &["] x"], never, Way::Next(Sought::Fault))
        .says("fault", "to the next injected fault"),
    past(Action::PreviousStop, &["[ b"], never, Way::Previous(Sought::Stop))
        .says("stop", "to the stop at a breakpoint before"),
    past(Action::NextStop, &["] b"], never, Way::Next(Sought::Stop))
        .says("stop", "to the next stop at a breakpoint"),
    spec(
        Group::Past,
        Action::Goto,
        &["g e"],
        why::nothing_yet,
        Run(|world, view| view.open(Actions::goto(world, view))),
    )
    .says("go to", "look at an event by its number; `:1820` does it too"),
    past(Action::Back, &["backspace", "ctrl-o"], never, Way::Back)
        .says("back", "to where you were before the last jump"),
    go(Action::Up, &["up", "k"], Walk(Move::Up)).says("up", "one line up"),
    go(Action::Down, &["down", "j"], Walk(Move::Down)).says("down", "one line down"),
    go(Action::Left, &["left", "h"], Walk(Move::Left)).says("left", "left"),
    go(Action::Right, &["right", "l"], Walk(Move::Right)).says("right", "right"),
    go(Action::PageUp, &["pageup", "ctrl-u"], Walk(Move::PageUp)).says("page up", "one page up"),
    go(Action::PageDown, &["pagedown", "ctrl-d"], Walk(Move::PageDown))
        .says("page down", "one page down"),
    go(Action::Top, &["home", "g g"], Walk(Move::Top)).says("top", "to the first line"),
    go(Action::Bottom, &["end", "G"], Walk(Move::Bottom))
        .says("bottom", "to the last line, and follow"),
    go(Action::NextPane, &["tab"], Show(|world, view| update::next_pane(world, view, true)))
        .says("pane", "to the next pane"),
    go(
        Action::PreviousPane,
        &["shift-tab"],
        Show(|world, view| update::next_pane(world, view, false)),
    )
    .says("previous pane", "to the previous pane"),
    pane(PaneId::Graph, "graph", &["1"], "to the graph; again: zoom it, as with every pane"),
    pane(PaneId::Transcript, "transcript", &["2"], "to the transcript"),
    pane(PaneId::Tools, "tools", &["3"], "to the tools"),
    pane(PaneId::Knobs, "knobs", &["4"], "to the knobs"),
    pane(PaneId::Models, "models", &["5"], "to the models"),
    pane(PaneId::Calls, "calls", &["6"], "to the calls, a lane for each"),
    pane(PaneId::Tasks, "tasks", &["7"], "to the tasks"),
    pane(PaneId::Budget, "budget", &["8"], "to the budget"),
    pane(PaneId::Plan, "plan", &["9"], "to the planner's plan"),
    pane(PaneId::Resilience, "resilience", &["0"], "to how the agent takes the failure of a tool"),
    pane(PaneId::Program, "program", &["g p"], "to the program of the task, line by line"),
    pane(PaneId::Variables, "variables", &["g v"], "to the variables of the program"),
    pane(PaneId::Revisions, "revisions", &["g n"], "to the programs of the task, and what each changed"),
    pane(PaneId::Probing, "probing", &["g k"], "to what tools return, as probing has learned it"),
    pane(PaneId::Reading, "reading", &["g r"], "to what the reader says: where calls start, and which tools suit"),
    pane(PaneId::Map, "map", &["g l"], "to the map of the tools by what they mean"),
    pane(PaneId::Search, "search", &["g s"], "to the search tree"),
    pane(PaneId::Breakpoints, "breakpoints", &["g b"], "to the breakpoints"),
    pane(PaneId::Watches, "watches", &["g w"], "to the watches"),
    go(Action::Faults, &["g f"], Run(|world, view| view.open(Faults::new(world.live, view))))
        .says("faults", "list the faults: arm, disarm, add, change them"),
    go(Action::Sessions, &["g o"], Run(|_, _| vec![ScreenRequest::Sessions]))
        .says("sessions", "list the sessions of this machine, and open one to look at"),
    ActionSpec {
        why_not: why::not_shared,
        ..go(Action::Control, &["g c"], Run(|_, _| vec![ScreenRequest::PassControl]))
    }
    .says("control", "take control of a session that other screens show too, or hand it over"),
    go(Action::Demo, &["g d"], Run(|world, view| view.open(Choose::demo(world.demos, None))))
        .says("demo", "choose a demo; this session ends when it begins"),
    go(Action::Messages, &["g m"], Run(|_, view| view.open(Inspect::new(Subject::Messages))))
        .says("messages", "everything this screen has said"),
    go(Action::Fields, &["g x"], Run(|_, view| view.open(Inspect::new(Subject::Fields))))
        .says("fields", "the fields that expressions of conditions, watches and filters can use"),
    go(Action::Find, &["/"], Run(|_, view| view.open(Find::in_pane(view.focus))))
        .says("find", "filter this list, or find in this text; of calls also by an expression: /=ms > 500"),
    spec(Group::Move, Action::NextMatch, &[], why::nothing_found, Match(window::Find::Next))
        .says("next", "to the next match"),
    spec(
        Group::Move,
        Action::PreviousMatch,
        &[],
        why::nothing_found,
        Match(window::Find::Previous),
    )
    .says("previous", "to the previous match"),
    go(Action::Leave, &["esc"], Show(|_, view| update::leave(view)))
        .says("leave", "leave what is open: popup, filter, search, past, zoom"),
    screen(Action::Zoom, &["z"], Show(|_, view| update::zoom(view)))
        .says("zoom", "give this pane the whole screen, or take it back"),
    screen(Action::Taller, &["ctrl-w +"], Resize(Side::Height, 1))
        .says("taller", "one row more for this pane"),
    screen(Action::Shorter, &["ctrl-w -"], Resize(Side::Height, -1))
        .says("shorter", "one row less for this pane"),
    screen(Action::Wider, &["ctrl-w >"], Resize(Side::Width, 2))
        .says("wider", "two columns more for this pane"),
    screen(Action::Narrower, &["ctrl-w <"], Resize(Side::Width, -2))
        .says("narrower", "two columns less for this pane"),
    screen(Action::Equal, &["ctrl-w ="], Show(|_, view| view.layouts.now.equal()))
        .says("equal", "the same size for all panes"),
    screen(Action::HidePane, &["ctrl-w q"], Show(arrange::hide))
        .says("hide pane", "hide this pane; its key shows it again"),
    screen(Action::AddPane, &["ctrl-w a"], Run(|_, view| view.open(Choose::pane(view))))
        .says("add pane", "choose a pane for this place"),
    screen(Action::OnlyPane, &["ctrl-w o"], Show(|_, view| view.layouts.now.only(view.focus)))
        .says("only pane", "hide all other panes"),
    screen(Action::SaveLayout, &["ctrl-w s"], Run(|_, _| vec![ScreenRequest::SaveLayout]))
        .says("save layout", "save this layout for the strategy and for screens of this size"),
    screen(Action::ResetLayout, &["ctrl-w r"], Show(|_, view| arrange::reset(view)))
        .says("reset layout", "the standard layout of the strategy"),
    screen(Action::Help, &["?", "f1"], Run(|world, view| view.open(Actions::help(world, view))))
        .says("help", "every key, searchable"),
    screen(Action::Palette, &[":"], Run(|world, view| view.open(Actions::palette(world, view))))
        .says("all", "find any action by its name"),
    screen(Action::Screenshot, &["y s"], Run(|_, _| vec![ScreenRequest::Shoot]))
        .says("screenshot", "write this screen to a file, as SVG and as text"),
    screen(Action::NextTheme, &["ctrl-w t", "Z t"], Run(|_, _| vec![ScreenRequest::NextTheme]))
        .says("theme", "the next theme"),
    screen(Action::Redraw, &["ctrl-l"], Run(|_, _| vec![ScreenRequest::Redraw]))
        .says("redraw", "draw the whole screen again"),
    screen(Action::Suspend, &["ctrl-z"], Run(|_, _| vec![ScreenRequest::Suspend]))
        .says("suspend", "back to the shell; `fg` returns"),
    screen(Action::Quit, &["q", "ctrl-c"], Run(control::quit))
        .says("quit", "leave toolyard; asks while the agent runs"),
    popup(Action::Accept).says("choose", "choose, set, or say yes"),
    popup(Action::AcceptAndRun).says("apply, run", "apply what was edited, and let the agent go on"),
    popup(Action::Toggle).says("on/off", "switch the selected row on or off"),
    popup(Action::NextSection).says("section", "to the next section of the list"),
    popup(Action::Add).says("new", "add a row"),
    popup(Action::NewLine).says("new line", "begin a new line of text"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_lead_back() {
        let names: BTreeSet<_> = ACTIONS.iter().map(|spec| spec.name).collect();
        assert_eq!(names.len(), ACTIONS.len());
        for spec in ACTIONS {
            assert_eq!(Action::by_name(spec.name), Some(spec.action));
            assert_eq!(spec.action.spec().name, spec.name);
            assert!(spec.name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", spec.name);
            assert!(![spec.name, spec.short, spec.doc].contains(&""), "{:?}", spec.action);
        }
        // Every pane can be gone to.
        for pane in PaneId::ALL.iter().copied() {
            assert_eq!(Action::Pane(pane).spec().action, Action::Pane(pane));
        }
    }
}
