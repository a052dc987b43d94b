//! News of copies that run beside the session: the twin, and a sweep.

use super::pane::PaneId;
use super::screen::Screen;
use super::sweep::{Sweep, SweepNews};
use super::twin::{Twin, TwinKind, TwinNews};
use super::view::Tone;
use crate::domain::{Record, words::counted};
use crate::papers::sweep;

/// Rows that are shown above the first difference.
const ABOVE: usize = 4;

impl Screen {
    /// A session begins to stand beside this one. The one from which this came is there to be compared at once.
    pub fn begin_twin(&mut self, kind: TwinKind) {
        self.view.twin = Some(Twin::beside(kind, self.live()));
        if kind == TwinKind::Origin {
            self.view.go_to(PaneId::Twin);
            self.view.zoom = Some(PaneId::Twin);
        }
        self.tell(
            Tone::Good,
            format!("twin: {} · <key:twin-pane> compares the calls", kind.name()),
        );
    }

    /// Takes in a record of this session, for its twin.
    pub(super) fn note_for_twin(&mut self, record: &Record) {
        if let Some(mut twin) = self.view.twin.take() {
            twin.note(self.live(), record);
            self.view.twin = Some(twin);
        }
    }

    /// Pairs the calls of both sessions, if any are new.
    pub(super) fn settle_twin(&mut self) {
        if let Some(mut twin) = self.view.twin.take() {
            let is_over = self.view.read_only.is_some_and(|it| !it.is_live());
            let before = twin.first;
            twin.settle(self.live(), is_over);
            if let Some((_, row)) = twin.first.filter(|first| Some(*first) != before) {
                // What led to it stands above it.
                self.view.windows[PaneId::Twin as usize].first = row.saturating_sub(ABOVE);
            }
            self.view.twin = Some(twin);
        }
    }

    /// Takes in news of the twin.
    pub fn hear_of_twin(&mut self, news: TwinNews) {
        let Some(twin) = self.view.twin.as_mut().filter(|twin| !twin.over) else { return };
        let tasks = counted(twin.laps.len(), "task");
        let told = match &news {
            TwinNews::Ended(journal) if twin.kind != TwinKind::Origin => {
                let journal = journal.as_ref().map(|path| format!(": {}", path.display()));
                let text = format!("twin finished after {tasks}{}", journal.unwrap_or_default());
                Some((Tone::Good, text))
            }
            TwinNews::Failed(why) => Some((Tone::Bad, format!("twin failed: {why}"))),
            _ => None,
        };
        twin.hear(news);
        if let Some((tone, text)) = told {
            self.tell(tone, text);
        }
    }

    /// The person ended the twin.
    pub fn end_twin(&mut self) {
        if let Some(twin) = &mut self.view.twin {
            twin.end();
            let text = format!("twin ended after {}", counted(twin.laps.len(), "task"));
            self.tell(Tone::Plain, text);
        }
    }

    /// Takes in news of the sweep.
    pub fn hear_of_sweep(&mut self, news: SweepNews) {
        let Some(sweep) = self.view.sweep.as_mut().filter(|sweep| !sweep.over) else { return };
        match news {
            SweepNews::Lap(place, lap) => {
                if let Some(laps) = sweep.runs.get_mut(place) {
                    laps.push(lap);
                }
            }
            SweepNews::Ended => {
                sweep.over = true;
                let name = sweep.scope.knob.spec().name;
                let outcome = sweep::sentence(&sweep.scope, &sweep.runs, self.view.measure);
                let outcome = outcome.unwrap_or_else(|| "some tasks are not done".to_owned());
                self.tell(Tone::Good, format!("sweep of {name} done: {outcome}"));
            }
            SweepNews::Failed(why) => {
                sweep.over = true;
                self.tell(Tone::Bad, format!("sweep failed: {why}"));
            }
        }
    }

    /// The person ended the sweep.
    pub fn end_sweep(&mut self) {
        if let Some(sweep) = &mut self.view.sweep {
            sweep.over = true;
            let tasks: usize = sweep.runs.iter().map(Vec::len).sum();
            let text = format!("sweep ended after {}", counted(tasks, "task"));
            self.tell(Tone::Plain, text);
        }
    }

    /// A sweep begins; its results take the place of those of the one before.
    pub fn begin_sweep(&mut self, sweep: Sweep) {
        let scope = &sweep.scope;
        let (values, tasks) =
            (counted(scope.values.len(), "value"), counted(scope.tasks.len(), "task"));
        let again = if scope.again { " of this session" } else { "" };
        let cut = match scope.left_out {
            0 => String::new(),
            n => format!(" ({n} more left out)"),
        };
        let name = scope.knob.spec().name;
        let text = format!(
            "sweep of {name} started: {values}, {tasks}{again}{cut}, each with {} seeds",
            sweep::SEEDS
        );
        self.view.sweep = Some(sweep);
        self.tell(Tone::Good, text);
    }
}
