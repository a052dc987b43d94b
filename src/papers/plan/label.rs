//! The words before a colon, which determine what the rest of a line is.

use super::callable_tools::folded;

/// Bytes of the longest label.
const LONGEST: usize = 48;
/// Characters that make text bold, italic or code.
pub(super) const DRESS: [char; 5] = [' ', '\t', '*', '_', '`'];

/// The kind of text that follows a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LabelField {
    /// The text of a step, without a number: `Thought: …`.
    Step,
    Tool,
    Input,
    /// Words that are an input only right after a tool: `Expression: …`.
    Asked,
    /// A tool and its input.
    Call,
    /// The name of the evidence.
    Evidence,
    /// A remark about the step that no call needs.
    Remark,
}

const LABELS: [(LabelField, &[&str]); 7] = [
    (
        LabelField::Step,
        &["thought", "sub plan", "next step", "first step", "final step", "last step"],
    ),
    (
        LabelField::Tool,
        &[
            "tool",
            "tools",
            "external tool",
            "external tools",
            "tool name",
            "tool used",
            "tools used",
            "tool to use",
            "tools to use",
            "selected tool",
            "chosen tool",
            "action",
            "function",
            "function name",
            "api",
            "api name",
            "worker",
            "use",
            "use tool",
            "with tool",
            "using tool",
            "tool choice",
            "tool selection",
            "工具",
        ],
    ),
    (
        LabelField::Input,
        &[
            "input",
            "inputs",
            "tool input",
            "tool inputs",
            "action input",
            "search query",
            "query",
            "queries",
            "argument",
            "arguments",
            "args",
            "parameter",
            "parameters",
            "params",
            "tool query",
            "input query",
            "tool arguments",
            "tool parameters",
            "input parameters",
            "input to tool",
            "with input",
            "search term",
            "search terms",
            "search input",
            "function input",
            "input data",
            "input text",
            "tool args",
            "input value",
            "kwargs",
            "call arguments",
            "输入",
            "参数",
            "查询",
        ],
    ),
    (
        LabelField::Asked,
        &[
            "question",
            "instruction",
            "instructions",
            "expression",
            "input expression",
            "equation",
            "calculation",
            "prompt",
            "keyword",
            "keywords",
            "search",
            "ask",
            "formula",
            "value",
            "content",
            "text",
        ],
    ),
    (
        LabelField::Call,
        &[
            "call",
            "calls",
            "tool call",
            "tool calls",
            "function call",
            "api call",
            "command",
            "tool & input",
            "tool and input",
            "tool/input",
            "tool usage",
            "tool use",
            "tool execution",
            "execute",
            "execution",
            "tool invocation",
            "invocation",
            "run",
            "code",
        ],
    ),
    (
        LabelField::Evidence,
        &[
            "evidence",
            "evidences",
            "evidence variable",
            "evidence id",
            "evidence name",
            "evidence number",
            "evidence label",
            "evidence stored",
            "evidence stored in",
            "evidence key",
            "output",
            "output variable",
            "output evidence",
            "output name",
            "variable",
            "variable name",
            "result",
            "result variable",
            "results",
            "store",
            "store in",
            "store as",
            "stored in",
            "stored as",
            "store evidence",
            "store evidence in",
            "store evidence as",
            "store result",
            "store result in",
            "store result as",
            "store results in",
            "store output",
            "store output in",
            "store the result in",
            "save",
            "save as",
            "saved as",
            "save to",
            "save in",
            "save result as",
            "assign to",
            "assigned to",
            "id",
            "returns",
            "retrieve evidence",
            "expected evidence",
            "expected output",
            "evidence retrieved",
            "evidence collected",
            "evidence to collect",
            "evidence retrieval",
            "reference",
            "tag",
            "output id",
            "result id",
            "output stored in",
            "stored evidence",
            "evidence reference",
            "evidence storage",
            "storage",
            "storage variable",
            "observation",
            "证据",
            "输出",
        ],
    ),
    (
        LabelField::Remark,
        &[
            "purpose",
            "reason",
            "reasoning",
            "rationale",
            "explanation",
            "note",
            "notes",
            "description",
            "dependency",
            "dependencies",
            "depends on",
            "class",
            "category",
            "type",
            "tool type",
            "task type",
            "status",
            "why",
            "details",
            "goal",
            "objective",
            "expected result",
            "expected outcome",
            "context",
            "given context",
            "justification",
            "summary",
            "source",
            "sources",
            "where",
        ],
    ),
];

/// A label, and the text after it.
#[derive(Debug, PartialEq)]
pub(super) struct Labelled<'t> {
    /// The label as written, without decoration.
    pub label: &'t str,
    /// `None`: a word of the model's own, perhaps the name of an argument or of a tool.
    pub field: Option<LabelField>,
    pub value: &'t str,
}

/// The label that a text begins with.
pub(super) fn labelled(text: &str) -> Option<Labelled<'_>> {
    let text = text.trim_start_matches(DRESS);
    if let Some(found) = tagged(text) {
        return Some(found);
    }
    let (end, mark) = separator(text)?;
    let label = text[..end].trim_matches(DRESS);
    if !label.starts_with(char::is_alphabetic) {
        return None;
    }
    let value = text[end + mark..].trim_start_matches([' ', '\t', '*', '_']);
    Some(Labelled { label, field: field(label), value })
}

