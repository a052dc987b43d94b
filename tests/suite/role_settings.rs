//! What a configuration and a workspace add to the requests of a role, and what a model does not take.

use std::fs;

use serde_json::json;
use toolyard::domain::{FewShot, Message, ModelError, ModelErrorKind, Role, Sampling};

use crate::engine::yard::{Trial, on_paused_time};
use crate::program::Home;

#[test]
fn a_role_gets_its_settings_and_its_examples_and_no_other_role_does() {
    on_paused_time(async {
        let sampling =
            Sampling { top_p: Some(0.5.into()), max_tokens: Some(9), ..Sampling::default() };
        let few_shots = vec![FewShot {
            role: Role::Actor,
            strategies: vec!["toolnet".into()],
            task: "Say hi.".into(),
            reply: "hi".into(),
        }];
        let sampling = [(Role::Actor, sampling)].into();
        let trial = Trial { sampling, few_shots, ..Trial::default() };
        let state = trial.start().session.await.unwrap();
        let of = |role: Role| {
            let mut calls = state.model_calls.iter().filter(move |call| call.role == role);
            calls.next().unwrap().request.clone()
        };
        let actor = of(Role::Actor);
        assert_eq!((actor.top_p, actor.max_tokens), (Some(0.5.into()), Some(9)));
        assert_eq!(actor.messages[1], Message::user("Task: Say hi."));
        assert_eq!(actor.messages[2].text(), "hi");
        assert!(actor.messages[3].text().starts_with("Task: Say hello.\n\nYou may call now:"));
        let evaluator = of(Role::Evaluator);
        assert_eq!((evaluator.top_p, evaluator.messages.len()), (None, 2));
    });
}

#[test]
fn an_evaluator_is_held_to_a_schema_of_the_tools_that_were_used() {
    on_paused_time(async {
        let trial = Trial { structured: true, ..Trial::default() };
        let state = trial.start().session.await.unwrap();
        let call = state.model_calls.iter().find(|call| call.role == Role::Evaluator).unwrap();
        let entry = &call.request.schema.as_ref().unwrap()["properties"]["scores"]["items"];
        assert_eq!(entry["properties"]["tool"]["enum"], json!(["echo"]));
        assert_eq!(entry["properties"]["score"]["enum"], json!([-3, -2, -1, 0, 1, 2, 3]));
        let state = Trial::default().start().session.await.unwrap();
        assert!(state.model_calls.iter().all(|call| call.request.schema.is_none()));
    });
}

#[test]
fn another_refusal_is_no_refusal_of_the_schema() {
    on_paused_time(async {
        let refused = ModelError::new(ModelErrorKind::Refused, "HTTP 404 from h: no such model.");
        let trial = Trial {
            replies: vec![Err(refused)],
            strategy: "rewoo",
            structured: true,
            ..Trial::default()
        };
        let state = trial.start().session.await.unwrap();
        assert_eq!(state.model_calls.len(), 1);
    });
}

#[test]
fn the_examples_of_a_workspace_reach_models_and_its_mistakes_are_said() {
    let home = Home::new();
    fs::create_dir_all(home.path("mine/tools")).unwrap();
    home.write("mine/tasks.txt", "Which river?\n");
    let example =
        "[[few_shot]]\nrole = \"actor\"\ntask = \"Which sea?\"\nreply = \"The north one.\"\n";
    home.write("mine/few-shots.toml", example);
    let run = ["run", "--workspace", "mine", "--strategy", "direct", "--no-journal", "--json"];
    let ran = home.run(&run);
    assert!(ran.out.contains("Task: Which sea?") && ran.out.contains("The north one."), "{ran:?}");
    home.write("mine/few-shots.toml", "[[few_shot]]\nrole = \"acter\"\n");
    let ran = home.run(&run);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.out.contains("mine/few-shots.toml:2: few_shot[0].role"), "{ran:?}");
}
