//! Keys as a person types them, and what comes of them.

mod arrange;
mod choosers;
pub mod debug;
mod edits;
mod faults;
mod finding;
mod help;
mod lanes;
mod layers;
mod moments;
mod pagers;
mod queue;

use std::sync::Arc;

use ratatui::crossterm::event::{
    Event as Input, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseEventKind,
};
use toolyard::domain::state::{Keeps, RECENT, State};
use toolyard::domain::{
    Base, Boundary, By, ChangeEvent, Command, ControlEvent, EffectId, Knob, Lane, Resume,
    SessionEvent, TaskId, ToolName,
};
use toolyard::ui::action::{ACTIONS, Action, Group};
use toolyard::ui::history::History;
use toolyard::ui::keymap::Keymap;
use toolyard::ui::popups::{Actions, Popup};
use toolyard::ui::request::{ScreenRequest, World};
use toolyard::ui::view::{GraphView, ReadOnly};
use toolyard::ui::{hits::Target, pane::PaneId, screen::Setup};

use crate::spending;
use crate::stage::{Stage, setup};
use crate::story::{self, Story};

fn stage() -> Stage {
    Stage::of(&story::demo())
}

/// The only command that these keys send.
pub fn command(stage: &mut Stage, keys: &str) -> Command {
    let effects = stage.press(keys);
    match effects.as_slice() {
        [ScreenRequest::Send(command)] => command.clone(),
        other => panic!("{keys:?} gives {other:?}\n{}", stage.text()),
    }
}

fn tool(name: &str) -> ToolName {
    ToolName::from(name)
}

#[test]
fn a_pane_that_was_chosen_before_the_tools_came_keeps_the_focus() {
    let story = story::demo();
    let mut stage = Stage::with(&Story::unopened(), Setup { read_only: None, ..setup() });
    let [opened, rest @ ..] = &story.records[..] else { panic!("nothing is told") };
    stage.screen.receive(Arc::new(opened.clone()));
    stage.press("3");
    let focus = stage.screen.view.focus;
    assert_eq!(focus, PaneId::Tools);
    rest.iter().for_each(|record| stage.screen.receive(Arc::new(record.clone())));
    assert_eq!(stage.screen.view.focus, focus);
    assert!(stage.screen.view.tool.is_some());
}

#[test]
fn keys_send_commands() {
    let cases: &[(&str, Command)] = &[
        ("space", Command::Pause),
        ("n", Command::Step),
        ("o", Command::StepTask),
        ("6 x", Command::Cancel(EffectId(30))),
        ("f8", Command::Cancel(EffectId(30))),
        ("S y", Command::Stop),
        ("u", Command::Undo),
        ("3 I", Command::ReloadTools),
        ("L", Command::TurnKnobBy { knob: Knob::Learn, steps: 1 }),
        ("4 +", Command::TurnKnobBy { knob: Knob::Alpha, steps: 1 }),
        ("4 -", Command::TurnKnobBy { knob: Knob::Alpha, steps: -1 }),
        ("4 e 2 enter", Command::TurnKnob { knob: Knob::Alpha, value: 2.0 }),
        ("4 down -", Command::TurnKnobBy { knob: Knob::Beta, steps: -1 }),
        ("4 down enter up enter", Command::TurnKnob { knob: Knob::Beta, value: 0.5 }),
        ("A down enter", Command::UseStrategy { strategy: Base::Dfsdt.into() }),
        ("e 3 enter", Command::SetScore { tool: tool("search_web"), score: 3.0 }),
        ("e - 2 . 5 enter", Command::SetScore { tool: tool("search_web"), score: -2.5 }),
        ("e up up enter", Command::SetScore { tool: tool("search_web"), score: 1.0 }),
        ("+", Command::AddScore { tool: tool("search_web"), by: 1.0 }),
        ("-", Command::AddScore { tool: tool("search_web"), by: -1.0 }),
        ("3 x", Command::ForgetScore { tool: tool("search_web") }),
        ("d", Command::SwitchTool { tool: tool("search_web"), on: false }),
        ("f", Command::ArmFault { spec: "calculator:error".parse().unwrap() }),
    ];
    for (keys, expected) in cases {
        assert_eq!(command(&mut stage(), keys), *expected, "{keys}");
    }
}

