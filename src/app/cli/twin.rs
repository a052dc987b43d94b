//! The twin of the session on the screen: it runs beside that, and reports each finished task.

use std::path::Path;
use std::{sync::Arc, thread};

use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use crate::domain::state::{Keeps, State};
use crate::domain::{Command, Event, Knob, Record, TaskEvent};
use crate::session::{Origin, SessionHandle, faults_so_far};
use crate::ui::twin::{StartTwin, TwinKind, TwinNews};

/// Starts twins of the session with this origin; `journal`: that of the session.
pub fn starter(origin: Arc<Origin>, journal: Option<&Path>) -> StartTwin {
    let parent = journal.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    Box::new(move |kind, live| start(&origin, parent.clone(), kind, live))
}

fn start(
    origin: &Origin,
    parent: Option<String>,
    kind: TwinKind,
    live: &State,
) -> Result<UnboundedReceiver<TwinNews>, String> {
    let (faults, knobs): (_, &[_]) = match kind {
        TwinKind::Unbroken => (Vec::new(), &[]),
        TwinKind::Frozen => (faults_so_far(live), &[(Knob::Learn, 0.0)]),
    };
    let mut prepared =
        origin.again(live, faults, knobs, parent).map_err(|error| error.to_string())?;
    prepared.keeps = Keeps::Tasks(1);
    let session = prepared.spawn().map_err(|error| error.to_string())?;
    let (tell, news) = mpsc::unbounded_channel();
    let follow = move || follow(session, &tell);
    thread::Builder::new()
        .name("twin".to_owned())
        .spawn(follow)
        .map_err(|error| error.to_string())?;
    Ok(news)
}

/// Reports each task until the session ends, or until the receiver is gone.
fn follow(session: SessionHandle, tell: &UnboundedSender<TwinNews>) {
    let SessionHandle { mut records, commands, engine, journal, .. } = session;
    let mut state = State::keeping(Keeps::Tasks(1));
    while let Some(record) = records.blocking_recv() {
        state.apply(&record);
        if is_task_end(&record) {
            let lap = state.laps.last().cloned();
            if lap.is_some_and(|lap| tell.send(TwinNews::Lap(lap)).is_err()) {
                // An ended engine takes no command, and needs none.
                let _ = commands.send(Command::Stop);
            }
        }
    }
    drop(commands);
    let news = match engine.join() {
        Ok(_) => TwinNews::Ended(journal),
        Err(error) => TwinNews::Failed(error.to_string()),
    };
    // The screen may be gone already.
    let _ = tell.send(news);
}

fn is_task_end(record: &Arc<Record>) -> bool {
    matches!(record.event, Event::Task(TaskEvent::TaskFinished { .. }))
}
