//! Lines on a grid of cells, joined with box-drawing characters. Each stroke belongs to a *net*:
//! strokes of one net join where they meet, strokes of different nets pass over each other, so that
//! a crossing can never be read as a junction.

/// How strongly a line is drawn, weakest first; where lines share a cell the strongest shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ink {
    #[default]
    Faint,
    Plain,
    /// Of the node that is looked at.
    Strong,
    /// Of the way the agent went: the only one drawn with heavy characters.
    Path,
}

/// Strokes from the middle of a cell: 0 none, 1 light, 2 heavy; up, right, down, left.
type Arms = [u8; 4];
const UP: usize = 0;
const RIGHT: usize = 1;
const DOWN: usize = 2;
const LEFT: usize = 3;

#[derive(Clone, Copy, Debug)]
struct Stroke {
    net: u32,
    arms: Arms,
    ink: Ink,
}

/// A window on a larger drawing: what falls outside is not kept.
#[derive(Debug)]
pub struct Lines {
    left: usize,
    top: usize,
    width: usize,
    height: usize,
    cells: Vec<[Option<Stroke>; 2]>,
}

/// A place on the drawing: column, row.
pub type Place = (usize, usize);

impl Lines {
    /// An empty window with its upper left corner at `corner`.
    pub fn new(corner: Place, width: usize, height: usize) -> Self {
        let (left, top) = corner;
        Self { left, top, width, height, cells: vec![[None; 2]; width * height] }
    }

    /// Draws a straight line between two places of one row or one column, both included.
    pub fn draw(&mut self, from: Place, to: Place, net: u32, ink: Ink) {
        let heavy = if ink == Ink::Path { 2 } else { 1 };
        let (from, to) = if from <= to { (from, to) } else { (to, from) };
        let (before, after) = if from.1 == to.1 { (LEFT, RIGHT) } else { (UP, DOWN) };
        // Only the part inside the window: a drawing may be far larger than what is looked at.
        let right = (self.left + self.width).saturating_sub(1);
        let bottom = (self.top + self.height).saturating_sub(1);
        for x in from.0.max(self.left)..=to.0.min(right) {
            for y in from.1.max(self.top)..=to.1.min(bottom) {
                let mut arms = [0; 4];
                arms[before] = if (x, y) == from { 0 } else { heavy };
                arms[after] = if (x, y) == to { 0 } else { heavy };
                self.put((x, y), Stroke { net, arms, ink });
            }
        }
    }

    fn put(&mut self, at: Place, stroke: Stroke) {
        let Some(i) = self.index(at) else { return };
        let [first, second] = &mut self.cells[i];
        let slot = match (&first, &second) {
            (None, _) => first,
            (Some(old), _) if old.net == stroke.net => first,
            // A third net in one cell joins the second: nothing better can be drawn.
            (Some(_), _) => second,
        };
        match slot {
            Some(old) => {
                old.arms = joined(old.arms, stroke.arms);
                old.ink = old.ink.max(stroke.ink);
            }
            None => *slot = Some(stroke),
        }
    }

    fn index(&self, (x, y): Place) -> Option<usize> {
        let (x, y) = (x.checked_sub(self.left)?, y.checked_sub(self.top)?);
        (x < self.width && y < self.height).then_some(y * self.width + x)
    }

    /// What stands in a cell, if any line passes there.
    pub fn glyph(&self, at: Place) -> Option<(char, Ink)> {
        let [first, second] = self.cells[self.index(at)?];
        let (first, second) = match (first, second) {
            (None, _) => return None,
            (Some(one), None) => return Some((character(one.arms), one.ink)),
            (Some(first), Some(second)) => (first, second),
        };
        if crosses(first.arms, second.arms) {
            // The stronger passes over; among equals the vertical, which is the shorter gap.
            let first_on_top = (first.ink, first.arms[UP]) >= (second.ink, second.arms[UP]);
            let top = if first_on_top { first } else { second };
            return Some((character(top.arms), top.ink));
        }
        Some((character(joined(first.arms, second.arms)), first.ink.max(second.ink)))
    }
}

fn joined(a: Arms, b: Arms) -> Arms {
    std::array::from_fn(|i| a[i].max(b[i]))
}

fn crosses(a: Arms, b: Arms) -> bool {
    let level = |arms: Arms| arms[LEFT] > 0 && arms[RIGHT] > 0 && arms[UP] + arms[DOWN] == 0;
    let upright = |arms: Arms| arms[UP] > 0 && arms[DOWN] > 0 && arms[LEFT] + arms[RIGHT] == 0;
    level(a) && upright(b) || upright(a) && level(b)
}

