//! Lines on a grid of cells, joined with box-drawing characters. Each stroke belongs to a *net*:
//! strokes of one net join where they meet, strokes of different nets pass over each other, so that
//! a crossing can never be read as a junction.

use crate::strokes::{self, Arms};

/// How strongly a line is drawn, weakest first; where lines share a cell the strongest shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ink {
    #[default]
    Faint,
    Plain,
    /// Lines of the node that is looked at.
    Strong,
    /// Lines of the agent's path: the only ones drawn with heavy characters.
    Path,
}

const UP: usize = 0;
const RIGHT: usize = 1;
const DOWN: usize = 2;
const LEFT: usize = 3;

#[derive(Clone, Copy, Debug)]
struct Stroke<N> {
    net: N,
    arms: Arms,
    ink: Ink,
}

impl<N> Stroke<N> {
    fn joined(self, other: Self) -> Self {
        let arms = std::array::from_fn(|i| self.arms[i].max(other.arms[i]));
        Self { arms, ink: self.ink.max(other.ink), ..self }
    }
}

/// A window on a larger drawing: lines outside of it are not kept.
#[derive(Debug)]
pub struct LineCanvas<N> {
    left: usize,
    top: usize,
    width: usize,
    height: usize,
    cells: Vec<[Option<Stroke<N>>; 2]>,
}

/// A place on the drawing: column, row.
pub type CanvasPoint = (usize, usize);

impl<N: Copy + PartialEq> LineCanvas<N> {
    /// An empty window with its upper left corner at `corner`.
    pub fn new(corner: CanvasPoint, width: usize, height: usize) -> Self {
        let (left, top) = corner;
        Self { left, top, width, height, cells: vec![[None; 2]; width * height] }
    }

    /// Draws a straight line between two places of one row or one column, both included.
    pub fn draw(&mut self, from: CanvasPoint, to: CanvasPoint, net: N, ink: Ink) {
        let heavy = if ink == Ink::Path { 2 } else { 1 };
        let (from, to) = if from <= to { (from, to) } else { (to, from) };
        let (before, after) = if from.1 == to.1 { (LEFT, RIGHT) } else { (UP, DOWN) };
        // Only the part inside the window is drawn: the whole may be far larger.
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

    fn put(&mut self, at: CanvasPoint, stroke: Stroke<N>) {
        let Some(i) = self.index(at) else { return };
        let [first, second] = &mut self.cells[i];
        // A third net in one cell joins the second, for lack of a better character.
        let slot = if first.is_none_or(|old| old.net == stroke.net) { first } else { second };
        *slot = Some(slot.map_or(stroke, |old| old.joined(stroke)));
    }

    fn index(&self, (x, y): CanvasPoint) -> Option<usize> {
        let (x, y) = (x.checked_sub(self.left)?, y.checked_sub(self.top)?);
        (x < self.width && y < self.height).then_some(y * self.width + x)
    }

    /// The character and ink of a cell, if a line passes through it.
    pub fn glyph(&self, at: CanvasPoint) -> Option<(char, Ink)> {
        let [first, second] = self.cells[self.index(at)?];
        let first = first?;
        let shown = match second {
            None => first,
            Some(second) if crosses(first.arms, second.arms) => {
                // The stronger line passes over; among equals the vertical one, which leaves the shorter gap.
                let first_on_top = (first.ink, first.arms[UP]) >= (second.ink, second.arms[UP]);
                if first_on_top { first } else { second }
            }
            Some(second) => first.joined(second),
        };
        Some((strokes::character(shown.arms), shown.ink))
    }
}

fn crosses(a: Arms, b: Arms) -> bool {
    let level = |arms: Arms| arms[LEFT] > 0 && arms[RIGHT] > 0 && arms[UP] + arms[DOWN] == 0;
    let upright = |arms: Arms| arms[UP] > 0 && arms[DOWN] > 0 && arms[LEFT] + arms[RIGHT] == 0;
    level(a) && upright(b) || upright(a) && level(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(lines: &LineCanvas<u32>) -> Vec<String> {
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
        let mut lines = LineCanvas::new((0, 0), 5, 3);
        lines.draw((0, 1), (4, 1), 1, Ink::Plain);
        lines.draw((2, 0), (2, 2), 2, Ink::Plain);
        lines.draw((4, 0), (4, 2), 1, Ink::Plain);
        assert_eq!(picture(&lines), ["  ╷ ╷", "╶─│─┤", "  ╵ ╵"]);
    }

    #[test]
    fn the_stronger_line_passes_over_and_is_heavy() {
        let mut lines = LineCanvas::new((0, 0), 5, 3);
        lines.draw((2, 0), (2, 2), 2, Ink::Plain);
        lines.draw((0, 1), (4, 1), 1, Ink::Path);
        assert_eq!(picture(&lines), ["  ╷  ", "╺━━━╸", "  ╵  "]);
    }

    #[test]
    fn heavy_and_light_share_a_trunk() {
        let mut lines = LineCanvas::new((0, 0), 3, 3);
        lines.draw((1, 0), (1, 2), 1, Ink::Plain);
        lines.draw((0, 1), (1, 1), 1, Ink::Path);
        lines.draw((1, 1), (2, 1), 1, Ink::Path);
        assert_eq!(picture(&lines)[1], "╺┿╸");
    }

    #[test]
    fn a_window_shows_its_part() {
        let mut lines = LineCanvas::new((10, 1), 3, 2);
        lines.draw((0, 1), (1_000_000, 1), 1, Ink::Plain);
        lines.draw((11, 0), (11, 9), 1, Ink::Plain);
        assert_eq!(picture(&lines), ["─┼─", " │ "]);
        assert_eq!(lines.glyph((0, 1)), None);
    }
}
