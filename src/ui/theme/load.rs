//! Themes from files. A theme may inherit from another and name its colours in a palette. A style that it gives
//! replaces the inherited one; a colour of its palette also changes inherited styles. Errors in a file are reported and
//! skipped: a theme can make the screen ugly, but never keep it shut.

use std::{collections::HashMap, path::Path};

use ratatui::style::{Color, Modifier, Style};

use super::{TerminalColours, Theme, colour::ANSI, detect::Depth};
use crate::domain::words;
use crate::files::text_file::{self, Expectation};
use crate::files::toml_file::{Problem, TomlField, TomlFields, TomlFile};

/// The themes that come with the program, by name.
pub const BUILT_IN: &[(&str, &str)] = &[
    ("dark", include_str!("../../../themes/dark.toml")),
    ("light", include_str!("../../../themes/light.toml")),
    ("high-contrast", include_str!("../../../themes/high-contrast.toml")),
    ("colour-blind", include_str!("../../../themes/colour-blind.toml")),
];

/// The theme of the terminal's own colours.
pub const TERMINAL: &str = "terminal";

/// The default: the theme that suits the terminal, or dark if the terminal does not answer.
pub const AUTO: &str = "auto";

/// The most levels of inheritance between themes.
const DEEP: usize = 8;

const FILE: Expectation = Expectation {
    what: "a theme file such as themes/dark.toml",
    missing: "name a built-in theme or an existing file",
    largest: 1024 * 1024,
};

/// The names of all built-in themes.
pub fn built_in_names() -> impl Iterator<Item = &'static str> + Clone {
    std::iter::once(TERMINAL).chain(BUILT_IN.iter().map(|(name, _)| *name))
}

/// Every built-in theme.
pub fn built_in() -> Vec<Theme> {
    built_in_names().map(|name| find(name, None).0).collect()
}

/// The theme of this name: `NAME.toml` in `folder`, else a built-in one; or the file, if the name ends in `.toml`.
/// Always returns a theme, with the problems found on the way.
pub fn find(name: &str, folder: Option<&Path>) -> (Theme, Vec<Problem>) {
    let name = if name == AUTO { "dark" } else { name };
    let mut loader = Loader { folder, deep: DEEP, problems: Vec::new() };
    let theme = loader.named(name, Path::new(""), &Palette::new()).unwrap_or_else(|problem| {
        loader.problems.push(problem);
        Theme::default()
    });
    (theme, loader.problems)
}

/// The theme of this name, then all others that a key can change to, with this depth of colours.
pub fn all(name: &str, folder: Option<&Path>, depth: Depth) -> (Vec<Theme>, Vec<Problem>) {
    let (chosen, problems) = find(name, folder);
    let others =
        built_in().into_iter().filter(|theme| theme.name != chosen.name).collect::<Vec<_>>();
    let themes = std::iter::once(chosen).chain(others);
    (themes.map(|theme| depth.limit(theme)).collect(), problems)
}

struct Loader<'a> {
    folder: Option<&'a Path>,
    /// How many more levels of inheritance are allowed.
    deep: usize,
    problems: Vec<Problem>,
}

