//! The results of probing for each tool: whether it answered, which tools supplied its arguments, and whether later
//! results differ.

use ratatui::{buffer::Buffer, layout::Rect, style::Style, text::Line};

use super::format::credits;
use super::row::note;
use super::spec::{Opened, PLAIN, PaneSpec};
use crate::action::Action;
use crate::domain::probe::{ProbeEnd, ProbeRow};
use crate::domain::{Base, State, ToolName, ToolState, words::counted};
use crate::hits::{Hits, Target};
use crate::popups::Subject;
use crate::symbols::{DONE, FAILED, REFUSED, RUNNING, WAITING};
use crate::text::{clean, count};
use crate::vlist::{self, List};
use crate::{cx::Cx, pane::PaneId, view::View};

/// The most room for a name.
const NAME: usize = 34;

pub const SPEC: PaneSpec = PaneSpec {
    id: PaneId::Probing,
    when: |state, _| {
        state.strategy.base == Base::Atc
            || state.probing.is_some()
            || state.tools.values().any(|tool| tool.learned.is_some())
    },
    most: |state, _| Some(state.tools.len()),
    title: |cx| {
        let known = cx.state.tools.values().filter(|tool| tool.learned.is_some()).count();
        let took = cx.state.probing_sums().map(|sums| {
            let (calls, cost) = (counted(sums.calls, "call"), credits(*sums.credits));
            format!(
                " · pass {} · {calls} · {} tok · {cost} credits",
                sums.passes,
                count(sums.tokens)
            )
        });
        Line::from(format!(" {known} of {}{}", cx.state.tools.len(), took.unwrap_or_default()))
    },
    draw,
    list,
    filters: |_| Some("tool"),
    open: |_, view| Opened::subject(view.tool.clone().map(Subject::Probed)),
    keys: &[Action::Probe, Action::ProbeAll, Action::Open, Action::InspectTool],
    ..PLAIN
};

fn list<'a>(state: &'a State, view: &View) -> List<'a> {
    let place = view.tool.as_ref().and_then(|tool| state.tools.get_index_of(tool));
    List::new(
        (state.tools.len(), place),
        |row| state.tools.get_index(row),
        |(name, _), view| view.tool = Some(name.clone()),
        |(name, _)| name.to_string(),
    )
}

fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    if cx.state.tools.is_empty() {
        return note(area, "no tools yet", cx.theme.dim, buf);
    }
    let selected = cx.view.tool.as_ref().and_then(|tool| cx.state.tools.get_index_of(tool));
    let (inside, bar) = vlist::beside_bar(cx, area);
    let window = vlist::window(cx, SPEC.id, area, (cx.state.tools.len(), selected));
    hits.window(SPEC.id, window);
    let places = window.range().map(|i| (i, selected == Some(i)));
    let longest = cx.state.tools.keys().map(|name| crate::text::width(name.as_str())).max();
    let width = longest.unwrap_or(0).min(NAME).min(usize::from(inside.width) / 2);
    vlist::draw_rows(cx, (inside, buf, hits), places, |i, out| {
        let (name, tool) = cx.state.tools.get_index(i)?;
        let row = cx.state.probing.as_ref().and_then(|probing| probing.rows.get(name));
        let (mark, style) = mark(cx, name, tool, row);
        out.gap(1).cell(mark, 2, style).cell(&clean(name.as_str()), width, cx.theme.text).gap(2);
        let said = said(tool, row);
        let room = out.left();
        out.cell(&clean(&said), room, if mark == FAILED { cx.theme.warn } else { cx.theme.dim });
        Some(Target::Tool(name.clone()))
    });
    vlist::scrollbar(cx, bar, window, buf);
}

fn mark(
    cx: &Cx<'_>,
    name: &ToolName,
    tool: &ToolState,
    row: Option<&ProbeRow>,
) -> (&'static str, Style) {
    let theme = cx.theme;
    let is_open = row.is_some_and(|row| row.refused.is_none());
    match (&tool.learned, row.and_then(|row| row.end.as_ref())) {
        _ if is_probed(cx.state, name) => (RUNNING, theme.accent),
        (Some(known), _) if known.drifts > 0 => (DONE, theme.warn),
        (Some(_), _) => (DONE, theme.good),
        (None, Some(_)) => (FAILED, theme.warn),
        (None, None) if is_open => (WAITING, theme.dim),
        (None, None) if row.is_some() => (REFUSED, theme.dim),
        (None, None) => ("", theme.dim),
    }
}

/// Whether the program at work probes this tool.
fn is_probed(state: &State, name: &ToolName) -> bool {
    let task = state.task_at_work().filter(|task| task.task.probe.is_some());
    let step = task.and_then(|task| task.steps.last());
    step.and_then(|step| step.menu.first()).is_some_and(|item| item.tool == *name)
}

/// The result of probing a tool, on one line.
fn said(tool: &ToolState, row: Option<&ProbeRow>) -> String {
    if let Some(known) = &tool.learned {
        let learned = &known.learned;
        let mut parts = vec![counted(learned.schema.size(), "field")];
        parts.extend((learned.pass > 0).then(|| format!("pass {}", learned.pass)));
        if !learned.after.is_empty() {
            let after: Vec<&str> = learned.after.iter().map(ToolName::as_str).collect();
            parts.push(format!("after {}", after.join(", ")));
        }
        if let Some(drift) = known.drift.first() {
            let results = counted(known.drifts as usize, "result");
            parts.insert(1, format!("drift in {results}: {drift}"));
        }
        return parts.join(" · ");
    }
    let Some(row) = row else { return String::new() };
    match (&row.end, &row.refused) {
        (Some(ProbeEnd::Failed(why) | ProbeEnd::Skipped(why)), _) => {
            format!("pass {}: {why}", row.pass)
        }
        (_, Some(why)) => why.clone(),
        _ => String::new(),
    }
}
