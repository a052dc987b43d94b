//! The part of a row's weights that comes from scores: the right side of ToolNet, eq. 6.

/// The value of an accumulated score, always above 0 (ToolNet, eq. 8):
///
/// ```text
/// f(x) = alpha·x + 1    for x ≥ 0
///        exp(alpha·x)   for x < 0
/// ```
///
/// `alpha` (0 or more) is the speed of learning. Praise adds up evenly, blame halves repeatedly, and no score at all is
/// worth 1. Far below zero the value underflows to 0; [`super::Weights`] handles that.
pub fn f(x: f64, alpha: f64) -> f64 {
    if x < 0.0 { (alpha * x).exp() } else { alpha * x + 1.0 }
}

/// The denominator of ToolNet, eq. 7, for one row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence {
    alpha: f64,
    total: f64,
    /// Below 0 only if every `f` underflows: all are then scaled by `exp(-peak)`, which preserves
    /// their ratios.
    peak: f64,
}

impl Evidence {
    /// The sums over `plain` successors without a score and over successors with these `scores`.
    pub fn of(alpha: f64, plain: usize, scores: impl Iterator<Item = f64> + Clone) -> Self {
        let total = plain as f64 + scores.clone().map(|s| f(s, alpha)).sum::<f64>();
        if total >= f64::MIN_POSITIVE {
            return Self { alpha, total, peak: 0.0 };
        }
        let peak = scores.clone().map(|s| alpha * s).fold(f64::NEG_INFINITY, f64::max);
        let total = scores.map(|s| (alpha * s - peak).exp()).sum();
        Self { alpha, total, peak }
    }

    /// The share of a successor with this score, 0 to 1 (ToolNet, eq. 7).
    ///
    /// The paper prints f(s_i) as the numerator. With that, every successor would get the same
    /// share, and a row would not sum to 1; it has to be f(s_j).
    pub fn share(&self, score: f64) -> f64 {
        if self.peak < 0.0 {
            (self.alpha * score - self.peak).exp() / self.total
        } else {
            f(score, self.alpha) / self.total
        }
    }
}
