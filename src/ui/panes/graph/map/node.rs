//! A tool on the map: its marks, its name, its score.

use ratatui::style::Style;

use crate::domain::{State, ToolName};
use crate::panes::{glyph, graph::shown_name, position::Here};
use crate::symbols::{INJECTED, REFUSED, RUNNING};
use crate::{cx::Cx, text};

/// Columns of a name.
const NAME: usize = 20;
const SHORT: usize = 10;
/// Columns of a mark, with the space after it.
const MARK: usize = 2;
/// Columns of a score of one digit, with its sign and the space before it.
const SCORE: usize = 3;

/// The label of a node, without its frame; `short`: without its score.
pub fn label(state: &State, name: &str, here: &Here<'_>, broken: bool, short: bool) -> String {
    let mut label = String::new();
    if here.node() == name {
        label.push_str(&format!("{RUNNING} "));
    }
    if state.tools.get(name).is_some_and(|tool| !tool.is_offered()) {
        label.push_str(&format!("{REFUSED} "));
    }
    if broken {
        label.push_str(&format!("{INJECTED} "));
    }
    label.push_str(&text::cut(shown_name(name), if short { SHORT } else { NAME }));
    if short {
        return label;
    }
    if let Some(score) = state.learning.scores.get(name).filter(|score| *score != 0.0) {
        label.push(' ');
        label.push_str(&glyph::signed(score));
    }
    label
}

/// The least columns of a label, so that a mark and a score of one digit move nothing.
pub fn least_width(name: &str) -> usize {
    text::width(&text::cut(shown_name(name), NAME)) + MARK + if is_end(name) { 0 } else { SCORE }
}

fn is_end(name: &str) -> bool {
    name == ToolName::START || name == ToolName::END
}

/// The style of a node: the agent's position and path stand out.
pub fn style(cx: &Cx<'_>, name: &str, here: &Here<'_>, path: &[&str]) -> Style {
    let theme = cx.theme;
    if here.node() == name || path.last() == Some(&name) {
        return theme.graph_here;
    }
    if path.contains(&name) {
        return theme.accent;
    }
    let off = cx.state.tools.get(name).is_some_and(|tool| !tool.is_offered());
    if off || is_end(name) {
        return theme.dim;
    }
    theme.graph_node
}
