//! A question to the person at the terminal.

use std::io::{self, IsTerminal};

use super::out;

/// Whether a person answers yes. No answer means no; without a terminal there is no question.
pub fn agrees(question: &str) -> bool {
    if !is_there() {
        return false;
    }
    out::tell(format!("{question} [y/N] "));
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).is_ok()
        && matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

/// Whether there is a person to ask.
pub fn is_there() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}
