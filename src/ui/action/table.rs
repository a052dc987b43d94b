//! The table of actions, in the order in which help and palette show them.

use super::{Action, ActionSpec, Group, Why, why};
use crate::ui::pane::PaneId;

/// Name, short name, doc.
type Words = (&'static str, &'static str, &'static str);

const fn run(action: Action, words: Words, keys: &'static [&'static str], why: Why) -> ActionSpec {
    spec(Group::Run, action, words, keys, why)
}

const fn change(
    action: Action,
    words: Words,
    keys: &'static [&'static str],
    why: Why,
) -> ActionSpec {
    spec(Group::Change, action, words, keys, why)
}

const fn look(action: Action, words: Words, keys: &'static [&'static str], why: Why) -> ActionSpec {
    spec(Group::Look, action, words, keys, why)
}

const fn past(action: Action, words: Words, keys: &'static [&'static str], why: Why) -> ActionSpec {
    spec(Group::Past, action, words, keys, why)
}

const fn go(action: Action, words: Words, keys: &'static [&'static str]) -> ActionSpec {
    spec(Group::Move, action, words, keys, why::never)
}

const fn screen(action: Action, words: Words, keys: &'static [&'static str]) -> ActionSpec {
    spec(Group::Screen, action, words, keys, why::never)
}

const fn spec(
    group: Group,
    action: Action,
    words: Words,
    keys: &'static [&'static str],
    why: Why,
) -> ActionSpec {
    let (name, short, doc) = words;
    ActionSpec { action, group, name, short, doc, keys, why }
}

