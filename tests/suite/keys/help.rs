//! The help of the screen: the keys that act now, and then all of them.

use toolyard::ui::{screen::Setup, view::ReadOnly};

use super::{stage, *};
use crate::watching;

/// The rows of the popup's list, without those of the field, the foot and the frame.
fn rows(stage: &Stage) -> Vec<String> {
    let inside = |line: &str| {
        let (_, rest) = line.split_once('║')?;
        rest.rsplit_once('║').map(|(inside, _)| inside.trim().to_owned())
    };
    let lines: Vec<String> = stage.text().lines().filter_map(inside).collect();
    let lines = lines.iter().skip(1).skip_while(|line| line.is_empty());
    lines.take_while(|line| !line.is_empty()).cloned().collect()
}

/// The number of things in the list.
fn listed(stage: &Stage) -> usize {
    let text = stage.text();
    let field = text.lines().find(|line| line.contains("║ >")).unwrap();
    let (before, _) = field.split_once(" of ").expect("the field has a number");
    before.rsplit(' ').next().unwrap().parse().unwrap()
}

#[test]
fn the_help_begins_with_what_acts_in_this_pane_and_on_the_run() {
    let replay = || Setup { read_only: Some(ReadOnly::Replay), ..setup() };
    let mut most = 0;
    for (name, open) in [
        ("demo", Box::new(stage) as Box<dyn Fn() -> Stage>),
        ("budget", Box::new(|| Stage::of(&spending::btp()))),
        ("watched", Box::new(|| Stage::of(&watching::watched()))),
        ("held", Box::new(|| Stage::of(&watching::held()))),
        ("replay", Box::new(move || Stage::with(&story::demo(), replay()))),
    ] {
        for pane in ["1", "2", "3", "4", "5", "6", "7", "9", "0", "g b", "g t"] {
            let mut stage = open();
            stage.press(pane);
            stage.press("?");
            assert!(stage.shows("Help: keys that act now"), "{name} {pane}: {}", stage.text());
            let (seen, stage) = (rows(&stage).len(), stage.sized(120, 60));
            let rows = rows(&stage);
            println!("? in {name}, pane {pane}: {} rows, {seen} at 120x40", rows.len());
            most = most.max(rows.len());
            assert!(seen >= 30.min(rows.len()), "{name} {pane}");
            let sections = rows.iter().filter(|row| !row.contains("  ")).count();
            assert_eq!(listed(&stage) + sections, rows.len(), "{name} {pane}: {}", stage.text());
            assert!(!stage.shows("not now"), "{name} {pane}: {}", stage.text());
        }
    }
    println!("? at 120x40: {most} rows at most before tab");
    assert!(most <= 40, "{most} rows");
}

#[test]
fn tab_shows_all_keys_and_what_is_typed_is_searched_in_all() {
    let mut stage = stage();
    stage.press("3 ?");
    assert!(rows(&stage)[0].starts_with("Tools"), "{}", stage.text());
    let few = listed(&stage);
    stage.press("tab");
    assert!(stage.shows("Help: every key") && listed(&stage) > 5 * few, "{}", stage.text());
    stage.press("esc ?");
    assert_eq!(listed(&stage), few);
    stage.write("manifests");
    assert!(stage.shows("reload-tools") && stage.shows("Help: every key"), "{}", stage.text());
    // Enter does what is selected.
    let less = super::stage().press("3 -");
    assert_eq!((super::stage().press("3 ? enter"), less.len()), (less, 1));
}

#[test]
fn the_help_of_a_watched_agent_lists_nothing_of_toolyards_own_agents() {
    let mut stage = Stage::of(&watching::watched());
    stage.press("?");
    for tab in 0..40 {
        for never in
            ["your agent acts here", "no credits", " new-task  ", " budget   ", " sweep   "]
        {
            assert!(!stage.shows(never), "{tab} {never}: {}", stage.text());
        }
        stage.press(if tab == 0 { "tab" } else { "pagedown" });
    }
    stage.press("esc : s t r a t e g y");
    assert!(stage.shows("your agent acts here"), "the palette says why: {}", stage.text());
}
