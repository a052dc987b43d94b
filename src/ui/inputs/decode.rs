//! Decodes the units of a terminal: keys, the mouse, the focus, and answers about its colours.

use ratatui::crossterm::event::{
    Event as Input, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent,
    MouseEventKind,
};
use termina::event::{self, Modifiers};
use termina::style::RgbColor;

use super::framer::Unit;
use crate::theme::Rgb;

/// Meaning of a unit.
#[derive(Clone, Debug, PartialEq)]
pub enum TerminalEvent {
    Input(Input),
    /// The background colour.
    Ground(Rgb),
    /// The terminal has answered all queries.
    Answered,
    /// The terminal's time to answer is over.
    Silent,
}

/// Reads a unit; `None`: it has no meaning here.
pub fn read(unit: Unit) -> Option<TerminalEvent> {
    let bytes = match unit {
        Unit::Paste(text) => return Some(TerminalEvent::Input(Input::Paste(text))),
        Unit::Sequence(bytes) => bytes,
    };
    match &*bytes {
        [0x1b, b']', text @ ..] => ground(text).map(TerminalEvent::Ground),
        [0x1b, b'[', b'?', .., b'c'] => Some(TerminalEvent::Answered),
        // All other units with these beginnings are reports that nothing here uses.
        [0x1b, b'[', b'?' | b'>' | b'=', ..] | [0x1b, b'P' | b'X' | b'^' | b'_', _, ..] => None,
        _ if is_off_the_screen(&bytes) => None,
        _ => {
            let mut parser = termina::Parser::default();
            parser.parse(&bytes, false);
            input(parser.pop()?).map(TerminalEvent::Input)
        }
    }
}

/// `11;rgb:fdfd/f6f6/e3e3`
fn ground(text: &[u8]) -> Option<Rgb> {
    let text = std::str::from_utf8(text).ok()?.strip_prefix("11;")?;
    // The parser takes every character for one byte.
    let colour = text.is_ascii().then(|| text.replacen("rgba:", "rgb:", 1))?;
    colour.parse().ok().map(|RgbColor { red, green, blue }| (red, green, blue))
}

/// Whether it is a mouse event at column or row 0. No such cell exists, and the parser subtracts 1 from it.
fn is_off_the_screen(bytes: &[u8]) -> bool {
    let places = match bytes {
        [0x1b, b'[', b'M', ..] => return false,
        [0x1b, b'[', places @ .., b'M' | b'm'] => places,
        _ => return false,
    };
    let is_zero = |place: &[u8]| std::str::from_utf8(place).is_ok_and(|it| it.parse() == Ok(0u16));
    places.split(|byte| *byte == b';').skip(1).any(is_zero)
}

fn input(event: termina::Event) -> Option<Input> {
    match event {
        termina::Event::Key(key) => {
            let kind = match key.kind {
                event::KeyEventKind::Press => KeyEventKind::Press,
                event::KeyEventKind::Repeat => KeyEventKind::Repeat,
                event::KeyEventKind::Release => KeyEventKind::Release,
            };
            let (code, held) = (code(key.code)?, held(key.modifiers));
            Some(Input::Key(KeyEvent::new_with_kind(code, held, kind)))
        }
        termina::Event::Mouse(mouse) => Some(Input::Mouse(MouseEvent {
            kind: mouse_kind(mouse.kind),
            column: mouse.column,
            row: mouse.row,
            modifiers: held(mouse.modifiers),
        })),
        termina::Event::FocusIn => Some(Input::FocusGained),
        termina::Event::FocusOut => Some(Input::FocusLost),
        _ => None,
    }
}

/// The keys that can have a meaning here.
fn code(code: event::KeyCode) -> Option<KeyCode> {
    Some(match code {
        event::KeyCode::Char(c) if c.is_control() => return None,
        event::KeyCode::Char(c) => KeyCode::Char(c),
        event::KeyCode::Enter => KeyCode::Enter,
        event::KeyCode::Backspace => KeyCode::Backspace,
        event::KeyCode::Tab => KeyCode::Tab,
        event::KeyCode::BackTab => KeyCode::BackTab,
        event::KeyCode::Escape => KeyCode::Esc,
        event::KeyCode::Left => KeyCode::Left,
        event::KeyCode::Right => KeyCode::Right,
        event::KeyCode::Up => KeyCode::Up,
        event::KeyCode::Down => KeyCode::Down,
        event::KeyCode::Home => KeyCode::Home,
        event::KeyCode::End => KeyCode::End,
        event::KeyCode::PageUp => KeyCode::PageUp,
        event::KeyCode::PageDown => KeyCode::PageDown,
        event::KeyCode::Insert => KeyCode::Insert,
        event::KeyCode::Delete => KeyCode::Delete,
        event::KeyCode::Function(n) => KeyCode::F(n),
        _ => return None,
    })
}

fn held(modifiers: Modifiers) -> KeyModifiers {
    let all = [
        (Modifiers::SHIFT, KeyModifiers::SHIFT),
        (Modifiers::ALT, KeyModifiers::ALT),
        (Modifiers::CONTROL, KeyModifiers::CONTROL),
        (Modifiers::SUPER, KeyModifiers::SUPER),
    ];
    all.into_iter().filter(|(held, _)| modifiers.contains(*held)).map(|(_, held)| held).collect()
}

fn mouse_kind(kind: event::MouseEventKind) -> MouseEventKind {
    match kind {
        event::MouseEventKind::Down(button) => MouseEventKind::Down(self::button(button)),
        event::MouseEventKind::Up(button) => MouseEventKind::Up(self::button(button)),
        event::MouseEventKind::Drag(button) => MouseEventKind::Drag(self::button(button)),
        event::MouseEventKind::Moved => MouseEventKind::Moved,
        event::MouseEventKind::ScrollDown => MouseEventKind::ScrollDown,
        event::MouseEventKind::ScrollUp => MouseEventKind::ScrollUp,
        event::MouseEventKind::ScrollLeft => MouseEventKind::ScrollLeft,
        event::MouseEventKind::ScrollRight => MouseEventKind::ScrollRight,
    }
}

fn button(button: event::MouseButton) -> MouseButton {
    match button {
        event::MouseButton::Left => MouseButton::Left,
        event::MouseButton::Right => MouseButton::Right,
        event::MouseButton::Middle => MouseButton::Middle,
    }
}
