//! The pane of calls: lanes of all calls ([`lanes`]), or of tool calls alone, with what a planner wrote down: a lane for
//! each tool call of a task on one time axis, which shows what ran at the same time and what waited for what. If
//! a planner wrote down all calls, those that have not begun have lanes too, and the critical path is marked.

pub(super) mod axis;
mod bar;
mod detail;
pub mod status;
pub(super) mod track;

use std::collections::BTreeSet;
use std::ops::Range;

use ratatui::{buffer::Buffer, layout::Rect, text::Line};

use self::axis::Axis;
use self::track::{Track, Tracks};
use super::row::{Row, note, split};
use super::spec::{Opened, PLAIN, PaneSpec};
use super::{earlier_tasks, lanes};
use crate::domain::{EvidenceId, Knob, State, TaskState, words::counted};
use crate::symbols::{CRITICAL, HELD, INJECTED};
use crate::update::edits;
use crate::vlist::{self, List};
use crate::{action::Action, hits::Hits, text};
use crate::{cx::Cx, pane::PaneId};
use crate::{
    popups::Subject,
    view::{LanesView, View},
};

const TIME: usize = 8;
const WORD: usize = 9;
/// Cells of a lane that are worth drawing.
const LANE: usize = 6;
/// Cells of a mark behind a tool that a fault made fail.
const MARK: usize = 3;
/// From this width on there are notes beside the lanes.
const WITH_NOTES: usize = 130;
/// From this height on there is room for the axis, and for details of the selected lane.
const WITH_AXIS: u16 = 4;
const WITH_DETAIL: u16 = 6;
/// From this height on the time that the plan saves has a line of its own.
const WITH_SUM: u16 = 9;
/// Rows beside the lanes.
const AROUND: usize = 2;

pub const SPEC: PaneSpec = PaneSpec {
    id: PaneId::Calls,
    when: |state, _| {
        let calls = state.strategy.base.spec().calls_tools || state.watched.is_some();
        calls || !state.tool_calls.is_empty()
    },
    most: |state, view| {
        if view.lanes_of(state) == LanesView::All {
            return Some(lanes::most(state));
        }
        let lanes = || state.tasks.iter().map(|task| lanes_of(task)).filter(|lanes| *lanes > 0);
        let all = lanes().map(|lanes| lanes + 1).sum();
        let longest = lanes().max();
        // A plan adds a line about the time that it saves.
        let plans = state.tasks.iter().any(|task| task.work.plan.is_some());
        let around = AROUND + usize::from(plans);
        Some(longest.map_or(1, |longest| earlier_tasks::most(longest, all) + around))
    },
    title,
    draw,
    list: |state, view| {
        if view.lanes_of(state) == LanesView::All {
            return lanes::list(state, view);
        }
        let task = view.worked_on(state);
        task.map_or_else(List::none, |task| Tracks::of(state, task).list(view))
    },
    filters: |_| Some("call"),
    open: |state, view| Opened::subject(subject(state, view)),
    leave: |view| (view.call, view.evidence, view.model_call) = (None, None, None),
    keys: &[Action::HoldLane, Action::Remove, Action::Prompt, Action::NextView],
    why_not_adjust: edits::nothing_to_edit,
    edit: edits::edit,
    ..PLAIN
};

/// The chosen call, or the chosen evidence if no call looks for it.
fn subject(state: &State, view: &View) -> Option<Subject> {
    if view.lanes_of(state) == LanesView::All {
        let call = lanes::selected_call(state, view)?;
        let is_model = state.model_call(call).is_some();
        return Some(if is_model { Subject::Prompt(call) } else { Subject::Call(call) });
    }
    let evidence = || view.evidence(state).map(|(task, id, _)| Subject::Evidence(task.id, id));
    view.call(state).map(Subject::Call).or_else(evidence)
}

