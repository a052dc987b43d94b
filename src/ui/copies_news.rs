//! News of copies that run beside the session: the twin, and a sweep.

use super::screen::Screen;
use super::sweep::{Sweep, SweepNews};
use super::twin::TwinNews;
use super::view::Tone;
use crate::domain::words::counted;
use crate::papers::sweep;

impl Screen {
    /// Takes in news of the twin.
    pub fn hear_of_twin(&mut self, news: TwinNews) {
        let Some(twin) = self.view.twin.as_mut().filter(|twin| !twin.over) else { return };
        match news {
            TwinNews::Lap(lap) => twin.laps.push(lap),
            TwinNews::Ended(journal) => {
                twin.over = true;
                let tasks = counted(twin.laps.len(), "task");
                let journal = journal.map(|path| format!(": {}", path.display()));
                let text = format!("twin finished after {tasks}{}", journal.unwrap_or_default());
                self.tell(Tone::Good, text);
            }
            TwinNews::Failed(why) => {
                twin.over = true;
                self.tell(Tone::Bad, format!("twin failed: {why}"));
            }
        }
    }

    /// The person ended the twin.
    pub fn end_twin(&mut self) {
        if let Some(twin) = &mut self.view.twin {
            twin.over = true;
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
