//! Characters that are not drawn, or that change the order of those around them. The screen, JSON for terminals, error
//! texts and the search for keys share this definition: no text may be hidden in one and shown in another.

/// Whether the character is left out where a text is shown: zero width, soft hyphen, fillers, variation selectors, tags.
/// Terminals disagree on them.
pub fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200d}'
            | '\u{2060}'..='\u{2065}'
            | '\u{206a}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Whether the character reorders or breaks its line: bidi marks, embeddings, overrides and isolates; line and paragraph
/// separators. All of these have at most four hexadecimal digits.
pub fn reorders(c: char) -> bool {
    matches!(
        c,
        '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
    )
}
