//! The screen of a session that watches watched agents.

use std::sync::Arc;

use ratatui::style::Modifier;
use toolyard::domain::{Command, Knob, Record, RunEvent, SessionEvent, TaskId};
use toolyard::ui::hits::Target;
use toolyard::ui::request::ScreenRequest;
use toolyard::ui::{pane::PaneId, screen::Screen, view::View};

use super::show;
use crate::engine::guests_counted;
use crate::stage::{Stage, setup};
use crate::story::Story;
use crate::watching::{held, listening, relayed, said, watched};

fn stage(story: &Story, (width, height): (u16, u16)) -> Stage {
    let mut stage = Stage::of(story);
    stage.screen.view.agent = Some(said(40));
    stage.sized(width, height)
}

#[test]
fn three_conversations_at_three_sizes() {
    for size in [(80, 24), (120, 40), (200, 60)] {
        let (width, height) = size;
        insta::assert_snapshot!(
            format!("watched-{width}x{height}"),
            stage(&watched(), size).text()
        );
    }
    insta::assert_snapshot!("watched-held", stage(&held(), (120, 40)).text());
    insta::assert_snapshot!("watched-listening", stage(&listening(), (80, 24)).text());
}

#[test]
fn a_held_call_says_when_its_client_gives_up() {
    let mut story = relayed();
    let calls = |story: &Story| show(PaneId::Calls, story, &View::default(), 160, 8);
    assert!(
        calls(&story).has("its client gives up in 46.0 s"),
        "{}",
        calls(&story).lines.join("\n")
    );
    let header = |story: &Story| stage(story, (160, 40)).text().lines().next().unwrap().to_owned();
    assert!(header(&story).contains("14 s · its client waits 1:00 min"), "{}", header(&story));
    story.wait(60_000).tell(SessionEvent::Noticed { text: "still here".into() });
    assert!(calls(&story).has("its client has given up"));
    assert!(header(&story).contains("its client has given up"), "{}", header(&story));
}

#[test]
fn a_sub_agent_stands_below_the_conversation_that_began_it() {
    let shown = show(PaneId::Conversations, &watched(), &View::default(), 100, 8);
    let (first, below, other) = (shown.row("Which of"), shown.row("└ Why is"), shown.row("Name a"));
    assert_eq!((below, other), (first + 2, first + 4), "each with its last words below it");
    assert!(shown.line("Which of").contains("agent's turn"));
    assert!(shown.line("└ Why is").contains("▶ running"));
    assert!(shown.line("Name a").contains("✓ answered"));
    assert!(shown.has("Porto lies on the open Atlantic"), "what is being said");
    let held = show(PaneId::Conversations, &held(), &View::default(), 100, 8);
    assert!(held.line("Which of").contains("‖ held"));
    assert!(held.has("held before a model call"));
}

#[test]
fn in_a_wide_pane_each_conversation_says_its_last_words() {
    let shown = show(PaneId::Conversations, &watched(), &View::default(), 140, 8);
    assert!(shown.line("Which of").contains("→ research(question: \"Why is Porto"));
    assert!(shown.line("Name a").contains("Padaria Ribeiro"));
}

#[test]
fn a_conversation_that_is_chosen_shows_its_task_everywhere() {
    let mut stage = stage(&watched(), (120, 40));
    stage.press("g t g t down");
    assert_eq!(stage.screen.view.task, Some(TaskId(2)));
    stage.press("esc");
    stage.click(&Target::Task(TaskId(1)));
    assert!(stage.shows("6 Calls · conversation 1 · task 1"), "{}", stage.text());
    stage.press("g t enter");
    assert!(stage.shows("╔ Task 1"), "{}", stage.text());
}

#[test]
fn the_end_of_an_agent_is_told_and_what_was_not_understood() {
    let mut stage = stage(&watched(), (200, 60));
    assert!(stage.shows("3 model calls · 2 tool calls  3 conversations"), "{}", stage.text());
    assert!(stage.shows("1 not understood"), "{}", stage.text());
    stage.tell(RunEvent::AgentEnded { code: Some(3) });
    assert!(stage.shows("python my_agent.py --city Lisbon · exit 3"), "{}", stage.text());
}

#[test]
fn the_output_follows_its_end_until_one_goes_up() {
    let mut stage = stage(&watched(), (120, 40));
    assert!(stage.shows("! step 40: ") && stage.shows("  step 39: "), "{}", stage.text());
    stage.press("g u home");
    assert!(stage.shows("step 1: ") && stage.shows("· 39 below"), "{}", stage.text());
    stage.press("end");
    assert!(stage.shows("! step 40: "), "{}", stage.text());
    stage.press("up up enter");
    assert!(stage.shows("Output of the agent") && stage.shows("once more in full"));
}

