//! The sweep of a knob: a curve over the tried values, and the best ones in one sentence.

use ratatui::{buffer::Buffer, layout::Rect};

use crate::action::Action;
use crate::panes::glyph;
use crate::panes::plot::{self, PlotPoint};
use crate::panes::row::{self, Row, split};
use crate::papers::sweep::{self, Measure, SEEDS};
use crate::symbols::DONE;
use crate::{cx::Cx, sweep::Sweep, text, view::Round};

/// The least columns and rows of a curve with its values; with less room there is one line of bar heights.
const CURVE: (u16, u16) = (30, 9);

/// Draws the sweep as large as the room allows.
pub(super) fn draw(cx: &Cx<'_>, sweep: &Sweep, area: Rect, buf: &mut Buffer) {
    let (head, rest) = split(area, 1);
    draw_head(cx, sweep, head, buf);
    let width = usize::from(area.width);
    let said: Vec<String> = sentences(cx, sweep);
    let lines: Vec<_> = said.iter().flat_map(|said| text::wrap(said, width)).collect();
    let is_small = area.width < CURVE.0 || rest.height < CURVE.1;
    let room = if is_small { 1 } else { rest.height.saturating_sub(lines.len() as u16) };
    let (plot, below) = split(rest, room);
    match is_small {
        true => draw_small(cx, sweep, plot, buf),
        false => draw_curve(cx, sweep, plot, buf),
    }
    row::lines(below, lines, cx.theme.text, buf);
}

/// Draws one line: the means as bar heights, then the tried values.
fn draw_small(cx: &Cx<'_>, sweep: &Sweep, area: Rect, buf: &mut Buffer) {
    let known: Vec<f64> = means(sweep, cx.view.measure).into_iter().flatten().collect();
    let most = known.iter().copied().fold(0.0, f64::max);
    let heights = glyph::spark(known.into_iter(), sweep.runs.len(), (0.0, most));
    let mut row = Row::new(area, buf);
    row.put(&heights, cx.theme.bar_fill).gap(1);
    let values = sweep.scope.values.iter().map(|value| sweep.scope.knob.spec().show(*value));
    row.put(&values.collect::<Vec<_>>().join(" "), cx.theme.dim);
    row.gap(2).put(cx.view.measure.name(), cx.theme.dim);
}

/// Draws a few lines: the best values, and the bar heights.
pub(super) fn draw_below(cx: &Cx<'_>, sweep: &Sweep, area: Rect, buf: &mut Buffer) {
    let (head, rest) = split(area, 1);
    draw_head(cx, sweep, head, buf);
    let width = usize::from(area.width);
    let said = sentences(cx, sweep);
    let lines: Vec<_> = said.iter().flat_map(|said| text::wrap(said, width)).collect();
    let (lines_at, line) = split(rest, (lines.len() as u16).min(rest.height.saturating_sub(1)));
    row::lines(lines_at, lines, cx.theme.text, buf);
    draw_small(cx, sweep, line, buf);
}

fn draw_head(cx: &Cx<'_>, sweep: &Sweep, line: Rect, buf: &mut Buffer) {
    let measure: Measure = cx.view.measure;
    let mut row = Row::new(line, buf);
    row.put("sweep ", cx.theme.title).put(sweep.scope.knob.spec().name, cx.theme.accent);
    let unit = if measure == Measure::Right { "" } else { " per task" };
    let by = format!(" · {}{unit}", measure.name());
    let Some([seed, at, tasks]) = sweep.progress() else {
        row.put(&by, cx.theme.dim);
        return;
    };
    let (all, values) = (sweep.scope.tasks.len(), sweep.runs.len());
    let said = format!("seed {}/{SEEDS} · value {}/{values} · {tasks}/{all}", seed + 1, at + 1);
    // How far it has come is more than what it is judged by.
    if row.left() > text::width(&by) + text::width(&said) + 1 {
        row.put(&by, cx.theme.dim);
    }
    let left = row.left();
    row.right(&said, left, cx.theme.running);
}

/// The means of the values, over the seeds that each has done.
fn means(sweep: &Sweep, measure: Measure) -> Vec<Option<f64>> {
    (0..sweep.runs.len()).map(|at| sweep.means(at).map(|means| measure.mean(&means))).collect()
}

