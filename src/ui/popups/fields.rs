//! The fields of a form, one below the other, typed or chosen. They scroll if there is no room for all.

use std::borrow::Cow;

use ratatui::{buffer::Buffer, layout::Rect};

use super::{Pressed, entry::TextEntry};
use crate::action::Action;
use crate::hits::{Hits, Target};
use crate::panes::row::Row;
use crate::symbols::{FAILED, SELECTED};
use crate::{cx::Cx, text, window::Window};

/// Fields, one of which has the keyboard.
#[derive(Debug, Default)]
pub struct FormFields {
    all: Vec<FormField>,
    at: usize,
    /// Whether there is an error about the field with the keyboard.
    is_wrong: bool,
    pub window: Window,
}

/// The last doubt of a form: an error the first time, and accepted when it comes again.
#[derive(Debug, Default)]
pub struct Doubts(Option<String>);

impl Doubts {
    /// # Errors
    /// A doubt that was not the last one.
    pub fn once(&mut self, doubt: Option<String>) -> Result<(), String> {
        if doubt.is_none() || self.0 == doubt {
            return Ok(());
        }
        self.0.clone_from(&doubt);
        let again = |doubt| format!("if: {doubt}. Press <key:form.accept> again to set it anyway.");
        doubt.map_or(Ok(()), |doubt| Err(again(doubt)))
    }
}

/// A field.
#[derive(Debug)]
pub struct FormField {
    pub label: Cow<'static, str>,
    /// The description shown while the field has the keyboard.
    about: Cow<'static, str>,
    value: FieldValue,
}

#[derive(Debug)]
enum FieldValue {
    Chosen {
        names: Vec<&'static str>,
        at: usize,
    },
    /// `hint`: the default shown in an empty field. `choices`: the texts that left and right offer.
    Typed {
        entry: TextEntry,
        hint: &'static str,
        choices: Vec<String>,
    },
}

impl FormField {
    pub fn chosen(label: &'static str, names: &[&'static str], now: &str) -> Self {
        let at = names.iter().position(|name| *name == now).unwrap_or(0);
        let value = FieldValue::Chosen { names: names.to_vec(), at };
        Self { label: label.into(), about: Cow::default(), value }
    }

    pub fn typed(label: impl Into<Cow<'static, str>>, text: &str, hint: &'static str) -> Self {
        let value = FieldValue::Typed { entry: TextEntry::line(text), hint, choices: Vec::new() };
        Self { label: label.into(), about: Cow::default(), value }
    }

    #[must_use]
    pub fn about(self, about: impl Into<Cow<'static, str>>) -> Self {
        Self { about: about.into(), ..self }
    }

    #[must_use]
    pub fn offering(mut self, offered: Vec<String>) -> Self {
        if let FieldValue::Typed { entry, choices, .. } = &mut self.value {
            entry.fresh = offered.contains(&entry.text());
            *choices = offered;
        }
        self
    }

    fn text(&self) -> String {
        match &self.value {
            FieldValue::Chosen { names, at } => {
                names.get(*at).copied().unwrap_or_default().to_owned()
            }
            FieldValue::Typed { entry, .. } => entry.text().trim().to_owned(),
        }
    }

    /// Takes the next choice; false without choices: the key then moves in the text.
    fn turn(&mut self, by: isize) -> bool {
        match &mut self.value {
            FieldValue::Chosen { names, at } => {
                *at = (*at + names.len()).saturating_add_signed(by) % names.len().max(1);
                true
            }
            FieldValue::Typed { choices, .. } if choices.is_empty() => false,
            FieldValue::Typed { entry, choices, .. } => {
                let now = entry.text();
                let at = choices.iter().position(|choice| *choice == now);
                let to = at.map_or(0, |at| (at + choices.len()).saturating_add_signed(by));
                entry.set(&choices[to % choices.len()]);
                entry.fresh = true;
                true
            }
        }
    }

    fn draw(
        &self,
        cx: &Cx<'_>,
        line: Rect,
        label: usize,
        (on, wrong): (bool, bool),
        buf: &mut Buffer,
    ) {
        let style = match (wrong, on) {
            (true, _) => cx.theme.bad,
            (false, true) => cx.theme.accent,
            (false, false) => cx.theme.text,
        };
        let mark = if wrong { FAILED } else { SELECTED };
        let mut row = Row::new(line, buf);
        row.cell(if on { mark } else { "" }, 2, style).cell(&self.label, label, style);
        let x = (line.x + u16::try_from(label + 2).unwrap_or(u16::MAX)).min(line.right());
        let value = Rect { x, width: line.right() - x, ..line };
        match &self.value {
            FieldValue::Chosen { names, at } => {
                let name = names.get(*at).copied().unwrap_or_default();
                let name = if on { format!("< {name} >") } else { name.to_owned() };
                Row::new(value, buf).put(&name, style);
            }
            FieldValue::Typed { entry, hint, .. } => {
                let is_empty = entry.text().is_empty();
                if on {
                    entry.draw(cx, value, buf);
                } else if !is_empty {
                    Row::new(value, buf).put(&entry.text(), cx.theme.text);
                }
                if is_empty {
                    Row::new(value, buf).gap(if on { 2 } else { 0 }).put(hint, cx.theme.dim);
                }
            }
        }
    }
}

