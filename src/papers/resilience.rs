//! Effects of a broken tool on an agent: the tools that replace it, the task from which the choice is stable again, and
//! the cost. This is the computation behind figure 4 of ToolNet, for any tool, any fault and any session.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;

use crate::domain::words::counted;
use crate::domain::{FaultState, Lap, State, Target, TaskId, ToolName, Tried, TriedEnd};

/// The most replacements of broken tools that are shown.
const STAND_INS: usize = 5;
/// The choice is stable from the first of this many tasks in a row whose first choice succeeded and that the fault did
/// not hit.
pub const ROW: usize = 5;
/// After this many tasks that needed the tools, an agent whose first choice fails again has not recovered.
const LOST: usize = 8;

/// The broken tools of a fault, and its tasks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Broken {
    pub tools: Vec<ToolName>,
    /// The first task that it could hit.
    pub from: TaskId,
    /// The task during or after which it was repaired.
    pub until: Option<TaskId>,
}

/// An agent's recovery from a fault.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Resilience {
    /// The broken tools, then their replacements, the most called first.
    pub strip: Vec<ToolName>,
    pub verdict: RecoveryVerdict,
    /// The first task that the fault hit.
    pub hit: Option<TaskId>,
    /// The first task from which the choice is stable.
    pub stable: Option<TaskId>,
    /// Means before the fault hit, until the choice was stable, and after that.
    pub before: Means,
    pub meanwhile: Means,
    pub after: Means,
}

/// Whether the agent found its way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RecoveryVerdict {
    #[default]
    NotAffected,
    /// The number of tasks that needed the tools until then; so are the others.
    Recovered {
        after: usize,
    },
    Recovering {
        tasks: usize,
    },
    /// The fault hit the first of the tasks.
    NoComparison,
    NotRecovered {
        /// Tasks whose first choice failed.
        failed: usize,
        tasks: usize,
    },
}

/// Averages of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Means {
    pub tasks: usize,
    pub calls: f64,
    pub tokens: f64,
    pub credits: f64,
    pub dollars: f64,
    /// The number of graded answers, and the number of right ones.
    pub graded: usize,
    pub right: usize,
}

/// The use of a tool in a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    None,
    /// The task's first call of the strip was of this tool, and the tool answered.
    First,
    /// The tool answered after the first call of the strip, which was of another tool.
    Second,
    /// A fault hit a call of the tool.
    Injected,
    /// The tool itself failed, or found nothing.
    Failed,
}

impl Use {
    /// The sign that a strip shows.
    pub fn sign(self) -> char {
        match self {
            Use::None => '·',
            Use::First => '█',
            Use::Second => '▄',
            Use::Injected => '↯',
            Use::Failed => '✗',
        }
    }
}

impl Resilience {
    /// The agent's recovery from a fault, by its tasks so far; `goes_on`: more tasks will follow.
    pub fn of(laps: &[Lap], broken: &Broken, goes_on: bool) -> Self {
        let until = broken.until.unwrap_or(TaskId(u32::MAX));
        let is_under = |lap: &&Lap| (broken.from..=until).contains(&lap.task);
        let was_hit = |lap: &&Lap| lap.tried.iter().any(|tried| broken.hits(tried));
        let hit = laps.iter().filter(is_under).find(was_hit).map(|lap| lap.task);
        let strip = strip(laps, broken);
        let under =
            laps.iter().filter(|lap| hit.is_some_and(|hit| lap.task >= hit) && is_under(lap));
        let under: Vec<&Lap> = under.collect();
        let choices = choices(&under, &strip, broken);
        let stable = hit.and_then(|_| stable(&choices));
        let is_open = goes_on && broken.until.is_none() && !is_lost(&choices);
        let tasks = choices.len();
        let failed = choices.iter().filter(|(_, is_good)| !is_good).count();
        let verdict = match (hit, stable) {
            (None, _) => RecoveryVerdict::NotAffected,
            (Some(_), Some(stable)) => RecoveryVerdict::Recovered {
                after: choices.iter().filter(|(task, _)| *task < stable).count(),
            },
            (Some(hit), None) if is_open && laps.iter().all(|lap| lap.task >= hit) => {
                RecoveryVerdict::NoComparison
            }
            (Some(_), None) if is_open => RecoveryVerdict::Recovering { tasks },
            (Some(_), None) => RecoveryVerdict::NotRecovered { failed, tasks },
        };
        let found = Self { strip, verdict, hit, stable, ..Self::default() };
        found.with_means(laps.iter(), broken)
    }

