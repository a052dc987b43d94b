//! A knob tried at several values, each on the same tasks: the best value, and whether the tasks show a difference.

use std::cmp::Ordering;

use strum::{IntoStaticStr, VariantArray};

use super::resilience::Means;
use crate::domain::{Knob, KnobSpec, Lap, State, Task};

/// The most tasks of each value.
pub const MOST_TASKS: usize = 200;

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

    /// Orders two means: the better one is less.
    fn compare(self, one: f64, other: f64) -> Ordering {
        match self {
            Measure::Right => other.total_cmp(&one),
            _ => one.total_cmp(&other),
        }
    }
}

/// The best values of a sweep, by their places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Best {
    /// Places of the best values, ascending; the tasks show no difference between them.
    pub places: Vec<usize>,
    /// The place of the best value that is nearest to the present one.
    pub pick: usize,
    /// Places of values with clearly fewer right answers; they are never among the best, whatever their cost.
    pub worse: Vec<usize>,
}

/// The tasks of each value, once all of them are done.
pub fn best(scope: &Scope, runs: &[Vec<Lap>], measure: Measure) -> Option<Best> {
    let done = runs.len() == scope.values.len()
        && runs.iter().all(|laps| laps.len() == scope.tasks.len() && !laps.is_empty());
    if !done {
        return None;
    }
    let all: Vec<usize> = (0..runs.len()).collect();
    let right = among(&all, runs, Measure::Right);
    let worse = all.iter().copied().filter(|place| !right.contains(place)).collect();
    let places = among(&right, runs, measure);
    let far = |place: &usize| (scope.values[*place] - scope.now).abs();
    let pick = places.iter().copied().min_by(|a, b| far(a).total_cmp(&far(b)))?;
    Some(Best { places, pick, worse })
}

/// Selects the runs that are as good as the best one. A difference that comes from a single task does not count.
fn among(places: &[usize], runs: &[Vec<Lap>], measure: Measure) -> Vec<usize> {
    let sum = |place: &usize| runs[*place].iter().map(|lap| measure.of(lap)).sum::<f64>();
    let top = places.iter().min_by(|a, b| measure.compare(sum(a), sum(b)));
    let Some(top) = top else { return Vec::new() };
    let is_as_good = |place: &&usize| {
        let pairs = runs[**place].iter().zip(&runs[*top]);
        let behind = pairs.map(|(lap, best)| match measure {
            Measure::Right => measure.of(best) - measure.of(lap),
            _ => measure.of(lap) - measure.of(best),
        });
        let (mut all, mut most) = (0.0, 0.0_f64);
        behind.for_each(|by| (all, most) = (all + by, most.max(by)));
        all - most <= 1e-9
    };
    places.iter().filter(is_as_good).copied().collect()
}

