//! Colours of what is printed, where standard output shows them: on a terminal, unless `NO_COLOR` is set. Each colour
//! has a word beside it.

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

/// Right, and in order.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// Wrong, and failed.
pub const BAD: Style = AnsiColor::Red.on_default().bold();
/// Worth a look.
pub const WARN: Style = AnsiColor::Yellow.on_default();
/// The heading of a table.
pub const HEAD: Style = Style::new().bold();

/// The text in this style.
pub fn paint(style: Style, text: &str) -> String {
    match AutoStream::choice(&std::io::stdout()) {
        ColorChoice::Never => text.to_owned(),
        ColorChoice::Auto | ColorChoice::Always | ColorChoice::AlwaysAnsi => {
            format!("{style}{text}{style:#}")
        }
    }
}

/// A table whose line at this place is its heading.
pub fn headed(text: &str, at: usize) -> String {
    let line = |(n, line): (usize, &str)| match line.strip_suffix('\n') {
        Some(words) if n == at => paint(HEAD, words) + "\n",
        _ => line.to_owned(),
    };
    text.split_inclusive('\n').enumerate().map(line).collect()
}
