//! The table of actions, in the order in which help and palette show them.

use super::{Action, Group, why};
use crate::domain::{Command, Knob, State};
use crate::ui::change::{self, no_tool, no_tool_to_change, over};
use crate::ui::layout::Side;
use crate::ui::popups::{
    Actions, Confirm, Faults, Find, PairTable, StrategyChoice, Subject, TaskEntry,
};
use crate::ui::request::{ScreenRequest, World, send};
use crate::ui::update::past::{self, Way};
use crate::ui::update::{self, arrange, control};
use crate::ui::window::{self, Move};
use crate::ui::{pane::PaneId, panes, view::View};

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
    pub keys: &'static [&'static str],
    why: Why,
    /// Does it: changes the view, and gives what it requests outside of the view.
    pub run: Run,
}

/// Why an action cannot be done now; `None`: it can.
type Why = fn(&State, &View) -> Option<&'static str>;

type Run = fn(&World<'_>, &mut View) -> Vec<ScreenRequest>;

impl Action {
    /// What is declared about it.
    pub fn spec(self) -> &'static ActionSpec {
        let at = ACTIONS.iter().position(|spec| spec.action == self);
        // A test keeps every action in the table; the first entry is a safe answer all the same.
        &ACTIONS[at.unwrap_or_default()]
    }

    pub fn by_name(name: &str) -> Option<Action> {
        ACTIONS.iter().find(|spec| spec.name == name).map(|spec| spec.action)
    }
}

impl ActionSpec {
    /// Why it cannot be done now, given what is true now; `None`: it can.
    pub fn why_not(&self, state: &State, view: &View) -> Option<&'static str> {
        (self.why)(state, view)
    }
}

type Keys = &'static [&'static str];

const fn run(action: Action, keys: Keys, why: Why, run: Run) -> ActionSpec {
    spec(Group::Run, action, keys, why, run)
}

const fn alter(action: Action, keys: Keys, why: Why, run: Run) -> ActionSpec {
    spec(Group::Change, action, keys, why, run)
}

const fn look(action: Action, keys: Keys, why: Why, run: Run) -> ActionSpec {
    spec(Group::Look, action, keys, why, run)
}

const fn past(action: Action, keys: Keys, why: Why, run: Run) -> ActionSpec {
    spec(Group::Past, action, keys, why, run)
}

const fn go(action: Action, keys: Keys, run: Run) -> ActionSpec {
    spec(Group::Move, action, keys, why::never, run)
}

const fn found(action: Action, run: Run) -> ActionSpec {
    spec(Group::Move, action, &[], why::nothing_found, run)
}

const fn screen(action: Action, keys: Keys, run: Run) -> ActionSpec {
    spec(Group::Screen, action, keys, why::never, run)
}

/// What only popups do; `why_not` refuses it elsewhere.
const fn popup(action: Action) -> ActionSpec {
    spec(Group::Popup, action, &[], why::only_in_popups, |_, _| Vec::new())
}

