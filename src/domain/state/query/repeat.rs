//! The part of a request that an endpoint may have in its cache: the part that it shares with the request before it.

use crate::state::{ModelCallState, State};
use crate::tokens::{self, PromptPart};

/// Part of a request that repeats the one before it, of the same role, model and task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// Tokens of the equal parts at the beginning.
    pub tokens: u64,
    /// Tokens of the request before.
    pub of: u64,
    /// The first part that differs, by its kind; `None` if the request before is repeated completely.
    pub differs: Option<String>,
}

impl State {
    /// The model call before this one in the same conversation: of its run and role, if the details are still there.
    pub fn call_before(&self, call: &ModelCallState) -> Option<&ModelCallState> {
        let run = self.run_of(call.task);
        let mut earlier = self.model_calls.iter().rev().skip_while(|it| it.id >= call.id);
        earlier.find(|it| it.role == call.role && self.run_of(it.task) == run)
    }

    /// Returns the part that this request repeats; `None` for the first request of its role and model in a task.
    pub fn repeat(&self, call: &ModelCallState) -> Option<Repeat> {
        let task = self.task(call.task)?;
        let calls = task.model_calls.iter().take_while(|id| **id != call.id);
        let alike = calls
            .filter_map(|id| self.model_call(*id))
            .filter(|before| before.role == call.role && before.model == call.model);
        let before = alike.last()?;
        Some(compared(&tokens::parts(&before.request), &tokens::parts(&call.request)))
    }
}

fn compared(before: &[PromptPart], now: &[PromptPart]) -> Repeat {
    // The last part is the chat format, which has no fixed place.
    let [before, now] =
        [before, now].map(|parts| parts.split_last().map_or(&[][..], |(_, all)| all));
    let same = before.iter().zip(now).take_while(|(before, now)| before == now).count();
    let sum = |parts: &[PromptPart]| parts.iter().map(|part| part.tokens).sum();
    let differs = before.get(same).map(|part| now.get(same).unwrap_or(part).label.clone());
    Repeat { tokens: sum(&before[..same]), of: sum(before), differs }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(texts: &[&str]) -> Vec<PromptPart> {
        let part = |text: &&str| PromptPart {
            label: format!("kind {text}"),
            text: (*text).into(),
            tokens: 10,
        };
        let framing = PromptPart { label: "framing".into(), text: String::new(), tokens: 6 };
        texts.iter().map(part).chain([framing]).collect()
    }

    #[test]
    fn the_first_part_that_differs_is_named() {
        let before = parts(&["tools", "system", "end"]);
        let repeat = |now: &[&str]| {
            let repeat = compared(&before, &parts(now));
            (repeat.tokens, repeat.of, repeat.differs)
        };
        assert_eq!(repeat(&["tools", "system", "end", "more"]), (30, 30, None));
        let differs = Some("kind result".to_owned());
        assert_eq!(repeat(&["tools", "system", "result", "end"]), (20, 30, differs));
        assert_eq!(repeat(&["tools", "system"]), (20, 30, Some("kind end".to_owned())));
        assert_eq!(repeat(&[]), (0, 30, Some("kind tools".to_owned())));
    }
}
