//! A knob tried at several values, each with the same seeds on the same tasks: the best value, and whether it is better
//! than the present one by more than noise.

use std::cmp::Ordering;

use strum::{IntoStaticStr, VariantArray};

use super::noise::{Difference, clear};
use super::resilience::Means;
use crate::domain::{Knob, KnobSpec, Lap, State, Task};

/// The most tasks of each value and seed.
pub const MOST_TASKS: usize = 200;
/// Seeds of each value: that of the session and those after it.
pub const SEEDS: usize = 5;

/// The scope of a sweep: a knob at these values, on these tasks.
#[derive(Clone, Debug, PartialEq)]
pub struct Scope {
    pub knob: Knob,
    /// The present value of the knob.
    pub now: f64,
    /// Ascending.
    pub values: Vec<f64>,
    pub tasks: Vec<Task>,
    /// Whether all tasks of the session have been done, so that they are repeated.
    pub again: bool,
    /// Tasks that are left out, since there are too many.
    pub left_out: usize,
}

impl Scope {
    /// Why there is nothing to try; `None`: there is something.
    pub fn why_not(state: &State, knob: Knob) -> Option<&'static str> {
        if knob == Knob::Speed {
            return Some("speed has no effect on the copies of a sweep");
        }
        let no_task = || state.tasks.is_empty().then_some("no task to try it on");
        knob.why_unread(state.strategy, &state.knobs).or_else(no_task)
    }

    /// The values of a knob around the present one, on the tasks that have not begun; on all tasks, if none is left.
    ///
    /// # Errors
    /// Why there is nothing to try.
    pub fn of(state: &State, knob: Knob) -> Result<Self, &'static str> {
        if let Some(why) = Self::why_not(state, knob) {
            return Err(why);
        }
        let begun = state.tasks_started();
        let again = begun >= state.tasks.len();
        let first = if again { 0 } else { begun };
        let mut tasks: Vec<Task> = state.tasks.from(first).map(|task| task.task.clone()).collect();
        let left_out = tasks.len().saturating_sub(MOST_TASKS);
        tasks.truncate(MOST_TASKS);
        let now = state.knobs.get(knob);
        Ok(Self { knob, now, values: knob.spec().around(now), tasks, again, left_out })
    }
}

/// The criterion for comparing values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, VariantArray, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Measure {
    #[default]
    Calls,
    Tokens,
    Credits,
    Dollars,
    #[strum(serialize = "right answers")]
    Right,
}

impl Measure {
    /// The value of this measure for one task.
    pub fn of(self, lap: &Lap) -> f64 {
        match self {
            Measure::Calls => lap.calls() as f64,
            Measure::Tokens => lap.tokens as f64,
            Measure::Credits => *lap.credits,
            Measure::Dollars => *lap.dollars,
            Measure::Right => f64::from(u8::from(lap.is_right())),
        }
    }

    /// The mean of this measure over tasks; for right answers, their share.
    pub fn mean(self, means: &Means) -> f64 {
        match self {
            Measure::Calls => means.calls,
            Measure::Tokens => means.tokens,
            Measure::Credits => means.credits,
            Measure::Dollars => means.dollars,
            Measure::Right => means.right_share().unwrap_or(0.0),
        }
    }

    /// A mean in the form that people read.
    pub fn show(self, mean: f64) -> String {
        match self {
            Measure::Calls | Measure::Credits => format!("{mean:.2}"),
            Measure::Tokens => format!("{mean:.0}"),
            Measure::Dollars => format!("${mean:.4}"),
            Measure::Right => format!("{:.0} %", 100.0 * mean),
        }
    }

    /// A difference with its standard error and unit.
    fn show_difference(self, by: Difference) -> String {
        let name: &str = self.into();
        let shown = match self {
            Measure::Calls | Measure::Credits => format!("{by:.2} {name} per task"),
            Measure::Tokens => format!("{by:.0} tokens per task"),
            Measure::Dollars => format!("{by:.4} dollars per task"),
            Measure::Right => {
                let points = Difference { mean: 100.0 * by.mean, error: 100.0 * by.error, ..by };
                format!("{points:.1} points right")
            }
        };
        shown.replace('-', "−")
    }

