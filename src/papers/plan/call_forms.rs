//! Recognises evidence and calls: `#E1 = Tool[input]`, `(#E1) Tool: input`, `search_web("x")`.

use super::bracket;
use super::callable_tools::PlanTools;
use super::label::DRESS;
use crate::domain::{EvidenceId, plan::DIGITS};

/// Bytes of a tool's name.
const NAME: usize = 64;

/// The name of a piece of evidence at the beginning of a line.
#[derive(Debug, PartialEq)]
pub(super) struct Head<'t> {
    pub id: EvidenceId,
    /// Whether this is surely a call, which only a hash and an equals sign show.
    pub sure: bool,
    pub call: CallText<'t>,
}

/// The text after the equals sign.
#[derive(Debug, PartialEq)]
pub(super) enum CallText<'t> {
    /// A tool's name and an opening bracket, and the rest of the line.
    Open { tool: &'t str, bracket: char, rest: &'t str },
    /// An offered tool's name, and its input up to the end of the line.
    Said { tool: &'t str, input: &'t str },
    /// A tool's name and nothing else.
    Name(&'t str),
    /// Any other text.
    Unread(&'t str),
}

/// The evidence that a line begins with.
pub(super) fn evidence<'t>(line: &'t str, offered: &PlanTools) -> Option<Head<'t>> {
    let (id, rest, marked) = id(line)?;
    let rest = rest.trim_start_matches(DRESS);
    if let Some(after) = after_equals(rest) {
        let call = call(after, offered);
        let sure = marked == Marked::Full || marked == Marked::Hash;
        return (sure || matches!(call, CallText::Open { .. } | CallText::Said { .. }))
            .then_some(Head { id, sure, call });
    }
    if marked == Marked::Hash {
        return None;
    }
    let after = after_arrow(rest);
    let call = call(after.unwrap_or(rest), offered);
    let is_call = matches!(call, CallText::Open { .. })
        && (after.is_some() || offered_call(rest, offered).is_some());
    let is_said = matches!(call, CallText::Said { .. }) && after.is_some();
    let is_mark = marked == Marked::Full && (after.is_some() || rest.is_empty());
    // In brackets it comes before the named call: `(#E1) Tool: …`.
    let leads = marked == Marked::Full && line.starts_with(['(', '[', '<', '{']);
    let call = if is_call || is_said || is_mark { call } else { CallText::Unread(rest) };
    (is_call || is_said || is_mark || leads).then_some(Head { id, sure: false, call })
}

/// How a name of evidence is marked.
#[derive(Clone, Copy, PartialEq)]
enum Marked {
    /// `#E1`
    Full,
    /// `#1`
    Hash,
    /// `E1`
    Letter,
}

/// The name of evidence that a text begins with, in brackets or not, and the text after it.
fn id(text: &str) -> Option<(EvidenceId, &str, Marked)> {
    let bare = text.trim_start_matches(['(', '[', '<', '{', '$']);
    let opened = text.len() - bare.len();
    let after_hash = bare.strip_prefix(['#', '＃']);
    let rest = after_hash.unwrap_or(bare);
    let after_letter = rest.strip_prefix(['E', 'e']);
    let marked = match (after_hash.is_some(), after_letter.is_some()) {
        (true, true) => Marked::Full,
        (true, false) => Marked::Hash,
        (false, true) => Marked::Letter,
        (false, false) => return None,
    };
    let rest = after_letter.unwrap_or(rest);
    let count = rest.bytes().take_while(u8::is_ascii_digit).count();
    let id = EvidenceId(rest[..count].parse().ok().filter(|_| count <= DIGITS)?);
    let rest = &rest[count..];
    if rest.starts_with(|c: char| {
        c.is_alphanumeric() || c == '_' && opened == 0 && !rest.starts_with("__")
    }) {
        return None;
    }
    let closed = rest.trim_start_matches([')', ']', '>', '}']);
    (opened <= 3 && rest.len() - closed.len() <= opened).then_some((id, closed, marked))
}

/// The first call in the middle of a line, and its beginning; only in the form `#E1 = Tool[`.
pub(super) fn inline<'t>(line: &'t str, offered: &PlanTools) -> Option<(usize, Head<'t>)> {
    line.match_indices(['#', '＃']).find_map(|(at, _)| {
        let head = evidence(&line[at..], offered)?;
        matches!(head.call, CallText::Open { .. }).then_some((at, head))
    })
}

