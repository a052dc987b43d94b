//! Numbers of README and guide that a short command prints.

#[test]
fn pages_have_the_numbers_that_commands_print() {
    crate::told::check(false);
}
