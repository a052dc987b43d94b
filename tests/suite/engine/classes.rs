//! Classes of tools: who says them, who is believed, and what is kept.

use std::{cell::RefCell, rc::Rc};

use toolyard::domain::{
    ClassAssignment, ClassedBy, Command, ModelError, Outcome, Reply, Role, State,
};
use toolyard::engine::{ClassBook, KeptClasses};

use super::yard::{Trial, on_paused_time, say};

const SORTED: &str = r#"{"classes": {"echo": "Information Retrieval", "other": "Task Completion", "ghost": "Task Completion"}}"#;

/// Two tools of no declared class, and what was kept of them.
fn plan(kept: &Rc<RefCell<KeptClasses>>, replies: Vec<Result<Reply, ModelError>>) -> Trial {
    let (book, kept) = (kept.borrow().clone(), Rc::clone(kept));
    let save = move |all: &KeptClasses| {
        kept.replace(all.clone());
        Ok(())
    };
    Trial {
        replies,
        strategy: "workers",
        names: &["echo", "other"],
        class: "",
        classes: Some(ClassBook { kept: book, save: Box::new(save) }),
        ..Trial::default()
    }
}

fn class(state: &State, tool: &str) -> Option<(String, ClassedBy)> {
    let class = state.tools.get(tool)?.class.as_ref()?;
    Some((class.class.clone(), class.by))
}

fn roles(state: &State) -> Vec<Role> {
    state.model_calls.iter().map(|ask| ask.role).collect()
}

#[test]
fn tools_are_sorted_once_and_the_planner_sees_their_classes() {
    on_paused_time(async {
        let kept = Rc::new(RefCell::new(KeptClasses::new()));
        let written = || Ok(say("Plan: x\n#E1 = echo[x]"));
        let replies = vec![Ok(say(SORTED)), written(), Ok(say("done"))];
        let state = plan(&kept, replies).start().session.await.unwrap();
        assert_eq!(roles(&state), [Role::Classifier, Role::Planner, Role::Solver]);
        assert_eq!(class(&state, "echo"), Some(("Information Retrieval".into(), ClassedBy::Model)));
        let asked = state.model_calls[1].request.messages[1].text();
        assert!(asked.contains("Information Retrieval:\n- echo("), "{asked}");
        assert!(asked.contains("Task Completion:\n- other("), "{asked}");
        assert_eq!(kept.borrow().len(), 2);

        // The next session need not ask.
        let replies = vec![written(), Ok(say("done"))];
        let state = plan(&kept, replies).start().session.await.unwrap();
        assert_eq!(roles(&state), [Role::Planner, Role::Solver]);
        assert_eq!(class(&state, "other"), Some(("Task Completion".into(), ClassedBy::Kept)));
    });
}

#[test]
fn a_manifest_and_the_user_are_believed_before_the_classifier() {
    on_paused_time(async {
        let kept = Rc::new(RefCell::new(KeptClasses::new()));
        let replies = vec![Ok(say("Plan: x\n#E1 = echo[x]")), Ok(say("done"))];
        let mut plan = plan(&kept, replies);
        plan.class = "Test";
        plan.paused = true;
        let mut yard = plan.start();
        yard.settle().await;
        let wish = |class: &str| Command::SetClass {
            tool: "echo".into(),
            class: (!class.is_empty()).then(|| ClassAssignment {
                class: class.into(),
                domain: None,
                by: ClassedBy::User,
            }),
        };
        yard.wish(wish("task completion"));
        yard.wish(wish("Task Completion"));
        yard.settle().await;
        assert_eq!(
            class(&yard.state.borrow(), "echo"),
            Some(("Task Completion".into(), ClassedBy::User)),
            "spelled as it is configured"
        );
        assert_eq!(yard.refusals(), ["echo has that class already"]);
        yard.wish(Command::Undo);
        yard.settle().await;
        assert_eq!(
            class(&yard.state.borrow(), "echo"),
            Some(("Test".into(), ClassedBy::Declared)),
            "who said it before says it again"
        );
        yard.wish(wish(""));
        yard.wish(Command::Run);
        let state = (&mut yard.session).await.unwrap();
        assert_eq!(roles(&state)[0], Role::Classifier, "one of no class is sorted again");
        assert_eq!(class(&state, "other"), Some(("Test".into(), ClassedBy::Declared)));
    });
}

#[test]
fn a_classifier_that_says_nothing_useful_stops_nothing() {
    on_paused_time(async {
        let kept = Rc::new(RefCell::new(KeptClasses::new()));
        let replies = vec![
            Ok(say("I would rather not.")),
            Ok(say("Plan: x\n#E1 = echo[x]")),
            Ok(say("done")),
        ];
        let state = plan(&kept, replies).start().session.await.unwrap();
        assert_eq!(state.tasks[0].outcome(), Some(Outcome::Answered));
        assert_eq!(class(&state, "echo"), None);
        assert!(kept.borrow().is_empty());
    });
}

#[test]
fn with_the_graph_the_planner_sees_weights_and_its_tools_are_scored() {
    on_paused_time(async {
        let kept = Rc::new(RefCell::new(KeptClasses::new()));
        let replies = vec![Ok(say("Plan: x\n#E1 = echo[x]")), Ok(say("done"))];
        let mut plan = plan(&kept, replies);
        (plan.strategy, plan.class) = ("workers+toolnet", "Test");
        let state = plan.start().session.await.unwrap();
        assert_eq!(roles(&state), [Role::Planner, Role::Solver, Role::Evaluator]);
        let asked = state.model_calls[0].request.messages[1].text();
        assert!(asked.contains("[weight "), "{asked}");
        assert_eq!(state.learning.score(&"echo".into()), 2.0);
    });
}
