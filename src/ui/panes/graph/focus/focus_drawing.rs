//! The focus view as a drawing, where there is room: predecessors are left of the node and
//! successors right of it, joined by lines whose thickness shows the weight.
//!
//! ```text
//! from      now                 possible next
//!                             ┏╸  search_archive ████▏ 31 ▲4
//! start 20 ╺━┓                ┠╴  calculator     █▋    13
//!            ┡╸▶ search_web ╺━┫
//! rot13 12 ╶─┘   score +5     ├╴▸ days_between   █▏     9 ▲1
//! ```

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::choices::{Choices, NextTool, before};
use super::draw::Frame;
use crate::action::Action;
use crate::domain::ToolName;
use crate::hits::{Hits, Target};
use crate::panes::graph::lines::{CanvasPoint, Ink, LineCanvas};
use crate::panes::graph::{SPEC, shown_name};
use crate::panes::row::{Row, split};
use crate::panes::{glyph, trends};
use crate::symbols::{LEADS, RUNNING};
use crate::text;
use crate::vlist::{self, ListSection};

/// The least cells and rows below the path.
const LEAST: (u16, u16) = (64, 10);
/// Cells of the lines between two columns.
const JOIN: u16 = 3;
/// The most rows from one successor to the next, and from one predecessor to the next.
const APART: u16 = 16;
/// Cells of the numbers at the left.
const NUMBER: usize = 4;
/// From this share of the largest weight on a line is drawn in the colour of text.
const PLAIN: f64 = 0.5;

/// The columns: predecessors, the node, successors.
struct Columns {
    left: Rect,
    node: Rect,
    right: Rect,
}

