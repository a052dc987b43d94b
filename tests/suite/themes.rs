//! Themes are tested data: those that come with the program are right and readable, and whatever is
//! wrong in one of the user's own is told with its place and keeps nothing shut.

use std::fs;

use ratatui::style::{Color, Modifier, Style};
use toolyard::files::toml_file::Problem;
use toolyard::ui::theme::load::{self, BUILT_IN};
use toolyard::ui::theme::{Rgb, TerminalColours, Theme};

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

/// Terminals as people have set them up: ground, text, and the sixteen colours.
fn terminals() -> Vec<(&'static str, TerminalColours)> {
    const SOLARIZED: [u32; 16] = [
        0x073642, 0xdc322f, 0x859900, 0xb58900, 0x268bd2, 0xd33682, 0x2aa198, 0xeee8d5, 0x002b36,
        0xcb4b16, 0x586e75, 0x657b83, 0x839496, 0x6c71c4, 0x93a1a1, 0xfdf6e3,
    ];
    const XTERM: [u32; 16] = [
        0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5, 0x7f7f7f,
        0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff,
    ];
    const CONSOLE: [u32; 16] = [
        0x000000, 0xaa0000, 0x00aa00, 0xaa5500, 0x0000aa, 0xaa00aa, 0x00aaaa, 0xaaaaaa, 0x555555,
        0xff5555, 0x55ff55, 0xffff55, 0x5555ff, 0xff55ff, 0x55ffff, 0xffffff,
    ];
    const TANGO: [u32; 16] = [
        0x2e3436, 0xcc0000, 0x4e9a06, 0xc4a000, 0x3465a4, 0x75507b, 0x06989a, 0xd3d7cf, 0x555753,
        0xef2929, 0x8ae234, 0xfce94f, 0x729fcf, 0xad7fa8, 0x34e2e2, 0xeeeeec,
    ];
    const MAC: [u32; 16] = [
        0x000000, 0x990000, 0x00a600, 0x999900, 0x0000b2, 0xb200b2, 0x00a6b2, 0xbfbfbf, 0x666666,
        0xe50000, 0x00d900, 0xe5e500, 0x0000ff, 0xe500e5, 0x00e5e5, 0xe5e5e5,
    ];
    let rgb = |colour: u32| {
        let [_, r, g, b] = colour.to_be_bytes();
        (r, g, b)
    };
    [
        ("Solarized dark", 0x002b36, 0x839496, SOLARIZED),
        ("Solarized light", 0xfdf6e3, 0x657b83, SOLARIZED),
        ("xterm on black", 0x000000, 0xe5e5e5, XTERM),
        ("xterm on white", 0xffffff, 0x000000, XTERM),
        ("the console", 0x000000, 0xaaaaaa, CONSOLE),
        ("the console's colours on white", 0xffffff, 0x000000, CONSOLE),
        ("Tango on black", 0x000000, 0xffffff, TANGO),
        ("Tango on white", 0xffffff, 0x000000, TANGO),
        ("macOS on black", 0x000000, 0xffffff, MAC),
        ("macOS on white", 0xffffff, 0x000000, MAC),
    ]
    .map(|(name, ground, text, ansi)| {
        let (ground, text) = (rgb(ground), rgb(text));
        (name, TerminalColours { ground, text, ansi: ansi.map(rgb) })
    })
    .into()
}

#[test]
fn the_sixteen_colours_are_readable_on_every_ground() {
    for (terminal, colours) in terminals() {
        let mut theme = Theme { terminal: colours, ..Theme::default() };
        let own = contrast(theme.foreground(), theme.ground());
        for name in Theme::NAMES {
            let style = *theme.style_mut(name).unwrap();
            let (fg, bg) = seen(&theme, style);
            // Colours say again what words and symbols say. All else is as readable as the terminal itself.
            let least = match (style.fg, style.bg) {
                (None, None) => own,
                (Some(_), Some(_)) => 3.4,
                _ if terminal.starts_with("Solarized") => 2.9,
                _ => 1.95,
            };
            let contrast = contrast(fg, bg);
            assert!(contrast >= least, "{terminal}: {name} has {contrast:.2}:1");
        }
    }
}

#[test]
fn of_sixteen_colours_none_is_used_that_may_be_a_ground_or_a_grey() {
    let mut theme = Theme::default();
    let safe = [Color::Red, Color::Green, Color::Magenta, Color::Cyan];
    for name in Theme::NAMES {
        let style = *theme.style_mut(name).unwrap();
        let is_safe = match (style.fg, style.bg) {
            (Some(fg), None) => safe.contains(&fg),
            (Some(fg), Some(ground)) => {
                fg == Color::Black && [Color::Yellow, Color::Cyan].contains(&ground)
            }
            (None, ground) => ground.is_none(),
        };
        assert!(is_safe, "{name}: {style:?}");
        // Many terminals show another of the sixteen colours where text is bold.
        let is_bold = style.add_modifier.contains(Modifier::BOLD);
        assert!(!is_bold || style.fg.is_none(), "{name}: {style:?}");
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
