//! Themes from files. A theme may inherit from another and name its colours in a palette; a style that
//! it gives replaces the inherited one whole. What is wrong in a file is told and left out: a theme
//! can make the screen ugly, but never keep it shut.

use std::{fmt, fs, ops::Range, path::Path};

use ratatui::style::{Color, Modifier, Style};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Rgb, TerminalColours, Theme};
use crate::domain::words;

/// The themes that come with the program, by name.
pub const BUILT_IN: &[(&str, &str)] = &[
    ("dark", include_str!("../../../themes/dark.toml")),
    ("light", include_str!("../../../themes/light.toml")),
    ("high-contrast", include_str!("../../../themes/high-contrast.toml")),
    ("colour-blind", include_str!("../../../themes/colour-blind.toml")),
];

/// The name of the default: the terminal's own colours.
pub const TERMINAL: &str = "terminal";

/// How far themes may inherit from each other.
const DEEP: usize = 8;

/// Something wrong in a theme, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The file, or the name of a built-in theme.
    pub file: String,
    /// From 1; 0 where no line is to blame.
    pub line: usize,
    /// Such as `styles.good`.
    pub field: String,
    pub what: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, field, what } = self;
        match line {
            0 => write!(f, "theme {file}: {what}"),
            _ => write!(f, "theme {file}, line {line}, {field}: {what}"),
        }
    }
}

/// The names of all built-in themes, the default first.
pub fn built_in_names() -> impl Iterator<Item = &'static str> + Clone {
    std::iter::once(TERMINAL).chain(BUILT_IN.iter().map(|(name, _)| *name))
}

/// Every built-in theme, the default first.
pub fn built_in() -> Vec<Theme> {
    built_in_names().map(|name| find(name, None).0).collect()
}

/// The theme of this name: a built-in one, or `NAME.toml` in `folder`, which goes first; or the file,
/// where the name ends in `.toml`. Always a theme, with whatever was wrong on the way.
pub fn find(name: &str, folder: Option<&Path>) -> (Theme, Vec<Warning>) {
    let mut loader = Loader { folder, warnings: Vec::new() };
    let theme = loader.named(name, None, DEEP);
    (theme, loader.warnings)
}

/// The theme of this name, then all others that a key can change it for; without colours where the
/// user wants none (`NO_COLOR`).
pub fn all(name: &str, folder: Option<&Path>, colours: bool) -> (Vec<Theme>, Vec<Warning>) {
    let (chosen, warnings) = find(name, folder);
    let others =
        built_in().into_iter().filter(|theme| theme.name != chosen.name).collect::<Vec<_>>();
    let themes = std::iter::once(chosen).chain(others);
    let themes = themes.map(|theme| if colours { theme } else { theme.without_colour() });
    (themes.collect(), warnings)
}

struct Loader<'a> {
    folder: Option<&'a Path>,
    warnings: Vec<Warning>,
}

/// Where in a file one is.
#[derive(Clone, Copy)]
struct Place<'a> {
    file: &'a str,
    text: &'a str,
}

impl Place<'_> {
    fn warning(self, span: Range<usize>, field: &str, what: impl Into<String>) -> Warning {
        let before = self.text.get(..span.start).unwrap_or("");
        let line = before.matches('\n').count() + 1;
        Warning { file: self.file.to_owned(), line, field: field.to_owned(), what: what.into() }
    }
}