#[test]
fn a_budget_is_turned_as_it_lies_and_uses_are_typed() {
    let uses = |name: &str, uses| Command::SetUses { tool: tool(name), uses };
    let more = |name: &str, by| Command::AddUses { tool: tool(name), by };
    let turn = |knob, steps| Command::TurnKnobBy { knob, steps };
    for (keys, expected) in [
        ("8 +", turn(Knob::Budget, 1)),
        ("8 -", turn(Knob::Budget, -1)),
        ("8 down +", turn(Knob::Tau, 1)),
        ("8 down _", turn(Knob::Tau, -1)),
        ("8 e 7 enter", Command::TurnKnob { knob: Knob::Budget, value: 7.0 }),
        ("8 down down -", more("search_web", -1)),
        ("8 down down +", more("search_web", 1)),
        ("8 down down down down e 5 enter", uses("calculator", 5)),
        ("8 down down e up up enter", uses("search_web", 3)),
    ] {
        let mut stage = Stage::of(&spending::btp());
        assert_eq!(command(&mut stage, keys), expected, "{keys}");
    }
    let mut stage = Stage::of(&spending::btp());
    stage.press("8 end enter");
    assert!(stage.shows("Candidates: 7"), "{}", stage.text());
    stage.press("esc up up up +");
    assert!(stage.shows("blacklisted for this task"), "{}", stage.text());
    let mut stage = self::stage();
    stage.press("8 end +");
    assert!(stage.shows("the current task has no budget plan"), "{}", stage.text());
}

#[test]
fn a_node_of_the_search_opens_its_call_or_its_prompt() {
    let mut stage = Stage::of(&spending::search());
    stage.press("g s enter");
    assert!(stage.shows("Prompt of model call"), "{}", stage.text());
    stage.press("esc left enter");
    assert!(stage.shows("Call 10"), "{}", stage.text());
}

#[test]
fn space_runs_what_is_held_and_holds_what_runs() {
    let mut stage = stage();
    assert_eq!(command(&mut stage, "space"), Command::Pause);
    stage.tell(ControlEvent::PauseRequested { by: By::User, run: None });
    assert!(stage.shows("PAUSING (1 call in flight)"), "{}", stage.text());
    assert_eq!(command(&mut stage, "space"), Command::Run);
    stage.tell(ControlEvent::Held {
        lane: Lane::Effect(EffectId(30)),
        boundary: Boundary::AfterToolCall,
    });
    stage.tell(ControlEvent::Paused { run: None });
    assert!(stage.shows("PAUSED · after a tool call (calculator #30)"), "{}", stage.text());
    assert_eq!(command(&mut stage, "space"), Command::Run);
    stage.tell(ControlEvent::Resumed { how: Resume::Step, by: By::User, run: None });
    assert!(stage.shows("STEPPING"));
    assert_eq!(command(&mut stage, "space"), Command::Pause);
}

#[test]
fn space_means_run_before_the_session_has_said_anything() {
    let mut stage = Stage::of(&Story::unopened());
    assert!(stage.shows("OPENING") && !stage.shows("RUNNING"), "{}", stage.text());
    assert_eq!(command(&mut stage, "space"), Command::Run);
    assert_eq!(stage.press("q"), [ScreenRequest::Quit]);
}

#[test]
fn a_pinned_weight_is_let_go_and_a_free_one_is_typed() {
    let mut stage = stage();
    stage.press("p");
    assert!(stage.shows("no edge is selected"), "{}", stage.text());
    stage.screen.view.edge = Some((tool("read_page"), tool("summarize")));
    let unpin = Command::UnpinWeight { from: tool("read_page"), to: tool("summarize") };
    assert_eq!(command(&mut stage, "p"), unpin);
    stage.screen.view.edge = Some((tool("read_page"), tool("calculator")));
    let weight = 0.9;
    let pin = Command::PinWeight { from: tool("read_page"), to: tool("calculator"), weight };
    stage.press("p");
    stage.write("1.9");
    assert_eq!(stage.press("enter"), []);
    assert!(stage.shows("`1.9` is not a number from 0 to 1"), "{}", stage.text());
    stage.press("backspace backspace backspace");
    stage.write("0.9");
    assert_eq!(command(&mut stage, "enter"), pin);
}

#[test]
fn a_wrong_knob_value_says_what_it_takes() {
    let mut stage = stage();
    stage.press("4 down enter 7 enter");
    assert!(stage.shows("beta takes a number from 0 to 1"), "{}", stage.text());
    assert_eq!(stage.press("esc"), []);
    assert!(stage.screen.view.popups.is_empty());
}

#[test]
fn quick_presses_ask_for_as_many_steps_before_any_is_answered() {
    let mut stage = Stage::of(&spending::btp());
    let step = ScreenRequest::Send(Command::TurnKnobBy { knob: Knob::Budget, steps: 1 });
    assert_eq!(stage.press("8 + + + + + + + +"), vec![step; 8]);
}

