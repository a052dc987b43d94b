//! Reports of terminals between real keys, cut and delayed at random: no report becomes a key, and no key is lost. A million
//! reports; the time is simulated.

use std::time::{Duration, Instant};

use toolyard::ui::inputs::framer::{Framer, WAIT};
use toolyard::ui::inputs::{TerminalEvent, read};

use super::cases;
use crate::mutations::Numbers;

const REPORTS: usize = 1_000_000;

/// What a person does, as a terminal writes it.
const KEYS: [&str; 34] = [
    "a",
    "j",
    "q",
    ":",
    "]",
    "[",
    "P",
    "O",
    "X",
    "_",
    "^",
    "1",
    "G",
    "?",
    "\\",
    "é",
    "漢",
    " ",
    "\r",
    "\t",
    "\u{7f}",
    "\u{3}",
    "\u{1b}",
    "\u{1b}[A",
    "\u{1b}OP",
    "\u{1b}[15~",
    "\u{1b}[1;5C",
    "\u{1b}j",
    "\u{1b}é",
    "\u{1b}[97;5u",
    "\u{1b}[<0;3;4M",
    "\u{1b}[I",
    "\u{1b}[[B",
    "\u{1b}[200~\u{1b}]11;q\u{7}\r:\u{1b}[201\u{1b}[201~",
];

/// What terminals say by themselves or when asked, and other strings of the same kind.
const REPORTS_OF_ALL: [&str; 26] = [
    "\u{1b}]11;rgb:fdfd/f6f6/e3e3\u{1b}\\",
    "\u{1b}]10;rgb:00/00/00\u{7}",
    "\u{1b}]4;8;rgb:0000/2b2b/3636\u{1b}\\",
    "\u{1b}]52;c;cXVpdA==\u{7}",
    "\u{1b}]lq: a title\u{1b}\\",
    "\u{1b}]L漢字\u{1b}\\",
    "\u{1b}]99;i=1;:q\u{1b}\\",
    "\u{1b}P1+r544e=787465726d\u{1b}\\",
    "\u{1b}P>|XTerm(390)\u{1b}\\",
    "\u{1b}P!|00000000\u{1b}\\",
    "\u{1b}P1$r0;1m\u{1b}\\",
    "\u{1b}_Gi=31;OK\u{1b}\\",
    "\u{1b}_quit:q\u{1b}\\",
    "\u{1b}^quit:q\u{1b}\\",
    "\u{1b}Xquit:q\u{1b}\\",
    "\u{1b}[?62;4;22c",
    "\u{1b}[>41;390;0c",
    "\u{1b}[=0c",
    "\u{1b}[0n",
    "\u{1b}[24;80R",
    "\u{1b}[?2026;2$y",
    "\u{1b}[?1u",
    "\u{1b}[?997;1n",
    "\u{1b}[8;24;80t",
    "\u{1b}[48;24;80;480;800t",
    "\u{1b}[?2;0;800;480S",
];

const DELAYS: [u64; 10] = [0, 1, 5, 20, 49, 51, 80, 150, 500, 2500];

/// The time, and what has come.
struct Terminal {
    framer: Framer,
    now: Instant,
    said: Vec<TerminalEvent>,
}

impl Terminal {
    fn write(&mut self, bytes: &[u8], delay: u64) {
        self.now += Duration::from_millis(delay);
        self.framer.feed(bytes, self.now);
        self.hear();
    }

    fn wait(&mut self, time: Duration) {
        self.now += time;
        self.framer.pass(self.now);
        self.hear();
    }

    fn hear(&mut self) {
        while let Some(unit) = self.framer.unit() {
            self.said.extend(read(unit).filter(|news| matches!(news, TerminalEvent::Input(_))));
        }
    }

    fn said(&mut self) -> Vec<TerminalEvent> {
        std::mem::take(&mut self.said)
    }
}

/// What these bytes are where they come alone and at once.
fn meaning(bytes: &str) -> Vec<TerminalEvent> {
    let now = Instant::now();
    let mut alone = Terminal { framer: Framer::new(now), now, said: Vec::new() };
    alone.write(bytes.as_bytes(), 0);
    alone.wait(WAIT);
    alone.said()
}

