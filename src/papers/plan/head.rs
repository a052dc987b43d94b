//! Recognises the beginning of a plan and of a call in any decoration: headings, lists, bold,
//! backticks, numbers.

use std::iter;

use super::bracket;
use crate::domain::{EvidenceId, plan::DIGITS};

/// Most layers of decoration around a line of a plan.
const LAYERS: usize = 10;
/// Bytes of a tool's name.
const NAME: usize = 64;
/// Characters that make text bold, italic or code.
const DRESS: [char; 5] = [' ', '\t', '*', '_', '`'];

/// The beginning of a call.
#[derive(Debug, PartialEq)]
pub(super) struct Head<'t> {
    pub id: EvidenceId,
    pub call: Call<'t>,
}

/// The text after the equals sign.
#[derive(Debug, PartialEq)]
pub(super) enum Call<'t> {
    /// A tool's name and an opening bracket, followed by `left` bytes of the line.
    Open { tool: &'t str, bracket: char, left: usize },
    /// A tool's name and nothing else.
    Name(&'t str),
    /// Something else.
    Unread,
}

/// The call that a line begins with.
pub(super) fn evidence(line: &str) -> Option<Head<'_>> {
    layers(line).find_map(head)
}

/// The first call in the middle of a line, and where it begins; only as `#E1 = Tool[`.
pub(super) fn inline(line: &str) -> Option<(usize, Head<'_>)> {
    line.match_indices(['#', '＃']).find_map(|(at, _)| {
        let head = head(&line[at..])?;
        matches!(head.call, Call::Open { .. }).then_some((at, head))
    })
}

/// The text of the plan that a line begins with; may be empty.
pub(super) fn step(line: &str) -> Option<&str> {
    layers(line).find_map(|rest| {
        let before = &line[..line.len() - rest.len()];
        let open = &before[before.trim_end_matches(['*', '_', '`']).len()..];
        plan_text(rest, open)
    })
}

/// Whether a line is only decoration: a rule, the border of a block of code, or the bare word
/// `Evidence:` above the calls.
pub(super) fn is_border(line: &str) -> bool {
    let line = line.trim();
    let word = line.trim_matches(|c: char| DRESS.contains(&c) || matches!(c, '#' | '-' | ':'));
    if word.eq_ignore_ascii_case("evidence") {
        return true;
    }
    let rule = line.len() >= 3 && line.chars().all(|c| matches!(c, '-' | '*' | '_' | '='));
    rule || line.starts_with("```")
}

/// The line with its decoration removed, one more layer each time.
fn layers(line: &str) -> impl Iterator<Item = &str> {
    iter::successors(Some(line.trim_start()), |rest| bared(rest)).take(LAYERS)
}

fn bared(line: &str) -> Option<&str> {
    let first = line.chars().next()?;
    let inside = match first {
        '#' | '>' | '*' | '_' | '`' | '-' | '+' | '•' | '–' | '|' => {
            line.trim_start_matches(first)
        }
        _ => list_number(line)?,
    };
    Some(inside.trim_start())
}

/// The text after `1.`, `1)`, `(1)` or `[1]`.
fn list_number(line: &str) -> Option<&str> {
    let digits = line.strip_prefix(['(', '[']).unwrap_or(line);
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    digits[count..].strip_prefix(['.', ')', ']', ':']).filter(|_| count > 0)
}

fn head(line: &str) -> Option<Head<'_>> {
    let after_hash = line.strip_prefix(['#', '＃']);
    let rest = after_hash.unwrap_or(line);
    let after_letter = rest.strip_prefix(['E', 'e']);
    let (hash, letter) = (after_hash.is_some(), after_letter.is_some());
    if !hash && !letter {
        return None;
    }
    let rest = after_letter.unwrap_or(rest);
    let count = rest.bytes().take(DIGITS + 1).take_while(u8::is_ascii_digit).count();
    let id = EvidenceId(rest[..count].parse().ok().filter(|_| count <= DIGITS)?);
    let rest = rest[count..].trim_start_matches(DRESS);
    let (call, equals) = match after_equals(rest) {
        Some(rest) => (call(rest), true),
        None => (call(after_arrow(rest).filter(|_| letter)?), false),
    };
    // Only a hash and an equals sign leave no doubt about a call.
    let meant = hash && equals;
    (meant || matches!(call, Call::Open { .. })).then_some(Head { id, call })
}

fn after_equals(text: &str) -> Option<&str> {
    let two = text.strip_prefix(":=").or_else(|| text.strip_prefix("=>"));
    two.or_else(|| text.strip_prefix(['=', '＝']))
}

fn after_arrow(text: &str) -> Option<&str> {
    let two = text.strip_prefix("->").or_else(|| text.strip_prefix("<-"));
    two.or_else(|| text.strip_prefix([':', '：', '→', '←']))
}

fn call(text: &str) -> Call<'_> {
    let text = text.trim_start_matches([' ', '\t', '*', '`']);
    let is_name = |c: char| c.is_alphanumeric() || "_-./: ".contains(c);
    let length = text.find(|c| !is_name(c)).unwrap_or(text.len());
    let tool = text[..length].trim_end_matches([' ', ':', '.']);
    if tool.is_empty() || tool.len() > NAME {
        return Call::Unread;
    }
    let rest = text[length..].trim_start_matches(['*', '`', ' ']);
    let Some(bracket) = rest.chars().next() else {
        return if tool.contains(' ') { Call::Unread } else { Call::Name(tool) };
    };
    // Round brackets follow words in any text: they must touch a name that is one word.
    let touches = tool.len() == length && !tool.contains(' ');
    if bracket::opens(bracket) && (touches || bracket::is_square(bracket)) {
        return Call::Open { tool, bracket, left: rest.len() - bracket.len_utf8() };
    }
    Call::Unread
}

