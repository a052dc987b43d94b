//! Text that commands print, with colours where standard output shows them: on a terminal, unless `NO_COLOR` is set.
//! Each colour has a word beside it.

use std::ops::Add;

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use clap::builder::StyledStr;

use crate::files::safe_text::visible;

/// Right, and in order.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// Wrong, and failed.
pub const BAD: Style = AnsiColor::Red.on_default().bold();
/// Worth a look.
pub const WARN: Style = AnsiColor::Yellow.on_default();
/// The heading of a table.
pub const HEAD: Style = Style::new().bold();

/// Text in which only the colours of this program are escape sequences. Every other control character is shown as a
/// picture, wherever the text is from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Painted(String);

impl Painted {
    /// A text that this program alone has made, with its escape sequences.
    pub fn own(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Painted {
    fn from(text: &str) -> Self {
        Self(visible(text).into_owned())
    }
}

impl From<String> for Painted {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

/// Help of the command line, which quotes no argument.
impl From<&StyledStr> for Painted {
    fn from(help: &StyledStr) -> Self {
        Self(if is_shown() { help.ansi().to_string() } else { help.to_string() })
    }
}

impl From<&String> for Painted {
    fn from(text: &String) -> Self {
        text.as_str().into()
    }
}

impl<T: Into<Painted>> Add<T> for Painted {
    type Output = Self;

    fn add(mut self, other: T) -> Self {
        self.0 += other.into().as_str();
        self
    }
}

impl<T: Into<Painted>> FromIterator<T> for Painted {
    fn from_iter<I: IntoIterator<Item = T>>(parts: I) -> Self {
        parts.into_iter().fold(Self::default(), Add::add)
    }
}

/// Whether standard output shows colours.
pub fn is_shown() -> bool {
    AutoStream::choice(&std::io::stdout()) != ColorChoice::Never
}

/// The text in this style.
pub fn paint(style: Style, text: &str) -> Painted {
    let text = visible(text);
    Painted(if is_shown() { format!("{style}{text}{style:#}") } else { text.into_owned() })
}

/// A table with its heading on this line.
pub fn headed(text: &str, at: usize) -> Painted {
    let line = |(n, line): (usize, &str)| match line.strip_suffix('\n') {
        Some(words) if n == at => paint(HEAD, words) + "\n",
        _ => line.into(),
    };
    text.split_inclusive('\n').enumerate().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_painted_has_escape_sequences() {
        let said =
            Painted::own("\u{1b}[1mtool\u{1b}[0m") + " says \u{1b}[32m" + String::from("\u{9b}m\n");
        assert_eq!(said.as_str(), "\u{1b}[1mtool\u{1b}[0m says ␛[32m�m\n");
    }
}
