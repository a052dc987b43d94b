//! Lists that narrow as one types: what fits, what stays selected, and how a strategy is put together.

use ratatui::style::Modifier;
use toolyard::domain::{Command, Strategy};
use toolyard::ui::hits::Target;
use toolyard::ui::request::ScreenRequest;

use super::{command, stage};
use crate::stage::Stage;
use crate::story::Story;

/// The row of the list that is selected.
fn selected(stage: &Stage) -> String {
    let text = stage.text();
    let rows = text.lines().filter_map(|line| line.split_once("║ ▸"));
    let [row] = rows.map(|(_, row)| row.to_owned()).collect::<Vec<_>>().try_into().unwrap();
    row
}

fn strategy(name: &str) -> Command {
    Command::UseStrategy { strategy: name.parse::<Strategy>().unwrap() }
}

#[test]
fn letters_narrow_a_list_and_the_best_is_selected() {
    let mut stage = stage();
    stage.press(":");
    assert!(stage.shows("type to filter"), "{}", stage.text());
    stage.write("stpout");
    assert!(stage.shows(" 1 of "), "{}", stage.text());
    assert!(selected(&stage).contains("step-out"), "{}", stage.text());
    // The letters that fit stand out in the name.
    let (x, y) = (0..40).find_map(|y| find(&stage, y, "step-out")).unwrap();
    let bold = |x: u16| stage.buf[(x, y)].modifier.contains(Modifier::BOLD);
    let letters = stage.screen.theme().letters();
    let stands_out = |x: u16| {
        let style = stage.buf[(x, y)].style();
        (style.fg, style.bg) == (letters.fg, letters.bg)
    };
    let marked: Vec<bool> = (x..x + 8).map(stands_out).collect();
    assert_eq!(marked, [true, true, false, true, false, true, true, true]);
    assert!(bold(x));
    // With nothing typed the list is in its own order again.
    stage.press("backspace backspace backspace backspace backspace backspace");
    assert!(selected(&stage).contains("run-or-pause"), "{}", stage.text());
}

fn find(stage: &Stage, y: u16, word: &str) -> Option<(u16, u16)> {
    let row: String = (0..stage.area.width).map(|x| stage.buf[(x, y)].symbol()).collect();
    let at = row.find(word)?;
    Some((row[..at].chars().count() as u16, y))
}

#[test]
fn what_was_gone_to_stays_selected_while_it_fits() {
    let mut stage = stage();
    stage.press("? s t e p");
    assert!(selected(&stage).contains(" step "), "{}", stage.text());
    stage.press("down down");
    let gone_to = selected(&stage);
    stage.press("backspace backspace");
    assert_eq!(selected(&stage)[..32], gone_to[..32], "{}", stage.text());
    stage.press("backspace backspace");
    assert_eq!(selected(&stage)[..32], gone_to[..32], "{}", stage.text());
    // Where it does not fit any more, the best is selected.
    stage.write("quit");
    assert!(selected(&stage).contains("quit"), "{}", stage.text());
}

#[test]
fn a_filter_that_nothing_fits_says_so_and_how_to_go_on() {
    for (open, noun) in
        [("A", "strategy or switch"), ("m", "model"), ("3 C", "class"), ("?", "key or symbol")]
    {
        let mut stage = stage();
        stage.press(open);
        stage.write("jjjj");
        assert!(stage.shows(&format!("no {noun} matches `jjjj`")), "{open}: {}", stage.text());
        assert!(stage.shows("backspace deletes letters"), "{open}: {}", stage.text());
        assert_eq!(stage.press("enter space home end pagedown enter"), [], "{open}");
        let mut stage = super::stage();
        stage.press(open);
        stage.write("jjjj");
        assert_eq!(stage.press("esc"), []);
        assert!(stage.screen.view.popups.is_empty(), "{open}: esc leaves at once");
    }
}

#[test]
fn the_class_and_the_model_are_found_by_letters() {
    let mut stage = stage();
    stage.press("3 C");
    stage.write("other");
    let Command::SetClass { .. } = command(&mut super::stage(), "3 C n o n e enter") else {
        panic!("{}", stage.text())
    };
    stage.press("enter");
    assert_eq!(stage.screen.view.popups.len(), 1, "a name is typed: {}", stage.text());
    let mut stage = super::stage();
    stage.press("m l o c");
    let bind = command(&mut stage, "enter");
    assert!(
        matches!(&bind, Command::BindRole { model, .. } if model.as_str() == "local"),
        "{bind:?}"
    );
}

#[test]
fn sections_are_gone_to_one_after_the_other() {
    let mut stage = stage();
    stage.press("? tab tab");
    assert!(selected(&stage).contains("breakpoint"), "{}", stage.text());
    // The legend follows the actions, and then it begins again.
    stage.press("end");
    assert!(selected(&stage).contains("the past"), "{}", stage.text());
    stage.press("tab");
    assert!(selected(&stage).contains("run-or-pause"), "{}", stage.text());
}

