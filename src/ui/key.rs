//! A key with its modifiers, as people write it: `space`, `ctrl-x`, `shift-tab`, `N`, `f1`, `+`.

use std::{fmt, ops::Deref, str::FromStr};

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// A key press, in one form for the many that terminals send: a letter carries its own shift, and a
/// letter with ctrl is small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd)]
pub struct Key {
    pub code: KeyCode,
    pub mods: KeyModifiers,
}

/// The keys that have a word, each with the word that is printed first.
const NAMED: &[(&str, KeyCode)] = &[
    ("space", KeyCode::Char(' ')),
    ("enter", KeyCode::Enter),
    ("esc", KeyCode::Esc),
    ("tab", KeyCode::Tab),
    ("backspace", KeyCode::Backspace),
    ("delete", KeyCode::Delete),
    ("insert", KeyCode::Insert),
    ("up", KeyCode::Up),
    ("down", KeyCode::Down),
    ("left", KeyCode::Left),
    ("right", KeyCode::Right),
    ("home", KeyCode::Home),
    ("end", KeyCode::End),
    ("pageup", KeyCode::PageUp),
    ("pagedown", KeyCode::PageDown),
];

/// Modifiers, each as it is written before a key.
const HELD: [(&str, KeyModifiers); 3] = [
    ("ctrl-", KeyModifiers::CONTROL),
    ("alt-", KeyModifiers::ALT),
    ("shift-", KeyModifiers::SHIFT),
];

impl Key {
    pub const fn plain(code: KeyCode) -> Self {
        Self { code, mods: KeyModifiers::NONE }
    }

    fn new(code: KeyCode, mods: KeyModifiers) -> Self {
        let known = KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SHIFT;
        let mut mods = mods & known;
        let code = match code {
            KeyCode::BackTab => {
                mods |= KeyModifiers::SHIFT;
                KeyCode::Tab
            }
            KeyCode::Char(c) => {
                let shift = mods.contains(KeyModifiers::SHIFT);
                mods -= KeyModifiers::SHIFT;
                if mods.contains(KeyModifiers::CONTROL) {
                    KeyCode::Char(c.to_ascii_lowercase())
                } else if shift {
                    KeyCode::Char(c.to_ascii_uppercase())
                } else {
                    KeyCode::Char(c)
                }
            }
            other => other,
        };
        Self { code, mods }
    }

    /// Names the key that a terminal sends in place of this one, so that the program would never see this one.
    pub fn arrives_as(self) -> Option<&'static str> {
        let is_held = |held| self.mods.contains(held);
        if is_held(KeyModifiers::CONTROL) {
            match self.code {
                KeyCode::Char(c) => control(c),
                KeyCode::Enter => Some("enter"),
                KeyCode::Tab if !is_held(KeyModifiers::SHIFT) => Some("tab"),
                KeyCode::Tab => Some("shift-tab"),
                KeyCode::Esc => Some("esc"),
                KeyCode::Backspace => Some("backspace or ctrl-h"),
                _ => None,
            }
        } else if is_held(KeyModifiers::SHIFT) {
            match self.code {
                KeyCode::Enter => Some("enter"),
                KeyCode::Esc => Some("esc"),
                KeyCode::Backspace => Some("backspace"),
                _ => None,
            }
        } else if is_held(KeyModifiers::ALT) {
            match self.code {
                KeyCode::Esc => Some("esc twice"),
                KeyCode::Char('[' | ']' | 'O' | 'P' | 'X' | '^' | '_') => {
                    Some("the start of its own reports")
                }
                _ => None,
            }
        } else {
            None
        }
    }

    /// The character that this key types, if any.
    pub fn types(self) -> Option<char> {
        match self.code {
            KeyCode::Char(c) if self.mods.is_empty() => Some(c),
            _ => None,
        }
    }
}

