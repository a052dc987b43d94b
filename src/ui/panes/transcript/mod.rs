//! The session as a readable text. Entries take as many rows as they need; only visible ones are built, from the end
//! backwards while the newest is followed.

mod entry;
mod sheet;

use ratatui::{buffer::Buffer, layout::Rect, text::Line};

use super::row::{Row, note};
use super::spec::{Opened, PLAIN, PaneSpec};
use super::tasks::not_started;
use crate::domain::State;
use crate::domain::state::{TranscriptLine, What};
use crate::hits::{Hits, Target};
use crate::update::edits;
use crate::vlist::{self, List};
use crate::window::Window;
use crate::{action::Action, popups::Subject, theme::Theme, view::View};
use crate::{cx::Cx, pane::PaneId, window::Move};

/// From this width on every entry has the number of its event, with this many digits at least.
const WITH_NUMBER: u16 = 44;
const DIGITS: u16 = 4;
/// From this width on every entry has its time.
const WITH_TIME: u16 = 96;
const TIME: u16 = 9;
/// Width of a pane that was not drawn yet.
const UNKNOWN: u16 = 80;
/// The number of lines at the end that may still change, since their calls have not ended.
const MAY_CHANGE: usize = 256;

/// The text in place of a forgotten line that is in no journal.
const GONE: &str = "no details: this session has no journal";

pub const SPEC: PaneSpec = PaneSpec {
    id: PaneId::Transcript,
    title,
    draw,
    list,
    go,
    open: |state, view| {
        let n = view.line.or_else(|| state.transcript.last().map(|line| line.n));
        Opened::subject(n.and_then(|n| subject(state, n)))
    },
    leave: |view| view.line = None,
    keys: &[Action::Prompt, Action::NewTask],
    why_not_adjust: edits::nothing_to_edit,
    edit: edits::edit,
    ..PLAIN
};

fn title(cx: &Cx<'_>) -> Line<'static> {
    let last = cx.state.transcript.len().saturating_sub(1);
    match cx.view.line.and_then(|n| place(cx.state, n)) {
        Some(at) if at < last => Line::from(format!(" · {} below", last - at)),
        Some(_) | None => Line::default(),
    }
}

/// The index of the line that this event made, or of the last line before it.
fn place(state: &State, n: u64) -> Option<usize> {
    state.transcript.partition_point(|line| line.n <= n).checked_sub(1)
}

/// The columns before each entry: the event's number, its time and its run, as widths in cells.
#[derive(Clone, Copy)]
struct Gutter {
    number: u16,
    time: u16,
    /// The width of the run; 0 if there is only one run.
    run: u16,
}

impl Gutter {
    /// The gutter of a pane of this width.
    fn of(state: &State, width: u16) -> Self {
        let digits = state.n.checked_ilog10().unwrap_or(0) as u16 + 1;
        // Of a watched agent the time says more than the number of an event.
        let (with_number, with_time) = match state.watched {
            Some(_) => (WITH_TIME, WITH_NUMBER),
            None => (WITH_NUMBER, WITH_TIME),
        };
        Self {
            number: if width >= with_number { digits.max(DIGITS) + 2 } else { 0 },
            time: if width >= with_time { TIME } else { 0 },
            run: match state.all_runs().last() {
                Some(last) if !last.is_first() => last.0.checked_ilog10().unwrap_or(0) as u16 + 2,
                Some(_) | None => 0,
            },
        }
    }

    fn width(self) -> u16 {
        self.number + self.time + self.run
    }

    fn draw(self, cx: &Cx<'_>, line: &TranscriptLine, area: Rect, buf: &mut Buffer) {
        let mut row = Row::new(area, buf);
        if self.number > 0 {
            row.right(&line.n.to_string(), usize::from(self.number) - 1, cx.theme.dim).gap(1);
        }
        if self.time > 0 {
            row.right(&clock(line.at), usize::from(self.time) - 2, cx.theme.dim).gap(2);
        }
        if let Some(task) = line.task.filter(|_| self.run > 0) {
            let run = cx.state.run_of(task).to_string();
            row.right(&run, usize::from(self.run) - 1, cx.theme.accent);
        }
    }
}

/// An entry on the screen.
struct VisibleEntry {
    at: usize,
    rows: Vec<Line<'static>>,
    /// Rows above the pane's first row.
    hidden: usize,
}

fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let lines = &cx.state.transcript;
    if lines.is_empty() {
        let said = cx.keymap.fill(not_started(cx.state));
        return note(area, &said, cx.theme.dim, buf);
    }
    let gutter = Gutter::of(cx.state, area.width);
    let (inside, bar) = vlist::beside_bar(cx, area);
    let before = gutter.width();
    let body = Rect { x: area.x + before, width: inside.width.saturating_sub(before), ..area };
    let shown = visible(cx, usize::from(body.width), usize::from(area.height));
    let Some(first) = shown.first().map(|entry| entry.at) else { return };
    let free = cx.view.windows[SPEC.id as usize].free;
    let window = Window { first, rows: shown.len(), total: lines.len(), free };
    hits.window(SPEC.id, window);
    let mut y = area.y;
    for entry in &shown {
        let line = lines.get(entry.at);
        let rows = &entry.rows[entry.hidden..];
        let height = u16::try_from(rows.len()).unwrap_or(u16::MAX).min(area.bottom() - y);
        let block = Rect { y, height, ..inside };
        if let Some(line) = line.filter(|_| entry.hidden == 0) {
            gutter.draw(cx, line, block, buf);
        }
        for (y, row) in (y..y + height).zip(rows) {
            buf.set_line(body.x, y, row, body.width);
        }
        if let Some(line) = line {
            if cx.view.line == Some(line.n) {
                buf.set_style(block, cx.theme.selection(cx.focused));
            }
            hits.add(block, Target::Line(line.n));
        }
        y += height;
    }
    vlist::scrollbar(cx, bar, window, buf);
}

