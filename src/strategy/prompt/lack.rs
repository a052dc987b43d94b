//! Replies of a planner or a programmer in place of a plan or a program, where other tools may be offered.

use crate::domain::ToolName;
use crate::domain::markers::{KEEPING, LACKING};

/// The missing capabilities that the reply names, if any.
pub fn lacking(text: &str) -> Vec<&str> {
    let said = text.lines().filter_map(|line| line.trim().strip_prefix(LACKING));
    said.map(str::trim).collect()
}

/// The offered tools that the reply wants to keep, by the names under which they were shown; `None` if it names none.
pub fn keeping<'o>(
    text: &str,
    offered: impl Iterator<Item = (&'o str, &'o ToolName)>,
) -> Option<Vec<ToolName>> {
    let said = text.lines().find_map(|line| line.trim().strip_prefix(KEEPING))?;
    let is_name = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    let names: Vec<&str> = said.split(|c| !is_name(c)).collect();
    let kept = offered.filter(|(shown, _)| names.contains(shown));
    Some(kept.map(|(_, tool)| tool.clone()).collect())
}
