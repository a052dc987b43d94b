//! Program metrics of a task: the number of programs, the source of each blame, and whether the last program repaired
//! the failures.

use serde::Serialize;

use crate::domain::state::{ProgramState, TaskState};
use crate::domain::{BlamedBy, ProgramVerdict};

/// The programs of one task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProgramScore {
    /// Number of programs, including replies without a program.
    pub programs: usize,
    /// Number of programs that could not run, raised, printed nothing, or were doubtful.
    pub failed: usize,
    /// Failures for which data flow names one tool.
    pub blamed_by_flow: usize,
    pub blamed_by_model: usize,
    pub blamed_by_nobody: usize,
    /// Whether the last program is fine and an earlier one was not.
    pub repaired: bool,
}

/// The mean score over tasks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ProgramMeans {
    /// Programs per task.
    pub programs: f64,
    /// Tasks in which a program failed.
    pub failed: usize,
    /// The share of them that a later program repaired; `None` without any.
    pub repaired: Option<f64>,
    /// Failures, by the method that found the tool to blame.
    pub blamed_by_flow: usize,
    pub blamed_by_model: usize,
    pub blamed_by_nobody: usize,
}

/// The sums behind [`ProgramMeans`].
#[derive(Clone, Copy, Debug, Default)]
pub struct ProgramSums {
    tasks: usize,
    failed: usize,
    repaired: usize,
    all: ProgramScore,
}

/// The score of a task; `None` if it has no program.
pub fn of_task(task: &TaskState) -> Option<ProgramScore> {
    let is_fine = |program: &ProgramState| program.how == Some(ProgramVerdict::Fine);
    let last = task.programs.last()?;
    let failed = task.programs.iter().filter(|program| !is_fine(program)).count();
    let blamed = |by: BlamedBy| {
        let all = task.programs.iter().filter_map(|program| program.blamed.as_ref());
        all.filter(|blamed| blamed.by == by).count()
    };
    Some(ProgramScore {
        programs: task.programs.len(),
        failed,
        blamed_by_flow: blamed(BlamedBy::Flow),
        blamed_by_model: blamed(BlamedBy::Model),
        blamed_by_nobody: blamed(BlamedBy::Nobody),
        repaired: failed > 0 && is_fine(last),
    })
}

impl ProgramSums {
    pub fn add(&mut self, score: &ProgramScore) {
        self.tasks += 1;
        self.failed += usize::from(score.failed > 0);
        self.repaired += usize::from(score.repaired);
        self.all.programs += score.programs;
        self.all.blamed_by_flow += score.blamed_by_flow;
        self.all.blamed_by_model += score.blamed_by_model;
        self.all.blamed_by_nobody += score.blamed_by_nobody;
    }

    /// `None` without a task.
    pub fn means(&self) -> Option<ProgramMeans> {
        let repaired = (self.failed > 0).then(|| self.repaired as f64 / self.failed as f64);
        (self.tasks > 0).then(|| ProgramMeans {
            programs: self.all.programs as f64 / self.tasks as f64,
            failed: self.failed,
            repaired,
            blamed_by_flow: self.all.blamed_by_flow,
            blamed_by_model: self.all.blamed_by_model,
            blamed_by_nobody: self.all.blamed_by_nobody,
        })
    }
}
