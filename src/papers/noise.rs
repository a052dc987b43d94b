//! The one rule for noise in verdicts: Student's t of paired differences, with Holm's correction where several values are
//! compared.

use std::f64::consts::FRAC_2_PI;
use std::fmt;

/// The largest probability that chance alone made one of the differences that count.
const LEVEL: f64 = 0.05;

/// A mean nearer to 0 is a rounding error: the measures are calls, tokens, credits, dollars and shares.
const ROUNDING: f64 = 1e-9;

/// An average difference over pairs: sessions with the same seed, or the same tasks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    pub mean: f64,
    /// Standard error of the mean; 0 for one pair, whose spread is unknown.
    pub error: f64,
    pub pairs: usize,
}

impl Difference {
    /// The mean of these differences, one for each pair.
    pub fn over(all: impl IntoIterator<Item = f64>) -> Self {
        let all: Vec<f64> = all.into_iter().collect();
        let pairs = all.len();
        let count = pairs.max(1) as f64;
        let mean = all.iter().sum::<f64>() / count;
        let squares = all.iter().map(|one| (one - mean).powi(2)).sum::<f64>();
        let error = if pairs < 2 { 0.0 } else { (squares / (count - 1.0) / count).sqrt() };
        Self { mean, error, pairs }
    }

    /// The mean over seeds, each with the values of its tasks. If no seed changes it, all seeds are one session, and its tasks
    /// are compared.
    pub fn of_seeds<'a>(seeds: impl Iterator<Item = &'a [f64]> + Clone) -> Self {
        let mean = |tasks: &[f64]| tasks.iter().sum::<f64>() / tasks.len().max(1) as f64;
        let all = Self::over(seeds.clone().map(mean));
        let is_one = all.pairs > 1 && all.error <= ROUNDING * all.mean.abs();
        let first = seeds.clone().next().filter(|_| is_one);
        first.map_or(all, |tasks| Self::over(tasks.iter().copied()))
    }

    /// Whether it can be judged at all: one pair says nothing about its spread.
    pub const fn is_judged(self) -> bool {
        self.pairs > 1
    }

    /// The probability of a mean at least as far from 0 if there were no difference: two-sided, by Student's t with
    /// `pairs - 1` degrees of freedom. 1 if it cannot be judged. Equal differences in all pairs have no spread and give 0.
    pub fn chance(self) -> f64 {
        match self.is_judged() && self.mean.abs() > ROUNDING {
            true => 1.0 - within(self.mean.abs() / self.error, self.pairs - 1),
            false => 1.0,
        }
    }
}

impl Difference {
    /// Half the width of the 95 % interval of the mean, by Student's t. `None` if it cannot be judged.
    pub fn half_width(self) -> Option<f64> {
        self.is_judged().then(|| quantile(self.pairs - 1) * self.error)
    }

    /// The 95 % interval of the mean, by Student's t. `None` if it cannot be judged.
    pub fn interval(self) -> Option<(f64, f64)> {
        self.half_width().map(|half| (self.mean - half, self.mean + half))
    }
}

/// `-1.2 ± 0.4`, in the unit of the measure; `-1.2` for one pair.
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = f.precision().unwrap_or(if self.mean.abs() < 100.0 { 1 } else { 0 });
        write!(f, "{:+.places$}", self.mean)?;
        if self.is_judged() { write!(f, " ± {:.places$}", self.error) } else { Ok(()) }
    }
}

/// Tells which of these differences, judged together, are not chance: Holm's procedure at 5 %. A single one counts if 0 lies
/// outside its 95 % interval.
pub fn clear(all: &[Difference]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by(|a, b| all[*a].chance().total_cmp(&all[*b].chance()));
    let mut clear = vec![false; all.len()];
    for (rank, at) in order.into_iter().enumerate() {
        if all[at].chance() > LEVEL / (all.len() - rank) as f64 {
            break;
        }
        clear[at] = true;
    }
    clear
}

/// The t below whose absolute value Student's t lies in 95 % of all cases.
fn quantile(freedom: usize) -> f64 {
    let (mut low, mut high) = (0.0, 16.0);
    while high - low > 1e-9 {
        let middle = f64::midpoint(low, high);
        match within(middle, freedom) < 1.0 - LEVEL {
            true => low = middle,
            false => high = middle,
        }
    }
    high
}

