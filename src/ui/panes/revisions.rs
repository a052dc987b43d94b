//! The programs of a task, from first to last: the result of each, the tool blamed for its failure, and the changes in
//! the next one.

use ratatui::{buffer::Buffer, layout::Rect, style::Style, text::Line};

use super::earlier_tasks;
use super::program_words::{changes, standing, way};
use super::row::note;
use super::spec::{Opened, PLAIN, PaneSpec};
use crate::action::Action;
use crate::domain::state::ProgramState;
use crate::domain::{Origin, ProgramVerdict, State, TaskState, words::counted};
use crate::hits::{Hits, Target};
use crate::popups::Subject;
use crate::symbols::{DONE, EDITED, EMPTY, FAILED, HELD, RECORDED, REFUSED, RUNNING};
use crate::text::clean;
use crate::vlist::{self, List};
use crate::{cx::Cx, pane::PaneId, view::View};

/// Changed lines that are shown below a program.
const CHANGES: usize = 6;

pub const SPEC: PaneSpec = PaneSpec {
    id: PaneId::Revisions,
    when: super::program::shows,
    most: |state, _| {
        let programs = || state.tasks.iter().map(|task| task.programs.len());
        let all = programs().filter(|programs| *programs > 0).map(|programs| programs + 1).sum();
        Some(earlier_tasks::most(programs().max().unwrap_or(0).max(1), all))
    },
    title: |cx| {
        let task = cx.view.worked_on(cx.state);
        let programs = task.map_or(0, |task| task.programs.len());
        Line::from(if programs == 0 { String::new() } else { format!(" {programs}") })
    },
    draw,
    list,
    open: |state, view| {
        let shown = view.program_of(state);
        Opened::subject(shown.map(|(task, program)| Subject::Program(task.id, program.number)))
    },
    leave: |view| view.program = None,
    keys: &[Action::RunAgain, Action::Compare, Action::Open],
    ..PLAIN
};

fn list<'a>(state: &'a State, view: &View) -> List<'a> {
    let Some((task, shown)) = view.recorded_program(state) else { return List::none() };
    let at = task.programs.iter().position(|program| program.number == shown.number);
    List::new(
        (task.programs.len(), at),
        move |row| task.programs.get(row),
        |program, view| {
            view.program = Some((task.id, program.number));
            view.program_line = None;
        },
        |program| format!("{} {}", standing(program), program.text),
    )
}

/// A row: a program, or a line that it changed.
struct RevisionRow {
    program: u32,
    is_first: bool,
    mark: (&'static str, Style),
    text: String,
    style: Style,
    end: String,
}

impl RevisionRow {
    fn draw(&self, cx: &Cx<'_>, out: &mut super::row::Row<'_>) {
        let RevisionRow { program, is_first, mark, text, style, end } = self;
        let number = if *is_first { program.to_string() } else { String::new() };
        out.gap(1).right(&number, 2, cx.theme.dim).gap(1).cell(mark.0, 2, mark.1);
        let room = out.left().saturating_sub(crate::text::width(end) + 1);
        out.cell(text, room, *style).gap(1).put(end, cx.theme.dim);
    }
}

fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let Some((task, shown)) = cx.view.recorded_program(cx.state) else {
        return note(area, "no program yet", cx.theme.dim, buf);
    };
    let rows = rows(cx, task);
    let (area, before) = earlier_tasks::own(rows.len(), area);
    let needs = |task: &TaskState| self::rows(cx, task).len();
    earlier_tasks::draw(cx, task, before, (buf, hits), needs, |task, area, buf| {
        for (line, row) in area.rows().zip(self::rows(cx, task)) {
            row.draw(cx, &mut super::row::Row::new(line, buf));
        }
    });
    let place = rows.iter().position(|row| row.is_first && row.program == shown.number);
    let (inside, bar) = vlist::beside_bar(cx, area);
    let window = vlist::window(cx, SPEC.id, area, (rows.len(), place));
    hits.window(SPEC.id, window);
    let places = window.range().map(|i| (i, place == Some(i)));
    vlist::draw_rows(cx, (inside, buf, hits), places, |i, out| {
        rows[i].draw(cx, out);
        Some(Target::Program(task.id, rows[i].program))
    });
    vlist::scrollbar(cx, bar, window, buf);
}

fn rows(cx: &Cx<'_>, task: &TaskState) -> Vec<RevisionRow> {
    let theme = cx.theme;
    let mut rows = Vec::new();
    let mut before: Option<&ProgramState> = None;
    for program in &task.programs {
        let row = |mark, text: String, style, end| RevisionRow {
            program: program.number,
            is_first: false,
            mark,
            text: clean(&text).into_owned(),
            style,
            end,
        };
        let calls = calls(cx.state, program);
        let first = row(mark(cx, program), standing(program), theme.text, calls);
        rows.push(RevisionRow { is_first: true, ..first });
        if let Some(blamed) = &program.blamed {
            rows.push(row(("", theme.dim), way(blamed), theme.dim, String::new()));
        }
        let changes = before.map_or_else(Vec::new, |before| changes(before, program));
        let left_out = changes.len().saturating_sub(CHANGES);
        for (sign, line) in changes.into_iter().take(CHANGES) {
            let style = if sign == "+" { theme.title } else { theme.dim };
            rows.push(row((sign, style), line, style, String::new()));
        }
        if left_out > 0 {
            let more = format!("{} more changed", counted(left_out, "line"));
            rows.push(row(("", theme.dim), more, theme.dim, String::new()));
        }
        if !program.text.is_empty() {
            before = Some(program);
        }
    }
    rows
}

fn mark(cx: &Cx<'_>, program: &ProgramState) -> (&'static str, Style) {
    let theme = cx.theme;
    match program.how {
        _ if !program.refused.is_empty() => (REFUSED, theme.warn),
        _ if program.edited.is_some() => (EDITED, theme.dim),
        Some(ProgramVerdict::Fine) => (DONE, theme.good),
        Some(ProgramVerdict::Doubtful) => (EMPTY, theme.warn),
        Some(ProgramVerdict::Failed) => (FAILED, theme.warn),
        None if cx.state.held_program().is_some() => (HELD, theme.accent),
        None => (RUNNING, theme.accent),
    }
}

/// The number of calls, and of those answered from the record.
fn calls(state: &State, program: &ProgramState) -> String {
    let calls = || program.calls.iter().filter_map(|id| state.tool_call(*id));
    let reused = calls().filter(|call| call.origin == Origin::Reused).count();
    let reused = if reused > 0 { format!(", {reused} {RECORDED}") } else { String::new() };
    match calls().count() {
        0 => String::new(),
        count => format!("{}{reused}", counted(count, "call")),
    }
}