    /// The same with the means of a session that did these tasks without the fault. Others of its tasks do not count.
    pub fn beside(&self, own: &[Lap], without: &[Lap], broken: &Broken) -> Self {
        let tasks: BTreeSet<_> = own.iter().map(|lap| lap.task).collect();
        let same = without.iter().filter(|lap| tasks.contains(&lap.task));
        let (strip, verdict) = (Vec::new(), RecoveryVerdict::NotAffected);
        Self { strip, verdict, ..self.clone() }.with_means(same, broken)
    }

    /// The means of these tasks before the fault hit, until the choice was stable or the fault was over, and since then.
    fn with_means<'a>(self, laps: impl Iterator<Item = &'a Lap>, broken: &Broken) -> Self {
        let first = self.hit.unwrap_or(broken.from);
        let is_done = |lap: &&Lap| {
            broken.until.is_some_and(|until| lap.task > until)
                || self.stable.is_some_and(|stable| lap.task >= stable)
        };
        let (before, since): (Vec<&Lap>, Vec<&Lap>) = laps.partition(|lap| lap.task < first);
        let (after, meanwhile): (Vec<&Lap>, Vec<&Lap>) = since.into_iter().partition(is_done);
        let [before, meanwhile, after] = [before, meanwhile, after].map(|laps| Means::of(&laps));
        Self { before, meanwhile, after, ..self }
    }

    /// The recovery from the newest fault of tools in a session that has ended, with that fault. `None` without such a
    /// fault, if the tasks before it are not kept, or for a watched agent: its tasks before and after are of any kind.
    pub fn of_session(state: &State) -> Option<(&FaultState, Self)> {
        if state.watched.is_some() {
            return None;
        }
        let (fault, broken) = Broken::newest(state, None)?;
        let laps = state.laps_in_order();
        let is_kept = state.laps.gone() == 0 || laps.first()?.task < broken.from;
        is_kept.then(|| (fault, Self::of(&laps, &broken, false)))
    }

    /// The number of additional calls per task, compared with before, until the choice was stable.
    pub fn more_calls(&self) -> Option<f64> {
        (self.before.tasks > 0 && self.meanwhile.tasks > 0)
            .then_some(self.meanwhile.calls - self.before.calls)
    }

    /// Whether every answer was right under the fault, although the choice of tools never became stable.
    pub fn is_unharmed(&self) -> bool {
        let (wrong, graded) = self.wrong_since();
        matches!(self.verdict, RecoveryVerdict::NotRecovered { .. }) && wrong == 0 && graded > 0
    }

    /// The numbers of wrong and of graded answers since the fault hit.
    pub fn wrong_since(&self) -> (usize, usize) {
        let graded = self.meanwhile.graded + self.after.graded;
        (graded - self.meanwhile.right - self.after.right, graded)
    }
}

impl Broken {
    /// The tools that a fault of a session breaks; `None` if it does not break tools.
    pub fn of(state: &State, fault: &FaultState) -> Option<Self> {
        if !matches!(fault.spec.target, Target::Tool(_) | Target::Class(_)) {
            return None;
        }
        let hit = state.tools.values().filter(|tool| fault.spec.target.matches(&tool.aim()));
        let tools = hit.map(|tool| tool.spec.name.clone()).collect();
        let from =
            fault.spec.trigger.from_task.map_or(fault.from, |from| fault.from.max(TaskId(from)));
        Some(Self { tools, from, until: fault.until })
    }