impl Loader<'_> {
    /// `from`: the place that inherits from it.
    fn named(&mut self, name: &str, from: Option<(Place<'_>, Range<usize>)>, deep: usize) -> Theme {
        // A file names others as seen from its own folder.
        let beside = from.as_ref().and_then(|(place, _)| Path::new(place.file).parent());
        let file = match self.folder {
            _ if name.ends_with(".toml") => Some(beside.unwrap_or(Path::new("")).join(name)),
            Some(folder) => Some(folder.join(format!("{name}.toml"))).filter(|file| file.exists()),
            None => None,
        };
        let read = match (&file, BUILT_IN.iter().find(|(known, _)| *known == name)) {
            (Some(file), _) => fs::read_to_string(file).map_err(|error| error.to_string()),
            (None, Some((_, text))) => Ok((*text).to_owned()),
            (None, None) if name == TERMINAL => return Theme::default(),
            (None, None) => {
                Err(format!("there is no such theme; {}", words::expected(name, built_in_names())))
            }
        };
        let shown = file.map_or_else(|| name.to_owned(), |file| file.display().to_string());
        let wrong = match read {
            _ if deep == 0 => format!("inherits from itself, or through more than {DEEP} others"),
            Ok(text) => return self.parse(name, Place { file: &shown, text: &text }, deep),
            Err(what) => what,
        };
        self.warnings.push(match from {
            Some((place, span)) => place.warning(span, "inherits", format!("`{name}`: {wrong}")),
            None => Warning { file: shown, line: 0, field: String::new(), what: wrong },
        });
        Theme::default()
    }

    fn parse(&mut self, name: &str, place: Place<'_>, deep: usize) -> Theme {
        let table = match DeTable::parse(place.text) {
            Ok(table) => table.into_inner(),
            Err(error) => {
                let span = error.span().unwrap_or(0..0);
                self.warnings.push(place.warning(span, "syntax", error.message()));
                return Theme { name: stem(name), ..Theme::default() };
            }
        };
        let parent = table.get("inherits").map(|value| (value.span(), value.get_ref().as_str()));
        let mut theme = match parent {
            Some((span, Some(parent))) => self.named(parent, Some((place, span)), deep - 1),
            Some((span, None)) => {
                self.warnings.push(place.warning(span, "inherits", "expected a theme's name"));
                Theme::default()
            }
            None => Theme::default(),
        };
        theme.name = stem(name);
        let palette = self.palette(place, &table);
        for (key, value) in &table {
            let (section, known) =
                (key.get_ref().as_ref(), ["inherits", "palette", "styles", "terminal"]);
            match (section, value.get_ref().as_table()) {
                ("inherits" | "palette", _) => {}
                ("styles", Some(styles)) => self.styles(place, &palette, styles, &mut theme),
                ("terminal", Some(colours)) => {
                    self.terminal(place, &palette, colours, &mut theme.terminal);
                }
                ("styles" | "terminal", None) => {
                    self.warnings.push(place.warning(value.span(), section, "expected a table"));
                }
                _ => {
                    let what = words::expected(section, known.into_iter());
                    self.warnings.push(place.warning(key.span(), section, what));
                }
            }
        }
        theme
    }

    /// The file's own names for colours.
    fn palette(&mut self, place: Place<'_>, table: &DeTable<'_>) -> Vec<(String, Color)> {
        let mut palette = Vec::new();
        let Some(value) = table.get("palette") else { return palette };
        let Some(colours) = value.get_ref().as_table() else {
            self.warnings.push(place.warning(value.span(), "palette", "expected a table"));
            return palette;
        };
        for (key, value) in colours {
            let field = format!("palette.{}", key.get_ref());
            if let Some(colour) = self.colour(place, &[], &field, value) {
                palette.push((key.get_ref().to_string(), colour));
            }
        }
        palette
    }

    fn styles(
        &mut self,
        place: Place<'_>,
        palette: &[(String, Color)],
        styles: &DeTable<'_>,
        theme: &mut Theme,
    ) {
        for (key, value) in styles {
            let name = key.get_ref().as_ref();
            let field = format!("styles.{name}");
            let Some(slot) = theme.style_mut(name) else {
                let what = words::expected(name, Theme::NAMES.iter().copied());
                let what = format!("there is no such style; {what}");
                self.warnings.push(place.warning(key.span(), &field, what));
                continue;
            };
            *slot = match value.get_ref().as_table() {
                Some(table) => self.style(place, palette, &field, table),
                None => match self.colour(place, palette, &field, value) {
                    Some(colour) => Style::new().fg(colour),
                    None => continue,
                },
            };
        }
    }

    fn style(
        &mut self,
        place: Place<'_>,
        palette: &[(String, Color)],
        field: &str,
        table: &DeTable<'_>,
    ) -> Style {
        let mut style = Style::new();
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            let field = format!("{field}.{name}");
            match name {
                "fg" => style.fg = self.colour(place, palette, &field, value),
                "bg" => style.bg = self.colour(place, palette, &field, value),
                _ => {
                    match (MARKS.iter().find(|(mark, _)| *mark == name), value.get_ref().as_bool())
                    {
                        (Some((_, mark)), Some(true)) => style = style.add_modifier(*mark),
                        (Some(_), Some(false)) => {}
                        (Some(_), None) => {
                            self.warnings.push(place.warning(
                                value.span(),
                                &field,
                                "expected true or false",
                            ));
                        }
                        (None, _) => {
                            let known =
                                ["fg", "bg"].into_iter().chain(MARKS.iter().map(|(n, _)| *n));
                            let what = words::expected(name, known);
                            self.warnings.push(place.warning(key.span(), &field, what));
                        }
                    }
                }
            }
        }
        style
    }

    fn terminal(
        &mut self,
        place: Place<'_>,
        palette: &[(String, Color)],
        colours: &DeTable<'_>,
        terminal: &mut TerminalColours,
    ) {
        for (key, value) in colours {
            let name = key.get_ref().as_ref();
            let field = format!("terminal.{name}");
            let slot: Option<&mut Rgb> = match name {
                "ground" => Some(&mut terminal.ground),
                "text" => Some(&mut terminal.text),
                _ => ANSI
                    .iter()
                    .position(|known| *known == name)
                    .and_then(|i| terminal.ansi.get_mut(i)),
            };
            let Some(slot) = slot else {
                let known = ["ground", "text"].into_iter().chain(ANSI.iter().copied());
                let what = words::expected(name, known);
                self.warnings.push(place.warning(key.span(), &field, what));
                continue;
            };
            match self.colour(place, palette, &field, value) {
                Some(Color::Rgb(r, g, b)) => *slot = (r, g, b),
                Some(_) => {
                    let what = "expected a colour like \"#1e2127\"";
                    self.warnings.push(place.warning(value.span(), &field, what));
                }
                None => {}
            }
        }
    }

    fn colour(
        &mut self,
        place: Place<'_>,
        palette: &[(String, Color)],
        field: &str,
        value: &Spanned<DeValue<'_>>,
    ) -> Option<Color> {
        let text = value.get_ref().as_str();
        let own = palette.iter().find(|(name, _)| Some(name.as_str()) == text);
        let colour = own.map(|(_, colour)| *colour);
        let colour = colour.or_else(|| text.and_then(|text| text.parse().ok()));
        if colour.is_none() {
            let what = "expected a colour: \"#rrggbb\", a name of the palette, or one of the \
                        terminal's such as \"red\", \"light blue\", \"dark gray\", \"reset\"";
            self.warnings.push(place.warning(value.span(), field, what));
        }
        colour
    }
}

/// What a style may be besides coloured.
const MARKS: [(&str, Modifier); 6] = [
    ("bold", Modifier::BOLD),
    ("dim", Modifier::DIM),
    ("italic", Modifier::ITALIC),
    ("underlined", Modifier::UNDERLINED),
    ("reversed", Modifier::REVERSED),
    ("crossed", Modifier::CROSSED_OUT),
];

/// The sixteen colours in the order of their ANSI numbers, as `[terminal]` names them.
const ANSI: [&str; 16] = [
    "black",
    "red",
    "green",
    "yellow",
    "blue",
    "magenta",
    "cyan",
    "gray",
    "dark_gray",
    "light_red",
    "light_green",
    "light_yellow",
    "light_blue",
    "light_magenta",
    "light_cyan",
    "white",
];

/// A theme's name without folder and ending.
fn stem(name: &str) -> String {
    let path = Path::new(name);
    let stem = if name.ends_with(".toml") { path.file_stem() } else { None };
    stem.map_or_else(|| name.to_owned(), |stem| stem.to_string_lossy().into_owned())
}