/// The probability that Student's t lies between `-t` and `t`, by the finite sums for whole degrees of freedom
/// (Abramowitz and Stegun, 26.7.3 and 26.7.4).
fn within(t: f64, freedom: usize) -> f64 {
    let angle = (t / (freedom as f64).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    let is_odd = freedom % 2 == 1;
    // Its k-th term has the factors 2/3 · 4/5 · … if odd, else 1/2 · 3/4 · …
    let mut term = if is_odd { cosine } else { 1.0 };
    let mut sum = 0.0;
    for k in 1..=freedom / 2 {
        sum += term;
        let top = (2 * k - usize::from(!is_odd)) as f64;
        term *= top / (top + 1.0) * cosine * cosine;
    }
    if is_odd { FRAC_2_PI * (angle + sine * sum) } else { sine * sum }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::Chance;

    fn of(all: &[f64]) -> Difference {
        Difference::over(all.iter().copied())
    }

    #[test]
    fn the_quantiles_of_student_are_those_of_the_tables() {
        // Two-sided 5 %, and 1 % with 4 degrees of freedom: 0.05 for five values.
        let table =
            [(12.706, 1), (4.303, 2), (3.182, 3), (2.776, 4), (2.571, 5), (2.228, 10), (1.990, 81)];
        for (t, freedom) in table {
            let chance = 1.0 - within(t, freedom);
            assert!((chance - 0.05).abs() < 1e-4, "{t} with {freedom}: {chance}");
        }
        assert!((1.0 - within(4.604, 4) - 0.01).abs() < 1e-5);
        assert_eq!((within(0.0, 3), within(f64::INFINITY, 4)), (0.0, 1.0));
    }

    #[test]
    fn an_interval_has_the_width_of_the_tables() {
        let five = of(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert!((five.half_width().unwrap() - 2.776 * 0.5_f64.sqrt()).abs() < 1e-3);
        assert_eq!(five.interval().map(|(low, high)| low + high), Some(6.0));
        assert_eq!(of(&[1.0]).interval(), None);
    }

    /// Sweeps of eleven points with five seeds: the share of right answers to 30 tasks, which seeds make easier or harder
    /// for all points.
    #[test]
    fn intervals_cover_the_true_value_in_95_of_100_synthetic_sweeps() {
        const SWEEPS: u64 = 1_000;
        let (mut covered, mut paired, mut all) = (0, 0, 0);
        for sweep in 0..SWEEPS {
            let draw = |point: u8, seed: u8, task: u8| {
                Chance::new(sweep).with(&[point, seed, task]).unit()
            };
            let true_share = |point: u8| 0.35 + 0.03 * f64::from(point);
            let run = |point: u8, seed: u8| {
                let ease = 0.2 * (draw(99, seed, 0) + draw(99, seed, 1) - 1.0);
                let right =
                    (0..30).filter(|task| draw(point, seed, *task) < true_share(point) + ease);
                right.count() as f64 / 30.0
            };
            for point in 0..11 {
                let (low, high) =
                    Difference::over((0..5).map(|seed| run(point, seed))).interval().unwrap();
                covered += u32::from((low..=high).contains(&true_share(point)));
                let pairs = (0..5).map(|seed| run(point, seed) - run(5, seed));
                let (low, high) = Difference::over(pairs).interval().unwrap();
                let apart = true_share(point) - true_share(5);
                paired += u32::from((low..=high).contains(&apart) || point == 5);
                all += 1;
            }
        }
        for (what, count) in [("means", covered), ("differences", paired)] {
            let share = f64::from(count) / f64::from(all);
            assert!((0.93..=0.97).contains(&share), "{what}: {share}");
        }
    }

    #[test]
    fn one_seed_and_the_spread_of_few_are_no_difference() {
        assert_eq!(of(&[1.0, 3.0]), Difference { mean: 2.0, error: 1.0, pairs: 2 });
        assert_eq!(of(&[1.0, 3.0]).to_string(), "+2.0 ± 1.0");
        for noise in [&[5.0][..], &[], &[0.0, 0.0], &[1.0, 3.0], &[1.0, 2.0, -1.0, 3.0, 0.5]] {
            assert_eq!(clear(&[of(noise)]), [false], "{noise:?}");
        }
        assert_eq!(clear(&[of(&[1.0, 2.0, 1.5, 1.2, 1.8])]), [true]);
        assert_eq!(clear(&[of(&[1.0, 1.0])]), [true], "equal in all pairs");
        let rounded = 0.1 + 0.2 - 0.3;
        assert_eq!(clear(&[of(&[rounded; 5])]), [false], "{rounded}");
    }

    /// Five pairs with this mean and a standard error of 1.
    fn at(mean: f64) -> Difference {
        Difference { mean, error: 1.0, pairs: 5 }
    }

    #[test]
    fn more_values_need_more_than_one() {
        assert_eq!(clear(&[at(2.8)]), [true]);
        assert_eq!(clear(&[at(2.8), at(0.0), at(0.0), at(0.0), at(0.0)]), [false; 5]);
        assert!(clear(&[at(0.0), at(-4.61), at(0.0), at(0.0), at(0.0)])[1]);
        // The second one is compared among those that are left.
        assert_eq!(clear(&[at(9.0), at(2.8)]), [true, true]);
        assert_eq!(clear(&[at(3.0), at(2.8)]), [false, false]);
    }

    proptest! {
        #[test]
        fn a_probability_rises_with_t(t in 0.0..50.0_f64, more in 0.0..50.0_f64, freedom in 1_usize..300) {
            let (near, far) = (within(t, freedom), within(t + more, freedom));
            prop_assert!((-1e-12..=1.0 + 1e-12).contains(&near));
            prop_assert!(far >= near - 1e-12);
        }

        #[test]
        fn the_order_of_values_changes_nothing(mut means in prop::collection::vec(-9.0..9.0_f64, 1..8)) {
            let there: Vec<bool> = clear(&means.iter().map(|mean| at(*mean)).collect::<Vec<_>>());
            means.reverse();
            let mut back = clear(&means.iter().map(|mean| at(*mean)).collect::<Vec<_>>());
            back.reverse();
            prop_assert_eq!(there, back);
        }
    }
}
