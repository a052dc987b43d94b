//! Both lists around the node in the middle: what leads to it, and what can follow it with what moved its
//! weights and what taught them.

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::choices::{Choice, Choices, before};
use super::draw::Frame;
use crate::domain::{MenuItem, Offered, ToolName, words::counted};
use crate::hits::{Hits, Target};
use crate::panes::graph::{SPEC, shown_name};
use crate::panes::row::{Row, note, split};
use crate::panes::{calls, format};
use crate::symbols::{INJECTED, REFUSED, RUNNING};
use crate::vlist::{self, Part, Rows};
use crate::{text, window::Window};

/// Columns: cursor and marks, number, difference.
const MARKS: usize = 5;
const NUMBER: usize = 6;
const MOVED: usize = 6;
/// What trajectories taught, and how many of them.
const LOOKS: [&str; 2] = ["prior", "seen"];
const LOOK: usize = 5;
/// Room for why a tool is offered, or how its call stands.
const WHY: usize = 14;

/// Columns that depend on how wide the list is.
struct Widths {
    name: usize,
    bar: usize,
    /// How many of [`LOOKS`] there is room for.
    looks: usize,
}

impl Widths {
    fn new(width: usize, name: usize) -> Self {
        let looks = if width < 60 { 0 } else { LOOKS.len() };
        let fixed = MARKS + name + 1 + NUMBER + 1 + MOVED + looks * (LOOK + 1) + 1;
        let room = width.saturating_sub(fixed + WHY);
        Self { name, bar: room.clamp(6, 24), looks }
    }
}

/// Room for these names, in a list of this width: no more than they need, and at most a third of it.
fn name_width<'a>(width: usize, names: impl Iterator<Item = &'a ToolName>) -> usize {
    let longest = names.map(|name| text::width(shown_name(name.as_str()))).max();
    longest.unwrap_or(0).clamp(12, (width / 3).clamp(14, 28))
}

