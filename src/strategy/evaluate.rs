//! ToolNet's evaluator (section 3.3): reads a finished trajectory and gives every tool that was used
//! an integer from −3 to 3. Scores add up, and move the weights of the graph.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    CallResult, Context, Ending, Observation, Trajectory, json as replies, prompt, scoring,
};
use crate::domain::schema::object_schema;
use crate::domain::{
    Boundary, GraphEvent, Knob, Prompt, Request, Role, Scorer, Task, ToolErrorKind, ToolName,
    ToolVerdict,
};

/// Has the finished attempt judged, and learns from it unless learning is frozen. A call whose arguments were wrong is
/// left out: it shows something about the agent, not about the tool.
pub async fn evaluate(ctx: &impl Context, task: &Task, trajectory: &Trajectory, ending: &Ending) {
    let trajectory = &trajectory.without(|called| called.observation.is_of_arguments());
    let used = used(trajectory);
    if used.is_empty() {
        return;
    }
    let scorer = ctx.state(|state| state.knobs.choice());
    let by_rules = |is_sure| {
        ctx.state(|state| scoring::verdicts(state, task, trajectory, ending, &used, is_sure))
    };
    let mut verdicts = match scorer {
        Scorer::Model => ask(ctx, task, trajectory, ending, &used).await,
        Scorer::Rules => by_rules(false),
        Scorer::Auto => {
            let mut verdicts = by_rules(true);
            let is_open = |tool: &ToolName| verdicts.iter().all(|verdict| verdict.tool != *tool);
            let open: Vec<_> = used.iter().filter(|tool| is_open(tool)).cloned().collect();
            if !open.is_empty() {
                // Fewer results and fewer scores cost less.
                let own = trajectory.without(|called| !open.contains(&called.tool));
                verdicts.extend(ask(ctx, task, &own, ending, &open).await);
            }
            verdicts
        }
    };
    let (learn, learn_injected) =
        ctx.state(|state| (state.knobs.is_on(Knob::Learn), state.knobs.is_on(Knob::LearnInjected)));
    // A call that the user cancelled does not count for its tool; whether a fault counts is the
    // user's choice.
    verdicts.retain(|verdict| {
        let excused = trajectory
            .calls()
            .filter(|called| called.tool == verdict.tool)
            .any(|called| was_cancelled(called) || (called.injected && !learn_injected));
        verdict.score >= 0 || !excused
    });
    if !verdicts.is_empty() {
        ctx.say(|task| GraphEvent::Evaluated { task, verdicts, learned: learn });
        ctx.checkpoint(Boundary::AfterEvaluation).await;
    }
}

/// The evaluator's scores. Unusable parts of its reply are reported.
async fn ask(
    ctx: &impl Context,
    task: &Task,
    trajectory: &Trajectory,
    ending: &Ending,
    used: &[ToolName],
) -> Vec<ToolVerdict> {
    let request = ctx.state(|state| {
        let (role, prompt) = (Role::Evaluator, Prompt::Evaluator);
        let schema = prompt::held_to(state, role, || schema(used));
        Request { schema, ..prompt::about(state, role, prompt, task, trajectory, ending) }
    });
    let (verdicts, refused) = match ctx.ask(Role::Evaluator, request).await {
        Ok(reply) => read(&reply.text, used),
        Err(error) => (Vec::new(), vec![error.text]),
    };
    for why in refused {
        ctx.say(|task| GraphEvent::EvaluationRefused { task, why });
    }
    verdicts
}

/// The tools that ran, each once, in order of first use.
fn used(trajectory: &Trajectory) -> Vec<ToolName> {
    let mut used: Vec<ToolName> = Vec::new();
    for called in trajectory.calls() {
        if !used.contains(&called.tool) {
            used.push(called.tool.clone());
        }
    }
    used
}

fn was_cancelled(called: &CallResult) -> bool {
    matches!(&called.observation, Observation::Failed(error) if error.kind == ToolErrorKind::Cancelled)
}

