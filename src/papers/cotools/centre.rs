//! Means that are subtracted from states. All states of a language model share a large part: any
//! two tools have a cosine of 0.97. Without it, the rest decides.

use serde::{Deserialize, Serialize};

use super::{
    matrix::{BadShape, Matrix},
    real::{Real, length},
};

/// Queries that must be seen before their mean is useful. Until then, words rank the tools.
pub const FEWEST: u64 = 5;

/// Subtracts the mean from each state, then [`scale`]s it.
///
/// # Errors
/// The mean has another width.
pub fn centre<R: Real>(states: &mut Matrix<R>, mean: &[R]) -> Result<(), BadShape> {
    BadShape::check("width of a mean", mean.len(), states.cols())?;
    for line in states.lines_mut() {
        line.iter_mut().zip(mean).for_each(|(x, mean)| *x -= *mean);
    }
    scale(states);
    Ok(())
}

/// Scales each state to the length √width, so that its numbers have a root mean square of 1. The start values of the
/// heads expect that for every model; cosines do not change. A state of zeros stays the same.
pub fn scale<R: Real>(states: &mut Matrix<R>) {
    let wanted = (states.cols() as f64).sqrt();
    for line in states.lines_mut() {
        let length = length(line);
        if length > 0.0 {
            let factor = R::of(wanted / length);
            line.iter_mut().for_each(|x| *x *= factor);
        }
    }
}

/// The mean of a domain's queries so far.
///
/// The mean belongs to the domain of the questions, not to that of training: with the means of another domain, trained
/// heads lose half of their accuracy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunningMean {
    count: u64,
    mean: Vec<f32>,
}

impl RunningMean {
    /// Queries so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Takes the state of one more query into account.
    ///
    /// # Errors
    /// The state has another width than those before; the mean is unchanged.
    pub fn add(&mut self, state: &[f32]) -> Result<(), BadShape> {
        if self.count == 0 {
            self.mean = vec![0.0; state.len()];
        }
        BadShape::check("width of a query's state", state.len(), self.mean.len())?;
        self.count += 1;
        let share = 1.0 / self.count as f64;
        for (mean, x) in self.mean.iter_mut().zip(state) {
            *mean = (f64::from(*mean) + (f64::from(*x) - f64::from(*mean)) * share) as f32;
        }
        Ok(())
    }

    /// `None` before [`FEWEST`] queries were seen.
    pub fn mean(&self) -> Option<&[f32]> {
        (self.count >= FEWEST).then_some(&self.mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_queries_is_told_from_the_fifth_on() {
        let mut running = RunningMean::default();
        for n in 0..5_u8 {
            assert_eq!(running.mean(), None);
            running.add(&[f32::from(n), 1.0]).unwrap();
        }
        assert_eq!(running.mean(), Some([2.0, 1.0].as_slice()));
        assert!(running.add(&[1.0]).is_err());
        assert_eq!(running.count(), 5);
    }

    #[test]
    fn a_centred_state_has_a_root_mean_square_of_1() {
        let mut states = Matrix::<f64>::of_rows(&[[3.0, 5.0], [1.0, 1.0]]).unwrap();
        centre(&mut states, &[1.0, 1.0]).unwrap();
        let right = [0.4_f64.sqrt(), 1.6_f64.sqrt()];
        assert!(states.row(0).iter().zip(right).all(|(x, right)| (x - right).abs() < 1e-12));
        assert_eq!(states.row(1), [0.0, 0.0]);
        assert!(centre(&mut states, &[1.0]).is_err());
    }
}
