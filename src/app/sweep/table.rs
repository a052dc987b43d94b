//! The results of a sweep: for each point the mean over seeds with its interval, and the difference from the present point.

use serde_json::{Value, json};

use super::axis::SweptAxis;
use super::point_run::{PointRun, SweepMeasure};
use crate::papers::noise::{Difference, clear};
use crate::papers::share;

/// The results of a sweep, point by point: the second axis varies faster.
#[derive(Clone, Debug)]
pub struct SweepTable {
    pub axes: Vec<SweptAxis>,
    pub seeds: Vec<u64>,
    /// For each point the sessions of its seeds, in their order; `None`: not known yet.
    pub runs: Vec<Vec<Option<PointRun>>>,
    /// The present point, if it is among them.
    pub now: Option<usize>,
}

/// A point, judged by a measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointMean {
    /// The mean over seeds.
    pub mean: f64,
    /// The number of seeds that have a value.
    pub seeds: usize,
    /// The 95 % interval of the mean; `None` for one seed.
    pub interval: Option<(f64, f64)>,
    /// The difference from the present point, over the seeds that both have; `None` at that point, or without one.
    pub apart: Option<Difference>,
    /// Whether that difference is more than chance: Student's t with Holm's correction over all points.
    pub is_clear: bool,
}

impl SweepTable {
    /// The places of the axes' values at this point.
    pub fn places(&self, point: usize) -> Vec<usize> {
        places(&self.axes, point)
    }

    /// Each point, judged by this measure; `None` where nothing is known.
    pub fn means(&self, measure: SweepMeasure) -> Vec<Option<PointMean>> {
        let values =
            |point: usize, seed: usize| Some(self.runs[point][seed].as_ref()?.values(measure));
        let seeds = 0..self.seeds.len();
        let apart: Vec<Option<Difference>> = (0..self.runs.len())
            .map(|point| {
                let now = self.now.filter(|now| *now != point)?;
                let pairs: Vec<Vec<f64>> = seeds
                    .clone()
                    .filter_map(|seed| {
                        let pairs = values(point, seed)?.into_iter().zip(values(now, seed)?);
                        Some(pairs.filter_map(|(own, now)| Some(own? - now?)).collect())
                    })
                    .collect();
                over(&pairs)
            })
            .collect();
        let known: Vec<Difference> = apart.iter().flatten().copied().collect();
        let mut clear = clear(&known).into_iter();
        let judged = apart.into_iter().enumerate().map(|(point, apart)| {
            let is_clear = apart.is_some() && clear.next().unwrap_or_default();
            let all = seeds.clone().filter_map(|seed| values(point, seed));
            let all: Vec<Vec<f64>> = all.map(|all| all.into_iter().flatten().collect()).collect();
            let seeds = all.iter().filter(|tasks| !tasks.is_empty()).count();
            let mean = over(&all)?;
            let interval = interval(measure, mean, seeds);
            Some(PointMean { mean: mean.mean, seeds, interval, apart, is_clear })
        });
        judged.collect()
    }

    /// A line for each session: the values of the axes, its seed, and all measures.
    pub fn csv(&self) -> String {
        let names: Vec<_> = self.axes.iter().map(|axis| axis.name()).collect();
        let mut out = names.join(",");
        out.push_str(",seed,tasks,graded,right,calls,tokens,credits,dollars,passed\n");
        for (point, runs) in self.runs.iter().enumerate() {
            let labels: Vec<_> = self.labels(point).iter().map(|label| quoted(label)).collect();
            for (seed, run) in self.seeds.iter().zip(runs) {
                let Some(run) = run else { continue };
                let passed = run.passed.map_or("", |passed| if passed { "1" } else { "0" });
                let graded = run.tasks.iter().filter_map(|task| task.right);
                let right = graded.clone().filter(|right| *right).count();
                let means = [
                    SweepMeasure::Calls,
                    SweepMeasure::Tokens,
                    SweepMeasure::Credits,
                    SweepMeasure::Dollars,
                ];
                let means = means.map(|measure| run.mean(measure).unwrap_or_default().to_string());
                out.push_str(&format!(
                    "{},{seed},{},{},{right},{},{passed}\n",
                    labels.join(","),
                    run.tasks.len(),
                    graded.count(),
                    means.join(","),
                ));
            }
        }
        out
    }

