//! Searches for planted sets of faults, as many as say something.

use toolyard::app::fault_search::{FaultSearch, SearchEnd, SearchPlan};

use crate::planted::{agent, draws, found, kinds};
use crate::swept::Swept;

/// Sets of three: how many are to be found, and of how many.
const THREES: (usize, usize) = (18, 40);

#[test]
fn planted_sets_of_faults_are_found_and_nothing_else() {
    let mut draws = draws();
    println!("SEARCH_SEED={}", draws.0);
    let (one, two) = (found(1, 20, 500, &mut draws), found(2, 20, 500, &mut draws));
    let three = found(3, THREES.1, 2000, &mut draws);
    println!(
        "found: {one} of 20 single faults, {two} of 20 pairs, {three} of {} sets of three",
        THREES.1
    );
    assert_eq!((one, two), (20, 20));
    assert!(three >= THREES.0, "{three} of {}", THREES.1);
    for _ in 0..10 {
        let agent = agent(&mut draws, 0);
        let plan = SearchPlan { kinds: kinds(), most: 3, runs: 2000, seed: 1 };
        let end = FaultSearch::new(plan, &agent).run();
        assert!(matches!(end, Ok(SearchEnd::Nothing { .. })), "{end:?}");
    }
}

#[test]
fn a_sweep_of_200_sessions_has_the_same_answers_however_it_runs() {
    let mut draws = draws();
    println!("SEARCH_SEED={}", draws.0);
    let cuts: Vec<u64> = (0..5).map(|_| 200 + draws.below(2_000) as u64).collect();
    Swept::new(20, 5).has_the_same_answers(&cuts);
}
