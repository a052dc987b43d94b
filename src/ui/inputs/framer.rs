//! Cuts what a terminal sends into units: one key, one report, one paste. A report is what a terminal says by itself, such as
//! its colours, and it comes between keys, in any pieces and late. Two keys look like the beginning of a report: Escape, and
//! Alt with `[`, `]`, `P`, `O`, `X`, `^` or `_`. Time and the bytes that follow tell them apart. The clock is the caller's.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::grammar::{self, EscapeKind};

/// How long an Escape waits for what may follow it. A person does not notice it, and what a terminal writes at once comes
/// sooner.
pub const WAIT: Duration = Duration::from_millis(50);

/// Bytes that come sooner than this after an Escape were written together with it.
const TOGETHER: Duration = Duration::from_millis(2);

/// Bytes that all come sooner than this after each other are no keys of a person.
const QUICK: Duration = Duration::from_millis(45);

/// The pause after which Ctrl-C ends a paste whose end does not come.
const STUCK: Duration = Duration::from_secs(1);

/// The most bytes of a paste that are taken.
pub const MOST_PASTED: usize = 1024 * 1024;

/// How long a report or a paste may pause. After that, what comes is keys again, so that nothing locks a person out for ever.
pub const LIMIT: Duration = Duration::from_secs(60);

/// Bytes that are kept of a report. No key and no answer is longer.
const LONGEST: usize = 256;

const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;
/// Ctrl-C.
const INTERRUPT: u8 = 0x03;
const PASTE: &[u8] = b"\x1b[200~";
const PASTED: &[u8] = b"\x1b[201~";

/// Bytes that a terminal sent as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A key, a mouse event or a report, with all its bytes. The end of a string is left out.
    Sequence(Vec<u8>),
    Paste(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FramerState {
    Ground,
    /// A character of which this many bytes are missing.
    Character(usize),
    /// After an ESC.
    Escape,
    /// After `ESC [`.
    Control,
    /// A mouse event in the form of X10, of which this many bytes are missing.
    Mouse(usize),
    /// After `ESC O`.
    Single,
    /// In an OSC, DCS, APC, PM or SOS; whether an eight-bit control began it.
    String(bool),
    Paste,
}

/// Confidence that the bytes from ESC on are not typed keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trust {
    Sure,
    /// ESC and the next byte came together, and nothing else. No key that is used sends that.
    Paired,
    /// ESC came alone.
    Alone,
}

/// The state between two pieces.
#[derive(Debug)]
pub struct Framer {
    state: FramerState,
    trust: Trust,
    /// The bytes of the unit so far.
    unit: Vec<u8>,
    /// How many bytes of the unit were returned as keys, since nothing followed in time.
    told: usize,
    /// Whether the ESC ended a string, so that it is not a key.
    ends_string: bool,
    /// Whether all bytes after the ESC came quickly.
    is_quick: bool,
    /// When the last bytes came.
    last: Instant,
    /// Until when the terminal owes an answer.
    asked: Option<Instant>,
    units: VecDeque<Unit>,
}

impl Framer {
    pub fn new(now: Instant) -> Self {
        Self {
            state: FramerState::Ground,
            trust: Trust::Sure,
            unit: Vec::new(),
            told: 0,
            ends_string: false,
            is_quick: false,
            last: now,
            asked: None,
            units: VecDeque::new(),
        }
    }

    /// The terminal owes an answer until then; `None`: it has given it.
    pub fn expect(&mut self, until: Option<Instant>) {
        self.asked = until;
    }

    /// The next whole unit.
    pub fn unit(&mut self) -> Option<Unit> {
        self.units.pop_front()
    }