    /// Orders two means: the better one is less.
    fn compare(self, one: f64, other: f64) -> Ordering {
        match self {
            Measure::Right => other.total_cmp(&one),
            _ => one.total_cmp(&other),
        }
    }
}

/// The result of a sweep, by the places of its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Best {
    /// Places of the values that are not clearly behind the best one, ascending.
    pub places: Vec<usize>,
    /// Among them the one nearest to the present value that is clearly better than it, with the difference that decides:
    /// in right answers if the present value has clearly fewer, else in the measure. `None`: the present value stays.
    pub better: Option<(usize, Difference)>,
    /// Places of values with clearly fewer right answers; they are never among the best, whatever their cost.
    pub worse: Vec<usize>,
}

/// The result, once all tasks of each value are done with each seed. `runs` has the tasks of each value, seed by seed.
pub fn best(scope: &Scope, runs: &[Vec<Lap>], measure: Measure) -> Option<Best> {
    let each = scope.tasks.len();
    let is_done = runs.len() == scope.values.len()
        && each > 0
        && runs.iter().all(|laps| laps.len() == each * SEEDS);
    let now = scope.values.iter().position(|value| *value == scope.now);
    let (true, Some(now)) = (is_done, now) else { return None };
    let trials = Trials { runs, each };
    let all: Vec<usize> = (0..runs.len()).collect();
    let right = trials.as_good(&all, Measure::Right);
    let worse: Vec<usize> = all.iter().copied().filter(|place| !right.contains(place)).collect();
    let places = trials.as_good(&right, measure);
    let decides = if worse.contains(&now) { Measure::Right } else { measure };
    let far = |place: usize| (scope.values[place] - scope.now).abs();
    let better = trials.apart(now, &all, decides).into_iter().filter(|(place, difference)| {
        let is_better = decides.compare(difference.mean, 0.0) == Ordering::Less;
        is_better && places.contains(place) && !places.contains(&now)
    });
    let better = better.min_by(|(a, _), (b, _)| far(*a).total_cmp(&far(*b)));
    Some(Best { places, better, worse })
}

/// The tasks of each value.
struct Trials<'t> {
    runs: &'t [Vec<Lap>],
    /// Tasks of one seed.
    each: usize,
}

impl Trials<'_> {
    /// A measure at one place less that at another one, over the seeds.
    fn difference(&self, own: usize, other: usize, measure: Measure) -> Difference {
        let pairs = self.runs[own].iter().zip(&self.runs[other]);
        let tasks: Vec<f64> =
            pairs.map(|(own, other)| measure.of(own) - measure.of(other)).collect();
        Difference::of_seeds(tasks.chunks(self.each))
    }

    /// The places that clearly differ from this one, each less this one.
    fn apart(&self, own: usize, all: &[usize], measure: Measure) -> Vec<(usize, Difference)> {
        let others = all.iter().copied().filter(|place| *place != own);
        let (others, differences): (Vec<usize>, Vec<Difference>) =
            others.map(|other| (other, self.difference(other, own, measure))).unzip();
        let clear = clear(&differences);
        let all = others.into_iter().zip(differences).zip(clear);
        all.filter_map(|(other, clear)| clear.then_some(other)).collect()
    }

    /// The places that are not clearly behind the best one.
    fn as_good(&self, places: &[usize], measure: Measure) -> Vec<usize> {
        let sum = |place: &usize| self.runs[*place].iter().map(|lap| measure.of(lap)).sum::<f64>();
        let top = places.iter().copied().min_by(|a, b| measure.compare(sum(a), sum(b)));
        let Some(top) = top else { return Vec::new() };
        let behind = self.apart(top, places, measure);
        let is_behind = |place: &usize| behind.iter().any(|(other, _)| other == place);
        places.iter().copied().filter(|place| !is_behind(place)).collect()
    }
}

