//! Running, holding and ending.

use crate::action::no_copy;
use crate::domain::seat::SeatKind;
use crate::domain::words::counted;
use crate::domain::{Command, Lane, Mode, State};
use crate::papers::sweep::Scope;
use crate::popups::{Choose, Confirm};
use crate::request::{Requests, ScreenRequest, World, send};
use crate::twin::TwinKind;
use crate::view::{ReadOnly, View};

pub fn run_or_pause(world: &World<'_>, view: &mut View) -> Requests {
    let mode = world.live.shown_mode();
    if view.offers_again(world.live) {
        let runs = (mode != Mode::Running).then_some(Command::Run);
        return [Some(Command::QueueAgain), runs].into_iter().flatten().flat_map(send).collect();
    }
    send(match mode {
        Mode::Running | Mode::Stepping | Mode::SteppingTask => Command::Pause,
        // A session opened for a screen waits in this mode for the person.
        Mode::Opening | Mode::Pausing | Mode::Paused | Mode::Ended => Command::Run,
    })
}

/// The outcome of all tasks: `78 of 85 right, 1.8 calls per task, 7 failures injected`.
pub fn outcome(live: &State) -> String {
    let calls: usize = live.laps.iter().map(|lap| lap.calls()).sum();
    let per_task = calls as f64 / live.laps.len().max(1) as f64;
    let faults = match live.faults.values().map(|fault| fault.fired).sum::<u32>() {
        0 => String::new(),
        fired => format!(", {} injected", counted(fired as usize, "failure")),
    };
    let (right, judged) = (live.tasks_right, live.tasks_judged);
    format!("{right} of {judged} right, {per_task:.1} calls per task{faults}")
}

pub fn cancel_all(world: &World<'_>, _: &mut View) -> Requests {
    let all = world.live.effects_in_flight();
    all.map(|effect| ScreenRequest::Send(Command::Cancel(effect.id))).collect()
}

/// Holds the chosen lane, or resumes it. It stays chosen, so that the same key resumes it.
pub fn hold_lane(world: &World<'_>, view: &mut View) -> Requests {
    let live = world.live;
    let Ok(lane) = view.lane(live) else { return Vec::new() };
    if let Lane::Effect(call) = lane
        && live.tool_call(call).is_some()
    {
        view.choose_call(live, call);
    }
    let stopped = live.control.paused_lanes.contains(&lane);
    send(if stopped { Command::ResumeLane(lane) } else { Command::PauseLane(lane) })
}

/// Ends the running twin, or asks which session to set beside this one, if there is more than one.
pub fn twin(world: &World<'_>, view: &mut View) -> Requests {
    let copies = no_copy(world.live, view).is_none();
    match view.twin.as_ref().filter(|twin| !twin.over) {
        Some(_) => vec![ScreenRequest::EndTwin],
        None if !copies => vec![ScreenRequest::StartTwin(TwinKind::Origin)],
        None => view.open(Choose::twin(view.has_origin)),
    }
}

/// Tries the selected knob at several values; asks first if that costs money or changes something.
pub fn sweep(world: &World<'_>, view: &mut View) -> Requests {
    let Ok(scope) = Scope::of(world.live, view.knob()) else { return Vec::new() };
    match Confirm::sweep(world.live, scope.clone()) {
        Some(question) => view.open(question),
        None => vec![ScreenRequest::StartSweep(Box::new(scope))],
    }
}

/// Leaves at once if nothing would be lost, and asks if something runs.
pub fn quit(world: &World<'_>, view: &mut View) -> Requests {
    let live = world.live;
    let runs = match live.control.mode {
        Mode::Running | Mode::Stepping | Mode::SteppingTask | Mode::Pausing => live.has_work(),
        Mode::Paused => live.task_at_work().is_some(),
        Mode::Opening | Mode::Ended => false,
    };
    let is_elsewhere = view.seat == Some(SeatKind::Attached);
    let only_looks = match view.read_only {
        // The session ends with the screen that started it, whoever controls it.
        Some(ReadOnly::Watching) => is_elsewhere,
        Some(_) => true,
        None => false,
    };
    let is_over = live.control.mode == Mode::Ended;
    // A session that stays paused elsewhere should only be left on purpose.
    let asks = if is_elsewhere { !is_over } else { runs };
    if only_looks || !asks {
        return vec![ScreenRequest::Quit];
    }
    view.open(if is_elsewhere { Confirm::leave(live) } else { Confirm::quit(live) })
}
