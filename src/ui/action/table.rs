//! The table of actions, in the order in which help and palette show them.

use super::{Action, ActionSpec, Group, Why, why};
use crate::ui::pane::PaneId;

type Keys = &'static [&'static str];

const fn run(action: Action, keys: Keys, why: Why) -> ActionSpec {
    spec(Group::Run, action, keys, why)
}

const fn change(action: Action, keys: Keys, why: Why) -> ActionSpec {
    spec(Group::Change, action, keys, why)
}

const fn look(action: Action, keys: Keys, why: Why) -> ActionSpec {
    spec(Group::Look, action, keys, why)
}

const fn past(action: Action, keys: Keys, why: Why) -> ActionSpec {
    spec(Group::Past, action, keys, why)
}

const fn go(action: Action, keys: Keys) -> ActionSpec {
    spec(Group::Move, action, keys, why::never)
}

const fn found(action: Action) -> ActionSpec {
    spec(Group::Move, action, &[], why::nothing_found)
}

const fn screen(action: Action, keys: Keys) -> ActionSpec {
    spec(Group::Screen, action, keys, why::never)
}

const fn popup(action: Action) -> ActionSpec {
    spec(Group::Popup, action, &[], why::only_in_popups)
}

const fn spec(group: Group, action: Action, keys: Keys, why: Why) -> ActionSpec {
    ActionSpec { action, group, name: "", short: "", doc: "", keys, why }
}

/// The words follow what an action is, each on a line of its own. A test asks for all of them.
impl ActionSpec {
    const fn named(self, name: &'static str, short: &'static str) -> Self {
        Self { name, short, ..self }
    }

    const fn does(self, doc: &'static str) -> Self {
        Self { doc, ..self }
    }
}