    /// The content of the tables, for programs.
    pub fn json(&self, measure: SweepMeasure) -> Value {
        let points = self.means(measure).into_iter().enumerate().map(|(point, mean)| {
            let labels = self.labels(point);
            let names = self.axes.iter().map(|axis| axis.name().to_owned());
            let at: serde_json::Map<String, Value> =
                names.zip(labels.into_iter().map(Value::from)).collect();
            let seeds = mean.map(|point| point.seeds);
            let of = |mean: f64, interval: Option<(f64, f64)>| {
                let ends = interval.unzip();
                json!({ "mean": mean, "seeds": seeds, "low": ends.0, "high": ends.1 })
            };
            json!({
                "at": at, "is_now": self.now == Some(point),
                "value": mean.map(|point| of(point.mean, point.interval)),
                "against_now":
                    mean.and_then(|point| point.apart).map(|apart| of(apart.mean, apart.interval())),
                "is_clear": mean.is_some_and(|point| point.is_clear),
            })
        });
        let points: Vec<Value> = points.collect();
        json!({ "sweep": { "measure": measure.name(), "seeds": self.seeds, "points": points } })
    }

    /// The texts of the axes' values at this point.
    pub fn labels(&self, point: usize) -> Vec<String> {
        let places = self.places(point);
        self.axes.iter().zip(places).map(|(axis, at)| axis.label(at)).collect()
    }
}

/// The places of the axes' values at this point: the last axis varies fastest.
pub fn places(axes: &[SweptAxis], point: usize) -> Vec<usize> {
    let mut rest = point;
    let mut places: Vec<usize> = axes
        .iter()
        .rev()
        .map(|axis| {
            let at = rest % axis.values.len();
            rest /= axis.values.len();
            at
        })
        .collect();
    places.reverse();
    places
}

/// The mean over the seeds with values; `None` without any.
fn over(seeds: &[Vec<f64>]) -> Option<Difference> {
    let known = seeds.iter().map(Vec::as_slice).filter(|tasks| !tasks.is_empty());
    Some(Difference::of_seeds(known)).filter(|mean| mean.pairs > 0)
}

/// Student's t. A session passes or does not, so that its share has the interval of Wilson.
fn interval(measure: SweepMeasure, mean: Difference, seeds: usize) -> Option<(f64, f64)> {
    if seeds < 2 {
        return None;
    }
    if measure != SweepMeasure::Passed {
        return mean.interval();
    }
    let passed = (mean.mean / 100.0 * seeds as f64).round() as usize;
    let (low, high) = share::interval(passed, seeds);
    Some((100.0 * low, 100.0 * high))
}

/// A field of CSV.
fn quoted(text: &str) -> String {
    // A spreadsheet would run what begins like a formula.
    let text = match text.starts_with(['=', '+', '-', '@']) && text.parse::<f64>().is_err() {
        true => format!("'{text}"),
        false => text.to_owned(),
    };
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::TaskRun;

    fn run(right: usize) -> Option<PointRun> {
        let task = |n| TaskRun { right: Some(n < right), ..TaskRun::default() };
        Some(PointRun { tasks: (0..10).map(task).collect(), dollars: 0.0, passed: Some(right > 5) })
    }

    fn table(runs: Vec<Vec<Option<PointRun>>>) -> SweepTable {
        let axes = vec!["alpha=0,1".parse().unwrap(), "model=a,=b".parse().unwrap()];
        SweepTable { axes, seeds: vec![7, 8, 9], runs, now: Some(0) }
    }

    #[test]
    fn points_are_paired_by_the_seeds_that_both_have() {
        let table = table(vec![
            vec![run(5), run(6), run(9)],
            vec![run(3), run(4), None],
            vec![None, None, None],
            vec![run(5), run(6), run(9)],
        ]);
        let means = table.means(SweepMeasure::Right);
        let second = means[1].unwrap();
        assert_eq!((second.seeds, second.mean), (2, 35.0));
        // Both seeds lose two of ten tasks: they are one session, and its tasks say nothing for sure.
        let apart = second.apart.unwrap();
        assert_eq!((apart.mean, apart.pairs, second.is_clear), (-20.0, 10, false));
        assert!(means[2].is_none() && means[0].unwrap().apart.is_none());
        assert!(!means[3].unwrap().is_clear, "the same in all pairs");
        let (low, high) = table.means(SweepMeasure::Passed)[0].unwrap().interval.unwrap();
        assert!(low > 15.0 && high < 99.0, "two of three passed: {low} to {high}");
    }

    #[test]
    fn csv_has_a_line_for_each_session_and_no_formula() {
        let csv = table(vec![vec![run(5), None, run(9)]; 4]).csv();
        assert_eq!(csv.lines().count(), 9);
        assert_eq!(csv.lines().nth(3), Some("0,'=b,7,10,10,5,0,0,0,0,0"));
        assert_eq!(quoted("a,\"b"), "\"a,\"\"b\"");
    }
}
