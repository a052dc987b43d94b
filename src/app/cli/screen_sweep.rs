//! Tries a knob at several values while a session is on the screen: copies of the session run one after the other on a
//! thread of their own, and report each finished task.

use std::{sync::Arc, thread};

use tokio::sync::mpsc::{self, UnboundedSender};

use crate::domain::state::{Keeps, State};
use crate::domain::{Event, Record, TaskEvent};
use crate::papers::sweep::{SEEDS, Scope};
use crate::runner::{SessionStopper, follow};
use crate::session::{Origin, SessionError, SweepOrigin};
use crate::ui::sweep::{StartSweep, SweepNews};

/// Starts sweeps of the session with this origin.
pub fn starter(origin: Arc<Origin>) -> StartSweep {
    Box::new(move |scope, live| {
        let done = if scope.again { live.tasks.len() } else { live.tasks.len() - left(scope) };
        let standing = origin.standing(live, done).map_err(|error| error.to_string())?;
        let (tell, news) = mpsc::unbounded_channel();
        let scope = scope.clone();
        let work = move || {
            let end = sweep(&standing, &scope, &tell);
            // The screen may be gone already.
            let _ =
                tell.send(end.map_or_else(
                    |error| SweepNews::Failed(error.to_string()),
                    |()| SweepNews::Ended,
                ));
        };
        thread::Builder::new()
            .name("sweep".to_owned())
            .spawn(work)
            .map_err(|error| error.to_string())?;
        Ok(news)
    })
}

/// The tasks that have not begun.
fn left(scope: &Scope) -> usize {
    scope.tasks.len() + scope.left_out
}

/// Runs one copy per seed and value, one after the other, until the receiver is gone. All values run with one seed before
/// the next seed begins, so that the screen compares them early.
fn sweep(
    standing: &SweepOrigin,
    scope: &Scope,
    tell: &UnboundedSender<SweepNews>,
) -> Result<(), SessionError> {
    let mut spent = 0.0;
    let seeds = 0..SEEDS as u64;
    let places = seeds.flat_map(|seed| scope.values.iter().enumerate().map(move |at| (seed, at)));
    for (seed, (place, value)) in places {
        if tell.is_closed() {
            break;
        }
        let knob = (scope.knob, *value);
        let (prepared, first) = standing.with(scope.tasks.clone(), knob, seed, spent)?;
        let mut state = State::keeping(Keeps::Tasks(1));
        let told = tell.clone();
        let hear = move |record: &Record| {
            state.apply(record);
            let is_end = matches!(record.event, Event::Task(TaskEvent::TaskFinished { .. }));
            let lap = state.laps.last().filter(|_| is_end).cloned();
            let is_heard = lap.is_none_or(|lap| told.send(SweepNews::Lap(place, lap)).is_ok());
            is_heard && !told.is_closed()
        };
        let ended = follow(prepared, first, &SessionStopper::default(), hear)?.state;
        spent += ended.dollars_spent();
        if ended.tasks_done < scope.tasks.len() && !tell.is_closed() {
            let (done, all) = (ended.tasks_done, scope.tasks.len());
            let (knob, value) = (scope.knob, scope.knob.spec().show(*value));
            let text = format!("{knob} {value}: the copy ended after {done} of {all} tasks");
            return Err(SessionError::failed(text));
        }
    }
    Ok(())
}
