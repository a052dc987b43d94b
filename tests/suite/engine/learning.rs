//! What a session learns, and what it leaves to the next one.

use std::{cell::RefCell, rc::Rc};

use serde_json::json;
use toolyard::domain::{
    Command, Event, GraphEvent, Knob, Learning, ModelCallEvent, Reply, Role, TaskEvent, ToolName,
};
use toolyard::engine::Keep;

use super::yard::{Trial, calls, on_paused_time, say};

#[test]
fn scores_set_after_the_last_task_are_kept_too() {
    on_paused_time(async {
        let kept = Rc::new(RefCell::new(Vec::new()));
        let scores = Rc::clone(&kept);
        let keep: Keep = Box::new(move |learning: &Learning| {
            scores.borrow_mut().push(learning.score(&"echo".into()));
            Ok(())
        });
        let yard = Trial { stay: true, keep: Some(keep), ..Trial::default() }.start();
        yard.until("the task is done", |state| state.tasks_done == 1).await;
        yard.wish(Command::SetScore { tool: "echo".into(), score: 9.0 });
        yard.wish(Command::Stop);
        yard.session.await.unwrap();
        assert_eq!(*kept.borrow(), [2.0, 9.0]);
    });
}

#[test]
fn every_tool_explored_at_one_step_gets_an_edge_from_where_the_agent_was() {
    on_paused_time(async {
        // A menu of one successor, so that all others are explored.
        let knobs = vec![(Knob::MenuMax, 1.0), (Knob::TopK, 3.0), (Knob::Explore, 5.0)];
        let say = |tool: &'static str| (tool, json!({"text": "x", "ms": 1}));
        // Those are explored that suit the last thought.
        let thought = "A lamp, or a door?".to_owned();
        let replies = vec![
            Ok(Reply { text: thought, ..calls(&[say("echo")]) }),
            Ok(calls(&[say("echo"), say("lamp"), say("door")])),
        ];
        let yard = Trial { knobs, replies, names: &["echo", "lamp", "door"], ..Trial::default() };
        let yard = yard.start();
        let records = Rc::clone(&yard.records);
        yard.session.await.unwrap();
        let edges: Vec<(ToolName, ToolName)> = records
            .borrow()
            .iter()
            .filter_map(|record| match &record.event {
                Event::Graph(GraphEvent::EdgeExplored { from, to }) => {
                    Some((from.clone(), to.clone()))
                }
                _ => None,
            })
            .collect();
        let edge = |to: &str| (ToolName::from("echo"), ToolName::from(to));
        assert_eq!(edges, [edge("lamp"), edge("door")]);
    });
}

#[test]
fn a_menu_that_cannot_hold_every_successor_has_those_that_match() {
    on_paused_time(async {
        let knobs = vec![
            (Knob::FixTools, 0.0),
            (Knob::MenuMax, 2.0),
            (Knob::TopK, 3.0),
            (Knob::Explore, 0.0),
        ];
        let call = calls(&[("echo", json!({"text": "x", "ms": 1}))]);
        let replies =
            vec![Ok(Reply { text: "A lamp, or a mill?".to_owned(), ..call }), Ok(say("Done."))];
        let names = &["ant", "bee", "echo", "lamp", "mill"];
        let yard = Trial { knobs, replies, names, ..Trial::default() }.start();
        let records = Rc::clone(&yard.records);
        yard.session.await.unwrap();
        let menus: Vec<Vec<String>> = records
            .borrow()
            .iter()
            .filter_map(|record| match &record.event {
                Event::Task(TaskEvent::StepStarted { menu, .. }) => {
                    Some(menu.iter().map(|item| item.tool.to_string()).collect())
                }
                _ => None,
            })
            .collect();
        assert_eq!(menus[1], ["lamp", "mill", "end"]);
    });
}

#[test]
fn rules_score_tools_by_what_the_agent_did_with_their_results() {
    on_paused_time(async {
        let ask = |tool: &'static str, text: &str| (tool, json!({"text": text, "ms": 1}));
        let first = [ask("echo", "x"), ask("lamp", "x"), ask("door", "x"), ask("mill", "x")];
        let replies = vec![
            Ok(calls(&first)),
            Ok(calls(&[ask("door", "Velmora")])),
            Ok(calls(&[("Finish", json!({"answer": "It is in Havn."}))])),
        ];
        let faults = vec![
            "echo:answer:text=Velmora",
            "lamp:error",
            "door:answer:nth=2:text=Havn",
            "mill:answer:text=nothing found",
        ];
        let names = &["echo", "lamp", "door", "mill"];
        let knobs = vec![(Knob::Scorer, 1.0)];
        let yard = Trial { knobs, replies, faults, names, ..Trial::default() }.start();
        let records = Rc::clone(&yard.records);
        yard.session.await.unwrap();
        let records = records.borrow();
        let scores = records.iter().find_map(|record| match &record.event {
            Event::Graph(GraphEvent::Evaluated { verdicts, .. }) => {
                Some(verdicts.iter().map(|it| (it.tool.to_string(), it.score)).collect::<Vec<_>>())
            }
            _ => None,
        });
        let expected = [("echo", 1), ("lamp", -3), ("door", 1), ("mill", -2)];
        assert_eq!(scores.unwrap(), expected.map(|(tool, score)| (tool.to_owned(), score)));
        let asked = records.iter().filter(|record| record.event.kind() == "ModelCallRequested");
        assert_eq!(asked.count(), 3, "no model scores");
    });
}

#[test]
fn the_evaluator_scores_only_what_no_rule_is_sure_of() {
    on_paused_time(async {
        let ask = |tool: &'static str, text: &str| (tool, json!({"text": text, "ms": 1}));
        let replies = vec![
            Ok(calls(&[ask("echo", "x"), ask("lamp", "x"), ask("bell", "x"), ask("mill", "x")])),
            Ok(calls(&[("Finish", json!({"answer": "It is in Havn."}))])),
        ];
        let faults = vec![
            "echo:answer:text=The harbour town in the north",
            "lamp:error",
            "bell:answer:text=Havn",
            "mill:answer:text=nothing found",
        ];
        let names = &["echo", "lamp", "bell", "mill"];
        let yard = Trial { replies, faults, names, ..Trial::default() }.start();
        let records = Rc::clone(&yard.records);
        yard.session.await.unwrap();
        let records = records.borrow();
        let scores = records.iter().find_map(|record| match &record.event {
            Event::Graph(GraphEvent::Evaluated { verdicts, .. }) => {
                Some(verdicts.iter().map(|it| (it.tool.to_string(), it.score)).collect::<Vec<_>>())
            }
            _ => None,
        });
        let expected = [("lamp", -3), ("bell", 1), ("mill", -2), ("echo", 2)];
        assert_eq!(scores.unwrap(), expected.map(|(tool, score)| (tool.to_owned(), score)));
        let asked = records.iter().filter_map(|record| match &record.event {
            Event::ModelCall(ModelCallEvent::ModelCallRequested { request, .. })
                if request.role == Role::Evaluator =>
            {
                Some(request)
            }
            _ => None,
        });
        let asked: Vec<_> = asked.collect();
        assert_eq!(asked.len(), 1);
        let account = asked[0].messages.last().unwrap().text();
        assert!(
            account.contains("harbour town") && !account.contains("nothing found"),
            "{account}"
        );
    });
}
