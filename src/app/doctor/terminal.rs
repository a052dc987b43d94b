//! The capabilities of the terminal. Only facts that a program can know: the terminal itself is not queried, because it
//! might not answer.

use super::Finding;
use crate::config::Environment;
use crate::ui::layout::{MIN, Size};
use crate::ui::symbols::Locale;
use crate::ui::theme::detect::Depth;

const ABOUT: &str = "terminal";

/// The known facts about standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terminal {
    pub is_terminal: bool,
    /// Columns and rows, if it is a terminal.
    pub size: Option<(u16, u16)>,
}

pub(super) fn examine(
    terminal: Terminal,
    environment: Environment<'_>,
    findings: &mut Vec<Finding>,
) {
    if !terminal.is_terminal {
        let text = "stdout is not a terminal; the screen needs one, `toolyard run` does not";
        findings.push(Finding::warn(ABOUT, text));
        return;
    }
    let variable = |name: &str| {
        let value = environment(name).and_then(|value| value.into_string().ok());
        value.filter(|value| !value.is_empty())
    };
    findings.push(kind(variable("TERM").as_deref()));
    findings.extend(terminal.size.map(size));
    findings.push(colours(&variable));
    findings.push(locale(&variable));
}

fn kind(term: Option<&str>) -> Finding {
    match term {
        None | Some("dumb" | "unknown") => {
            let shown = term.unwrap_or("not set");
            Finding::fail(ABOUT, format!("TERM is {shown}, which cannot draw a screen")).advise(
                "start toolyard in a terminal emulator, or set TERM, e.g. to xterm-256color",
            )
        }
        Some(term) => Finding::ok(ABOUT, format!("TERM is {term}")),
    }
}

fn size((columns, rows): (u16, u16)) -> Finding {
    let text = format!("{columns} columns and {rows} rows");
    match Size::of(columns, rows) {
        None => {
            let (columns, rows) = MIN;
            let text = format!("{text}: too small for the screen, which needs {columns}×{rows}");
            Finding::warn(ABOUT, text).advise("enlarge the window or reduce the font size")
        }
        Some(Size::Tiny) => Finding::ok(ABOUT, format!("{text}: one pane fits, two from 80×24 on")),
        Some(_) => Finding::ok(ABOUT, text),
    }
}

fn colours(variable: &dyn Fn(&str) -> Option<String>) -> Finding {
    let text = match Depth::of(variable) {
        Depth::None => "NO_COLOR is set: no colours; words, glyphs and bold are used instead",
        Depth::True if variable("COLORTERM").is_some() => "all colours (COLORTERM)",
        Depth::True => "all colours (TERM)",
        Depth::Indexed => "256 colours: the theme `terminal` is exact, the others are approximate",
        Depth::Sixteen => "16 colours: use the theme `terminal`",
    };
    Finding::ok(ABOUT, text)
}

fn locale(variable: &dyn Fn(&str) -> Option<String>) -> Finding {
    let locale = Locale::of(variable);
    match (locale.is_utf8(), locale.0) {
        (true, Some((name, value))) => Finding::ok(ABOUT, format!("UTF-8 ({name}={value})")),
        (true, None) => Finding::ok(ABOUT, "UTF-8 (the system's default)"),
        (false, set) => {
            let shown = set.map_or("no locale is set".to_owned(), |(name, value)| {
                format!("{name}={value} is not a UTF-8 locale")
            });
            Finding::warn(ABOUT, format!("{shown}: the screen is drawn in ASCII"))
                .advise("set LANG to a UTF-8 locale, such as C.UTF-8, or ui.symbols to \"unicode\"")
        }
    }
}
