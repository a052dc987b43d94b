//! Quality and cost of the answers, as the papers on planners, workers and solvers report them
//! (tables 3 and 4).

use serde::Serialize;

use super::grader_verdicts::{Graded, GradedSums};
use super::{budget::Mean, task::TaskReport};
use crate::domain::Outcome;
use crate::papers::atc::measures::{ProgramMeans, ProgramSums};
use crate::papers::atc::metrics::{PathMean, PathSums};
use crate::papers::{calls::CallScore, metrics};

/// Over the tasks that have ended. Failed tasks count as wrong, at their actual cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Quality {
    pub tasks: usize,
    /// Tasks that ended with an answer, right or wrong.
    pub answered: usize,
    /// Tasks that can be scored; only these count in `accuracy`.
    pub with_gold: usize,
    /// The share done right: by the answer (see [`crate::papers::grading::is_correct`]), or by the calls, as each task
    /// says; `None` without such tasks.
    pub accuracy: Option<f64>,
    /// The share with an exact match; of several right answers, the best one counts.
    pub exact_match: Option<f64>,
    /// Token F1 on average, also with the best of the right answers.
    pub f1: Option<f64>,
    /// Over the tasks that are scored by their calls: all their calls together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<CallScore>,
    /// Over the tasks with a reference chain: the tools that they called (ATC's Path and Prec).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathMean>,
    /// Over the tasks with programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub programs: Option<ProgramMeans>,
    /// Measures of a grader's verdicts, if one was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grader: Option<Graded>,
    /// Average tokens per task, in and out, of all roles together.
    pub tokens_in: f64,
    pub tokens_out: f64,
    /// Tokens of `tokens_in` that endpoints had in their cache.
    pub tokens_cached: f64,
    /// Average steps per task; an answer without any other step is one.
    pub steps: f64,
    /// US dollars for 1,000 such tasks; `None` if any price is unknown.
    pub dollars_per_1000: Option<f64>,
}

impl Quality {
    /// Over the tasks of one session, or of several: each counts the same.
    pub fn of<'r>(tasks: impl Iterator<Item = &'r TaskReport>) -> Self {
        let mut sums = QualitySums::default();
        tasks.for_each(|task| sums.add(task));
        sums.quality()
    }
}

/// The sums behind [`Quality`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct QualitySums {
    tasks: usize,
    answered: usize,
    with_gold: usize,
    accuracy: Mean,
    exact_match: Mean,
    f1: Mean,
    calls: Option<CallScore>,
    path: PathSums,
    programs: ProgramSums,
    graded: GradedSums,
    tokens_in: Mean,
    tokens_out: Mean,
    tokens_cached: Mean,
    steps: Mean,
    dollars: Mean,
    is_unpriced: bool,
}

impl QualitySums {
    /// Adds a task if it has ended.
    pub fn add(&mut self, task: &TaskReport) {
        if !task.counts() {
            return;
        }
        self.tasks += 1;
        self.answered += usize::from(task.outcome == Some(Outcome::Answered));
        if task.can_be_scored() {
            self.with_gold += 1;
            self.accuracy.count(task.correct == Some(true));
        }
        if let Some(exact) = task.against_golds(&exact_match) {
            self.exact_match.add(exact);
        }
        if let Some(f1) = task.against_golds(&metrics::token_f1) {
            self.f1.add(f1);
        }
        self.calls = CallScore::sum(self.calls.into_iter().chain(task.call_score));
        task.path.iter().for_each(|path| self.path.add(path));
        task.programs.iter().for_each(|programs| self.programs.add(programs));
        self.graded.add(task);
        self.tokens_in.add(task.tokens_in as f64);
        self.tokens_out.add(task.tokens_out as f64);
        self.tokens_cached.add(task.tokens_cached as f64);
        self.steps.add(task.steps.max(1) as f64);
        self.dollars.add(task.dollars.unwrap_or(0.0));
        self.is_unpriced |= task.dollars.is_none();
    }

    pub fn quality(&self) -> Quality {
        Quality {
            tasks: self.tasks,
            answered: self.answered,
            with_gold: self.with_gold,
            accuracy: self.accuracy.value(),
            exact_match: self.exact_match.value(),
            f1: self.f1.value(),
            calls: self.calls,
            path: self.path.mean(),
            programs: self.programs.means(),
            grader: self.graded.graded(),
            tokens_in: self.tokens_in.or_zero(),
            tokens_out: self.tokens_out.or_zero(),
            tokens_cached: self.tokens_cached.or_zero(),
            steps: self.steps.or_zero(),
            dollars_per_1000: (!self.is_unpriced).then(|| 1000.0 * self.dollars.or_zero()),
        }
    }
}