/// The result in one sentence: `best: 12.00 (+18.2 ± 2.1 points right against 8.00, now)`, or that nothing is clearly
/// better than the present value. Right answers count before everything else.
pub fn sentence(scope: &Scope, runs: &[Vec<Lap>], measure: Measure) -> Option<String> {
    let Best { places, better, worse } = best(scope, runs, measure)?;
    let spec = scope.knob.spec();
    let means: Vec<Means> =
        runs.iter().map(|laps| Means::of(&laps.iter().collect::<Vec<_>>())).collect();
    let is_graded = means.iter().all(|means| means.graded > 0);
    if measure == Measure::Right && !is_graded {
        return Some("no right answers known".to_owned());
    }
    let over = |measure: Measure| {
        range(means.iter().map(|means| measure.mean(means)), |mean| measure.show(mean))
    };
    let name: &str = measure.into();
    let now = spec.show(scope.now);
    let first = match better {
        Some((pick, difference)) => {
            let decides = if is_worse(scope, &worse) { Measure::Right } else { measure };
            let others: Vec<usize> = places.iter().copied().filter(|at| *at != pick).collect();
            let others = match others.is_empty() {
                true => String::new(),
                false => {
                    format!("; not clearly different: {}", spans(spec, &scope.values, &others))
                }
            };
            let best = spec.show(scope.values[pick]);
            format!(
                "best: {best} ({} against {now}, now){others}",
                decides.show_difference(difference)
            )
        }
        None if places.len() == runs.len() => {
            format!("{name}: no clear difference ({}); {now} stays", over(measure))
        }
        None if places.len() > 1 => {
            let among = spans(spec, &scope.values, &places);
            format!("{name}: no clear difference among {among}; {now} stays")
        }
        None => format!("best: {now}, as now"),
    };
    let rest = match (worse.is_empty(), is_graded) {
        (false, _) => format!("; fewer right answers at {}", spans(spec, &scope.values, &worse)),
        (true, true) if measure != Measure::Right => format!("; {} right", over(Measure::Right)),
        (true, _) => String::new(),
    };
    Some(first + &rest)
}

/// Whether the present value is among these places.
fn is_worse(scope: &Scope, worse: &[usize]) -> bool {
    worse.iter().any(|place| scope.values[*place] == scope.now)
}

/// The smallest and the largest of some numbers, or the only one if they are equal.
fn range(numbers: impl Iterator<Item = f64> + Clone, show: impl Fn(f64) -> String) -> String {
    let least = show(numbers.clone().fold(f64::INFINITY, f64::min));
    let most = show(numbers.fold(f64::NEG_INFINITY, f64::max));
    if least == most { least } else { format!("{least} to {most}") }
}

