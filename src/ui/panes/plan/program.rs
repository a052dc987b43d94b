//! The programs of a task (ATC): each earlier one in two lines, and the last one line by line, with its calls, where it is
//! held, its error below the failing expression, and the way back to the tool that is to blame.

use ratatui::style::Style;
use ratatui::{buffer::Buffer, layout::Rect};

use crate::domain::state::{Blamed, ProgramState};
use crate::domain::{Origin, ProgramVerdict, TaskState, ToolCallPhase, ToolCallState};
use crate::ui::hits::{Hits, Target};
use crate::ui::symbols::{DONE, FAILED, HELD, RECORDED, REFUSED, RUNNING, WAITING};
use crate::ui::text::clean;
use crate::ui::{cx::Cx, text, vlist};

/// Cells before the program: a mark and the number of the line.
const GUTTER: usize = 7;

/// A row of the pane.
struct Row {
    mark: (&'static str, Style),
    head: String,
    text: String,
    style: Style,
    /// What stands at its end.
    end: String,
    target: Option<Target>,
}

/// The words in the title of the pane.
pub(super) fn title(task: &TaskState) -> Option<String> {
    let last = task.programs.last()?;
    let how = match (last.how, &last.held) {
        (Some(how), _) => format!(" · {}", how.name()),
        (None, _) if !last.refused.is_empty() => " · cannot run".to_owned(),
        (None, Some(at)) => format!(" · at line {}", at.line),
        (None, None) => String::new(),
    };
    Some(format!(" · program {}{how}", last.number))
}

pub(super) fn draw(cx: &Cx<'_>, task: &TaskState, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let rows = Programs { cx, task }.rows();
    let (inside, bar) = vlist::beside_bar(cx, area);
    let held = rows.iter().position(|row| row.mark.0 == RUNNING || row.mark.0 == HELD);
    let window = vlist::window(cx, super::SPEC.id, area, (rows.len(), held));
    hits.window(super::SPEC.id, window);
    let places = (window.first..rows.len()).map(|i| (i, false));
    vlist::draw_rows(cx, (inside, buf, hits), places, |i, out| {
        let Row { mark, head, text, style, end, target } = &rows[i];
        out.cell(mark.0, 2, mark.1).right(head, GUTTER - 3, cx.theme.dim).gap(1);
        let room = out.left().saturating_sub(text::width(end) + usize::from(!end.is_empty()));
        out.cell(text, room, *style);
        if !end.is_empty() {
            out.gap(1).put(end, cx.theme.dim);
        }
        target.clone()
    });
    vlist::scrollbar(cx, bar, window, buf);
}

struct Programs<'a> {
    cx: &'a Cx<'a>,
    task: &'a TaskState,
}

