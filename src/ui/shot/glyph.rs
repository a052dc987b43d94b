//! Frames and blocks as shapes. A font may draw them smaller than a cell, so that lines have gaps; terminals draw them
//! themselves, and so does a picture of one.

use crate::strokes;

/// A filled rectangle in a cell: left, top, width, height, from 0 to 1.
pub(super) type GlyphRect = (f64, f64, f64, f64);

/// Half the thickness of a thin line, as a share of a cell's width; and of no line, a thin one, a thick one.
const THIN: f64 = 0.07;
const THICKNESS: [f64; 3] = [0.0, THIN, 0.16];
/// Distance of the lines of a double line from its middle, as a share of a cell's width.
const APART: f64 = 0.16;
/// The height of a cell in widths, about; lines must be as thick in both directions.
const TALL: f64 = 2.14;

/// The shapes of a character and the share of ink in them (shades); `None`: the font draws it.
pub(super) fn parts(c: char) -> Option<(Vec<GlyphRect>, f64)> {
    if let Some(arms) = strokes::arms(c) {
        return Some((lines(arms.map(|stroke| THICKNESS[usize::from(stroke)])), 1.0));
    }
    if let Some(doubled) = double(c) {
        return Some((doubled, 1.0));
    }
    let eighth = |n: u32| f64::from(n) / 8.0;
    Some(match c {
        '▀' => (vec![(0.0, 0.0, 1.0, 0.5)], 1.0),
        '▁'..='█' => {
            let height = eighth(u32::from(c) - 0x2580);
            (vec![(0.0, 1.0 - height, 1.0, height)], 1.0)
        }
        '▉'..='▏' => (vec![(0.0, 0.0, eighth(0x2590 - u32::from(c)), 1.0)], 1.0),
        '▐' => (vec![(0.5, 0.0, 0.5, 1.0)], 1.0),
        '░' => (vec![(0.0, 0.0, 1.0, 1.0)], 0.25),
        '▒' => (vec![(0.0, 0.0, 1.0, 1.0)], 0.5),
        '▓' => (vec![(0.0, 0.0, 1.0, 1.0)], 0.75),
        _ => return None,
    })
}

fn lines([up, right, down, left]: [f64; 4]) -> Vec<GlyphRect> {
    let across = up.max(down);
    let along = right.max(left);
    let mut parts = Vec::new();
    // Arms reach past the middle by the other line's thickness, so that corners are closed.
    if up > 0.0 {
        parts.push((0.5 - up, 0.0, 2.0 * up, 0.5 + along / TALL));
    }
    if down > 0.0 {
        let top = 0.5 - along / TALL;
        parts.push((0.5 - down, top, 2.0 * down, 1.0 - top));
    }
    if left > 0.0 {
        parts.push((0.0, 0.5 - left / TALL, 0.5 + across, 2.0 * left / TALL));
    }
    if right > 0.0 {
        let start = 0.5 - across;
        parts.push((start, 0.5 - right / TALL, 1.0 - start, 2.0 * right / TALL));
    }
    parts
}

/// The frame of popups: two thin lines.
fn double(c: char) -> Option<Vec<GlyphRect>> {
    let across = |from: f64, to: f64, y: f64| {
        (from - THIN / 2.0, y - THIN / 2.0 / TALL, to - from + THIN, THIN / TALL)
    };
    let down = |from: f64, to: f64, x: f64| {
        (x - THIN / 2.0, from - THIN / 2.0 / TALL, THIN, to - from + THIN / TALL)
    };
    // The near and the far line in both directions.
    let (x1, x2) = (0.5 - APART, 0.5 + APART);
    let (y1, y2) = (0.5 - APART / TALL, 0.5 + APART / TALL);
    Some(match c {
        '═' => vec![across(0.0, 1.0, y1), across(0.0, 1.0, y2)],
        '║' => vec![down(0.0, 1.0, x1), down(0.0, 1.0, x2)],
        '╔' => {
            vec![across(x1, 1.0, y1), across(x2, 1.0, y2), down(y1, 1.0, x1), down(y2, 1.0, x2)]
        }
        '╗' => {
            vec![across(0.0, x2, y1), across(0.0, x1, y2), down(y1, 1.0, x2), down(y2, 1.0, x1)]
        }
        '╚' => {
            vec![across(x2, 1.0, y1), across(x1, 1.0, y2), down(0.0, y2, x1), down(0.0, y1, x2)]
        }
        '╝' => {
            vec![across(0.0, x1, y1), across(0.0, x2, y2), down(0.0, y1, x1), down(0.0, y2, x2)]
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_stay_in_their_cell_and_lines_reach_its_edges() {
        for c in "─━│┃┌┐└┘┏┓┗┛├┤┬┴┼═║╔╗╚╝▀▁▂▃▄▅▆▇█▉▊▋▌▍▎▏▐░▒▓".chars()
        {
            let (parts, ink) = parts(c).unwrap_or_else(|| panic!("{c}"));
            assert!(!parts.is_empty() && ink > 0.0 && ink <= 1.0, "{c}");
            for (x, y, width, height) in parts {
                let inside = x >= -0.05 && y >= -0.05 && x + width <= 1.05 && y + height <= 1.05;
                assert!(inside && width > 0.0 && height > 0.0, "{c}: {x} {y} {width} {height}");
            }
        }
        let (line, _) = parts('─').unwrap();
        let left = line.iter().map(|part| part.0).fold(1.0, f64::min);
        let right = line.iter().map(|part| part.0 + part.2).fold(0.0, f64::max);
        assert_eq!((left, right), (0.0, 1.0));
        assert!(parts('a').is_none() && parts('日').is_none());
    }
}