/// Names the key that a terminal sends for Ctrl and a character, where both share one code. There are
/// 32 such characters of control, three of which are other keys; a character that has none is sent without Ctrl.
fn control(c: char) -> Option<&'static str> {
    match c {
        'i' => Some("tab"),
        'm' => Some("enter"),
        '[' | '3' => Some("esc"),
        '8' | '?' => Some("backspace"),
        '\\' | '|' => Some("ctrl-4"),
        ']' | '}' => Some("ctrl-5"),
        '^' | '~' => Some("ctrl-6"),
        '/' | '_' => Some("ctrl-7"),
        '2' | '@' => Some("ctrl-space"),
        ' ' | 'a'..='z' | '4'..='7' => None,
        _ => Some("the character without ctrl"),
    }
}

impl From<KeyEvent> for Key {
    fn from(event: KeyEvent) -> Self {
        Self::new(event.code, event.modifiers)
    }
}

impl From<Key> for KeyEvent {
    fn from(key: Key) -> Self {
        KeyEvent::new(key.code, key.mods)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut name = String::new();
        for (word, held) in HELD {
            if self.mods.contains(held) {
                name.push_str(word);
            }
        }
        match (NAMED.iter().find(|(_, code)| *code == self.code), self.code) {
            (Some((word, _)), _) => name.push_str(word),
            (None, KeyCode::Char(c)) => name.push(c),
            (None, KeyCode::F(n)) => name.push_str(&format!("f{n}")),
            (None, other) => name.push_str(&format!("{other}").to_lowercase()),
        }
        f.pad(&name)
    }
}

impl FromStr for Key {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut mods = KeyModifiers::NONE;
        let mut rest = text;
        // A minus alone is the minus key, not a separator.
        let held =
            |rest: &str| HELD.into_iter().find(|(word, _)| rest.starts_with(word) && rest != *word);
        while let Some((word, held)) = held(rest) {
            mods |= held;
            rest = &rest[word.len()..];
        }
        let code = code(rest).ok_or_else(|| {
            let named: Vec<_> = NAMED.iter().map(|(word, _)| *word).collect();
            format!(
                "`{text}` is not a key; expected a character, f1 to f12, or one of {}, \
                 after any of ctrl-, alt-, shift-",
                named.join(", ")
            )
        })?;
        Ok(Self::new(code, mods))
    }
}

fn code(word: &str) -> Option<KeyCode> {
    if let Some((_, code)) = NAMED.iter().find(|(name, _)| *name == word) {
        return Some(*code);
    }
    let mut chars = word.chars();
    if let (Some(c), None) = (chars.next(), chars.next()) {
        return (!c.is_control() && c != ' ').then_some(KeyCode::Char(c));
    }
    let n: u8 = word.strip_prefix('f')?.parse().ok()?;
    (1..=12).contains(&n).then_some(KeyCode::F(n))
}

/// Keys that are pressed one after the other, written `g g`; never empty.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KeySequence(Vec<Key>);

impl Deref for KeySequence {
    type Target = [Key];

    fn deref(&self) -> &[Key] {
        &self.0
    }
}

impl KeySequence {
    /// Reads keys for an action.
    ///
    /// # Errors
    /// One of them is not a key, or is a key that no terminal sends.
    pub fn to_bind(text: &str) -> Result<Self, String> {
        let keys: Self = text.parse()?;
        let words = text.split_whitespace();
        for (key, word) in keys.iter().zip(words) {
            // Terminals send the same bytes with and without shift here, so this name would promise too much.
            let shifted = word.starts_with("ctrl-shift-") || word.starts_with("shift-ctrl-");
            let plain = shifted && matches!(key.code, KeyCode::Char(_));
            if let Some(sent) = key.arrives_as() {
                return Err(format!("a terminal never sends `{word}`; it sends {sent}"));
            }
            if plain {
                return Err(format!("a terminal never sends `{word}`; it sends {key}"));
            }
        }
        Ok(keys)
    }
}

impl fmt::Display for KeySequence {
    /// As people read them: `gg`, but `ctrl-w t`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<String> = self.0.iter().map(Key::to_string).collect();
        let are_letters = keys.iter().all(|key| key.chars().count() == 1);
        f.pad(&keys.join(if are_letters { "" } else { " " }))
    }
}

