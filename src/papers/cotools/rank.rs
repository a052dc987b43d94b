//! Ranks of scores: the highest is first, and of equal scores the one with the lower index.

use std::cmp::Ordering;

/// The indexes, best first.
pub fn ranking(scores: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|a, b| better(scores[*a], scores[*b]));
    order
}

/// The rank of one of the scores, from 1. `None` if there is no such index.
pub fn rank_of(scores: &[f64], gold: usize) -> Option<usize> {
    let own = *scores.get(gold)?;
    let ahead = scores
        .iter()
        .enumerate()
        .filter(|(i, score)| better(**score, own).then(i.cmp(&gold)).is_lt());
    Some(1 + ahead.count())
}

/// NaN is worse than any number.
fn better(one: f64, other: f64) -> Ordering {
    other.partial_cmp(&one).unwrap_or_else(|| one.is_nan().cmp(&other.is_nan()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn of_equal_scores_the_lower_index_is_first_and_nan_is_last() {
        let scores = [0.5, f64::NAN, 0.9, 0.5, -0.0, 0.0];
        assert_eq!(ranking(&scores), [2, 0, 3, 4, 5, 1]);
        assert_eq!(rank_of(&scores, 1), Some(6));
        assert_eq!(rank_of(&scores, 6), None);
    }

    proptest! {
        #[test]
        fn the_rank_is_the_place_in_the_ranking(
            scores in prop::collection::vec(prop_oneof![Just(f64::NAN), (-3_i8..3).prop_map(f64::from)], 1..20),
        ) {
            for (place, index) in ranking(&scores).into_iter().enumerate() {
                prop_assert_eq!(rank_of(&scores, index), Some(place + 1));
            }
        }
    }
}
