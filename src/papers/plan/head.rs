//! Recognises the beginning of a plan and of a call in any decoration: headings, lists, bold, backticks, numbers.

use std::iter;

use super::call_forms::{CallText, Head, class_prefix, evidence, offered_call};
use super::callable_tools::PlanTools;
use super::label::{DRESS, Labelled, field, labelled};
use super::{bracket, label};

/// The most layers of decoration around a line of a plan.
const LAYERS: usize = 10;
/// Words that begin a step, the longer ones first; all but `plan` and `step` need a number.
const STEPS: [(&str, bool); 8] = [
    ("plan step", false),
    ("plan", false),
    ("step", false),
    ("subtask", true),
    ("sub-task", true),
    ("task", true),
    ("计划", false),
    ("步骤", false),
];

/// The beginning of a line.
#[derive(Debug, PartialEq)]
pub(super) enum Begin<'t> {
    /// The name of a piece of evidence, perhaps with its call.
    Evidence(Head<'t>),
    /// A step with its text, which may be empty, and whether it is called a plan.
    Step { is_plan: bool, numbered: bool, text: &'t str },
    /// A label that plans use.
    Field(label::LabelField, Labelled<'t>),
    /// An offered tool and an opening bracket.
    Call(CallText<'t>),
}

/// Parses the beginning of a line, under its decoration.
pub(super) fn begin<'t>(line: &'t str, offered: &PlanTools) -> Option<Begin<'t>> {
    layers(line).find_map(|rest| {
        let before = &line[..line.len() - rest.len()];
        let open = &before[before.trim_end_matches(['*', '_', '`']).len()..];
        let evidence = evidence(rest, offered).map(Begin::Evidence);
        let step = || plan_text(rest, open);
        let named = || {
            let found = labelled(rest)?;
            let field = found.field?;
            Some(Begin::Field(field, found))
        };
        evidence
            .or_else(step)
            .or_else(named)
            .or_else(|| offered_call(rest, offered).map(Begin::Call))
    })
}

/// Whether a line is only decoration: a rule, the border of a block of code, a tag, or the bare word `Evidence:` above
/// the calls.
pub(super) fn is_border(line: &str) -> bool {
    let line = line.trim();
    let word = line.trim_matches(|c: char| DRESS.contains(&c) || matches!(c, '#' | '-' | ':'));
    if field(word) == Some(label::LabelField::Evidence) {
        return true;
    }
    let rule = line.len() >= 3 && line.chars().all(|c| matches!(c, '-' | '*' | '_' | '='));
    rule || line.starts_with("```")
        || line.starts_with('<') && line.ends_with('>') && !line.contains(' ')
}

/// The text after a list number, if the line begins with one.
pub(super) fn numbered(line: &str) -> Option<&str> {
    layers(line)
        .find_map(|rest| list_number(rest).filter(|after| after.starts_with([' ', '*', '\t'])))
}

/// The text of a heading: `### Look it up` or a line that is bold as a whole.
pub(super) fn heading(line: &str) -> Option<&str> {
    let line = line.trim();
    let bare = line.trim_start_matches('#');
    let bold = line.starts_with("**") && line.trim_end_matches(':').ends_with("**");
    let is_heading = bare.starts_with(' ') || bold;
    let text = bare.trim_matches(|c: char| DRESS.contains(&c) || c == ':');
    (is_heading && text.contains(char::is_alphanumeric)).then_some(text)
}

/// The line without its decoration.
pub(super) fn bare(line: &str) -> &str {
    layers(line).last().unwrap_or(line)
}

/// The line with its decoration removed, one more layer each time.
fn layers(line: &str) -> impl Iterator<Item = &str> {
    iter::successors(Some(line.trim_start()), |rest| bared(rest)).take(LAYERS)
}

fn bared(line: &str) -> Option<&str> {
    let first = line.chars().next()?;
    let inside = match first {
        '#' | '>' | '*' | '_' | '`' | '-' | '+' | '•' | '–' | '|' | '—' | '·' | '→' => {
            line.trim_start_matches(first)
        }
        // A tick, an arrow or a picture at the beginning of the line.
        _ if !first.is_ascii()
            && !first.is_alphanumeric()
            && !bracket::opens(first)
            && first != '＃' =>
        {
            &line[first.len_utf8()..]
        }
        _ => list_number(line).or_else(|| class_prefix(line))?,
    };
    Some(inside.trim_start())
}

/// The text after `1.`, `1)`, `(1)`, `[1]`, `1.2` or `a)`.
fn list_number(line: &str) -> Option<&str> {
    let digits = line.strip_prefix(['(', '[']).unwrap_or(line);
    let count = digits.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
    let (number, rest) = digits.split_at(count);
    if number.starts_with(|c: char| c.is_ascii_digit()) {
        return match number.strip_suffix('.') {
            Some(number) if !number.ends_with('.') => Some(rest),
            _ => rest.strip_prefix([')', ']', ':']),
        };
    }
    let after = digits.strip_prefix(|c: char| c.is_ascii_lowercase())?;
    after.strip_prefix(')').filter(|rest| rest.starts_with(' '))
}

/// The text after `Plan:`, `Plan 2.`, `plan (b) –`, `Step 1:`, or nothing if the line ends after the word. `open` is
/// the decoration opened directly before it, which is closed somewhere later.
fn plan_text<'t>(line: &'t str, open: &str) -> Option<Begin<'t>> {
    let (word, needs_number) = STEPS.iter().find_map(|(word, needs_number)| {
        let begin = line.get(..word.len())?;
        begin.eq_ignore_ascii_case(word).then_some((begin, *needs_number))
    })?;
    let is_plan = word.eq_ignore_ascii_case("plan") || word == "计划";
    let rest = &line[word.len()..];
    let goes_on = |c: char| c.is_alphabetic() || c == '_' && !open.ends_with('_');
    if rest.starts_with(goes_on) {
        return None;
    }
    let (rest, numbered) = match plan_number(rest.trim_start_matches(DRESS)) {
        Some(rest) => (rest.trim_start_matches(DRESS), true),
        None => (rest.trim_start_matches(DRESS), false),
    };
    if needs_number && !numbered {
        return None;
    }
    let dressed = &line[..line.len() - rest.len()];
    let text = separated(rest, numbered)?.trim();
    if open.is_empty() || dressed.contains(open) {
        return Some(Begin::Step { is_plan, numbered, text });
    }
    let text = text.strip_prefix(open).or_else(|| text.strip_suffix(open)).unwrap_or(text);
    Some(Begin::Step { is_plan, numbered, text: text.trim() })
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
    use super::super::call_forms::inline;
    use super::*;

    fn step(line: &str) -> Option<&str> {
        match begin(line, &PlanTools::default())? {
            Begin::Step { text, .. } => Some(text),
            _ => None,
        }
    }

    fn evidence(line: &str) -> Option<Head<'_>> {
        match begin(line, &PlanTools::default())? {
            Begin::Evidence(head) => Some(head),
            _ => None,
        }
    }

    #[test]
    fn a_picture_in_front_is_decoration_and_a_bracket_is_not() {
        assert_eq!(bare("🔎 look up"), "look up");
        for line in ["【note】 look up", "［1］ look up", "（so） look up", "＃E1 = look up"]
        {
            assert_eq!(bare(line), line);
        }
    }

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
            "plan_2: x",
            "PlanB: x",
            "Plan-driven: x",
            "#E1 = x[]",
        ] {
            assert_eq!(step(line), None, "{line}");
        }
    }

    #[test]
    fn a_task_is_a_step_where_it_has_a_number() {
        assert_eq!([step("Task 1: look up"), step("Task: look up")], [Some("look up"), None]);
        assert_eq!([step("Plan - look up"), step("Plan-up: x")], [Some("look up"), None]);
    }

    #[test]
    fn a_heading_has_hashes_and_a_space_or_is_bold() {
        for line in ["# Look up", "### Look up:", "**Look up**", "**Look up:**", "**Look up**:"] {
            assert_eq!(heading(line), Some("Look up"), "{line}");
        }
        for line in ["Look up", "#2", "# -", "**Look** up", ""] {
            assert_eq!(heading(line), None, "{line}");
        }
    }

    #[test]
    fn a_border_is_a_rule_a_fence_a_tag_or_a_heading_of_evidence() {
        for line in
            ["---", "=====", "***", "```", "```python", "<plan>", "</plan>", "**Evidence:**"]
        {
            assert!(is_border(line), "{line}");
        }
        for line in ["--", "a---", "B>", "<b", "<a b>", "Plan:", ""] {
            assert!(!is_border(line), "{line}");
        }
    }

    #[test]
    fn the_number_of_an_item_is_decoration() {
        for line in
            ["1. look", "1) look", "(1) look", "[1] look", "1.2. look", "1.2) look", "a) look"]
        {
            assert_eq!(bare(line), "look", "{line}");
        }
        for line in ["1.. look", "1 look", "a)look", "A) look", ". look"] {
            assert_eq!(bare(line), line);
        }
    }

    fn call_of(line: &str) -> Option<(u32, &str, &str)> {
        let head = evidence(line)?;
        match head.call {
            CallText::Open { tool, rest, .. } | CallText::Said { tool, input: rest } => {
                Some((head.id.0, tool, rest))
            }
            CallText::Name(tool) => Some((head.id.0, tool, "")),
            CallText::Unread(_) => Some((head.id.0, "", "")),
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
            ["E1 = mc^2", "#1: x[1]", "#E1 and #E2", "1 = f[x]", "#E = f[x]", "(#E1st of them)"]
        {
            assert_eq!(call_of(line), None, "{line}");
        }
        // A name with words is not a call, but it names evidence.
        assert_eq!(call_of("- **#E1**: the founder of it"), Some((1, "", "")));
        let none = PlanTools::default();
        assert_eq!(inline("see #E1, then #E2 = f[x]", &none).map(|(at, _)| at), Some(14));
        assert_eq!(inline("where #E1 = the height", &none), None);
    }

    #[test]
    fn offered_tools_and_labels_begin_lines_too() {
        let offered = PlanTools::named(["search_web", "Google"]);
        let call = |line: &str| match begin(line, &offered) {
            Some(Begin::Call(CallText::Open { tool, rest, .. })) => {
                Some((tool.to_owned(), rest.to_owned()))
            }
            _ => None,
        };
        let right = Some(("search_web".to_owned(), "x]".to_owned()));
        for line in [
            "search_web[x]",
            "- `search_web`[x]",
            "1. [Web Search] search_web[x]",
            "Use search_web[x]",
        ] {
            assert_eq!(call(line), right, "{line}");
        }
        for line in
            ["Google is good (at times)", "Bing[x]", "searching_web[x]", "search_web (the tool)"]
        {
            assert_eq!(call(line), None, "{line}");
        }
        let field = |line: &str| match begin(line, &offered) {
            Some(Begin::Field(field, found)) => Some((field, found.value.to_owned())),
            _ => None,
        };
        for line in [
            "Tool: x",
            "- **Tool:** x",
            "* **External Tool**: x",
            "2. **Tool Name** - x",
            "`Tool`: x",
        ] {
            assert_eq!(field(line), Some((label::LabelField::Tool, "x".to_owned())), "{line}");
        }
        assert_eq!(field("Toolbox: x"), None);
    }
}