fn title(cx: &Cx<'_>) -> Line<'static> {
    if cx.view.lanes_of(cx.state) == LanesView::All {
        return lanes::title(cx);
    }
    let Some(task) = cx.view.worked_on(cx.state) else { return Line::default() };
    let tracks = Tracks::of(cx.state, task);
    let mut title = format!(" {} · task {}", tracks.len(), task.id);
    let (mut held, mut flying, mut waiting) = (0, 0, 0);
    for track in tracks.iter().filter(|track| track.over().is_none()) {
        match (track.hold(), track.ran()) {
            (Some(_), _) => held += 1,
            (None, Some(_)) => flying += 1,
            (None, None) if task.outcome().is_none() => waiting += 1,
            (None, None) => {}
        }
    }
    for (n, word) in [(flying, "in flight"), (held, "held"), (waiting, "waiting")] {
        if n > 0 {
            title.push_str(&format!(" · {n} {word}"));
        }
    }
    if let Some(next) = cx.view.task_of(cx.state).filter(|next| next.id != task.id) {
        title.push_str(&format!(" · no calls yet in task {}", next.id));
    }
    Line::from(title)
}

/// The widths of the columns.
struct Columns {
    /// The label of a piece of evidence, or of a step and its call.
    label: usize,
    tool: usize,
    needs: usize,
    lane: usize,
    notes: usize,
}

impl Columns {
    fn of(tracks: &Tracks<'_>, width: usize) -> Self {
        let label = tracks.iter().map(|track| text::width(&label(&track))).max().unwrap_or(0);
        let needs = tracks.iter().map(|track| text::width(&needs(&track))).max().unwrap_or(0);
        let label = label.min(12);
        let needs = if width >= 60 { needs.min(16) } else { 0 };
        let tool = (width / 5).clamp(11, 20);
        let notes = if width >= WITH_NOTES { (width - WITH_NOTES + 30).min(60) } else { 0 };
        let gaps = 4 + usize::from(needs > 0) + usize::from(notes > 0);
        let taken = 2 + label + tool + needs + TIME + WORD + notes + gaps;
        Self { label, tool, needs, lane: width.saturating_sub(taken), notes }
    }

    /// Cells before the lanes.
    fn before(&self) -> usize {
        let needs = if self.needs > 0 { self.needs + 1 } else { 0 };
        2 + self.label + 1 + self.tool + 1 + needs
    }
}

/// `#E3`; without a plan the step, and the call's number.
fn label(track: &Track<'_>) -> String {
    match (track.evidence, track.call) {
        (Some(evidence), _) => evidence.id.mark(),
        (None, Some(call)) if call.is_by_hand() => format!("you #{}", call.id),
        (None, Some(call)) => format!("{} #{}", call.step, call.id),
        (None, None) => String::new(),
    }
}

/// `needs #E1 #E2`
fn needs(track: &Track<'_>) -> String {
    match track.needs().as_slice() {
        [] => String::new(),
        needs => format!("needs {}", marks(needs)),
    }
}

pub(super) fn marks(evidence: &[EvidenceId]) -> String {
    evidence.iter().map(|id| id.mark()).collect::<Vec<_>>().join(" ")
}

/// Data shared by all lanes of a frame.
struct Lanes<'a> {
    cx: &'a Cx<'a>,
    columns: Columns,
    axis: Axis,
    /// The critical path; `None` without a plan, as calls then run one after the other.
    critical: Option<BTreeSet<EvidenceId>>,
}

fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    if cx.view.lanes_of(cx.state) == LanesView::All {
        return lanes::draw(cx, area, buf, hits);
    }
    let Some(task) = cx.view.worked_on(cx.state) else {
        return note(area, "no calls yet", cx.theme.dim, buf);
    };
    let tracks = Tracks::of(cx.state, task);
    if tracks.len() == 0 {
        let said = match task.work.plan {
            Some(_) => format!("no calls in task {}: its plan has none", task.id),
            None => format!("no calls yet in task {}", task.id),
        };
        note(area, &said, cx.theme.dim, buf);
        return lanes_before(cx, task, split(area, 1).1, (buf, hits));
    }
    let (head, rest) = split(area, u16::from(area.height >= WITH_AXIS));
    let sums = task.work.plan.is_some() && area.height >= WITH_SUM;
    let (rest, sum) = split(rest, rest.height - u16::from(sums));
    let (list, below) = split(rest, rest.height - u16::from(area.height >= WITH_DETAIL));
    // The list's scrollbar takes a cell.
    let bar = tracks.len() > usize::from(list.height) && area.width > 4;
    let width = usize::from(area.width - u16::from(bar));
    let columns = Columns::of(&tracks, width);
    let axis = Axis::of(&tracks, cx.now, columns.lane);
    let path = task.work.plan.as_ref().map(|_| tracks.critical_path(cx.now));
    let critical = path.map(|path| path.into_iter().collect());
    let lanes = Lanes { cx, columns, axis, critical };
    lanes.sum(&tracks, sum, buf);
    let (list, before) = earlier_tasks::own(tracks.len(), list);
    lanes_before(cx, task, before, (buf, hits));
    lanes.head(&tracks, sums, head, buf);
    let selected = tracks.selected(cx.view);
    if let Some(track) = selected.and_then(|row| tracks.get(row)) {
        detail::draw(cx, &track, below, buf);
    }
    let rows = (tracks.len(), selected);
    vlist::draw(cx, SPEC.id, (list, buf, hits), rows, |at, row| {
        let track = tracks.get(at)?;
        lanes.draw(&track, row);
        Some(track.target())
    });
}

/// The number of lanes of a task, begun or not.
fn lanes_of(task: &TaskState) -> usize {
    let planned = task.work.plan.as_ref().map_or(0, |plan| plan.evidence().count());
    planned.max(task.tool_calls.len())
}

/// Draws the lanes of the tasks before this one.
fn lanes_before(cx: &Cx<'_>, task: &TaskState, area: Rect, (buf, hits): (&mut Buffer, &mut Hits)) {
    let rows = |task| Tracks::of(cx.state, task).len();
    earlier_tasks::draw(cx, task, area, (buf, hits), rows, |task, area, buf| {
        let tracks = Tracks::of(cx.state, task);
        let columns = Columns::of(&tracks, usize::from(area.width));
        let axis = Axis::of(&tracks, cx.now, columns.lane);
        let lanes = Lanes { cx, columns, axis, critical: None };
        for (line, track) in area.rows().zip(tracks.iter()) {
            lanes.draw(&track, &mut Row::new(line, buf));
        }
    });
}

