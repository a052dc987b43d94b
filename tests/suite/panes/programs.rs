//! The programs of a task in the pane of plans.

use std::sync::Arc;

use serde_json::json;
use toolyard::domain::program::{LineStop, ProgramEnd, Raised, Span};
use toolyard::domain::{
    BlamedBy, By, EffectId, EffectRef, Origin, ProgramEvent, ProgramSource, ProgramVerdict, TaskId,
    ToolCallEvent, ToolOutput,
};
use toolyard::ui::pane::PaneId;
use toolyard::ui::view::View;

use super::show;
use crate::story::{Story, effect};

const TASK: TaskId = TaskId(1);

fn written(story: &mut Story, number: u32, text: &str) {
    let (text, from) = (Arc::from(text), ProgramSource::Reply);
    story.tell(ProgramEvent::ProgramWritten { task: TASK, number, text, from });
}

fn called(story: &mut Story, id: u32, (number, line): (u32, u32), origin: Origin) {
    let effect = EffectRef { line: Some(line), origin, ..effect(EffectId(id)) };
    let (tool, arguments) = ("credits".into(), json!({"id": id}));
    story.tell(ToolCallEvent::ToolCallRequested {
        effect,
        task: TASK,
        step: number,
        tool,
        arguments,
        evidence: None,
        by: By::Engine,
    });
    let output = Arc::new(ToolOutput { text: "{}".into(), cut_from: None });
    story.tell(ToolCallEvent::ToolCallFinished { effect, output });
}

#[test]
fn a_program_is_shown_with_its_calls_its_error_and_the_way_to_the_tool() {
    let mut story = Story::opened("atc", Default::default());
    story.queue(&[("Who directed it?", None)]).start(1);
    let first = "c = credits(id=1)\nfor m in c[\"crew\"]:\n    print(m[\"director\"])";
    written(&mut story, 1, first);
    called(&mut story, 1, (1, 1), Origin::Live);
    let span = Span { line: 3, column: 11, end_line: 3, end_column: 24 };
    let error = Raised::new("KeyError", "'director'").at(span);
    let end = Arc::new(ProgramEnd::failed("so far", error));
    let shown =
        |story: &Story| show(PaneId::Plan, story, &View::default(), 64, 14).lines.join("\n");
    let how = ProgramVerdict::Failed;
    story.tell(ProgramEvent::ProgramEnded { task: TASK, number: 1, end, how });
    let (tool, by) = (Some("credits".into()), BlamedBy::Flow);
    let path = vec![("m".to_owned(), 2), ("c".to_owned(), 1), ("credits".to_owned(), 1)];
    story.tell(ProgramEvent::ToolBlamed { task: TASK, number: 1, tool, by, path });
    let failed = shown(&story);
    written(&mut story, 2, "c = credits(id=1)\nfor m in c[\"crew\"]:\n    print(m[\"name\"])");
    called(&mut story, 2, (2, 1), Origin::Reused);
    called(&mut story, 3, (2, 1), Origin::Live);
    let at = Arc::new(LineStop { line: 3, hit: 1, ..LineStop::default() });
    story.tell(ProgramEvent::ProgramHeld { task: TASK, number: 2, at });
    let held = shown(&story);
    let end = Arc::new(ProgramEnd { printed: "Ada\nBo".into(), ..ProgramEnd::default() });
    let how = ProgramVerdict::Fine;
    story.tell(ProgramEvent::ProgramEnded { task: TASK, number: 2, end, how });
    insta::assert_snapshot!("programs", [failed, held, shown(&story)].join("\n\n"));
}
