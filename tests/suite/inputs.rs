//! What a terminal sends, in pieces and late: keys are keys, and reports are none. The time is simulated.

use std::slice::from_ref;
use std::time::{Duration, Instant};

use ratatui::crossterm::event::{
    Event as Input, KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use toolyard::ui::inputs::framer::{Framer, LIMIT, MOST_PASTED, WAIT};
use toolyard::ui::inputs::{TerminalEvent, read};

use crate::mutations::Numbers;

/// The time, and what came so far.
struct Terminal {
    framer: Framer,
    now: Instant,
}

impl Terminal {
    fn new() -> Self {
        let now = Instant::now();
        Self { framer: Framer::new(now), now }
    }

    /// What these bytes give at once, after a pause.
    fn write(&mut self, bytes: impl AsRef<[u8]>, after: u64) -> Vec<TerminalEvent> {
        self.now += Duration::from_millis(after);
        self.framer.feed(bytes.as_ref(), self.now);
        self.news()
    }

    /// What comes while nothing is sent.
    fn wait(&mut self, time: Duration) -> Vec<TerminalEvent> {
        self.now += time;
        self.framer.pass(self.now);
        self.news()
    }

    fn news(&mut self) -> Vec<TerminalEvent> {
        std::iter::from_fn(|| self.framer.unit()).filter_map(read).collect()
    }
}

fn key(code: KeyCode) -> TerminalEvent {
    held(code, KeyModifiers::NONE)
}

fn held(code: KeyCode, modifiers: KeyModifiers) -> TerminalEvent {
    TerminalEvent::Input(Input::Key(KeyEvent::new(code, modifiers)))
}

fn typed(c: char) -> TerminalEvent {
    let shift = if c.is_uppercase() { KeyModifiers::SHIFT } else { KeyModifiers::NONE };
    held(KeyCode::Char(c), shift)
}

const LATE: [u64; 5] = [80, 150, 500, 2500, 25_000];

#[test]
fn a_late_answer_about_colours_is_no_key_wherever_it_is_cut() {
    let answer = "\x1b]11;rgb:fdfd/f6f6/e3e3\x1b\\";
    let ground = TerminalEvent::Ground((0xfd, 0xf6, 0xe3));
    for late in LATE {
        assert_eq!(Terminal::new().write(answer, late), from_ref(&ground));
        for cut in 2..answer.len() {
            let mut terminal = Terminal::new();
            let mut news = terminal.write(&answer[..cut], 80);
            news.extend(terminal.write(&answer[cut..], late));
            news.extend(terminal.wait(WAIT));
            assert_eq!(news, from_ref(&ground), "cut at {cut}, {late} ms");
            assert_eq!(terminal.write(":", 0), [typed(':')]);
        }
        // Nobody can tell an ESC that comes alone from Escape; what follows is no key.
        let mut terminal = Terminal::new();
        let mut news = terminal.write("\x1b", 80);
        news.extend(terminal.write(&answer[1..], late));
        assert_eq!(news, [key(KeyCode::Esc), ground.clone()]);
    }
}

#[test]
fn the_answer_that_is_owed_gives_escape_at_most_also_in_single_bytes() {
    for report in ["\x1b]11;rgb:0/0/0\x07", "\x1b[?62;4c"] {
        for late in LATE {
            let mut terminal = Terminal::new();
            terminal.framer.expect(Some(terminal.now + Duration::from_secs(1000)));
            let mut news = Vec::new();
            for byte in &report.as_bytes()[..3] {
                news.extend(terminal.write([*byte], late));
            }
            news.extend(terminal.write(&report[3..], late));
            assert_eq!(news.len(), 2, "{report:?}: {news:?}");
            assert_eq!(news[0], key(KeyCode::Esc));
            assert!(
                matches!(news[1], TerminalEvent::Ground((0, 0, 0)) | TerminalEvent::Answered),
                "{news:?}"
            );
        }
    }
}

#[test]
fn strings_and_reports_that_come_unasked_are_no_keys() {
    for report in [
        "\x1bP1+r544e\x1b\\",
        "\x1bP>|XTerm(390)\x1b\\",
        "\x1b_Gi=1;OK\x1b\\",
        "\x1b^:q\x1b\\",
        "\x1bX:q\x1b\\",
        "\x1b]52;c;OnE=\x07",
        "\x1b]l:q\x1b\\",
        "\x1b]10;rgb:ffff/ffff/ffff\x07",
        "\x1b[24;80R",
        "\x1b[>41;390;0c",
        "\x1b[?2026;2$y",
        "\x1b[8;24;80t",
        "\x1b[?1u",
        "\x1b[0n",
        "\x1b[<0;0;0M",
        "\x1b[32;0;1M",
        "\x1b[",
        "\x1bO",
    ] {
        for late in LATE {
            for cut in 2..=report.len() {
                let mut terminal = Terminal::new();
                let mut news = terminal.write(&report[..cut], 80);
                news.extend(terminal.write(&report[cut..], late));
                assert_eq!(news, [], "{report:?} cut at {cut}, {late} ms");
            }
        }
    }
    // The same with controls of eight bits, which are no characters.
    assert_eq!(Terminal::new().write(b"\x9d11;rgb:0/0/0\x9c:", 0).last(), Some(&typed(':')));
    assert_eq!(Terminal::new().write(b"\x901+r544e\x9c", 0), []);
    assert_eq!(Terminal::new().write(b"\x9b?62;4c", 0), [TerminalEvent::Answered]);
}

#[test]
fn keys_are_what_they_are_and_come_at_once() {
    let (alt, ctrl) = (KeyModifiers::ALT, KeyModifiers::CONTROL);
    for (bytes, expected) in [
        ("a", typed('a')),
        ("A", typed('A')),
        ("é", typed('é')),
        ("漢", typed('漢')),
        ("\r", key(KeyCode::Enter)),
        ("\t", key(KeyCode::Tab)),
        ("\x7f", key(KeyCode::Backspace)),
        ("\x03", held(KeyCode::Char('c'), ctrl)),
        ("\x08", held(KeyCode::Char('h'), ctrl)),
        ("\0", held(KeyCode::Char(' '), ctrl)),
        ("\x1c", held(KeyCode::Char('4'), ctrl)),
        ("\x1b[A", key(KeyCode::Up)),
        ("\x1bOB", key(KeyCode::Down)),
        ("\x1b[H", key(KeyCode::Home)),
        ("\x1b[1;3C", held(KeyCode::Right, alt)),
        ("\x1b[3~", key(KeyCode::Delete)),
        ("\x1b[5;5~", held(KeyCode::PageUp, ctrl)),
        ("\x1bOP", key(KeyCode::F(1))),
        ("\x1b[[E", key(KeyCode::F(5))),
        ("\x1b[24~", key(KeyCode::F(12))),
        ("\x1b[Z", held(KeyCode::BackTab, KeyModifiers::SHIFT)),
        ("\x1bj", held(KeyCode::Char('j'), alt)),
        ("\x1b\r", held(KeyCode::Enter, alt)),
        ("\x1bé", held(KeyCode::Char('é'), alt)),
        ("\x1b[97;5u", held(KeyCode::Char('a'), ctrl)),
        ("\x1b[27u", key(KeyCode::Esc)),
        ("\x1b[I", TerminalEvent::Input(Input::FocusGained)),
        ("\x1b[O", TerminalEvent::Input(Input::FocusLost)),
    ] {
        assert_eq!(Terminal::new().write(bytes, 0), from_ref(&expected), "{bytes:?}");
        // Cut by the network, as long as it is soon after an ESC.
        for cut in (1..bytes.len()).filter(|cut| *cut > 1 || bytes.len() > 2) {
            let mut terminal = Terminal::new();
            let mut news = terminal.write(&bytes.as_bytes()[..cut], 0);
            news.extend(terminal.write(&bytes.as_bytes()[cut..], if cut == 1 { 1 } else { 500 }));
            assert_eq!(news, from_ref(&expected), "{bytes:?} cut at {cut}");
        }
    }
    let event = |kind, bytes: &[u8]| {
        let modifiers = KeyModifiers::NONE;
        let mouse = MouseEvent { kind, column: 2, row: 3, modifiers };
        assert_eq!(Terminal::new().write(bytes, 0), [TerminalEvent::Input(Input::Mouse(mouse))]);
    };
    event(MouseEventKind::Down(MouseButton::Left), b"\x1b[<0;3;4M");
    event(MouseEventKind::Up(MouseButton::Left), b"\x1b[<0;3;4m");
    event(MouseEventKind::ScrollDown, b"\x1b[<65;3;4M");
    event(MouseEventKind::Down(MouseButton::Left), b"\x1b[M #$");
}

#[test]
fn escape_is_told_from_what_follows_it() {
    let mut terminal = Terminal::new();
    assert_eq!(terminal.write("\x1b", 0), []);
    assert_eq!(terminal.wait(WAIT - Duration::from_millis(1)), []);
    assert_eq!(terminal.wait(Duration::from_millis(1)), [key(KeyCode::Esc)]);
    assert_eq!(terminal.wait(LIMIT), [], "it comes once");
    // A key soon after it is no key with Alt.
    terminal.write("\x1b", 100);
    assert_eq!(terminal.write("j", 5), [key(KeyCode::Esc), typed('j')]);
    // Keys that are written together.
    assert_eq!(terminal.write("\x1b\x1b[A", 5), [key(KeyCode::Esc), key(KeyCode::Up)]);
    assert_eq!(terminal.write("\x1b\x1b\x1b", 5), [key(KeyCode::Esc), key(KeyCode::Esc)]);
    assert_eq!(terminal.wait(WAIT), [key(KeyCode::Esc)]);
    // Letters that could begin a report, typed after it.
    for c in ['[', ']', 'P', 'O', 'X', '^', '_'] {
        for pause in [5, 30, 300, 3000] {
            let mut terminal = Terminal::new();
            let mut news = terminal.write("\x1b", 0);
            news.extend(terminal.write(c.to_string(), pause));
            news.extend(terminal.wait(WAIT));
            assert_eq!(news, [key(KeyCode::Esc), typed(c)], "{c} after {pause} ms");
            assert_eq!(terminal.write("jk", 10), [typed('j'), typed('k')]);
        }
    }
}

#[test]
fn a_key_that_looks_like_the_beginning_of_a_report_locks_nobody_out() {
    for begun in ["\x1b]", "\x1bP", "\x1bX", "\x1b_", "\x1b^", "\x1b]1", "\x1bXq", "\x1b[", "\x1bO"]
    {
        // A control character ends it, Escape ends it, and so does time.
        let mut terminal = Terminal::new();
        terminal.write(begun, 0);
        assert_eq!(terminal.write("\r", 100), [key(KeyCode::Enter)], "{begun:?}");
        assert_eq!(terminal.write("q", 100), [typed('q')], "{begun:?}");
        terminal.write(begun, 100);
        terminal.write("\x1b", 100);
        terminal.wait(WAIT);
        assert_eq!(terminal.write("q", 100), [typed('q')], "{begun:?}");
        terminal.write(begun, 100);
        terminal.wait(LIMIT);
        assert_eq!(terminal.write("q", 0), [typed('q')], "{begun:?}");
    }
    // Letters that no report has there end it at once.
    for begun in ["\x1b]", "\x1bP"] {
        let mut terminal = Terminal::new();
        terminal.write(begun, 0);
        assert_eq!(terminal.write("j", 100), [typed('j')], "{begun:?}");
    }
}

#[test]
fn a_paste_is_one_text_whatever_is_in_it() {
    let text = "\x1b]11;rgb:0/0/0\x07\r:q\x1b[201\x1b\\\x03é";
    let paste = format!("\x1b[200~{text}\x1b[201~");
    let expected = TerminalEvent::Input(Input::Paste(text.to_owned()));
    for cut in 2..paste.len() {
        for late in LATE {
            let mut terminal = Terminal::new();
            let mut news = terminal.write(&paste.as_bytes()[..cut], 0);
            news.extend(terminal.wait(LIMIT / 2));
            news.extend(terminal.write(&paste.as_bytes()[cut..], late));
            news.extend(terminal.write("j", 1));
            assert_eq!(news, [expected.clone(), typed('j')], "cut at {cut}");
        }
    }
}

#[test]
fn a_paste_without_an_end_locks_nobody_out_and_is_bounded() {
    let pasted = |text: &str| TerminalEvent::Input(Input::Paste(text.to_owned()));
    let ctrl_c = held(KeyCode::Char('c'), KeyModifiers::CONTROL);
    let begin = || {
        let mut terminal = Terminal::new();
        assert!(terminal.write("\x1b[200~hello", 0).is_empty());
        terminal
    };
    assert_eq!(begin().write([3], 1500), [pasted("hello"), ctrl_c]);
    assert!(begin().write([3], 10).is_empty(), "a part of the text");
    assert_eq!(begin().wait(LIMIT), [pasted("hello")]);
    let mut terminal = Terminal::new();
    terminal.write("\x1b[200~", 0);
    terminal.write("a".repeat(3 * MOST_PASTED), 0);
    assert_eq!(terminal.write("\x1b[201~", 0), [pasted(&"a".repeat(MOST_PASTED))]);
}

#[test]
fn an_answer_byte_by_byte_is_no_key_and_neither_are_eight_bit_controls_in_utf_8() {
    for gap in [2, 5, 10, 30] {
        for late in LATE {
            let mut terminal = Terminal::new();
            let answer = b"\x1b]11;rgb:fdfd/f6f6/e3e3\x1b\\";
            let mut news = terminal.write(&answer[..1], late);
            for byte in &answer[1..] {
                news.extend(terminal.write([*byte], gap));
            }
            assert_eq!(news, [TerminalEvent::Ground((0xfd, 0xf6, 0xe3))], "{gap} ms, {late} ms");
        }
    }
    for control in ["\u{9b}>1;2c", "\u{9d}11;:q\u{7}", "\u{85}"] {
        let mut terminal = Terminal::new();
        assert!(terminal.write(control, 80).is_empty(), "{control:?}");
        assert_eq!(terminal.write("q", 80), [typed('q')]);
    }
}

#[test]
fn a_long_report_is_no_key_and_takes_no_memory_for_long() {
    let mut terminal = Terminal::new();
    assert_eq!(terminal.write("\x1b]52;c;", 0), []);
    for _ in 0..1000 {
        assert_eq!(terminal.write("QUJD".repeat(100), 0), []);
    }
    assert_eq!(terminal.write("\x07j", 0), [typed('j')]);
}

#[test]
fn bytes_that_are_no_text_lose_no_key() {
    for bytes in [&b"\xc3j"[..], b"\xff\xfej", b"\xe6\xbcj", b"\xc0\xafj", b"\x1b\xc3j"] {
        assert_eq!(Terminal::new().write(bytes, 0), [typed('j')], "{bytes:?}");
    }
}

#[test]
fn no_bytes_break_it_and_a_key_comes_through_behind_all() {
    const PIECES: [&[u8]; 32] = [
        b"\x1b",
        b"[",
        b"]",
        b"O",
        b"P",
        b"X",
        b"_",
        b"<",
        b">",
        b"?",
        b";",
        b":",
        b"0",
        b"1",
        b"9999999999",
        b"+0",
        b" ",
        b"$",
        b"M",
        b"m",
        b"~",
        b"u",
        b"R",
        b"A",
        b"200~",
        b"201~",
        b"11;rgb:",
        b"#f",
        b"\x07",
        b"\x9b",
        b"\xc3",
        "é漢".as_bytes(),
    ];
    let mut numbers = Numbers(7);
    for case in 0..50_000 {
        let mut terminal = Terminal::new();
        for _ in 0..numbers.below(12) {
            let bytes: Vec<u8> = (0..numbers.below(8))
                .flat_map(|_| PIECES[numbers.below(PIECES.len())])
                .copied()
                .collect();
            terminal.write(bytes, [0, 1, 30, 80, 2500][numbers.below(5)]);
        }
        terminal.wait(LIMIT);
        terminal.wait(LIMIT);
        terminal.write("\x1b[201~", 0);
        assert_eq!(terminal.write("q", 100).last(), Some(&typed('q')), "case {case}");
    }
    // The parser of mouse events counts down from these places.
    for places in ["0;0;0M", "0;+0;1M", "0;1;00m", "0;;M", "0;0M"] {
        assert_eq!(Terminal::new().write(format!("\x1b[<{places}"), 0), []);
        assert_eq!(Terminal::new().write(format!("\x1b[3{places}"), 0), []);
    }
}
