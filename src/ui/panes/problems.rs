//! Problems, the newest first: what went wrong, and what the model did next. Each row leads to its call or its task.

use ratatui::{buffer::Buffer, layout::Rect, text::Line};

use super::row::{Row, note};
use super::spec::{Opened, PLAIN, PaneSpec};
use crate::action::Action;
use crate::domain::{
    State,
    state::{AgentProblem, NextMove, ProblemKind},
};
use crate::hits::{Hits, Target};
use crate::symbols::{FAILED, INJECTED};
use crate::vlist::{self, List};
use crate::{cx::Cx, pane::PaneId, popups::Subject, text, view::View};

/// Cells of the time.
const TIME: usize = 6;
/// The sign of a problem that fails nothing by itself.
const LOOK: &str = "!";

pub const SPEC: PaneSpec = PaneSpec {
    id: PaneId::Problems,
    when: |state, _| state.watched.is_some() || !state.problems.is_empty(),
    most: |state, _| Some(state.problems.kept().len().max(3)),
    title,
    draw,
    list,
    filters: |_| Some("problem"),
    open,
    why_not_adjust: |_, _| Some("a problem cannot be changed"),
    leave: |view| {
        if view.problem.take().is_some() {
            view.task = None;
        }
    },
    keys: &[Action::GoToMoment, Action::PreviousProblem, Action::NextProblem],
    ..PLAIN
};

/// The problem in a row: the newest is in the first.
fn at(state: &State, row: usize) -> Option<&AgentProblem> {
    state.problems.kept().iter().rev().nth(row).map(|problem| &**problem)
}

fn row_of(state: &State, number: u64) -> Option<usize> {
    state.problems.kept().iter().rev().position(|problem| problem.number == number)
}

/// The selected problem, else the newest.
pub fn selected<'a>(state: &'a State, view: &View) -> Option<&'a AgentProblem> {
    let row = view.problem.and_then(|number| row_of(state, number));
    at(state, row.unwrap_or(0))
}

fn title(cx: &Cx<'_>) -> Line<'static> {
    match cx.state.problems_count() {
        0 => Line::default(),
        count => Line::from(format!(" · {}", text::number(count))),
    }
}

fn list<'a>(state: &'a State, view: &View) -> List<'a> {
    let place = selected(state, view).and_then(|problem| row_of(state, problem.number));
    List::new(
        (state.problems.kept().len(), place),
        |row| at(state, row),
        |problem, view| {
            view.choose_problem(state, problem.number);
        },
        |problem| format!("{} {} {}", words(problem), then(problem), problem.said),
    )
}

/// The page of the call, or of the task. A call whose details are gone is looked at where it happened.
fn open(state: &State, view: &View) -> Opened {
    let Some(problem) = selected(state, view) else { return Opened::Nothing };
    match problem.call {
        None => Opened::Subject(Subject::Task(problem.task)),
        Some(call) if state.tool_call(call).is_some() => Opened::Subject(Subject::Call(call)),
        Some(call) if state.model_call(call).is_some() => Opened::Subject(Subject::Prompt(call)),
        Some(_) => Opened::Act(Action::GoToMoment),
    }
}

fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    if cx.state.problems.is_empty() {
        return note(area, "no problems yet", cx.theme.dim, buf);
    }
    let rows = list(cx.state, cx.view).place;
    vlist::draw(cx, SPEC.id, (area, buf, hits), rows, |i, row| {
        let problem = at(cx.state, i)?;
        draw_one(cx, problem, row);
        Some(Target::Problem(problem.number))
    });
}

fn draw_one(cx: &Cx<'_>, problem: &AgentProblem, row: &mut Row<'_>) {
    let (sign, style) = match (problem.injected, problem.kind) {
        (true, _) => (INJECTED, cx.theme.injected),
        (false, ProblemKind::ToolFailed | ProblemKind::ModelFailed | ProblemKind::TaskFailed) => {
            (FAILED, cx.theme.bad)
        }
        (false, _) => (LOOK, cx.theme.warn),
    };
    row.gap(1).cell(sign, 1, style).right(&time(problem.at), TIME, cx.theme.dim).gap(2);
    row.put(&words(problem), cx.theme.text);
    row.put(&format!(", task {}", problem.task), cx.theme.dim);
    let then = then(problem);
    if !then.is_empty() {
        row.put(" · then: ", cx.theme.dim).put(&then, cx.theme.text);
    }
    if !problem.said.is_empty() {
        row.put(" · ", cx.theme.dim).put(&problem.said, cx.theme.dim);
    }
}

/// Seconds with a tenth; from ten minutes on, minutes and seconds.
fn time(micros: u64) -> String {
    match micros / 1_000_000 {
        seconds @ 0..600 => format!("{seconds}.{}", micros / 100_000 % 10),
        seconds => format!("{}:{:02}", seconds / 60, seconds % 60),
    }
}

/// A problem in a few words, without its task.
pub fn words(problem: &AgentProblem) -> String {
    let about = &problem.about;
    let by = if problem.injected { " (injected)" } else { "" };
    match problem.kind {
        ProblemKind::ToolFailed | ProblemKind::ModelFailed => format!("{about} failed{by}"),
        ProblemKind::TaskFailed => about.to_string(),
        ProblemKind::Spoilt => format!("{about} gave something else{by}"),
        ProblemKind::SaysError => format!("the result of {about} says an error"),
        ProblemKind::Arguments => format!("{about}: the arguments break its schema"),
        ProblemKind::NoResult => format!("{about}: the agent never sent its result"),
        ProblemKind::Loop => format!("loop: {about}, three times with the same results"),
        ProblemKind::CutAnswer => format!("the answer of {about} was cut off{by}"),
        ProblemKind::DroppedInput => format!("{about} did not read the whole prompt"),
        ProblemKind::LostPrefix => format!("the cached part of the prompt broke at {about}"),
        ProblemKind::Rewritten if **about == *"1" => "the agent dropped a message".to_owned(),
        ProblemKind::Rewritten => format!("the agent dropped {about} messages"),
        ProblemKind::Drifted => format!("{about} returned something else than recorded"),
        ProblemKind::Parted => format!("the record ends here: {about} differs"),
    }
}

/// The next move of the model in a few words; empty if that says nothing about the problem.
pub fn then(problem: &AgentProblem) -> String {
    if !problem.has_next() {
        return String::new();
    }
    match &problem.next {
        None => "nothing yet".to_owned(),
        Some(NextMove::Again) => "called it again".to_owned(),
        Some(NextMove::Called(tool)) => format!("called {tool}"),
        Some(NextMove::Answered) if problem.kind == ProblemKind::ToolFailed => {
            "answered without it".to_owned()
        }
        Some(NextMove::Answered) => "answered".to_owned(),
        Some(NextMove::Ended) => "ended".to_owned(),
    }
}