#[test]
fn tasks_are_written_in_lines_and_keys_in_them_only_type() {
    let mut stage = stage();
    stage.press("t");
    stage.write("quit? f n S");
    stage.press("alt-enter");
    stage.screen.handle(&Input::Paste("second\r\nthird \x1b[2J".into()));
    let text = "quit? f n S\nsecond\nthird [2J".to_owned();
    assert_eq!(command(&mut stage, "enter"), Command::QueueTask { text });
    // Nothing but spaces is no task.
    assert_eq!(stage.press("t space enter"), []);
    assert_eq!(stage.press("esc"), []);
}

#[test]
fn every_action_is_found_by_its_name_in_the_palette_and_in_the_help() {
    let (stage, keymap) = (stage(), Keymap::default());
    let (live, view) = (stage.screen.live(), &stage.screen.view);
    let world = World {
        live,
        shown: live,
        history: &History::default(),
        keymap: &keymap,
        demos: &[],
        commands: &[],
    };
    for spec in ACTIONS.iter().filter(|spec| spec.group != Group::Popup) {
        for mut actions in [Actions::palette(&world, view), Actions::help(&world, view)] {
            actions.paste(spec.name);
            assert_eq!(actions.chosen(), Some(spec.action), "{}", spec.name);
        }
    }
}

#[test]
fn the_palette_does_what_is_chosen_and_the_help_finds_keys_and_words() {
    let mut stage = stage();
    stage.press(":");
    stage.write("stp ou");
    assert_eq!(command(&mut stage, "enter"), Command::StepTask);
    stage.press("?");
    stage.press("tab tab");
    assert!(stage.shows("║ Change"), "{}", stage.text());
    stage.write("manifests");
    assert!(stage.shows("reload-tools") && !stage.shows("║ Change"), "{}", stage.text());
    stage.press("esc ?");
    stage.write("ctrl-z");
    assert_eq!(stage.press("enter"), [ScreenRequest::Suspend]);
}

#[test]
fn what_cannot_be_done_says_why() {
    let mut stage = Stage::of(&Story::open());
    for (keys, why) in [
        ("f", "fail: no tool is known yet"),
        ("3 x", "the selected tool has no score"),
        ("u", "nothing to undo"),
        ("U", "nothing to redo"),
        ("6 x", "nothing is running"),
        ("v", "no model call yet"),
        (">", "already at the present"),
    ] {
        assert_eq!(stage.press(keys), [], "{keys}");
        assert!(stage.shows(why), "{keys}: {}", stage.text());
    }
    // The next key takes the message away.
    stage.press("tab");
    assert!(!stage.shows("already at the present"));
}

#[test]
fn a_replay_is_looked_at_and_never_changed() {
    let setup = Setup { read_only: Some(ReadOnly::Replay), ..setup() };
    let mut stage = Stage::with(&story::demo(), setup);
    let offers_undo = |stage: &Stage| {
        stage.screen.view.messages.iter().any(|message| message.text.ends_with("u undoes"))
    };
    assert!(!offers_undo(&stage), "nothing can be undone there");
    assert!(offers_undo(&self::stage()), "in a live session the same changes can be");
    for spec in ACTIONS {
        let changes = [
            "space", "n", "o", "x", "X", "S", "t", "f", "F", "e", "+", "-", "L", "A", "m", "u", "U",
        ];
        let changes = spec.keys.first().filter(|key| changes.contains(key));
        if let Some(key) = changes {
            assert_eq!(stage.press(key), [], "{}", spec.name);
            assert!(stage.shows("a replay is read-only"), "{}", spec.name);
        }
    }
    assert_eq!(stage.press("q"), [ScreenRequest::Quit]);
}

#[test]
fn leaving_asks_while_the_agent_is_at_work() {
    let mut stage = stage();
    assert_eq!(stage.press("q"), []);
    assert!(stage.shows("1 running call is cancelled."), "{}", stage.text());
    assert_eq!(stage.press("n"), []);
    assert_eq!(stage.press("q q"), [ScreenRequest::Quit]);
    assert_eq!(stage.press("ctrl-c ctrl-c"), [ScreenRequest::Quit]);
    stage.tell(SessionEvent::SessionEnded { why: "stopped".into(), totals: None });
    assert_eq!(stage.press("q"), [ScreenRequest::Quit]);
}