impl FromStr for KeySequence {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Err(format!("`{text}` is not a key; expected keys such as `x` or `g g`"));
        }
        text.split_whitespace().map(str::parse).collect::<Result<_, _>>().map(KeySequence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_prints() {
        for text in [
            "space",
            "ctrl-x",
            "shift-tab",
            "N",
            "f1",
            "+",
            "-",
            "ctrl--",
            "alt-enter",
            "/",
            "$",
            "ctrl-alt-delete",
            "shift-up",
            "é",
        ] {
            assert_eq!(text.parse::<Key>().unwrap().to_string(), text);
        }
        assert_eq!("ctrl-X".parse::<Key>(), "ctrl-x".parse());
        assert_eq!("shift-n".parse::<Key>(), "N".parse());
    }

    #[test]
    fn sequences_are_read_and_printed() {
        let shown = |text: &str| text.parse::<KeySequence>().map(|keys| keys.to_string());
        assert_eq!(shown("g g").as_deref(), Ok("gg"));
        assert_eq!(shown("ctrl-w t").as_deref(), Ok("ctrl-w t"));
        assert!(shown(" ").is_err() && shown("g hyper-x").is_err());
    }

    #[test]
    fn what_terminals_send_is_one_key() {
        let sent = |code, mods| Key::from(KeyEvent::new(code, mods));
        let n = sent(KeyCode::Char('N'), KeyModifiers::SHIFT);
        assert_eq!(n, sent(KeyCode::Char('N'), KeyModifiers::NONE));
        assert_eq!(n.types(), Some('N'));
        let tab = sent(KeyCode::BackTab, KeyModifiers::NONE);
        assert_eq!(tab, sent(KeyCode::Tab, KeyModifiers::SHIFT));
        assert_eq!(sent(KeyCode::Char('C'), KeyModifiers::CONTROL).to_string(), "ctrl-c");
        assert_eq!(sent(KeyCode::Char('c'), KeyModifiers::CONTROL).types(), None);
    }

    #[test]
    fn a_key_that_terminals_send_as_another_one_is_not_bound() {
        let refused = |text| KeySequence::to_bind(text).unwrap_err();
        assert!(refused("ctrl-i").ends_with("a terminal never sends `ctrl-i`; it sends tab"));
        assert!(refused("g ctrl-m").ends_with("a terminal never sends `ctrl-m`; it sends enter"));
        for (key, sent) in [
            ("ctrl-[", "esc"),
            ("ctrl-alt-i", "tab"),
            ("ctrl-enter", "enter"),
            ("shift-enter", "enter"),
            ("ctrl-tab", "tab"),
            ("ctrl-shift-tab", "shift-tab"),
            ("ctrl-backspace", "backspace or ctrl-h"),
            ("ctrl-?", "backspace"),
            ("ctrl-\\", "ctrl-4"),
            ("ctrl-/", "ctrl-7"),
            ("ctrl-.", "the character without ctrl"),
            ("ctrl--", "the character without ctrl"),
            ("ctrl-shift-a", "ctrl-a"),
            ("alt-esc", "esc twice"),
            ("alt-]", "the start of its own reports"),
            ("alt-O", "the start of its own reports"),
            ("alt-shift-p", "the start of its own reports"),
        ] {
            let why = format!("it sends {sent}");
            assert!(refused(key).ends_with(&why), "{key}: {}", refused(key));
        }
        let sent = [
            "ctrl-a",
            "ctrl-h",
            "ctrl-j",
            "ctrl-4",
            "ctrl-space",
            "alt-enter",
            "alt-o",
            "alt-p",
            "alt-x",
            "shift-tab",
            "shift-up",
            "ctrl-home",
            "alt-f5",
            "ctrl-alt-a",
            "N",
            "[",
            "g g",
        ];
        for keys in sent {
            assert!(KeySequence::to_bind(keys).is_ok(), "{keys}");
        }
    }

    #[test]
    fn nonsense_says_what_is_expected() {
        for text in ["", "f13", "ctrl-", "hyper-x", "  ", "\u{7}"] {
            let error = text.parse::<Key>().unwrap_err();
            assert!(error.contains("expected a character"), "{error}");
        }
    }
}
