//! A session as one HTML file to send to a colleague: summary, tools, graph, and each task with its lanes and its
//! transcript. It has no scripts, and loads nothing.

mod graph;
mod lanes;
pub mod page;
mod summary;
mod transcript;

use self::page::{document, element};
use super::Report;
use crate::domain::words::counted;
use crate::domain::{State, TaskState};

/// The most tasks of a page: with more, a browser could not open it.
pub const MOST: usize = 1000;

/// The page of a session with this report. The tasks whose details the state has are shown.
pub fn html<T>(state: &State, report: &Report<T>, title: &str) -> String {
    let shown = state.tasks.iter().filter(|task| !state.is_bare(task.id));
    let left_out = match state.tasks.len() - shown.clone().count() {
        0 => String::new(),
        n => {
            let text = format!(
                "{} before these are in the sums only; tools and their paths are those of the tasks below. \
                 `toolyard report` without --html lists all.",
                counted(n, "task")
            );
            element("p", "dim", &text)
        }
    };
    let tasks: String = shown.map(|task| details(state, task)).collect();
    let others = transcript::lines(state, None);
    let others = match others.is_empty() {
        true => String::new(),
        false => format!("<h2>Before and between tasks</h2>\n{others}"),
    };
    let body = format!(
        "{}{}{}<h2>Tasks</h2>\n{left_out}{tasks}{others}",
        summary::summary(state, report),
        summary::tools(state, report),
        graph::section(state),
    );
    document(title, &body)
}

/// A task that can be opened. Tasks that went wrong are open at first.
fn details(state: &State, task: &TaskState) -> String {
    let (class, word) = match (task.correct, task.is_solved()) {
        (Some(true), _) => ("good", "right"),
        (Some(false), _) => ("bad", "wrong"),
        (None, true) => ("good", "answered"),
        (None, false) => ("bad", "not answered"),
    };
    let open = if class == "bad" { " open" } else { "" };
    format!(
        "<details{open}>\n<summary>{} {} {}</summary>\n{}{}</details>\n",
        element("span", "dim", &format!("{}", task.id)),
        element("b", class, word),
        element("span", "", &task.task.text),
        lanes::lanes(state, task),
        transcript::lines(state, Some(task.id)),
    )
}
