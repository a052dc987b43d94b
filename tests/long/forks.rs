//! Forks at every event of sessions of each strategy.

use crate::forking;

#[test]
fn forks_without_an_edit_equal_their_originals_at_every_event() {
    let tried = forking::tried(crate::PART);
    println!(
        "forks: {} at the events of {} sessions: {} differ, {} of several runs are in another order",
        tried.forks,
        tried.sessions,
        tried.differing.len(),
        tried.reordered
    );
    let first: Vec<_> = tried.differing.iter().take(20).collect();
    assert!(first.is_empty(), "{first:#?}");
}