/// Every action.
pub const ACTIONS: &[ActionSpec] = &[
    run(
        Action::RunOrPause,
        ("run-or-pause", "run/pause", "let the agent run, or hold it at its next boundaries"),
        &["space"],
        why::over,
    ),
    run(
        Action::Step,
        ("step", "step", "go on to the next boundary: before or after an ask or a call"),
        &["n"],
        why::over,
    ),
    run(
        Action::StepTask,
        ("step-task", "step task", "go on to the end of this task, then hold"),
        &["N"],
        why::over,
    ),
    run(
        Action::Cancel,
        ("cancel", "cancel", "cancel the selected running call, else the one that runs"),
        &["x"],
        why::nothing_runs,
    ),
    run(
        Action::PauseLane,
        (
            "pause-lane",
            "stop lane",
            "hold the selected call alone at its next boundary, or let it go on",
        ),
        &["H"],
        why::no_lane,
    ),
    run(
        Action::Stop,
        ("stop", "stop", "end the session, and cancel what runs; asks first"),
        &["S"],
        why::over,
    ),
    run(
        Action::NewTask,
        ("new-task", "new task", "write a task; it comes after those queued"),
        &["t"],
        why::over,
    ),
    change(
        Action::Break,
        ("break", "break", "make the selected tool, role or model fail, or work again"),
        &["f"],
        why::nothing_to_break,
    ),
    change(
        Action::Faults,
        ("faults", "faults", "choose what goes wrong and when, and see what has fired"),
        &["F"],
        why::never,
    ),
    change(
        Action::EditScore,
        ("edit-score", "edit score", "type a new score for the selected tool"),
        &["e"],
        why::no_tool_to_change,
    ),
    change(
        Action::RaiseScore,
        ("raise-score", "score +1", "add 1 to the selected tool's score"),
        &["+", "="],
        why::no_tool_to_change,
    ),
    change(
        Action::LowerScore,
        ("lower-score", "score -1", "take 1 from the selected tool's score"),
        &["-"],
        why::no_tool_to_change,
    ),
    change(
        Action::ForgetScore,
        ("forget-score", "forget", "set the selected tool's score back to 0"),
        &["E"],
        why::nothing_scored,
    ),
    change(
        Action::Pin,
        ("pin", "pin", "hold the selected edge's weight at a value, or let it go"),
        &["p"],
        why::no_edge,
    ),
    change(
        Action::Freeze,
        ("freeze", "freeze", "freeze learning, or let evaluations change scores again"),
        &["L"],
        why::over,
    ),
    change(
        Action::TurnUp,
        ("turn-up", "knob up", "turn the selected knob up by one step"),
        &["]"],
        why::over,
    ),
    change(
        Action::TurnDown,
        ("turn-down", "knob down", "turn the selected knob down by one step"),
        &["["],
        why::over,
    ),
    change(
        Action::SetKnob,
        ("set-knob", "set knob", "type a value for the selected knob"),
        &["o"],
        why::over,
    ),
    change(
        Action::BudgetUp,
        (
            "budget-up",
            "budget +",
            "let a task cost one credit more; what is planned is planned anew",
        ),
        &["}"],
        why::over,
    ),
    change(
        Action::BudgetDown,
        (
            "budget-down",
            "budget -",
            "let a task cost one credit less; what is planned is planned anew",
        ),
        &["{"],
        why::over,
    ),
    change(
        Action::TauUp,
        ("tau-up", "tau +", "ask more of a tool before it is planned for"),
        &[")"],
        why::over,
    ),
    change(
        Action::TauDown,
        ("tau-down", "tau -", "ask less of a tool before it is planned for"),
        &["("],
        why::over,
    ),
    change(
        Action::UsesUp,
        ("uses-up", "uses +", "allow one use more of the selected tool, and plan around it"),
        &["*"],
        why::no_uses_to_set,
    ),
    change(
        Action::UsesDown,
        ("uses-down", "uses -", "allow one use less of the selected tool, and plan around it"),
        &["_"],
        why::no_uses_to_set,
    ),
    change(
        Action::SetUses,
        ("set-uses", "set uses", "type how often the selected tool may still be used in this task"),
        &["U"],
        why::no_uses_to_set,
    ),
    change(
        Action::Strategy,
        ("strategy", "strategy", "choose how the agent acts, from the next task on"),
        &["A"],
        why::over,
    ),
    change(
        Action::BindModel,
        ("model", "model", "choose the model that plays the selected role, from the next ask on"),
        &["m"],
        why::no_models,
    ),
    change(
        Action::SetClass,
        (
            "set-class",
            "class",
            "say of which class the selected tool is: what may be called together",
        ),
        &["C"],
        why::no_tool_to_change,
    ),
    change(
        Action::SwitchTool,
        ("switch-tool", "on/off", "take the selected tool off every menu, or put it back"),
        &["d"],
        why::no_tool_to_change,
    ),
    change(
        Action::ReloadTools,
        ("reload-tools", "reload", "read the tools' manifests again"),
        &["r"],
        why::over,
    ),
    change(
        Action::Undo,
        ("undo", "undo", "take back the latest change that you made"),
        &["u"],
        why::nothing_to_undo,
    ),
    look(Action::Open, ("open", "open", "look closer at what is selected"), &["enter"], why::never),
    look(
        Action::InspectTool,
        ("inspect-tool", "tool", "the selected tool: schema, score history, calls, faults"),
        &["i"],
        why::no_tool,
    ),
    look(
        Action::InspectPrompt,
        ("inspect-prompt", "prompt", "exactly what the model saw, with tokens for each part"),
        &["v"],
        why::no_asks,
    ),
    look(
        Action::InspectCall,
        ("inspect-call", "call", "the selected call or evidence: arguments and result in full"),
        &["c"],
        why::no_calls,
    ),
    look(
        Action::InspectPlan,
        (
            "inspect-budget-plan",
            "plan",
            "the latest plan: every candidate, why so many uses, and what changed",
        ),
        &["P"],
        why::no_plan,
    ),
    look(
        Action::GraphView,
        ("graph-view", "graph view", "show the graph as focus, map or matrix, in turn"),
        &["g"],
        why::never,
    ),
    look(
        Action::SortTools,
        ("sort-tools", "sort tools", "sort the tools by score, weight, calls or name, in turn"),
        &["O"],
        why::never,
    ),
    look(
        Action::Pairs,
        (
            "pairs",
            "pairs",
            "which models did the tasks of all sessions here, and how well and at what cost",
        ),
        &["w"],
        why::no_pairs,
    ),
    look(
        Action::SortPairs,
        (
            "sort-pairs",
            "sort pairs",
            "sort the pairs by accuracy, cost, tokens, steps, tasks, name",
        ),
        &["W"],
        why::no_pairs,
    ),
    look(
        Action::Messages,
        ("messages", "messages", "everything this screen has told you"),
        &["M"],
        why::never,
    ),
    past(
        Action::EventBack,
        ("event-back", "back", "look at the moment one event earlier; the agent runs on"),
        &[","],
        why::at_the_start,
    ),
    past(
        Action::EventForward,
        ("event-forward", "forward", "look at the moment one event later"),
        &["."],
        why::is_live,
    ),
    past(
        Action::StepBack,
        ("step-back", "step back", "look at the moment one step of the agent earlier"),
        &["<"],
        why::at_the_start,
    ),
    past(
        Action::StepForward,
        ("step-forward", "step forward", "look at the moment one step of the agent later"),
        &[">"],
        why::is_live,
    ),
    past(
        Action::PastStart,
        ("first-event", "start", "look at the very first event"),
        &["^", "ctrl-home"],
        why::at_the_start,
    ),
    past(
        Action::Live,
        ("live", "live", "look at the present again (Esc does it too)"),
        &["$", "ctrl-end"],
        why::is_live,
    ),
    go(Action::Up, ("up", "up", "up"), &["up", "k"]),
    go(Action::Down, ("down", "down", "down"), &["down", "j"]),
    go(
        Action::Left,
        ("left", "left", "left; in the knobs and the budget, turn down"),
        &["left", "h"],
    ),
    go(
        Action::Right,
        ("right", "right", "right; in the knobs and the budget, turn up"),
        &["right", "l"],
    ),
    go(Action::PageUp, ("page-up", "page up", "a page up"), &["pageup", "ctrl-u"]),
    go(Action::PageDown, ("page-down", "page down", "a page down"), &["pagedown", "ctrl-d"]),
    go(Action::Top, ("top", "top", "to the first line"), &["home"]),
    go(Action::Bottom, ("bottom", "bottom", "to the last line, and keep up"), &["end", "G"]),
    go(Action::NextPane, ("next-pane", "next pane", "to the next pane"), &["tab"]),
    go(
        Action::PreviousPane,
        ("previous-pane", "previous pane", "to the pane before"),
        &["shift-tab"],
    ),
    go(Action::Pane(PaneId::Graph), ("graph", "graph", "to the graph"), &["1"]),
    go(Action::Pane(PaneId::Transcript), ("transcript", "transcript", "to the transcript"), &["2"]),
    go(Action::Pane(PaneId::Tools), ("tools", "tools", "to the tools"), &["3"]),
    go(Action::Pane(PaneId::Knobs), ("knobs", "knobs", "to the knobs"), &["4", "K"]),
    go(Action::Pane(PaneId::Models), ("models", "models", "to the models"), &["5"]),
    go(Action::Pane(PaneId::Calls), ("calls", "calls", "to the calls: the workers' lanes"), &["6"]),
    go(Action::Pane(PaneId::Tasks), ("tasks", "tasks", "to the tasks"), &["7"]),
    go(Action::Pane(PaneId::Budget), ("budget", "budget", "to the budget"), &["8", "B"]),
    go(
        Action::Pane(PaneId::Search),
        ("search", "search", "to the planner's plan, or the search tree"),
        &["9"],
    ),
    go(Action::Zoom, ("zoom", "zoom", "give this pane the whole screen, or take it back"), &["z"]),
    go(Action::Find, ("find", "find", "find text in this pane"), &["/"]),
    go(
        Action::Leave,
        ("leave", "leave", "leave what is open: popup, search, past, zoom"),
        &["esc"],
    ),
    screen(Action::Help, ("help", "help", "every key, searchable"), &["?", "f1"]),
    screen(Action::Palette, ("palette", "palette", "find any action by its name"), &[":"]),
    screen(
        Action::Screenshot,
        ("screenshot", "screenshot", "write this screen to a file, as SVG and as text"),
        &["s"],
    ),
    screen(Action::NextTheme, ("next-theme", "theme", "the next theme"), &["T"]),
    screen(Action::Redraw, ("redraw", "redraw", "draw everything anew"), &["ctrl-l"]),
    screen(Action::Suspend, ("suspend", "suspend", "back to the shell; `fg` returns"), &["ctrl-z"]),
    screen(
        Action::Quit,
        ("quit", "quit", "leave toolyard; asks while the agent runs"),
        &["q", "ctrl-c"],
    ),
];