#[test]
fn the_legend_is_found_by_its_name() {
    let symbol = |stage: &Stage, name: &str| {
        stage.text().lines().any(|line| line.contains('║') && line.contains(name))
    };
    for typed in ["legend", "symbols", "symbol", "colours", "colors", "legend fault"] {
        let mut stage = stage().sized(200, 60);
        stage.press("?");
        stage.write(typed);
        let has_symbols = symbol(&stage, "↯              injected fault");
        let has_colours = symbol(&stage, "▇              failure");
        let expected = match typed {
            "colours" | "colors" => (false, true),
            "symbols" | "symbol" | "legend fault" => (true, false),
            _ => (true, true),
        };
        assert_eq!((has_symbols, has_colours), expected, "{typed}: {}", stage.text());
        assert!(!selected(&stage).contains("no key"), "{typed}");
        assert_eq!(stage.press("enter"), [], "a line of the legend does nothing");
    }
}

#[test]
fn a_strategy_is_a_loop_and_its_switches() {
    let mut stage = stage();
    stage.press("A");
    assert!(stage.shows("→ toolnet  unchanged"), "{}", stage.text());
    assert_eq!(stage.press("enter"), [], "no change");
    stage.press("A end up up");
    assert!(stage.shows("→ workers  now toolnet"), "{}", stage.text());
    stage.press("tab space down down space");
    assert!(stage.shows("[x] +toolnet") && stage.shows("[ ] +prompt"), "{}", stage.text());
    assert!(stage.shows("→ workers+toolnet+btp  now toolnet"), "{}", stage.text());
    assert!(stage.shows("the graph suggests the tools and learns"), "{}", stage.text());
    assert_eq!(command(&mut stage, "enter"), strategy("workers+toolnet+btp"));
}

#[test]
fn arrows_stay_with_the_loops_so_that_a_switch_is_set_for_the_one_that_holds() {
    let mut stage = Stage::of(&Story::opened("rewoo+btp", Default::default()));
    stage.press("A tab down");
    assert!(stage.shows("[ ] +prompt") && stage.shows("[x] +btp"), "{}", stage.text());
    // Space in a list of switches is no letter.
    assert_eq!(command(&mut stage, "space enter"), strategy("rewoo+prompt+btp"));
    stage.press("A down");
    assert!(selected(&stage).contains("workers"), "{}", stage.text());
    // On a loop it leads to the switches, as tab does.
    stage.press("space");
    assert!(selected(&stage).contains("+toolnet"), "{}", stage.text());
    assert!(stage.shows("→ workers+btp"), "{}", stage.text());
    stage.press("up up");
    assert!(selected(&stage).contains("+toolnet"), "{}", stage.text());
}

#[test]
fn a_switch_that_a_loop_cannot_have_falls_away_and_says_why() {
    let mut stage = Stage::of(&Story::opened("workers+toolnet+btp", Default::default()));
    stage.press("A");
    assert!(stage.shows("[x] +toolnet"), "{}", stage.text());
    stage.write("rea");
    assert!(stage.shows("→ react+btp  now workers+toolnet+btp"), "{}", stage.text());
    stage.press("tab");
    assert!(stage.shows("[–] +toolnet    goes with rewoo, workers and atc, not with react"));
    assert!(stage.shows("toolnet alone is"), "{}", stage.text());
    // It cannot be switched, and what it said is told again.
    stage.press("space");
    assert!(stage.shows("! +toolnet goes with rewoo") && stage.shows("→ react+btp"));
    // The loop that can have it has it again.
    stage.press("tab end up up");
    assert!(stage.shows("→ workers+toolnet+btp  unchanged"), "{}", stage.text());
    stage.press("up up up");
    assert_eq!(command(&mut stage, "enter"), strategy("dfsdt+btp"));
}

#[test]
fn a_switch_is_found_by_its_letters_and_changes_no_loop_on_the_way() {
    let mut stage = Stage::of(&Story::opened("toolnet", Default::default()));
    stage.press("A");
    // Its first letter fits `react` better.
    stage.write("r");
    assert!(selected(&stage).contains("react"), "{}", stage.text());
    stage.write("efle");
    assert!(selected(&stage).contains("+reflexion"), "{}", stage.text());
    assert_eq!(command(&mut stage, "space enter"), strategy("toolnet+reflexion"));
}

#[test]
fn the_mouse_puts_a_strategy_together() {
    let mut stage = stage().sized(80, 30);
    stage.press("A");
    let row = |stage: &Stage, word: &str| {
        let y = (0..30).find_map(|y| find(stage, y, word)).unwrap().1;
        stage.screen.hits().at(10, y).cloned().unwrap()
    };
    let workers = row(&stage, " workers ");
    assert_eq!(stage.click(&workers), []);
    let btp = row(&stage, "+btp");
    assert_eq!(stage.click(&btp), []);
    assert!(stage.shows("→ workers+btp") && stage.shows("[x] +btp"), "{}", stage.text());
    let take: Target = row(&stage, "→ workers+btp");
    let use_it = strategy("workers+btp");
    assert_eq!(stage.click(&take), [ScreenRequest::Send(use_it.clone())]);
    // A second click on a loop takes it too.
    stage.press("A");
    stage.click(&workers);
    assert_eq!(stage.click(&workers), [ScreenRequest::Send(strategy("workers"))]);
}
