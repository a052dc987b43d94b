//! A session of planner, workers and solver in a workspace where pairs of models were tried before; and
//! how the models look in it.

use toolyard::domain::{
    By, ClassAssignment, ClassedBy, Command, Event, Pair, PairTally, PlanEvent, Player, Reach,
    Role, SessionEvent,
};
use toolyard::ui::request::ScreenRequest;

use crate::keys::command;
use crate::stage::Stage;
use crate::story::{self, Story};

fn player(model: &str) -> Player {
    let (source, simulated) = match model {
        "strong" => ("http://127.0.0.1:8080/v1 big-70b", false),
        _ => ("simulated: no language model, skill 0.6", true),
    };
    Player { model: model.into(), source: source.into(), simulated }
}

fn tally(pair: (&str, Option<&str>, &str), tasks: u64, correct: u64, dollars: f64) -> PairTally {
    let (strategy, planner, solver) = pair;
    PairTally {
        pair: Pair {
            strategy: strategy.parse().expect("a strategy"),
            planner: planner.map(player),
            solver: player(solver),
        },
        tasks,
        with_gold: tasks,
        correct,
        tokens_in: tasks * 1480,
        tokens_out: tasks * 120,
        steps: tasks * 3 + 1,
        dollars: Some(dollars.into()),
        unpriced: 0,
    }
}

/// The demo's session, with what came of earlier ones.
pub fn pairs() -> Story {
    let mut story = story::demo();
    let mut dear = tally(("workers", Some("strong"), "fast"), 20, 14, 0.02);
    dear.unpriced = 3;
    let pairs = vec![
        tally(("workers", Some("fast"), "fast"), 40, 26, 0.058),
        tally(("workers", Some("fast"), "strong"), 40, 36, 0.2144),
        dear,
        tally(("rewoo+btp", Some("strong"), "strong"), 120, 101, 0.986),
        PairTally { unpriced: 9, ..tally(("react", None, "strong"), 9, 2, 0.0) },
    ];
    story.tell(SessionEvent::PairsLoaded { pairs });
    story.tell(SessionEvent::ModelsProbed { models: vec!["sim".into(), "local".into()] });
    let reached = |model: &str, how, text: &str| {
        Event::Session(SessionEvent::ModelReached { model: model.into(), how, text: text.into() })
    };
    story.tell(reached("sim", Reach::Yes, "part of toolyard: nothing to reach"));
    let text = "127.0.0.1:8080 cannot be reached: connection refused. Is the server running?";
    story.wait(4).tell(reached("local", Reach::No, text));
    let class = |class: &str, domain: Option<&str>, by| ClassAssignment {
        class: class.into(),
        domain: domain.map(str::to_owned),
        by,
    };
    story.tell(PlanEvent::ToolClassSet {
        tool: "search_web".into(),
        class: Some(class("Information Retrieval", Some("Web"), ClassedBy::User)),
        was: Some(class("Information Retrieval", None, ClassedBy::Declared)),
        by: By::User,
    });
    story
}

fn demo() -> Stage {
    Stage::of(&story::demo())
}

fn stages() -> impl Iterator<Item = (String, Stage)> {
    [(80, 24), (120, 40), (200, 60)].into_iter().map(|(width, height)| {
        (format!("{width}x{height}"), Stage::of(&pairs()).sized(width, height))
    })
}

#[test]
fn the_models_at_three_sizes() {
    for (size, mut stage) in stages() {
        stage.press("5 z");
        insta::assert_snapshot!(format!("models-{size}"), stage.text());
    }
}

#[test]
fn the_choice_of_a_model_the_pairs_and_a_class_at_three_sizes() {
    for (name, keys) in [("choice", "5 z m down"), ("pairs", "5 z P down"), ("class", "3 z C")] {
        for (size, mut stage) in stages() {
            stage.press(keys);
            insta::assert_snapshot!(format!("model-{name}-{size}"), stage.text());
        }
    }
}