#[test]
fn panes_are_gone_to_zoomed_and_left() {
    let mut stage = stage();
    assert_eq!(stage.screen.view.focus, PaneId::Graph);
    // In the order of reading, and round.
    let placed = stage.screen.view.placed.clone();
    let seen: Vec<PaneId> = placed.iter().map(|placed| placed.pane).collect();
    for pane in seen.iter().skip(1).chain(&seen[..1]) {
        stage.press("tab");
        assert_eq!(stage.screen.view.focus, *pane);
    }
    stage.press("shift-tab");
    assert_eq!(stage.screen.view.focus, seen[seen.len() - 1]);
    for (key, pane) in ["1", "2", "3", "4", "5", "6", "7", "8", "9"].iter().zip(PaneId::ALL) {
        stage.press(key);
        assert_eq!(stage.screen.view.focus, *pane);
    }
    // The key of the pane that has the focus zooms it.
    stage.press("7 7");
    assert!(stage.shows("7 Tasks") && !stage.shows("1 Graph"), "{}", stage.text());
    stage.press("2");
    assert_eq!(stage.screen.view.zoom, Some(PaneId::Transcript));
    stage.press("esc");
    assert_eq!(stage.screen.view.zoom, None);
    stage.press("1 V V");
    assert_eq!(stage.screen.view.graph, GraphView::Matrix);
}

#[test]
fn the_past_is_looked_at_while_the_agent_runs_on() {
    let mut stage = stage();
    let last = stage.screen.live().n;
    stage.press(", ,");
    assert_eq!(stage.screen.shown().n, last - 2);
    assert!(stage.shows("LIVE +2"), "{}", stage.text());
    stage.tell(SessionEvent::Noticed { text: "meanwhile".into() });
    assert!(stage.shows("LIVE +3"));
    assert_eq!(stage.screen.shown().n, last - 2);
    stage.press("<");
    let step = stage.screen.shown().n;
    assert!(step < last - 2);
    stage.press("<");
    assert!(stage.screen.shown().n < step);
    stage.press(">");
    assert_eq!(stage.screen.shown().n, step);
    stage.press("^");
    assert_eq!(stage.screen.shown().n, 1);
    assert_eq!(stage.press(","), []);
    assert!(stage.shows("this is the first event"), "{}", stage.text());
    stage.press("$");
    assert_eq!(stage.screen.shown().n, last + 1);
    // Forward from the last but one is the present, and Esc is a way there too.
    stage.press(", .");
    assert_eq!(stage.screen.view.moment, None);
    stage.press("^ esc");
    assert_eq!(stage.screen.view.moment, None);
    // What is commanded meanwhile means now.
    assert_eq!(command(&mut stage, "^ space"), Command::Pause);
}

#[test]
fn every_past_state_is_the_fold_up_to_there() {
    let story = story::demo();
    let mut stage = Stage::of(&story);
    for keys in ["^", ".", ".", ">", ">", ",", "<", "<", ",", ".", ">", ">"] {
        stage.press(keys);
        let n = stage.screen.view.moment.unwrap();
        let mut folded = State::keeping(Keeps::Details(RECENT));
        story.records[..n as usize].iter().for_each(|record| folded.apply(record));
        assert_eq!(*stage.screen.shown(), folded, "after {keys} at {n}");
    }
}

#[test]
fn enter_looks_closer_at_what_is_selected() {
    let mut stage = stage();
    let mut shows = |keys: &str, title: &str| {
        stage.press(keys);
        assert_eq!(stage.screen.view.popups.len(), 1, "{keys}");
        assert!(stage.shows(&format!("╔ {title} ")), "{keys}: {}", stage.text());
    };
    shows("3 enter", "Tool search_web");
    shows("esc 6 enter", "Call 30");
    // The call before it.
    shows("left", "Call 28");
    shows("esc 7 enter", "Task 5");
    shows("q v", "Prompt of model call 29: exactly what the model saw");
    shows("esc g m", "Messages");
    // The agent can be held while its prompt is read.
    stage.press("esc v");
    assert_eq!(command(&mut stage, "f5"), Command::Pause);
    assert!(stage.shows("╔ Prompt of model call 29"), "{}", stage.text());
}

#[test]
fn releases_are_no_presses_and_unknown_keys_do_nothing() {
    let mut stage = stage();
    let key = KeyEvent::new(KeyCode::Char('n'), KeyModifiers::NONE);
    let release = KeyEvent { kind: KeyEventKind::Release, ..key };
    assert_eq!(stage.screen.handle(&Input::Key(release)), []);
    let repeat = KeyEvent { kind: KeyEventKind::Repeat, ..key };
    assert_eq!(stage.screen.handle(&Input::Key(repeat)), [ScreenRequest::Send(Command::Step)]);
    assert_eq!(stage.press("alt-x f6 é"), []);
}

