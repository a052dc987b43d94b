//! Writing pages: headings, fields, text wrapped to the width. All text passes [`text::clean`] here.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use serde_json::Value;

use crate::domain::{EffectState, State, words::counted};
use crate::symbols::INJECTED;
use crate::{text, theme::Theme, wording};

/// Cells for a field's name.
const LABEL: usize = 14;
/// The most lines of one text: the rest is left out, which a line says.
const MOST: usize = 20_000;

/// Lines being written.
pub struct Page<'a> {
    pub theme: &'a Theme,
    width: usize,
    lines: Vec<Line<'static>>,
}

impl<'a> Page<'a> {
    pub fn new(theme: &'a Theme, width: usize) -> Self {
        // The last cell belongs to the scrollbar.
        Self { theme, width: width.saturating_sub(2).max(1), lines: Vec::new() }
    }

    pub fn into_lines(self) -> Vec<Line<'static>> {
        self.lines
    }

    pub fn width(&self) -> usize {
        self.width
    }

    pub fn blank(&mut self) {
        self.lines.push(Line::default());
    }

    /// A heading with a blank line above it, unless it is the first line.
    pub fn heading(&mut self, heading: &str) {
        if !self.lines.is_empty() {
            self.blank();
        }
        let heading = text::cut(heading, self.width).into_owned();
        let rule = self.width.saturating_sub(text::width(&heading) + 1);
        self.lines.push(Line::from(vec![
            Span::styled(heading, self.theme.title),
            Span::styled(format!(" {}", "─".repeat(rule)), self.theme.border),
        ]));
    }

    /// Writes `name   value`; long values wrap below themselves.
    pub fn field(&mut self, name: &str, value: &str) {
        self.field_in(name, value, self.theme.text);
    }

    /// Writes a field, unless its value is empty.
    pub fn field_if_any(&mut self, name: &str, value: &str) {
        if !value.is_empty() {
            self.field(name, value);
        }
    }

    pub fn field_in(&mut self, name: &str, value: &str, style: Style) {
        // A long name, such as that of a tool, moves its value to the right.
        let width = text::width(name).clamp(LABEL, (self.width / 3).max(LABEL));
        let room = self.width.saturating_sub(width + 1).max(1);
        let mut label = text::fit(name, width);
        for line in text::wrap(value, room) {
            self.lines.push(Line::from(vec![
                Span::styled(format!("{label} "), self.theme.dim),
                Span::styled(line, style),
            ]));
            label = " ".repeat(width);
        }
    }

    /// Writes a text in full.
    pub fn text(&mut self, text: &str, style: Style) {
        let mut lines = text::wrap(text, self.width);
        for line in lines.by_ref().take(MOST) {
            self.lines.push(Line::styled(line, style));
        }
        let left_out = lines.count();
        if left_out > 0 {
            let note = format!("… {}", counted(left_out, "more line"));
            self.lines.push(Line::styled(note, self.theme.warn));
        }
    }

    /// Writes that something was not so yet at the displayed moment.
    pub fn not_yet(&mut self, what: &str) {
        self.text(&format!("{what} at the displayed moment."), self.theme.dim);
    }

    /// Writes a text below its own heading.
    pub fn section(&mut self, heading: &str, text: &str, style: Style) {
        self.heading(heading);
        self.text(text, style);
    }

    /// Writes JSON in a readable form.
    pub fn json(&mut self, value: &Value) {
        let pretty = serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string());
        self.text(&pretty, self.theme.text);
    }

    /// Writes a line of pieces, which must be clean. Drawing cuts them at the width.
    pub fn pieces(&mut self, pieces: Vec<(String, Style)>) {
        let spans = pieces
            .into_iter()
            .map(|(piece, style)| Span::styled(text::clean(&piece).into_owned(), style));
        self.lines.push(Line::from(spans.collect::<Vec<_>>()));
    }

    /// Writes the origin of an effect's outcome, if it is not the model or the tool itself.
    pub fn origin(&mut self, state: &State, effect: &EffectState) {
        self.field_if_any("origin", wording::origin(effect.origin).unwrap_or_default());
        if let Some(fault) = effect.injected {
            let spec = state.faults.get(&fault).map(|fault| fault.spec.to_string());
            let what = format!("{INJECTED} by fault {fault}: {}", spec.unwrap_or_default());
            self.field_in("injected", &what, self.theme.injected);
        }
    }

    /// Writes the name of the simulated model, as the screen shows it.
    pub fn simulated(&mut self) {
        let note = "SIMULATED MODEL: built in, no language model was called";
        self.lines.push(Line::styled(note, self.theme.simulated));
    }
}