#[test]
fn what_is_simulated_says_so_in_every_table_however_narrow() {
    for width in [60, 70, 80, 100, 120] {
        for keys in ["5 z", "5 P"] {
            let mut stage = Stage::of(&pairs()).sized(width, 30);
            stage.press(keys);
            let rows = stage.text().matches("SIMULATED").count();
            assert!(rows >= 4, "{width} {keys}\n{}", stage.text());
        }
    }
}

#[test]
fn who_said_a_class_is_shown_with_it() {
    let mut stage = Stage::of(&pairs()).sized(200, 60);
    stage.press("3 z");
    let row =
        stage.text().lines().skip(1).find(|line| line.contains("search_web")).unwrap().to_owned();
    assert!(row.contains("Information Retrieval / Web  user"), "{row}");
    stage.press("i");
    assert!(stage.shows("Information Retrieval / Web, set by you"), "{}", stage.text());
}

#[test]
fn a_model_is_chosen_while_it_is_looked_who_can_be_reached() {
    let mut stage = demo();
    let probe = ScreenRequest::Send(Command::ProbeModels);
    assert_eq!(stage.press("5 down m"), std::slice::from_ref(&probe));
    stage.tell(SessionEvent::ModelsProbed { models: vec!["sim".into(), "local".into()] });
    assert!(stage.shows("trying for"), "{}", stage.text());
    let text = "connection refused".to_owned();
    stage.tell(SessionEvent::ModelReached { model: "local".into(), how: Reach::No, text });
    assert!(stage.shows("✗ connection refused"), "{}", stage.text());
    assert_eq!(stage.press("ctrl-r"), [probe]);
    let bind = Command::BindRole { role: Role::Evaluator, model: "local".into() };
    assert_eq!(command(&mut stage, "down enter"), bind);
    assert!(stage.screen.view.popups.is_empty());
    // Who plays it already is no change.
    assert_eq!(stage.press("m enter").len(), 1);
    assert!(stage.screen.view.popups.is_empty());
}

#[test]
fn a_class_is_chosen_or_typed() {
    let class = |class: &str, domain: Option<&str>| Command::SetClass {
        tool: "search_web".into(),
        class: Some(ClassAssignment {
            class: class.into(),
            domain: domain.map(str::to_owned),
            by: ClassedBy::User,
        }),
    };
    let none = Command::SetClass { tool: "search_web".into(), class: None };
    assert_eq!(command(&mut demo(), "3 C down enter"), class("Task Completion", None));
    assert_eq!(command(&mut demo(), "3 C down down enter"), none);
    let mut stage = demo();
    assert_eq!(stage.press("3 C enter"), [], "it is of that class already");
    stage.press("3 C end enter");
    stage.write("Search / Hotels");
    assert_eq!(command(&mut stage, "enter"), class("Search", Some("Hotels")));
    stage.press("3 C end enter");
    stage.write("/ Hotels");
    assert_eq!(stage.press("enter"), []);
    assert!(stage.shows("is not a class"), "{}", stage.text());
}

#[test]
fn pairs_are_sorted_by_one_column_after_the_other() {
    let mut stage = Stage::of(&pairs());
    let first = |stage: &Stage| {
        let text = stage.text();
        let line = text.lines().skip_while(|line| !line.contains("planner ")).nth(1).unwrap();
        let (_, row) = line.split_once('║').unwrap();
        row.split_whitespace().take(2).map(str::to_owned).collect::<Vec<_>>()
    };
    stage.press("5 P");
    assert_eq!(first(&stage), ["fast", "strong"], "{}", stage.text());
    stage.press("s");
    assert_eq!(first(&stage), ["–", "sim"], "the cheapest: {}", stage.text());
    stage.press("s s s");
    assert_eq!(first(&stage), ["strong", "strong"], "most tasks: {}", stage.text());
    stage.press("s");
    assert_eq!(first(&stage)[0], "–", "{}", stage.text());
    stage.press("end");
    assert!(stage.shows("strong is http://127.0.0.1:8080/v1 big-70b"), "{}", stage.text());
    let mut empty = Stage::of(&Story::open());
    empty.press("5 P");
    assert!(empty.shows("no task is done yet"), "{}", empty.text());
}