/// The JSON Schema of the scores of these tools. [`read`] checks the same, since some models do not support schemas.
fn schema(used: &[ToolName]) -> Value {
    let score: Vec<i8> = (-3..=3).collect();
    let entry = object_schema(json!({
        "tool": {"type": "string", "enum": used},
        "score": {"type": "integer", "enum": score},
        "reason": {"type": "string"},
    }));
    object_schema(json!({"scores": {"type": "array", "items": entry}}))
}

/// Reads the evaluator's reply: the usable scores, and the reasons against the rest. A score out of
/// range is refused and never clamped: a model that answers 10 has not understood the scale.
fn read(text: &str, used: &[ToolName]) -> (Vec<ToolVerdict>, Vec<String>) {
    #[derive(Deserialize)]
    struct ScoreSheet {
        scores: Vec<ScoreEntry>,
    }
    #[derive(Deserialize)]
    struct ScoreEntry {
        tool: ToolName,
        score: Value,
        #[serde(default)]
        reason: String,
    }
    let Some(sheet) =
        replies::objects(text).find_map(|json| serde_json::from_str::<ScoreSheet>(json).ok())
    else {
        return (Vec::new(), vec!["no JSON object with `scores` in the reply".to_owned()]);
    };
    let (mut verdicts, mut refused) = (Vec::<ToolVerdict>::new(), Vec::new());
    for ScoreEntry { tool, score, reason } in sheet.scores {
        let whole = score.as_f64().filter(|score| score.fract() == 0.0 && score.abs() <= 3.0);
        if !used.contains(&tool) {
            refused
                .push(format!("ignored evaluator score for {tool} ({score}): tool was not used"));
        } else if verdicts.iter().any(|verdict| verdict.tool == tool) {
            refused.push(format!("ignored second evaluator score for {tool}"));
        } else if let Some(whole) = whole {
            verdicts.push(ToolVerdict { tool, score: whole as i8, reason });
        } else {
            refused.push(format!(
                "ignored evaluator score for {tool} ({score}): not an integer from -3 to 3"
            ));
        }
    }
    (verdicts, refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used() -> Vec<ToolName> {
        vec!["search".into(), "calc".into()]
    }

    #[test]
    fn reads_json_wherever_it_stands() {
        let text = "Sure! {oops}\n```json\n{\"scores\":[{\"tool\":\"search\",\"score\":2,\
                    \"reason\":\"found it\"},{\"tool\":\"calc\",\"score\":-3}]}\n```";
        let (verdicts, refused) = read(text, &used());
        assert_eq!(refused, Vec::<String>::new());
        let scores: Vec<_> = verdicts.iter().map(|v| (v.tool.as_str(), v.score)).collect();
        assert_eq!(scores, [("search", 2), ("calc", -3)]);
    }

    #[test]
    fn megabytes_of_braces_are_given_up_soon() {
        let text = "{\"a\":".repeat(1 << 17);
        assert_eq!(read(&text, &used()).1, ["no JSON object with `scores` in the reply"]);
    }

    #[test]
    fn refuses_what_is_out_of_range_and_says_so() {
        for (entry, phrase) in [
            (r#"{"tool":"search","score":4}"#, "(4): not an integer"),
            (r#"{"tool":"search","score":1.5}"#, "(1.5): not an integer"),
            (r#"{"tool":"search","score":"3"}"#, "not an integer"),
            (r#"{"tool":"other","score":1}"#, "not used"),
        ] {
            let text = format!("{{\"scores\":[{entry},{{\"tool\":\"calc\",\"score\":1}}]}}");
            let (verdicts, refused) = read(&text, &used());
            assert_eq!(verdicts.len(), 1, "{entry}");
            assert!(refused[0].contains(phrase), "{refused:?}");
        }
        assert_eq!(read("I would say 3.", &used()).1.len(), 1);
        let twice = r#"{"scores":[{"tool":"calc","score":1},{"tool":"calc","score":2}]}"#;
        assert_eq!(read(twice, &used()).0.len(), 1);
    }
}
