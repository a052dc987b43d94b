//! The programs of a task, their variables, and what each program changed.

use std::sync::Arc;

use serde_json::json;
use toolyard::domain::program::{ExtraOutcome, Frame, LineStop, ProgramEnd, Raised, Set, Span};
use toolyard::domain::{
    BlamedBy, Boundary, By, ControlEvent, EffectId, EffectRef, Lane, Origin, ProgramEvent,
    ProgramSource, ProgramVerdict, TaskId, ToolCallEvent, ToolOutput,
};
use toolyard::ui::pane::PaneId;
use toolyard::ui::popups::{Inspect, Subject};
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
        wire_id: None,
    });
    let output = Arc::new(ToolOutput::of("{}"));
    story.tell(ToolCallEvent::ToolCallFinished { effect, output });
}

/// A program that failed and was blamed on a tool, and its revision, held in a function.
pub fn revised() -> Story {
    let mut story = Story::opened("atc", Default::default());
    story.queue(&[("Who directed it?", None)]).start(1);
    let first = "c = credits(id=1)\nfor m in c[\"crew\"]:\n    print(m[\"director\"])";
    written(&mut story, 1, first);
    called(&mut story, 1, (1, 1), Origin::Live);
    let span = Span { line: 3, column: 11, end_line: 3, end_column: 24 };
    let error = Raised {
        had: Some("has: id, name".to_owned()),
        ..Raised::new("KeyError", "'director'").at(span)
    };
    let end = Arc::new(ProgramEnd::failed("so far", error));
    let how = ProgramVerdict::Failed;
    story.tell(ProgramEvent::ProgramEnded { task: TASK, number: 1, end, how });
    let (tool, by) = (Some("credits".into()), BlamedBy::Flow);
    let path = vec![("m".to_owned(), 2), ("c".to_owned(), 1), ("credits".to_owned(), 1)];
    story.tell(ProgramEvent::ToolBlamed { task: TASK, number: 1, tool, by, path });
    let second = "c = credits(id=1)\ndef show(m):\n    print(m[\"name\"])\nfor m in c[\"crew\"]:\n    show(m)";
    written(&mut story, 2, second);
    called(&mut story, 2, (2, 1), Origin::Reused);
    let set = |line, name: &str, value| Set { line, name: name.to_owned(), value };
    let held = |line, hit, set, told| {
        let frame =
            |function: Option<&str>, line| Frame { function: function.map(str::to_owned), line };
        let frames = vec![frame(None, 5), frame(Some("show"), line)];
        let at = Arc::new(LineStop {
            line,
            hit,
            frames,
            set,
            told,
            nth: 7,
            calls: 1,
            ..LineStop::default()
        });
        ProgramEvent::ProgramHeld { task: TASK, number: 2, at }
    };
    let crew = json!([{"id": 1, "name": "Ada"}, {"id": 2, "name": "Bo"}]);
    let all = vec![set(1, "c", json!({"id": 1, "crew": crew})), set(4, "m", crew[0].clone())];
    story.tell(held(3, 1, all, Vec::new()));
    let expression = "len(c[\"crew\"])".to_owned();
    let told = ExtraOutcome { expression, sets: None, value: Ok(json!(2)), holds: true };
    story.tell(held(3, 2, vec![set(4, "m", crew[1].clone())], vec![told]));
    story.tell(ControlEvent::Held { lane: Lane::FIRST, boundary: Boundary::ProgramLine });
    story
}

#[test]
fn a_program_is_shown_with_its_calls_its_error_and_the_way_to_the_tool() {
    let mut story = revised();
    let shown = |story: &Story, pane, view: &View| show(pane, story, view, 64, 12).lines.join("\n");
    let now = View::default();
    let failed = View { program: Some((TASK, 1)), ..View::default() };
    let mut seen = vec![shown(&story, PaneId::Program, &failed)];
    for pane in [PaneId::Program, PaneId::Variables, PaneId::Revisions] {
        seen.push(shown(&story, pane, &now));
    }
    let end = Arc::new(ProgramEnd { printed: "Ada\nBo".into(), ..ProgramEnd::default() });
    let how = ProgramVerdict::Fine;
    story.tell(ProgramEvent::ProgramEnded { task: TASK, number: 2, end, how });
    seen.push(shown(&story, PaneId::Program, &now));
    insta::assert_snapshot!("programs", seen.join("\n\n"));
}

#[test]
fn a_program_and_its_values_are_read_in_full_and_copied() {
    let story = revised();
    let text = |subject| Inspect::text(&subject, story.state(), &[], 60);
    let name = || "len(c[\"crew\"])".to_owned();
    let pages = [
        text(Subject::Program(TASK, 1)),
        text(Subject::Program(TASK, 2)),
        text(Subject::Variable(TASK, 2, "m".to_owned())),
        text(Subject::Variable(TASK, 2, name())),
        text(Subject::Variable(TASK, 2, "nothing".to_owned())),
    ];
    insta::assert_snapshot!("program-pages", pages.join("\n\n"));
}
