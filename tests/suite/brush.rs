//! What the brush writes looks as what crossterm writes, in fewer bytes.

use std::io;

use proptest::{prelude::*, sample::select};
use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};
use toolyard::ui::brush::Brush;

const WIDTH: u16 = 12;
const HEIGHT: u16 = 4;

/// A terminal with what backends wrote to it.
struct Seen(vt100::Parser);

impl Seen {
    fn new() -> Self {
        Self(vt100::Parser::new(HEIGHT.try_into().unwrap(), WIDTH.try_into().unwrap(), 0))
    }

    /// All that is seen of a cell; of a blank one only what is.
    fn cell(&self, x: u16, y: u16) -> impl PartialEq + std::fmt::Debug + use<> {
        let cell = self.0.screen().cell(y, x).unwrap();
        let is_blank = cell.contents().trim().is_empty() && !cell.inverse() && !cell.underline();
        let ink = (!is_blank).then(|| (cell.fgcolor(), cell.bold(), cell.dim(), cell.italic()));
        (cell.contents().trim().to_owned(), cell.bgcolor(), cell.inverse(), cell.underline(), ink)
    }
}

fn frames() -> impl Strategy<Value = Vec<Buffer>> {
    let symbols = select(vec![" ", " ", " ", "a", "b", "─", "█", "日", "e\u{301}"]);
    let colours = || {
        let some = vec![Color::Reset, Color::Red, Color::LightBlue, Color::Indexed(200)];
        prop_oneof![select(some), Just(Color::Rgb(1, 22, 233))]
    };
    let modifiers = any::<u16>().prop_map(|bits| {
        // The terminal of this test knows no others.
        let known = Modifier::BOLD | Modifier::DIM | Modifier::ITALIC | Modifier::UNDERLINED;
        let some = Modifier::from_bits_truncate(bits) & (known | Modifier::REVERSED);
        // It has one of these two at most.
        if some.contains(Modifier::BOLD) { some - Modifier::DIM } else { some }
    });
    let runs = prop::collection::vec((symbols, colours(), colours(), modifiers, 1usize..9), 48);
    let frame = runs.prop_map(|runs| {
        let mut buffer = Buffer::empty(Rect::new(0, 0, WIDTH, HEIGHT));
        let cells = runs.iter().flat_map(|(symbol, fg, bg, modifier, n)| {
            let mut cell = Cell::new(symbol);
            (cell.fg, cell.bg, cell.modifier) = (*fg, *bg, *modifier);
            std::iter::repeat_n(cell, *n)
        });
        buffer.content.iter_mut().zip(cells).for_each(|(old, new)| *old = new);
        // A wide character has room for both halves.
        for row in buffer.content.chunks_mut(usize::from(WIDTH)) {
            for at in 0..row.len() {
                if row[at].symbol() == "日" {
                    match row.get_mut(at + 1) {
                        Some(next) => {
                            let bg = next.bg;
                            *next = Cell::new(" ");
                            next.bg = bg;
                        }
                        None => row[at] = Cell::new("x"),
                    }
                }
            }
        }
        buffer
    });
    prop::collection::vec(frame, 1..6)
}

/// Draws what changes from one frame to the next; returns the number of bytes.
fn draw(frames: &[Buffer], seen: &mut Seen, write: impl Fn(&Buffer, &Buffer) -> Vec<u8>) -> usize {
    let empty = Buffer::empty(frames[0].area);
    let before = std::iter::once(&empty).chain(frames);
    before
        .zip(frames)
        .map(|(old, new)| {
            let bytes = write(old, new);
            seen.0.process(&bytes);
            bytes.len()
        })
        .sum()
}

fn written<B: Backend<Error = io::Error>>(mut backend: B, old: &Buffer, new: &Buffer) {
    backend.draw(old.diff(new).into_iter()).unwrap();
    backend.flush().unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn looks_as_crossterm_draws_it(frames in frames()) {
        let (mut ours, mut theirs) = (Seen::new(), Seen::new());
        let few = draw(&frames, &mut ours, |old, new| {
            let mut bytes = Vec::new();
            written(Brush::new(&mut bytes), old, new);
            bytes
        });
        let many = draw(&frames, &mut theirs, |old, new| {
            let mut bytes = Vec::new();
            written(CrosstermBackend::new(&mut bytes), old, new);
            bytes
        });
        for (x, y) in (0..WIDTH).flat_map(|x| (0..HEIGHT).map(move |y| (x, y))) {
            prop_assert_eq!(ours.cell(x, y), theirs.cell(x, y), "column {}, row {}", x, y);
        }
        prop_assert!(few <= many, "{few} bytes of {many}");
    }
}