    /// The newest fault of tools that could hit this task, or any task; one that was taken back before it hit anything
    /// only if there is no other.
    pub fn newest(state: &State, task: Option<TaskId>) -> Option<(&FaultState, Self)> {
        let faults =
            state.faults.iter().filter(|(_, fault)| task.is_none_or(|at| fault.from <= at));
        let broken = faults.filter_map(|(id, fault)| Some((id, fault, Self::of(state, fault)?)));
        let newest =
            broken.max_by_key(|(id, fault, _)| (fault.armed || fault.fired > 0, fault.from, **id));
        newest.map(|(_, fault, broken)| (fault, broken))
    }

    fn hits(&self, tried: &Tried) -> bool {
        tried.end == TriedEnd::Injected && self.tools.contains(&tried.tool)
    }
}

impl Means {
    pub fn of(laps: &[&Lap]) -> Self {
        let mean = |of: fn(&Lap) -> f64| {
            laps.iter().map(|lap| of(lap)).sum::<f64>() / laps.len().max(1) as f64
        };
        Self {
            tasks: laps.len(),
            calls: mean(|lap| lap.calls() as f64),
            tokens: mean(|lap| lap.tokens as f64),
            credits: mean(|lap| *lap.credits),
            dollars: mean(|lap| *lap.dollars),
            graded: laps.iter().filter(|lap| lap.correct.is_some()).count(),
            right: laps.iter().filter(|lap| lap.is_right()).count(),
        }
    }

    /// The share of right answers, from 0 to 1; `None` if no answer is graded.
    pub fn right_share(&self) -> Option<f64> {
        (self.graded > 0).then(|| self.right as f64 / self.graded as f64)
    }
}

impl fmt::Display for RecoveryVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tasks = |n: usize| counted(n, "affected task");
        match *self {
            RecoveryVerdict::NotAffected => f.write_str("not affected"),
            RecoveryVerdict::Recovered { after } => write!(f, "recovered after {}", tasks(after)),
            RecoveryVerdict::Recovering { tasks: n } => {
                write!(f, "recovering, {} so far", tasks(n))
            }
            RecoveryVerdict::NoComparison => {
                f.write_str("no comparison: the fault began with the first task")
            }
            RecoveryVerdict::NotRecovered { failed, tasks: n } => {
                write!(f, "not recovered: {failed} of {n} first choices failed")
            }
        }
    }
}

/// The verdict in one line: `recovered after 3 affected tasks (7–13), +1.2 calls each, 0 answers lost`.
/// `lost`: the answers that are right without the fault and wrong with it, if known.
pub fn sentence(resilience: &Resilience, lost: Option<usize>) -> String {
    let mut said = resilience.verdict.to_string();
    let Some(hit) = resilience.hit else { return said };
    if let Some(stable) = resilience.stable {
        said.push_str(&format!(" ({hit}–{stable})"));
    }
    let is_unharmed = resilience.is_unharmed();
    if is_unharmed {
        "unaffected: every answer right".clone_into(&mut said);
    }
    // Fewer calls than before are no price.
    if let Some(more) = resilience.more_calls().filter(|more| *more > -0.05) {
        let more = if more.abs() < 0.05 { 0.0 } else { more };
        let more = format!("{more:+.1}").replace('-', "−");
        said.push_str(&format!(", {more} calls each"));
    }
    let (wrong, graded) = resilience.wrong_since();
    let answers = |n: usize| if n == 1 { "1 answer".to_owned() } else { format!("{n} answers") };
    match lost.or((wrong == 0 && graded > 0).then_some(0)) {
        Some(0) if is_unharmed => {}
        Some(lost) => said.push_str(&format!(", {} lost", answers(lost))),
        None if graded > 0 => {
            let before = resilience.before.right_share();
            let before = before.map(|share| format!(" (before: {:.0} %)", 100.0 * share));
            let right = 100.0 * (graded - wrong) as f64 / graded as f64;
            said.push_str(&format!(", {right:.0} % right{}", before.unwrap_or_default()));
        }
        None => {}
    }
    said
}

/// The answers that are right in the other session, which had no fault, and wrong in this one.
pub fn lost(laps: &[Lap], without: &[Lap], from: TaskId) -> usize {
    let right: BTreeMap<_, _> = without.iter().map(|lap| (lap.task, lap.is_right())).collect();
    let is_lost = |lap: &&Lap| {
        lap.task >= from
            && lap.outcome.is_some()
            && !lap.is_right()
            && right.get(&lap.task) == Some(&true)
    };
    laps.iter().filter(is_lost).count()
}

