//! A text field.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::{Modifier, Style};
use ratatui::{buffer::Buffer, layout::Rect, widgets::Widget};
use ratatui_textarea::TextArea;

use crate::{cx::Cx, key::Key};

/// The longest text that is accepted: more than any task needs, and harmless to type and draw.
const MOST: usize = 64 * 1024;
/// The longest text of an edited call: a prompt as long as a model can read.
const LONGEST: usize = 8 * 1024 * 1024;

/// A text field, of one line or of many.
#[derive(Debug)]
pub struct TextEntry {
    /// Boxed, since it is large and would make every popup with a field large.
    area: Box<TextArea<'static>>,
    many: bool,
    most: usize,
    /// Whether the next text typed or pasted replaces this one.
    pub fresh: bool,
    /// The mistake in the text, until the next key.
    pub error: Option<String>,
}

impl Default for TextEntry {
    fn default() -> Self {
        Self { area: Box::default(), many: false, most: MOST, fresh: false, error: None }
    }
}

impl TextEntry {
    pub fn line(text: &str) -> Self {
        let mut entry = Self::default();
        entry.paste(text);
        entry
    }

    pub fn lines() -> Self {
        let mut entry = Self { many: true, ..Self::default() };
        entry.area.set_wrap_mode(ratatui_textarea::WrapMode::WordOrGlyph);
        entry
    }

    /// A field of lines of any length, which holds this text at first; the cursor is at its beginning.
    pub fn text_of(text: &str) -> Self {
        let mut entry = Self { most: LONGEST, ..Self::lines() };
        entry.paste(text);
        entry.area.move_cursor(ratatui_textarea::CursorMove::Top);
        entry.area.move_cursor(ratatui_textarea::CursorMove::Head);
        entry
    }

    /// Types a key; the caller handles keys with another meaning.
    pub fn key(&mut self, key: Key) {
        self.error = None;
        if std::mem::take(&mut self.fresh) && key.types().is_some() {
            self.set("");
        }
        let event = KeyEvent::from(key);
        // As in a shell, unlike the widget's own keys.
        match (event.code, event.modifiers) {
            (KeyCode::Char('u'), KeyModifiers::CONTROL) => _ = self.area.delete_line_by_head(),
            (KeyCode::Char('z'), KeyModifiers::CONTROL) => _ = self.area.undo(),
            _ => self.input(key),
        }
    }

    fn input(&mut self, key: Key) {
        if self.len() < self.most || key.types().is_none() {
            self.area.input(KeyEvent::from(key));
        }
    }

    pub fn newline(&mut self) {
        if self.many {
            self.area.insert_newline();
        }
    }

    /// Inserts text from elsewhere, without characters that cannot be typed.
    pub fn paste(&mut self, text: &str) {
        self.error = None;
        if std::mem::take(&mut self.fresh) {
            self.set("");
        }
        let room = self.most.saturating_sub(self.len());
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let keep = |c: char| if c == '\n' && self.many { Some(c) } else { typed(c) };
        let kept: String = text.chars().filter_map(keep).take(room).collect();
        self.area.insert_str(kept);
    }

    /// Replaces the whole text.
    pub fn set(&mut self, text: &str) {
        self.area.select_all();
        self.area.cut();
        self.paste(text);
    }

    pub fn text(&self) -> String {
        self.area.lines().join("\n")
    }

    fn len(&self) -> usize {
        self.area.lines().iter().map(|line| line.len() + 1).sum()
    }

    /// The number of lines.
    pub fn rows(&self) -> usize {
        self.area.lines().len()
    }

    pub fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer) {
        let mut field = self.area.clone();
        field.set_style(cx.theme.screen.patch(cx.theme.popup).patch(cx.theme.input));
        field.set_cursor_line_style(Style::new());
        field.set_cursor_style(Style::new().add_modifier(Modifier::REVERSED));
        (&*field).render(area, buf);
    }
}

/// A character as allowed in a line of typed text.
fn typed(c: char) -> Option<char> {
    match c {
        '\n' | '\t' => Some(' '),
        c if c.is_control() => None,
        c => Some(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pasted_text_is_harmless_and_of_the_right_shape() {
        let mut line = TextEntry::default();
        line.paste("a\r\nb\x1b[31m\tc");
        assert_eq!(line.text(), "a b[31m c");
        line.set("7");
        assert_eq!(line.text(), "7");
        let mut lines = TextEntry::lines();
        lines.paste("a\r\nb\x07");
        assert_eq!((lines.text().as_str(), lines.rows()), ("a\nb", 2));
        lines.paste(&"x".repeat(2 * MOST));
        assert!(lines.text().len() <= MOST + 1);
    }
}
