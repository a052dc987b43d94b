//! The share of successes in repeated runs, with its uncertainty: the score interval of Wilson, "Probable Inference, the Law of
//! Succession, and Statistical Inference", 1927. Pure.

/// The 97.5 % quantile of the normal distribution, for intervals of 95 %.
const QUANTILE: f64 = 1.959_963_984_540_054;

/// The bounds between which the true share lies with a probability of 95 %, from 0 to 1, after so many successes of so many
/// runs. Without runs it may be any.
pub fn interval(successes: usize, runs: usize) -> (f64, f64) {
    if runs == 0 {
        return (0.0, 1.0);
    }
    let (runs, share) = (runs as f64, successes as f64 / runs as f64);
    let squared = QUANTILE * QUANTILE;
    let middle = share + squared / (2.0 * runs);
    let reach = QUANTILE * (share * (1.0 - share) / runs + squared / (4.0 * runs * runs)).sqrt();
    let whole = 1.0 + squared / runs;
    (((middle - reach) / whole).max(0.0), ((middle + reach) / whole).min(1.0))
}

/// A value for each cluster of runs that are not independent, from its successes and its runs. The mean of the values is the
/// share of all runs, and their spread is that of the share: the ratio estimator of Cochran, "Sampling Techniques", 1977,
/// in its linear form. In clusters of one size each value is the cluster's own share. `None` without runs.
pub fn of_clusters(clusters: &[(usize, usize)]) -> Option<Vec<f64>> {
    let sum = |part: fn(&(usize, usize)) -> usize| clusters.iter().map(part).sum::<usize>() as f64;
    let (successes, runs) = (sum(|cluster| cluster.0), sum(|cluster| cluster.1));
    if runs == 0.0 {
        return None;
    }
    let (share, size) = (successes / runs, runs / clusters.len() as f64);
    let value = |(successes, runs): &(usize, usize)| {
        share + (*successes as f64 - share * *runs as f64) / size
    };
    Some(clusters.iter().map(value).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_of_one_size_have_their_own_shares_and_others_weigh_as_much_as_their_runs() {
        assert_eq!(of_clusters(&[(1, 4), (3, 4)]), Some(vec![0.25, 0.75]));
        let values = of_clusters(&[(0, 1), (9, 9), (0, 0)]).unwrap();
        assert!((values.iter().sum::<f64>() / 3.0 - 0.9).abs() < 1e-12, "{values:?}");
        // A cluster without runs says nothing: it lies where all of them do.
        assert!((values[2] - 0.9).abs() < 1e-12, "{values:?}");
        assert_eq!((of_clusters(&[]), of_clusters(&[(0, 0)])), (None, None));
    }

    #[test]
    fn the_interval_is_that_of_wilson() {
        // R: prop.test(x, n, correct = FALSE)$conf.int
        for ((successes, runs), (low, high)) in [
            ((4, 5), (0.375_535_1, 0.963_776_7)),
            ((0, 10), (0.0, 0.277_532_8)),
            ((10, 10), (0.722_467_2, 1.0)),
            ((50, 100), (0.403_831_5, 0.596_168_5)),
        ] {
            let found = interval(successes, runs);
            let is_near = |a: f64, b: f64| (a - b).abs() < 1e-6;
            assert!(
                is_near(found.0, low) && is_near(found.1, high),
                "{successes} of {runs}: {found:?}"
            );
        }
        assert_eq!(interval(0, 0), (0.0, 1.0));
    }

    /// The interval holds the true share in about 95 of 100 trials, for shares that are not extreme.
    #[test]
    fn the_interval_covers_the_true_share() {
        let (mut state, mut covered, mut trials) = (7_u64, 0, 0);
        for share in [0.2, 0.35, 0.5, 0.65, 0.8] {
            for _ in 0..2000 {
                let mut successes = 0;
                for _ in 0..40 {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    successes += usize::from(((state >> 11) as f64 / (1_u64 << 53) as f64) < share);
                }
                let (low, high) = interval(successes, 40);
                covered += usize::from(low <= share && share <= high);
                trials += 1;
            }
        }
        let rate = f64::from(u32::try_from(covered).unwrap()) / f64::from(trials);
        assert!((0.93..=0.97).contains(&rate), "{rate}");
    }
}
