//! The program in a model's reply.
//!
//! 1. Thoughts between `<think>` and `</think>` are dropped.
//! 2. Of several Python fences the last one that parses is taken, with the earlier ones that bind a name which it uses
//!    and does not bind. Two complete programs are never joined. If none parses, the last is taken, and its syntax
//!    error is the error.
//! 3. Without any fence the whole reply is taken if it parses and has a call or an assignment.

use std::borrow::Cow;
use std::collections::BTreeSet;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, Stmt};
use thiserror::Error;

use super::fence::{Fence, fences, without_blank_ends};
use super::names::PieceNames;
use super::syntax::{NoSyntax, Tree};
use crate::domain::words::clipped;

/// Characters of a tag that a reason shows.
const TAG: usize = 20;
/// Tags that a reason shows.
const TAGS: usize = 4;

/// Why a reply has no program. The model that is called again gets this text.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoProgram {
    #[error("the reply is empty")]
    Empty,
    #[error("the Python fence is empty")]
    EmptyFence,
    #[error("the reply has fences ({0}), but none of Python")]
    OtherFences(String),
    #[error("the reply has no fence, and as a whole it is no Python: {0}")]
    NoPython(NoSyntax),
    #[error("the reply has no fence, and as a whole it neither calls nor assigns anything")]
    NoStatement,
}

/// The program in a reply, with `\n` at the ends of lines and without blank lines around it. It need not parse.
///
/// # Errors
///
/// The reply has no program.
pub fn extract(reply: &str) -> Result<String, NoProgram> {
    let reply = reply.replace("\r\n", "\n");
    let reply = without_thoughts(&reply);
    if reply.trim().is_empty() {
        return Err(NoProgram::Empty);
    }
    let fences = fences(&reply);
    if fences.is_empty() {
        return unfenced(&reply);
    }
    let python: Vec<&Fence> = fences.iter().filter(|fence| fence.is_python()).collect();
    if python.is_empty() {
        return Err(NoProgram::OtherFences(tags(&fences)));
    }
    let full: Vec<&str> =
        python.iter().map(|fence| fence.text.as_str()).filter(|text| !text.is_empty()).collect();
    joined(&full).ok_or(NoProgram::EmptyFence)
}

/// The text without thoughts. Their tags begin lines, so that a program can have such a tag in a string.
fn without_thoughts(text: &str) -> Cow<'_, str> {
    const BEGIN: &str = "<think>";
    const END: &str = "</think>";
    let mut kept = Cow::Borrowed(text);
    // Some templates leave out the beginning.
    if let Some(end) = text.find(END).filter(|end| !text[..*end].contains(BEGIN)) {
        kept = Cow::Borrowed(&text[end + END.len()..]);
    }
    while let Some(begin) = line_with(&kept, BEGIN) {
        let end = kept[begin..].find(END).map_or(kept.len(), |end| begin + end + END.len());
        kept = Cow::Owned(format!("{}{}", &kept[..begin], &kept[end..]));
    }
    kept
}

/// The position at which a line begins with these words.
fn line_with(text: &str, words: &str) -> Option<usize> {
    let mut at = 0;
    text.split_inclusive('\n').find_map(|line| {
        let blank = line.len() - line.trim_start().len();
        let begin = at + blank;
        at += line.len();
        line[blank..].starts_with(words).then_some(begin)
    })
}

fn unfenced(reply: &str) -> Result<String, NoProgram> {
    let lines: Vec<&str> = reply.lines().collect();
    let text = without_blank_ends(&lines);
    let tree = Tree::parse(&text).map_err(NoProgram::NoPython)?;
    let mut acts = Acts(false);
    acts.visit_body(tree.body());
    if acts.0 { Ok(text) } else { Err(NoProgram::NoStatement) }
}

/// Whether a program calls or assigns anything. A single word is Python too.
struct Acts(bool);

