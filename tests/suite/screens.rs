//! Whole screens, cells and styles, as they should look. After a change that is meant, look at what has
//! changed with `cargo insta review`, or accept it all with `INSTA_UPDATE=always cargo test screens`.

use std::fmt::Write as _;

use ratatui::style::{Color, Modifier, Style};
use toolyard::domain::{Boundary, By, ControlEvent, EffectId, Lane};
use toolyard::ui::theme::{Theme, load};
use toolyard::ui::view::{GraphView, ReadOnly, Round, View};
use toolyard::ui::{screen::Setup, shot};

use crate::stage::{Stage, setup};
use crate::story::{self, Story};
use crate::{spending, working};

/// The text of the screen, and below it a letter for the style of every cell.
fn styled(stage: &Stage) -> String {
    let mut styles: Vec<Style> = Vec::new();
    let mut grid = String::new();
    for y in stage.area.y..stage.area.bottom() {
        let mut line = String::new();
        for x in stage.area.x..stage.area.right() {
            let style = plain(stage.buf[(x, y)].style());
            if style == Style::new() {
                line.push('.');
                continue;
            }
            let known = styles.iter().position(|known| *known == style);
            let at = known.unwrap_or_else(|| {
                styles.push(style);
                styles.len() - 1
            });
            line.push(char::from_u32('a' as u32 + at as u32).expect("few styles"));
        }
        let _ = writeln!(grid, "{}", line.trim_end_matches('.'));
    }
    let mut out = shot::text(&stage.buf);
    for (i, style) in styles.iter().enumerate() {
        let letter = char::from_u32('a' as u32 + i as u32).expect("few styles");
        let _ = writeln!(out, "{letter}: {}", said(*style));
    }
    out + &grid
}

/// Without what is as in any terminal.
fn plain(style: Style) -> Style {
    let colour = |colour: Option<Color>| colour.filter(|colour| *colour != Color::Reset);
    Style {
        fg: colour(style.fg),
        bg: colour(style.bg),
        add_modifier: style.add_modifier,
        ..Style::new()
    }
}

fn said(style: Style) -> String {
    let mut said = style.fg.map_or_else(|| "default".to_owned(), |fg| fg.to_string());
    if let Some(bg) = style.bg {
        let _ = write!(said, " on {bg}");
    }
    for (name, _) in style.add_modifier.iter_names() {
        let _ = write!(said, " {}", name.to_lowercase());
    }
    said
}

fn demo() -> Stage {
    Stage::of(&story::demo())
}

#[test]
fn at_three_sizes() {
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        let stage = demo().sized(width, height);
        insta::assert_snapshot!(format!("demo-{width}x{height}"), styled(&stage));
    }
}

#[test]
fn a_budget_and_a_search_at_three_sizes() {
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        let mut stage = Stage::of(&spending::btp()).sized(width, height);
        stage.press("8 down down");
        insta::assert_snapshot!(format!("budget-{width}x{height}"), styled(&stage));
        let mut stage = Stage::of(&spending::search()).sized(width, height);
        stage.press("g s");
        insta::assert_snapshot!(format!("search-{width}x{height}"), styled(&stage));
    }
}

#[test]
fn a_plan_and_its_workers_at_three_sizes() {
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        let mut stage = Stage::of(&working::working()).sized(width, height);
        insta::assert_snapshot!(format!("workers-{width}x{height}"), styled(&stage));
        stage.press("9 z down");
        insta::assert_snapshot!(format!("plan-{width}x{height}"), styled(&stage));
    }
    let mut stage = Stage::of(&working::worked()).sized(120, 40);
    stage.press("2 end up up up up");
    insta::assert_snapshot!("worked", stage.text());
    stage.press("6 home down down enter");
    insta::assert_snapshot!("evidence-null", stage.text());
    stage.press("esc down enter");
    insta::assert_snapshot!("evidence-model", stage.text());
}

#[test]
fn before_anything_has_happened() {
    insta::assert_snapshot!("nothing-yet", styled(&Stage::of(&Story::open()).sized(80, 24)));
    let mut empty = Story::open();
    empty.records.clear();
    insta::assert_snapshot!("no-event", Stage::of(&empty).sized(80, 24).text());
}