    /// Takes the bytes that came at this time.
    pub fn feed(&mut self, bytes: &[u8], now: Instant) {
        self.pass(now);
        let pause = now.saturating_duration_since(self.last);
        if pause < TOGETHER && self.told == 0 {
            self.trust = Trust::Sure;
        }
        self.is_quick &= pause < QUICK;
        self.last = now;
        if self.state == FramerState::Paste && bytes == [INTERRUPT] && pause >= STUCK {
            self.end_paste();
        }
        let mut rest = bytes;
        if self.ends_string && self.state == FramerState::Escape && rest.first() == Some(&b'\\') {
            self.reset();
            rest = &rest[1..];
        }
        self.judge(rest);
        rest.iter().for_each(|byte| self.step(*byte));
        self.trust = match (self.trust, self.state, self.unit.len()) {
            (Trust::Sure, FramerState::Escape, _) => {
                self.is_quick = true;
                Trust::Alone
            }
            (Trust::Sure, FramerState::String(_) | FramerState::Single, 2) => Trust::Paired,
            (trust, ..) => trust,
        };
    }

    /// The time at which a decision is due without further bytes.
    pub fn due(&self) -> Option<Instant> {
        let is_told = self.told == self.unit.len();
        match (self.state, self.trust) {
            (FramerState::Ground, _) => None,
            (_, Trust::Alone) if is_told => Some(self.last + LIMIT),
            (_, Trust::Alone) => {
                let soon = self.last + WAIT;
                // These probably begin the answer.
                let asked = self.asked.filter(|_| matches!(self.unit.get(1), Some(b'[' | b']')));
                Some(asked.map_or(soon, |asked| asked.max(soon)))
            }
            (_, Trust::Sure | Trust::Paired) => Some(self.last + LIMIT),
        }
    }

    /// Makes the decisions that are due.
    pub fn pass(&mut self, now: Instant) {
        while self.due().is_some_and(|due| due <= now) {
            if self.state == FramerState::Paste {
                self.end_paste();
            } else if self.trust == Trust::Alone && self.told < self.unit.len() {
                self.tell();
            } else {
                self.give_up();
            }
        }
    }

    /// Decides by the next bytes whether the unit is a report.
    fn judge(&mut self, bytes: &[u8]) {
        let Some(first) = bytes.first() else { return };
        let begun = self.unit.get(1..).unwrap_or_default();
        let reading = match self.trust {
            Trust::Sure => return,
            Trust::Paired => grammar::paired(begun, *first),
            Trust::Alone => grammar::apart(&[begun, bytes].concat(), bytes.len(), self.is_quick),
        };
        match reading {
            EscapeKind::Report => (self.trust, self.told) = (Trust::Sure, 0),
            EscapeKind::Maybe => {}
            EscapeKind::Keys => self.give_up(),
        }
    }

    /// Returns as keys the bytes that may still be the beginning of a report.
    fn tell(&mut self) {
        let from = if self.ends_string { self.told.max(1) } else { self.told };
        let keys = self.unit.iter().skip(from).map(|byte| Unit::Sequence(vec![*byte]));
        self.units.extend(keys);
        self.told = self.unit.len();
    }

    /// Gives up the unit. Its bytes become keys if ESC came alone, and are dropped otherwise.
    fn give_up(&mut self) {
        if self.trust == Trust::Alone {
            self.tell();
        }
        self.reset();
    }

    fn reset(&mut self) {
        self.unit.clear();
        (self.state, self.trust, self.told) = (FramerState::Ground, Trust::Sure, 0);
        self.ends_string = false;
    }

    fn emit(&mut self) {
        let unit = std::mem::take(&mut self.unit);
        self.units.push_back(Unit::Sequence(unit));
        self.reset();
    }

    fn enter(&mut self, state: FramerState, byte: u8) {
        self.state = state;
        self.unit.push(byte);
    }

    /// Adds the byte, unless the unit has its greatest length.
    fn keep(&mut self, byte: u8) {
        if self.unit.len() < LONGEST {
            self.unit.push(byte);
        }
    }

    /// Starts again with a byte that cannot belong to the unit so far.
    fn again(&mut self, byte: u8) {
        self.reset();
        self.step(byte);
    }

