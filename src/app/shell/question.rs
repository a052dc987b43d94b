//! A question to the person at the terminal.

use std::io::{self, IsTerminal};

use super::{out, trouble::Trouble};
use crate::trust_answers::Brought;
use crate::ui::text::clean;

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

/// Ends the program unless a person agrees to all that is brought, now or earlier; a yes is kept. Each has a text that
/// tells it to people. `asked` is what the question says of all, `advice` what to do without a yes.
///
/// # Errors
/// Nobody agrees, or the answers cannot be read or written.
pub fn expect_yes(
    brought: Vec<(Brought, String)>,
    asks: bool,
    asked: &str,
    advice: &str,
) -> Result<(), Trouble> {
    let mut open = Vec::new();
    for one in brought {
        if one.0.answer().map_err(Trouble::Usage)? != Some(true) {
            open.push(one);
        }
    }
    if open.is_empty() {
        return Ok(());
    }
    let told: Vec<&str> = open.iter().map(|(_, told)| told.as_str()).collect();
    let told = told.join(", ");
    if !(asks && agrees(&clean(&format!("{told}. {asked}")))) {
        return Err(Trouble::Usage(format!("{told}; {advice}")));
    }
    open.into_iter().try_for_each(|(one, _)| one.keep(true).map_err(Trouble::Failed))
}