impl Programs<'_> {
    fn rows(&self) -> Vec<Row> {
        let (last, earlier) = match self.task.programs.split_last() {
            Some((last, earlier)) => (Some(last), earlier),
            None => (None, &[][..]),
        };
        let mut rows: Vec<Row> = earlier.iter().flat_map(|program| self.earlier(program)).collect();
        if let Some(last) = last {
            rows.extend(self.lines(last));
            rows.extend(self.after(last));
        }
        rows
    }

    /// What became of a program that was revised.
    fn earlier(&self, program: &ProgramState) -> Vec<Row> {
        let theme = self.cx.theme;
        let why = program.error().map_or_else(
            || program.how.map_or("", ProgramVerdict::name).to_owned(),
            |error| error.summary(),
        );
        let mut row = self.note(clean(&why).into_owned(), theme.warn);
        row.mark = (if program.refused.is_empty() { FAILED } else { REFUSED }, theme.warn);
        row.head = program.number.to_string();
        let blamed = program.blamed.as_ref().map(|blamed| self.note(way(blamed), theme.dim));
        [row].into_iter().chain(blamed).collect()
    }

    /// The program, with the error below its line.
    fn lines(&self, program: &ProgramState) -> Vec<Row> {
        let theme = self.cx.theme;
        let error = program.error();
        let held = program.held.as_ref().filter(|_| program.how.is_none()).map(|at| at.line);
        let mut rows = Vec::new();
        for (number, line) in (1_u32..).zip(program.text.lines()) {
            let calls: Vec<&ToolCallState> = program
                .calls
                .iter()
                .filter_map(|id| self.cx.state.tool_call(*id))
                .filter(|call| call.line == Some(number))
                .collect();
            let runs = calls.iter().any(|call| !call.phase.is_over());
            let failed = error.is_some_and(|error| error.line() == Some(number));
            let mark = match () {
                () if held == Some(number) => (HELD, theme.accent),
                () if runs => (RUNNING, theme.accent),
                () if failed => (FAILED, theme.warn),
                () => ("", theme.dim),
            };
            let target = calls.last().map(|call| Target::Call(call.id));
            let (head, text, end) = (number.to_string(), clean(line).into_owned(), marks(&calls));
            rows.push(Row { mark, head, text, style: theme.text, end, target });
            if let Some(span) = error.filter(|_| failed).and_then(|error| error.span) {
                let width = match span.end_line == span.line {
                    true => span.end_column.saturating_sub(span.column),
                    false => 1,
                };
                let room = " ".repeat(span.column.saturating_sub(1) as usize);
                let caret = format!("{room}{}", "~".repeat(width.max(1) as usize));
                rows.push(self.note(caret, theme.warn));
            }
        }
        rows
    }

    /// The errors, who is to blame, and what was printed.
    fn after(&self, program: &ProgramState) -> Vec<Row> {
        let theme = self.cx.theme;
        let mut rows = Vec::new();
        let end = program.end.as_deref();
        let errors = program.refused.iter().chain(end.and_then(|end| end.error.as_ref()));
        for error in errors {
            let hint = error.hint.as_ref().map_or_else(String::new, |hint| format!(" ({hint})"));
            rows.push(
                self.note(clean(&format!("{}{hint}", error.summary())).into_owned(), theme.warn),
            );
        }
        rows.extend(program.blamed.as_ref().map(|blamed| self.note(way(blamed), theme.text)));
        let is_fine = program.how == Some(ProgramVerdict::Fine);
        for (i, line) in end.into_iter().flat_map(|end| end.printed.lines()).enumerate() {
            let mut row =
                self.note(clean(line).into_owned(), if is_fine { theme.title } else { theme.dim });
            if i == 0 {
                row.mark = (if is_fine { DONE } else { WAITING }, theme.good);
            }
            rows.push(row);
        }
        rows
    }

    fn note(&self, text: String, style: Style) -> Row {
        let mark = ("", self.cx.theme.dim);
        Row { mark, head: String::new(), text, style, end: String::new(), target: None }
    }
}

/// The tool that is to blame, and the way to it.
fn way(blamed: &Blamed) -> String {
    let Some(tool) = &blamed.tool else { return "no tool is to blame".to_owned() };
    let path = blamed.path.iter().map(|(name, line)| format!("{name} ({line})"));
    let path = path.collect::<Vec<_>>().join(", from ");
    let path = if path.is_empty() { path } else { format!(": {path}") };
    format!("blamed {tool}, {}{path}", blamed.by.name())
}

/// How the calls of a line ended, such as `✓×3 ↺ ✗`.
fn marks(calls: &[&ToolCallState]) -> String {
    let glyph = |call: &ToolCallState| match call.phase {
        ToolCallPhase::Requested | ToolCallPhase::Running => RUNNING,
        ToolCallPhase::Done { .. } if call.origin == Origin::Reused => RECORDED,
        ToolCallPhase::Done { .. } => DONE,
        ToolCallPhase::Failed { .. } => FAILED,
        ToolCallPhase::Refused { .. } => REFUSED,
    };
    let mut runs: Vec<(&str, usize)> = Vec::new();
    for call in calls {
        let glyph = glyph(call);
        match runs.last_mut() {
            Some((last, count)) if *last == glyph => *count += 1,
            _ => runs.push((glyph, 1)),
        }
    }
    let shown = runs.iter().map(|(glyph, count)| match count {
        1 => (*glyph).to_owned(),
        count => format!("{glyph}×{count}"),
    });
    shown.collect::<Vec<_>>().join(" ")
}
