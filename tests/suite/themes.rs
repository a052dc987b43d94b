//! Themes are tested data: those that come with the program are right and readable, and whatever is
//! wrong in one of the user's own is told with its place and keeps nothing shut.

use std::fs;

use ratatui::style::{Color, Style};
use toolyard::files::toml_file::Problem;
use toolyard::ui::theme::load::{self, BUILT_IN};
use toolyard::ui::theme::{Rgb, Theme};

/// Loads a theme file with this text.
fn load(text: &str) -> (Theme, Vec<Problem>) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mine.toml"), text).unwrap();
    load::find("mine", Some(folder.path()))
}

/// Relative luminance (WCAG 2.2).
fn luminance((r, g, b): Rgb) -> f64 {
    let linear = |c: u8| {
        let c = f64::from(c) / 255.0;
        if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
}

/// From 1 to 21 (WCAG 2.2).
fn contrast(a: Rgb, b: Rgb) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// Foreground and ground of a style as they are seen.
fn seen(theme: &Theme, style: Style) -> (Rgb, Rgb) {
    let fg = style.fg.and_then(|fg| theme.rgb(fg)).unwrap_or_else(|| theme.foreground());
    let bg = style.bg.and_then(|bg| theme.rgb(bg)).unwrap_or_else(|| theme.ground());
    (fg, bg)
}

#[test]
fn built_in_themes_have_no_warnings() {
    for (name, _) in BUILT_IN {
        let (theme, warnings) = load::find(name, None);
        assert_eq!(warnings, []);
        assert_eq!(theme.name, *name);
        assert_ne!(theme, Theme::default());
    }
    assert_eq!(load::built_in().len(), BUILT_IN.len() + 1);
}

#[test]
fn built_in_themes_are_readable() {
    // Lines and empty bars may be faint; whatever is read may not.
    let faint = ["border", "bar_empty", "graph_edge", "heat1"];
    for mut theme in load::built_in().into_iter().skip(1) {
        let least = if theme.name == "high-contrast" { 7.0 } else { 4.0 };
        for name in Theme::NAMES {
            let style = *theme.style_mut(name).unwrap();
            let (fg, bg) = seen(&theme, style);
            let contrast = contrast(fg, bg);
            let least = if faint.contains(name) { 1.3 } else { least };
            assert!(contrast >= least, "{}: {name} has {contrast:.1}:1", theme.name);
        }
    }
}

/// What a person sees who lacks the cones for green or for red (Machado, Oliveira, Fernandes 2009,
/// full severity; their matrices apply to linear light, which for a comparison may be left out).
fn dichromat(matrix: [[f64; 3]; 3], (r, g, b): Rgb) -> [f64; 3] {
    let rgb = [f64::from(r), f64::from(g), f64::from(b)];
    matrix.map(|row| row.iter().zip(rgb).map(|(m, c)| m * c).sum())
}

#[test]
fn good_and_bad_differ_for_every_eye() {
    const DEUTERANOPE: [[f64; 3]; 3] =
        [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]];
    const PROTANOPE: [[f64; 3]; 3] =
        [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]];
    let distance = |theme: &Theme, matrix| {
        let of = |style| dichromat(matrix, seen(theme, style).0);
        let (good, bad) = (of(theme.good), of(theme.bad));
        good.iter().zip(bad).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    };
    let safe = load::find("colour-blind", None).0;
    let usual = load::find("dark", None).0;
    for matrix in [DEUTERANOPE, PROTANOPE] {
        assert!(distance(&safe, matrix) > 100.0, "{}", distance(&safe, matrix));
        assert!(distance(&safe, matrix) > 1.5 * distance(&usual, matrix));
    }
}

#[test]
fn a_theme_inherits_names_its_colours_and_replaces_whole_styles() {
    let (theme, warnings) = load(
        "inherits = 'dark'\n[palette]\nsea = '#010203'\n[styles]\ngood = 'sea'\n\
         bad = { fg = 'light red', bg = '17', bold = true }\n[terminal]\nlight_red = '#ff0000'\n",
    );
    assert_eq!(warnings, []);
    assert_eq!(theme.name, "mine");
    assert_eq!(theme.good, Style::new().fg(Color::Rgb(1, 2, 3)));
    assert_eq!(theme.bad.bg, Some(Color::Indexed(17)));
    assert_eq!(theme.rgb(Color::LightRed), Some((255, 0, 0)));
    assert_eq!(theme.warn, load::find("dark", None).0.warn);
}

#[test]
fn a_theme_file_inherits_from_one_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("base.toml"), "[styles]\ngood = 'blue'").unwrap();
    let file = folder.path().join("mine.toml");
    fs::write(&file, "inherits = 'base.toml'\n[styles]\nbad = 'cyan'").unwrap();
    let (theme, warnings) = load::find(file.to_str().unwrap(), None);
    assert_eq!(warnings, []);
    assert_eq!((theme.good.fg, theme.bad.fg), (Some(Color::Blue), Some(Color::Cyan)));
    assert_eq!(theme.name, "mine");
}

#[test]
fn what_is_wrong_says_where_and_what_is_expected() {
    for (text, place, phrase) in [
        ("[styles]\ngod = 'red'", ":2: styles.god: ", "did you mean `good`?"),
        ("[styles]\ngood = 'redd'", ":2: styles.good: ", "expected a colour"),
        ("[styles]\ngood = 7", ":2: styles.good: ", "expected a colour"),
        ("[styles]\n\ngood = { fgg = 'red' }", ":3: styles.good.fgg: ", "did you mean `fg`?"),
        ("[styles]\ngood = { bold = 1 }", ":2: styles.good.bold: ", "expected true or false"),
        ("[stiles]\n", ":1: stiles: ", "did you mean `styles`?"),
        ("styles = 1", ":1: styles: ", "expected a table"),
        ("inherits = 'drak'", ":1: inherits: ", "did you mean `dark`?"),
        ("inherits = 'mine'", ":1: inherits: ", "inherits from itself"),
        ("inherits = 1", ":1: inherits: ", "expected a text in quotes"),
        ("[terminal]\nground = 'red'", ":2: terminal.ground: ", "expected a colour like"),
        ("[terminal]\ngrund = '#000000'", ":2: terminal.grund: ", "did you mean `ground`?"),
        ("[palette]\nsea = 'blu'", ":2: palette.sea: ", "expected a colour"),
        ("[styles\n", ":1: ", "not TOML: "),
    ] {
        let (_, warnings) = load(text);
        let said = warnings.first().unwrap_or_else(|| panic!("{text:?} is accepted")).to_string();
        assert!(said.contains(place) && said.contains(phrase), "{text:?}: {said}");
        assert!(said.contains("mine.toml"), "{said}");
    }
}

#[test]
fn what_is_right_in_a_wrong_theme_is_used() {
    let (theme, warnings) = load("[styles]\ngood = 'nonsense'\nbad = 'blue'");
    assert_eq!(warnings.len(), 1);
    assert_eq!(theme.bad, Style::new().fg(Color::Blue));
    assert_eq!(theme.good, Theme::default().good);
}

#[test]
fn a_theme_that_is_not_there_is_the_default_and_a_warning() {
    let (theme, warnings) = load::find("ligth", None);
    assert_eq!(theme, Theme::default());
    assert!(warnings[0].to_string().contains("did you mean `light`?"), "{}", warnings[0]);
    let (_, warnings) = load::find("nowhere/at-all.toml", None);
    assert!(warnings[0].to_string().contains("nowhere/at-all.toml"), "{}", warnings[0]);
}