/// The text after a class of tools in square brackets, as prompts list them: `[Information Retrieval] Google[x]`.
pub(super) fn class_prefix(line: &str) -> Option<&str> {
    let (class, rest) = line.strip_prefix('[')?.split_once(']')?;
    let words = class.chars().all(|c| c.is_alphabetic() || c == ' ' || c == '/');
    (words && !class.is_empty() && class.len() <= NAME && rest.starts_with(' ')).then_some(rest)
}

fn after_equals(text: &str) -> Option<&str> {
    let two = text.strip_prefix(":=").or_else(|| text.strip_prefix("=>"));
    two.or_else(|| text.strip_prefix(['=', '＝']))
}

fn after_arrow(text: &str) -> Option<&str> {
    let two = text.strip_prefix("->").or_else(|| text.strip_prefix("<-"));
    two.or_else(|| text.strip_prefix([':', '：', '→', '←', '–', '—']))
        .or_else(|| text.strip_prefix("- "))
}

/// Reads a call of any name.
fn call<'t>(text: &'t str, offered: &PlanTools) -> CallText<'t> {
    let text = undressed(text);
    if let Some(call) = offered_call(text, offered) {
        return call;
    }
    let is_name = |c: char| c.is_alphanumeric() || "_-./: ".contains(c);
    let length = text.find(|c| !is_name(c)).unwrap_or(text.len());
    let tool = text[..length].trim_end_matches([' ', ':', '.']);
    if tool.is_empty() || tool.len() > NAME {
        return said(text, offered).unwrap_or(CallText::Unread(text));
    }
    let rest = text[length..].trim_start_matches(['*', '`', ' ']);
    let Some(bracket) = rest.chars().next() else {
        return match said(text, offered) {
            Some(call) => call,
            None if tool.contains(' ') && offered.named_exactly(tool).is_none() => {
                CallText::Unread(text)
            }
            None => CallText::Name(tool),
        };
    };
    // Round brackets follow words in any text: they count only directly after a name of one word.
    let touches = tool.len() == length && !tool.contains(' ');
    if bracket::opens(bracket) && (touches || bracket::is_square(bracket)) && bracket != '{' {
        return CallText::Open { tool, bracket, rest: &rest[bracket.len_utf8()..] };
    }
    said(text, offered).unwrap_or(CallText::Unread(text))
}

/// An offered tool and its input in words: `search_web: "x"`, `search_web "x"`.
pub(super) fn said<'t>(text: &'t str, offered: &PlanTools) -> Option<CallText<'t>> {
    let (_, rest) = offered.begins(text)?;
    let name = &text[..text.len() - rest.len()];
    let after = rest.trim_start_matches(DRESS);
    let mark = after
        .strip_prefix([':', '：'])
        .or_else(|| after.strip_prefix("- "))
        .or_else(|| after.strip_prefix("– "));
    let quoted = after.starts_with(['"', '“', '{', '\'']);
    let input =
        mark.or(Some(after).filter(|_| quoted))?.trim_matches(|c: char| DRESS[..4].contains(&c));
    (!input.is_empty()).then_some(CallText::Said { tool: name, input })
}

/// A call whose result gets a name as in code, and this name: `capital = search_web("x")`.
pub(super) fn assigned<'t>(text: &'t str, offered: &PlanTools) -> Option<(&'t str, CallText<'t>)> {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    let (name, rest) = text.split_at(end);
    let rest = rest.trim_start().strip_prefix('=')?;
    let is_name = end <= NAME && name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    Some((name, offered_call(rest, offered)?)).filter(|_| is_name)
}

/// Whether a line is a call of a tool that is not offered: `Bing[x]`.
pub(super) fn is_other_call(line: &str) -> bool {
    let end = line.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    let is_name = (3..=NAME).contains(&end) && name.starts_with(char::is_alphabetic);
    let line = rest.trim_end_matches(['`', '*', '.', ' ']);
    let square = line.starts_with('[') && line.ends_with(']');
    let quoted = (line.starts_with("(\"") || line.starts_with("('")) && line.ends_with(')');
    is_name && name != "print" && (square || quoted)
}

/// An offered tool's name directly before an opening bracket.
pub(super) fn offered_call<'t>(text: &'t str, offered: &PlanTools) -> Option<CallText<'t>> {
    let text = undressed(text);
    let (_, rest) = offered.begins(text)?;
    let tool = &text[..text.len() - rest.len()];
    let after = rest.trim_start_matches(['*', '`']);
    let spaced = after.trim_start_matches(' ');
    let bracket = spaced.chars().next().filter(|c| bracket::opens(*c))?;
    let touches = after.len() == spaced.len() || bracket::is_square(bracket);
    touches.then_some(CallText::Open { tool, bracket, rest: &spaced[bracket.len_utf8()..] })
}

