//! The graph of watched agents, which toolyard does not steer: what came after what, how often, and its share. The path of
//! the task that is looked at has the colour of now.

use ratatui::{buffer::Buffer, layout::Rect};

use super::SPEC;
use crate::domain::{FollowedEdge, State, ToolName};
use crate::hits::{Hits, Target};
use crate::panes::row::{Row, note, split};
use crate::view::View;
use crate::vlist::{self, List};
use crate::{cx::Cx, text};

/// Cells of a row beside its names and its bar: the margin, the line between the names, the times, and gaps.
const AROUND: usize = 13;
/// Cells of the times, and of a share in numbers with a gap.
const TIMES: usize = 5;
const PERCENT: usize = 6;
/// The least and the most cells of a bar, and the least of a name beside it.
const BAR: (usize, usize) = (6, 12);
const NAME: usize = 8;

/// The most bytes of a common beginning.
const PREFIX: usize = 100;
/// Ends of the part of a name that can be left out.
const SEPARATORS: [&str; 4] = ["__", ":", "/", "."];

/// The words after the pane's name.
pub fn title(state: &State) -> String {
    let talks = state.runs.values().filter(|run| run.guest.is_some()).count();
    let prefix = prefix(state);
    let of = if prefix.is_empty() { String::new() } else { format!(" · {prefix}") };
    let others = match state.followed.others {
        0 => String::new(),
        n => format!(" · {} others", text::count(n)),
    };
    format!(" · counted{of} · {talks} conv.{others}")
}

/// The useful rows.
pub fn most(state: &State) -> usize {
    state.followed.edges().count() + 1
}

pub fn list<'a>(state: &'a State, view: &View) -> List<'a> {
    let edges: Vec<FollowedEdge<'_>> = state.followed.edges().collect();
    List::new(
        place(&edges, view),
        move |row| edges.get(row).copied(),
        |edge, view| {
            view.edge = Some((edge.after.clone(), edge.came.clone()));
            let is_end = edge.came.as_str() == ToolName::END;
            view.tool = Some(if is_end { edge.after } else { edge.came }.clone());
        },
        |edge| format!("{}\n{}", edge.after, edge.came),
    )
}

/// The number of rows, and the selected one.
fn place(edges: &[FollowedEdge<'_>], view: &View) -> (usize, Option<usize>) {
    let is_selected = |edge: &FollowedEdge<'_>| {
        view.edge.as_ref().is_some_and(|(after, came)| after == edge.after && came == edge.came)
    };
    (edges.len(), edges.iter().position(is_selected))
}

/// The common beginning of the names of all tools that came, such as `mcp__server__`.
fn prefix(state: &State) -> &str {
    let tools = || state.followed.edges().map(|edge| edge.came).filter(|it| !it.is_special());
    let Some(first) = tools().next().map(|tool| text::start(tool.as_str(), PREFIX)) else {
        return "";
    };
    let cuts =
        SEPARATORS.iter().flat_map(|end| first.match_indices(end).map(|(at, _)| at + end.len()));
    let fits = |cut: &usize| {
        tools()
            .all(|tool| tool.as_str().strip_prefix(&first[..*cut]).is_some_and(|it| !it.is_empty()))
    };
    let is_one = tools().all(|tool| tool.as_str() == first);
    let cut = cuts.filter(|_| !is_one).filter(fits).max().unwrap_or(0);
    &first[..cut]
}

/// Cells of both names, of the bar, and of the share in numbers.
struct Widths {
    after: usize,
    came: usize,
    bar: usize,
    percent: usize,
}

impl Widths {
    /// Names come first, then the bar, then the share in numbers.
    fn of(room: usize, (after, came): (usize, usize)) -> Self {
        let rest = room.saturating_sub(AROUND);
        let least = if rest >= 2 * NAME + BAR.0 { BAR.0 } else { 0 };
        let names = rest - least;
        let (after, came) = match after + came <= names {
            true => (after, came),
            false if after <= names / 2 => (after, names - after),
            false if came <= names / 2 => (names - came, came),
            false => (names - names / 2, names / 2),
        };
        let left = rest - after - came;
        let percent = if left >= BAR.0 + PERCENT { PERCENT } else { 0 };
        Self { after, came, bar: (left - percent).min(BAR.1), percent }
    }
}

pub fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let edges: Vec<FollowedEdge<'_>> = cx.state.followed.edges().collect();
    if edges.is_empty() {
        return note(area, "no tool calls yet", cx.theme.dim, buf);
    }
    let prefix = prefix(cx.state);
    let name =
        |tool: &'_ ToolName| tool.as_str().strip_prefix(prefix).unwrap_or(tool.as_str()).to_owned();
    let wide = |names: &mut dyn Iterator<Item = &ToolName>| {
        names.map(|tool| text::width(&name(tool))).max().unwrap_or(0).max("after".len())
    };
    let after = wide(&mut edges.iter().map(|edge| edge.after));
    let came = wide(&mut edges.iter().map(|edge| edge.came));
    let (head, list) = split(area, u16::from(area.height > 2));
    let bar = u16::from(edges.len() > usize::from(list.height));
    let widths = Widths::of(usize::from(area.width.saturating_sub(bar)), (after, came));
    if !head.is_empty() {
        let mut row = Row::new(head, buf);
        row.gap(1).cell("after", widths.after, cx.theme.dim).gap(3);
        row.cell("came", widths.came, cx.theme.dim).gap(1).right("times", TIMES, cx.theme.dim);
        row.gap(2).put(if widths.bar > 0 { "share" } else { "" }, cx.theme.dim);
    }
    let path = cx.view.worked_on(cx.state).map(|task| cx.state.path(task)).unwrap_or_default();
    let failed = cx.state.last_failed();
    let mut above: Option<&ToolName> = None;
    let place = place(&edges, cx.view);
    vlist::draw(cx, SPEC.id, (list, buf, hits), place, |row, line| {
        let edge = edges.get(row)?;
        let (key, theme) = ((edge.after.clone(), edge.came.clone()), cx.theme);
        let is_now = path.contains(&key);
        let node = |tool: &ToolName, plain| if failed.contains(tool) { theme.bad } else { plain };
        let told = above.replace(edge.after) == Some(edge.after);
        let from =
            if told { String::new() } else { text::cut_middle(&name(edge.after), widths.after) };
        line.gap(1).cell(&from, widths.after, node(edge.after, theme.text));
        line.gap(1).put("─", theme.dim).gap(1);
        let plain = if is_now { theme.running } else { theme.text };
        let to = text::cut_middle(&name(edge.came), widths.came);
        line.cell(&to, widths.came, node(edge.came, plain)).gap(1);
        line.right(&text::count(u64::from(edge.times)), TIMES, plain).gap(2);
        let fill = if is_now { theme.running } else { theme.bar_fill };
        line.bar(edge.share, widths.bar, (fill, theme.bar_empty));
        if widths.percent > 0 {
            line.right(&format!("{:.0} %", 100.0 * edge.share), widths.percent, theme.dim);
        }
        Some(Target::Edge(key.0, key.1))
    });
}
