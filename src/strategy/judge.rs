//! The request to a model that judges whether a result helped (BTP, section 2.4), and the parser of
//! its answer.

use serde::Deserialize;

use super::{json, prompt};
use crate::domain::{InTask, Request, ToolCallState};

/// The request that asks whether the result of a call helps with its task.
pub fn question(state: &InTask<'_>, call: &ToolCallState) -> Option<Request> {
    let task = state.task(call.task)?;
    Some(prompt::helps(state, &task.task, call))
}

/// The verdict and its reason; `None` if the answer has none.
pub fn read(text: &str) -> Option<(bool, String)> {
    #[derive(Deserialize)]
    struct JudgeVerdict {
        helpful: bool,
        #[serde(default)]
        reason: String,
    }
    let verdict =
        json::objects(text).find_map(|json| serde_json::from_str::<JudgeVerdict>(json).ok())?;
    Some((verdict.helpful, verdict.reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_read_wherever_it_stands() {
        let read = |text| read(text).map(|(helpful, _)| helpful);
        assert_eq!(read("Well: {\"helpful\": false, \"reason\": \"no\"}."), Some(false));
        assert_eq!(read("{\"helpful\": true}"), Some(true));
        assert_eq!(read("yes, very helpful"), None);
    }
}
