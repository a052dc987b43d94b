//! The escaping of everything that a page shows. Texts of tools and models are hostile: a page must neither run nor
//! load anything that they wrote.

use crate::net::known::without_keys;
use crate::ui::text;

const STYLE: &str = include_str!("style.css");

/// The most characters of one text.
const LONGEST: usize = 4000;

/// A whole page with this title; the body is already HTML. The page can neither run nor load anything.
pub fn document(title: &str, body: &str) -> String {
    let title = escaped(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
         'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>toolyard: {title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <h1>{title}</h1>\n{body}<footer>Written by toolyard {}.</footer>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION"),
    )
}

/// A text as HTML: without keys, and without characters that a browser would act on. Line breaks stay.
pub fn escaped(text: &str) -> String {
    let text = without_keys(text);
    let (text, cut) = match text.char_indices().nth(LONGEST) {
        Some((end, _)) => (&text[..end], "…"),
        None => (&*text, ""),
    };
    let lines: Vec<_> = text.lines().map(text::clean).collect();
    let mut out = String::with_capacity(text.len());
    for c in lines.join("\n").chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out + cut
}

/// An element of this class around a text.
pub fn element(tag: &str, class: &str, text: &str) -> String {
    let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    format!("<{tag}{class}>{}</{tag}>", escaped(text))
}

/// A table with these titles; the cells are already HTML, and all but the first column are numbers.
pub fn table(titles: &[&str], rows: &[Vec<String>]) -> String {
    let head: String = titles.iter().map(|title| element("th", "", title)).collect();
    let row = |cells: &Vec<String>| {
        let cells: String = cells.iter().map(|cell| format!("<td>{cell}</td>")).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let rows: String = rows.iter().map(row).collect();
    format!("<table>\n<tr>{head}</tr>\n{rows}</table>\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_becomes_markup() {
        let hostile = "<script>alert('x')</script>\n&amp; \"on\"\u{1b}]0;x\u{7}\u{202e}";
        let safe = escaped(hostile);
        assert!(!safe.contains(['<', '>', '"', '\'', '\u{1b}', '\u{202e}']), "{safe}");
        assert!(safe.contains("&lt;script&gt;") && safe.contains("\n&amp;amp;"), "{safe}");
        assert!(escaped(&"ä".repeat(5000)).ends_with('…'));
    }
}
