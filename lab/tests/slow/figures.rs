//! The numbers of the laboratory's pages and of README's papers are those that commands print.

#[test]
fn pages_have_the_numbers_that_commands_print() {
    crate::told::check(false);
}

/// Whole comparisons, which take minutes.
#[test]
fn pages_have_the_numbers_of_whole_comparisons() {
    crate::told::check(true);
}