impl Loader<'_> {
    /// File names are relative to the folder `beside`. `palette` goes before the theme's own. The error says why there
    /// is nothing to read.
    fn named(&mut self, name: &str, beside: &Path, palette: &Palette) -> Result<Theme, Problem> {
        let file = match self.folder {
            _ if name.ends_with(".toml") => Some(beside.join(name)),
            Some(folder) => Some(folder.join(format!("{name}.toml"))).filter(|file| file.exists()),
            None => None,
        };
        let shown = file.as_ref().map_or_else(|| name.into(), |file| file.display().to_string());
        let wrong = |text: String| Err(Problem::of_file(&shown, text));
        let text = match (&file, BUILT_IN.iter().find(|(known, _)| *known == name)) {
            (None, None) if name == TERMINAL => return Ok(Theme::default()),
            _ if self.deep == 0 => {
                return wrong(format!("inherits from itself, or through more than {DEEP} levels"));
            }
            (Some(file), _) => text_file::read(file, &FILE)?,
            (None, Some((_, text))) => (*text).to_owned(),
            (None, None) => {
                let expected = words::expected(name, built_in_names());
                return wrong(format!("unknown theme; {expected}"));
            }
        };
        let (theme, problems) = TomlFile::read_what_is_right(&shown, &text, |fields| {
            self.theme(fields, Path::new(&shown), palette)
        });
        self.problems.extend(problems);
        Ok(Theme { name: stem(name), ..theme.unwrap_or_default() })
    }

    fn theme(&mut self, mut fields: TomlFields<'_>, file: &Path, heirs: &Palette) -> Theme {
        let inherits = fields.get("inherits");
        let own = entries(&mut fields, "palette").into_iter();
        let mut palette: Palette = own
            .filter_map(|(name, field)| Some((name.to_owned(), colour(&field, &Palette::new())?)))
            .collect();
        palette.extend(heirs.iter().map(|(name, colour)| (name.clone(), *colour)));
        let parent = inherits.and_then(|field| self.parent(&field, file, &palette));
        let mut theme = parent.unwrap_or_default();
        for (name, field) in entries(&mut fields, "styles") {
            match theme.style_mut(name) {
                Some(slot) => *slot = style(&field, &palette).unwrap_or(*slot),
                None => {
                    let expected = words::expected(name, Theme::NAMES.iter().copied());
                    field.refuse(format!("unknown style; {expected}"));
                }
            }
        }
        fields.section("terminal", |fields| terminal(fields, &palette, &mut theme.terminal));
        fields.finish();
        theme
    }

    /// The theme that the one in `file` inherits from.
    fn parent(&mut self, field: &TomlField<'_>, file: &Path, palette: &Palette) -> Option<Theme> {
        let name = field.text()?;
        let beside = file.parent().unwrap_or(Path::new(""));
        self.deep -= 1;
        let theme = self.named(name, beside, palette);
        theme.map_err(|problem| field.refuse(format!("`{name}`: {}", problem.text))).ok()
    }
}

/// Names for colours. Those of a theme go before inherited ones.
type Palette = HashMap<String, Color>;

/// The entries of a table whose keys are names.
fn entries<'f>(fields: &mut TomlFields<'f>, name: &'static str) -> Vec<(&'f str, TomlField<'f>)> {
    fields.get(name).and_then(|field| field.table()).map(|table| table.all()).unwrap_or_default()
}

/// A colour alone, or a table of colours and marks. Errors in a table are skipped.
fn style(field: &TomlField<'_>, palette: &Palette) -> Option<Style> {
    if !field.is_table() {
        return colour(field, palette).map(|colour| Style::new().fg(colour));
    }
    let mut fields = field.table()?;
    let mut part = |name| fields.get(name).and_then(|field| colour(&field, palette));
    let mut style = Style { fg: part("fg"), bg: part("bg"), ..Style::new() };
    for (name, mark) in MARKS {
        if fields.get(name).and_then(|field| field.flag()) == Some(true) {
            style = style.add_modifier(mark);
        }
    }
    fields.finish();
    Some(style)
}

fn terminal(fields: &mut TomlFields<'_>, palette: &Palette, colours: &mut TerminalColours) {
    let TerminalColours { ground, text, ansi } = colours;
    let ansi = ANSI.iter().map(|(name, _)| *name).zip(ansi);
    let slots = [("ground", ground), ("text", text)].into_iter().chain(ansi);
    for (name, slot) in slots {
        let Some(field) = fields.get(name) else { continue };
        match colour(&field, palette) {
            Some(Color::Rgb(r, g, b)) => *slot = (r, g, b),
            Some(_) => field.wrong("a colour like \"#1e2127\""),
            None => {}
        }
    }
}

fn colour(field: &TomlField<'_>, palette: &Palette) -> Option<Color> {
    let expected = "a colour: \"#rrggbb\", a name of the palette, or one of the terminal's such as \
                    \"red\", \"light blue\", \"dark gray\", \"reset\"";
    field.text_as(expected, |text| palette.get(text).copied().or_else(|| text.parse().ok()))
}

/// Attributes that a style may have besides colours.
const MARKS: [(&str, Modifier); 6] = [
    ("bold", Modifier::BOLD),
    ("dim", Modifier::DIM),
    ("italic", Modifier::ITALIC),
    ("underlined", Modifier::UNDERLINED),
    ("reversed", Modifier::REVERSED),
    ("crossed", Modifier::CROSSED_OUT),
];

/// A theme's name without folder and ending.
fn stem(name: &str) -> String {
    let path = Path::new(name);
    let stem = if name.ends_with(".toml") { path.file_stem() } else { None };
    stem.map_or_else(|| name.to_owned(), |stem| stem.to_string_lossy().into_owned())
}