/// Sentences with the outcome, the tasks of the sweep, and the keys.
fn sentences(cx: &Cx<'_>, sweep: &Sweep) -> Vec<String> {
    let scope = &sweep.scope;
    let measure: Measure = cx.view.measure;
    let spec = scope.knob.spec();
    let which = if scope.again { "all tasks of this session" } else { "the remaining tasks" };
    let mut tasks = format!("{} of {which}", text::number(scope.tasks.len() as u64));
    if scope.left_out == 0 {
        tasks = format!("{which} ({})", scope.tasks.len());
    }
    let key =
        |action: Action, does: &str| cx.keymap.key(action).map(|key| format!("{key}: {does}"));
    let mut said = Vec::new();
    match sweep::sentence(scope, &sweep.runs, measure) {
        Some(outcome) => said.push(outcome),
        None if sweep.over => said.push("the sweep ended before it tried all values".to_owned()),
        None => said.extend(key(Action::Remove, "end the sweep")),
    }
    let better = sweep.better(cx.live, measure).map(|value| spec.show(value));
    let uses = better.and_then(|value| key(Action::Open, &format!("use {value}")));
    let keys = uses.into_iter().chain(key(Action::NextView, measure.next().name()));
    said.push(format!("on {tasks}, {SEEDS} seeds · {}", keys.collect::<Vec<_>>().join(" · ")));
    said
}

fn draw_curve(cx: &Cx<'_>, sweep: &Sweep, area: Rect, buf: &mut Buffer) {
    let measure: Measure = cx.view.measure;
    let point = |at: usize| {
        let mean = measure.mean(&sweep.means(at)?);
        Some(PlotPoint { mean, interval: sweep.interval(at, measure) })
    };
    let points: Vec<_> = (0..sweep.runs.len()).map(point).collect();
    // The curve gets its room first.
    let with_right = u16::from(area.height >= 7);
    let plot = Rect { height: area.height - 3 - with_right, ..area };
    let columns = plot::draw(cx.theme, &points, &|mean| measure.show(mean), (plot, buf));
    let column = (area.width - plot::LEFT) as usize / points.len().max(1);
    let best = sweep.best(measure).and_then(|best| best.better).map(|(place, _)| place);
    let spec = sweep.scope.knob.spec();
    for (at, value) in sweep.scope.values.iter().enumerate() {
        let is_now = *value == sweep.scope.now;
        let mut put = |line: u16, text: &str, style| {
            let width = text::width(text) as u16;
            let left = columns[at].saturating_sub(width / 2);
            let here = Rect { x: left, y: plot.bottom() + line, width: width + 1, height: 1 };
            Row::new(here.intersection(area), buf).put(text, style);
        };
        let style = if is_now { cx.theme.accent } else { cx.theme.dim };
        let room = column.saturating_sub(1).max(1);
        put(0, &text::cut(&spec.show(*value), room), style);
        if let Some(point) = points[at] {
            put(1, &text::cut(&measure.show(point.mean), room), cx.theme.text);
        }
        let is_best = best == Some(at);
        let mark = match (is_best, is_now) {
            (true, true) => format!("{DONE} now"),
            (true, false) => DONE.to_owned(),
            (false, true) => "now".to_owned(),
            (false, false) => String::new(),
        };
        let share = sweep.means(at).and_then(|means| means.right_share());
        if let Some(share) = share.filter(|_| with_right > 0) {
            put(2, &text::cut(&Measure::Right.show(share), room), cx.theme.dim);
        }
        put(2 + with_right, &mark, if is_best { cx.theme.good } else { cx.theme.accent });
    }
    let mut label = |line: u16, text: &str| {
        let here = Rect { y: area.y + line, width: plot::LEFT, height: 1, ..area };
        Row::new(here.intersection(area), buf).right(
            text,
            usize::from(plot::LEFT) - 1,
            cx.theme.dim,
        );
    };
    label(plot.height, spec.symbol);
    label(plot.height + 1, "mean");
    if with_right > 0 {
        label(plot.height + 2, "right");
    }
}
