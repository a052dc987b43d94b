//! What probing has learned of each tool.

use std::sync::Arc;

use serde_json::json;
use toolyard::domain::probe::{LearnedSchema, Merged, ProbeEnd, SchemaSource};
use toolyard::domain::result_schema::{Drift, Drifted, Schema, SchemaMode};
use toolyard::domain::{ProbeEvent, TaskId};
use toolyard::ui::pane::PaneId;
use toolyard::ui::popups::{Inspect, Subject};
use toolyard::ui::view::View;

use super::show;
use crate::story::{Story, tool};

const TASK: TaskId = TaskId(1);

fn learned(tool: &str, result: serde_json::Value, after: &[&str]) -> ProbeEvent {
    let learned = LearnedSchema {
        schema: Schema::of(SchemaMode::Merged, &[result]),
        mode: SchemaMode::Merged,
        question: "Which films match Titanic?".to_owned(),
        arguments: json!({"query": "Titanic"}),
        after: after.iter().map(|tool| (*tool).into()).collect(),
        samples: 2,
        pass: u32::from(!after.is_empty()),
        tokens: 1234,
        program: "print(search(query=\"Titanic\"))".to_owned(),
        response: "{\"results\": [{\"id\": 1}]}".to_owned(),
        merged: vec![Merged { arguments: json!({"query": "Titanic"}), fields: 2, brought: vec![] }],
    };
    ProbeEvent::SchemaLearned {
        tool: tool.into(),
        learned: Arc::new(learned),
        source: SchemaSource::Probed,
    }
}

fn ended(tool: &str, pass: u32, helpers: &[&str], end: ProbeEnd) -> ProbeEvent {
    let helpers = helpers.iter().map(|tool| (*tool).into()).collect();
    ProbeEvent::Probed { task: TASK, tool: tool.into(), pass, sample: 1, helpers, tokens: 617, end }
}

/// Some tools have answered, one differs from its schema, one does not answer, and one is left out.
pub fn probed() -> Story {
    let mut story = Story::opened("atc", Default::default());
    story.join(["search", "details", "review", "rate", "waits"].map(|name| tool(name, "", 1.0)));
    story.queue(&[("Probe all tools without a learned schema", None)]).start(1);
    let tools = ["search", "details", "review", "waits"].map(Into::into).to_vec();
    let left_out = vec![("rate".into(), "its effect is write: name it to probe it".to_owned())];
    story.tell(ProbeEvent::ProbeStarted { task: TASK, tools, left_out });
    story.tell(ended("search", 0, &[], ProbeEnd::Answered));
    story.tell(learned("search", json!({"results": [{"id": 1}]}), &[]));
    story.tell(ended("details", 1, &["search"], ProbeEnd::Answered));
    story.tell(learned("details", json!({"id": 1, "crew": []}), &["search"]));
    let why = "TypeError: review(): arguments.review_id: missing".to_owned();
    story.tell(ended("review", 1, &["search", "details"], ProbeEnd::Failed(why)));
    let drift = vec![Drift { path: "crew".to_owned(), how: Drifted::Missing }];
    let call = story.call(1, 1, ("details", json!({"id": 1}), Ok("{\"id\": 1}"), 20));
    story.tell(ProbeEvent::SchemaDrifted { tool: "details".into(), call, drift });
    story
}

#[test]
fn each_tool_says_what_is_known_of_it() {
    let story = probed();
    let view = View { tool: Some("details".into()), ..View::default() };
    let mut seen: Vec<String> = [(100, 8), (44, 8), (44, 3)]
        .into_iter()
        .map(|(width, height)| show(PaneId::Probing, &story, &view, width, height).lines.join("\n"))
        .collect();
    for name in ["details", "review"] {
        seen.push(Inspect::text(&Subject::Tool(name.into()), story.state(), &[], 60));
    }
    for name in ["details", "review", "rate", "waits"] {
        seen.push(Inspect::text(&Subject::Probed(name.into()), story.state(), &[], 60));
    }
    insta::assert_snapshot!("probing", seen.join("\n\n"));
}
