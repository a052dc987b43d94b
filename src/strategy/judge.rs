//! Whether a result helped (BTP, section 2.4): by rules, or by asking a model. Every result of every
//! strategy is judged, since judged results are the experience that later plans are made of.

use serde::Deserialize;

use super::{Called, Context, Observation, json, prompt};
use crate::domain::{
    chat::{Role, ToolCall},
    error::ToolErrorKind,
    knob::Knob,
    null_filter,
    spec::Task,
};

const JUDGE: &str = "You judge whether the result of a tool helps with a task. It helps if it holds \
    something that the answer can be built from; an error, an empty result, or text beside the point \
    does not. Reply with JSON only: {\"helpful\": true or false, \"reason\": TEXT}";

/// Calls tools and has their results judged.
pub async fn call(ctx: &impl Context, task: &Task, step: u32, calls: &[ToolCall]) -> Vec<Called> {
    let all = ctx.call(step, calls).await;
    for called in &all {
        result(ctx, task, called).await;
    }
    all
}

/// Has the result of a call judged.
pub async fn result(ctx: &impl Context, task: &Task, called: &Called) {
    match &called.observation {
        // What was not run, or was cancelled, says nothing about its tool.
        Observation::Refused(_) => {}
        Observation::Failed(error) if error.kind == ToolErrorKind::Cancelled => {}
        Observation::Failed(error) => {
            ctx.judged(called.id, false, format!("it failed: {}", error.text));
        }
        Observation::Result(text) => {
            let (helpful, why) = judge(ctx, task, called, text).await;
            ctx.judged(called.id, helpful, why);
        }
    }
}

/// A result that rules can tell is useless needs no model.
async fn judge(ctx: &impl Context, task: &Task, called: &Called, text: &str) -> (bool, String) {
    if let Some(why) = null_filter::useless(text) {
        return (false, why.to_owned());
    }
    let by_rules = (true, "it found something".to_owned());
    if ctx.state(|state| state.knobs.count(Knob::Judge)) == 0 {
        return by_rules;
    }
    match ctx.ask(Role::Judge, prompt::helps(JUDGE, task, called)).await {
        Ok(reply) => read(&reply.text)
            .unwrap_or_else(|| (true, "by rules: the judge's answer has no verdict".to_owned())),
        Err(error) => (true, format!("by rules: {error}")),
    }
}

fn read(text: &str) -> Option<(bool, String)> {
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
    fn rules_see_what_is_plainly_useless() {
        for text in [
            "",
            " \n",
            "Not found.",
            "no results for that",
            "#@%&$!?~^*+",
            "[]",
            "{\"error\": \"x\"}",
        ] {
            assert!(null_filter::useless(text).is_some(), "{text:?}");
        }
        for text in [
            "42",
            "Havn is the capital.",
            "-12.5 °C",
            "{\"found\": [1, 2, 3]}",
            "{\"error\": null, \"x\": 1}",
        ] {
            assert_eq!(null_filter::useless(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_verdict_is_read_wherever_it_stands() {
        let read = |text| read(text).map(|(helpful, _)| helpful);
        assert_eq!(read("Well: {\"helpful\": false, \"reason\": \"no\"}."), Some(false));
        assert_eq!(read("{\"helpful\": true}"), Some(true));
        assert_eq!(read("yes, very helpful"), None);
    }
}
