//! Calls that a model wrote as text although tools were offered natively: its server did not find them. Each family of
//! models has its own markup; calls in any of these are read here, and nothing else.
//!
//! A call ends its text, and names a tool that was offered. A text that quotes such markup is left unchanged.

mod scan;
#[cfg(test)]
mod tests;
mod thoughts;

use serde_json::{Map, Value};

use self::scan::Broken;
pub use self::thoughts::{without_end, without_thoughts};
use crate::domain::lenient::{is_special, token};
use crate::domain::{ToolDef, ToolName};
use crate::papers::atc::calls as python;

/// The result of a search for calls in a text.
#[derive(Debug, PartialEq)]
pub enum MarkupText<'a> {
    /// No call.
    Text,
    Calls {
        /// The text before the calls.
        before: &'a str,
        calls: Vec<MarkupCall>,
        /// The text that the model wrote after the calls, without their results.
        after: &'a str,
    },
    /// A call that cannot be read, or of a tool that was not offered.
    Unread(&'a str),
}

/// A call in a text.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkupCall {
    pub tool: ToolName,
    pub arguments: Value,
}

/// The beginnings of lines that begin calls, in lower case.
const MARKS: [&str; 28] = [
    "<tool_call>",
    "<tool_calls>",
    "<tool_call|",
    "<toolcall>",
    "<function_call>",
    "<function_calls>",
    "<function=",
    "<function name=",
    "<invoke name=",
    "<tool name=",
    "<minimax:tool_call>",
    "<seed:tool_call>",
    "<start_function_call>",
    "[tool_call]",
    "```tool_code\n",
    "```tool_call\n",
    "functools[{",
    // Special tokens, which no sentence contains, begin a call anywhere.
    "[tool_calls]",
    "<|python_tag|>",
    "<|tool",
    "<|start_action|>",
    "<|dsml|",
    "<｜tool",
    "<｜dsml｜",
    "<|channel|>commentary to=",
    "<|start|>assistant<|channel|>commentary to=",
    "<|start|>assistant to=",
    "<|action_start|>",
];

/// The index of the first mark that begins a call anywhere.
const ANYWHERE: usize = 17;

/// The most bytes of a text in which calls are looked for.
const LONGEST: usize = 256 * 1024;

/// Finds the calls in a text.
pub fn find<'a>(text: &'a str, tools: &[ToolDef]) -> MarkupText<'a> {
    if text.len() > LONGEST || tools.is_empty() {
        return MarkupText::Text;
    }
    match mark(text) {
        Some(at) => marked(text, at, tools),
        None => bare(text, tools),
    }
}

/// The place where the first call begins.
fn mark(text: &str) -> Option<usize> {
    let mut fences = 0;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let indent = line.len() - line.trim_start().len();
        let here = &text[start + indent..];
        let is_quoted = fences % 2 == 1 && !text[..start].trim_start().starts_with("```");
        let begins = |mark: &&str| {
            here.get(..mark.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(mark))
        };
        if !is_quoted && (MARKS.iter().any(begins) || is_labelled(here)) {
            return Some(start + indent);
        }
        if let Some(at) = inside(line).filter(|_| !is_quoted) {
            return Some(start + at);
        }
        fences += line.matches("```").count();
        start += line.len();
    }
    None
}

/// Whether labels announce a call, as ReAct and Command R write them. One label alone may be a heading.
fn is_labelled(text: &str) -> bool {
    let Some(action) = text.strip_prefix("Action:") else { return false };
    let line_after = action.trim_start().split_once('\n').map_or("", |(_, after)| after);
    let is_fenced = action.trim_start().starts_with("```") && action.contains("\"tool_name\"");
    is_fenced || line_after.trim_start().starts_with(scan::INPUT)
}

/// The place where a special token begins a call inside a line.
fn inside(line: &str) -> Option<usize> {
    let lower = line.to_ascii_lowercase();
    let found = MARKS[ANYWHERE..].iter().filter_map(|mark| lower.find(mark));
    found.min().filter(|at| !line[..*at].ends_with(['`', '"', '\'', '“', '(']))
}

/// Reads calls after a mark.
fn marked<'a>(text: &'a str, at: usize, tools: &[ToolDef]) -> MarkupText<'a> {
    let (before, from) = text.split_at(at);
    // A fence around all of it.
    let before = before.trim();
    let before = if before.starts_with("```") && !before.contains('\n') { "" } else { before };
    match scan::calls(from, tools, true) {
        // A text that continues after a call explains the markup, unless the call came first.
        Ok((_, after)) if !after.is_empty() && !before.is_empty() => MarkupText::Text,
        Ok((calls, after)) => MarkupText::Calls { before, calls, after },
        Err(Broken::NoCall) => MarkupText::Text,
        Err(Broken::Call) => MarkupText::Unread(from),
    }
}