/// The entries that fill the pane.
fn visible(cx: &Cx<'_>, width: usize, height: usize) -> Vec<VisibleEntry> {
    let last = cx.state.transcript.len() - 1;
    let window = cx.view.windows[SPEC.id as usize];
    // When the wheel is back at the end, the pane follows again.
    let at_end = window.first + window.rows >= window.total;
    let selected = cx.view.line.and_then(|n| place(cx.state, n));
    match (window.free, selected) {
        (true, _) if !at_end => downwards(cx, window.first.min(last), width, height),
        (true, _) | (false, None) => upwards(cx, last, width, height),
        (false, Some(at)) if at <= window.first => downwards(cx, at, width, height),
        (false, Some(at)) => {
            let shown = downwards(cx, window.first.min(last), width, height);
            let rows =
                |shown: &[VisibleEntry]| shown.iter().map(|entry| entry.rows.len()).sum::<usize>();
            let through = shown.iter().position(|entry| entry.at == at);
            match through {
                Some(i) if rows(&shown[..=i]) <= height => shown,
                Some(_) | None => upwards(cx, at, width, height),
            }
        }
    }
}

/// The entries at these places until they fill `room` rows, and the rows that are left.
fn fill(
    cx: &Cx<'_>,
    places: impl Iterator<Item = usize>,
    width: usize,
    mut room: usize,
) -> (Vec<VisibleEntry>, usize) {
    let from =
        entry::From { state: cx.state, theme: cx.theme, now: cx.now, person: person(cx.view) };
    let mut shown = Vec::new();
    for at in places {
        if room == 0 {
            break;
        }
        let rows = match cx.state.transcript.get(at) {
            Some(line) => entry::rows(from, line, width, cx.view.line == Some(line.n)),
            None => vec![Line::styled(GONE, cx.theme.dim)],
        };
        room = room.saturating_sub(rows.len());
        shown.push(VisibleEntry { at, rows, hidden: 0 });
    }
    (shown, room)
}

