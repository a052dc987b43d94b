//! Embeddings of texts, and the similarity of two texts by their embeddings.
//!
//! Numbers are rounded to a hundredth of the largest: this changes a cosine by less than 0.01, and
//! a thousand past queries are read four times as fast.

/// The embedding of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedding {
    model: String,
    vector: Vec<i8>,
}

impl Embedding {
    /// `None` for a vector without direction: all numbers are 0, or one is not finite.
    pub fn new(model: impl Into<String>, vector: &[f32]) -> Option<Self> {
        let largest = vector.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
        let is_good = vector.iter().all(|number| number.is_finite()) && largest > 0.0;
        let round = |number: &f32| (number / largest * f32::from(i8::MAX)).round() as i8;
        is_good.then(|| Self { model: model.into(), vector: vector.iter().map(round).collect() })
    }

    /// A vector already rounded by [`Embedding::new`].
    pub fn of_rounded(model: impl Into<String>, vector: Vec<i8>) -> Self {
        Self { model: model.into(), vector }
    }

    pub fn model(&self) -> &str {
        &self.model
    }

    /// A number for each dimension; only their ratio matters.
    pub fn vector(&self) -> &[i8] {
        &self.vector
    }

    /// The cosine with a stored vector, 0 to 1; a negative one counts as 0. `None` where they cannot be
    /// compared.
    pub fn cosine(&self, stored: &[u8]) -> Option<f64> {
        if stored.len() != self.vector.len() {
            return None;
        }
        let (mut both, mut own, mut other) = (0_i64, 0_i64, 0_i64);
        for (one, two) in self.vector.iter().zip(stored) {
            let (one, two) = (i32::from(*one), i32::from(two.cast_signed()));
            both += i64::from(one * two);
            own += i64::from(one * one);
            other += i64::from(two * two);
        }
        let lengths = (own as f64 * other as f64).sqrt();
        (lengths > 0.0).then(|| (both as f64 / lengths).clamp(0.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(one: &[f32], other: &[f32]) -> Option<f64> {
        let stored = Embedding::new("m", other)?.vector;
        let stored: Vec<u8> = stored.into_iter().map(i8::cast_unsigned).collect();
        Embedding::new("m", one)?.cosine(&stored)
    }

    #[test]
    fn rounding_hardly_changes_a_cosine() {
        let vector = |seed: u64| -> Vec<f32> {
            (0..1_536).map(|n| crate::chance::Chance::new(seed + n).unit() as f32 - 0.3).collect()
        };
        for seed in 0..20 {
            let (one, other) = (vector(seed), vector(seed + 10_000));
            let dot = |a: &[f32], b: &[f32]| -> f64 {
                a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum()
            };
            let exact = dot(&one, &other) / (dot(&one, &one) * dot(&other, &other)).sqrt();
            let rounded = cosine(&one, &other).unwrap();
            assert!((exact - rounded).abs() < 0.01, "{exact} became {rounded}");
        }
        assert_eq!(cosine(&[1.0, 2.0], &[10.0, 20.0]), Some(1.0));
        assert_eq!(cosine(&[1.0, 0.0], &[-1.0, 0.0]), Some(0.0));
    }

    #[test]
    fn what_has_no_direction_is_not_compared() {
        for bad in [&[][..], &[0.0, 0.0], &[f32::NAN, 1.0], &[f32::INFINITY, 1.0]] {
            assert_eq!(Embedding::new("m", bad), None, "{bad:?}");
        }
        assert_eq!(cosine(&[1.0, 2.0], &[1.0, 2.0, 3.0]), None);
        assert_eq!(Embedding::new("m", &[1.0, 2.0]).unwrap().cosine(&[0, 0]), None);
    }
}
