//! Numbers of README and guide that a command prints after minutes.

#[test]
fn pages_have_the_numbers_that_comparisons_print() {
    crate::told::check(true);
}
