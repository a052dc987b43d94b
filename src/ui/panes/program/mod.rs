//! The program of a task (ATC), line by line: the line at which it is held, breakpoints, the calls of each line and the
//! last value that it set. Below the failing expression are the error with the values there, and the path back to the
//! tool that is to blame.

mod rows;

use ratatui::text::Line;
use ratatui::{buffer::Buffer, layout::Rect};

use self::rows::{GUTTER, ProgramRow, rows};
use super::earlier_tasks;
use super::row::note;
use super::spec::{Opened, PLAIN, PaneSpec};
use crate::action::Action;
use crate::domain::state::ProgramState;
use crate::domain::{Base, State, TaskState, words::counted};
use crate::hits::{Hits, Target};
use crate::popups::{EditProgram, Subject};
use crate::program_moment;
use crate::symbols::RECORDED;
use crate::vlist::{self, List};
use crate::window::Move;
use crate::{change, cx::Cx, pane::PaneId, text, view::View};

/// The text at the end of a row may take one part in this many.
const END: usize = 3;
/// Rows for an error below its line.
const ERROR: usize = 1;

pub const SPEC: PaneSpec = PaneSpec {
    id: PaneId::Program,
    when: shows,
    most: |state, _| {
        let lines = |task: &TaskState| {
            let lines = task.programs.iter().map(|program| program.text.lines().count());
            lines.max().unwrap_or(0)
        };
        let tasks = || state.tasks.iter().map(|task| lines(task)).filter(|lines| *lines > 0);
        let all = tasks().map(|lines| lines + 1).sum();
        Some(earlier_tasks::most(tasks().max().unwrap_or(0).max(1), all) + ERROR)
    },
    title,
    draw,
    list,
    open: |state, view| Opened::subject(subject(state, view)),
    why_not_adjust: nothing_to_edit,
    edit: |world, view| match nothing_to_edit(world.live, view) {
        None => EditProgram::of(world.live).map_or_else(Vec::new, |form| view.open(form)),
        Some(_) => change::edit_score(world, view),
    },
    go: walk,
    leave: |view| {
        if !view.looked.leave() {
            (view.program, view.program_line) = (None, None);
        }
    },
    keys: &[
        Action::Breakpoint,
        Action::RunToHere,
        Action::BackToLine,
        Action::Why,
        Action::GoToMoment,
        Action::Evaluate,
    ],
    ..PLAIN
};

/// Moves through the executed statements on the left and right keys.
pub fn walk(state: &State, view: &mut View, to: Move) -> bool {
    match to {
        Move::Left => program_moment::step(state, view, false),
        Move::Right => program_moment::step(state, view, true),
        _ => false,
    }
}

/// Whether the task has programs, or its strategy writes them.
pub fn shows(state: &State, view: &View) -> bool {
    let task = view.worked_on(state);
    let strategy = task.and_then(|task| task.strategy).unwrap_or(state.strategy);
    task.is_some_and(|task| !task.programs.is_empty()) || strategy.base == Base::Atc
}

/// Why no program can be edited; `None`: the running one is held.
pub fn nothing_to_edit(state: &State, _: &View) -> Option<&'static str> {
    match state.held_program() {
        Some(_) => None,
        None => Some("only a held program can be edited: pause it, or step to a line"),
    }
}

fn title(cx: &Cx<'_>) -> Line<'static> {
    let Some((task, program)) = cx.view.program_of(cx.state) else { return Line::default() };
    let of = match task.programs.len() {
        1 => String::new(),
        count => format!(" of {count}"),
    };
    let number = program.number;
    let looked = cx.view.looked.seen(task.id, number);
    let looked = looked.map_or_else(String::new, |it| format!(" · {RECORDED} {}", it.place()));
    let standing = standing(program);
    Line::from(format!(" · task {} · program {number}{of}{looked}{standing}", task.id))
}

fn standing(program: &ProgramState) -> String {
    let held = program.held.as_ref();
    match program.how {
        Some(how) => format!(" · {}", how.name()),
        None if program.edited.is_some() => " · replaced".to_owned(),
        None if !program.refused.is_empty() => " · cannot run".to_owned(),
        None => held.map_or_else(String::new, |at| {
            let mut outer = at.frames.iter().rev();
            let inner = outer.next().and_then(|frame| frame.function.as_deref());
            let caller = outer.next().map(|frame| frame.line);
            let inner = inner
                .zip(caller)
                .map(|(name, line)| format!(" in {name}(), called in line {line}"));
            let times = if at.hit > 1 { format!(", time {}", at.hit) } else { String::new() };
            let ahead = match at.ahead {
                0 => String::new(),
                calls => format!(" · {} ahead: not repeated", counted(calls, "call")),
            };
            format!(" · at line {}{times}{}{ahead}", at.line, inner.unwrap_or_default())
        }),
    }
}

/// The chosen line, else where the program is held, else where it failed.
pub fn line(program: &ProgramState, view: &View) -> Option<u32> {
    let last = u32::try_from(program.text.lines().count()).unwrap_or(u32::MAX);
    let held = program.held.as_ref().filter(|_| program.how.is_none()).map(|at| at.line);
    let failed = || program.error().and_then(|error| error.line());
    let line = view.program_line.or(held).or_else(failed)?;
    Some(line.min(last)).filter(|line| *line > 0)
}

/// The subject of a closer look: the last call of the chosen line; else, on the failing line, the last call of the
/// tool that is to blame; else the program.
fn subject(state: &State, view: &View) -> Option<Subject> {
    let (task, program) = view.program_of(state)?;
    let line = line(program, view);
    let calls = || program.calls.iter().rev().filter_map(|id| state.tool_call(*id));
    let of_line = calls().find(|call| call.line == line);
    let failed = program.error().and_then(|error| error.line());
    let blamed = program.blamed.as_ref().and_then(|blamed| blamed.tool.as_ref());
    let to_blame = || blamed.and_then(|tool| calls().find(|call| call.tool == *tool));
    let call = of_line.or_else(|| to_blame().filter(|_| line == failed));
    let all = Subject::Program(task.id, program.number);
    Some(call.map_or(all, |call| Subject::Call(call.id)))
}

fn list<'a>(state: &'a State, view: &View) -> List<'a> {
    let Some((_, program)) = view.program_of(state) else { return List::none() };
    let lines: Vec<String> = program.text.lines().map(str::to_owned).collect();
    let selected = line(program, view).map(|line| line as usize - 1);
    let count = lines.len();
    List::new(
        (count, selected),
        move |row| Some(row).filter(|row| *row < count),
        |row, view| view.program_line = u32::try_from(row + 1).ok(),
        move |row| lines.get(row).cloned().unwrap_or_default(),
    )
}

fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let shown = cx.view.program_of(cx.state);
    let Some((task, program)) = shown else {
        let words = "no program yet: the programmer writes one for each task";
        return note(area, words, cx.theme.dim, buf);
    };
    let rows = rows(cx, task.id, program);
    let selected = line(program, cx.view);
    let place = rows.iter().position(|row| row.line.is_some() && row.line == selected);
    // An error is below its line, so it should be visible too.
    let seen = place
        .map(|at| at + rows.iter().skip(at + 1).take_while(|it| it.line.is_none()).count().min(3));
    let (area, before) = earlier_tasks::own(rows.len(), area);
    programs_before(cx, task, before, (buf, hits));
    let (inside, bar) = vlist::beside_bar(cx, area);
    let window = vlist::window(cx, SPEC.id, area, (rows.len(), seen));
    hits.window(SPEC.id, window);
    let places = window.range().map(|i| (i, place == Some(i)));
    vlist::draw_rows(cx, (inside, buf, hits), places, |i, out| {
        draw_row(cx, &rows[i], out);
        rows[i].line.map(|line| Target::ProgramLine(task.id, program.number, line))
    });
    vlist::scrollbar(cx, bar, window, buf);
}

fn draw_row(cx: &Cx<'_>, row: &ProgramRow, out: &mut super::row::Row<'_>) {
    let ProgramRow { mark, head, text, style, end, .. } = row;
    out.cell(mark.0, 2, mark.1).right(head, GUTTER - 3, cx.theme.dim).gap(1);
    let end = text::cut(end, out.left() / END);
    let room = out.left().saturating_sub(text::width(&end) + usize::from(!end.is_empty()));
    out.cell(text, room, *style);
    if !end.is_empty() {
        out.gap(1).put(&end, cx.theme.dim);
    }
}

/// Draws the last programs of the tasks before this one.
fn programs_before(cx: &Cx<'_>, task: &TaskState, area: Rect, to: (&mut Buffer, &mut Hits)) {
    let of = |task: &TaskState| {
        let last = task.programs.last();
        last.map_or_else(Vec::new, |program| rows(cx, task.id, program))
    };
    earlier_tasks::draw(
        cx,
        task,
        area,
        to,
        |task| of(task).len(),
        |task, area, buf| {
            for (line, row) in area.rows().zip(of(task)) {
                draw_row(cx, &row, &mut super::row::Row::new(line, buf));
            }
        },
    );
}

impl View {
    /// The displayed program: the chosen one, else the last of its task. It is shown as of the displayed moment, if
    /// that is known.
    pub fn program_of<'a>(&'a self, state: &'a State) -> Option<(&'a TaskState, &'a ProgramState)> {
        let (task, program) = self.recorded_program(state)?;
        let seen = self.looked.seen(task.id, program.number);
        Some((task, seen.map_or(program, |seen| &seen.program)))
    }

    /// Like [`Self::program_of`], but as the session recorded it.
    pub fn recorded_program<'a>(
        &self,
        state: &'a State,
    ) -> Option<(&'a TaskState, &'a ProgramState)> {
        let task = self.worked_on(state)?;
        let chosen = self.program.filter(|(of, _)| *of == task.id);
        let chosen = chosen.and_then(|(_, number)| state.program(task.id, number));
        Some((task, chosen.or_else(|| task.programs.last())?))
    }
}