impl Lanes<'_> {
    fn is_critical(&self, track: &Track<'_>) -> bool {
        let pair = self.critical.as_ref().zip(track.evidence);
        pair.is_some_and(|(critical, evidence)| critical.contains(&evidence.id))
    }

    /// Draws the times of the axis and the length of the critical path.
    fn head(&self, tracks: &Tracks<'_>, has_sum: bool, area: Rect, buf: &mut Buffer) {
        let theme = self.cx.theme;
        if self.critical.is_some() && !has_sum {
            let took = tracks.iter().filter(|track| self.is_critical(track));
            let took = took.filter_map(|track| track.own(self.cx.now));
            let took = text::span(took.fold(0, u64::saturating_add));
            let (long, room) = (format!("{CRITICAL} critical path {took}"), self.columns.before());
            let short = format!("{CRITICAL} critical {took}");
            let legend = if text::width(&long) <= room { long } else { short };
            Row::new(area, buf).cell(&legend, room, theme.accent);
        }
        if self.columns.lane < LANE {
            return;
        }
        // Words have their place alone: those of the gaps first, which say more.
        let room = usize::from(area.width).saturating_sub(self.columns.before());
        let mut taken: Vec<Range<usize>> = Vec::new();
        let mut put = |cell: usize, mark: &str, words: &str, most: usize, style| {
            let fits = |label: &str| {
                let end = cell + text::width(label);
                let is_free = taken.iter().all(|it| end < it.start || it.end < cell);
                label.is_empty() || is_free && end <= room.min(cell + most)
            };
            let label = format!("{mark}{words}");
            let label = [label.as_str(), mark, ""].into_iter().find(|label| fits(label));
            let label = label.unwrap_or_default();
            Row::new(area, buf).gap(self.columns.before() + cell).put(label, style);
            taken.push(cell..cell + text::width(label));
        };
        for (cells, length) in self.axis.gaps() {
            put(cells.start, HELD, &text::span(length), cells.len(), theme.paused);
        }
        // The last one names the unit.
        for (cell, time) in self.axis.ticks().collect::<Vec<_>>().into_iter().rev() {
            put(cell, "┊", &time, room, theme.dim);
        }
    }

    /// Draws the length of the critical path, the rest of it, and the time saved by running calls at once.
    fn sum(&self, tracks: &Tracks<'_>, line: Rect, buf: &mut Buffer) {
        if line.is_empty() {
            return;
        }
        let now = self.cx.now;
        let critical = || tracks.iter().filter(|track| self.is_critical(track));
        let took: u64 = critical().filter_map(|track| track.own(now)).sum();
        let ahead: u64 = critical().filter_map(|track| track.ahead(now)).sum();
        let all: u64 = tracks.iter().filter_map(|track| track.own(now)).sum();
        let mut words = format!("{CRITICAL} critical path {}", text::span(took));
        if ahead > 0 {
            words.push_str(&format!(" + about {}", text::span(ahead)));
        }
        let saved = all.saturating_sub(took);
        let mut row = Row::new(line, buf);
        row.put(&words, self.cx.theme.accent);
        if saved > 0 {
            row.put(&format!(" · running at once saved {}", text::span(saved)), self.cx.theme.text);
        }
    }

    fn draw(&self, track: &Track<'_>, row: &mut Row<'_>) {
        let Self { cx, columns, .. } = self;
        let theme = cx.theme;
        let standing = track.standing(theme);
        let critical = self.is_critical(track);
        row.cell(if critical { CRITICAL } else { "" }, 2, theme.accent);
        let style = if critical { theme.accent } else { theme.dim };
        row.cell(&label(track), columns.label, style).gap(1);
        let injected = track.call.is_some_and(|call| call.injected.is_some());
        let (name, mark) = if injected { (columns.tool - MARK, MARK) } else { (columns.tool, 0) };
        let text = if track.wanted().is_some() { theme.text } else { theme.dim };
        row.cell(track.tool(), name, text)
            .cell(&format!(" {INJECTED}"), mark, theme.injected)
            .gap(1);
        if columns.needs > 0 {
            // Behind the tool the lane says what it waits for.
            let needs = if track.is_waiting() { String::new() } else { needs(track) };
            row.cell(&needs, columns.needs, theme.dim).gap(1);
        }
        if track.is_waiting() {
            // A waiting lane has no time yet, so this may take the place of the time.
            let waits = format!("waits for {}", marks(&track.waits_for()));
            row.cell(&waits, columns.lane + 1 + TIME, theme.dim).gap(1);
        } else {
            if columns.lane < LANE {
                row.gap(columns.lane);
            } else {
                bar::draw(cx, &self.axis, track, critical || self.critical.is_none(), row);
            }
            let time = track.time(cx.now).map_or(String::new(), text::span);
            let style = if track.hold().is_some() { standing.style } else { theme.text };
            row.gap(1).right(&time, TIME, style).gap(1);
        }
        row.cell(if track.is_waiting() { "" } else { standing.word }, WORD, standing.style);
        if columns.notes > 0 {
            row.gap(1).put(&detail::notes(track, columns.notes, cx.now), theme.dim);
        }
    }
}

/// Why a requested call does not run yet.
fn room(state: &State) -> String {
    let running = state.tool_calls_in_flight();
    let running = running.filter(|call| call.started.is_some() && !call.is_by_hand()).count();
    let most = state.knobs.count(Knob::Concurrency);
    if running < most {
        return "starting".to_owned();
    }
    format!("limit of {} at once is reached", counted(most, "call"))
}
