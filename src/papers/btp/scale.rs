//! Whole numbers for costs and values: appendix A.1, with a unit as fine as the numbers need.

use super::{Candidate, reduce::KnapsackItem};

/// Sums of costs up to this stay exact as floating point.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Decimals up to which costs count as decimal numbers, not as real ones.
const DECIMALS: i32 = 9;

/// The greatest value in whole numbers.
const GREATEST_VALUE: f64 = 1e12;

/// The greatest sum of values in whole numbers; its product with a cost must fit 127 bits.
const GREATEST_SUM: f64 = 2_305_843_009_213_693_952.0;

/// The candidates in whole numbers.
pub(super) struct Units {
    pub(super) items: Vec<KnapsackItem>,
    /// λ of equation 8: units for a credit.
    per_credit: f64,
    /// Units for a value of 1.
    per_value: f64,
    /// All costs are multiples of this many units, and counted in these.
    step: u64,
    /// True: `per_credit` is a power of ten and every cost is whole. False: it is a power of two,
    /// and costs are rounded up.
    decimal: bool,
    /// The greatest budget needed, in credits.
    most: f64,
}

impl Units {
    /// `most` is the greatest budget and `everything` the cost of all uses of all candidates, in
    /// credits. Costs and values are greater than 0, and costs not greater than `most`.
    pub(super) fn new(candidates: &[Candidate], most: f64, everything: f64) -> Self {
        let most = most.min(everything * (1.0 + 1e-9));
        let decimal = decimal_scale(candidates, most);
        let per_credit = decimal.unwrap_or_else(|| binary_scale(most));
        let to_units = |cost: f64| {
            let units = cost * per_credit;
            (if decimal.is_some() { units.round() } else { units.ceil() }) as u64
        };
        let costs: Vec<u64> = candidates.iter().map(|one| to_units(one.cost).max(1)).collect();
        let step = costs.iter().fold(0, |step, &cost| greatest_divisor(cost, step)).max(1);
        let scale = value_scale(candidates, most);
        let item = |(one, cost): (&Candidate, u64)| KnapsackItem {
            cost: cost / step,
            // A positive value stays positive.
            value: ((one.value * scale).round() as i64).max(1),
            low: 0,
            high: u64::from(one.limit),
        };
        let items = candidates.iter().zip(costs).map(item).collect();
        Self { items, per_credit, per_value: scale, step, decimal: decimal.is_some(), most }
    }

    /// Rounded down, as appendix A.1 does.
    pub(super) fn of_budget(&self, credits: f64) -> u64 {
        let credits = credits.min(self.most);
        let units = credits * self.per_credit;
        let whole = if self.decimal { units.round() } else { units.floor() };
        // Rounding finds a whole number that the product missed by a rounding error.
        let whole = if whole / self.per_credit > credits { whole - 1.0 } else { whole };
        whole as u64 / self.step
    }

    /// Credits for a number of units of the budget.
    pub(super) fn credits(&self, units: u64) -> f64 {
        (u128::from(units) * u128::from(self.step)) as f64 / self.per_credit
    }

    /// The value of a number of its units.
    pub(super) fn value(&self, units: i64) -> f64 {
        units as f64 / self.per_value
    }

    /// Credits for this many uses of the items; `None` if units are not an exact measure.
    pub(super) fn to_credits(&self, uses: impl Iterator<Item = u32>) -> Option<f64> {
        let each =
            self.items.iter().zip(uses).map(|(item, n)| u128::from(item.cost) * u128::from(n));
        let sum = each.sum::<u128>() * u128::from(self.step);
        self.decimal.then(|| sum as f64 / self.per_credit)
    }
}

/// The smallest power of ten that makes all costs whole numbers, if one does.
fn decimal_scale(candidates: &[Candidate], most: f64) -> Option<f64> {
    let scales = (0..=DECIMALS).map(|decimals| 10_f64.powi(decimals));
    let mut fitting = scales.take_while(|scale| most * scale <= EXACT);
    // Division rounds correctly: equal means that the cost is this decimal number.
    fitting
        .find(|scale| candidates.iter().all(|one| (one.cost * scale).round() / scale == one.cost))
}