impl<'t> Visitor<'t> for Acts {
    fn visit_stmt(&mut self, stmt: &'t Stmt) {
        self.0 |= matches!(stmt, Stmt::Assign(_) | Stmt::AugAssign(_));
        self.0 |= matches!(stmt, Stmt::AnnAssign(assign) if assign.value.is_some());
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'t Expr) {
        self.0 |= matches!(expr, Expr::Call(_) | Expr::Named(_));
        walk_expr(self, expr);
    }
}

/// The last text that parses, with the earlier ones that it needs; the last one if none parses.
fn joined(texts: &[&str]) -> Option<String> {
    let trees: Vec<_> = texts.iter().map(|text| Tree::parse(text).ok()).collect();
    let Some(last) = trees.iter().rposition(Option::is_some) else {
        return texts.last().map(|text| (*text).to_owned());
    };
    let names: Vec<PieceNames> =
        trees.iter().map(|tree| tree.as_ref().map(PieceNames::of).unwrap_or_default()).collect();
    let mut needs: BTreeSet<&str> = names[last].needs();
    let mut taken = vec![texts[last]];
    for (text, names) in texts[..last].iter().zip(&names).rev() {
        if !names.offers.is_disjoint(&needs) {
            taken.push(text);
            needs = &needs - &names.offers;
            needs.extend(names.needs());
        }
    }
    taken.reverse();
    Some(taken.join("\n"))
}

/// The tags of fences, as a reason shows them.
fn tags(fences: &[Fence]) -> String {
    let mut shown: Vec<String> = fences.iter().map(|fence| clipped(&fence.tag, TAG)).collect();
    shown.dedup();
    if shown.len() > TAGS {
        shown.truncate(TAGS);
        shown.push("…".to_owned());
    }
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fenced(programs: &[&str]) -> String {
        programs.iter().map(|program| format!("Then:\n```python\n{program}\n```\n")).collect()
    }

    #[test]
    fn reasons_say_what_the_reply_is_instead() {
        for (reply, reason) in [
            (" \n", "the reply is empty"),
            ("```\n\n```", "the Python fence is empty"),
            (
                "```json\n{}\n```\n```bash\nls\n```",
                "the reply has fences (json, bash), but none of Python",
            ),
            (
                "Hello",
                "the reply has no fence, and as a whole it neither calls nor assigns anything",
            ),
            ("<think>so", "the reply is empty"),
        ] {
            assert_eq!(extract(reply).unwrap_err().to_string(), reason, "{reply}");
        }
        let prose = extract("I am sorry.").unwrap_err().to_string();
        assert!(
            prose.starts_with("the reply has no fence, and as a whole it is no Python: line 1: ")
        );
    }

    #[test]
    fn what_a_program_needs_is_found_through_other_pieces() {
        let chain =
            fenced(&["import json", "def f(x):\n    return json.loads(x)", "print(f(tool()))"]);
        let joined = "import json\ndef f(x):\n    return json.loads(x)\nprint(f(tool()))";
        assert_eq!(extract(&chain).unwrap(), joined);
        let versions = fenced(&["r = f(1)", "r = f(2)", "print(r)"]);
        assert_eq!(extract(&versions).unwrap(), "r = f(2)\nprint(r)");
        let local = fenced(&["def g():\n    r = 1", "print(r)"]);
        assert_eq!(
            extract(&local).unwrap(),
            "print(r)",
            "a local name of a function is not offered"
        );
    }

    #[test]
    fn thoughts_are_dropped_where_they_begin_a_line() {
        let reply = "so f(\n</think>\n```python\nx = \"<think>\"\n```";
        assert_eq!(extract(reply).unwrap(), "x = \"<think>\"");
        let two = "<think>a</think>\n<think>b</think>x = 1";
        assert_eq!(extract(two).unwrap(), "x = 1");
    }

    proptest! {
        #[test]
        fn any_reply_ends_in_a_program_or_a_reason(
            reply in "(```|~~~|python|\n|x = |f\\(|\\)|<think>|</think>| |é|\"|def g\\(\\):|#|\t|\r){0,40}",
        ) {
            match extract(&reply) {
                Ok(program) => prop_assert!(!program.trim().is_empty()),
                Err(reason) => prop_assert!(!reason.to_string().contains('\n')),
            }
        }
    }
}