/// The best values with the reason, in one sentence: `best: 0.25 to 0.50 (fewest calls: 1.42, now 1.61); 100 % right at all values`.
/// Right answers count before everything else.
pub fn sentence(scope: &Scope, runs: &[Vec<Lap>], measure: Measure) -> Option<String> {
    let Best { places, pick, worse } = best(scope, runs, measure)?;
    let spec = scope.knob.spec();
    let means: Vec<Means> =
        runs.iter().map(|laps| Means::of(&laps.iter().collect::<Vec<_>>())).collect();
    let mean = |place: usize| measure.mean(&means[place]);
    let name: &str = measure.into();
    let is_graded = means.iter().all(|means| means.graded > 0);
    if measure == Measure::Right && !is_graded {
        return Some("no right answers known".to_owned());
    }
    let share = |means: &Means| means.right_share().unwrap_or(0.0);
    let percent = |share: f64| Measure::Right.show(share);
    let rest = match (worse.is_empty(), is_graded) {
        (false, _) => format!("; fewer right answers at {}", spans(spec, &scope.values, &worse)),
        (true, true) if measure != Measure::Right => {
            format!("; {} right at all values", range(means.iter().map(share), percent))
        }
        (true, _) => String::new(),
    };
    let is_apart = places.len() + worse.len() < runs.len();
    if worse.is_empty() && !is_apart {
        let range = range(places.iter().map(|place| mean(*place)), |mean| measure.show(mean));
        return Some(format!("{name}: no clear difference ({range}){rest}"));
    }
    let mut reasons = Vec::new();
    if !worse.is_empty() {
        reasons.push(format!("{} right", percent(share(&means[pick]))));
    }
    if is_apart {
        let now = scope.values.iter().position(|value| *value == scope.now);
        let least = measure.show(mean(pick));
        let now = now.filter(|now| !places.contains(now)).map(|now| measure.show(mean(now)));
        let now = now.filter(|now| *now != least).map(|now| format!(", now {now}"));
        let then = if reasons.is_empty() { "" } else { "then " };
        reasons.push(format!("{then}fewest {name}: {least}{}", now.unwrap_or_default()));
    }
    let at = spans(spec, &scope.values, &places);
    let said = format!("best: {at} ({}){rest}", reasons.join(", "));
    Some(said)
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

    #[test]
    fn what_many_tasks_show_is_told_with_the_present_value() {
        let scope = scope(&[0.0, 0.25, 0.5], 4);
        let runs = [laps(&[1, 1, 1, 2], &[]), laps(&[1, 1, 1, 1], &[]), laps(&[2, 2, 1, 1], &[])];
        let found = best(&scope, &runs, Measure::Calls).unwrap();
        assert_eq!((found.places, found.pick), (vec![0, 1], 1), "one task makes no difference");
        assert_eq!(
            sentence(&scope, &runs, Measure::Calls).unwrap(),
            "best: 0.00, 0.25 (fewest calls: 1.00, now 1.50); 100 % right at all values"
        );
        assert_eq!(
            sentence(&scope, &runs, Measure::Tokens).unwrap(),
            "tokens: no clear difference (100); 100 % right at all values"
        );
        assert_eq!(
            sentence(&scope, &runs, Measure::Right).unwrap(),
            "right answers: no clear difference (100 %)"
        );
    }

    #[test]
    fn a_difference_of_one_task_is_none() {
        let scope = scope(&[0.25, 0.5], 4);
        let runs = [laps(&[1, 1, 1, 9], &[]), laps(&[1, 1, 1, 1], &[])];
        let said = sentence(&scope, &runs, Measure::Calls).unwrap();
        assert_eq!(said, "calls: no clear difference (1.00 to 3.00); 100 % right at all values");
        assert_eq!(best(&scope, &runs, Measure::Calls).unwrap().pick, 1, "the present value stays");
    }

    #[test]
    fn what_is_cheap_because_it_is_wrong_is_not_the_best() {
        let scope = scope(&[0.0, 0.25, 0.5], 4);
        let runs = [
            laps(&[0, 0, 0, 0], &[0, 1, 2, 3]),
            laps(&[1, 1, 1, 1], &[0]),
            laps(&[2, 2, 2, 2], &[]),
        ];
        let found = best(&scope, &runs, Measure::Calls).unwrap();
        assert_eq!((found.places, found.worse), (vec![1], vec![0]));
        let said = sentence(&scope, &runs, Measure::Calls).unwrap();
        assert_eq!(
            said,
            "best: 0.25 (75 % right, then fewest calls: 1.00, now 2.00); fewer right answers at 0.00"
        );
    }

    #[test]
    fn the_reason_for_the_best_is_the_one_that_decides() {
        let scope = scope(&[0.0, 0.25, 0.5], 4);
        // The best value takes the most calls: it is the best for its right answers.
        let runs = [
            laps(&[3, 3, 3, 3], &[]),
            laps(&[1, 1, 1, 1], &[0, 1]),
            laps(&[1, 1, 1, 1], &[0, 1, 2]),
        ];
        let right = "best: 0.00 (100 % right); fewer right answers at 0.25, 0.50";
        for measure in [Measure::Calls, Measure::Right] {
            assert_eq!(sentence(&scope, &runs, measure).unwrap(), right);
        }
    }

    #[test]
    fn nothing_is_best_before_all_tasks_are_done() {
        let scope = scope(&[0.0, 0.5], 2);
        assert_eq!(best(&scope, &[laps(&[1, 1], &[]), laps(&[1], &[])], Measure::Calls), None);
        assert_eq!(best(&scope, &[laps(&[1, 1], &[])], Measure::Calls), None);
    }
}
