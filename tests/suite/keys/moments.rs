//! Moments of programs: back in one that is held, through one that is over, and where its values come from.

use std::sync::Arc;

use serde_json::{Value, json};
use toolyard::domain::program::{Back, Interpreter, ProgramEnd};
use toolyard::domain::{
    By, Command, EffectId, EffectRef, Origin, ProgramEvent, ProgramSource, ProgramVerdict, TaskId,
    ToolCallEvent, ToolOutput,
};
use toolyard::program::Child;

use super::command;
use crate::stage::Stage;
use crate::story::{Story, effect, tool};

const TASK: TaskId = TaskId(1);

const PROGRAM: &str = "film = search(query=\"Mars\")[0]
names = []
for each in credits(query=film[\"id\"]):
    name = each[\"name\"].upper()
    names.append(name)
print(names)";

fn called(story: &mut Story, (number, line): (u32, u32), name: &str, query: Value, result: Value) {
    let id = EffectId(story.state().effects_requested() as u32 + 1);
    let effect = EffectRef { line: Some(line), origin: Origin::Live, ..effect(id) };
    story.tell(ToolCallEvent::ToolCallRequested {
        effect,
        task: TASK,
        step: number,
        tool: name.into(),
        arguments: json!({ "query": query }),
        evidence: None,
        by: By::Engine,
        wire_id: None,
    });
    let output = Arc::new(ToolOutput::of(result.to_string()));
    story.tell(ToolCallEvent::ToolCallFinished { effect, output });
}

fn program(story: &mut Story, number: u32, text: &str) {
    story.step(1, number, "start");
    let (text, from) = (Arc::from(text), ProgramSource::Reply);
    story.tell(ProgramEvent::ProgramWritten { task: TASK, number, text, from });
}

fn ended(story: &mut Story, number: u32, printed: &str, how: ProgramVerdict) {
    let end = Arc::new(ProgramEnd { printed: printed.into(), ..ProgramEnd::default() });
    story.tell(ProgramEvent::ProgramEnded { task: TASK, number, end, how });
}

/// Two programs of a task that nobody has watched.
fn unwatched() -> Story {
    let mut story = Story::opened("atc", Default::default());
    story.join([tool("search", "", 1.0), tool("credits", "", 1.0)]);
    story.queue(&[("Who is in it?", None)]).start(1);
    program(&mut story, 1, "film = search(query=\"Marz\")\nprint(credits(query=8))");
    called(&mut story, (1, 1), "search", json!("Marz"), json!([]));
    called(&mut story, (1, 2), "credits", json!(8), json!([]));
    ended(&mut story, 1, "[]\n", ProgramVerdict::Doubtful);
    program(&mut story, 2, PROGRAM);
    called(&mut story, (2, 1), "search", json!("Mars"), json!([{"id": 7, "title": "Mars"}]));
    called(&mut story, (2, 3), "credits", json!(7), json!([{"name": "Ada"}, {"name": "Bo"}]));
    ended(&mut story, 2, "['ADA', 'BO']\n", ProgramVerdict::Fine);
    story
}

fn stage() -> Stage {
    Stage::of(&unwatched()).sized(80, 24)
}

/// Runs programs again as long as the screen wants that.
fn look(stage: &mut Stage) {
    toolyard::process::set_reaper(env!("CARGO_BIN_EXE_toolyard").into());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut child = Child::default();
        while let Some((wanted, again)) = stage.screen.rerun() {
            let reached = child.again(&again).await;
            stage.screen.reached(wanted, reached);
        }
    });
    stage.draw();
}

fn press(stage: &mut Stage, keys: &str) {
    for key in keys.split(' ') {
        assert!(stage.press(key).is_empty(), "{key}");
        look(stage);
    }
}

#[test]
fn a_person_goes_through_a_program_that_nobody_has_watched() {
    let mut stage = stage();
    look(&mut stage);
    stage.press("g v");
    let mut seen = vec![stage.text()];
    // Without asking for anything: its last values.
    assert!(stage.shows("\"BO\"") && stage.shows("at its end"), "{}", stage.text());
    press(&mut stage, "left");
    assert!(stage.shows("↺ statement 8 of 8 · line 6"), "{}", stage.text());
    press(&mut stage, "left left left");
    assert!(stage.shows("↺ statement 5 of 8 · line 5"), "{}", stage.text());
    seen.push(stage.text());
    assert!(stage.shows("\"ADA\"") && !stage.shows("\"BO\""), "{}", stage.text());
    stage.press(";");
    stage.write("len(names) + sum(i for i in range(3))");
    press(&mut stage, "enter");
    press(&mut stage, "right right");
    seen.push(stage.text());
    assert!(stage.shows("statement 7 of 8") && stage.shows(" 4 "), "{}", stage.text());
    // What one types behind `:p` is asked, too, and calls nothing.
    stage.press(":");
    stage.write("p search(query=1)");
    stage.press("enter");
    assert!(stage.shows("search is a tool; expressions cannot call tools"), "{}", stage.text());
    stage.press("esc :");
    stage.write("p each");
    press(&mut stage, "enter");
    assert!(stage.shows("→ each"), "{}", stage.text());
    // The moment of a line: when the program came to it last.
    press(&mut stage, "esc g p up up up");
    press(&mut stage, "@");
    assert!(stage.shows("↺ statement 6 of 8 · at line 4"), "{}", stage.text());
    seen.push(stage.text());
    press(&mut stage, "esc esc");
    assert!(!stage.shows("statement 6 of 8"), "{}", stage.text());
    insta::assert_snapshot!("program-moments", seen.join("\n"));
}

#[test]
fn the_past_shows_the_values_that_a_program_had_then() {
    let mut stage = stage();
    stage.press("g p");
    // Before the answer of its second call.
    let before = stage.screen.live().n - 2;
    stage.press(":");
    stage.write(&before.to_string());
    press(&mut stage, "enter g v");
    assert!(stage.shows("film") && stage.shows("Mars"), "{}", stage.text());
    assert!(stage.shows("line 3") && !stage.shows("BO"), "{}", stage.text());
}

#[test]
fn a_value_is_led_back_to_the_calls_that_made_it() {
    let mut stage = stage();
    look(&mut stage);
    stage.press("g p end up up w");
    let mut seen = vec![stage.text()];
    assert!(stage.shows("╔ Why: line 4 of program 2 "), "{}", stage.text());
    // To a line, and to a call.
    stage.press("enter");
    assert!(!stage.shows("╔ Why"), "{}", stage.text());
    stage.press("g v w");
    seen.push(stage.text());
    stage.press("end enter");
    assert!(stage.shows("╔ Call "), "{}", stage.text());
    stage.press("esc g p home down w");
    assert!(stage.shows("this value comes from no tool call"), "{}", stage.text());
    insta::assert_snapshot!("program-why", seen.join("\n"));
}

#[test]
fn what_two_programs_have_called_stands_side_by_side() {
    let mut stage = stage();
    stage.press("g n D");
    assert!(stage.shows("╔ Calls of programs 1 and 2 of task 1 "), "{}", stage.text());
    insta::assert_snapshot!("program-compared", stage.text());
}

#[test]
fn a_held_program_is_taken_back() {
    let stage = || Stage::of(&crate::panes::programs::revised()).sized(120, 40);
    let back = |to| Command::TakeProgramBack { task: TASK, to };
    assert_eq!(command(&mut stage(), "c ,"), back(Back::Line));
    assert_eq!(command(&mut stage(), "c <"), back(Back::Call));
    let mut over = Stage::of(&unwatched());
    assert!(over.press("c ,").is_empty() && over.shows("only a held program"), "{}", over.text());
}