#[test]
fn the_graph_in_its_three_views() {
    let mut stage = demo().sized(120, 40);
    stage.press("z");
    for view in [GraphView::Focus, GraphView::Map, GraphView::Matrix] {
        stage.screen.view.graph = view;
        stage.draw();
        insta::assert_snapshot!(format!("graph-{}", view.name()), styled(&stage));
    }
}

#[test]
fn what_lies_above_the_panes() {
    for (name, keys) in [
        ("help", "?"),
        ("palette", ": s t e p"),
        ("faults", "g f"),
        ("fault-form", "g f a right right down 0 . 3"),
        ("fault-wrong", "g f a down 3 enter"),
        ("task", "t h i alt-enter y o u"),
        ("score", "e"),
        ("knob-wrong", "4 enter x enter"),
        ("strategy", "A"),
        ("strategy-switches", "A end tab down down space"),
        ("help-filtered", "? f a i"),
        ("model", "m"),
        ("tool", "i"),
        ("prompt", "v"),
        ("prompt-find", "v / s e a r c h enter n"),
        ("call", "6 down enter"),
        ("task-closer", "7 enter"),
        ("messages", "x ^ , g m"),
        ("leave", "q"),
        ("find", "3 / c a l"),
    ] {
        let mut stage = demo().sized(100, 30);
        stage.press(keys);
        insta::assert_snapshot!(format!("above-{name}"), styled(&stage));
    }
}

#[test]
fn held_broken_and_in_the_past() {
    let mut stage = demo().sized(120, 40);
    stage.tell(ControlEvent::PauseRequested { by: By::User, run: None });
    insta::assert_snapshot!("pausing", stage.text());
    stage.tell(ControlEvent::Held {
        lane: Lane::Effect(EffectId(30)),
        boundary: Boundary::AfterToolCall,
    });
    stage.tell(ControlEvent::Paused { run: None });
    insta::assert_snapshot!("paused", styled(&stage));
    stage.press("< < <");
    insta::assert_snapshot!("past", styled(&stage));
    let replay = Setup { read_only: Some(ReadOnly::Replay), ..setup() };
    insta::assert_snapshot!("replay", Stage::with(&story::demo(), replay).text());
}

#[test]
fn without_colours_nothing_is_coloured_and_everything_is_there() {
    let themes = vec![Theme::default().without_colour()];
    let stage = Stage::with(&story::demo(), Setup { themes, ..setup() });
    assert_eq!(stage.text(), demo().text());
    for cell in stage.buf.content() {
        assert_eq!((cell.fg, cell.bg), (Color::Reset, Color::Reset));
    }
    let underlined = |cell: &&ratatui::buffer::Cell| cell.modifier.contains(Modifier::UNDERLINED);
    let mut stage = stage;
    stage.press("3");
    assert!(stage.buf.content().iter().filter(underlined).count() > 10);
}

#[test]
fn every_theme_shows_the_same_words() {
    let themes = load::built_in();
    let text = demo().text();
    let mut stage = Stage::with(&story::demo(), Setup { themes: themes.clone(), ..setup() });
    for theme in &themes {
        assert_eq!(stage.screen.theme().name, theme.name);
        assert_eq!(stage.text(), text);
        stage.screen.next_theme();
        stage.screen.view.told = false;
        stage.draw();
    }
}

#[test]
fn a_picture_of_a_moment() {
    let state = story::demo().state().clone();
    let svg = shot::shot(&state, (160, 48), &Theme::default(), View::default());
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    assert!(svg.contains(">SIMULATED\u{a0}MODEL<"), "the picture says what it is of");
    assert!(svg.contains("width=\"1364\" height=\"884\""), "{}", &svg[..200]);
    for tag in svg.split('<').skip(1) {
        assert!(tag.contains('>'), "{tag}");
    }
    assert_eq!(svg, shot::shot(&state, (160, 48), &Theme::default(), View::default()));
}

#[test]
fn pictures_are_written_side_by_side_and_never_over_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("new");
    let stage = demo();
    let write = || shot::write(&stage.buf, stage.screen.theme(), &folder, 7).unwrap();
    let (first, second) = (write(), write());
    assert_ne!(first, second);
    let text = std::fs::read_to_string(first.with_extension("txt")).unwrap();
    assert_eq!(text, stage.text());
    assert!(std::fs::read_to_string(second).unwrap().contains("SIMULATED"));
}