/// The report in one to five pieces, with the delay before each. The strings that no terminal sends by itself are known by
/// their first two bytes only.
fn pieces<'r>(numbers: &mut Numbers, report: &'r [u8]) -> Vec<(&'r [u8], u64)> {
    let from =
        if matches!(report, [0x1b, b'X' | b'^', ..] | [0x1b, b'_', b'q', ..]) { 2 } else { 1 };
    let mut cuts: Vec<usize> =
        (0..numbers.below(5)).map(|_| from + numbers.below(report.len() - from)).collect();
    cuts.extend([0, report.len()]);
    cuts.sort_unstable();
    cuts.dedup();
    let all = cuts.windows(2).map(|ends| &report[ends[0]..ends[1]]);
    all.map(|piece| (piece, DELAYS[numbers.below(DELAYS.len())])).collect()
}

/// The bytes of a report that nobody can tell from typed keys: an ESC that comes alone, and single bytes behind it.
fn could_be_typed(pieces: &[(&[u8], u64)]) -> Vec<u8> {
    let comes_apart = pieces.get(1).is_some_and(|(_, delay)| *delay > 1);
    if pieces[0].0 != b"\x1b" || !comes_apart {
        return Vec::new();
    }
    let singles = pieces.iter().map(|(piece, _)| piece).take_while(|piece| piece.len() == 1);
    singles.copied().flatten().copied().collect()
}

/// The same report with controls of eight bits.
fn of_eight_bits(report: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = report.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(if byte == 0x1b { rest.next().unwrap() + 0x40 } else { byte });
    }
    bytes
}

#[test]
fn no_report_becomes_a_key_and_no_key_is_lost() {
    let mut numbers = Numbers(0);
    let keys = KEYS.map(|key| (key.as_bytes(), meaning(key)));
    assert!(keys.iter().all(|(_, meaning)| meaning.len() == 1), "{keys:?}");
    let now = Instant::now();
    let mut terminal = Terminal { framer: Framer::new(now), now, said: Vec::new() };
    let (mut escapes, mut more, mut cut) = (0, 0, 0);
    for case in 0..cases(REPORTS) {
        // Two keys that are read apart from all else.
        for _ in 0..2 {
            let (bytes, meaning) = &keys[numbers.below(keys.len())];
            terminal.write(bytes, [60, 150, 700][numbers.below(3)]);
            terminal.wait(WAIT);
            assert_eq!(terminal.said(), *meaning, "case {case}: {bytes:?}");
        }
        let report = REPORTS_OF_ALL[numbers.below(REPORTS_OF_ALL.len())];
        let is_eight = report.is_ascii() && numbers.below(8) == 0;
        let report = if is_eight { of_eight_bits(report) } else { report.into() };
        let mut pieces = pieces(&mut numbers, &report);
        let could_be = could_be_typed(&pieces);
        // One key that comes together with the first piece, and one together with the last.
        let (before, meaning_before) = &keys[numbers.below(keys.len())];
        let (after, meaning_after) = &keys[numbers.below(keys.len())];
        let first = [*before, pieces[0].0].concat();
        pieces[0].0 = &first;
        let last = [pieces[pieces.len() - 1].0, *after].concat();
        let end = pieces.len() - 1;
        pieces[end].0 = &last;
        let is_asked = numbers.below(4) == 0;
        terminal.framer.expect(is_asked.then(|| terminal.now + Duration::from_secs(60)));
        for (piece, delay) in &pieces {
            terminal.write(piece, *delay);
        }
        terminal.wait(WAIT);
        terminal.framer.expect(None);
        terminal.wait(WAIT);
        let said = terminal.said();
        let between = said.strip_prefix(&**meaning_before);
        let between = between.and_then(|rest| rest.strip_suffix(&**meaning_after));
        let about = format!("case {case}: {pieces:?}: {said:?}");
        let between = between.unwrap_or_else(|| panic!("a key is lost: {about}"));
        let characters = could_be.iter().filter(|byte| byte.is_ascii());
        let allowed: Vec<TerminalEvent> =
            characters.flat_map(|byte| meaning(&char::from(*byte).to_string())).collect();
        assert!(allowed.starts_with(between), "a report is a key: {about}");
        cut += usize::from(pieces.len() > 1);
        let is_answer = report.starts_with(b"\x1b]1") || report.starts_with(b"\x1b[?62");
        let is_owed = is_asked && is_answer;
        assert!(!is_owed || between.len() < 2, "an answer is keys: {about}");
        escapes += usize::from(between.len() == 1);
        more += usize::from(between.len() > 1);
    }
    let reports = cases(REPORTS);
    println!(
        "{reports} reports, {cut} of them cut; Escape was read {escapes} times, and more keys {more} times"
    );
    assert!(escapes * 10 < reports && more * 50 < reports);
}
