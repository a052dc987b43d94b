//! What can follow the node in the middle: the weights, what moved them, what taught them.

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::choices::{Choice, Choices, before};
use super::draw::Frame;
use super::rows::{MARKS, MOVED, NUMBER, name_width};
use crate::domain::Offered;
use crate::ui::hits::{Hits, Target};
use crate::ui::panes::graph::{SPEC, shown_name};
use crate::ui::panes::row::{Row, note, split};
use crate::ui::panes::{calls, format};
use crate::ui::symbols::RUNNING;
use crate::ui::{text, vlist, vlist::Part};

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
        let looks = match width {
            0..60 => 0,
            _ => LOOKS.len(),
        };
        let fixed = MARKS + name + 1 + NUMBER + 1 + MOVED + looks * (LOOK + 1) + 1;
        let room = width.saturating_sub(fixed + WHY);
        Self { name, bar: room.clamp(6, 24), looks }
    }
}

impl Frame<'_> {
    pub fn draw_choices(&self, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let choices = Choices::new(self.cx.state, self.centre, self.since.as_ref());
        let (head, list) = split(area, u16::from(area.height > 2));
        if let Some(tools) = choices.unweighted() {
            let words = format!("{} offered, no weights", format::plural(tools, "tool"));
            return note(area, &words, self.cx.theme.dim, buf);
        }
        if choices.len() == 0 {
            return note(area, "nothing follows it", self.cx.theme.dim, buf);
        }
        let height = usize::from(list.height);
        let depth = super::depth(self.cx.view) + height;
        let selected = self.cx.view.edge.as_ref().filter(|(from, _)| from.as_str() == self.centre);
        let selected = selected.and_then(|(_, to)| choices.row(to.as_str(), depth));
        // In the pane's list they come behind what leads here.
        let is_kept = self.cx.view.kept(SPEC.id).is_some();
        let first = if is_kept { before(self.cx.state, self.centre).0.len() } else { 0 };
        let part = Part { first, total: choices.len(), selected };
        let visible = vlist::visible(self.cx, SPEC.id, list, part);
        let rows = choices.top(visible.last().map_or(0, |last| last + 1));
        let width = usize::from(list.width);
        let widths = Widths::new(width, name_width(width, rows.iter().map(|row| &row.to)));
        self.draw_head(head, &widths, &choices, buf);
        let mut rows: Vec<Choice> =
            visible.iter().filter_map(|at| rows.get(*at).cloned()).collect();
        choices.compare(&mut rows);
        vlist::draw(self.cx, SPEC.id, (list, buf, hits), part, |i, line, buf, hits| {
            let at = visible.iter().position(|visible| *visible == i);
            if let Some(choice) = at.and_then(|at| rows.get(at)) {
                self.draw_choice(choice, &widths, line, buf);
                hits.add(line, Target::Edge(self.centre.into(), choice.to.clone()));
            }
        });
    }

    fn draw_head(&self, line: Rect, widths: &Widths, choices: &Choices<'_>, buf: &mut Buffer) {
        if line.height == 0 {
            return;
        }
        let dim = self.cx.theme.dim;
        let mut row = Row::new(line, buf);
        let (all, offered) = (text::count(choices.len() as u64), choices.offered());
        let head = match offered {
            0 => format!("{all} possible next tools"),
            _ => format!("{offered} of {all} on the menu"),
        };
        row.cell(&head, MARKS + widths.name + widths.bar, dim).gap(1);
        row.right(if row.left() > 30 { "weight" } else { "" }, NUMBER, dim).gap(1 + MOVED);
        for head in &LOOKS[..widths.looks] {
            row.right(head, LOOK, dim).gap(1);
        }
    }

    fn draw_choice(&self, choice: &Choice, widths: &Widths, line: Rect, buf: &mut Buffer) {
        let theme = self.cx.theme;
        let mut row = Row::new(line, buf);
        let chosen = self.chosen(choice);
        self.draw_marks(&choice.to, if chosen.is_some() { RUNNING } else { " " }, &mut row);
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
        for look in &self.looks(choice)[..widths.looks] {
            row.right(look, LOOK, theme.dim).gap(1);
        }
        row.gap(1);
        match chosen {
            Some((words, style)) => row.put(words, style),
            None => row.put(self.why(choice), theme.dim),
        };
    }

    fn looks(&self, choice: &Choice) -> [String; LOOKS.len()] {
        let edge = choice.edge.as_ref();
        let show = |weight: Option<f64>| weight.map_or("–".to_owned(), |w| self.format.show(w));
        let seen = edge.filter(|edge| edge.count > 0);
        let seen = seen.map_or(String::new(), |edge| format!("{}×", text::count(edge.count)));
        [show(edge.map(|edge| edge.prior)), seen]
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
        if tool.is_some_and(|tool| !tool.present) {
            return "gone";
        }
        if tool.is_some_and(|tool| !tool.switched_on) {
            return "switched off";
        }
        match choice.offered {
            Some(Offered::All | Offered::Successor) => "offered",
            Some(Offered::Retrieved) => "matches task",
            Some(Offered::Filled) => "fill-in",
            Some(Offered::Explore) => "new edge",
            Some(Offered::Planned) => "in the plan",
            Some(Offered::Finish) => "always",
            None => "",
        }
    }
}