const fn spec(group: Group, action: Action, keys: Keys, why: Why, run: Run) -> ActionSpec {
    ActionSpec { action, group, name: "", short: "", doc: "", keys, why, run }
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
    run(Action::RunOrPause, &["space"], over, |world, _| control::run_or_pause(world.live))
        .named("run-or-pause", "run/pause")
        .does("run, or pause at the next boundaries"),
    run(Action::Step, &["n"], over, |_, _| send(Command::Step))
        .named("step", "step")
        .does("run to the next boundary: before or after a model or tool call"),
    run(Action::StepOut, &["o", "shift-f11"], over, |_, _| send(Command::StepTask))
        .named("step-out", "step out")
        .does("run to the end of this task"),
    run(Action::Remove, &["x"], why::nothing_to_remove, |world, view| {
        (panes::spec(view.focus).remove)(world.live, view)
    })
    .named("remove", "remove")
    .does("cancel the selected call; in the tools, forget the score; in the graph, unpin the edge"),
    run(Action::CancelAll, &["X"], why::nothing_runs, |world, _| control::cancel_all(world.live))
        .named("cancel-all", "cancel all")
        .does("cancel every call that runs or waits"),
    run(Action::HoldLane, &["H"], why::no_lane, |world, view| control::hold_lane(world.live, view))
        .named("hold-lane", "hold lane")
        .does("hold the selected call alone at its next boundary, or let it go on"),
    run(Action::Stop, &["S"], over, |_, view| view.open(Confirm::stop()))
        .named("stop", "stop")
        .does("end the session and cancel what runs; asks first"),
    run(Action::NewTask, &["t"], over, |_, view| view.open(TaskEntry::new()))
        .named("new-task", "new task")
        .does("write a task; it is queued last"),
    alter(Action::Fail, &["f"], why::nothing_to_break, |world, view| {
        change::toggle_fault(world.live, view)
    })
    .named("fail", "fail")
    .does("make the selected tool, role or model fail, or repair it"),
    alter(Action::AddFault, &["F"], over, |_, view| change::add_fault(view))
        .named("add-fault", "add fault")
        .does("choose target, trigger and kind of a fault"),
    alter(Action::Edit, &["e"], why::nothing_to_adjust, |world, view| {
        (panes::spec(view.focus).edit)(world, view)
    })
    .named("edit", "edit")
    .does("type a new score, knob, budget or number of uses: whatever is selected"),
    alter(Action::Less, &["-", "_"], why::nothing_to_adjust, |world, view| {
        (panes::spec(view.focus).turn)(world, view, false)
    })
    .named("less", "less")
    .does("one step less of what is selected: score, knob, budget, tau, uses"),
    alter(Action::More, &["+", "="], why::nothing_to_adjust, |world, view| {
        (panes::spec(view.focus).turn)(world, view, true)
    })
    .named("more", "more")
    .does("one step more of what is selected: score, knob, budget, tau, uses"),
    alter(Action::Switch, &["d"], no_tool_to_change, |world, view| {
        change::switch_tool(world.live, view)
    })
    .named("switch", "on/off")
    .does("switch the selected tool off or on"),
    alter(Action::Learning, &["L"], over, |_, _| change::turn(Knob::Learn, 1))
        .named("learning", "learning")
        .does("freeze learning, or let evaluations change scores again"),
    alter(Action::Strategy, &["A"], over, |world, view| view.open(StrategyChoice::new(world.live)))
        .named("strategy", "strategy")
        .does("choose the strategy, from the next task on"),
    alter(Action::Model, &["m"], why::no_models, |world, view| {
        change::bind_model(world.live, view)
    })
    .named("model", "model")
    .does("choose the model of the selected role, from the next model call on"),
    alter(Action::Pin, &[], why::no_edge, |world, view| change::pin(world.live, view))
        .named("pin", "pin")
        .does("pin the selected edge's weight at a value, or unpin it"),
    alter(Action::SetClass, &[], no_tool_to_change, |world, view| {
        change::set_class(world.live, view)
    })
    .named("set-class", "class")
    .does("set the tool's class (tools of one class run in parallel)"),
    alter(Action::ReloadTools, &[], over, |_, _| send(Command::ReloadTools))
        .named("reload-tools", "reload")
        .does("read the tools' manifests again"),
    alter(Action::CheckModels, &[], why::no_models, |_, _| send(Command::ProbeModels))
        .named("check-models", "check")
        .does("check again which models can be reached"),
    alter(Action::Undo, &["u"], why::nothing_to_undo, |_, _| send(Command::Undo))
        .named("undo", "undo")
        .does("undo your latest change; quick presses of one key are one change"),
    alter(Action::Redo, &["U", "ctrl-r"], why::nothing_to_redo, |_, _| send(Command::Redo))
        .named("redo", "redo")
        .does("do again what you undid last"),
    look(Action::Open, &["enter"], why::never, update::open)
        .named("open", "open")
        .does("show the details of what is selected"),
    look(Action::InspectTool, &["i"], no_tool, |_, view| {
        update::inspect(view, view.tool.clone().map(Subject::Tool))
    })
    .named("inspect-tool", "tool")
    .does("the selected tool: schema, score history, calls, faults"),
    look(Action::Prompt, &["v"], why::no_model_calls, |world, view| {
        update::inspect(view, view.model_call(world.shown).map(Subject::Prompt))
    })
    .named("prompt", "prompt")
    .does("exactly what the model saw, with tokens for each part"),
    look(Action::NextView, &["V"], why::one_view, |_, view| update::to_next(&mut view.graph))
        .named("next-view", "view")
        .does("the next view of this pane: the graph as focus, map or matrix"),
    look(Action::Sort, &["s"], why::no_order, |_, view| update::sort(view))
        .named("sort", "sort")
        .does("the next order of this list: tools by score, weight, calls or name"),
    look(Action::Pairs, &[], why::no_pairs, |_, view| view.open(PairTable::default()))
        .named("pairs", "pairs")
        .does("planner/solver pairs across sessions: accuracy and cost"),
    past(Action::EventBack, &[",", "alt-left"], why::at_the_start, |world, view| {
        past::to(world, view, Way::Event(-1))
    })
    .named("event-back", "event back")
    .does("look one event earlier; the agent runs on"),
    past(Action::EventForward, &[".", "alt-right"], why::is_live, |world, view| {
        past::to(world, view, Way::Event(1))
    })
    .named("event-forward", "event")
    .does("look one event later"),
    past(Action::StepBack, &["<"], why::at_the_start, |world, view| {
        past::to(world, view, Way::StepBack)
    })
    .named("step-back", "step back")
    .does("look one step of the agent earlier"),
    past(Action::StepForward, &[">"], why::is_live, |world, view| {
        past::to(world, view, Way::StepForward)
    })
    .named("step-forward", "time")
    .does("look one step of the agent later"),
    past(Action::PastStart, &["^", "ctrl-home"], why::at_the_start, |world, view| {
        past::to(world, view, Way::Start)
    })
    .named("first-event", "start")
    .does("look at the first event"),
    past(Action::Live, &["$", "ctrl-end"], why::is_live, |world, view| {
        past::to(world, view, Way::Live)
    })
    .named("live", "live")
    .does("look at the present again (esc does it too)"),
    go(Action::Up, &["up", "k"], |world, view| update::walk(world, view, Move::Up))
        .named("up", "up")
        .does("one line up"),
    go(Action::Down, &["down", "j"], |world, view| update::walk(world, view, Move::Down))
        .named("down", "down")
        .does("one line down"),
    go(Action::Left, &["left", "h"], |world, view| update::walk(world, view, Move::Left))
        .named("left", "left")
        .does("left"),
    go(Action::Right, &["right", "l"], |world, view| update::walk(world, view, Move::Right))
        .named("right", "right")
        .does("right"),
    go(Action::PageUp, &["pageup", "ctrl-u"], |world, view| {
        update::walk(world, view, Move::PageUp)
    })
    .named("page-up", "page up")
    .does("one page up"),
    go(Action::PageDown, &["pagedown", "ctrl-d"], |world, view| {
        update::walk(world, view, Move::PageDown)
    })
    .named("page-down", "page down")
    .does("one page down"),
    go(Action::Top, &["home", "g g"], |world, view| update::walk(world, view, Move::Top))
        .named("top", "top")
        .does("to the first line"),
    go(Action::Bottom, &["end", "G"], |world, view| update::walk(world, view, Move::Bottom))
        .named("bottom", "bottom")
        .does("to the last line, and follow"),
    go(Action::NextPane, &["tab"], |world, view| update::to_next_pane(world.shown, view, true))
        .named("next-pane", "pane")
        .does("to the next pane"),
    go(Action::PreviousPane, &["shift-tab"], |world, view| {
        update::to_next_pane(world.shown, view, false)
    })
    .named("previous-pane", "previous pane")
    .does("to the previous pane"),
    go(Action::Pane(PaneId::Graph), &["1"], |_, view| update::visit(view, PaneId::Graph))
        .named("graph", "graph")
        .does("to the graph; again: zoom it, as with every pane"),
    go(Action::Pane(PaneId::Transcript), &["2"], |_, view| update::visit(view, PaneId::Transcript))
        .named("transcript", "transcript")
        .does("to the transcript"),
    go(Action::Pane(PaneId::Tools), &["3"], |_, view| update::visit(view, PaneId::Tools))
        .named("tools", "tools")
        .does("to the tools"),
    go(Action::Pane(PaneId::Knobs), &["4"], |_, view| update::visit(view, PaneId::Knobs))
        .named("knobs", "knobs")
        .does("to the knobs"),
    go(Action::Pane(PaneId::Models), &["5"], |_, view| update::visit(view, PaneId::Models))
        .named("models", "models")
        .does("to the models"),
    go(Action::Pane(PaneId::Calls), &["6"], |_, view| update::visit(view, PaneId::Calls))
        .named("calls", "calls")
        .does("to the calls, a lane for each"),
    go(Action::Pane(PaneId::Tasks), &["7"], |_, view| update::visit(view, PaneId::Tasks))
        .named("tasks", "tasks")
        .does("to the tasks"),
    go(Action::Pane(PaneId::Budget), &["8"], |_, view| update::visit(view, PaneId::Budget))
        .named("budget", "budget")
        .does("to the budget"),
    go(Action::Pane(PaneId::Plan), &["9"], |_, view| update::visit(view, PaneId::Plan))
        .named("plan", "plan")
        .does("to the planner's plan"),
    go(Action::Pane(PaneId::Search), &["g s"], |_, view| update::visit(view, PaneId::Search))
        .named("search", "search")
        .does("to the search tree"),
    go(Action::Faults, &["g f"], |world, view| view.open(Faults::new(world.live, view)))
        .named("faults", "faults")
        .does("list the faults: arm, disarm, add, change them"),
    go(Action::Messages, &["g m"], |_, view| update::inspect(view, Some(Subject::Messages)))
        .named("messages", "messages")
        .does("everything this screen has said"),
    go(Action::Find, &["/"], |_, view| view.open(Find::in_pane(view.focus)))
        .named("find", "find")
        .does("filter this list, or find in this text"),
    found(Action::NextMatch, |world, view| {
        update::find_next(world.shown, view, window::Find::Next)
    })
    .named("next-match", "next")
    .does("to the next match"),
    found(Action::PreviousMatch, |world, view| {
        update::find_next(world.shown, view, window::Find::Previous)
    })
    .named("previous-match", "previous")
    .does("to the previous match"),
    go(Action::Leave, &["esc"], |_, view| update::leave(view))
        .named("leave", "leave")
        .does("leave what is open: popup, filter, search, past, zoom"),
    screen(Action::Zoom, &["z"], |_, view| update::zoom(view))
        .named("zoom", "zoom")
        .does("give this pane the whole screen, or take it back"),
    screen(Action::Taller, &["ctrl-w +"], |world, view| {
        arrange::resize(world, view, Side::Height, 1)
    })
    .named("taller", "taller")
    .does("one row more for this pane"),
    screen(Action::Shorter, &["ctrl-w -"], |world, view| {
        arrange::resize(world, view, Side::Height, -1)
    })
    .named("shorter", "shorter")
    .does("one row less for this pane"),
    screen(Action::Wider, &["ctrl-w >"], |world, view| {
        arrange::resize(world, view, Side::Width, 2)
    })
    .named("wider", "wider")
    .does("two columns more for this pane"),
    screen(Action::Narrower, &["ctrl-w <"], |world, view| {
        arrange::resize(world, view, Side::Width, -2)
    })
    .named("narrower", "narrower")
    .does("two columns less for this pane"),
    screen(Action::Equal, &["ctrl-w ="], |_, view| arrange::equal(view))
        .named("equal", "equal")
        .does("the same size for all panes"),
    screen(Action::HidePane, &["ctrl-w q"], arrange::hide)
        .named("hide-pane", "hide pane")
        .does("hide this pane; its key shows it again"),
    screen(Action::AddPane, &["ctrl-w a"], |_, view| arrange::add(view))
        .named("add-pane", "add pane")
        .does("choose a pane for this place"),
    screen(Action::OnlyPane, &["ctrl-w o"], |_, view| arrange::only(view))
        .named("only-pane", "only pane")
        .does("hide all other panes"),
    screen(Action::SaveLayout, &["ctrl-w s"], |_, _| vec![ScreenRequest::SaveLayout])
        .named("save-layout", "save layout")
        .does("save this layout for the strategy and for screens of this size"),
    screen(Action::ResetLayout, &["ctrl-w r"], |_, view| arrange::reset(view))
        .named("reset-layout", "reset layout")
        .does("the standard layout of the strategy"),
    screen(Action::Help, &["?", "f1"], |world, view| view.open(Actions::help(world, view)))
        .named("help", "help")
        .does("every key, searchable"),
    screen(Action::Palette, &[":"], |world, view| view.open(Actions::palette(world, view)))
        .named("palette", "all")
        .does("find any action by its name"),
    screen(Action::Screenshot, &["y s"], |_, _| vec![ScreenRequest::Shoot])
        .named("screenshot", "screenshot")
        .does("write this screen to a file, as SVG and as text"),
    screen(Action::NextTheme, &["ctrl-w t", "Z t"], |_, _| vec![ScreenRequest::NextTheme])
        .named("next-theme", "theme")
        .does("the next theme"),
    screen(Action::Redraw, &["ctrl-l"], |_, _| vec![ScreenRequest::Redraw])
        .named("redraw", "redraw")
        .does("draw the whole screen again"),
    screen(Action::Suspend, &["ctrl-z"], |_, _| vec![ScreenRequest::Suspend])
        .named("suspend", "suspend")
        .does("back to the shell; `fg` returns"),
    screen(Action::Quit, &["q", "ctrl-c"], control::quit)
        .named("quit", "quit")
        .does("leave toolyard; asks while the agent runs"),
    popup(Action::Accept).named("accept", "choose").does("choose, set, or say yes"),
    popup(Action::Toggle).named("toggle", "on/off").does("switch the selected row on or off"),
    popup(Action::NextSection)
        .named("next-section", "section")
        .does("to the next section of the list"),
    popup(Action::Add).named("add", "new").does("add a row"),
    popup(Action::NewLine).named("new-line", "new line").does("begin a new line of text"),
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
    }

    #[test]
    fn every_pane_can_be_gone_to() {
        for pane in PaneId::ALL.iter().copied() {
            assert_eq!(Action::Pane(pane).spec().action, Action::Pane(pane));
        }
    }
}
