//! Tuning by hand: what a preview of a knob promises, and what the engine then does.

use std::rc::Rc;
use std::sync::Arc;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use toolyard::app::session::{JournalChoice, SessionHandle, SessionSpec};
use toolyard::domain::{
    Boundary, BudgetEvent, ChangeEvent, Command, ControlEvent, Event, Knob, Lexical, Record, State,
    TaskEvent, ToolName,
};
use toolyard::strategy::preview::{Preview, PreviewSide, Shows};

use crate::program::Home;

mod sweeping;

/// Steps of knobs that move menus.
const OF_MENUS: [(Knob, i32); 7] = [
    (Knob::Alpha, 1),
    (Knob::Beta, -1),
    (Knob::Alpha, -1),
    (Knob::MenuMax, -1),
    (Knob::Beta, 1),
    (Knob::Explore, -1),
    (Knob::Explore, 1),
];

/// A session of the samples that is held at each boundary.
struct Live {
    records: UnboundedReceiver<Arc<Record>>,
    commands: UnboundedSender<Command>,
    state: State,
}

impl Live {
    fn start(home: &Home, toml: &str) -> Self {
        toolyard::process::set_reaper(env!("CARGO_BIN_EXE_toolyard").into());
        home.write("config.toml", "");
        let spec: SessionSpec = toml::from_str(toml).unwrap();
        let spec = SessionSpec {
            config: Some(home.path("config.toml")),
            fresh: true,
            paused: true,
            journal: JournalChoice::None,
            ..spec
        };
        let SessionHandle { records, commands, .. } = spec.prepare().unwrap().spawn().unwrap();
        Self { records, commands, state: State::default() }
    }

    /// The next event of which this holds; `None`: the session has ended.
    fn until(&mut self, is_it: impl Fn(&Event) -> bool) -> Option<Arc<Record>> {
        loop {
            let record = self.records.blocking_recv()?;
            self.state.apply(&record);
            if is_it(&record.event) {
                return Some(record);
            }
        }
    }

    fn send(&self, command: Command) {
        self.commands.send(command).unwrap();
    }

    /// Runs until all is held again, and gives where it is held last; `None`: the session has ended.
    fn step(&mut self) -> Option<Boundary> {
        self.send(Command::Step);
        self.until(is_paused)?;
        self.state.control.held.last().map(|hold| hold.boundary)
    }

    fn ahead(&self, knob: Knob) -> Preview {
        let index =
            || Rc::new(Lexical::of_session(self.state.tools.values().map(|tool| &*tool.spec)));
        Preview::of(&self.state, index, knob)
    }

    /// Turns a knob, and waits until it is turned; false if it was at its limit.
    fn turn(&mut self, knob: Knob, steps: i32) {
        self.send(Command::TurnKnobBy { knob, steps });
        self.until(|event| matches!(event, Event::Change(ChangeEvent::KnobTurned { .. }))).unwrap();
    }
}

fn is_paused(event: &Event) -> bool {
    matches!(event, Event::Control(ControlEvent::Paused { .. }))
}

/// The menu of the last step, as a preview shows it.
fn menu(state: &State) -> Vec<(ToolName, Option<f64>)> {
    let step = state.task_at_work().unwrap().steps.last().unwrap();
    step.menu.iter().map(|item| (item.tool.clone(), item.weight.map(f64::from))).collect()
}

fn has_changed(ahead: &Preview, then: &PreviewSide) -> bool {
    let order =
        |side: &PreviewSide| side.tools.iter().map(|(tool, _)| tool.clone()).collect::<Vec<_>>();
    order(&ahead.now) != order(then)
}