/// The broken tools, then their replacements.
fn strip(laps: &[Lap], broken: &Broken) -> Vec<ToolName> {
    let mut calls: BTreeMap<&ToolName, usize> = BTreeMap::new();
    let tried = || laps.iter().filter(|lap| lap.task >= broken.from).flat_map(|lap| &lap.tried);
    for tried in tried() {
        let stands_in = tried.instead_of.as_ref().is_some_and(|tool| broken.tools.contains(tool));
        if stands_in && !broken.tools.contains(&tried.tool) {
            calls.entry(&tried.tool).or_default();
        }
    }
    for tried in tried().filter(|tried| tried.end != TriedEnd::Refused) {
        if let Some(count) = calls.get_mut(&tried.tool) {
            *count += 1;
        }
    }
    let mut others: Vec<_> = calls.into_iter().collect();
    others.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let others = others.into_iter().map(|(tool, _)| tool.clone()).take(STAND_INS);
    broken.tools.iter().cloned().chain(others).collect()
}

/// The task's first call of a tool of the strip, among ended calls.
fn first<'l>(lap: &'l Lap, strip: &[ToolName]) -> Option<&'l Tried> {
    let counts = |tried: &&Tried| !matches!(tried.end, TriedEnd::Refused | TriedEnd::Open);
    lap.tried.iter().filter(counts).find(|tried| strip.contains(&tried.tool))
}

/// The first task of a row whose first choices succeeded.
fn stable(choices: &[(TaskId, bool)]) -> Option<TaskId> {
    let row = choices.windows(ROW).find(|row| row.iter().all(|(_, is_good)| *is_good));
    row.map(|row| row[0].0)
}

/// Whether a first choice failed so late that the agent counts as lost, until its choice is stable.
fn is_lost(choices: &[(TaskId, bool)]) -> bool {
    choices.iter().skip(LOST - 1).any(|(_, is_good)| !is_good)
}

/// Whether the first choice of each task that needs the tools was good; other tasks do not count.
fn choices(laps: &[&Lap], strip: &[ToolName], broken: &Broken) -> Vec<(TaskId, bool)> {
    let choice = |lap: &&Lap| {
        let chose_well = first(lap, strip)?.end == TriedEnd::Ok;
        Some((lap.task, chose_well && !lap.tried.iter().any(|tried| broken.hits(tried))))
    };
    laps.iter().filter_map(choice).collect()
}

/// Determines how a task used a tool of the strip.
pub fn used(lap: &Lap, tool: &ToolName, strip: &[ToolName]) -> Use {
    let mut calls = lap.tried.iter().filter(|tried| tried.tool == *tool);
    let ends = calls.clone().map(|tried| tried.end);
    if ends.clone().any(|end| end == TriedEnd::Injected) {
        return Use::Injected;
    }
    let is_first = first(lap, strip).is_some_and(|first| first.tool == *tool);
    if is_first && ends.clone().any(TriedEnd::is_bad) {
        return Use::Failed;
    }
    match calls.any(|tried| tried.end == TriedEnd::Ok) {
        true if is_first => Use::First,
        true => Use::Second,
        false if ends.clone().any(TriedEnd::is_bad) => Use::Failed,
        false => Use::None,
    }
}

/// The number of calls of a tool in these tasks.
pub fn calls(laps: &[Lap], tool: &str, from: u32, to: u32) -> usize {
    let within = laps.iter().filter(|lap| (from..=to).contains(&lap.task.0));
    within.map(|lap| lap.calls_of(tool)).sum()
}

/// The score of a tool after this task, given its scores in the order of their tasks.
pub fn score_after(points: impl IntoIterator<Item = (TaskId, f64)>, task: u32) -> f64 {
    let until = points.into_iter().take_while(|(at, _)| at.0 <= task);
    until.last().map_or(0.0, |(_, score)| score)
}

#[cfg(test)]
mod tests;