impl Frame<'_> {
    /// Whether the view is drawn with lines here.
    pub fn is_joined(&self, area: Rect) -> bool {
        let choices = Choices::new(self.cx.state, self.centre);
        let has_room = area.width >= LEAST.0 && area.height >= LEAST.1;
        has_room && choices.unweighted.is_none() && choices.total > 0
    }

    pub fn draw_joined(&self, way: Rect, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let (head, rest) = split(area, 1);
        let (body, foot) = split(rest, rest.height - 2);
        let (leads, others) = self.leads();
        let columns = self.columns(body, &leads);
        let choices = Choices::new(self.cx.state, self.centre);
        let is_kept = self.cx.view.kept(SPEC.id).is_some();
        let first = if is_kept { before(self.cx.state, self.centre).0.len() } else { 0 };
        let part = ListSection { first, total: choices.total, selected: None };
        let count = vlist::VisibleRows::of(self.cx.view, SPEC.id, part).count();
        let total = u16::try_from(count).unwrap_or(u16::MAX).max(1);
        let tall = (total - 1).saturating_mul(APART).saturating_add(1);
        let right = Rect { height: body.height.min(tall), ..columns.right };
        let middle = right.y + right.height.saturating_sub(1) / 2;
        // Predecessors come first, as in the pane's list.
        let shown = self.draw_leads(&leads, (columns.left, middle), buf, hits);
        let rows = self.draw_list(&choices, (right, total <= right.height), buf, hits);
        let end = self.draw_now((columns.node, middle), buf, hits);
        let mut lines =
            LineCanvas::new((0, 0), usize::from(area.right()), usize::from(area.bottom()));
        let full = rows.iter().filter_map(|(_, row)| Some(row.edge.as_ref()?.weight));
        let full = full.fold(0.0, f64::max);
        for (y, choice) in &rows {
            let ink = self.ink_to(choice, full);
            let bus = right.x - 2;
            join(&mut lines, ((end, middle), (right.x - 1, *y)), bus, ink);
        }
        for (y, at) in &shown {
            let (from, weight) = &leads[*at];
            let full = leads.first().map_or(*weight, |(_, most)| *most);
            let ink = self.ink(from.as_str(), self.centre, weight / full);
            let (x, to) = (columns.left.right(), columns.node.x.saturating_sub(1));
            join(&mut lines, ((x, *y), (to, middle)), x + 1, ink);
        }
        self.draw_strokes(&lines, body, buf);
        let hidden = (choices.total.saturating_sub(rows.len()), others + leads.len() - shown.len());
        self.draw_heads(head, &columns, (&choices, hidden), buf);
        self.draw_edge(split(foot, 1).1, buf);
        self.draw_aside(way, buf);
    }

    /// The predecessors that a filter keeps, and how many more are not listed.
    fn leads(&self) -> (Vec<(ToolName, f64)>, usize) {
        let (all, others) = before(self.cx.state, self.centre);
        let shown = vlist::VisibleRows::of(self.cx.view, SPEC.id, (all.len(), None));
        let kept = (0..shown.count()).filter_map(|i| all.get(shown.at(i)).cloned());
        (kept.collect(), others)
    }

    fn columns(&self, body: Rect, leads: &[(ToolName, f64)]) -> Columns {
        let width = |name: &str| text::width(shown_name(name)) as u16;
        let longest = leads.iter().map(|(name, _)| width(name.as_str())).max();
        let most = (body.width / 8).clamp(7, 20);
        let left = longest.map_or(0, |longest| longest.clamp(5, most) + 1 + NUMBER as u16);
        let left = Rect { width: left, ..body };
        let x = if left.width > 0 { left.right() + JOIN } else { body.x };
        let most = (body.width / 5).clamp(12, 24);
        let node = Rect { x, width: 2 + width(self.centre).clamp(13, most.max(13)), ..body };
        let x = node.right() + JOIN + 1;
        Columns { left, node, right: Rect { x, width: body.right().saturating_sub(x), ..body } }
    }

    /// Draws the predecessors around the middle row; returns their rows of the screen, with their indices.
    fn draw_leads(
        &self,
        leads: &[(ToolName, f64)],
        (area, middle): (Rect, u16),
        buf: &mut Buffer,
        hits: &mut Hits,
    ) -> Vec<(u16, usize)> {
        if area.width == 0 {
            return Vec::new();
        }
        let edge = self.cx.view.edge.as_ref().filter(|(_, to)| to.as_str() == self.centre);
        let selected = leads.iter().position(|(from, _)| edge.is_some_and(|edge| edge.0 == *from));
        let total = u16::try_from(leads.len()).unwrap_or(u16::MAX);
        let apart = (area.height / total.max(1)).clamp(1, APART);
        let rows = total.min(area.height.div_ceil(apart));
        let tall = (rows - 1) * apart;
        let top = middle
            .saturating_sub(tall / 2)
            .clamp(area.y, area.bottom() - 1 - tall.min(area.height - 1));
        // The selected predecessor is always among them.
        let first = selected.map_or(0, |at| (at + 1).saturating_sub(usize::from(rows)));
        let shown: Vec<(u16, usize)> =
            (top..area.bottom()).step_by(usize::from(apart)).zip(first..leads.len()).collect();
        for (y, at) in &shown {
            let (from, weight) = &leads[*at];
            let line = Rect { y: *y, height: 1, ..area };
            let mut row = Row::new(line, buf);
            let name = row.left().saturating_sub(1 + NUMBER);
            let shown = text::cut_middle(shown_name(from.as_str()), name);
            row.cell(&shown, name, self.cx.theme.graph_node);
            row.gap(1).right(&self.format.show(*weight), NUMBER, self.cx.theme.text);
            hits.add(line, Target::Edge(from.clone(), self.centre.into()));
            if selected == Some(*at) {
                vlist::select(self.cx, line, buf);
            }
        }
        shown
    }

    /// Draws the node and its results below it. Returns the cell where its lines begin.
    fn draw_now(&self, (area, middle): (Rect, u16), buf: &mut Buffer, hits: &mut Hits) -> u16 {
        let (cx, theme) = (self.cx, self.cx.theme);
        let is_here = self.centre == self.here.node();
        let style = if is_here { theme.graph_here } else { theme.accent };
        let line = Rect { y: middle, height: 1, ..area };
        let mut row = Row::new(line, buf);
        row.cell(if is_here { RUNNING } else { "" }, 2, style);
        row.put(&text::cut_middle(shown_name(self.centre), usize::from(area.width - 2)), style);
        let end = row.x() + 1;
        let name = ToolName::new(self.centre);
        if let Some(tool) = cx.state.tools.get(&name) {
            let score = format!("score {}", glyph::signed(cx.state.learning.score(&name)));
            let did = format!("{} ok {} failed", tool.succeeded, tool.failed);
            let trend = trends::scores(cx.state, &name, trends::score_scale(cx.state));
            let words = [(score, theme.text), (did, theme.dim), (trend, theme.bar_fill)];
            for (y, (words, style)) in (middle + 1..area.bottom()).zip(words) {
                Row::new(Rect { y, height: 1, ..area }, buf).gap(2).put(&words, style);
            }
        }
        hits.add(
            Rect { height: (area.bottom() - middle).min(4), y: middle, ..area },
            Target::Tool(name),
        );
        end
    }

    fn ink_to(&self, choice: &NextTool, full: f64) -> Ink {
        let weight = choice.edge.as_ref().map_or(0.0, |edge| edge.weight);
        let share = if full > 0.0 { weight / full } else { 0.0 };
        self.ink(self.centre, choice.to.as_str(), share)
    }

    /// The ink of an edge: heaviest on the path of this attempt, else by its share of the largest weight.
    fn ink(&self, from: &str, to: &str, share: f64) -> Ink {
        let path = self.here.path();
        let is_walked = path.windows(2).any(|pair| pair[0] == from && pair[1] == to);
        let edge = self.cx.view.edge.as_ref();
        let is_selected = edge.is_some_and(|edge| edge.0.as_str() == from && edge.1.as_str() == to);
        match () {
            () if is_walked => Ink::Path,
            () if is_selected => Ink::Strong,
            () if share >= PLAIN => Ink::Plain,
            () => Ink::Faint,
        }
    }

    fn draw_strokes(&self, lines: &LineCanvas<()>, body: Rect, buf: &mut Buffer) {
        let theme = self.cx.theme;
        for at in body.positions() {
            let Some((glyph, ink)) = lines.glyph((usize::from(at.x), usize::from(at.y))) else {
                continue;
            };
            let style: Style = match ink {
                Ink::Faint => theme.graph_edge,
                Ink::Plain => theme.text,
                Ink::Strong => theme.accent,
                Ink::Path => theme.running,
            };
            buf[at].set_char(glyph).set_style(style);
        }
    }

    /// Draws the column headings, and how many edges do not fit.
    fn draw_heads(
        &self,
        line: Rect,
        columns: &Columns,
        (choices, (next, leads)): (&Choices<'_>, (usize, usize)),
        buf: &mut Buffer,
    ) {
        let dim = self.cx.theme.dim;
        let mut put = |column: &Rect, words: &str, room: u16| {
            let width = column.width + room;
            Row::new(Rect { x: column.x, width, ..line }, buf).put(words, dim);
        };
        let more = |words: &str, hidden: usize| match hidden {
            0 => words.to_owned(),
            n => format!("{words} +{}", text::count(n as u64)),
        };
        if columns.left.width > 0 {
            put(&columns.left, &more("from", leads), JOIN - 1);
        }
        put(&columns.node, "now", 0);
        let words = self.choices_head(choices);
        let words = match next {
            0 => words,
            1 => format!("{words} · 1 weaker edge"),
            n => format!("{words} · {n} weaker edges"),
        };
        put(&columns.right, &words, 0);
    }

    /// The selected edge in words, and the keys that change it.
    fn draw_edge(&self, line: Rect, buf: &mut Buffer) {
        let (cx, theme) = (self.cx, self.cx.theme);
        let mut row = Row::new(line, buf);
        let Some((from, to)) = &cx.view.edge else { return };
        let weights = crate::panes::graph::weights(cx.state);
        let [edge] = &weights.some(from.as_str(), &[to.as_str()])[..] else { return };
        let (from, to) = (shown_name(from.as_str()), shown_name(to.as_str()));
        row.put(&format!("{from} {LEADS} {to}"), theme.accent);
        if let Some(edge) = edge {
            let score = glyph::signed(cx.state.learning.score(&edge.to));
            let (prior, weight) = (self.format.show(edge.prior), self.format.show(edge.weight));
            row.put(&format!("  prior {prior} · score {score} · weight {weight}"), theme.text);
        }
        let key = |action: Action| cx.keymap.key(action).unwrap_or("");
        let keys =
            format!("{} {} score  {} pin", key(Action::Less), key(Action::More), key(Action::Pin));
        let left = row.left();
        if left > text::width(&keys) + 1 {
            row.right(&keys, left, theme.key);
        }
    }

    /// Draws at the right end of the path: the agent's position if elsewhere, else the cause of the last weight change.
    fn draw_aside(&self, way: Rect, buf: &mut Buffer) {
        let is_blank = |x: &u16| buf[(*x, way.y)].symbol() == " ";
        let free = (way.x..way.right()).rev().take_while(is_blank).count() as u16;
        let room = Rect { x: way.right() - free, width: free, ..way };
        let mut row = Row::new(room, buf);
        if self.centre == self.here.node() {
            return self.draw_since(&mut row);
        }
        row.gap(2).put(&self.away(), self.cx.theme.warn);
    }
}

/// Draws the line of an edge: along its row to the column where all edges turn, and from there to its other end.
fn join(lines: &mut LineCanvas<()>, (from, to): ((u16, u16), (u16, u16)), turn: u16, ink: Ink) {
    let place = |(x, y): (u16, u16)| -> CanvasPoint { (usize::from(x), usize::from(y)) };
    let corners = [from, (turn, from.1), (turn, to.1), to];
    for pair in corners.windows(2) {
        // All edges belong to one net: a line that branches.
        lines.draw(place(pair[0]), place(pair[1]), (), ink);
    }
}
