//! What a model is asked that judges whether a result helped (BTP, section 2.4), and how its answer is read.

use serde::Deserialize;

use super::{json, prompt};
use crate::domain::{
    chat::Request,
    state::{TaskState, ToolCallState},
};

const JUDGE: &str = "You judge whether the result of a tool helps with a task. It helps if it holds \
    something that the answer can be built from; an error, an empty result, or text beside the point \
    does not. Reply with JSON only: {\"helpful\": true or false, \"reason\": TEXT}";

/// Asks whether the result of a call helps with its task.
pub fn question(task: &TaskState, call: &ToolCallState) -> Request {
    prompt::helps(JUDGE, &task.task, call)
}

/// The verdict and its reason; `None` where the answer has none.
pub fn read(text: &str) -> Option<(bool, String)> {
    #[derive(Deserialize)]
    struct Verdict {
        helpful: bool,
        #[serde(default)]
        reason: String,
    }
    let verdict =
        json::objects(text).find_map(|json| serde_json::from_str::<Verdict>(json).ok())?;
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
