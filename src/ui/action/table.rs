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

const fn screen(action: Action, keys: Keys) -> ActionSpec {
    spec(Group::Screen, action, keys, why::never)
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
        .does("let the agent run, or hold it at its next boundaries"),
    run(Action::Step, &["n"], why::over)
        .named("step", "step")
        .does("go on to the next boundary: before or after a model or tool call"),
    run(Action::StepTask, &["N"], why::over)
        .named("step-task", "step task")
        .does("go on to the end of this task, then hold"),
    run(Action::Cancel, &["x"], why::nothing_runs)
        .named("cancel", "cancel")
        .does("cancel the selected running call, else the one that runs"),
    run(Action::PauseLane, &["H"], why::no_lane)
        .named("pause-lane", "pause lane")
        .does("hold the selected call alone at its next boundary, or let it go on"),
    run(Action::Stop, &["S"], why::over)
        .named("stop", "stop")
        .does("end the session, and cancel what runs; asks first"),
    run(Action::NewTask, &["t"], why::over)
        .named("new-task", "new task")
        .does("write a task; it comes after those queued"),
    change(Action::Break, &["f"], why::nothing_to_break)
        .named("break", "break")
        .does("make the selected tool, role or model fail, or work again"),
    change(Action::Faults, &["F"], why::never)
        .named("faults", "faults")
        .does("choose what goes wrong and when, and see what has fired"),
    change(Action::EditScore, &["e"], why::no_tool_to_change)
        .named("edit-score", "edit score")
        .does("type a new score for the selected tool"),
    change(Action::RaiseScore, &["+", "="], why::no_tool_to_change)
        .named("raise-score", "score +1")
        .does("add 1 to the selected tool's score"),
    change(Action::LowerScore, &["-"], why::no_tool_to_change)
        .named("lower-score", "score -1")
        .does("take 1 from the selected tool's score"),
    change(Action::ForgetScore, &["E"], why::nothing_scored)
        .named("forget-score", "forget")
        .does("set the selected tool's score back to 0"),
    change(Action::Pin, &["p"], why::no_edge)
        .named("pin", "pin")
        .does("hold the selected edge's weight at a value, or let it go"),
    change(Action::Freeze, &["L"], why::over)
        .named("freeze", "freeze")
        .does("freeze learning, or let evaluations change scores again"),
    change(Action::TurnUp, &["]"], why::over)
        .named("turn-up", "knob up")
        .does("turn the selected knob up by one step"),
    change(Action::TurnDown, &["["], why::over)
        .named("turn-down", "knob down")
        .does("turn the selected knob down by one step"),
    change(Action::SetKnob, &["o"], why::over)
        .named("set-knob", "set knob")
        .does("type a value for the selected knob"),
    change(Action::BudgetUp, &["}"], why::over)
        .named("budget-up", "budget +")
        .does("raise the budget of a task by 1 credit, and replan"),
    change(Action::BudgetDown, &["{"], why::over)
        .named("budget-down", "budget -")
        .does("lower the budget of a task by 1 credit, and replan"),
    change(Action::TauUp, &[")"], why::over)
        .named("tau-up", "tau +")
        .does("raise tau: plan only tools of higher expected value"),
    change(Action::TauDown, &["("], why::over)
        .named("tau-down", "tau -")
        .does("lower tau: plan tools of lower expected value too"),
    change(Action::UsesUp, &["*"], why::no_uses_to_set)
        .named("uses-up", "uses +")
        .does("allow one use more of the selected tool, and plan around it"),
    change(Action::UsesDown, &["_"], why::no_uses_to_set)
        .named("uses-down", "uses -")
        .does("allow one use less of the selected tool, and plan around it"),
    change(Action::SetUses, &["U"], why::no_uses_to_set)
        .named("set-uses", "set uses")
        .does("type how often the selected tool may still be used in this task"),
    change(Action::Strategy, &["A"], why::over)
        .named("strategy", "strategy")
        .does("choose how the agent acts, from the next task on"),
    change(Action::BindModel, &["m"], why::no_models)
        .named("model", "model")
        .does("choose the model that plays the selected role, from the next model call on"),
    change(Action::SetClass, &["C"], why::no_tool_to_change)
        .named("set-class", "class")
        .does("set the tool's class (tools of one class run in parallel)"),
    change(Action::SwitchTool, &["d"], why::no_tool_to_change)
        .named("switch-tool", "on/off")
        .does("take the selected tool off every menu, or put it back"),
    change(Action::ReloadTools, &["r"], why::over)
        .named("reload-tools", "reload")
        .does("read the tools' manifests again"),
    change(Action::Undo, &["u"], why::nothing_to_undo)
        .named("undo", "undo")
        .does("take back the latest change that you made"),
    look(Action::Open, &["enter"], why::never)
        .named("open", "open")
        .does("look closer at what is selected"),
    look(Action::InspectTool, &["i"], why::no_tool)
        .named("inspect-tool", "tool")
        .does("the selected tool: schema, score history, calls, faults"),
    look(Action::InspectPrompt, &["v"], why::no_model_calls)
        .named("inspect-prompt", "prompt")
        .does("exactly what the model saw, with tokens for each part"),
    look(Action::InspectCall, &["c"], why::no_calls)
        .named("inspect-call", "call")
        .does("the selected call or evidence: arguments and result in full"),
    look(Action::InspectPlan, &["P"], why::no_plan)
        .named("inspect-budget-plan", "plan")
        .does("the latest plan: every candidate, why so many uses, and what changed"),
    look(Action::GraphView, &["g"], why::never)
        .named("graph-view", "graph view")
        .does("show the graph as focus, map or matrix, in turn"),
    look(Action::SortTools, &["O"], why::never)
        .named("sort-tools", "sort tools")
        .does("sort the tools by score, weight, calls or name, in turn"),
    look(Action::Pairs, &["w"], why::no_pairs)
        .named("pairs", "pairs")
        .does("which models did the tasks of all sessions here, and how well and at what cost"),
    look(Action::SortPairs, &["W"], why::no_pairs)
        .named("sort-pairs", "sort pairs")
        .does("sort the pairs by accuracy, cost, tokens, steps, tasks, name"),
    look(Action::Messages, &["M"], why::never)
        .named("messages", "messages")
        .does("everything this screen has told you"),
    past(Action::EventBack, &[","], why::at_the_start)
        .named("event-back", "back")
        .does("look at the moment one event earlier; the agent runs on"),
    past(Action::EventForward, &["."], why::is_live)
        .named("event-forward", "forward")
        .does("look at the moment one event later"),
    past(Action::StepBack, &["<"], why::at_the_start)
        .named("step-back", "step back")
        .does("look at the moment one step of the agent earlier"),
    past(Action::StepForward, &[">"], why::is_live)
        .named("step-forward", "step forward")
        .does("look at the moment one step of the agent later"),
    past(Action::PastStart, &["^", "ctrl-home"], why::at_the_start)
        .named("first-event", "start")
        .does("look at the very first event"),
    past(Action::Live, &["$", "ctrl-end"], why::is_live)
        .named("live", "live")
        .does("look at the present again (Esc does it too)"),
    go(Action::Up, &["up", "k"]).named("up", "up").does("up"),
    go(Action::Down, &["down", "j"]).named("down", "down").does("down"),
    go(Action::Left, &["left", "h"])
        .named("left", "left")
        .does("left; in the knobs and the budget, turn down"),
    go(Action::Right, &["right", "l"])
        .named("right", "right")
        .does("right; in the knobs and the budget, turn up"),
    go(Action::PageUp, &["pageup", "ctrl-u"]).named("page-up", "page up").does("a page up"),
    go(Action::PageDown, &["pagedown", "ctrl-d"])
        .named("page-down", "page down")
        .does("a page down"),
    go(Action::Top, &["home"]).named("top", "top").does("to the first line"),
    go(Action::Bottom, &["end", "G"])
        .named("bottom", "bottom")
        .does("to the last line, and keep up"),
    go(Action::NextPane, &["tab"]).named("next-pane", "next pane").does("to the next pane"),
    go(Action::PreviousPane, &["shift-tab"])
        .named("previous-pane", "previous pane")
        .does("to the pane before"),
    go(Action::Pane(PaneId::Graph), &["1"]).named("graph", "graph").does("to the graph"),
    go(Action::Pane(PaneId::Transcript), &["2"])
        .named("transcript", "transcript")
        .does("to the transcript"),
    go(Action::Pane(PaneId::Tools), &["3"]).named("tools", "tools").does("to the tools"),
    go(Action::Pane(PaneId::Knobs), &["4", "K"]).named("knobs", "knobs").does("to the knobs"),
    go(Action::Pane(PaneId::Models), &["5"]).named("models", "models").does("to the models"),
    go(Action::Pane(PaneId::Calls), &["6"])
        .named("calls", "calls")
        .does("to the calls: the workers' lanes"),
    go(Action::Pane(PaneId::Tasks), &["7"]).named("tasks", "tasks").does("to the tasks"),
    go(Action::Pane(PaneId::Budget), &["8", "B"]).named("budget", "budget").does("to the budget"),
    go(Action::Pane(PaneId::Search), &["9"])
        .named("search", "search")
        .does("to the planner's plan, or the search tree"),
    go(Action::Zoom, &["z"])
        .named("zoom", "zoom")
        .does("give this pane the whole screen, or take it back"),
    go(Action::Find, &["/"]).named("find", "find").does("find text in this pane"),
    go(Action::Leave, &["esc"])
        .named("leave", "leave")
        .does("leave what is open: popup, search, past, zoom"),
    screen(Action::Help, &["?", "f1"]).named("help", "help").does("every key, searchable"),
    screen(Action::Palette, &[":"]).named("palette", "palette").does("find any action by its name"),
    screen(Action::Screenshot, &["s"])
        .named("screenshot", "screenshot")
        .does("write this screen to a file, as SVG and as text"),
    screen(Action::NextTheme, &["T"]).named("next-theme", "theme").does("the next theme"),
    screen(Action::Redraw, &["ctrl-l"])
        .named("redraw", "redraw")
        .does("draw the whole screen again"),
    screen(Action::Suspend, &["ctrl-z"])
        .named("suspend", "suspend")
        .does("back to the shell; `fg` returns"),
    screen(Action::Quit, &["q", "ctrl-c"])
        .named("quit", "quit")
        .does("leave toolyard; asks while the agent runs"),
];