impl FormFields {
    pub fn new(all: Vec<FormField>) -> Self {
        Self { all, at: 0, is_wrong: false, window: Window::default() }
    }

    /// Replaces the fields; the one with the keyboard keeps it if it still exists.
    pub fn replace(&mut self, all: Vec<FormField>) {
        let label = self.all.get(self.at).map(|field| &field.label);
        let at = all.iter().position(|field| Some(&field.label) == label);
        (self.at, self.all) = (at.unwrap_or(0), all);
    }

    /// Gives the keyboard to the field that an error is about: the error begins with its label, or contains its text.
    pub fn blame(&mut self, error: &str) {
        let is_named = |field: &FormField| {
            let rest = error.strip_prefix(&*field.label);
            rest.is_some_and(|rest| rest.starts_with([' ', ':']))
        };
        let is_quoted = |field: &FormField| {
            let text = field.text();
            matches!(field.value, FieldValue::Typed { .. })
                && !text.is_empty()
                && error.contains(&text)
        };
        let found = self.all.iter().position(is_named);
        let found = found.or_else(|| self.all.iter().position(is_quoted));
        self.is_wrong = found.is_some();
        self.at = found.unwrap_or(self.at);
    }

    /// Gives a field the keyboard.
    pub fn go_to(&mut self, label: &str) {
        self.at = self.all.iter().position(|field| field.label == label).unwrap_or(self.at);
    }

    /// The text typed or chosen in a field; empty if there is no such field.
    pub fn text(&self, label: &str) -> String {
        let field = self.all.iter().find(|field| field.label == label);
        field.map_or_else(String::new, FormField::text)
    }

    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// The texts typed or chosen in all fields, in order.
    pub fn texts(&self) -> impl Iterator<Item = String> {
        self.all.iter().map(FormField::text)
    }

    /// The description of the field with the keyboard.
    pub fn about(&self) -> &str {
        self.all.get(self.at).map_or("", |field| &field.about)
    }

    /// Shows this many rows at once, including the field with the keyboard.
    pub fn fit(&mut self, rows: usize) {
        self.window = self.window.next(self.all.len(), rows, Some(self.at));
    }

    /// Takes a key that moves, chooses or types.
    pub fn key(&mut self, pressed: Pressed) {
        self.is_wrong = false;
        let last = self.all.len().saturating_sub(1);
        match pressed.action {
            Some(Action::Up) => self.at = self.at.saturating_sub(1),
            Some(Action::Down) => self.at = (self.at + 1).min(last),
            Some(Action::Left) => self.turn(pressed, -1),
            Some(Action::Right) => self.turn(pressed, 1),
            _ => {
                let Some(field) = self.all.get_mut(self.at) else { return };
                match &mut field.value {
                    FieldValue::Typed { entry, .. } => entry.key(pressed.key),
                    FieldValue::Chosen { .. } if pressed.key.types() == Some(' ') => {
                        _ = field.turn(1)
                    }
                    FieldValue::Chosen { .. } => {}
                }
            }
        }
    }

    fn turn(&mut self, pressed: Pressed, by: isize) {
        let Some(field) = self.all.get_mut(self.at) else { return };
        if !field.turn(by)
            && let FieldValue::Typed { entry, .. } = &mut field.value
        {
            entry.key(pressed.key);
        }
    }

    pub fn paste(&mut self, text: &str) {
        if let Some(FormField { value: FieldValue::Typed { entry, .. }, .. }) =
            self.all.get_mut(self.at)
        {
            entry.paste(text);
        }
    }

    /// Handles a click on a row, which gets the keyboard; a second click takes the next choice.
    pub fn click(&mut self, row: usize) {
        let is_again = row == self.at;
        self.at = row.min(self.all.len().saturating_sub(1));
        if let Some(field) = self.all.get_mut(self.at).filter(|_| is_again) {
            field.turn(1);
        }
    }

    pub fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let longest = self.all.iter().map(|field| text::width(&field.label)).max();
        let label = longest.unwrap_or_default().min(usize::from(area.width) / 3) + 2;
        let shown = self.all.iter().enumerate().skip(self.window.first);
        for ((at, field), line) in shown.zip(area.rows()) {
            let on = at == self.at;
            field.draw(cx, line, label, (on, on && self.is_wrong), buf);
            hits.add(line, Target::PopupRow(at));
        }
    }
}
