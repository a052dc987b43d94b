//! The lists of predecessors and successors of the node in the middle. For a successor they show what moved its
//! weight and which trajectories taught it.

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::choices::{Choices, NextTool, before};
use super::draw::Frame;
use crate::domain::{MenuItem, MenuReason, ToolName, words::counted};
use crate::hits::{Hits, Target};
use crate::panes::graph::{SPEC, shown_name};
use crate::panes::row::{Row, note, split};
use crate::panes::{calls, format};
use crate::symbols::{CRITICAL, INJECTED, REFUSED, ROSE, RUNNING};
use crate::vlist::{self, ListSection, VisibleRows};
use crate::{text, window::Window};

/// Columns: cursor and marks, number, difference.
const MARKS: usize = 5;
pub(super) const NUMBER: usize = 6;
const MOVED: usize = 6;
/// The same columns in a list with little room.
const TIGHT: (usize, usize, usize) = (3, 5, 4);
/// Columns for the prior learned from trajectories, and for the number of those trajectories.
const LOOKS: [&str; 2] = ["prior", "seen"];
const LOOK: usize = 5;
/// From these widths on a list has words beside its rows, and the columns [`LOOKS`].
const WITH_WORDS: usize = 58;
const WITH_LOOKS: usize = 60;
/// The least and the most cells of a bar, and the least of a name.
const BAR: (usize, usize) = (4, 24);
const NAME: usize = 8;
/// The most cells of a name.
const MOST_NAME: usize = 40;
/// Room for the reason why a tool is offered, or for the status of its call.
const WHY: usize = 14;

/// Columns that depend on the width of the list.
struct Widths {
    marks: usize,
    name: usize,
    bar: usize,
    number: usize,
    moved: usize,
    /// How many of [`LOOKS`] there is room for.
    looks: usize,
    /// The weight of a full bar: the largest that is shown.
    full: f64,
}

impl Widths {
    fn new(width: usize, name: usize, full: f64) -> Self {
        let is_tight = width < WITH_WORDS;
        let looks = if width < WITH_LOOKS { 0 } else { LOOKS.len() };
        let (marks, number, moved) = if is_tight { TIGHT } else { (MARKS, NUMBER, MOVED) };
        let why = if is_tight { 1 } else { WHY };
        let fixed = marks + 1 + number + 1 + moved + looks * (LOOK + 1) + 1 + why;
        let name = name.min(width.saturating_sub(fixed + BAR.0)).max(NAME);
        let bar = width
            .saturating_sub(fixed + name)
            .clamp(BAR.0, if is_tight { BAR.1 / 2 } else { BAR.1 });
        Self { marks, name, bar, number, moved, looks, full }
    }
}

/// Room for these names before bars get any: names tell the rows apart.
fn name_width<'a>(names: impl Iterator<Item = &'a ToolName>) -> usize {
    let longest = names.map(|name| text::width(shown_name(name.as_str()))).max();
    longest.unwrap_or(0).clamp(12, MOST_NAME)
}

