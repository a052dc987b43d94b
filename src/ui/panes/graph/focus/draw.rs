//! The drawing of the focus view.
//!
//! ```text
//! start ▸ search_web ▸ ● wikipedia                        the way of this try
//!   search_web        █████▌······  36 ▲4                 what leads here
//! ● wikipedia  score +3 ▁▃█  12 ok 1 failed               the node
//! ▶ calculator        ████████▌···  35 ▲5   39   31  chosen, running 310 ms
//!   date_diff         ████▌·······  18      22   14  on the menu
//! ```

use std::collections::HashSet;

use ratatui::{buffer::Buffer, layout::Rect};

use super::choices::{Choice, Choices, before, centre};
use crate::{
    event::{Lane, Offered},
    graph::WeightFormat,
    id::ToolName,
    ui::{
        hits::{Hits, Target},
        pane::Cx,
        panes::{
            calls, glyph,
            graph::{PANE, shown_name},
            here::Here,
            row::Row,
            since::Since,
            units,
        },
        text, vlist,
    },
};

/// From this width on what leads here stands beside what follows, else above it.
const WIDE: u16 = 110;
const BESIDE: u16 = 40;
/// Columns: cursor and marks, number, difference, outlook.
const MARKS: usize = 5;
const NUMBER: usize = 6;
const MOVED: usize = 6;
const LOOK: usize = 5;
/// Room for why a tool is offered, or how its call stands.
const WHY: usize = 14;

/// What all parts of a frame have in common.
struct Frame<'a> {
    cx: &'a Cx<'a>,
    here: Here<'a>,
    centre: &'a str,
    since: Option<Since>,
    format: WeightFormat,
    broken: HashSet<&'a ToolName>,
}

pub fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    if cx.state.learning.graph.is_empty() {
        Row::new(area, buf).put("no tools yet", cx.theme.dim);
        return;
    }
    let armed = cx.state.faults.values().filter(|fault| fault.armed);
    let frame = Frame {
        cx,
        here: Here::of(cx.state),
        centre: centre(cx.state, cx.view.centre.as_ref()),
        since: Since::of(cx.state),
        format: units::weight_format(&cx.state.knobs),
        broken: armed.map(|fault| &fault.spec.tool).collect(),
    };
    let (way, rest) = split(area, 1);
    frame.draw_way(way, buf, hits);
    if area.width >= WIDE {
        let left = Rect { width: BESIDE, ..rest };
        let right = Rect { x: left.right() + 2, width: rest.width - BESIDE - 2, ..rest };
        frame.draw_before(left, buf, hits);
        let (node, list) = split(right, 1);
        frame.draw_node(node, buf, hits);
        frame.draw_choices(list, buf, hits);
        return;
    }
    let wanted = before(cx.state, frame.centre).0.len() + 1;
    let choices = Choices::new(cx.state, frame.centre, None).len();
    let rows = before_rows(rest.height).min(u16::try_from(wanted).unwrap_or(u16::MAX));
    // A line of air above each part, where there is more room than there are rows.
    let roomy = usize::from(rest.height) >= usize::from(rows) + choices + 4;
    let air = |area| split(area, u16::from(roomy)).1;
    let (above, rest) = split(air(rest), rows);
    frame.draw_before(above, buf, hits);
    let (node, list) = split(air(rest), 1);
    frame.draw_node(node, buf, hits);
    frame.draw_choices(list, buf, hits);
}

/// How many rows what leads here gets, its heading among them, above what follows.
fn before_rows(height: u16) -> u16 {
    match height {
        0..9 => 0,
        9..16 => 3,
        16..24 => 5,
        _ => 7,
    }
}

/// The first rows of an area, and what is left.
fn split(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    (Rect { height: rows, ..area }, Rect { y: area.y + rows, height: area.height - rows, ..area })
}

