//! Drawing: verdict, axis, strip, curves, the averages before, meanwhile and after, and the price of the fault.

use ratatui::{buffer::Buffer, layout::Rect};

use super::axis::Axis;
use super::chart::{self, Curve};
use super::facts::Facts;
use super::price::FaultPrice;
use super::verdict;
use crate::domain::{Lap, words::counted};
use crate::hits::Hits;
use crate::panes::row::{self, Row};
use crate::papers::resilience::Means;
use crate::view::ResilienceView;
use crate::{cx::Cx, text};

/// The least rows of a curve.
const CURVE: u16 = 3;

pub(super) fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let facts = Facts::of(cx.state, cx.view);
    if facts.laps.is_empty() {
        let run = "No tasks done yet. Press <key:run-or-pause> to run them, then <key:fail> to \
                   break the selected tool.";
        return row::note(area, &cx.keymap.fill(run), cx.theme.dim, buf);
    }
    let axis = Axis::of(&facts, cx.view.task, area);
    let rest = verdict::draw(cx, &facts, area, buf);
    let (line, rest) = row::split(rest, 1);
    axis.draw(cx, &facts, line, buf);
    let tools = facts.tools.len() as u16;
    let (strip, rest) = row::split(rest, tools.min(rest.height.saturating_sub(1)));
    axis.strip(cx, &facts, (strip, buf, hits));
    let price = FaultPrice::of(&facts);
    let table = if facts.taken.is_some() { 2 + u16::from(facts.twin.is_some()) } else { 1 };
    let fits = |rows: &u16| rest.height >= rows + CURVE;
    let rows = [table + u16::from(price.is_some()), table].into_iter().find(fits).unwrap_or(0);
    let (curves, foot) = row::split(rest, rest.height - rows);
    let (table, foot) = row::split(foot, table);
    match cx.view.resilience {
        ResilienceView::Strip => overview(cx, &facts, &axis, curves, buf),
        ResilienceView::Scores => scores(cx, &facts, &axis, curves, buf),
        ResilienceView::Cost => costs(cx, &facts, &axis, curves, buf),
    }
    averages(cx, &facts, table, buf);
    if let Some(price) = price.filter(|_| !foot.is_empty()) {
        price.draw(cx, foot, buf);
    }
}

/// Draws calls per task, then scores, then tokens, as far as there is room.
fn overview(cx: &Cx<'_>, facts: &Facts<'_>, axis: &Axis, area: Rect, buf: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let all = area.height;
    let tokens = u16::from(all > CURVE);
    let both = all.saturating_sub(tokens) >= 2 * CURVE;
    let calls = if both { (all - tokens) * 2 / 5 } else { all - tokens };
    let (top, rest) = row::split(area, calls.max(1));
    chart::draw(cx, facts, axis, ("calls per task", &calls_of(cx, facts, axis)), (top, buf));
    let (middle, bottom) = row::split(rest, rest.height - tokens);
    if both {
        scores(cx, facts, axis, middle, buf);
    }
    if tokens > 0 {
        let tokens = mean_of(cx, facts, axis, |lap| lap.tokens as f64, |n| text::count(n as u64));
        chart::draw(cx, facts, axis, ("tokens per task", &tokens), (bottom, buf));
    }
}

fn calls_of(cx: &Cx<'_>, facts: &Facts<'_>, axis: &Axis) -> Vec<Curve> {
    mean_of(cx, facts, axis, |lap| lap.calls() as f64, |n| format!("{n:.1}"))
}

/// The curves of this session and of its twin.
fn mean_of(
    cx: &Cx<'_>,
    facts: &Facts<'_>,
    axis: &Axis,
    of: fn(&Lap) -> f64,
    show: fn(f64) -> String,
) -> Vec<Curve> {
    let tasks = axis.laps(facts);
    let own = if facts.twin.is_some() { "this session" } else { "" };
    let mut curves = vec![Curve::mean(own, cx.theme.bar_fill, &facts.laps, tasks, of, show)];
    if let Some((twin, _)) = &facts.twin {
        let mut curve = Curve::mean("twin", cx.theme.planned, &twin.laps, tasks, of, show);
        curve.last = format!("{} twin", curve.last);
        curves.push(curve);
    }
    curves
}

