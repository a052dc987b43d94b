//! Where a watched agent acts, a person changes nothing that it does not obey.

use toolyard::domain::{Command, Knob, Role, TaskId};

use super::yard::{Trial, on_paused_time};

#[test]
fn what_a_foreign_agent_does_not_obey_is_refused_with_the_reason() {
    on_paused_time(async {
        let yard = Trial { watched: true, paused: true, stay: true, ..Trial::default() }.start();
        let refused = [
            Command::UseStrategy { strategy: "react".parse().unwrap() },
            Command::BindRole { role: Role::Actor, model: "second".into() },
            Command::TurnKnob { knob: Knob::TopK, value: 3.0 },
            Command::QueueTask { text: "another".into() },
            Command::SkipTask { task: TaskId(1) },
            Command::FollowUp { task: TaskId(1), text: "and then?".into() },
            Command::Probe { tools: Vec::new() },
            Command::SwitchTool { tool: "echo".into(), on: false },
        ];
        let count = refused.len();
        for command in refused {
            yard.wish(command);
        }
        yard.wish(Command::TurnKnob { knob: Knob::Skip, value: 1.0 });
        yard.settle().await;
        let refusals = yard.refusals();
        assert_eq!(refusals.len(), count, "{refusals:?}");
        assert!(refusals.iter().all(|why| why.starts_with("your agent acts here; ")));
        let state = yard.state.borrow();
        assert!(state.knobs.is_on(Knob::Skip), "knobs that act on it can be changed");
        assert_eq!((state.tasks.len(), state.strategy.to_string().as_str()), (1, "toolnet"));
    });
}
