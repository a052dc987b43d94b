//! Fenced blocks of a model's reply, with their languages and texts.

/// Characters that open and close a fence, three or more of the same.
const MARKS: [char; 2] = ['`', '~'];
/// Tags of Python fences. Models also write none.
const PYTHON: [&str; 6] = ["", "python", "py", "python3", "tool_code", "code"];

/// A fenced block.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fence {
    /// The first word after the opening marks, in lower case.
    pub tag: String,
    /// The lines without the fence's own indentation, and without leading and trailing blank lines.
    pub text: String,
}

impl Fence {
    pub(super) fn is_python(&self) -> bool {
        PYTHON.contains(&self.tag.as_str())
    }
}

/// The line that opens a fence.
struct Opening<'t> {
    mark: char,
    marks: usize,
    indentation: usize,
    tag: &'t str,
}

impl<'t> Opening<'t> {
    /// A fence may open after words, as in `Program: ```python`, if it is one of Python.
    fn read(line: &'t str) -> Option<Self> {
        let at = MARKS.iter().filter_map(|mark| line.find(&mark.to_string().repeat(3))).min()?;
        let mark = line[at..].chars().next()?;
        let after = line[at..].trim_start_matches(mark);
        // Code between marks on one line is not a fence.
        if after.contains(mark) {
            return None;
        }
        let end = after.trim_start().find([' ', '\t', '{', ',', ';']);
        let tag = end.map_or(after.trim(), |end| &after.trim_start()[..end]);
        let begins_line = line[..at].trim().is_empty();
        let is_python = PYTHON.contains(&tag.to_lowercase().as_str());
        let only_tag = begins_line || after.trim() == tag;
        (begins_line || (mark == '`' && is_python && only_tag)).then(|| Self {
            mark,
            marks: line[at..].len() - after.len(),
            indentation: if begins_line { at } else { 0 },
            tag,
        })
    }

    /// Whether a line closes this fence: it consists of at least as many marks.
    fn is_closed_by(&self, line: &str) -> bool {
        let line = line.trim();
        line.len() >= self.marks && line.chars().all(|c| c == self.mark)
    }

    /// A line without the fence's indentation.
    fn unindented<'l>(&self, line: &'l str) -> &'l str {
        let own = line.bytes().take(self.indentation).take_while(|c| matches!(c, b' ' | b'\t'));
        &line[own.count()..]
    }
}

/// All fences of a text. The last one may be open to the end, where the reply was cut off.
pub(super) fn fences(text: &str) -> Vec<Fence> {
    let mut fences = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(opening) = Opening::read(line) else { continue };
        let inside = lines.by_ref().take_while(|line| !opening.is_closed_by(line));
        let inside: Vec<&str> = inside.map(|line| opening.unindented(line)).collect();
        fences.push(Fence { tag: opening.tag.to_lowercase(), text: without_blank_ends(&inside) });
    }
    fences
}

/// The lines as a text, without blank ones at its beginning and end.
pub(super) fn without_blank_ends(lines: &[&str]) -> String {
    let is_full = |line: &&str| !line.trim().is_empty();
    let first = lines.iter().position(is_full).unwrap_or(lines.len());
    let last = lines.iter().rposition(is_full).map_or(first, |last| last + 1);
    lines[first..last].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, String)> {
        fences(text).into_iter().map(|fence| (fence.tag, fence.text)).collect()
    }

    fn fence(tag: &str, text: &str) -> (String, String) {
        (tag.to_owned(), text.to_owned())
    }

    #[test]
    fn marks_between_words_open_only_what_is_python() {
        assert_eq!(read("Put it into ``` marks\nplease"), []);
        assert_eq!(read("Use ```json here\n{}\n```python\nx = 1\n```"), [fence("python", "x = 1")]);
        assert_eq!(read("Write ```print(1)``` alone."), []);
        assert_eq!(read("So: ```py\nx = 1\n```"), [fence("py", "x = 1")]);
    }

    #[test]
    fn a_fence_ends_with_its_own_marks_only() {
        let text = "~~~~py\n```\n~~~\n   ~~~~~  \nafter";
        assert_eq!(read(text), [fence("py", "```\n~~~")]);
        assert_eq!(read("```\n\n  a\n\nb\n \n"), [fence("", "  a\n\nb")]);
    }

    #[test]
    fn tags_end_before_attributes() {
        let tags = "```Python {.numbered}\n```\n```py,line\n```\n``` python3\n```\n```{r}\n```";
        let read: Vec<_> = fences(tags).into_iter().map(|fence| fence.tag).collect();
        assert_eq!(read, ["python", "py", "python3", ""]);
    }
}
