//! Input of drawing.

use ratatui::layout::Rect;

use super::{keymap::Keymap, theme::Theme, view::View};
use crate::domain::State;

/// Data that drawing may read.
#[derive(Clone, Copy)]
pub struct Cx<'a> {
    /// The state at the moment looked at.
    pub state: &'a State,
    /// The state now; differs from `state` only while the past is looked at.
    pub live: &'a State,
    pub view: &'a View,
    pub theme: &'a Theme,
    pub keymap: &'a Keymap,
    /// Microseconds since the session was opened; in the past, the time of the moment looked at.
    pub now: u64,
    /// Whether this pane has the keyboard.
    pub focused: bool,
    /// The frame of this pane, whose right line holds the scroll bar; empty where there is none.
    pub frame: Rect,
}
