//! The value of a tool for a query, and a limit of its uses, from the results of past uses. The more similar a past
//! query is, the more it counts.

use serde::{Deserialize, Serialize};

use crate::domain::Estimation;

/// Precision of shares of weights.
const CLOSE: f64 = 1e-9;

/// The weight of a past query: `exp(sharpness · similarity)`, in smoothed mode
/// `exp(sharpness · (similarity − 1))`, which weighs the expected value of an unknown tool against an identical
/// query. `None` for NaN.
fn weight(mode: Estimation, sharpness: f64, similarity: f64) -> Option<f64> {
    // A cosine never exceeds this range; a similarity that does must not outweigh everything.
    let similarity = (!similarity.is_nan()).then(|| similarity.clamp(-1.0, 1.0))?;
    Some(match mode {
        Estimation::Paper => (sharpness * similarity).exp(),
        Estimation::Smoothed => (sharpness * (similarity - 1.0)).exp(),
    })
}

/// κ: the weight of an unknown tool's value.
fn prior(mode: Estimation) -> f64 {
    match mode {
        Estimation::Paper => 0.0,
        Estimation::Smoothed => 1.0,
    }
}

fn whole(mode: Estimation, uses: f64) -> u32 {
    // A mean of threes is a three, and a half is a half, regardless of rounding errors in the
    // weights.
    let halves = (uses * 2.0).round();
    let is_half = (uses * 2.0 - halves).abs() <= CLOSE * uses.max(1.0);
    let uses = if is_half { halves / 2.0 } else { uses };
    let whole = match mode {
        Estimation::Paper => uses.floor(),
        Estimation::Smoothed => uses.round_ties_even(),
    };
    whole as u32
}

/// The estimate for a tool.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// v(q, t): the expected share of uses that help, 0 to 1.
    pub value: f64,
    /// F: the most uses that make sense; 0 if the value is below tau.
    pub limit: u32,
    /// Past uses behind the estimate. Without any the tool gets one use to be tried, regardless of
    /// tau.
    pub experience: u32,
}

impl Estimate {
    /// The estimate for an unused tool: otherwise a new tool could never be tried.
    pub const UNKNOWN: Self = Self { value: Evidence::UNKNOWN_VALUE, limit: 1, experience: 0 };

    /// The same estimate, without a use if its value is below `tau`.
    pub(super) fn above(self, tau: f64) -> Self {
        Self { limit: if self.value < tau - CLOSE { 0 } else { self.limit }, ..self }
    }
}

/// Past uses of one tool, summed up for the current query. It holds a few sums regardless of the
/// number of uses, so another tau needs no second pass.
#[derive(Clone, Copy, Debug)]
pub struct Evidence {
    mode: Estimation,
    sharpness: f64,
    count: u32,
    /// The weight of all uses by eq. 3. Another sharpness divides it differently, but does not reduce it.
    mass: f64,
    uses: Share,
    queries: Share,
}

/// A weighted mean under construction.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    weight: f64,
    sum: f64,
}

impl Share {
    fn add(&mut self, weight: f64, number: f64) {
        self.weight += weight;
        self.sum += weight * number;
    }
}

impl Evidence {
    /// v₀: the expected value of an unused tool.
    pub const UNKNOWN_VALUE: f64 = 0.1;

    /// No uses yet.
    pub fn new(mode: Estimation) -> Self {
        Self::sharp(mode, 1.0)
    }

    /// No uses yet. Similar queries count this many times more than others in smoothed mode; 1 is eq. 3.
    pub fn sharp(mode: Estimation, sharpness: f64) -> Self {
        Self {
            mode,
            sharpness,
            count: 0,
            mass: 0.0,
            uses: Share::default(),
            queries: Share::default(),
        }
    }

    /// Adds several past uses for one query, as [`Evidence::add_use`] for each of them.
    pub fn add_uses(&mut self, similarity: f64, helpful: u32, unhelpful: u32) {
        let Some(weight) = weight(self.mode, self.sharpness, similarity) else { return };
        self.count = self.count.saturating_add(helpful).saturating_add(unhelpful);
        let plain = self::weight(self.mode, 1.0, similarity).unwrap_or_default();
        self.mass += plain * (f64::from(helpful) + f64::from(unhelpful));
        self.uses.add(weight * f64::from(helpful), 1.0);
        self.uses.add(weight * f64::from(unhelpful), 0.0);
    }

    /// Adds a past use: the similarity of its query (a cosine, −1 to 1; values beyond are clamped, and NaN is ignored),
    /// and whether it helped.
    pub fn add_use(&mut self, similarity: f64, helpful: bool) {
        let helpful = u32::from(helpful);
        self.add_uses(similarity, helpful, 1 - helpful);
    }

