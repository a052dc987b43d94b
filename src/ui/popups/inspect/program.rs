//! A program of a task in full, and one of its variables.

use super::Page;
use crate::domain::state::ProgramState;
use crate::domain::{State, TaskId};
use crate::panes::program_words::{Variable, changes, standing, variables, way};
use crate::strategy::prompt::program::failure;

pub(super) fn write(state: &State, task: TaskId, number: u32, page: &mut Page<'_>) {
    let Some(program) = state.program(task, number) else {
        return page.not_yet("This program did not exist");
    };
    page.field("task", &task.to_string());
    page.field("program", &format!("{number}: {}", standing(program)));
    if let Some(blamed) = &program.blamed {
        page.field("blame", &way(blamed));
    }
    page.heading("Program");
    match program.error() {
        Some(error) => page.text(&failure(&program.text, error), page.theme.text),
        None => page.text(&numbered(&program.text), page.theme.text),
    }
    let before = number.checked_sub(1).and_then(|before| state.program(task, before));
    let changes = before.map_or_else(Vec::new, |before| changes(before, program));
    if !changes.is_empty() {
        let lines = changes.iter().map(|(sign, line)| format!("{sign} {line}"));
        let lines = lines.collect::<Vec<_>>().join("\n");
        page.section("Changes from the previous program", &lines, page.theme.text);
    }
    if let Some(edited) = &program.edited {
        page.section("Replaced by yours", &numbered(edited), page.theme.user);
    }
    let printed = program.end.as_ref().map_or("", |end| end.printed.trim());
    if !printed.is_empty() {
        page.section("Printed", printed, page.theme.text);
    }
}

pub(super) fn numbered(text: &str) -> String {
    let lines =
        (1..).zip(text.lines()).map(|(number, line): (u32, _)| format!("{number:>4}  {line}"));
    lines.collect::<Vec<_>>().join("\n")
}

pub(super) fn variable(state: &State, task: TaskId, number: u32, name: &str, page: &mut Page<'_>) {
    let found = state.program(task, number).and_then(|program| of_name(program, name));
    let Some(found) = found else { return page.not_yet("This had no value") };
    page.field("program", &format!("{number} of task {task}"));
    page.field("name", name);
    match found {
        Variable::Set(set) => {
            page.field("set in", &format!("line {}", set.line));
            page.heading("Value");
            page.json(&set.value);
        }
        Variable::Told(told) => match &told.value {
            Ok(value) => {
                page.heading("Value");
                page.json(value);
            }
            Err(why) => page.field_in("raised", why, page.theme.warn),
        },
    }
}

pub(super) fn of_name<'a>(program: &'a ProgramState, name: &str) -> Option<Variable<'a>> {
    variables(program).into_iter().find(|it| it.name() == name)
}