/// The text after `Plan:`, `Plan 2.`, `plan (b) –`, or nothing if the line ends after the word.
/// `open` is the decoration opened right before it, which is closed somewhere behind.
fn plan_text<'t>(line: &'t str, open: &str) -> Option<&'t str> {
    let word = line.get(..4).filter(|word| word.eq_ignore_ascii_case("plan"))?;
    let rest = &line[word.len()..];
    let goes_on = |c: char| c.is_alphanumeric() || c == '_' && !open.ends_with('_');
    if rest.starts_with(goes_on) {
        return None;
    }
    let (rest, numbered) = match plan_number(rest.trim_start_matches(DRESS)) {
        Some(rest) => (rest.trim_start_matches(DRESS), true),
        None => (rest.trim_start_matches(DRESS), false),
    };
    let dressed = &line[..line.len() - rest.len()];
    let text = separated(rest, numbered)?.trim();
    if open.is_empty() || dressed.contains(open) {
        return Some(text);
    }
    let text = text.strip_prefix(open).or_else(|| text.strip_suffix(open)).unwrap_or(text);
    Some(text.trim())
}

/// The text after `1`, `#1`, `(1)` or a capital letter.
fn plan_number(text: &str) -> Option<&str> {
    let bare = text.strip_prefix(['#', '(']).unwrap_or(text);
    let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
    let count =
        if digits == 0 && bare.starts_with(|c: char| c.is_ascii_uppercase()) { 1 } else { digits };
    let rest = &bare[count..];
    let whole = count > 0 && !rest.starts_with(char::is_alphanumeric);
    whole.then(|| if text.starts_with('(') { rest.strip_prefix(')').unwrap_or(rest) } else { rest })
}

fn separated(text: &str, numbered: bool) -> Option<&str> {
    let dashes = ['-', '–', '—'];
    if text.is_empty() {
        return Some(text);
    }
    if let Some(rest) = text.strip_prefix([':', '：']) {
        return Some(rest);
    }
    if numbered && let Some(rest) = text.strip_prefix(['.', ')']) {
        return Some(rest);
    }
    text.strip_prefix(dashes).filter(|rest| numbered || rest.starts_with(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_begin_in_many_ways() {
        for line in [
            "Plan: look up",
            "plan : look up",
            "PLAN 1: look up",
            "**Plan:** look up",
            "**Plan**: look up",
            "**Plan 2:** look up",
            "**Plan: look up**",
            "### Plan 3 - look up",
            "#Plan: look up",
            "#1. Plan: look up",
            "- *Plan*: look up",
            "1. **Plan**: look up",
            "(2) Plan: look up",
            "> __Plan__: look up",
            "Plan (1): look up",
            "Plan #1. look up",
            "Plan B: look up",
            "`Plan:` look up",
            "Plan：look up",
            "  Plan – look up",
        ] {
            assert_eq!(step(line), Some("look up"), "{line}");
        }
        assert_eq!(step("### Plan 1"), Some(""));
        assert_eq!(step("Plan: **Look** up **now**"), Some("**Look** up **now**"));
        for line in [
            "Planning: x",
            "Plan to look up",
            "The plan: x",
            "plan_b: x",
            "Plan-driven: x",
            "#E1 = x[]",
        ] {
            assert_eq!(step(line), None, "{line}");
        }
    }

    fn call_of(line: &str) -> Option<(u32, &str, &str)> {
        let head = evidence(line)?;
        match head.call {
            Call::Open { tool, left, .. } => Some((head.id.0, tool, &line[line.len() - left..])),
            Call::Name(tool) => Some((head.id.0, tool, "")),
            Call::Unread => Some((head.id.0, "", "")),
        }
    }

    #[test]
    fn calls_begin_in_many_ways() {
        for line in [
            "#E7 = Web-Search[x]",
            "`#E7 = Web-Search[x]",
            "- **#E7** = Web-Search[x]",
            "3. #E7=Web-Search [x]",
            "**#E7 = `Web-Search`[x]",
            "#e07: Web-Search[x]",
            "＃E7 ＝ Web-Search[x]",
            "E7 := Web-Search[x]",
            "#7 = Web-Search[x]",
            "#E7 -> Web-Search[x]",
            "#E7 => Web-Search[x]",
            "### #E7 = **Web-Search**[x]",
        ] {
            assert_eq!(call_of(line), Some((7, "Web-Search", "x]")), "{line}");
        }
        assert_eq!(call_of("#E1 = Web Search【x】"), Some((1, "Web Search", "x】")));
        assert_eq!(call_of("#E1 = f(x)"), Some((1, "f", "x)")));
        assert_eq!(call_of("#E1 = now`"), Some((1, "now", "")));
        assert_eq!(call_of("#E1 = the height (in m)"), Some((1, "", "")));
        for line in
            ["E1 = mc^2", "#E1: the founder", "#1: x[1]", "#E1 and #E2", "1 = f[x]", "#E = f[x]"]
        {
            assert_eq!(call_of(line), None, "{line}");
        }
        assert_eq!(inline("see #E1, then #E2 = f[x]").map(|(at, _)| at), Some(14));
        assert_eq!(inline("where #E1 = the height"), None);
    }
}
