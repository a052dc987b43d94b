//! Box-drawing characters by the strokes that they are made of.

/// Strokes from the middle of a cell: 0 none, 1 light, 2 heavy; up, right, down, left.
pub type Arms = [u8; 4];

/// Box drawing by arms in base 3: a row for each pair of up and right, a column for each of down and left.
const GLYPHS: [[char; 9]; 9] = [
    [' ', '╴', '╸', '╷', '┐', '┑', '╻', '┒', '┓'],
    ['╶', '─', '╾', '┌', '┬', '┭', '┎', '┰', '┱'],
    ['╺', '╼', '━', '┍', '┮', '┯', '┏', '┲', '┳'],
    ['╵', '┘', '┙', '│', '┤', '┥', '╽', '┧', '┪'],
    ['└', '┴', '┵', '├', '┼', '┽', '┟', '╁', '╅'],
    ['┕', '┶', '┷', '┝', '┾', '┿', '┢', '╆', '╈'],
    ['╹', '┚', '┛', '╿', '┦', '┩', '┃', '┨', '┫'],
    ['┖', '┸', '┹', '┞', '╀', '╃', '┠', '╂', '╉'],
    ['┗', '┺', '┻', '┡', '╄', '╇', '┣', '╊', '╋'],
];

/// The character with these strokes.
pub fn character([up, right, down, left]: Arms) -> char {
    let place = |a: u8, b: u8| usize::from(a * 3 + b);
    GLYPHS[place(up, right)][place(down, left)]
}

/// The strokes of a character; `None`: it has others, or none.
pub fn arms(c: char) -> Option<Arms> {
    let square = match c {
        '╭' => '┌',
        '╮' => '┐',
        '╯' => '┘',
        '╰' => '└',
        c => c,
    };
    let place = GLYPHS.iter().flatten().skip(1).position(|glyph| *glyph == square)? + 1;
    let digit = |unit: usize| (place / unit % 3) as u8;
    Some([digit(27), digit(9), digit(3), digit(1)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_strokes_have_a_character_of_their_own() {
        for place in 1..81 {
            let strokes = [place / 27, place / 9 % 3, place / 3 % 3, place % 3];
            assert_eq!(arms(character(strokes)), Some(strokes));
        }
        assert_eq!(arms('╭'), Some([0, 1, 1, 0]));
        assert_eq!([' ', 'x', '║'].map(arms), [None; 3]);
    }
}