/// The text without decoration, and without words that request a call.
fn undressed(text: &str) -> &str {
    let text = text.trim_start_matches([' ', '\t', '*', '`']);
    let text = class_prefix(text).map_or(text, |rest| rest.trim_start_matches([' ', '*', '`']));
    ["await ", "call ", "Call ", "use ", "Use ", "\\[ ", "$"]
        .iter()
        .find_map(|word| text.strip_prefix(word))
        .unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a line begins with a name of evidence, whether that is sure, and what it calls.
    fn read(line: &str) -> Option<(u32, bool, Option<&str>)> {
        let offered = PlanTools::named(["f", "LLM"]);
        let head = evidence(line, &offered)?;
        let tool = match head.call {
            CallText::Open { tool, .. } | CallText::Said { tool, .. } | CallText::Name(tool) => {
                Some(tool)
            }
            CallText::Unread(_) => None,
        };
        Some((head.id.0, head.sure, tool))
    }

    #[test]
    fn a_hash_and_an_equals_sign_make_a_call_sure() {
        assert_eq!(read("#E1 = g"), Some((1, true, Some("g"))));
        assert_eq!(read("#1 = g[x]"), Some((1, true, Some("g"))));
        assert_eq!(read("E1 = g[x]"), Some((1, false, Some("g"))));
        assert_eq!(read("E1 = f: x"), Some((1, false, Some("f"))));
        assert_eq!(read("E1 = mc²"), None, "a formula");
    }

    #[test]
    fn a_name_without_an_equals_sign_needs_a_call_a_mark_or_brackets() {
        assert_eq!(read("E1: f[x]"), Some((1, false, Some("f"))));
        assert_eq!(read("E1 f[x]"), Some((1, false, Some("f"))));
        assert_eq!(read("E1: g[x]"), Some((1, false, Some("g"))));
        assert_eq!(read("#E1"), Some((1, false, None)));
        assert_eq!(read("(#E1) look it up"), Some((1, false, None)));
        for line in
            ["E1", "E1 look it up", "#E1 look it up", "E1 g[x]", "#1: f[x]", "#1", "(E1) up"]
        {
            assert_eq!(read(line), None, "{line}");
        }
    }

    #[test]
    fn a_name_of_evidence_ends_with_its_number() {
        let name = |text: &'static str| id(text).map(|(id, rest, _)| (id.0, rest));
        assert_eq!(name("#E1 x"), Some((1, " x")));
        assert_eq!(name("(#E12) x"), Some((12, " x")));
        assert_eq!(name("#E1__ x"), Some((1, "__ x")), "bold ends here");
        for text in ["#E1_x", "#E1a", "#Ex", "#E", "#E1234567890", "x", "((((#E1))))"] {
            assert_eq!(name(text), None, "{text}");
        }
    }

    #[test]
    fn a_result_has_a_name_as_in_code() {
        let offered = PlanTools::named(["f"]);
        let named = |text: &'static str| assigned(text, &offered).map(|(name, _)| name);
        assert_eq!([named("x = f[y]"), named("_x1=f(\"y\")")], [Some("x"), Some("_x1")]);
        for text in ["1 = f[x]", "x = g[y]", "x f[y]", "= f[y]", "x.y = f[z]"] {
            assert_eq!(named(text), None, "{text}");
        }
    }

    #[test]
    fn a_call_of_a_tool_that_is_not_offered_is_a_whole_line() {
        for line in ["Bing[x]", "Bing(\"x\")", "my_tool('x')", "Bing[x]."] {
            assert!(is_other_call(line), "{line}");
        }
        for line in [
            "Bing(x)",
            "Bing[x",
            "Bing x]",
            "Bing(\"x\"",
            "Bi[x]",
            "12345[x]",
            "print(\"x\")",
            "Bing",
        ] {
            assert!(!is_other_call(line), "{line}");
        }
    }

    #[test]
    fn the_name_of_a_tool_is_short() {
        let offered = PlanTools::default();
        let name = |length: usize| {
            call(&"f".repeat(length), &offered) == CallText::Name(&"f".repeat(length))
        };
        assert_eq!([name(NAME), name(NAME + 1)], [true, false]);
    }
}
