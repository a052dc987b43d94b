//! The values of a knob that are worth a try.

use super::spec::{KnobKind, KnobSpec};

/// Fewest values of a number that are tried, if its range has that many.
const LEAST: usize = 5;
/// Multiples of the present value.
const TIMES: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];
/// Numbers of steps, where the present value is 0.
const STEPS: [f64; 6] = [0.0, 1.0, 2.0, 4.0, 8.0, 16.0];

impl KnobSpec {
    /// Values around this one in ascending order, including it: five to seven values of a number on its steps, or all
    /// values of a switch or a choice.
    pub fn around(&self, value: f64) -> Vec<f64> {
        if let KnobKind::Switch | KnobKind::Choice(_) = self.kind {
            return (0..=self.max as u32).map(f64::from).collect();
        }
        let near = match value > 0.0 {
            true => TIMES.map(|times| value * times).to_vec(),
            false => STEPS.map(|steps| self.step * steps).to_vec(),
        };
        // At the end of a fine scale, 0 means to leave something out.
        let zero = (self.min == 0.0 && self.step < 1.0).then_some(0.0);
        let mut values: Vec<f64> =
            near.into_iter().chain(zero).map(|near| self.turned(near, 0)).collect();
        values.push(value);
        loop {
            values.sort_by(f64::total_cmp);
            values.dedup();
            let widest = values.windows(2).map(|pair| (pair[1] - pair[0], pair[0]));
            let widest = widest.max_by(|one, other| one.0.total_cmp(&other.0));
            let Some((gap, from)) = widest.filter(|_| values.len() < LEAST) else { return values };
            let middle = self.turned(from + gap / 2.0, 0);
            if values.contains(&middle) {
                return values;
            }
            values.push(middle);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::knob::{KNOBS, Knob};

    #[test]
    fn values_around_one_are_on_its_steps_and_in_its_range() {
        let around = |knob: Knob, value| knob.spec().around(value);
        assert_eq!(around(Knob::Alpha, 0.5), [0.0, 0.15, 0.25, 0.5, 1.0, 2.0]);
        assert_eq!(around(Knob::Beta, 1.0), [0.0, 0.25, 0.5, 0.75, 1.0]);
        assert_eq!(around(Knob::Tau, 0.0), [0.0, 0.05, 0.1, 0.2, 0.4, 0.8]);
        assert_eq!(around(Knob::Budget, 20.0), [5.0, 10.0, 20.0, 40.0, 80.0]);
        assert_eq!(around(Knob::TopK, 1.0), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(around(Knob::Learn, 1.0), [0.0, 1.0]);
        assert_eq!(around(Knob::Blacklist, 0.0), [0.0, 1.0, 2.0]);
        for spec in KNOBS {
            for value in [spec.min, spec.default, spec.max] {
                let values = spec.around(value);
                assert!(values.contains(&value), "{}: {values:?}", spec.name);
                assert!(values.iter().all(|value| spec.check(*value).is_ok()), "{values:?}");
                assert!(values.len() <= 8, "{}: {values:?}", spec.name);
            }
        }
    }
}