#[test]
fn what_a_foreign_agent_does_not_obey_is_refused_by_its_key() {
    let mut stage = stage(&watched(), (120, 40));
    for keys in ["t", "A", "5 m", "7 x", "L", "T", "3 C", "!"] {
        assert_eq!(stage.press(keys), [], "{keys}");
        assert!(stage.shows("your agent acts here; "), "{keys}: {}", stage.text());
    }
    // Only knobs that act on it are listed, and it has no credits.
    let turned = stage.press("4 +");
    let by_one = Command::TurnKnobBy { knob: Knob::Skip, steps: 1 };
    assert_eq!(turned, [ScreenRequest::Send(by_one)], "{}", stage.text());
    assert!(!stage.shows("alpha") && !stage.shows("budget"), "{}", stage.text());
    assert_eq!(stage.press("8"), []);
    assert!(stage.shows("a watched agent has no credits"), "{}", stage.text());
}

#[test]
fn models_are_shown_by_name_and_faults_hit_them() {
    let shown = show(PaneId::Models, &watched(), &View::default(), 60, 6);
    assert!(shown.line("gpt-5.2 ").contains("$0.0122") && shown.has("3.8 s"));
    assert!(!shown.has("actor"));
    let mut stage = stage(&watched(), (120, 40));
    let armed = stage.press("5 down f");
    assert!(format!("{armed:?}").contains("Model"), "{armed:?}");
}

#[test]
fn a_result_that_no_model_reads_is_struck_out_below_what_it_reads() {
    let mut stage = stage(&held(), (120, 40));
    stage.press("6 home down down enter");
    assert!(stage.shows("HTTP 503, retry later"), "{}", stage.text());
    let text = stage.text();
    let y = text.lines().position(|line| line.contains("{\"celsius\": 22}")).unwrap() as u16;
    let struck =
        |x: &u16| stage.buf[(*x, y)].modifier.contains(Modifier::CROSSED_OUT | Modifier::DIM);
    assert!((0..120).filter(struck).count() > 10, "{text}");
}

/// The screen of a session that these records tell, with one pane zoomed.
fn zoomed(records: &[Arc<Record>], pane: PaneId, (width, height): (u16, u16)) -> Stage {
    let mut screen = Screen::new(setup());
    records.iter().for_each(|record| screen.receive(Arc::clone(record)));
    screen.view.told = false;
    (screen.view.focus, screen.view.zoom) = (pane, Some(pane));
    Stage::showing(screen).sized(width, height)
}

#[test]
fn the_graph_counts_what_came_after_what() {
    let (records, _) = guests_counted::asked();
    for size in [(80, 24), (120, 40)] {
        let mut stage = zoomed(&records, PaneId::Graph, size);
        let text = stage.text();
        assert!(text.contains("1 Graph · counted · 22 conv."), "{text}");
        let inside: String = text.lines().filter(|line| line.starts_with('┃')).collect();
        for of_own in ["weight", "score", "step", "Finish"] {
            assert!(!inside.contains(of_own), "{of_own}: {text}");
        }
        for key in [" pin", " view", " more", " less"] {
            assert!(!text.lines().last().unwrap().contains(key), "{key}: {text}");
        }
        insta::assert_snapshot!(format!("watched-graph-{}x{}", size.0, size.1), text);
        for keys in ["p", "+", "V"] {
            assert_eq!(stage.press(keys), [], "{keys}");
            assert!(stage.shows("watched agent") || stage.shows("your agent"), "{keys}");
        }
        stage.press("home down down down enter");
        assert!(stage.shows("╔ Tool "), "{}", stage.text());
        stage.press("esc /");
        stage.write("red");
        stage.press("enter");
        assert!(stage.shows("filter: red"), "{}", stage.text());
    }
}

#[test]
fn a_narrow_graph_cuts_names_in_the_middle_and_tells_their_beginning_once() {
    let mut story = listening();
    story.join(
        ["read_the_first_of_all_files", "read_the_first_of_all_pages"]
            .map(|name| crate::story::tool(&format!("mcp__files__{name}"), "", 0.0)),
    );
    crate::watching::calls(
        &mut story,
        &["mcp__files__read_the_first_of_all_files", "mcp__files__read_the_first_of_all_pages"],
    );
    let shown = show(PaneId::Graph, &story, &View::default(), 44, 6);
    assert!(shown.has("─ read_…_files") && shown.has("─ read_…_pages"), "{:?}", shown.lines);
    let mut stage = stage(&story, (80, 24));
    stage.press("1");
    assert!(stage.shows("counted · mcp__files__ · 1 conv."), "{}", stage.text());
}

#[test]
fn the_pane_of_resilience_says_what_the_agent_did() {
    let records = guests_counted::broken();
    for size in [(80, 24), (120, 40)] {
        let stage = zoomed(&records, PaneId::Resilience, size);
        let text = stage.text();
        for said in [
            "0 What the agent did · weather:error:from-task=2 · 5 hits",
            "weather failed 5 times, in 4 conversations",
            "weather again after ",
            "\"Rome is always warm.\"",
            "\"I couldn't look that up.\"",
            "price  +1 call, +120 tok",
        ] {
            assert!(text.contains(said), "{said}: {text}");
        }
        assert!(!text.contains("ecovered"), "{text}");
        insta::assert_snapshot!(format!("watched-did-{}x{}", size.0, size.1), text);
    }
    let none = show(PaneId::Resilience, &listening(), &View::default(), 80, 4);
    assert!(none.has("No fault yet."), "{:?}", none.lines);
}