impl Frame<'_> {
    /// The nodes of this try in order; what does not fit is left out at the beginning.
    fn draw_way(&self, line: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let theme = self.cx.theme;
        let way = self.here.path();
        let way = if way.is_empty() { vec![self.here.node()] } else { way };
        let mut room = usize::from(line.width).saturating_sub(4);
        let shown = way.iter().rev().take_while(|name| {
            let width = text::width(&text::clean(name)) + 3;
            let fits = room >= width;
            room = room.saturating_sub(width);
            fits
        });
        let skipped = way.len() - shown.count();
        let mut row = Row::new(line, buf);
        if skipped > 0 {
            row.put("… ▸ ", theme.dim);
        }
        // Where it chooses now; a tool just called comes after it.
        let place = way.iter().rposition(|name| *name == self.here.node());
        for (i, name) in way.iter().enumerate().skip(skipped) {
            if i > skipped {
                row.put(" ▸ ", theme.dim);
            }
            let start = row.x();
            let style = if Some(i) == place { theme.graph_here } else { theme.graph_node };
            row.put(shown_name(name), style);
            let cells = Rect { x: start, width: row.x() - start, height: line.height, ..line };
            hits.add(cells, Target::Tool(ToolName::new(name)));
        }
    }

    fn draw_before(&self, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        if area.height < 2 {
            return;
        }
        let theme = self.cx.theme;
        let (head, list) = split(area, 1);
        let (rows, others) = before(self.cx.state, self.centre);
        let mut row = Row::new(head, buf);
        row.put("leads here", theme.dim);
        let hidden = others + rows.len().saturating_sub(usize::from(list.height));
        if hidden > 0 {
            row.put(&format!(", and {} more", text::count(hidden as u64)), theme.dim);
        }
        if rows.is_empty() {
            row.put(": nothing", theme.dim);
        }
        let selected =
            rows.iter().position(|(from, _)| self.is_selected(from.as_str(), self.centre));
        // The selected one is always among those shown.
        let first = selected.map_or(0, |i| (i + 1).saturating_sub(usize::from(list.height)));
        let before = self.since.as_ref().map(|since| since.weights(self.cx.state));
        for (y, (from, weight)) in (list.y..list.bottom()).zip(rows.iter().skip(first)) {
            let line = Rect { y, height: 1, ..list };
            let was = before.as_ref().and_then(|was| was.weight(from.as_str(), self.centre));
            let mut row = Row::new(line, buf);
            self.draw_marks(from, " ", &mut row);
            let name = name_width(row.left());
            row.cell(shown_name(from.as_str()), name, theme.graph_node).gap(1);
            let bar = row.left().saturating_sub(NUMBER + MOVED).min(16);
            row.bar(*weight, bar, (theme.bar_fill, theme.bar_empty));
            row.right(&self.format.show(*weight), NUMBER, theme.text).gap(1);
            self.draw_moved(was, *weight, &mut row);
            let to = ToolName::new(self.centre);
            if self.is_selected(from.as_str(), self.centre) {
                buf.set_style(line, theme.selection(self.cx.focused));
            }
            hits.add(line, Target::Edge(from.clone(), to));
        }
    }

    fn is_selected(&self, from: &str, to: &str) -> bool {
        let edge = self.cx.view.edge.as_ref();
        edge.is_some_and(|(a, b)| a.as_str() == from && b.as_str() == to)
    }

    /// The node in the middle: what it is and how it did.
    fn draw_node(&self, line: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let cx = self.cx;
        let theme = cx.theme;
        let mut row = Row::new(line, buf);
        let is_here = self.centre == self.here.node();
        let style = if is_here { theme.graph_here } else { theme.accent };
        row.put(if is_here { "● " } else { "○ " }, style).put(shown_name(self.centre), style);
        let name = ToolName::new(self.centre);
        if let Some(tool) = cx.state.tools.get(&name) {
            let score = cx.state.learning.score(&name);
            row.put("  score ", theme.dim).put(&glyph::signed(score), theme.text).gap(1);
            let points = cx.state.learning.history.get(&name).into_iter().flatten();
            let values = std::iter::once(0.0).chain(points.map(|point| point.score));
            row.put(&glyph::spark(values.collect::<Vec<_>>().into_iter(), 8), theme.bar_fill);
            let calls = format!("  {} ok, {} failed", tool.succeeded, tool.failed);
            row.put(&calls, theme.dim);
        }
        if !is_here {
            let away = format!("  (the agent is at {}: Home goes there)", self.here.node());
            row.put(&away, theme.warn);
        }
        if let Some(since) = &self.since {
            let words = format!("▲▼ since {}", since.cause.words());
            let left = row.left();
            if left > text::width(&words) + 1 {
                row.right(&words, left, theme.dim);
            }
        }
        hits.add(line, Target::Tool(name));
    }

    fn draw_choices(&self, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let choices = Choices::new(self.cx.state, self.centre, self.since.as_ref());
        let (head, list) = split(area, u16::from(area.height > 2));
        if choices.len() == 0 {
            Row::new(area, buf).put("nothing follows it", self.cx.theme.dim);
            return;
        }
        let widths = Widths::new(usize::from(list.width));
        self.draw_head(head, &widths, &choices, buf);
        let height = usize::from(list.height);
        let depth = super::depth(self.cx.view) + height;
        let selected = self.cx.view.edge.as_ref().filter(|(from, _)| from.as_str() == self.centre);
        let selected = selected.and_then(|(_, to)| choices.row(to.as_str(), depth));
        let window = vlist::window(self.cx, PANE, list, (choices.len(), selected));
        let mut rows = choices.top(window.range().end);
        let first = window.range().start.min(rows.len());
        let mut rows = rows.split_off(first);
        choices.compare(&mut rows);
        vlist::draw(
            self.cx,
            PANE,
            (list, buf, hits),
            (choices.len(), selected),
            |i, line, buf, hits| {
                if let Some(choice) = i.checked_sub(first).and_then(|i| rows.get(i)) {
                    self.draw_choice(choice, &widths, line, buf);
                    let from = ToolName::new(self.centre);
                    hits.add(line, Target::Edge(from, choice.to.clone()));
                }
            },
        );
    }

    fn draw_head(&self, line: Rect, widths: &Widths, choices: &Choices<'_>, buf: &mut Buffer) {
        if line.height == 0 {
            return;
        }
        let dim = self.cx.theme.dim;
        let mut row = Row::new(line, buf);
        let (all, offered) = (text::count(choices.len() as u64), choices.offered());
        let head = match offered {
            0 => format!("can be followed by {all}"),
            _ => format!("{offered} of {all} on the menu"),
        };
        row.cell(&head, MARKS + widths.name + widths.bar, dim).gap(1);
        row.right(if row.left() > 30 { "weight" } else { "" }, NUMBER, dim).gap(1 + MOVED);
        if widths.look {
            row.right("if +1", LOOK, dim).gap(1).right("if −3", LOOK, dim).gap(1);
        }
        if widths.prior {
            row.right("prior", LOOK, dim).gap(1).right("seen", LOOK, dim).gap(1);
        }
    }

    fn draw_choice(&self, choice: &Choice, widths: &Widths, line: Rect, buf: &mut Buffer) {
        let theme = self.cx.theme;
        let mut row = Row::new(line, buf);
        let chosen = self.chosen(choice);
        self.draw_marks(&choice.to, if chosen.is_some() { "▶" } else { " " }, &mut row);
        let style = match (choice.offered, chosen.is_some()) {
            (_, true) => theme.graph_here,
            (Some(_), false) => theme.graph_node,
            (None, false) if self.centre == self.here.node() => theme.dim,
            (None, false) => theme.graph_node,
        };
        row.cell(shown_name(choice.to.as_str()), widths.name, style).gap(1);
        match &choice.edge {
            Some(edge) => {
                let fill = if edge.pinned { theme.pinned } else { theme.bar_fill };
                row.bar(edge.weight, widths.bar, (fill, theme.bar_empty));
                let number = self.format.show(edge.weight);
                let number = if edge.pinned { format!("={number}") } else { number };
                row.right(&number, NUMBER, if edge.pinned { theme.pinned } else { style });
                row.gap(1);
                self.draw_moved(choice.was, edge.weight, &mut row);
            }
            None => {
                row.gap(widths.bar).right("–", NUMBER, theme.dim).gap(1 + MOVED);
            }
        }
        if widths.look {
            for look in choice.outlook {
                let look = look.map_or("–".to_owned(), |look| self.format.show(look));
                row.right(&look, LOOK, theme.dim).gap(1);
            }
        }
        if widths.prior {
            let edge = choice.edge.as_ref();
            let prior = edge.map_or("–".to_owned(), |edge| self.format.show(edge.prior));
            row.right(&prior, LOOK, theme.dim).gap(1);
            let seen = edge.map_or(0, |edge| edge.count);
            let seen = if seen > 0 { format!("{}×", text::count(seen)) } else { String::new() };
            row.right(&seen, LOOK, theme.dim).gap(1);
        }
        row.gap(1);
        match chosen {
            Some((words, style)) => row.put(words, style),
            None => row.put(self.why(choice), theme.dim),
        };
    }

    /// How the call of this tool stands, if the agent has just chosen it here.
    fn chosen(&self, choice: &Choice) -> Option<(&'static str, ratatui::style::Style)> {
        if self.centre != self.here.node() {
            return None;
        }
        let call = self.here.chosen.filter(|call| call.tool == choice.to)?;
        let state = self.cx.state;
        let hold = state.control.held.iter().find(|hold| hold.lane == Lane::Call(call.id));
        Some(calls::standing(call, hold, self.cx.theme))
    }

    /// Why it is on the menu, or why it cannot be.
    fn why(&self, choice: &Choice) -> &'static str {
        let tool = self.cx.state.tools.get(&choice.to);
        if tool.is_some_and(|tool| !tool.present) {
            return "gone";
        }
        if tool.is_some_and(|tool| !tool.switched_on) {
            return "switched off";
        }
        match choice.offered {
            Some(Offered::All | Offered::Successor) => "offered",
            Some(Offered::Retrieved) => "suits task",
            Some(Offered::Filled) => "had room",
            Some(Offered::Explore) => "to explore",
            Some(Offered::Finish) => "always",
            None => "",
        }
    }

    fn draw_moved(&self, was: Option<f64>, weight: f64, row: &mut Row<'_>) {
        let theme = self.cx.theme;
        let was = was.unwrap_or(weight);
        let style = if weight > was { theme.good } else { theme.bad };
        row.cell(&units::moved(self.format, was, weight), MOVED, style);
    }

    fn draw_marks(&self, tool: &ToolName, cursor: &str, row: &mut Row<'_>) {
        let theme = self.cx.theme;
        row.cell(cursor, 1, theme.graph_here);
        let known = self.cx.state.tools.get(tool);
        let off = known.is_some_and(|tool| !tool.is_offered());
        row.cell(if off { "⊘" } else { "" }, 1, theme.warn);
        row.cell(if self.broken.contains(tool) { "⚡" } else { "" }, 2, theme.injected);
        row.gap(MARKS - 4);
    }
}

/// Columns that depend on how wide the list is.
struct Widths {
    name: usize,
    bar: usize,
    /// What weights would become.
    look: bool,
    /// What trajectories taught, and from how many.
    prior: bool,
}

impl Widths {
    fn new(width: usize) -> Self {
        let name = name_width(width);
        let looks = 2 * (LOOK + 1);
        let (look, prior) = (width >= 60, width >= 84);
        let columns = looks * (usize::from(look) + usize::from(prior));
        let fixed = MARKS + name + 1 + NUMBER + 1 + MOVED + columns + 1;
        let room = width.saturating_sub(fixed + WHY);
        Self { name, bar: room.clamp(6, 24), look, prior }
    }
}

fn name_width(width: usize) -> usize {
    match width {
        0..50 => 14,
        50..90 => 16,
        _ => 24,
    }
}
