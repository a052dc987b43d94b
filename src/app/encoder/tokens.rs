//! The tokens of a text, as many as the model can read.

use crate::reader::{LONGEST_TEXT, Reader, ReaderError, Special, Tokens};

/// Tokens, and whether the text has more.
pub struct Cut {
    pub tokens: Tokens,
    pub is_cut: bool,
}

/// The tokens of a text without the end token. A longer text is cut to the model's context, with room for the end
/// token.
///
/// # Errors
/// None, in practice: the text is cut before it is too long.
pub fn tokens(reader: &impl Reader, text: &str) -> Result<Cut, ReaderError> {
    let end = text.floor_char_boundary(LONGEST_TEXT);
    let mut tokens = reader.tokenizer().encode(&text[..end], Special::Text)?;
    let most = reader.facts().context.saturating_sub(1).max(1);
    let is_cut = end < text.len() || tokens.ids.len() > most;
    tokens.ids.truncate(most);
    tokens.ends.truncate(most);
    Ok(Cut { tokens, is_cut })
}