fn scores(cx: &Cx<'_>, facts: &Facts<'_>, axis: &Axis, area: Rect, buf: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let styles =
        [cx.theme.injected, cx.theme.good, cx.theme.bar_fill, cx.theme.past, cx.theme.user];
    let curves = facts.tools.iter().zip(styles);
    let curves: Vec<Curve> =
        curves.map(|(tool, style)| Curve::score(cx.state, tool, style, axis.laps(facts))).collect();
    chart::draw(cx, facts, axis, ("score", &curves), (area, buf));
}

/// A heading, the cost of a task, and its format.
type Cost = (&'static str, fn(&Lap) -> f64, fn(f64) -> String);

fn costs(cx: &Cx<'_>, facts: &Facts<'_>, axis: &Axis, area: Rect, buf: &mut Buffer) {
    let of: [Cost; 3] = [
        ("credits per task", |lap| *lap.credits, |n| format!("{n:.1}")),
        ("tokens per task", |lap| lap.tokens as f64, |n| text::count(n as u64)),
        ("dollars per task", |lap| *lap.dollars, |n| format!("${n:.4}")),
    ];
    let mut rest = area;
    for (left, (heading, value, show)) in (1..=3).rev().zip(of) {
        let rows = rest.height / left;
        let (here, below) = row::split(rest, rows);
        rest = below;
        if !here.is_empty() {
            let curves = mean_of(cx, facts, axis, value, show);
            chart::draw(cx, facts, axis, (heading, &curves), (here, buf));
        }
    }
}

/// Draws the averages per task: before the fault, until the choice was stable, and after that.
fn averages(cx: &Cx<'_>, facts: &Facts<'_>, area: Rect, buf: &mut Buffer) {
    let is_wide = area.width >= 90;
    let (width, heads) = match is_wide {
        true => (12, ["before", "until stable", "afterwards", "right", "credits"]),
        false => (7, ["before", "until", "after", "right", "credits"]),
    };
    let Some(taken) = &facts.taken else {
        let done = facts.laps.iter().filter(|lap| lap.outcome.is_some()).count();
        let said = format!(" {} done", counted(done, "task"));
        return row::note(area, &said, cx.theme.dim, buf);
    };
    let mut rows = area.rows();
    let Some(line) = rows.next() else { return };
    let name = usize::from(area.width).saturating_sub(5 * (width + 1)).min(26);
    let mut head = Row::new(line, buf);
    head.cell(" calls per task", name, cx.theme.dim);
    for word in heads {
        head.gap(1).right(word, width, cx.theme.dim);
    }
    let twin =
        facts.twin.as_ref().map(|(twin, found)| (format!(" twin: {}", twin.kind.name()), found));
    let own = (" this session".to_owned(), &taken.found);
    for (line, (words, found)) in rows.zip([Some(own), twin].into_iter().flatten()) {
        let mut row = Row::new(line, buf);
        row.cell(&words, name, cx.theme.text);
        for means in [found.before, found.meanwhile, found.after] {
            row.gap(1).right(&calls(means), width, cx.theme.text);
        }
        let since = [found.meanwhile, found.after];
        let (right, graded) = since
            .iter()
            .fold((0, 0), |(right, all), means| (right + means.right, all + means.graded));
        let right = (right * 100 + graded / 2).checked_div(graded);
        let right = right.map_or_else(|| "–".to_owned(), |share| format!("{share} %"));
        row.gap(1).right(&right, width, cx.theme.text);
        let tasks: usize = since.iter().map(|means| means.tasks).sum();
        let credits: f64 = since.iter().map(|means| means.credits * means.tasks as f64).sum();
        let credits =
            if tasks == 0 { "–".to_owned() } else { format!("{:.1}", credits / tasks as f64) };
        row.gap(1).right(&credits, width, cx.theme.text);
    }
}

/// The text for calls; unknown is never 0.
fn calls(means: Means) -> String {
    if means.tasks == 0 { "–".to_owned() } else { format!("{:.1}", means.calls) }
}
