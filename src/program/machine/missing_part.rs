//! Explains an access to a missing part: the program is repeated with its answers, in a form that reports the accessed
//! value.

use super::Machine;
use crate::domain::program::{Pause, Raised, Stops};
use crate::domain::words;
use crate::papers::atc::prepare::Prepared;
use crate::papers::atc::source::ParsedProgram;

/// Exceptions of a missing part, or of a value without parts.
const OF_PARTS: [&str; 4] = ["KeyError", "IndexError", "TypeError", "AttributeError"];

impl Machine {
    /// An error with the actual value, if it failed at a part.
    pub(super) fn explained(&self, raised: Raised) -> Raised {
        if raised.had.is_some() || !OF_PARTS.contains(&raised.kind.as_str()) {
            return raised;
        }
        let Some((had, keys)) = self.had(&raised) else { return raised };
        let missing = raised.text.trim_matches(['\'', '"']);
        let near = match raised.kind.as_str() {
            "KeyError" => words::nearest(missing, keys.iter().map(String::as_str)),
            _ => None,
        };
        let hint = raised.hint.or_else(|| near.map(|near| format!("did you mean {near:?}?")));
        Raised { had: Some(had), hint, ..raised }
    }

    fn had(&self, raised: &Raised) -> Option<(String, Vec<String>)> {
        let failed = raised.span?;
        let source = ParsedProgram::parse(&self.start.text).ok()?;
        let code = Prepared::telling(&source, &self.start, failed)?;
        let (mut again, mut pause) =
            Machine::run(self.start.clone(), code, (&Stops::default(), None), false);
        for answers in &self.answered {
            if matches!(pause, Pause::Ended(_)) {
                break;
            }
            pause = again.go_on(answers.clone(), &Stops::default());
        }
        match pause {
            Pause::Ended(end) if end.error.as_ref()?.summary() == raised.summary() => again.had,
            _ => None,
        }
    }
}