#[test]
fn a_preview_of_a_menu_is_the_menu_that_the_engine_makes_next() {
    let home = Home::new();
    let mut live = Live::start(
        &home,
        "strategy = \"toolnet\"\nseed = 1\ntasks_limit = 14\nfaults = [\"search_web:error:p=0.5\"]",
    );
    live.until(|event| matches!(event, Event::Control(ControlEvent::Held { .. }))).unwrap();
    let mut knobs = OF_MENUS.iter().cycle();
    let (mut as_it_is, mut turned, mut changed) = (0, 0, 0);
    while let Some(boundary) = live.step() {
        let Some(task) = live.state.task_at_work() else { continue };
        if task.outcome().is_some() || task.steps.is_empty() {
            continue;
        }
        // Later menus change the array of tools that the menu after them is made of.
        if boundary == Boundary::BeforeModelCall && task.steps.len() == 1 {
            let ahead = live.ahead(Knob::Alpha);
            assert!(matches!(ahead.shows, Shows::Menu { .. }), "{:?}", ahead.shows);
            assert_eq!(ahead.now.tools, menu(&live.state), "step {as_it_is}");
            as_it_is += 1;
        }
        if boundary != Boundary::AfterToolCall {
            continue;
        }
        let (knob, steps) = *knobs.next().unwrap();
        let ahead = live.ahead(knob);
        let Some(then) = ahead.side(steps > 0) else { continue };
        let before = live.state.task_at_work().unwrap().steps.len();
        live.turn(knob, steps);
        live.send(Command::Step);
        let next = |event: &Event| {
            matches!(
                event,
                Event::Task(TaskEvent::StepStarted { .. } | TaskEvent::TaskFinished { .. })
            )
        };
        live.until(next).unwrap();
        if live.state.at_work.is_empty() {
            continue;
        }
        let steps = live.state.task_at_work().map_or(0, |task| task.steps.len());
        if steps > before {
            assert_eq!(then.tools, menu(&live.state), "{knob} {steps}");
            turned += 1;
            changed += usize::from(has_changed(&ahead, then));
            live.until(is_paused).unwrap();
        }
    }
    assert!(as_it_is > 10 && turned > 14 && changed > 2, "{as_it_is} {turned} {changed}");
}

#[test]
fn a_preview_of_a_plan_is_the_plan_that_turning_the_knob_makes() {
    let home = Home::new();
    let mut live = Live::start(
        &home,
        "strategy = \"react+btp\"\nseed = 1\ntasks_limit = 24\nknobs = { budget = 9 }",
    );
    live.until(|event| matches!(event, Event::Control(ControlEvent::Held { .. }))).unwrap();
    let knobs = [
        (Knob::Budget, -1),
        (Knob::Tau, 1),
        (Knob::Estimate, 1),
        (Knob::Budget, 1),
        (Knob::Tau, -1),
        (Knob::Judge, 1),
    ];
    let (mut compared, mut changed) = (0, 0);
    let mut next = knobs.iter().cycle();
    while let Some(boundary) = live.step() {
        let has_plan = live.state.in_shown().has_plan() && boundary == Boundary::BeforeModelCall;
        if !has_plan {
            continue;
        }
        let (knob, steps) = *next.next().unwrap();
        let ahead = live.ahead(knob);
        assert_eq!(ahead.shows, Shows::Plan);
        let budget = live.state.task_at_work().unwrap().budget.clone();
        let left: Vec<_> =
            ahead.now.tools.iter().map(|(tool, _)| budget.left(tool.as_str())).collect();
        let shown = ahead.now.tools.iter().map(|(_, uses)| uses.map(|uses| uses as u32));
        assert_eq!(left, shown.collect::<Vec<_>>());
        let Some(then) = ahead.side(steps > 0) else { continue };
        live.turn(knob, steps);
        let planned = live
            .until(|event| matches!(event, Event::Budget(BudgetEvent::BudgetPlanned { .. })))
            .unwrap();
        let Event::Budget(BudgetEvent::BudgetPlanned { plan, .. }) = &planned.event else {
            panic!()
        };
        let made = plan.tools.iter().map(|tool| (tool.tool.clone(), Some(f64::from(tool.uses))));
        assert_eq!(then.tools, made.collect::<Vec<_>>(), "{knob} {steps}");
        compared += 1;
        changed += usize::from(then.tools != ahead.now.tools);
        // The calls of a judge are lanes of their own, beside which the agent takes no step.
        if knob == Knob::Judge {
            live.turn(knob, -steps);
        }
    }
    assert!(compared > 24 && changed > 4, "{compared} {changed}");
}

#[test]
fn what_a_knob_does_not_move_is_said() {
    let home = Home::new();
    let mut live = Live::start(&home, "strategy = \"react\"\nseed = 1\ntasks_limit = 1");
    live.until(|event| matches!(event, Event::Control(ControlEvent::Held { .. }))).unwrap();
    let says = |knob: Knob| match live.ahead(knob).shows {
        Shows::Nothing(why) => why,
        other => panic!("{knob}: {other:?}"),
    };
    assert_eq!(says(Knob::MaxSteps), "it does not change the order or the plan");
    assert_eq!(says(Knob::Alpha), "react does not use the weights of the graph");
    assert_eq!(says(Knob::Tau), "there is no budget plan without +btp");
    let ends = live.ahead(Knob::Explore);
    assert_eq!((ends.now.value, ends.less.unwrap().value, ends.more.unwrap().value), (2., 1., 3.));
}