#[test]
fn the_user_s_keys_work_and_are_shown() {
    let changed = [("step".to_owned(), vec!["f6".to_owned()])].into();
    let (keymap, errors) = Keymap::new(&changed);
    assert_eq!(errors, []);
    let mut stage = Stage::with(&story::demo(), Setup { keymap, ..setup() });
    assert!(stage.shows("f6 step"), "{}", stage.text());
    assert_eq!(stage.press("n"), []);
    assert_eq!(command(&mut stage, "f6"), Command::Step);
}

#[test]
fn the_mouse_selects_opens_scrolls_and_presses() {
    let mut stage = stage();
    stage.click(&Target::Tool(tool("wikipedia")));
    assert_eq!(stage.screen.view.tool, Some(tool("wikipedia")));
    stage.click(&Target::Task(TaskId(5)));
    assert_eq!(stage.screen.view.focus, PaneId::Tasks);
    // A second click looks closer.
    stage.click(&Target::Task(TaskId(5)));
    assert!(stage.shows("╔ Task 5 "), "{}", stage.text());
    // Below a popup nothing is hit.
    assert!(stage.screen.hits().targets().all(|(_, target)| !matches!(target, Target::Tool(_))));
    stage.press("esc");
    let step = stage.click(&Target::Action(Action::Step));
    assert_eq!(step, [ScreenRequest::Send(Command::Step)]);

    let transcript = stage.screen.view.windows[PaneId::Transcript as usize];
    let (x, y) = stage
        .screen
        .hits()
        .targets()
        .find(|(_, target)| *target == Target::Pane(PaneId::Transcript))
        .map(|(area, _)| (area.x + 5, area.y + 3))
        .unwrap();
    stage.mouse(MouseEventKind::ScrollUp, x, y);
    let scrolled = stage.screen.view.windows[PaneId::Transcript as usize];
    assert!(scrolled.first < transcript.first, "{transcript:?} {scrolled:?}");
    assert_eq!(stage.screen.view.focus, PaneId::Tasks);
}

#[test]
fn tabs_are_clicked_on_small_screens() {
    let mut stage = stage().sized(80, 24);
    stage.click(&Target::Action(Action::Pane(PaneId::Knobs)));
    assert_eq!(stage.screen.view.focus, PaneId::Knobs);
    assert!(stage.shows("alpha") && stage.shows("4 Knobs"), "{}", stage.text());
}

#[test]
fn questions_are_answered_by_clicking() {
    let mut stage = stage();
    stage.press("S");
    assert_eq!(stage.click(&Target::PopupRow(1)), []);
    assert!(stage.screen.view.popups.is_empty());
    stage.press("S");
    assert_eq!(stage.click(&Target::PopupRow(0)), [ScreenRequest::Send(Command::Stop)]);
}

#[test]
fn a_change_says_how_to_undo_it_and_an_undo_how_to_redo_it() {
    let mut stage = Stage::of(&Story::open());
    let turned = |value: f64, was: f64, by| {
        let (value, was) = (value.into(), was.into());
        ChangeEvent::KnobTurned { knob: Knob::Alpha, value, was, by }
    };
    stage.tell(turned(0.55, 0.5, By::User));
    assert!(stage.shows("alpha: 0.50 → 0.55 · u undoes"), "{}", stage.text());
    stage.tell(turned(0.6, 0.55, By::User));
    assert!(stage.shows("alpha: 0.50 → 0.60 · u undoes"), "{}", stage.text());
    let first = stage.screen.live().control.changes.undo[0].n;
    assert_eq!(command(&mut stage, "u"), Command::Undo);
    stage.tell(turned(0.5, 0.6, By::Undo(first)));
    assert!(stage.shows("undone · alpha: 0.60 → 0.50 · U redoes"), "{}", stage.text());
    let undo = stage.screen.live().n;
    assert_eq!(command(&mut stage, "U"), Command::Redo);
    assert_eq!(command(&mut stage, "ctrl-r"), Command::Redo);
    stage.tell(turned(0.6, 0.5, By::Redo(undo)));
    assert!(stage.shows("redone · alpha: 0.50 → 0.60 · u undoes"), "{}", stage.text());
    assert!(stage.shows("✎ redone: alpha: 0.50 → 0.60"), "{}", stage.text());
    // Back where it was: there is nothing to undo.
    stage.tell(turned(0.65, 0.6, By::User));
    stage.tell(turned(0.6, 0.65, By::User));
    assert!(stage.text().trim_end().ends_with("✓ alpha: 0.65 → 0.60"), "{}", stage.text());
}
