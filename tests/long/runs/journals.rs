//! Journals with damage: no reader panics, and what is read is what was written.

use crate::mutations::Numbers;
use crate::program::{Home, text};

/// Journals that were changed in a few places are read, or refused with an error.
#[test]
fn damaged_journals_are_read_or_refused() {
    let home = Home::new();
    home.succeed(&[
        "run",
        "--strategy",
        "workers+btp",
        "--tasks-limit",
        "2",
        "--journal",
        "j.jsonl",
    ]);
    let bytes = std::fs::read(home.path("j.jsonl")).unwrap();
    let mut numbers = Numbers(0);
    for case in 0..super::cases(100_000) {
        let mutated = numbers.mutated(std::slice::from_ref(&bytes));
        std::fs::write(home.path("d.jsonl"), mutated).unwrap();
        let read = toolyard::store::journal::read(&home.path("d.jsonl"));
        if let Err(error) = read {
            assert!(
                error.to_string().contains(text(&home.path("d.jsonl"))),
                "case {case}: {error}"
            );
        }
    }
}