/// Values in words, neighbours as a span: `0.25 to 0.50, 2.00`.
fn spans(spec: &KnobSpec, values: &[f64], places: &[usize]) -> String {
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for place in places {
        match spans.last_mut().filter(|span| span.1 + 1 == *place) {
            Some(span) => span.1 = *place,
            None => spans.push((*place, *place)),
        }
    }
    let show = |place: usize| spec.show(values[place]);
    let words = spans.into_iter().map(|(from, to)| match to - from {
        0 => show(from),
        1 => format!("{}, {}", show(from), show(to)),
        _ => format!("{} to {}", show(from), show(to)),
    });
    words.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{TaskId, Tried, TriedEnd};

    /// Tasks with these numbers of calls, which are right except for `wrong`.
    fn laps(calls: &[usize], wrong: &[usize]) -> Vec<Lap> {
        let lap = |(at, calls): (usize, &usize)| Lap {
            task: TaskId(at as u32 + 1),
            outcome: None,
            correct: Some(!wrong.contains(&at)),
            tried: (0..*calls)
                .map(|_| Tried { tool: "a".into(), end: TriedEnd::Ok, instead_of: None })
                .collect(),
            tokens: 100,
            credits: (*calls as f64).into(),
            dollars: 0.0.into(),
            ..Lap::default()
        };
        calls.iter().enumerate().map(lap).collect()
    }

    fn scope(values: &[f64], tasks: usize) -> Scope {
        Scope {
            knob: Knob::Alpha,
            now: 0.5,
            values: values.to_vec(),
            tasks: vec![Task::from_text("x"); tasks],
            again: false,
            left_out: 0,
        }
    }

    /// The runs of values, whose tasks have these calls with each seed, and one call more where the seed is among `noisy`.
    fn seeds(calls: &[usize], wrong: &[usize], noisy: &[usize]) -> Vec<Lap> {
        let of_seed = |seed: usize| {
            let mut own = calls.to_vec();
            own[seed % calls.len()] += usize::from(noisy.contains(&seed));
            laps(&own, wrong)
        };
        (0..SEEDS).flat_map(of_seed).collect()
    }

    #[test]
    fn a_clear_difference_is_told_with_its_error() {
        let scope = scope(&[0.0, 0.25, 0.5], 4);
        let runs = [
            seeds(&[1, 1, 1, 1], &[], &[0, 1]),
            seeds(&[1, 1, 1, 1], &[], &[0]),
            seeds(&[3, 3, 3, 3], &[], &[2, 4]),
        ];
        let found = best(&scope, &runs, Measure::Calls).unwrap();
        assert_eq!((found.places, found.worse), (vec![0, 1], vec![]));
        assert_eq!(found.better.unwrap().0, 1, "the nearest one");
        assert_eq!(
            sentence(&scope, &runs, Measure::Calls).unwrap(),
            "best: 0.25 (−2.05 ± 0.09 calls per task against 0.50, now); not clearly different: 0.00; 100 % right"
        );
        assert_eq!(
            sentence(&scope, &runs, Measure::Tokens).unwrap(),
            "tokens: no clear difference (100); 0.50 stays; 100 % right"
        );
        let right = "right answers: no clear difference (100 %); 0.50 stays";
        assert_eq!(sentence(&scope, &runs, Measure::Right).unwrap(), right);
    }

    #[test]
    fn a_difference_of_one_task_or_of_one_seed_is_none() {
        let scope = scope(&[0.25, 0.5], 4);
        let same = seeds(&[1, 1, 1, 1], &[], &[]);
        // With every seed the same task is dear: five seeds are one session then.
        for odd in [seeds(&[1, 1, 1, 9], &[], &[]), seeds(&[1, 1, 1, 1], &[], &[3])] {
            for runs in [[odd.clone(), same.clone()], [same.clone(), odd.clone()]] {
                let said = sentence(&scope, &runs, Measure::Calls).unwrap();
                assert!(said.starts_with("calls: no clear difference (1.00 to "), "{said}");
                assert!(said.ends_with("; 0.50 stays; 100 % right"), "{said}");
                assert_eq!(best(&scope, &runs, Measure::Calls).unwrap().better, None);
            }
        }
    }

    #[test]
    fn what_is_cheap_because_it_is_wrong_is_not_the_best() {
        let scope = scope(&[0.0, 0.25, 0.5], 4);
        let runs = [
            seeds(&[1, 1, 1, 1], &[0, 1, 2, 3], &[]),
            seeds(&[2, 2, 2, 2], &[], &[1, 2]),
            seeds(&[4, 4, 4, 4], &[], &[]),
        ];
        let found = best(&scope, &runs, Measure::Calls).unwrap();
        assert_eq!((found.places, found.worse), (vec![1], vec![0]));
        assert_eq!(
            sentence(&scope, &runs, Measure::Calls).unwrap(),
            "best: 0.25 (−1.90 ± 0.06 calls per task against 0.50, now); fewer right answers at 0.00"
        );
    }

    #[test]
    fn more_right_answers_are_better_at_any_cost() {
        let scope = scope(&[0.0, 0.25, 0.5], 4);
        let runs = [
            seeds(&[3, 3, 3, 3], &[], &[]),
            seeds(&[1, 1, 1, 1], &[0, 1, 2, 3], &[]),
            seeds(&[1, 1, 1, 1], &[0, 1, 2, 3], &[]),
        ];
        for measure in [Measure::Calls, Measure::Right] {
            assert_eq!(
                sentence(&scope, &runs, measure).unwrap(),
                "best: 0.00 (+100.0 ± 0.0 points right against 0.50, now); fewer right answers at 0.25, 0.50"
            );
        }
    }

    #[test]
    fn nothing_is_best_before_all_tasks_are_done_with_every_seed() {
        let scope = scope(&[0.0, 0.5], 2);
        let done = seeds(&[1, 1], &[], &[]);
        assert_eq!(best(&scope, &[done.clone(), done[..9].to_vec()], Measure::Calls), None);
        assert_eq!(best(&scope, &[done], Measure::Calls), None);
    }
}
