//! The table of symbols is the only place that spells them, and in ASCII nothing else is left on the screen.

use std::fs;

use toolyard::ui::symbols::{ALL, Charset, DRAWN, fallback};
use toolyard::ui::view::GraphView;

use crate::sources::{root, sources};
use crate::stage::{Stage, setup};
use crate::{spending, story, story::Story, working};

/// Files that draw lines and blocks, or tell how they look.
const DRAWING: [&str; 4] =
    ["src/ui/symbols.rs", "src/ui/shot/glyph.rs", "src/ui/panes/glyph.rs", "src/ui/strokes.rs"];

/// Symbols that are punctuation of texts too.
const PUNCTUATION: [&str; 3] = ["·", "…", "→"];

/// The code of a file, without comments and tests, with its line numbers.
fn code(path: &str) -> Vec<(usize, String)> {
    let text = fs::read_to_string(root().join(path)).unwrap();
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or("").to_owned());
    (1..).zip(lines).collect()
}

#[test]
fn symbols_are_written_in_their_table_only() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for source in sources(&["src/ui"]).iter().filter(|source| !DRAWING.contains(&&*source.path)) {
        seen += 1;
        for (n, line) in code(&source.path) {
            let symbols = ALL.iter().filter(|symbol| !PUNCTUATION.contains(&symbol.text));
            for symbol in symbols.filter(|symbol| line.contains(symbol.text)) {
                wrong.push(format!("{}:{n}: {}", source.path, symbol.text));
            }
        }
    }
    assert!(seen > 80, "{seen}");
    assert!(wrong.is_empty(), "name the constants of src/ui/symbols.rs:\n{}", wrong.join("\n"));
}

#[test]
fn whatever_is_drawn_has_a_fallback() {
    let mut wrong = Vec::new();
    for source in sources(&["src/ui"]).iter().filter(|source| source.path != "src/ui/text.rs") {
        for (n, line) in code(&source.path) {
            let without = line.chars().filter(|c| !c.is_ascii() && fallback(*c).is_none());
            wrong.extend(without.map(|c| format!("{}:{n}: {c}", source.path)));
        }
    }
    assert!(wrong.is_empty(), "no fallback in src/ui/symbols.rs:\n{}", wrong.join("\n"));
}

/// Every character that panes and popups draw is explained in the help, but for lines and the words of others.
#[test]
fn whatever_is_drawn_is_in_the_legend() {
    let signs = ALL.iter().map(|symbol| symbol.text).chain(DRAWN.iter().map(|(text, _)| *text));
    let known: String = signs.collect();
    let is_line = |c: char| ('\u{2500}'..='\u{257f}').contains(&c);
    let is_dots = |c: char| ('\u{2800}'..='\u{28ff}').contains(&c);
    let is_quote = |c: char| "‘’“”".contains(c);
    let is_told = |c: char| c.is_ascii() || known.contains(c);
    let mut wrong = std::collections::BTreeSet::new();
    let mut look = |stage: &Stage| {
        let chars = stage.buf.content().iter().flat_map(|cell| cell.symbol().chars());
        wrong
            .extend(chars.filter(|c| !(is_told(*c) || is_line(*c) || is_dots(*c) || is_quote(*c))));
    };
    for story in [story::demo(), spending::btp(), spending::search(), working::working()] {
        for (width, height) in [(80, 24), (120, 40), (200, 60)] {
            let mut stage = Stage::of(&story).sized(width, height);
            look(&stage);
            for keys in ["?", ":", "g f", "A", "m", "e", "g m", "i", "v"] {
                stage.press(keys);
                look(&stage);
                stage.press("esc esc");
            }
            for pane in ["1", "2", "3", "4", "5", "6", "7", "8", "9", "0", "g s", "g n"] {
                stage.press(pane);
                look(&stage);
                stage.press("V");
                look(&stage);
                stage.press("enter");
                look(&stage);
                stage.press("esc esc");
            }
        }
    }
    assert!(wrong.is_empty(), "not in src/ui/symbols.rs: {wrong:?}");
}

fn in_ascii(story: &Story) -> Stage {
    Stage::with(story, toolyard::ui::screen::Setup { charset: Charset::Ascii, ..setup() })
}

fn assert_ascii(stage: &Stage, what: &str) {
    let text = stage.text();
    let line = text.lines().find(|line| !line.is_ascii());
    assert_eq!(line, None, "{what}");
}

#[test]
fn a_whole_screen_in_ascii() {
    let stage = in_ascii(&working::working());
    insta::assert_snapshot!("ascii-120x40", stage.text());
}

#[test]
fn in_ascii_every_pane_and_popup_is_ascii() {
    let stories = [story::demo(), spending::btp(), spending::search(), working::working()];
    for story in &stories {
        for (width, height) in [(80, 24), (120, 40), (200, 60)] {
            assert_ascii(&in_ascii(story).sized(width, height), "all panes");
        }
    }
    for story in &stories {
        let mut stage = in_ascii(story);
        for popup in ["g f", "A", "m", "?", ":", "e", "g m", "i", "v"] {
            stage.press(popup);
            assert_ascii(&stage, popup);
            stage.press("esc esc");
        }
        for pane in ["1", "2", "3", "4", "5", "6", "7", "8", "9", "g s"] {
            stage.press(pane);
            assert_ascii(&stage, pane);
            stage.press("enter");
            assert_ascii(&stage, &format!("{pane} enter"));
            stage.press("esc esc");
        }
        for view in [GraphView::Focus, GraphView::Map, GraphView::Matrix] {
            stage.screen.view.graph = view;
            stage.press("1");
            assert_ascii(&stage, "the graph");
        }
    }
}