/// A power of two by which `most` becomes a number of 60 bits. The multiplication is exact, so only
/// parts finer than one unit are rounded.
fn binary_scale(most: f64) -> f64 {
    const BITS: f64 = 59.0;
    // Beyond this range powers of two are infinite or 0; such credits need not be distinguished.
    let power = (BITS - most.log2().floor()).clamp(-1000.0, 1000.0);
    2_f64.powi(power as i32)
}

/// A power of ten by which values become whole numbers whose sums fit.
fn value_scale(candidates: &[Candidate], most: f64) -> f64 {
    let greatest = candidates.iter().map(|one| one.value).fold(0.0, f64::max);
    let sum: f64 = candidates.iter().map(|one| one.value * f64::from(one.limit)).sum();
    // No plan is worth more than the budget at the highest value per cost.
    let densest = candidates.iter().map(|one| one.value / one.cost).fold(0.0, f64::max);
    let sum = sum.min(densest * most);
    let digits = (GREATEST_VALUE / greatest).log10().min((GREATEST_SUM / sum).log10());
    10_f64.powi(digits.floor().clamp(-300.0, 300.0) as i32)
}

fn greatest_divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { greatest_divisor(other, one % other) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(cost: f64, value: f64, limit: u32) -> Candidate {
        Candidate { cost, value, limit }
    }

    #[test]
    fn decimal_costs_become_the_smallest_whole_numbers() {
        let units = Units::new(&[candidate(0.2, 0.5, 3), candidate(0.6, 0.1, 2)], 5.0, 1.8);
        let costs: Vec<u64> = units.items.iter().map(|item| item.cost).collect();
        assert_eq!(costs, [1, 3]);
        assert_eq!((units.of_budget(1.0), units.of_budget(0.59), units.of_budget(0.6)), (5, 2, 3));
        assert_eq!(units.credits(3), 0.6);
        assert_eq!(units.to_credits([1, 1].into_iter()), Some(0.8));
        assert_eq!(units.to_credits([3, 2].into_iter()), Some(1.8));
    }

    #[test]
    fn costs_that_are_no_decimal_numbers_are_rounded_up() {
        let third = 1.0 / 3.0;
        let units = Units::new(&[candidate(third, 0.5, 3)], 1.0, 1.0);
        assert_eq!(units.to_credits([1].into_iter()), None);
        let cost = units.credits(units.items[0].cost);
        assert!(cost >= third && cost - third < 1e-15, "{cost}");
        assert!(units.of_budget(1.0) / units.items[0].cost <= 3);
    }

    #[test]
    fn many_fine_costs_are_too_large_for_decimal_numbers() {
        let fine = [candidate(0.123_456_789, 0.5, u32::MAX)];
        let exact = Units::new(&fine, 1_000.0, 1e9);
        assert_eq!(exact.to_credits([1].into_iter()), Some(0.123_456_789));
        let coarse = Units::new(&fine, 1e9, 1e9);
        assert_eq!(coarse.to_credits([1].into_iter()), None);
    }

    #[test]
    fn values_keep_eleven_digits_and_their_proportion() {
        let units = Units::new(&[candidate(1.0, 0.8, 1), candidate(1.0, 0.2, 1)], 2.0, 2.0);
        let (great, small) = (units.items[0].value, units.items[1].value);
        assert!((1e11..=1e12).contains(&(great as f64)), "{great}");
        assert_eq!(great, 4 * small);
        // A sum must fit too: so many uses leave fewer digits.
        let many = Units::new(&[candidate(1.0, 0.8, u32::MAX)], 4e9, 4e9);
        let sum = many.items[0].value as f64 * 4e9;
        assert!((1e17..=GREATEST_SUM).contains(&sum), "{sum}");
    }
}
