//! The table of actions, in the order in which help and palette show them.

use std::borrow::Cow;

use super::refusals::{self, never};
use super::{Action, Group};
use crate::change::{self, no_tool};
use crate::domain::{Command, Knob, State};
use crate::layout::ResizeAxis;
use crate::popups::{
    Actions, Choose, Confirm, CopyForm, FaultList, Find, Inspect, PairTable, Subject, TaskEntry,
    WatchEntry,
};
use crate::request::{Requests, ScreenRequest, World, send};
use crate::update::past::{self, TimeJump};
use crate::update::{
    self, arrange, control, copying, debug, edits, jump, moments, own, play, queue,
};
use crate::{pane::PaneId, seek::Sought, view::View, window, window::Move};

/// Declaration of an action.
#[derive(Debug)]
pub struct ActionSpec {
    pub action: Action,
    pub group: Group,
    /// The name in the configuration.
    pub name: &'static str,
    /// Label of one or two words, for the footer.
    pub short: &'static str,
    pub doc: &'static str,
    /// Default keys in the global layer, read as [`crate::key::KeySequence`]; for others see [`super::LAYER_KEYS`].
    pub keys: KeyTexts,
    /// Why the action cannot be done now, besides the reasons that it shares with others.
    why_not: Why,
    pub does: ActionHandler,
}

/// Why an action cannot be done now; `None`: it can.
type Why = fn(&State, &View) -> Option<&'static str>;