/// A label as a tag: `<tool>search_web</tool>`.
fn tagged(text: &str) -> Option<Labelled<'_>> {
    let (label, rest) = text.strip_prefix('<')?.split_once('>')?;
    let value = rest.split_once("</").map_or(rest, |(value, _)| value).trim();
    let is_name = label.len() <= LONGEST && label.chars().all(|c| c.is_alphanumeric() || c == '_');
    (is_name && !value.is_empty()).then_some(Labelled { label, field: field(label), value })
}

/// The end of the label, and the length of the mark after it.
fn separator(text: &str) -> Option<(usize, usize)> {
    for (at, c) in text.char_indices() {
        if at > LONGEST {
            return None;
        }
        match c {
            ':' | '：' => return Some((at, c.len_utf8())),
            '=' if text[at..].starts_with("==") => return None,
            '=' => return Some((at, 1)),
            '-' | '–' | '—' | '→'
                if text[..at].ends_with(' ') && text[at + c.len_utf8()..].starts_with(' ') =>
            {
                return field(text[..at].trim_matches(DRESS)).map(|_| (at, c.len_utf8()));
            }
            '[' | ']' | '{' | '}' | '"' | '.' | ';' | ',' | '?' | '|' | '\n' => return None,
            _ => {}
        }
    }
    None
}

/// The meaning of a label. Numbers and remarks in brackets are ignored.
pub(super) fn field(label: &str) -> Option<LabelField> {
    let bare = label.split(['(', '#']).next().unwrap_or(label);
    let bare =
        bare.trim_end_matches(|c: char| c.is_ascii_digit() || DRESS.contains(&c)).to_lowercase();
    let bare = bare.trim_start_matches("the ").replace('_', " ");
    LABELS.iter().find(|(_, labels)| labels.contains(&bare.as_str())).map(|(field, _)| *field)
}

/// Whether a label is the name of an argument.
pub(super) fn is_parameter(label: &str, parameters: &[String]) -> bool {
    let wanted = folded(label);
    parameters.iter().any(|name| folded(name) == wanted)
}

/// Where the next field on the same line begins: `search_web, Input: "x" | Evidence: #E1`.
pub(super) fn next_on_line(value: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(found) =
        value[from..].find([',', ';', '|', '.', '–', '—', '-', '/', '(', '→', '*'])
    {
        let at = from + found;
        let mark = value[at..].chars().next().map_or(1, char::len_utf8);
        from = at + mark;
        let after = value[from..].trim_start_matches(DRESS);
        let capital = after.starts_with(char::is_uppercase);
        let close = after.len() < value.len() - from
            || value[..at].ends_with(' ')
            || value[at..].starts_with(['|', '(']);
        if !capital || !close {
            continue;
        }
        let label = labelled(after).and_then(|found| found.field);
        if matches!(
            label,
            Some(LabelField::Tool | LabelField::Input | LabelField::Evidence | LabelField::Call)
        ) {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(&str, Option<LabelField>, &str)> {
        labelled(text).map(|found| (found.label, found.field, found.value))
    }

    #[test]
    fn a_label_ends_at_a_colon_an_equals_sign_or_a_dash_between_spaces() {
        let tool = Some(("Tool", Some(LabelField::Tool), "f"));
        for text in
            ["Tool: f", "**Tool:** f", "Tool：f", "Tool = f", "Tool=f", "Tool - f", "Tool — f"]
        {
            assert_eq!(read(text), tool, "{text}");
        }
        for text in ["Tool -f", "Tool- f", "Tool-f", "Tool == f", "City - f", "[Tool]: f", "Tool"] {
            assert_eq!(read(text), None, "{text}");
        }
        for mark in ['[', ']', '{', '}', '"', '.', ';', ',', '?', '|'] {
            assert_eq!(read(&format!("a{mark} Tool: f")), None, "{mark} is in no label");
        }
        assert_eq!(read("City: Oslo"), Some(("City", None, "Oslo")), "a word of the model's own");
    }

    #[test]
    fn a_label_begins_with_a_letter_and_is_short() {
        assert_eq!((read("1: f"), read(": f")), (None, None));
        let long = |more: usize| format!("Tool ({}): f", "x".repeat(LONGEST - 7 + more));
        assert_eq!(labelled(&long(0)).map(|found| found.value), Some("f"));
        assert_eq!(labelled(&long(1)), None);
    }

    #[test]
    fn a_tag_is_a_name_with_something_in_it() {
        assert_eq!(read("<tool> f </tool>"), Some(("tool", Some(LabelField::Tool), "f")));
        assert_eq!(read("<tool>f"), Some(("tool", Some(LabelField::Tool), "f")));
        for text in ["<tool></tool>", "<a tool>f</a>", "tool>f"] {
            assert_eq!(read(text), None, "{text}");
        }
        let long = "x".repeat(LONGEST + 1);
        assert_eq!(read(&format!("<{long}>f")), None);
    }

    #[test]
    fn a_field_behind_another_begins_with_a_capital_after_a_space_or_a_bar() {
        let first = |text: &'static str| next_on_line(text).map(|at| &text[..at]);
        for text in ["f, Input: x", "f | Input: x", "f|Input: x", "f (Input: x)", "f. **Input:** x"]
        {
            assert_eq!(first(text).map(str::trim), Some("f"), "{text}");
        }
        for text in ["f, input: x", "f,Input: x", "f-Input: x", "f, City: x", "f Input: x"] {
            assert_eq!(first(text), None, "{text}");
        }
        assert_eq!(first("a, b, Tool: f | Input: x"), Some("a, b"));
    }
}
