//! The rows of a program: its lines, the error below a failing line, and the outcome.

use ratatui::style::Style;

use crate::cx::Cx;
use crate::domain::breakpoint::BreakpointPlace;
use crate::domain::program::Set;
use crate::domain::state::ProgramState;
use crate::domain::{Origin, ProgramVerdict, TaskId, ToolCallPhase, ToolCallState};
use crate::panes::inline_json;
use crate::panes::program_words::{said, shown, way};
use crate::symbols::{CHOSEN, DONE, FAILED, HELD, RECORDED, REFUSED, RUNNING, WAITING};
use crate::text::{self, clean};

/// Cells before the program: a mark and the number of the line.
pub(super) const GUTTER: usize = 7;
/// Cells of a value at the end of its line.
const VALUE: usize = 32;

/// A row of the pane.
pub(super) struct ProgramRow {
    pub mark: (&'static str, Style),
    pub head: String,
    pub text: String,
    pub style: Style,
    /// The text at the row's end.
    pub end: String,
    /// The number of the program's line, if the row is one.
    pub line: Option<u32>,
}

pub(super) fn rows(cx: &Cx<'_>, task: TaskId, program: &ProgramState) -> Vec<ProgramRow> {
    let looks_back = cx.view.looked.seen(task, program.number).is_some();
    let writer = Writer { cx, looks_back };
    let mut rows = writer.lines(program);
    rows.extend(writer.after(program));
    rows
}

struct Writer<'a> {
    cx: &'a Cx<'a>,
    /// Whether the pane shows another moment than the program's present.
    looks_back: bool,
}

impl Writer<'_> {
    /// The program, with the error below its line.
    fn lines(&self, program: &ProgramState) -> Vec<ProgramRow> {
        let theme = self.cx.theme;
        let error = program.error();
        let held = program.held.as_ref().filter(|_| program.how.is_none()).map(|at| at.line);
        let here = match self.looks_back {
            true => (RECORDED, theme.past),
            false => (HELD, theme.accent),
        };
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
            let breakpoint = self.cx.state.breakpoint_of(&BreakpointPlace::Line(number));
            let mark = match breakpoint {
                _ if held == Some(number) => here,
                _ if runs => (RUNNING, theme.accent),
                _ if failed => (FAILED, theme.warn),
                Some((_, known)) if known.on => (CHOSEN, theme.bad),
                Some(_) => (WAITING, theme.dim),
                None => ("", theme.dim),
            };
            let (head, text) = (number.to_string(), clean(line).into_owned());
            let ends = [
                marks(&calls),
                values(program, number).or_else(|| result(&calls)).unwrap_or_default(),
            ];
            let end = ends.into_iter().filter(|end| !end.is_empty()).collect::<Vec<_>>().join(" ");
            rows.push(ProgramRow { mark, head, text, style: theme.text, end, line: Some(number) });
            if let Some(span) = error.filter(|_| failed).and_then(|error| error.span) {
                let width = match span.end_line == span.line {
                    true => span.end_column.saturating_sub(span.column),
                    false => 1,
                };
                let room = " ".repeat(span.column.saturating_sub(1) as usize);
                let caret = "~".repeat(width.max(1) as usize);
                let had = error.and_then(|error| error.had.as_deref()).unwrap_or_default();
                rows.push(self.note(format!("{room}{caret} {}", clean(had)), theme.warn));
            }
        }
        rows
    }

    /// The errors, who is to blame, and what was printed.
    fn after(&self, program: &ProgramState) -> Vec<ProgramRow> {
        let theme = self.cx.theme;
        let mut rows = Vec::new();
        let end = program.end.as_deref();
        let errors = program.refused.iter().chain(end.and_then(|end| end.error.as_ref()));
        rows.extend(errors.map(|error| self.note(clean(&said(error)).into_owned(), theme.warn)));
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

    fn note(&self, text: String, style: Style) -> ProgramRow {
        let mark = ("", self.cx.theme.dim);
        ProgramRow { mark, head: String::new(), text, style, end: String::new(), line: None }
    }
}

/// The last values that a line gave to variables; a single value without its name.
fn values(program: &ProgramState, line: u32) -> Option<String> {
    let set: Vec<_> = program.values_of(line).collect();
    let one = |set: &Set| format!("{} = {}", set.name, shown(&set.value, VALUE));
    let shown = match set.as_slice() {
        [] => return None,
        [only] => shown(&only.value, VALUE),
        several => several.iter().map(|set| one(set)).collect::<Vec<_>>().join(", "),
    };
    Some(clean(&shown).into_owned())
}

/// The result of the last call of a line, shown until the program has reported its values.
fn result(calls: &[&ToolCallState]) -> Option<String> {
    let text = calls.iter().rev().find_map(|call| match &call.phase {
        ToolCallPhase::Done { output } => Some(output.text.as_str()),
        _ => None,
    })?;
    let shown = match inline_json::of_text(text, VALUE) {
        Some(fields) => format!("{{{fields}}}"),
        None => text::start(text, VALUE * 4).to_owned(),
    };
    Some(clean(&shown).into_owned())
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