/// Returns 1 for an exact match, else 0.
pub(super) fn exact_match(given: &str, gold: &str) -> f64 {
    f64::from(u8::from(metrics::exact_match(given, gold)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Grading;

    fn task(answer: Option<&str>, dollars: Option<f64>) -> TaskReport {
        let correct = Some(answer == Some("Rio Sombrel"));
        TaskReport {
            n: crate::domain::id::TaskId(1),
            task: "Which river?".to_owned(),
            is_probe: false,
            name: String::new(),
            answer: answer.map(str::to_owned),
            gold: Some("Rio Sombrel".to_owned()),
            more_golds: Vec::new(),
            correct,
            call_score: None,
            path: None,
            programs: None,
            solved: correct == Some(true),
            outcome: Some(if answer.is_some() { Outcome::Answered } else { Outcome::Failed }),
            caveats: Vec::new(),
            plans_refused: Vec::new(),
            tries: 1,
            steps: 0,
            calls: 1,
            loops: 0,
            marks: Vec::new(),
            tools: Vec::new(),
            tokens_in: 100,
            tokens_cached: 0,
            tokens_out: 10,
            tokens_by_role: std::collections::BTreeMap::new(),
            strategy: Some(crate::domain::strategy::Base::Direct.into()),
            cost: 1.0,
            spent: crate::domain::state::Spent::default(),
            over_budget: false,
            budget: 10.0,
            cheapest: None,
            planned: None,
            by_tool: std::collections::BTreeMap::new(),
            refusals: std::collections::BTreeMap::new(),
            dollars,
            listed: false,
            verdicts: Vec::new(),
            grading: None,
        }
    }

    #[test]
    fn a_grader_stands_beside_the_measures_of_words_and_agrees_or_not() {
        let graded = |answer, right, dollars| TaskReport {
            grading: Some(Grading { right, tokens_in: 10, dollars, ..Grading::default() }),
            ..task(answer, Some(0.1))
        };
        let tasks = [
            graded(Some("Rio Sombrel"), Some(true), 0.25.into()),
            graded(Some("that of Sombrel"), Some(true), 0.25.into()),
            graded(Some("Rio Sombrel"), Some(false), 0.0.into()),
            graded(Some("Oslo"), None, 0.5.into()),
            task(Some("Oslo"), Some(0.1)),
        ];
        let grader = Quality::of(tasks.iter()).grader.unwrap();
        assert_eq!((grader.tasks, grader.without_verdict, grader.right), (3, 1, 2));
        assert!((grader.agrees_with_lexical - 1.0 / 3.0).abs() < 1e-12);
        assert!((grader.agrees_with_exact_match - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(grader.f1_of_wrong, Some(1.0));
        assert_eq!((grader.tokens_in, grader.dollars), (40, Some(1.0)));
        let quality = Quality::of(tasks.iter());
        assert!((quality.dollars_per_1000.unwrap() - 100.0).abs() < 1e-9, "grading costs apart");
        assert_eq!(Quality::of(tasks[4..].iter()).grader, None);
    }

    #[test]
    fn failed_tasks_count_and_what_is_unknown_is_not_0() {
        let tasks =
            [task(Some("Rio Sombrel"), Some(0.5)), task(None, Some(0.1)), task(Some("Rio"), None)];
        let quality = Quality::of(tasks[..2].iter());
        assert_eq!((quality.tasks, quality.answered, quality.with_gold), (2, 1, 2));
        assert_eq!(quality.accuracy, Some(0.5));
        assert_eq!((quality.exact_match, quality.f1), (Some(0.5), Some(0.5)));
        assert_eq!(quality.dollars_per_1000, Some(300.0));
        assert_eq!((quality.tokens_in, quality.tokens_out, quality.steps), (100.0, 10.0, 1.0));
        assert_eq!(Quality::of(tasks.iter()).dollars_per_1000, None);
        let queued = TaskReport { outcome: None, ..tasks[0].clone() };
        assert_eq!(Quality::of([queued].iter()).tasks, 0);
        let several = TaskReport { more_golds: vec!["Rio".to_owned()], ..tasks[2].clone() };
        let quality = Quality::of([several].iter());
        assert_eq!((quality.exact_match, quality.f1), (Some(1.0), Some(1.0)));
        let without_gold = TaskReport { gold: None, ..tasks[0].clone() };
        assert_eq!(Quality::of([without_gold].iter()).accuracy, None);
    }
}