impl Frame<'_> {
    /// The weight whose bar is full.
    fn full<'w>(weights: impl Iterator<Item = &'w f64>) -> f64 {
        weights.copied().fold(0.0, f64::max)
    }

    pub fn draw_before(&self, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        if area.height < 2 {
            return;
        }
        let theme = self.cx.theme;
        let (head, list) = split(area, 1);
        let (all, others) = before(self.cx.state, self.centre);
        let shown = VisibleRows::of(self.cx.view, SPEC.id, (all.len(), None));
        let rows: Vec<_> = (0..shown.count()).filter_map(|i| all.get(shown.at(i))).collect();
        let mut row = Row::new(head, buf);
        row.put("predecessors", theme.dim);
        let hidden = others + rows.len().saturating_sub(usize::from(list.height));
        if hidden > 0 {
            row.put(&format!(", and {} more", text::count(hidden as u64)), theme.dim);
        }
        if rows.is_empty() {
            row.put(": nothing", theme.dim);
        }
        let edge = self.cx.view.edge.as_ref().filter(|(_, to)| to.as_str() == self.centre);
        let selected = rows.iter().position(|(from, _)| edge.is_some_and(|edge| edge.0 == *from));
        let before = self.since.as_ref().map(|since| since.weights());
        let name = name_width(rows.iter().map(|(from, _)| from));
        let window = Window::default().next(rows.len(), usize::from(list.height), selected);
        let full = Self::full(rows.iter().map(|(_, weight)| weight));
        let shown = window.range().map(|i| (i, selected == Some(i)));
        vlist::draw_rows(self.cx, (list, buf, hits), shown, |i, row| {
            let (from, weight) = rows[i];
            let was = before.as_ref().and_then(|was| was.weight(from.as_str(), self.centre));
            self.draw_marks(from, " ", MARKS, row);
            let shown = text::cut_middle(shown_name(from.as_str()), name);
            row.cell(&shown, name, theme.graph_node).gap(1);
            let bar = row.left().saturating_sub(NUMBER + MOVED).min(16);
            let widths =
                Widths { marks: MARKS, name, bar, number: NUMBER, moved: MOVED, looks: 0, full };
            self.draw_weight((*weight, was), false, &widths, theme.text, row);
            Some(Target::Edge(from.clone(), self.centre.into()))
        });
    }

    pub fn draw_choices(&self, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let choices = Choices::new(self.cx.state, self.centre);
        let (head, list) = split(area, u16::from(area.height > 2));
        if let Some(tools) = choices.unweighted {
            let words = format!("{} offered, no weights", counted(tools, "tool"));
            return note(area, &words, self.cx.theme.dim, buf);
        }
        if choices.total == 0 {
            return note(area, "no successors", self.cx.theme.dim, buf);
        }
        let rows = self.draw_list(&choices, (list, false), buf, hits);
        if !head.is_empty() {
            let widths = self.widths(list.width, &rows);
            self.draw_head(&widths, &choices, &mut Row::new(head, buf));
        }
    }

    fn widths(&self, width: u16, rows: &[(u16, NextTool)]) -> Widths {
        let width = usize::from(width);
        let name = name_width(rows.iter().map(|(_, row)| &row.to));
        let weights = rows.iter().filter_map(|(_, row)| row.edge.as_ref());
        Widths::new(width, name, Self::full(weights.map(|edge| &edge.weight)))
    }

    /// Draws the choices that fit, spread over all rows or one below the other; returns each with its row on the
    /// screen.
    pub fn draw_list(
        &self,
        choices: &Choices<'_>,
        (list, is_spread): (Rect, bool),
        buf: &mut Buffer,
        hits: &mut Hits,
    ) -> Vec<(u16, NextTool)> {
        let cx = self.cx;
        let window = list;
        let height = usize::from(window.height);
        let depth = super::depth(cx.view) + height;
        let selected = cx.view.edge.as_ref().filter(|(from, _)| from.as_str() == self.centre);
        let selected = selected.and_then(|(_, to)| choices.row(to.as_str(), depth));
        // In the pane's list they come after the predecessors.
        let is_kept = cx.view.kept(SPEC.id).is_some();
        let first = if is_kept { before(cx.state, self.centre).0.len() } else { 0 };
        let part = ListSection { first, total: choices.total, selected };
        let visible = vlist::visible(cx, SPEC.id, window, part);
        let rows = choices.top(visible.last().map_or(0, |last| last + 1));
        let rows = visible.iter().filter_map(|at| Some((*at, rows.get(*at)?.clone())));
        let last = if is_spread { visible.len().saturating_sub(1) } else { 0 };
        let line = |at: usize| match last {
            0 => list.y + at as u16,
            last => list.y + (at * usize::from(list.height.saturating_sub(1)) / last) as u16,
        };
        let lines = (0..visible.len()).map(line);
        let (places, rows): (Vec<usize>, Vec<(u16, NextTool)>) =
            lines.zip(rows).map(|(y, (at, choice))| (at, (y, choice))).unzip();
        let window = vlist::window(cx, SPEC.id, window, part);
        hits.window(SPEC.id, window);
        let (inside, bar) = match window.total > window.rows {
            true => vlist::beside_bar(cx, list),
            false => (list, Rect::ZERO),
        };
        let widths = self.widths(inside.width, &rows);
        let names: Vec<&str> = rows.iter().map(|(_, row)| row.to.as_str()).collect();
        let was = self.since.as_ref().map(|since| since.weights().some(self.centre, &names));
        let was = was.unwrap_or_else(|| vec![None; rows.len()]);
        for (((y, choice), was), at) in rows.iter().zip(was).zip(places) {
            let line = Rect { y: *y, height: 1, ..inside };
            self.draw_choice(choice, was.map(|was| was.weight), &widths, &mut Row::new(line, buf));
            hits.add(line, Target::Edge(self.centre.into(), choice.to.clone()));
            if selected == Some(at) {
                vlist::select(cx, line, buf);
            }
        }
        vlist::scrollbar(cx, bar, window, buf);
        rows
    }

    fn draw_head(&self, widths: &Widths, choices: &Choices<'_>, row: &mut Row<'_>) {
        let dim = self.cx.theme.dim;
        let head = self.choices_head(choices);
        row.cell(&head, widths.marks + widths.name + widths.bar, dim).gap(1);
        let weight = if row.left() > 30 { "weight" } else { "" };
        row.right(weight, widths.number, dim).gap(1 + widths.moved);
        for head in &LOOKS[..widths.looks] {
            row.right(head, LOOK, dim).gap(1);
        }
    }

    /// The heading with the number of choices.
    pub fn choices_head(&self, choices: &Choices<'_>) -> String {
        // `end` is a choice, but not a tool.
        let is_finish = |item: &MenuItem| item.tool.as_str() == ToolName::END;
        let has_edge = self.cx.state.learning.graph.has_edge(self.centre, ToolName::END);
        let finish = usize::from(has_edge || choices.menu.iter().any(is_finish));
        let all = text::count(choices.total.saturating_sub(finish) as u64);
        let offered = choices.menu.iter().filter(|item| !is_finish(item)).count();
        match choices.menu.len() {
            0 if finish > 0 => format!("{}, Finish", counted(all, "possible next tool")),
            0 => counted(all, "possible next tool"),
            _ => format!("{offered} of {all} on the menu"),
        }
    }

    fn draw_choice(&self, choice: &NextTool, was: Option<f64>, widths: &Widths, row: &mut Row<'_>) {
        let theme = self.cx.theme;
        let chosen = self.chosen(choice);
        let cursor = if chosen.is_some() { RUNNING } else { " " };
        self.draw_marks(&choice.to, cursor, widths.marks, row);
        let style = match (choice.offered, chosen.is_some()) {
            (_, true) => theme.graph_here,
            (Some(_), false) => theme.graph_node,
            (None, false) if self.centre == self.here.node() => theme.dim,
            (None, false) => theme.graph_node,
        };
        let name = text::cut_middle(shown_name(choice.to.as_str()), widths.name);
        row.cell(&name, widths.name, style).gap(1);
        match &choice.edge {
            Some(edge) => {
                self.draw_weight((edge.weight, was), edge.pinned, widths, style, row);
            }
            None => {
                row.gap(widths.bar).right("–", widths.number, theme.dim).gap(1 + widths.moved);
            }
        }
        for look in &self.looks(choice)[..widths.looks] {
            row.right(look, LOOK, theme.dim).gap(1);
        }
        let (words, style) = match chosen {
            Some(standing) => (standing.word, standing.style),
            None => (self.why(choice), theme.dim),
        };
        if text::width(words) < row.left() {
            row.gap(1).put(words, style);
            return;
        }
        // A sign replaces a word that would be cut.
        let sign = match (chosen, choice.offered) {
            (Some(standing), _) => standing.glyph,
            (None, Some(MenuReason::Planned)) => CRITICAL,
            (None, _) => "",
        };
        row.gap(1).put(sign, style);
    }

    fn draw_marks(&self, tool: &ToolName, cursor: &str, width: usize, row: &mut Row<'_>) {
        let theme = self.cx.theme;
        row.cell(cursor, 1, theme.graph_here);
        let known = self.cx.state.tools.get(tool);
        let off = known.is_some_and(|tool| !tool.is_offered());
        let broken = self.broken.contains(tool);
        if width < MARKS {
            let (mark, style) = match (off, broken) {
                (true, _) => (REFUSED, theme.warn),
                (false, true) => (INJECTED, theme.injected),
                (false, false) => ("", theme.warn),
            };
            row.cell(mark, width - 1, style);
            return;
        }
        row.cell(if off { REFUSED } else { "" }, 1, theme.warn);
        row.cell(if broken { INJECTED } else { "" }, 2, theme.injected);
        row.gap(MARKS - 4);
    }

    /// Draws a weight as a bar and as a number, with its last change.
    fn draw_weight(
        &self,
        (weight, was): (f64, Option<f64>),
        pinned: bool,
        widths: &Widths,
        style: Style,
        row: &mut Row<'_>,
    ) {
        let theme = self.cx.theme;
        let (held, fill) = if pinned { ("=", theme.pinned) } else { ("", theme.bar_fill) };
        let style = if pinned { theme.pinned } else { style };
        let share = if widths.full > 0.0 { weight / widths.full } else { 0.0 };
        row.bar(share, widths.bar, (fill, theme.bar_empty));
        row.right(&format!("{held}{}", self.format.show(weight)), widths.number, style).gap(1);
        let was = was.unwrap_or(weight);
        let style = if weight > was { theme.good } else { theme.warn };
        let moved = format::moved(self.format, was, weight);
        // A truncated number would look like another one.
        let fits = text::width(&moved) <= widths.moved;
        let moved = if fits { moved.as_str() } else { text::start(&moved, ROSE.len()) };
        row.cell(moved, widths.moved, style);
    }

    fn looks(&self, choice: &NextTool) -> [String; LOOKS.len()] {
        let Some(edge) = &choice.edge else { return ["–".to_owned(), String::new()] };
        let seen =
            if edge.count > 0 { format!("{}×", text::count(edge.count)) } else { "".into() };
        [self.format.show(edge.prior), seen]
    }

    /// The status of the call of this tool, if the agent has just chosen it here.
    fn chosen(&self, choice: &NextTool) -> Option<calls::status::CallStatus> {
        if self.centre != self.here.node() {
            return None;
        }
        let call = self.here.chosen.filter(|call| call.tool == choice.to)?;
        let hold = self.cx.state.control.hold_of(call.lane);
        Some(calls::status::of_call(call, hold, self.cx.theme))
    }

    /// The reason why the tool is on the menu, or why it cannot be.
    fn why(&self, choice: &NextTool) -> &'static str {
        let tool = self.cx.state.tools.get(&choice.to);
        match choice.offered {
            _ if tool.is_some_and(|tool| !tool.present) => "gone",
            _ if tool.is_some_and(|tool| !tool.switched_on) => "switched off",
            _ if tool.is_some_and(|tool| tool.spec.disabled.is_some()) => "disabled",
            Some(MenuReason::All | MenuReason::Successor) => "offered",
            Some(MenuReason::Retrieved) => "matches task",
            Some(MenuReason::Filled) => "fill-in",
            Some(MenuReason::Explore) => "new edge",
            Some(MenuReason::Planned) => "in the plan",
            Some(MenuReason::Probed) => "probed",
            Some(MenuReason::Finish) => "always",
            None => "",
        }
    }
}