    /// Adds a past query that used the tool: its similarity, the number of uses, and whether any use helped. A query
    /// without uses is ignored.
    pub fn add_query(&mut self, similarity: f64, uses: u32, helpful: bool) {
        let uses = match self.mode {
            Estimation::Smoothed if !helpful => uses.min(1),
            Estimation::Paper | Estimation::Smoothed => uses,
        };
        let weight = weight(self.mode, self.sharpness, similarity).filter(|_| uses > 0);
        let Some(weight) = weight else { return };
        self.queries.add(weight, f64::from(uses));
    }

    /// Equations 3 and 4. A value below `tau` leaves no use; a tool whose past queries were not counted has one use.
    pub fn estimate(&self, tau: f64) -> Estimate {
        if self.count == 0 {
            return Estimate::UNKNOWN;
        }
        let prior = prior(self.mode);
        // 1 with the sharpness of eq. 3.
        let scale = if self.sharpness == 1.0 { 1.0 } else { self.mass / self.uses.weight };
        let (sum, weight) = (self.uses.sum * scale, self.uses.weight * scale);
        let value = (sum + prior * Self::UNKNOWN_VALUE) / (weight + prior);
        let limit = match self.queries {
            Share { weight: 0.0, .. } => 1,
            Share { weight, sum } => whole(self.mode, sum / weight),
        };
        Estimate { value, limit, experience: self.count }.above(tau)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(mode: Estimation, uses: &[(f64, bool)], queries: &[(f64, u32, bool)]) -> Estimate {
        let mut evidence = Evidence::new(mode);
        uses.iter().for_each(|&(similarity, helpful)| evidence.add_use(similarity, helpful));
        queries.iter().for_each(|&(like, uses, helpful)| evidence.add_query(like, uses, helpful));
        evidence.estimate(0.15)
    }

    #[test]
    fn golden_numbers_of_both_modes() {
        let uses = [(0.9, true), (0.2, false)];
        let queries = [(0.9, 2, true), (0.2, 1, false)];
        for (mode, value, limit) in
            [(Estimation::Paper, 0.668188, 1), (Estimation::Smoothed, 0.426834, 2)]
        {
            let estimate = estimate(mode, &uses, &queries);
            assert!((estimate.value - value).abs() < 1e-6, "{estimate:?}");
            assert_eq!((estimate.limit, estimate.experience), (limit, 2));
        }
    }

    #[test]
    fn nobody_knows_an_unused_tool_in_either_mode() {
        for mode in [Estimation::Paper, Estimation::Smoothed] {
            assert_eq!(estimate(mode, &[], &[]), Estimate::UNKNOWN);
            assert_eq!(Evidence::new(mode).estimate(1.0), Estimate::UNKNOWN, "whatever tau");
            assert_eq!(estimate(mode, &[(f64::NAN, true)], &[(f64::NAN, 9, true)]).limit, 1);
        }
    }

    #[test]
    fn a_mean_is_not_off_by_the_last_digits_of_its_weights() {
        for like in (0..100).map(|n| f64::from(n) / 99.0) {
            let threes = [(like, 3, true), (0.1, 3, true), (0.7, 3, true)];
            assert_eq!(estimate(Estimation::Paper, &[(0.5, true)], &threes).limit, 3, "{like}");
            let halves = [(like, 2, true), (like, 3, true), (like, 2, true), (like, 3, true)];
            assert_eq!(estimate(Estimation::Smoothed, &[(0.5, true)], &halves).limit, 2, "{like}");
        }
    }

    #[test]
    fn tries_in_vain_count_as_one_use_where_the_code_says_so() {
        let uses = [(1.0, true), (0.5, false)];
        let queries = [(0.5, 9, false)];
        assert_eq!(estimate(Estimation::Smoothed, &uses, &queries).limit, 1);
        assert_eq!(estimate(Estimation::Paper, &uses, &queries).limit, 9);
        let unused = [(0.9, 4, true), (0.9, 0, false), (0.9, 0, true)];
        for mode in [Estimation::Paper, Estimation::Smoothed] {
            assert_eq!(
                estimate(mode, &uses, &unused).limit,
                4,
                "a query without uses says nothing"
            );
        }
    }

    #[test]
    fn wild_scores_and_many_uses_stay_in_range() {
        for mode in [Estimation::Paper, Estimation::Smoothed] {
            let mut evidence = Evidence::new(mode);
            for n in 0..100_000_u32 {
                let like =
                    [1e300, f64::INFINITY, f64::NEG_INFINITY, -0.0, f64::NAN][n as usize % 5];
                evidence.add_use(like, n % 2 == 0);
                evidence.add_query(like, u32::MAX, true);
            }
            let estimate = evidence.estimate(0.15);
            assert!((0.0..=1.0).contains(&estimate.value), "{estimate:?}");
            assert_eq!(estimate.limit, u32::MAX);
        }
    }
}
