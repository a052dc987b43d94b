//! What a walking agent is offered at each step.

use serde_json::json;
use toolyard::domain::{Command, Event, Knob, MenuItem, MenuReason, Reply, TaskEvent, ToolName};

use crate::engine::yard::{Trial, Yard, calls, on_paused_time};

/// A call of a tool, with a thought.
fn call(thought: &str, tool: &str) -> Reply {
    Reply { text: thought.to_owned(), ..calls(&[(tool, json!({"text": "x", "ms": 1}))]) }
}

fn trial(names: &'static [&'static str], knobs: &[(Knob, f64)], replies: Vec<Reply>) -> Trial {
    let replies = replies.into_iter().map(Ok).collect();
    let knobs = knobs.to_vec();
    Trial { names, knobs, replies, task: "Hello?", paused: true, ..Trial::default() }
}

/// Does the task after these commands, and gives the menus of its steps.
async fn menus(trial: Trial, commands: Vec<Command>) -> Vec<Vec<MenuItem>> {
    let yard = trial.start();
    yard.settle().await;
    for command in commands {
        yard.wish(command);
    }
    yard.wish(Command::Run);
    let Yard { session, records, commands: _commands, .. } = yard;
    session.await.unwrap();
    let records = records.borrow();
    let menus = records.iter().filter_map(|record| match &record.event {
        Event::Task(TaskEvent::StepStarted { menu, .. }) => Some(menu.to_vec()),
        _ => None,
    });
    menus.collect()
}

fn names(menu: &[MenuItem]) -> Vec<&str> {
    menu.iter().map(|item| item.tool.as_str()).collect()
}

fn score(tool: &str, score: f64) -> Command {
    Command::SetScore { tool: tool.into(), score }
}

fn switch_off(tool: &str) -> Command {
    Command::SwitchTool { tool: ToolName::from(tool), on: false }
}

#[test]
fn the_heaviest_tools_that_are_switched_on_fill_a_menu() {
    on_paused_time(async {
        let tools = &["ant", "bee", "cow", "dog", "elk", "fox"];
        let knobs =
            [(Knob::TopK, 2.0), (Knob::MenuMax, 2.0), (Knob::Explore, 0.0), (Knob::FixTools, 0.0)];
        let scores = [("ant", 1.0), ("bee", 2.0), ("cow", 9.0), ("dog", 8.0), ("elk", 7.0)];
        let mut commands: Vec<_> = scores.map(|(tool, value)| score(tool, value)).into();
        commands.extend(["cow", "dog", "elk"].map(switch_off));
        let menus = menus(trial(tools, &knobs, vec![call("", "ant")]), commands).await;
        assert_eq!(names(&menus[0]), ["bee", "ant", "end"]);
        assert!(menus[0][..2].iter().all(|item| item.why == MenuReason::Filled), "{menus:?}");
        assert_eq!(names(&menus[1]), ["bee", "ant", "end"]);
        assert!(menus[1][..2].iter().all(|item| item.why == MenuReason::Successor), "{menus:?}");
    });
}

#[test]
fn a_menu_that_cannot_hold_every_tool_has_those_that_match_the_task() {
    on_paused_time(async {
        let knobs = [(Knob::MenuMax, 2.0)];
        let trial = Trial {
            strategy: "react",
            task: "A cow, or a bee?",
            ..trial(&["ant", "bee", "cow"], &knobs, vec![])
        };
        let menu = menus(trial, vec![]).await.remove(0);
        assert_eq!(names(&menu), ["bee", "cow", "end"]);
        assert!(menu[..2].iter().all(|item| item.why == MenuReason::Retrieved), "{menu:?}");
    });
}

#[test]
fn what_words_find_is_not_offered_twice_in_a_first_menu() {
    on_paused_time(async {
        let knobs = [(Knob::TopK, 3.0)];
        let commands = vec![score("hello", 9.0), score("bee", 2.0), score("ant", 1.0)];
        let menus = menus(trial(&["ant", "bee", "cow", "hello"], &knobs, vec![]), commands).await;
        assert_eq!(names(&menus[0]), ["hello", "bee", "ant", "end"]);
        let whys: Vec<_> = menus[0].iter().map(|item| item.why).collect();
        use MenuReason::{Filled, Finish, Retrieved};
        assert_eq!(whys, [Retrieved, Filled, Filled, Finish]);
    });
}

