//! The pane in cells.

use std::collections::BTreeSet;

use ratatui::style::Modifier;
use ratatui::{buffer::Buffer, layout::Rect};

use super::rows::{INDENT, PlanItem, PlanRow, PlanRows, place};
use super::{SPEC, selected};
use crate::domain::{EvidenceId, Role, TaskState};
use crate::hits::{Hits, Target};
use crate::panes::calls::track::{Track, Tracks};
use crate::panes::{earlier_tasks, row};
use crate::symbols::{CRITICAL, DONE, REFUSED};
use crate::{cx::Cx, text, vlist};

pub fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let Some(task) = cx.view.worked_on(cx.state) else {
        return row::note(
            area,
            "no plan yet: the planner writes one for the next task",
            cx.theme.dim,
            buf,
        );
    };
    let chosen = selected(cx.state, cx.view, task);
    let (inside, bar) = vlist::beside_bar(cx, area);
    let width = usize::from(inside.width);
    let rows = PlanRows { state: cx.state, task, now: cx.now, width, selected: chosen }.all();
    let place = chosen.and_then(|evidence| place(&rows, evidence));
    let mut window = vlist::window(cx, SPEC.id, area, (rows.len(), place.map(|(row, _)| row)));
    if let Some((row, plan)) = place.filter(|_| !window.free) {
        // The plan is read with its evidence, as far as both have room.
        let most = row.saturating_sub(window.rows.saturating_sub(1));
        window.first = window.first.min(plan.max(most));
    }
    hits.window(SPEC.id, window);
    let critical = Tracks::of(cx.state, task).critical_path(cx.now).into_iter().collect();
    let shown = PlanPainter { cx, task, critical };
    let places = (window.first..rows.len()).map(|i| (i, place.is_some_and(|(row, _)| row == i)));
    vlist::draw_rows(cx, (inside, buf, hits), places, |i, out| {
        shown.draw(&rows[i], out);
        match rows[i].item {
            PlanItem::Evidence(it) | PlanItem::Found(it) => Some(Target::Evidence(task.id, it.id)),
            PlanItem::Refused(_) | PlanItem::PlanStep(..) | PlanItem::Asked(_) => None,
        }
    });
    vlist::scrollbar(cx, bar, window, buf);
    let (_, before) = earlier_tasks::own(rows.len(), inside);
    let of = |task| PlanRows { state: cx.state, task, now: cx.now, width, selected: None };
    let needs = |task| of(task).all().len();
    earlier_tasks::draw(cx, task, before, (buf, hits), needs, |task, area, buf| {
        let shown = PlanPainter { cx, task, critical: BTreeSet::new() };
        for (line, row) in area.rows().zip(of(task).all()) {
            shown.draw(&row, &mut row::Row::new(line, buf));
        }
    });
}

struct PlanPainter<'a> {
    cx: &'a Cx<'a>,
    task: &'a TaskState,
    critical: BTreeSet<EvidenceId>,
}

impl<'a> PlanPainter<'a> {
    fn draw(&self, row: &PlanRow<'a>, out: &mut row::Row<'_>) {
        let theme = self.cx.theme;
        let track = |evidence| Track::of_evidence(self.cx.state, self.task, evidence);
        let (head, head_style, style) = match row.item {
            PlanItem::Refused(_) => (REFUSED.to_owned(), theme.warn, theme.warn),
            PlanItem::PlanStep(n, _) => (n.to_string(), theme.accent, theme.title),
            PlanItem::Asked(Role::Solver) if self.task.answer.is_some() => {
                (DONE.to_owned(), theme.good, theme.title)
            }
            PlanItem::Asked(_) => (String::new(), theme.accent, theme.text),
            PlanItem::Evidence(it) => return self.evidence(it.id, &track(it), &row.text, out),
            PlanItem::Found(it) => return self.found(&track(it), row, out),
        };
        let head = if row.nth == 0 { head } else { String::new() };
        out.cell(&head, INDENT - 1, head_style).gap(1).put(&row.text, style);
    }

    /// Draws `◆ #E1 = tool[input]`, and the status.
    fn evidence(&self, id: EvidenceId, track: &Track<'_>, text: &str, out: &mut row::Row<'_>) {
        let theme = self.cx.theme;
        let standing = track.standing(theme);
        let time = track.time(self.cx.now).map_or(String::new(), text::span);
        let stands = format!("{} {time:>8} {:<9}", standing.glyph, standing.word);
        let critical = self.critical.contains(&id);
        out.cell("", 2, theme.dim).cell(if critical { CRITICAL } else { "" }, 2, theme.accent);
        let style = if track.wanted().is_some() { theme.accent } else { theme.dim };
        let room = out.left().saturating_sub(text::width(&stands) + 1);
        out.cell(text, room, style).gap(1).put(&stands, standing.style);
    }

    /// Draws the evidence found, struck out where it does not reach the solver.
    fn found(&self, track: &Track<'_>, row: &PlanRow<'_>, out: &mut row::Row<'_>) {
        let theme = self.cx.theme;
        let (nth, text) = (row.nth, row.text.as_str());
        let nulled = track.begun.is_some_and(|begun| begun.nulled.is_some());
        let over = track.begun.is_some_and(|begun| begun.found.is_some());
        let standing = track.standing(theme);
        let glyph = if nth == 0 && over { standing.glyph } else { "" };
        out.gap(INDENT - 2).cell(glyph, 2, standing.style);
        let struck = theme.dim.add_modifier(Modifier::CROSSED_OUT);
        match (nulled, over) {
            (true, _) if nth > 0 => out.put(text, struck),
            (true, _) => match text.split_once(" · ") {
                Some((why, said)) => {
                    out.put(why, theme.warn).put(" · ", theme.dim).put(said, struck)
                }
                None => out.put(text, theme.warn),
            },
            (false, over) => out.put(text, if over { theme.text } else { theme.dim }),
        };
    }
}
