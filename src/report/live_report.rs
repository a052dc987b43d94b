//! A report that is made while a session runs, so that its end needs no details of old tasks.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Seek, Write};

use serde::ser::{Error, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{Measures, Quality, Report, TaskReport, TotalSums, Totals};
use super::{budget::MeasureSums, marks::MarkCounts, quality::QualitySums};
use crate::domain::{Event, Knob, Record, SessionEvent, State, TaskEvent, TaskId, ToolName};

/// Sums of a report over its tasks.
#[derive(Clone, Debug, PartialEq)]
pub struct Sums {
    pub totals: Totals,
    pub measures: Measures,
    pub quality: Quality,
    pub marks: MarkCounts,
}

/// The sums while tasks end.
#[derive(Clone, Debug, Default)]
pub(super) struct Folding {
    totals: TotalSums,
    measures: MeasureSums,
    quality: QualitySums,
    marks: MarkCounts,
}

impl Folding {
    pub fn add(&mut self, task: &TaskReport) {
        self.totals.add(task);
        self.measures.add(task);
        self.quality.add(task);
        self.marks.add(task);
    }

    pub fn sums(&self, state: &State) -> Sums {
        Sums {
            totals: self.totals.totals(),
            measures: self.measures.measures(state.knobs.get(Knob::Budget)),
            quality: self.quality.quality(),
            marks: self.marks.clone(),
        }
    }
}

/// Sums over the tasks that have ended, and the details of these tasks for a whole report.
#[derive(Debug, Default)]
pub struct Folded {
    sums: Folding,
    ended: usize,
    /// Details for a whole report; `None` if only sums are needed.
    parts: Option<ReportDetails>,
}

#[derive(Debug)]
struct ReportDetails {
    /// A temporary file with a line for each task.
    tasks: BufWriter<File>,
    history: BTreeMap<ToolName, Vec<(TaskId, f64)>>,
    notices: Vec<String>,
}

/// The tasks of a report in a temporary file, with those that have not ended.
#[derive(Debug)]
pub struct Spooled {
    ended: File,
    rest: Vec<TaskReport>,
}

impl Folded {
    /// Sums and details for a report of all tasks.
    ///
    /// # Errors
    /// There is no place for a temporary file.
    pub fn whole() -> io::Result<Self> {
        let tasks = BufWriter::new(tempfile::tempfile()?);
        let parts = ReportDetails { tasks, history: BTreeMap::new(), notices: Vec::new() };
        Ok(Self { parts: Some(parts), ..Self::default() })
    }

    /// Takes in an event that the state has folded.
    ///
    /// # Errors
    /// The temporary file cannot be written.
    pub fn take(&mut self, state: &State, record: &Record) -> io::Result<()> {
        match &record.event {
            Event::Task(TaskEvent::TaskFinished { task, .. }) => {
                let Some(task) = state.task(*task) else { return Ok(()) };
                let report = TaskReport::of(state, task);
                self.sums.add(&report);
                self.ended += 1;
                if let Some(parts) = &mut self.parts {
                    serde_json::to_writer(&mut parts.tasks, &report)?;
                    parts.tasks.write_all(b"\n")?;
                }
            }
            Event::Session(SessionEvent::Noticed { text }) => {
                self.parts.iter_mut().for_each(|parts| parts.notices.push(text.clone()));
            }
            Event::Graph(_) => {
                let Some(parts) = &mut self.parts else { return Ok(()) };
                for (tool, points) in &state.learning.history {
                    let known = parts.history.entry(tool.clone()).or_default();
                    let new = points.from(known.len());
                    known.extend(new.map(|point| (point.task, *point.score)));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Sums over the tasks that have ended.
    pub fn sums(&self, state: &State) -> Sums {
        self.sums.sums(state)
    }

    /// The report of the session with this last state.
    ///
    /// # Errors
    /// The temporary file cannot be written.
    pub fn report(mut self, state: &State) -> io::Result<Report<Spooled>> {
        let rest: Vec<_> =
            state.tasks.from(self.ended).map(|task| TaskReport::of(state, task)).collect();
        rest.iter().for_each(|task| self.sums.add(task));
        let parts = match self.parts {
            Some(parts) => parts,
            None => Self::whole()?.parts.ok_or(io::ErrorKind::NotFound)?,
        };
        let ended = parts.tasks.into_inner().map_err(io::IntoInnerError::into_error)?;
        let tasks = Spooled { ended, rest };
        Ok(Report::with(state, self.sums.sums(state), tasks, parts.history, parts.notices))
    }
}

impl Serialize for Spooled {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        let mut file = &self.ended;
        file.rewind().map_err(S::Error::custom)?;
        for line in BufReader::new(file).lines() {
            let line = line.map_err(S::Error::custom)?;
            let task: Value = serde_json::from_str(&line).map_err(S::Error::custom)?;
            list.serialize_element(&task)?;
        }
        for task in &self.rest {
            list.serialize_element(task)?;
        }
        list.end()
    }
}