/// The entries from this one on. If there are enough of them, the last one is never above the end of the pane.
fn downwards(cx: &Cx<'_>, first: usize, width: usize, height: usize) -> Vec<VisibleEntry> {
    let total = cx.state.transcript.len();
    let (shown, room) = fill(cx, first..total, width, height);
    if room == 0 { shown } else { upwards(cx, total - 1, width, height) }
}

/// The entries up to this one; if they do not fill the pane, those after it follow.
fn upwards(cx: &Cx<'_>, last: usize, width: usize, height: usize) -> Vec<VisibleEntry> {
    let (mut shown, room) = fill(cx, (0..=last).rev(), width, height);
    shown.reverse();
    let rows: usize = shown.iter().map(|entry| entry.rows.len()).sum();
    if let Some(top) = shown.first_mut() {
        top.hidden = rows.saturating_sub(height);
    }
    shown.extend(fill(cx, last + 1..cx.state.transcript.len(), width, room).0);
    shown
}

/// Time since the session was opened: `0:12.4`, `1:02:03`.
fn clock(micros: u64) -> String {
    let (seconds, tenth) = (micros / 1_000_000, micros / 100_000 % 10);
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{rest:02}.{tenth}"),
        _ => format!("{hours}:{minutes:02}:{rest:02}"),
    }
}

/// The word for who presses the keys: a tour, or the user.
fn person(view: &View) -> &'static str {
    if view.caption.is_some() { "tour" } else { "you" }
}

fn list<'a>(state: &'a State, view: &View) -> List<'a> {
    // The width of the last frame.
    let placed = view.placed.iter().find(|placed| placed.pane == SPEC.id);
    let width = placed.map_or(UNKNOWN, |placed| placed.area.width.saturating_sub(2));
    let width = usize::from(width.saturating_sub(Gutter::of(state, width).width()));
    let lines = &state.transcript;
    let person = person(view);
    List::new(
        (lines.len(), view.line.and_then(|n| place(state, n))),
        |row| lines.get(row),
        |line, view| {
            view.choose_line(state, line.n);
            if matches!(line.what, What::TaskStarted | What::TaskFinished) {
                view.task = line.task;
            }
        },
        move |line| text((state, person), line, width),
    )
    .of_calls(state, |row| match lines.get(row)?.what {
        What::ModelCall { call } | What::ToolCall { call } => Some(call),
        _ => None,
    })
    .steady(lines.len().saturating_sub(MAY_CHANGE))
}

/// The text of a line's entry as it is drawn when selected: a search finds only visible text.
fn text((state, person): (&State, &'static str), line: &TranscriptLine, width: usize) -> String {
    let from = entry::From { state, theme: Theme::of_words(), now: state.at, person };
    let rows = entry::rows(from, line, width, true);
    rows.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Moving below the last line follows the end.
fn go(state: &State, view: &mut View, to: Move) -> bool {
    let at = view.line.and_then(|n| place(state, n));
    let at_end = at.is_none() || at == state.transcript.len().checked_sub(1);
    let to_end = to == Move::Bottom || (at_end && matches!(to, Move::Down | Move::PageDown));
    if to_end {
        view.line = None;
    }
    // A line that is not in memory must be shown before it can be selected.
    let is_gone = state.transcript.get(0).is_none() && !state.transcript.is_empty();
    if to == Move::Top && is_gone {
        let window = &mut view.windows[SPEC.id as usize];
        (window.first, window.free) = (0, true);
        return true;
    }
    to_end
}

/// The subject of a line.
fn subject(state: &State, n: u64) -> Option<Subject> {
    let line = state.line(n)?;
    match &line.what {
        What::ModelCall { call } => Some(Subject::Prompt(*call)),
        What::ToolCall { call } => Some(Subject::Call(*call)),
        What::TaskStarted
        | What::TryStarted { .. }
        | What::Step { .. }
        | What::Evaluated { .. }
        | What::TaskFinished => line.task.map(Subject::Task),
        What::Told { .. } | What::Newer { .. } | What::BudgetPlanned { .. } | What::Plan { .. } => {
            Some(Subject::Line(n))
        }
    }
}