impl Frame<'_> {
    pub fn draw_before(&self, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        if area.height < 2 {
            return;
        }
        let theme = self.cx.theme;
        let (head, list) = split(area, 1);
        let (all, others) = before(self.cx.state, self.centre);
        let shown = Rows::of(self.cx.view, SPEC.id, (all.len(), None));
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
        let name = name_width(usize::from(list.width), rows.iter().map(|(from, _)| from));
        let window = Window::default().next(rows.len(), usize::from(list.height), selected);
        let shown = window.range().map(|i| (i, selected == Some(i)));
        vlist::draw_rows(self.cx, (list, buf, hits), shown, |i, row| {
            let (from, weight) = rows[i];
            let was = before.as_ref().and_then(|was| was.weight(from.as_str(), self.centre));
            self.draw_marks(from, " ", row);
            row.cell(shown_name(from.as_str()), name, theme.graph_node).gap(1);
            let bar = row.left().saturating_sub(NUMBER + MOVED).min(16);
            self.draw_weight((*weight, was), false, bar, theme.text, row);
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
        let height = usize::from(list.height);
        let depth = super::depth(self.cx.view) + height;
        let selected = self.cx.view.edge.as_ref().filter(|(from, _)| from.as_str() == self.centre);
        let selected = selected.and_then(|(_, to)| choices.row(to.as_str(), depth));
        // In the pane's list they come behind what leads here.
        let is_kept = self.cx.view.kept(SPEC.id).is_some();
        let first = if is_kept { before(self.cx.state, self.centre).0.len() } else { 0 };
        let part = Part { first, total: choices.total, selected };
        let visible = vlist::visible(self.cx, SPEC.id, list, part);
        let rows = choices.top(visible.last().map_or(0, |last| last + 1));
        let width = usize::from(list.width);
        let widths = Widths::new(width, name_width(width, rows.iter().map(|row| &row.to)));
        if !head.is_empty() {
            self.draw_head(&widths, &choices, &mut Row::new(head, buf));
        }
        let rows: Vec<&Choice> = visible.iter().filter_map(|at| rows.get(*at)).collect();
        let names: Vec<&str> = rows.iter().map(|row| row.to.as_str()).collect();
        let was = self.since.as_ref().map(|since| since.weights().some(self.centre, &names));
        let mut shown = rows.iter().zip(was.unwrap_or_else(|| vec![None; rows.len()]));
        vlist::draw(self.cx, SPEC.id, (list, buf, hits), part, |_, row| {
            let (choice, was) = shown.next()?;
            self.draw_choice(choice, was.map(|was| was.weight), &widths, row);
            Some(Target::Edge(self.centre.into(), choice.to.clone()))
        });
    }

    fn draw_head(&self, widths: &Widths, choices: &Choices<'_>, row: &mut Row<'_>) {
        let dim = self.cx.theme.dim;
        // To finish is a choice, and no tool.
        let is_finish = |item: &MenuItem| item.tool.as_str() == ToolName::END;
        let has_edge = self.cx.state.learning.graph.has_edge(self.centre, ToolName::END);
        let finish = usize::from(has_edge || choices.menu.iter().any(is_finish));
        let all = text::count(choices.total.saturating_sub(finish) as u64);
        let offered = choices.menu.iter().filter(|item| !is_finish(item)).count();
        let head = match choices.menu.len() {
            0 => counted(all, "possible next tool"),
            _ => format!("{offered} of {all} on the menu"),
        };
        row.cell(&head, MARKS + widths.name + widths.bar, dim).gap(1);
        row.right(if row.left() > 30 { "weight" } else { "" }, NUMBER, dim).gap(1 + MOVED);
        for head in &LOOKS[..widths.looks] {
            row.right(head, LOOK, dim).gap(1);
        }
    }

    fn draw_choice(&self, choice: &Choice, was: Option<f64>, widths: &Widths, row: &mut Row<'_>) {
        let theme = self.cx.theme;
        let chosen = self.chosen(choice);
        self.draw_marks(&choice.to, if chosen.is_some() { RUNNING } else { " " }, row);
        let style = match (choice.offered, chosen.is_some()) {
            (_, true) => theme.graph_here,
            (Some(_), false) => theme.graph_node,
            (None, false) if self.centre == self.here.node() => theme.dim,
            (None, false) => theme.graph_node,
        };
        row.cell(shown_name(choice.to.as_str()), widths.name, style).gap(1);
        match &choice.edge {
            Some(edge) => {
                self.draw_weight((edge.weight, was), edge.pinned, widths.bar, style, row);
            }
            None => {
                row.gap(widths.bar).right("–", NUMBER, theme.dim).gap(1 + MOVED);
            }
        }
        for look in &self.looks(choice)[..widths.looks] {
            row.right(look, LOOK, theme.dim).gap(1);
        }
        let (words, style) = chosen.unwrap_or_else(|| (self.why(choice), theme.dim));
        row.gap(1).put(words, style);
    }

    fn draw_marks(&self, tool: &ToolName, cursor: &str, row: &mut Row<'_>) {
        let theme = self.cx.theme;
        row.cell(cursor, 1, theme.graph_here);
        let known = self.cx.state.tools.get(tool);
        let off = known.is_some_and(|tool| !tool.is_offered());
        row.cell(if off { REFUSED } else { "" }, 1, theme.warn);
        row.cell(if self.broken.contains(tool) { INJECTED } else { "" }, 2, theme.injected);
        row.gap(MARKS - 4);
    }

    /// A weight as a bar and as a number, and how it moved.
    fn draw_weight(
        &self,
        (weight, was): (f64, Option<f64>),
        pinned: bool,
        bar: usize,
        style: Style,
        row: &mut Row<'_>,
    ) {
        let theme = self.cx.theme;
        let (held, fill) = if pinned { ("=", theme.pinned) } else { ("", theme.bar_fill) };
        let style = if pinned { theme.pinned } else { style };
        row.bar(weight, bar, (fill, theme.bar_empty));
        row.right(&format!("{held}{}", self.format.show(weight)), NUMBER, style).gap(1);
        let was = was.unwrap_or(weight);
        let style = if weight > was { theme.good } else { theme.warn };
        row.cell(&format::moved(self.format, was, weight), MOVED, style);
    }

    fn looks(&self, choice: &Choice) -> [String; LOOKS.len()] {
        let Some(edge) = &choice.edge else { return ["–".to_owned(), String::new()] };
        let seen =
            if edge.count > 0 { format!("{}×", text::count(edge.count)) } else { "".into() };
        [self.format.show(edge.prior), seen]
    }

    /// How the call of this tool stands, if the agent has just chosen it here.
    fn chosen(&self, choice: &Choice) -> Option<(&'static str, Style)> {
        if self.centre != self.here.node() {
            return None;
        }
        let call = self.here.chosen.filter(|call| call.tool == choice.to)?;
        let hold = self.cx.state.control.hold_of(call.lane);
        let standing = calls::status::of_call(call, hold, self.cx.theme);
        Some((standing.word, standing.style))
    }

    /// Why it is on the menu, or why it cannot be.
    fn why(&self, choice: &Choice) -> &'static str {
        let tool = self.cx.state.tools.get(&choice.to);
        match choice.offered {
            _ if tool.is_some_and(|tool| !tool.present) => "gone",
            _ if tool.is_some_and(|tool| !tool.switched_on) => "switched off",
            _ if tool.is_some_and(|tool| tool.spec.disabled.is_some()) => "disabled",
            Some(Offered::All | Offered::Successor) => "offered",
            Some(Offered::Retrieved) => "matches task",
            Some(Offered::Filled) => "fill-in",
            Some(Offered::Explore) => "new edge",
            Some(Offered::Planned) => "in the plan",
            Some(Offered::Probed) => "probed",
            Some(Offered::Finish) => "always",
            None => "",
        }
    }
}