/// Every action.
pub const ACTIONS: &[ActionSpec] = &[
    run(Action::RunOrPause, &["space"], why::over)
        .named("run-or-pause", "run/pause")
        .does("run, or pause at the next boundaries"),
    run(Action::Step, &["n"], why::over)
        .named("step", "step")
        .does("run to the next boundary: before or after a model or tool call"),
    run(Action::StepOut, &["o", "shift-f11"], why::over)
        .named("step-out", "step out")
        .does("run to the end of this task"),
    run(Action::Remove, &["x"], why::nothing_to_remove).named("remove", "remove").does(
        "cancel the selected call; in the tools, forget the score; in the graph, unpin the edge",
    ),
    run(Action::CancelAll, &["X"], why::nothing_runs)
        .named("cancel-all", "cancel all")
        .does("cancel every call that runs or waits"),
    run(Action::HoldLane, &["H"], why::no_lane)
        .named("hold-lane", "hold lane")
        .does("hold the selected call alone at its next boundary, or let it go on"),
    run(Action::Stop, &["S"], why::over)
        .named("stop", "stop")
        .does("end the session and cancel what runs; asks first"),
    run(Action::NewTask, &["t"], why::over)
        .named("new-task", "new task")
        .does("write a task; it is queued last"),
    change(Action::Fail, &["f"], why::nothing_to_break)
        .named("fail", "fail")
        .does("make the selected tool, role or model fail, or repair it"),
    change(Action::AddFault, &["F"], why::over)
        .named("add-fault", "add fault")
        .does("choose target, trigger and kind of a fault"),
    change(Action::Edit, &["e"], why::nothing_to_adjust)
        .named("edit", "edit")
        .does("type a new score, knob, budget or number of uses: whatever is selected"),
    change(Action::Less, &["-", "_"], why::nothing_to_adjust)
        .named("less", "less")
        .does("one step less of what is selected: score, knob, budget, tau, uses"),
    change(Action::More, &["+", "="], why::nothing_to_adjust)
        .named("more", "more")
        .does("one step more of what is selected: score, knob, budget, tau, uses"),
    change(Action::Switch, &["d"], why::no_tool_to_change)
        .named("switch", "on/off")
        .does("switch the selected tool off or on"),
    change(Action::Learning, &["L"], why::over)
        .named("learning", "learning")
        .does("freeze learning, or let evaluations change scores again"),
    change(Action::Strategy, &["A"], why::over)
        .named("strategy", "strategy")
        .does("choose the strategy, from the next task on"),
    change(Action::Model, &["m"], why::no_models)
        .named("model", "model")
        .does("choose the model of the selected role, from the next model call on"),
    change(Action::Pin, &[], why::no_edge)
        .named("pin", "pin")
        .does("pin the selected edge's weight at a value, or unpin it"),
    change(Action::SetClass, &[], why::no_tool_to_change)
        .named("set-class", "class")
        .does("set the tool's class (tools of one class run in parallel)"),
    change(Action::ReloadTools, &[], why::over)
        .named("reload-tools", "reload")
        .does("read the tools' manifests again"),
    change(Action::CheckModels, &[], why::no_models)
        .named("check-models", "check")
        .does("check again which models can be reached"),
    change(Action::Undo, &["u"], why::nothing_to_undo)
        .named("undo", "undo")
        .does("undo your latest change; quick presses of one key are one change"),
    change(Action::Redo, &["U", "ctrl-r"], why::nothing_to_redo)
        .named("redo", "redo")
        .does("do again what you undid last"),
    look(Action::Open, &["enter"], why::never)
        .named("open", "open")
        .does("show the details of what is selected"),
    look(Action::InspectTool, &["i"], why::no_tool)
        .named("inspect-tool", "tool")
        .does("the selected tool: schema, score history, calls, faults"),
    look(Action::Prompt, &["v"], why::no_model_calls)
        .named("prompt", "prompt")
        .does("exactly what the model saw, with tokens for each part"),
    look(Action::NextView, &["V"], why::one_view)
        .named("next-view", "view")
        .does("the next view of this pane: the graph as focus, map or matrix"),
    look(Action::Sort, &["s"], why::no_order)
        .named("sort", "sort")
        .does("the next order of this list: tools by score, weight, calls or name"),
    look(Action::Pairs, &[], why::no_pairs)
        .named("pairs", "pairs")
        .does("planner/solver pairs across sessions: accuracy and cost"),
    past(Action::EventBack, &[",", "alt-left"], why::at_the_start)
        .named("event-back", "event back")
        .does("look one event earlier; the agent runs on"),
    past(Action::EventForward, &[".", "alt-right"], why::is_live)
        .named("event-forward", "event")
        .does("look one event later"),
    past(Action::StepBack, &["<"], why::at_the_start)
        .named("step-back", "step back")
        .does("look one step of the agent earlier"),
    past(Action::StepForward, &[">"], why::is_live)
        .named("step-forward", "time")
        .does("look one step of the agent later"),
    past(Action::PastStart, &["^", "ctrl-home"], why::at_the_start)
        .named("first-event", "start")
        .does("look at the first event"),
    past(Action::Live, &["$", "ctrl-end"], why::is_live)
        .named("live", "live")
        .does("look at the present again (esc does it too)"),
    go(Action::Up, &["up", "k"]).named("up", "up").does("one line up"),
    go(Action::Down, &["down", "j"]).named("down", "down").does("one line down"),
    go(Action::Left, &["left", "h"]).named("left", "left").does("left"),
    go(Action::Right, &["right", "l"]).named("right", "right").does("right"),
    go(Action::PageUp, &["pageup", "ctrl-u"]).named("page-up", "page up").does("one page up"),
    go(Action::PageDown, &["pagedown", "ctrl-d"])
        .named("page-down", "page down")
        .does("one page down"),
    go(Action::Top, &["home", "g g"]).named("top", "top").does("to the first line"),
    go(Action::Bottom, &["end", "G"])
        .named("bottom", "bottom")
        .does("to the last line, and follow"),
    go(Action::NextPane, &["tab"]).named("next-pane", "pane").does("to the next pane"),
    go(Action::PreviousPane, &["shift-tab"])
        .named("previous-pane", "previous pane")
        .does("to the previous pane"),
    go(Action::Pane(PaneId::Graph), &["1"])
        .named("graph", "graph")
        .does("to the graph; again: zoom it, as with every pane"),
    go(Action::Pane(PaneId::Transcript), &["2"])
        .named("transcript", "transcript")
        .does("to the transcript"),
    go(Action::Pane(PaneId::Tools), &["3"]).named("tools", "tools").does("to the tools"),
    go(Action::Pane(PaneId::Knobs), &["4"]).named("knobs", "knobs").does("to the knobs"),
    go(Action::Pane(PaneId::Models), &["5"]).named("models", "models").does("to the models"),
    go(Action::Pane(PaneId::Calls), &["6"])
        .named("calls", "calls")
        .does("to the calls, a lane for each"),
    go(Action::Pane(PaneId::Tasks), &["7"]).named("tasks", "tasks").does("to the tasks"),
    go(Action::Pane(PaneId::Budget), &["8"]).named("budget", "budget").does("to the budget"),
    go(Action::Pane(PaneId::Plan), &["9"]).named("plan", "plan").does("to the planner's plan"),
    go(Action::Pane(PaneId::Search), &["g s"]).named("search", "search").does("to the search tree"),
    go(Action::Faults, &["g f"])
        .named("faults", "faults")
        .does("list the faults: arm, disarm, add, change them"),
    go(Action::Messages, &["g m"])
        .named("messages", "messages")
        .does("everything this screen has said"),
    go(Action::Find, &["/"]).named("find", "find").does("find text in this pane"),
    found(Action::NextMatch).named("next-match", "next").does("to the next match"),
    found(Action::PreviousMatch).named("previous-match", "previous").does("to the previous match"),
    go(Action::Leave, &["esc"])
        .named("leave", "leave")
        .does("leave what is open: popup, search, past, zoom"),
    screen(Action::Zoom, &["z"])
        .named("zoom", "zoom")
        .does("give this pane the whole screen, or take it back"),
    screen(Action::Help, &["?", "f1"]).named("help", "help").does("every key, searchable"),
    screen(Action::Palette, &[":"]).named("palette", "all").does("find any action by its name"),
    screen(Action::Screenshot, &["y s"])
        .named("screenshot", "screenshot")
        .does("write this screen to a file, as SVG and as text"),
    screen(Action::NextTheme, &["ctrl-w t", "Z t"])
        .named("next-theme", "theme")
        .does("the next theme"),
    screen(Action::Redraw, &["ctrl-l"])
        .named("redraw", "redraw")
        .does("draw the whole screen again"),
    screen(Action::Suspend, &["ctrl-z"])
        .named("suspend", "suspend")
        .does("back to the shell; `fg` returns"),
    screen(Action::Quit, &["q", "ctrl-c"])
        .named("quit", "quit")
        .does("leave toolyard; asks while the agent runs"),
    popup(Action::Accept).named("accept", "choose").does("choose, set, or say yes"),
    popup(Action::Toggle).named("toggle", "on/off").does("switch the selected row on or off"),
    popup(Action::Add).named("add", "new").does("add a row"),
    popup(Action::NewLine).named("new-line", "new line").does("begin a new line of text"),
];
