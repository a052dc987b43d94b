//! The words of a person in a message. Coding agents write context for the model before them, in tags such as
//! `<system-reminder>`.

/// The text without the elements that it begins with; all of it if nothing else is there.
pub fn words_of_person(text: &str) -> &str {
    let mut rest = text.trim();
    while let Some(behind) = behind_element(rest) {
        rest = behind.trim_start();
    }
    if rest.is_empty() { text.trim() } else { rest }
}

/// The text behind the element that it begins with, if it begins with one.
fn behind_element(text: &str) -> Option<&str> {
    let (name, inner) = text.strip_prefix('<')?.split_once('>')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (!name.is_empty() && name.chars().all(is_name)).then_some(())?;
    Some(inner.split_once(&format!("</{name}>"))?.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn context_before_the_words_is_left_out() {
        let claude = "<system-reminder>\nIt is late.\n</system-reminder>\n\nhow many lamps";
        for (text, words) in [
            (claude, "how many lamps"),
            ("<a>1</a> <b_c>2</b_c>x <d>3</d>", "x <d>3</d>"),
            (" <b>only this</b>", "<b>only this</b>"),
            ("<b>not closed", "<b>not closed"),
            ("< 3 and > 2", "< 3 and > 2"),
            ("<p class=\"x\">a</p> b", "<p class=\"x\">a</p> b"),
            ("", ""),
        ] {
            assert_eq!(words_of_person(text), words, "{text}");
        }
    }
}
