//! `toolyard fork`: from a moment of a session, with something changed there.

use crate::forking;

#[test]
fn forks_without_an_edit_equal_their_originals() {
    let tried = forking::tried(40);
    let first: Vec<_> = tried.differing.iter().take(20).collect();
    assert!(tried.forks > 400, "{}", tried.forks);
    assert!(tried.reordered * 20 < tried.forks, "{} are in another order", tried.reordered);
    assert!(first.is_empty(), "{} of {} differ: {first:#?}", tried.differing.len(), tried.forks);
}