/// Box drawing by arms, in base 3: up, right, down, left.
const GLYPHS: [char; 81] = {
    let mut table = [' '; 81];
    // Written as up, right, down, left, so that each line can be checked by eye.
    let known: [(&[u8; 4], char); 80] = [
        (b"0001", '╴'),
        (b"0002", '╸'),
        (b"0010", '╷'),
        (b"0011", '┐'),
        (b"0012", '┑'),
        (b"0020", '╻'),
        (b"0021", '┒'),
        (b"0022", '┓'),
        (b"0100", '╶'),
        (b"0101", '─'),
        (b"0102", '╾'),
        (b"0110", '┌'),
        (b"0111", '┬'),
        (b"0112", '┭'),
        (b"0120", '┎'),
        (b"0121", '┰'),
        (b"0122", '┱'),
        (b"0200", '╺'),
        (b"0201", '╼'),
        (b"0202", '━'),
        (b"0210", '┍'),
        (b"0211", '┮'),
        (b"0212", '┯'),
        (b"0220", '┏'),
        (b"0221", '┲'),
        (b"0222", '┳'),
        (b"1000", '╵'),
        (b"1001", '┘'),
        (b"1002", '┙'),
        (b"1010", '│'),
        (b"1011", '┤'),
        (b"1012", '┥'),
        (b"1020", '╽'),
        (b"1021", '┧'),
        (b"1022", '┪'),
        (b"1100", '└'),
        (b"1101", '┴'),
        (b"1102", '┵'),
        (b"1110", '├'),
        (b"1111", '┼'),
        (b"1112", '┽'),
        (b"1120", '┟'),
        (b"1121", '╁'),
        (b"1122", '╅'),
        (b"1200", '┕'),
        (b"1201", '┶'),
        (b"1202", '┷'),
        (b"1210", '┝'),
        (b"1211", '┾'),
        (b"1212", '┿'),
        (b"1220", '┢'),
        (b"1221", '╆'),
        (b"1222", '╈'),
        (b"2000", '╹'),
        (b"2001", '┚'),
        (b"2002", '┛'),
        (b"2010", '╿'),
        (b"2011", '┦'),
        (b"2012", '┩'),
        (b"2020", '┃'),
        (b"2021", '┨'),
        (b"2022", '┫'),
        (b"2100", '┖'),
        (b"2101", '┸'),
        (b"2102", '┹'),
        (b"2110", '┞'),
        (b"2111", '╀'),
        (b"2112", '╃'),
        (b"2120", '┠'),
        (b"2121", '╂'),
        (b"2122", '╉'),
        (b"2200", '┗'),
        (b"2201", '┺'),
        (b"2202", '┻'),
        (b"2210", '┡'),
        (b"2211", '╄'),
        (b"2212", '╇'),
        (b"2220", '┣'),
        (b"2221", '╊'),
        (b"2222", '╋'),
    ];
    let mut i = 0;
    while i < known.len() {
        let (arms, glyph) = known[i];
        let (mut place, mut arm) = (0, 0);
        while arm < 4 {
            place = place * 3 + (arms[arm] - b'0') as usize;
            arm += 1;
        }
        table[place] = glyph;
        i += 1;
    }
    table
};

fn character(arms: Arms) -> char {
    let place = arms.iter().fold(0, |place, arm| place * 3 + usize::from(*arm));
    GLYPHS.get(place).copied().unwrap_or(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(lines: &Lines) -> Vec<String> {
        (0..lines.height)
            .map(|y| {
                (0..lines.width)
                    .map(|x| {
                        lines.glyph((lines.left + x, lines.top + y)).map_or(' ', |(glyph, _)| glyph)
                    })
                    .collect()
            })
            .collect()
    }

    #[test]
    fn one_net_joins_and_two_pass() {
        let mut lines = Lines::new((0, 0), 5, 3);
        lines.draw((0, 1), (4, 1), 1, Ink::Plain);
        lines.draw((2, 0), (2, 2), 2, Ink::Plain);
        lines.draw((4, 0), (4, 2), 1, Ink::Plain);
        assert_eq!(picture(&lines), ["  ╷ ╷", "╶─│─┤", "  ╵ ╵"]);
    }

    #[test]
    fn the_stronger_line_passes_over_and_is_heavy() {
        let mut lines = Lines::new((0, 0), 5, 3);
        lines.draw((2, 0), (2, 2), 2, Ink::Plain);
        lines.draw((0, 1), (4, 1), 1, Ink::Path);
        assert_eq!(picture(&lines), ["  ╷  ", "╺━━━╸", "  ╵  "]);
    }

    #[test]
    fn heavy_and_light_share_a_trunk() {
        let mut lines = Lines::new((0, 0), 3, 3);
        lines.draw((1, 0), (1, 2), 1, Ink::Plain);
        lines.draw((0, 1), (1, 1), 1, Ink::Path);
        lines.draw((1, 1), (2, 1), 1, Ink::Path);
        assert_eq!(picture(&lines)[1], "╺┿╸");
    }

    #[test]
    fn a_window_shows_its_part() {
        let mut lines = Lines::new((10, 1), 3, 2);
        lines.draw((0, 1), (1_000_000, 1), 1, Ink::Plain);
        lines.draw((11, 0), (11, 9), 1, Ink::Plain);
        assert_eq!(picture(&lines), ["─┼─", " │ "]);
        assert_eq!(lines.glyph((0, 1)), None);
    }

    #[test]
    fn every_arm_has_a_glyph_of_its_own() {
        let glyphs: std::collections::HashSet<char> = GLYPHS.into_iter().collect();
        assert_eq!(glyphs.len(), 81);
    }
}