    fn step(&mut self, byte: u8) {
        match self.state {
            FramerState::Ground if byte == ESC => self.enter(FramerState::Escape, byte),
            FramerState::Ground => self.begin(byte),
            FramerState::Character(more) => self.character(more, byte),
            FramerState::Escape => self.escape(byte),
            FramerState::Control => self.control(byte),
            FramerState::Mouse(_) | FramerState::Single if byte < b' ' => self.again(byte),
            FramerState::Single if byte >= 0x7f => self.again(byte),
            FramerState::Mouse(more) => {
                self.unit.push(byte);
                self.state = FramerState::Mouse(more - 1);
                if more == 1 {
                    self.emit();
                }
            }
            FramerState::Single => {
                self.keep(byte);
                // Some terminals write modifiers before the letter.
                if !matches!(byte, b'0'..=b'9' | b';') {
                    self.emit();
                }
            }
            FramerState::String(is_eight) => self.string(is_eight, byte),
            FramerState::Paste => self.paste(byte),
        }
    }

    /// Takes a byte that begins a unit, or that follows ESC as a key pressed together with Alt.
    fn begin(&mut self, byte: u8) {
        match byte {
            0xc2..=0xdf => self.enter(FramerState::Character(1), byte),
            0xe0..=0xef => self.enter(FramerState::Character(2), byte),
            0xf0..=0xf4 => self.enter(FramerState::Character(3), byte),
            0x80.. => match grammar::introducer(byte) {
                Some(letter) => {
                    self.unit.push(ESC);
                    self.introduce(letter, true);
                }
                None => self.reset(),
            },
            _ => {
                self.unit.push(byte);
                self.emit();
            }
        }
    }

    fn character(&mut self, more: usize, byte: u8) {
        if !matches!(byte, 0x80..=0xbf) {
            return self.again(byte);
        }
        self.enter(FramerState::Character(more - 1), byte);
        match (more, &*self.unit) {
            // A control of eight bits, in UTF-8.
            (1, [0xc2, 0x80..=0x9f]) => {
                self.reset();
                self.begin(byte);
            }
            (1, _) => self.emit(),
            _ => {}
        }
    }

    fn escape(&mut self, byte: u8) {
        match byte {
            b'\\' if self.ends_string => self.reset(),
            ESC | 0x80..=0x9f => {
                self.tell();
                self.again(byte);
            }
            b'[' | b'O' | b']' | b'P' | b'_' | b'^' | b'X' => self.introduce(byte, false),
            _ => self.begin(byte),
        }
    }

    /// Takes the byte that says what ESC begins.
    fn introduce(&mut self, letter: u8, is_eight: bool) {
        let state = match letter {
            b'[' => FramerState::Control,
            b'O' => FramerState::Single,
            _ => FramerState::String(is_eight),
        };
        self.enter(state, letter);
    }

    fn control(&mut self, byte: u8) {
        let is_linux = self.unit == b"\x1b[[";
        match byte {
            // The Linux console has keys `ESC [ [ A`.
            b'[' if self.unit.len() == 2 => self.unit.push(byte),
            b' '..=b'?' if !is_linux => self.keep(byte),
            b'@'..=b'~' => {
                self.keep(byte);
                match &*self.unit {
                    b"\x1b[M" => self.state = FramerState::Mouse(3),
                    PASTE => {
                        self.unit.clear();
                        self.state = FramerState::Paste;
                    }
                    _ => self.emit(),
                }
            }
            _ => self.again(byte),
        }
    }

    /// No report contains a control character, so one ends a false report: a person can always get out by Enter, Escape
    /// or Ctrl-C.
    fn string(&mut self, is_eight: bool, byte: u8) {
        match byte {
            BEL => self.emit(),
            0x9c if is_eight => self.emit(),
            ESC => {
                self.emit();
                self.enter(FramerState::Escape, byte);
                self.ends_string = true;
            }
            0..b' ' | 0x7f => self.again(byte),
            _ => self.keep(byte),
        }
    }

    fn paste(&mut self, byte: u8) {
        self.unit.push(byte);
        if self.unit.ends_with(PASTED) {
            self.unit.truncate(self.unit.len() - PASTED.len());
            self.end_paste();
        } else if self.unit.len() > MOST_PASTED + PASTED.len() {
            // Of the rest, only what may be its end.
            self.unit.remove(MOST_PASTED);
        }
    }

    fn end_paste(&mut self) {
        let text = &self.unit[..self.unit.len().min(MOST_PASTED)];
        self.units.push_back(Unit::Paste(String::from_utf8_lossy(text).into_owned()));
        self.reset();
    }
}