/// Handler of an action.
#[derive(Clone, Copy, Debug)]
pub enum ActionHandler {
    /// Changes the view, and returns requests for effects outside of the view.
    Run(fn(&World<'_>, &mut View) -> Requests),
    /// Changes the view only.
    Show(fn(&World<'_>, &mut View)),
    /// Turns what is selected up, or down.
    Turn(bool),
    /// Moves the selection.
    Walk(Move),
    /// Goes to a pane, or zooms it.
    Visit(PaneId),
    /// Looks at another moment.
    Look(TimeJump),
    /// Goes to another match of the search.
    Match(window::Find),
    /// Makes the pane larger by this many rows or columns, or smaller if negative.
    Resize(ResizeAxis, i16),
}

use ActionHandler::{Look, Match, Resize, Run, Show, Turn, Visit, Walk};

impl Action {
    /// Returns the declaration of this action.
    pub fn spec(self) -> &'static ActionSpec {
        // The user's commands share one declaration.
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
    /// Why the action cannot be done now; `None`: it can. A session that is over is neither run nor changed.
    pub fn why_not(&self, state: &State, view: &View) -> Option<Cow<'static, str>> {
        let changes = matches!(self.group, Group::Run | Group::Change);
        let over = if changes { change::over(state, view) } else { None };
        let over = over.or_else(|| refusals::matter(self.action).and_then(|it| state.cannot(it)));
        let why = over.or_else(|| (self.why_not)(state, view)).map(Cow::Borrowed);
        why.or_else(|| match self.does {
            Look(way) => past::why_not(way, state, view).map(Cow::Owned),
            _ => None,
        })
    }

    /// Sets the action's words, on a line below its other properties. A test checks that every action has words.
    const fn says(self, short: &'static str, doc: &'static str) -> Self {
        Self { short, doc, ..self }
    }
}

type KeyTexts = &'static [&'static str];

const fn run(action: Action, keys: KeyTexts, why: Why, does: ActionHandler) -> ActionSpec {
    spec(Group::Run, action, keys, why, does)
}

const fn alter(action: Action, keys: KeyTexts, why: Why, does: ActionHandler) -> ActionSpec {
    spec(Group::Change, action, keys, why, does)
}

const fn look(action: Action, keys: KeyTexts, why: Why, does: ActionHandler) -> ActionSpec {
    spec(Group::Look, action, keys, why, does)
}

const fn past(action: Action, keys: KeyTexts, why: Why, to: TimeJump) -> ActionSpec {
    spec(Group::Past, action, keys, why, Look(to))
}

const fn copy(
    action: Action,
    keys: KeyTexts,
    run: fn(&World<'_>, &mut View) -> Requests,
) -> ActionSpec {
    look(action, keys, copying::why_not, Run(run))
}

const fn go(action: Action, keys: KeyTexts, does: ActionHandler) -> ActionSpec {
    spec(Group::Move, action, keys, never, does)
}

const fn found(action: Action, which: window::Find) -> ActionSpec {
    spec(Group::Move, action, &[], refusals::nothing_found, Match(which))
}

const fn pane(pane: PaneId, name: &'static str, keys: KeyTexts, doc: &'static str) -> ActionSpec {
    let why: Why = if matches!(pane, PaneId::Budget) { refusals::no_credits } else { never };
    ActionSpec {
        name,
        ..spec(Group::Move, Action::Pane(pane), keys, why, Visit(pane)).says(name, doc)
    }
}

const fn screen(action: Action, keys: KeyTexts, does: ActionHandler) -> ActionSpec {
    spec(Group::Screen, action, keys, never, does)
}

/// Declares an action that works only in popups; `why_not` refuses it elsewhere.
const fn popup(action: Action) -> ActionSpec {
    spec(Group::Popup, action, &[], refusals::only_in_popups, Show(|_, _| ()))
}

const fn spec(
    group: Group,
    action: Action,
    keys: KeyTexts,
    why_not: Why,
    does: ActionHandler,
) -> ActionSpec {
    ActionSpec { action, group, name: action.into_str(), short: "", doc: "", keys, why_not, does }
}

/// Every action.
pub const ACTIONS: &[ActionSpec] = &[
    run(Action::RunOrPause, &["space"], never, Run(control::run_or_pause))
        .says("run/pause", "run, or pause at the next boundary"),
    run(Action::Step, &["n"], never, Run(|_, _| send(Command::Step)))
        .says("step", "run to the next boundary: before or after a model or tool call, or before a program line"),
    run(Action::StepOver, &["N", "f10", "c s"], never, Run(debug::step_over))
        .says("step over", "run to the agent's next step or the next task; in a program: step over function calls"),
    run(Action::StepOut, &["o", "shift-f11", "c k"], never, Run(debug::step_out))
        .says("step out", "run to the end of this task; in a program: step out of the function, or run to its end"),
    run(Action::Continue, &["c c"], never, Run(|_, _| send(Command::Run)))
        .says("continue", "run to the next breakpoint"),
    run(Action::RunToCall, &["c t"], never, Run(debug::run_to_call))
        .says("to a call", "run to the next tool call"),
    run(Action::RunToModel, &["c m"], never, Run(debug::run_to_model))
        .says("to a model", "run to the next model call"),
    run(Action::RunToPlan, &["c p"], never, Run(debug::run_to_plan))
        .says("to a plan", "run until a plan or a budget plan is written"),
    run(Action::RunToError, &["c e"], never, Run(debug::run_to_error))
        .says("to an error", "run until something fails"),
    run(Action::RunToHere, &["c h"], debug::nothing_to_break_at, Run(debug::run_to_here))
        .says("to here", "run to the selection: tool or role called, line reached, value changed"),
    run(Action::RunToValue, &["c x"], never, Run(debug::run_to_value))
        .says("to a value", "run until an expression changes or becomes true, such as step >= 5 or spent > 10"),
    run(Action::BackToLine, &["c ,"], moments::nothing_before, Run(moments::back_to_line))
        .says("back a line", "step the held program back by one statement; its calls are not undone"),
    run(Action::BackToCall, &["c <"], moments::no_call_before, Run(moments::back_to_call))
        .says("back a call", "step the held program back to its last call; the recorded result answers it"),
    run(Action::Remove, &["x"], refusals::nothing_to_remove, Run(update::remove)).says(
        "remove",
        "cancel the selected call; task: remove from the queue; tool: forget the score; edge: unpin; knob: end the sweep; breakpoint, watch: delete",
    ),
    run(Action::CancelAll, &["X"], refusals::nothing_runs, Run(control::cancel_all))
        .says("cancel all", "cancel all running and waiting calls"),
    run(Action::HoldLane, &["H"], refusals::no_lane, Run(control::hold_lane))
        .says("hold lane", "hold only the selected call at its next boundary, or release it"),
    run(Action::Stop, &["S"], never, Run(|_, view| view.open(Confirm::stop())))
        .says("stop", "end the session and cancel running calls; asks first"),
    run(Action::NewTask, &["t"], never, Run(|_, view| view.open(TaskEntry::default())))
        .says("new task", "write a task, and queue it last or next"),
    run(Action::RunNext, &[], queue::not_waiting, Run(queue::run_next))
        .says("next", "move the selected task to the front of the queue"),
    run(Action::MoveDown, &[], queue::not_waiting, Run(|w, view| queue::move_by(w, view, 1)))
        .says("later", "move the selected task one place back in the queue"),
    run(Action::MoveUp, &[], queue::not_waiting, Run(|w, view| queue::move_by(w, view, -1)))
        .says("earlier", "move the selected task one place forward in the queue"),
    run(Action::FollowUp, &["Q"], queue::no_answer, Run(queue::follow_up))
        .says("ask further", "ask a follow-up question about the selected task's answer"),
    run(Action::CallTool, &["!"], change::no_tool_to_call, Run(change::call_tool))
        .says("call", "call the selected tool by hand; a form shows its arguments"),
    alter(Action::Breakpoint, &["b", "f9"], debug::nothing_to_break_at, Run(debug::toggle)).says(
        "break",
        "set or delete a breakpoint on the selected tool, role, model, plan, line, variable, task or value",
    ),
    alter(Action::AddBreakpoint, &["B"], never, Run(debug::add))
        .says("add break", "set a breakpoint with place, condition, hit count and log"),
    alter(Action::AddWatch, &["W"], never, Run(|_, view| view.open(WatchEntry::add())))
        .says("watch", "watch an expression and plot its values"),
    alter(Action::Evaluate, &[";"], debug::nothing_to_ask, Run(debug::ask)).says(
        "evaluate",
        "evaluate a Python expression where the program is held, or at the displayed moment",
    ),
    alter(Action::Answer, &["a"], edits::nothing_to_answer, Run(edits::answer))
        .says("answer", "answer the held or running call in place of its model or tool"),
    alter(Action::RunAgain, &["r"], edits::nothing_to_repeat, Run(edits::run_again))
        .says("run again", "repeat the call held after its end; revisions: continue with the selected program; program: return to the displayed moment"),
    alter(Action::Consent, &["Y"], edits::nothing_asks, Run(edits::consent))
        .says("consent", "allow or refuse the call waiting for consent"),
    alter(Action::Fail, &["f"], refusals::nothing_to_break, Run(change::toggle_fault))
        .says("fail", "make the selected tool, role or model fail, or repair it"),
    alter(Action::AddFault, &["F"], never, Run(change::add_fault))
        .says("add fault", "add a fault: choose its target, trigger and kind"),
    alter(Action::Edit, &["e"], refusals::nothing_to_edit, Run(update::edit))
        .says("edit", "type a new value for the selected score, knob, budget or uses, or edit the selected call, program or variable"),
    alter(Action::Less, &["-", "_"], refusals::nothing_to_adjust, Turn(false))
        .says("less", "decrease the selected score, knob, budget, tau or uses by one step"),
    alter(Action::More, &["+", "="], refusals::nothing_to_adjust, Turn(true))
        .says("more", "increase the selected score, knob, budget, tau or uses by one step"),
    alter(Action::Switch, &["d"], debug::nothing_to_switch, Run(debug::switch))
        .says("on/off", "enable or disable the selected tool or breakpoint"),
    alter(Action::Learning, &["L"], never, Run(|_, _| change::turn(Knob::Learn, 1)))
        .says("learning", "freeze or resume learning from evaluations"),
    alter(Action::Strategy, &["A"], never, Run(change::choose_strategy))
        .says("strategy", "choose the strategy for the next tasks"),
    alter(Action::Model, &["m"], refusals::no_models, Run(change::bind_model))
        .says("model", "choose the selected role's model for the next model calls"),
    alter(Action::Pin, &[], refusals::no_edge, Run(change::pin))
        .says("pin", "pin the selected edge's weight to a value, or unpin it"),
    alter(Action::SetClass, &[], no_tool, Run(change::set_class))
        .says("class", "set the tool's class (tools of one class run in parallel)"),
    alter(Action::ReloadTools, &[], never, Run(|_, _| send(Command::ReloadTools)))
        .says("reload", "reload the tool manifests"),
    alter(Action::Probe, &[], change::no_tool_to_call, Run(change::probe))
        .says("probe", "probe the selected tool: call it to learn its result schema"),
    alter(Action::ProbeAll, &[], never, Run(|_, _| send(Command::Probe { tools: Vec::new() })))
        .says("probe all", "probe all read-only tools without a learned schema"),
    alter(Action::CheckModels, &[], refusals::no_models, Run(|_, _| send(Command::ProbeModels)))
        .says("check", "check again which models are reachable"),
    alter(Action::Undo, &["u"], refusals::nothing_to_undo, Run(|_, _| send(Command::Undo)))
        .says("undo", "undo your latest change; quick presses of one key are one change"),
    alter(Action::Redo, &["U", "ctrl-r"], refusals::nothing_to_redo, Run(|_, _| send(Command::Redo)))
        .says("redo", "redo the change you undid last"),
    run(Action::Slower, &["("], refusals::is_slowest, Run(|_, _| change::turn(Knob::Speed, -1)))
        .says("slower", "halve the speed of sample tools and the simulated model, down to 1/4"),
    run(Action::Faster, &[")"], refusals::is_fastest, Run(|_, _| change::turn(Knob::Speed, 1)))
        .says("faster", "double the speed of sample tools and the simulated model, up to 16"),
    run(Action::Sweep, &["&"], refusals::no_sweep, Run(control::sweep)).says(
        "sweep",
        "try several values of the selected knob on the remaining tasks, beside this session",
    ),
    alter(Action::UseBest, &[], refusals::no_best, Run(change::use_best))
        .says("use best", "set the selected knob to the best value of its sweep"),
    look(Action::Open, &["enter"], never, Run(update::open))
        .says("open", "show details of the selection"),
    look(Action::InspectTool, &["i"], no_tool, Run(update::inspect_tool))
        .says("tool", "show the selected tool: schema, score history, calls, faults"),
    look(Action::Prompt, &["v"], refusals::no_model_calls, Run(update::inspect_prompt))
        .says("prompt", "show exactly what the model saw, with tokens per part"),
    look(Action::NextView, &["V"], refusals::one_view, Show(|w, view| update::next_view(w.shown, view))).says(
        "view",
        "switch the view: graph as focus, map or matrix; calls with models or tools alone; resilience; twin in step by task, call or time",
    ),
    look(Action::Sort, &["s"], refusals::no_order, Show(|w, view| update::sort(w.shown, view)))
        .says("sort", "sort this list by the next column: tools by score, weight, calls or name"),
    look(Action::Pairs, &[], refusals::no_pairs, Run(|_, view| view.open(PairTable::default())))
        .says("pairs", "show planner/solver pairs across sessions: accuracy and cost"),
    look(Action::Why, &["w"], moments::no_value, Run(moments::why))
        .says("why", "trace a program value back to the calls that produced it"),
    look(Action::Compare, &["D"], moments::nothing_to_compare, Run(moments::compare))
        .says("compare", "compare the calls of the selected program and the previous one"),
    look(Action::Twin, &["T"], refusals::no_twin, Run(control::twin)).says(
        "twin",
        "set a session beside this one: without the fault, without learning, or the one it came from; or end it",
    ),
    copy(Action::Copy, &["y y"], |w, view| copying::selected_as(CopyForm::Shown, w, view))
        .says("copy", "copy the selection to the terminal's clipboard as shown"),
    copy(Action::CopyValue, &["y v"], |w, view| copying::selected_as(CopyForm::Value, w, view))
        .says("copy JSON", "copy the selection as JSON; a line as its event"),
    copy(Action::CopyPath, &["y p"], |w, view| copying::selected_as(CopyForm::Path, w, view))
        .says("copy path", "copy a jq filter that selects it in the output of `toolyard replay --json --full`"),
    copy(Action::CopyCommand, &["y c"], |w, view| copying::selected_as(CopyForm::Command, w, view))
        .says("copy command", "copy a model call as curl, or a tool call as `toolyard tools call`"),
    look(Action::CopyToFile, &["y f"], never, Run(|_, _| vec![ScreenRequest::KeepCopy]))
        .says("copy to file", "write the last copied text to a file"),
    look(
        Action::SaveScenario,
        &["ctrl-s"],
        refusals::no_task_done,
        Run(|_, _| vec![ScreenRequest::SaveScenario]),
    )
    .says("scenario", "save this session as a scenario for `toolyard run --scenario`"),
    look(Action::Editor, &["E"], copying::why_not, Run(own::edit))
        .says("editor", "open the selection in $VISUAL, $EDITOR or $PAGER"),
    look(Action::OwnCommand, &["O"], copying::why_not, Run(own::choose))
        .says("commands", "run one of your own commands on the selection"),
    past(Action::EventBack, &[",", "alt-left"], refusals::at_the_start, TimeJump::Event(-1))
        .says("event back", "go back one event; the agent keeps running"),
    past(Action::EventForward, &[".", "alt-right"], refusals::is_live, TimeJump::Event(1))
        .says("event", "go forward one event"),
    past(Action::StepBack, &["<"], refusals::at_the_start, TimeJump::StepBack)
        .says("step back", "go back one step of the agent"),
    past(Action::StepForward, &[">"], refusals::is_live, TimeJump::StepForward)
        .says("time", "go forward one step of the agent"),
    past(Action::TaskBack, &["{", "alt-up"], refusals::at_the_start, TimeJump::TaskBack)
        .says("task back", "go to the start of this task, then of the previous task"),
    past(Action::TaskForward, &["}", "alt-down"], refusals::is_live, TimeJump::TaskForward)
        .says("task", "go to the start of the next task"),
    past(Action::FirstEvent, &["^", "ctrl-home"], refusals::at_the_start, TimeJump::Start)
        .says("start", "go to the first event"),
    past(Action::Live, &["$", "ctrl-end"], refusals::is_live, TimeJump::Live)
        .says("live", "return to the present (also: esc)"),
    spec(Group::Past, Action::GoToMoment, &["@", "alt-m"], jump::why_not, Run(jump::to_selected))
        .says("moment", "go to the moment of the selected task, call or line"),
    spec(Group::Past, Action::Play, &["c ."], play::why_not, Show(play::play))
        .says("play", "play from this moment in the time that passed then, or stop"),
    spec(Group::Past, Action::PlayFaster, &["c )"], play::why_not, Show(play::faster))
        .says("faster", "play twice as fast, up to ×64"),
    spec(Group::Past, Action::PlaySlower, &["c ("], play::why_not, Show(play::slower))
        .says("slower", "play half as fast, down to ×1/4"),
    spec(Group::Past, Action::Fork, &["c f"], refusals::no_fork, Run(edits::fork))
        .says("fork", "go on from this moment in a new session, with the selected call changed"),
    look(Action::AskModel, &["c a"], edits::nothing_to_ask, Run(edits::ask_model))
        .says("ask again", "ask the selected model call again, several times, of its model or of others"),
    past(Action::PreviousWrong, &["[ w"], never, TimeJump::Previous(Sought::Wrong))
        .says("wrong", "go to the previous wrong task"),
    past(Action::NextWrong, &["] w"], never, TimeJump::Next(Sought::Wrong))
        .says("wrong", "go to the next wrong task"),
    past(Action::PreviousOver, &["[ o"], never, TimeJump::Previous(Sought::Over))
        .says("over", "go to the previous call that exceeded the budget"),
    past(Action::NextOver, &["] o"], never, TimeJump::Next(Sought::Over))
        .says("over", "go to the next call that exceeded the budget"),
    past(Action::PreviousFailure, &["[ f", "alt-p"], never, TimeJump::Previous(Sought::Failure))
        .says("failure", "go to the previous failed call"),
    past(Action::NextFailure, &["] f", "alt-n"], never, TimeJump::Next(Sought::Failure))
        .says("failure", "go to the next failed call"),
    past(Action::PreviousTaskEnd, &["[ t"], never, TimeJump::Previous(Sought::TaskEnd))
        .says("task end", "go to the previous task end"),
    past(Action::NextTaskEnd, &["] t"], never, TimeJump::Next(Sought::TaskEnd))
        .says("task end", "go to the next task end"),
    past(Action::PreviousChange, &["[ c"], never, TimeJump::Previous(Sought::Change))
        .says("change", "go to the previous change of a score, weight, plan or knob"),
    past(Action::NextChange, &["] c"], never, TimeJump::Next(Sought::Change))
        .says("change", "go to the next change of a score, weight, plan or knob"),
    past(Action::PreviousEdit, &["[ e"], never, TimeJump::Previous(Sought::Edit))
        .says("edit", "go to the previous change by a person"),
    past(Action::NextEdit, &["] e"], never, TimeJump::Next(Sought::Edit))
        .says("edit", "go to the next change by a person"),
    past(Action::PreviousFault, &["[ x"], never, TimeJump::Previous(Sought::Fault))
        .says("fault", "go to the previous injected fault"),
    past(Action::NextFault, &["] x"], never, TimeJump::Next(Sought::Fault))
        .says("fault", "go to the next injected fault"),
    past(Action::PreviousProblem, &["[ m"], never, TimeJump::Previous(Sought::Problem))
        .says("problem", "go to the previous problem: something that went wrong"),
    past(Action::NextProblem, &["] m"], never, TimeJump::Next(Sought::Problem))
        .says("problem", "go to the next problem"),
    past(Action::PreviousStop, &["[ b"], never, TimeJump::Previous(Sought::Stop))
        .says("stop", "go to the previous breakpoint stop"),
    past(Action::NextStop, &["] b"], never, TimeJump::Next(Sought::Stop))
        .says("stop", "go to the next breakpoint stop"),
    spec(
        Group::Past,
        Action::Goto,
        &["g e"],
        refusals::nothing_yet,
        Run(|world, view| view.open(Actions::goto(world, view))),
    )
    .says("go to", "go to an event by its number (also: `:1820`)"),
    past(Action::Back, &["backspace", "ctrl-o"], never, TimeJump::Back)
        .says("back", "return to the place before the last jump"),
    go(Action::Up, &["up", "k"], Walk(Move::Up)).says("up", "one line up"),
    go(Action::Down, &["down", "j"], Walk(Move::Down)).says("down", "one line down"),
    go(Action::Left, &["left", "h"], Walk(Move::Left)).says("left", "left"),
    go(Action::Right, &["right", "l"], Walk(Move::Right)).says("right", "right"),
    go(Action::PageUp, &["pageup", "ctrl-u"], Walk(Move::PageUp)).says("page up", "one page up"),
    go(Action::PageDown, &["pagedown", "ctrl-d"], Walk(Move::PageDown))
        .says("page down", "one page down"),
    go(Action::Top, &["home", "g g"], Walk(Move::Top)).says("top", "go to the first line"),
    go(Action::Bottom, &["end", "G"], Walk(Move::Bottom))
        .says("bottom", "go to the last line, and follow"),
    go(Action::NextPane, &["tab"], Show(|world, view| update::next_pane(world, view, true)))
        .says("pane", "go to the next pane"),
    go(Action::PreviousPane, &["shift-tab"], Show(|w, view| update::next_pane(w, view, false)))
        .says("previous pane", "go to the previous pane"),
    pane(PaneId::Graph, "graph", &["1"], "go to the graph; again: zoom it, as with every pane"),
    pane(PaneId::Transcript, "transcript", &["2"], "go to the transcript"),
    pane(PaneId::Tools, "tools", &["3"], "go to the tools"),
    pane(PaneId::Knobs, "knobs", &["4"], "go to the knobs"),
    pane(PaneId::Models, "models", &["5"], "go to the models"),
    pane(PaneId::Calls, "calls", &["6"], "go to the timeline of calls"),
    pane(PaneId::Tasks, "tasks", &["7"], "go to the tasks"),
    pane(PaneId::Budget, "budget", &["8"], "go to the budget"),
    pane(PaneId::Plan, "plan", &["9"], "go to the planner's plan"),
    pane(PaneId::Resilience, "resilience", &["0"], "go to resilience: how the agent reacts to a tool failure"),
    pane(PaneId::Program, "program", &["g p"], "go to the program of the task, line by line"),
    pane(PaneId::Variables, "variables", &["g v"], "go to the variables of the program"),
    pane(PaneId::Revisions, "revisions", &["g n"], "go to the programs of the task, with their differences"),
    pane(PaneId::Probing, "probing", &["g k"], "go to probing: the learned result schemas of the tools"),
    pane(PaneId::Reading, "reading", &["g r"], "go to reading: where calls start, and which tools match"),
    pane(PaneId::Search, "search", &["g s"], "go to the search tree"),
    pane(PaneId::Breakpoints, "breakpoints", &["g b"], "go to the breakpoints"),
    pane(PaneId::Watches, "watches", &["g w"], "go to the watches"),
    pane(PaneId::Conversations, "conversations", &["g t"], "go to the conversations of watched agents, or the runs"),
    pane(PaneId::Servers, "servers", &["g y"], "go to the MCP servers"),
    pane(PaneId::Output, "output", &["g u"], "go to the output of the agent's process"),
    pane(PaneId::Problems, "problems", &["g a"], "go to the problems: what went wrong, and what the model did next"),
    pane(PaneId::Prompt, "prompt-pane", &["g i"], "go to the prompt of the selected model call, its newest message first"),
    pane(PaneId::Twin, "twin-pane", &["g h"], "go to the twin: both sessions beside each other, call by call"),
    go(Action::Faults, &["g f"], Run(|world, view| view.open(FaultList::new(world.live, view))))
        .says("faults", "list the faults: arm, disarm, add or change them"),
    go(Action::Sessions, &["g o"], Run(|_, _| vec![ScreenRequest::Sessions]))
        .says("sessions", "list the sessions on this machine, and open one"),
    ActionSpec {
        why_not: refusals::not_shared,
        ..go(Action::Control, &["g c"], Run(|_, _| vec![ScreenRequest::PassControl]))
    }
    .says("control", "take control of a shared session, or hand it over"),
    go(Action::Demo, &["g d"], Run(|world, view| view.open(Choose::demo(world.demos))))
        .says("demo", "choose a demo; it ends this session"),
    go(Action::Messages, &["g m"], Run(|_, view| view.open(Inspect::new(Subject::Messages))))
        .says("messages", "show all messages of this screen"),
    go(Action::Fields, &["g x"], Run(|_, view| view.open(Inspect::new(Subject::Fields))))
        .says("fields", "list the fields for expressions in conditions, watches and filters"),
    go(Action::Find, &["/"], Run(|_, view| view.open(Find::in_pane(view.focus))))
        .says("find", "filter this list, or search this text; calls also by expression: /=ms > 500"),
    found(Action::NextMatch, window::Find::Next).says("next", "go to the next match"),
    found(Action::PreviousMatch, window::Find::Previous)
        .says("previous", "go to the previous match"),
    go(Action::Leave, &["esc"], Show(|_, view| update::leave(view)))
        .says("leave", "close the popup, filter, search, past or zoom"),
    screen(Action::Zoom, &["z"], Show(|_, view| update::zoom(view)))
        .says("zoom", "zoom this pane to the whole screen, or back"),
    screen(Action::Taller, &["ctrl-w +"], Resize(ResizeAxis::Height, 1))
        .says("taller", "make this pane one row taller"),
    screen(Action::Shorter, &["ctrl-w -"], Resize(ResizeAxis::Height, -1))
        .says("shorter", "make this pane one row shorter"),
    screen(Action::Wider, &["ctrl-w >"], Resize(ResizeAxis::Width, 2))
        .says("wider", "make this pane two columns wider"),
    screen(Action::Narrower, &["ctrl-w <"], Resize(ResizeAxis::Width, -2))
        .says("narrower", "make this pane two columns narrower"),
    screen(Action::Equal, &["ctrl-w ="], Show(|_, view| view.layouts.now.equal()))
        .says("equal", "make all panes the same size"),
    screen(Action::HidePane, &["ctrl-w q"], Show(arrange::hide))
        .says("hide pane", "hide this pane; its key shows it again"),
    screen(Action::AddPane, &["ctrl-w a"], Run(|_, view| view.open(Choose::pane(view))))
        .says("add pane", "choose a pane to add here"),
    screen(Action::OnlyPane, &["ctrl-w o"], Show(|_, view| view.layouts.now.only(view.focus)))
        .says("only pane", "hide all other panes"),
    screen(Action::SaveLayout, &["ctrl-w s"], Run(|_, _| vec![ScreenRequest::SaveLayout]))
        .says("save layout", "save this layout for this strategy and screen size"),
    screen(Action::ResetLayout, &["ctrl-w r"], Show(|_, view| arrange::reset(view)))
        .says("reset layout", "restore the strategy's default layout"),
    screen(Action::Help, &["?", "f1"], Run(|world, view| view.open(Actions::help(world, view))))
        .says("help", "list the keys that act now, then all"),
    screen(Action::Palette, &[":"], Run(|world, view| view.open(Actions::palette(world, view))))
        .says("all", "find any action by its name"),
    screen(Action::Screenshot, &["y s"], Run(|_, _| vec![ScreenRequest::Shoot]))
        .says("screenshot", "write this screen to files, as SVG and as text"),
    screen(Action::NextTheme, &["ctrl-w t", "Z t"], Run(|_, _| vec![ScreenRequest::NextTheme]))
        .says("theme", "switch to the next theme"),
    screen(Action::Redraw, &["ctrl-l"], Run(|_, _| vec![ScreenRequest::Redraw]))
        .says("redraw", "redraw the whole screen"),
    screen(Action::Suspend, &["ctrl-z"], Run(|_, _| vec![ScreenRequest::Suspend]))
        .says("suspend", "suspend to the shell; `fg` returns"),
    screen(Action::Quit, &["q", "ctrl-c"], Run(control::quit))
        .says("quit", "quit toolyard; asks if the agent is running"),
    popup(Action::Accept).says("choose", "choose, set or confirm"),
    popup(Action::AcceptAndRun).says("apply, run", "apply the edit, and resume the agent"),
    popup(Action::Toggle).says("on/off", "enable or disable the selected row"),
    popup(Action::NextSection).says("section", "go to the next section of the list"),
    popup(Action::Mark).says("mark", "mark the selected row, or unmark it"),
    popup(Action::Add).says("new", "add a row"),
    popup(Action::NewLine).says("new line", "start a new line of text"),
];

#[cfg(test)]
mod tests;