#[test]
fn what_is_explored_suits_the_last_thought_best_of_all_that_is_not_on_the_menu() {
    on_paused_time(async {
        let tools = &["ant", "bee", "cow", "dog"];
        let knobs =
            [(Knob::MenuMax, 2.0), (Knob::TopK, 4.0), (Knob::Explore, 1.0), (Knob::FixTools, 0.0)];
        let replies = vec![call("An ant, a bee, a cow or a dog?", "cow")];
        let menus = menus(trial(tools, &knobs, replies), vec![]).await;
        assert_eq!(names(&menus[1]), ["ant", "bee", "dog", "end"]);
        assert_eq!(menus[1][2].why, MenuReason::Explore);
    });
}

/// The menu after `ant` and then this call, where a task's requests define `ant` and `bee` only.
async fn third(
    thought: &str,
    (tool, text): (&str, &str),
    faults: Vec<&'static str>,
) -> Vec<String> {
    let arguments = json!({"text": text, "ms": 1});
    let reply = Reply { text: thought.to_owned(), ..calls(&[(tool, arguments)]) };
    let knobs = [(Knob::TopK, 2.0), (Knob::Explore, 2.0)];
    let replies = vec![call("An ant.", "ant"), reply];
    let trial = Trial { faults, ..trial(&["ant", "bee", "cow", "dog"], &knobs, replies) };
    let menus = menus(trial, vec![]).await;
    assert_eq!([&menus[0], &menus[1]].map(|menu| names(menu)), [["ant", "bee", "end"]; 2]);
    names(&menus[2]).into_iter().map(str::to_owned).collect()
}

#[test]
fn other_tools_are_offered_where_the_last_call_did_not_help() {
    on_paused_time(async {
        let thought = "The ant or the cow?";
        let after = async |call, faults| third(thought, call, faults).await;
        assert_eq!(after(("ant", "y"), vec![]).await, ["ant", "bee", "end"], "it helped");
        assert_eq!(after(("ant", "x"), vec![]).await, ["ant", "bee", "cow", "end"], "a repeat");
        assert_eq!(after(("ant", "Not found."), vec![]).await, ["ant", "bee", "cow", "end"]);
        // Those that are like the failed tool, and those that match the thought, in turn.
        let failed = after(("ant", "x"), vec!["ant:error:nth=2"]).await;
        assert_eq!(failed, ["ant", "bee", "cow", "dog", "end"]);
        // What was asked for comes first, if it is there.
        assert_eq!(after(("dog", "x"), vec![]).await, ["ant", "bee", "dog", "cow", "end"]);
        assert_eq!(after(("unicorn", "x"), vec![]).await, ["ant", "bee", "cow", "end"]);
    });
}

#[test]
fn another_tool_is_offered_where_it_matches_the_thought_best() {
    on_paused_time(async {
        assert_eq!(third("A cow.", ("ant", "x"), vec![]).await, ["ant", "bee", "cow", "end"]);
    });
}

/// An agent that gives up with these words.
fn stuck(thought: &str) -> Reply {
    Reply { text: thought.to_owned(), ..calls(&[("Finish", json!({"gave_up": true}))]) }
}

#[test]
fn an_agent_that_gives_up_is_offered_more_until_there_is_no_more() {
    on_paused_time(async {
        let tools = &["ant", "bee", "cow", "dog", "elk"];
        let knobs = [(Knob::MenuMax, 3.0), (Knob::TopK, 1.0), (Knob::Explore, 0.0)];
        let replies = vec![stuck("A dog?"), call("A dog.", "dog"), stuck("An elk?"), stuck("No.")];
        let menus = menus(trial(tools, &knobs, replies), vec![]).await;
        let offers: Vec<_> = menus.iter().map(|menu| names(menu)).collect();
        assert_eq!(offers[0], ["ant", "end"]);
        assert_eq!(offers[1], ["ant", "dog", "end"], "what it said it needs");
        assert_eq!(offers[3].last(), Some(&"end"));
        assert!(offers[3].contains(&"elk") && !offers[2].contains(&"elk"), "{offers:?}");
        assert_eq!(offers.len(), 4, "its words find nothing else: {offers:?}");
    });
}

#[test]
fn an_agent_that_sees_every_tool_may_give_up() {
    on_paused_time(async {
        let menus = menus(trial(&["ant", "bee"], &[], vec![stuck("A cow?")]), vec![]).await;
        assert_eq!(menus.len(), 1);
    });
}