/// Reads calls without a mark: they are the whole text, or are in a fence that ends it.
fn bare<'a>(text: &'a str, tools: &[ToolDef]) -> MarkupText<'a> {
    let text = text.trim();
    let (before, code) = fenced(text).unwrap_or(("", text));
    if code.starts_with(['{', '['])
        && let Ok((calls, "")) = scan::calls(code, tools, false)
    {
        return MarkupText::Calls { before, calls, after: "" };
    }
    let exact = |(name, arguments): (String, Map<String, Value>)| {
        let tool = tools.iter().find(|tool| tool.name.as_str() == name)?;
        Some(MarkupCall { tool: tool.name.clone(), arguments: arguments.into() })
    };
    // Few texts end with a bracket, so only those are parsed.
    let calls = code.ends_with([')', ']']).then(|| python::calls(code)).flatten();
    match calls.and_then(|calls| calls.into_iter().map(exact).collect()) {
        Some(calls) => MarkupText::Calls { before, calls, after: "" },
        None => MarkupText::Text,
    }
}

/// The text before the fence that ends a text, and the fence's content.
fn fenced(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_suffix("```")?;
    let at = inside.rfind("```").filter(|at| *at == 0 || inside[..*at].ends_with('\n'))?;
    let (language, code) = inside[at + "```".len()..].split_once('\n')?;
    let is_code =
        ["", "json", "python", "tool_code", "tool_call", "xml"].contains(&language.trim());
    is_code.then(|| (inside[..at].trim(), code.trim()))
}

/// The offered tool that a name means: exactly, else without what servers leave around it, else up to case and
/// separators. `None` if no tool matches, or several do.
pub fn offered<'a>(name: &str, tools: &'a [ToolDef]) -> Option<&'a ToolDef> {
    let exact = |name: &str| tools.iter().find(|tool| tool.name.as_str() == name);
    let near = |name: &str| {
        let name = plain(name);
        let mut near = tools.iter().filter(|tool| plain(tool.name.as_str()) == name);
        near.next().filter(|_| !name.is_empty() && near.next().is_none())
    };
    let short = without_namespace(name);
    let found = exact(name).or_else(|| near(name)).or_else(|| exact(short)).or_else(|| near(short));
    // Llama calls its tools as objects in Python.
    found.or_else(|| exact(short.strip_suffix(".call")?))
}

/// A name without case and separators.
fn plain(name: &str) -> String {
    let kept = name.chars().filter(|c| !matches!(c, '_' | '-' | '.' | ' '));
    kept.flat_map(char::to_lowercase).collect()
}

/// A name without the namespace that a template puts before it, the number after it, and a special token that its
/// server did not stop at, such as `functions.weather:0` and `weather<|channel|>commentary`.
fn without_namespace(name: &str) -> &str {
    let name = name.find("<|").map_or(name, |at| &name[..at]);
    let name = name.trim().trim_matches(['"', '\'', '`']);
    let name = name.strip_suffix("()").unwrap_or(name);
    let name = match name.rsplit_once(':') {
        Some((name, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => name,
    };
    let spaces = ["functions", "function", "tools", "tool", "default_api", "call", "to=functions"];
    let short = name.split_once(['.', ':']).filter(|(space, _)| spaces.contains(space));
    short.map_or(name, |(_, name)| name)
}

/// Whether a tag belongs to the markup of calls and has no meaning by itself.
fn is_wrapper(tag: &str) -> bool {
    let name = tag.trim_start_matches(['<', '/', '|', '｜']).trim_end_matches(['>', '|', '｜']);
    let name = name.to_ascii_lowercase();
    let is_one = name.contains("tool") || name.contains("function");
    let is_result = name.contains("response") || name.contains("result") || name.contains("output");
    is_one && !is_result && !name.contains(['=', ' '])
}

/// The rest of a text after spaces, wrappers, special tokens and fences; and whether it begins a result, which only a
/// server may write.
fn skipped(mut text: &str) -> &str {
    loop {
        text = text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ';' | ','));
        let lower = text.get(..16).unwrap_or(text).to_ascii_lowercase();
        let bracket = ["[tool_calls]", "[/tool_calls]", "[tool_call]", "[/tool_call]"];
        let bracket = bracket.iter().find(|token| lower.starts_with(**token));
        if let Some(token) = bracket {
            text = &text[token.len()..];
        } else if let Some((_, rest)) = token(text).filter(|(tag, _)| {
            tag.starts_with("</")
                || is_wrapper(tag)
                || is_special(tag) && !is_result(tag) && !tag.contains('=')
        }) {
            text = rest;
        } else if let Some(rest) = text.strip_prefix("```") {
            let language = rest.find('\n').filter(|at| rest[..*at].len() <= 12);
            text = language.map_or(rest, |at| &rest[at..]);
        } else {
            return text;
        }
    }
}

/// Whether a tag begins a result of a tool.
fn is_result(tag: &str) -> bool {
    let tag = tag.to_ascii_lowercase();
    (tag.contains("tool") || tag.contains("function"))
        && (tag.contains("response") || tag.contains("result") || tag.contains("output"))
}
