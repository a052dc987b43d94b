//! The moment looked at. Only the view changes: the agent goes on running, and the events up to that moment are folded
//! again.

use std::sync::Arc;

use crate::domain::{Event, Record, State, TaskEvent, TaskId, TaskState};
use crate::panes::budget_words;
use crate::request::World;
use crate::seek::Sought;
use crate::view::{Tone, View};

/// Jump from the moment looked at to another.
#[derive(Clone, Copy, Debug)]
pub enum TimeJump {
    /// A jump by this many events.
    Event(i64),
    /// To the agent's last decision.
    StepBack,
    StepForward,
    /// To the beginning of a task.
    TaskBack,
    TaskForward,
    Start,
    Live,
    /// To the landmark before, or after.
    Previous(Sought),
    Next(Sought),
    /// To the moment before the last jump.
    Back,
}

/// The most jumps that can be taken back.
const JUMPS: usize = 100;

/// Why the jump leads nowhere; `None`: it leads somewhere.
pub fn why_not(way: TimeJump, live: &State, view: &View) -> Option<String> {
    let at = view.moment.unwrap_or(live.n);
    let marks = &live.landmarks;
    match way {
        TimeJump::Previous(sought) => {
            let first = sought.kinds().iter().filter_map(|kind| marks.first(*kind)).min();
            let none = first.is_none_or(|first| first >= at);
            none.then(|| format!("no {} before event {}", sought.name(), at_event(at)))
        }
        TimeJump::Next(sought) => {
            let next = sought.kinds().iter().find_map(|kind| marks.after(*kind, at));
            next.is_none().then(|| format!("no {} after event {}", sought.name(), at_event(at)))
        }
        TimeJump::Back => view.jumps.is_empty().then(|| "no jump to undo".to_owned()),
        _ => None,
    }
}

fn at_event(n: u64) -> String {
    crate::text::number(n)
}

pub fn to(world: &World<'_>, view: &mut View, way: TimeJump) {
    let last = world.live.n;
    let at = view.moment.unwrap_or(last);
    match way {
        TimeJump::Event(by) => look(world, view, Some(at.saturating_add_signed(by))),
        TimeJump::StepBack => {
            let step = world.history.last_of(1..at, is_step);
            look(world, view, Some(step.unwrap_or_else(|| world.history.first())));
        }
        TimeJump::StepForward => look(
            world,
            view,
            world.history.first_of(at.saturating_add(1)..last.saturating_add(1), is_step),
        ),
        TimeJump::TaskBack => {
            let task = world.history.last_of(1..at, is_task);
            jump(world, view, Some(task.unwrap_or_else(|| world.history.first())));
        }
        TimeJump::TaskForward => jump(
            world,
            view,
            world.history.first_of(at.saturating_add(1)..last.saturating_add(1), is_task),
        ),
        TimeJump::Start => jump(world, view, Some(1)),
        TimeJump::Live => jump(world, view, None),
        TimeJump::Previous(sought) => arrive(world, view, sought.before(world, at), way),
        TimeJump::Next(sought) => arrive(world, view, sought.after(world, at), way),
        TimeJump::Back => {
            if let Some(moment) = view.jumps.pop() {
                look(world, view, moment);
            }
        }
    }
}

/// Looks at a landmark, and selects the thing that it marks.
fn arrive(world: &World<'_>, view: &mut View, n: Option<u64>, way: TimeJump) {
    let Some(n) = n else {
        let why = why_not(way, world.live, view);
        let why = why.unwrap_or_else(|| "cannot read its journal".to_owned());
        return view.tell(world.live.at, Tone::Bad, why);
    };
    jump(world, view, Some(n));
    let record = world.history.at(n);
    let effect = record.as_ref().and_then(|record| record.event.effect());
    (view.task, view.line, view.node, view.evidence, view.call) = (None, None, None, None, None);
    let about = about(world, n, record.as_ref().map(|record| &record.event));
    if let Some((task, said)) = about {
        view.task = Some(task);
        view.arrived = Some(task);
        let said = format!("{said} · <key:open> opens task {task}");
        view.tell(world.live.at, Tone::Plain, world.keymap.fill(&said));
    }
    match (record.map(|record| record.event.clone()), effect) {
        (Some(Event::ModelCall(_)), Some(effect)) => view.model_call = Some(effect.id),
        (Some(_), Some(effect)) if world.live.model_call(effect.id).is_none() => {
            view.choose_call(world.live, effect.id);
        }
        _ => {}
    }
    if let TimeJump::Previous(Sought::Problem) | TimeJump::Next(Sought::Problem) = way {
        let mut problems = world.live.problems.kept().iter();
        let problem = problems.rfind(|problem| problem.n == n);
        problem.map(|problem| view.choose_problem(world.live, problem.number));
    }
}

/// Returns the task that an event is about as a landmark, and its outcome in words.
fn about(world: &World<'_>, n: u64, event: Option<&Event>) -> Option<(TaskId, String)> {
    let is_over = |task: &&Arc<TaskState>| task.budget.overrun.is_some_and(|over| over.event == n);
    if let Some(task) = world.live.tasks.iter().find(is_over) {
        return Some((task.id, budget_words::overrun(world.live, task)?));
    }
    let Some(Event::Task(TaskEvent::TaskFinished { task, outcome, correct, .. })) = event else {
        return None;
    };
    let known = world.live.task(*task)?;
    let expected = known.task.expected().map(|gold| format!(", expected {gold}"));
    let answer = known.answer.as_deref().map(|answer| format!(": {answer}"));
    let end = match correct {
        Some(true) => "right",
        Some(false) if answer.is_some() => "wrong",
        _ => outcome.name(),
    };
    let said =
        format!("task {task} {end}{}{}", answer.unwrap_or_default(), expected.unwrap_or_default());
    Some((*task, said))
}

/// Looks at this event, and remembers the moment before that.
pub fn jump(world: &World<'_>, view: &mut View, moment: Option<u64>) {
    let before = view.moment;
    look(world, view, moment);
    if view.moment != before {
        remember(view, before);
    }
}

/// Remembers the moment from which a jump begins.
pub fn remember(view: &mut View, moment: Option<u64>) {
    if view.jumps.len() == JUMPS {
        view.jumps.remove(0);
    }
    view.jumps.push(moment);
}

/// Looks at this event; `None`: returns to the present.
fn look(world: &World<'_>, view: &mut View, moment: Option<u64>) {
    let (first, last) = (world.history.first(), world.live.n);
    if moment.is_some_and(|n| n < first) && first > 1 {
        let text = format!(
            "events before {} are unavailable: this session has no journal",
            at_event(first)
        );
        view.tell(world.live.at, Tone::Bad, text);
    }
    // The last event is the present: a person who goes there wants to see it go on.
    view.moment = moment.map(|n| n.max(first)).filter(|n| *n < last);
}

fn is_step(record: &Record) -> bool {
    matches!(
        record.event,
        Event::Task(TaskEvent::StepStarted { .. }) | Event::Task(TaskEvent::TaskFinished { .. })
    )
}

fn is_task(record: &Record) -> bool {
    matches!(record.event, Event::Task(TaskEvent::TaskStarted { .. }))
}
