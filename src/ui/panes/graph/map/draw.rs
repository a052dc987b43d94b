//! The drawing of the map: lines, then labels, then nodes over them.

use std::{collections::HashSet, rc::Rc};

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::lines::{Ink, Lines};
use super::plan::{LABEL, Plan};
use super::scene::{Edge, Scene};
use super::{layers::Shape, memo, node};
use crate::domain::{ToolName, WeightFormat};
use crate::ui::hits::{Hits, Target};
use crate::ui::panes::graph::{SPEC, centre, shown_name};
use crate::ui::panes::row::{Row, note, split};
use crate::ui::panes::{format, position::Here};
use crate::ui::symbols::PLANNED;
use crate::ui::{cx::Cx, text, window::Window};

/// Ways to draw, the roomiest first: rows of a node, columns from lane to lane.
const WAYS: [(usize, usize); 4] = [(3, 2), (3, 1), (1, 2), (1, 1)];
/// Up to so many nodes are tried as boxes.
const BOXES: usize = 30;
/// From this weight on a line is drawn in the colour of text.
const PLAIN: f64 = 0.25;

/// What a frame shows, and from where.
struct Map<'a> {
    cx: &'a Cx<'a>,
    here: Here<'a>,
    path: Vec<&'a str>,
    scene: &'a Scene<'a>,
    labels: &'a [String],
    plan: Rc<Plan>,
    height: usize,
    format: WeightFormat,
    /// Where the plan's upper left corner is, from the pane's: negative where it is scrolled.
    offset: (isize, isize),
    area: Rect,
}

pub fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    if cx.state.tools.is_empty() {
        return note(area, "no tools yet", cx.theme.dim, buf);
    }
    let focus = centre(cx.state, cx.view.centre.as_ref());
    let scene = Scene::of(cx.state, focus);
    let here = Here::of(cx.state);
    let (inner, foot) = split(area, area.height - foot_height(&scene, area));
    let labels = labels(cx, &scene, &here);
    let (plan, height) = fitting(&scene, &labels, inner);
    let focused = scene.place(focus).or_else(|| scene.place(here.node()));
    let (offset, window) = offset(cx, &plan, focused.map(|i| plan.nodes[i]), height, inner);
    hits.window(SPEC.id, window);
    let path = here.path();
    let format = format::weight_format(&cx.state.knobs);
    let map = Map {
        cx,
        here,
        path,
        scene: &scene,
        labels: &labels,
        plan,
        height,
        format,
        offset,
        area: inner,
    };
    map.draw_lines(buf, hits);
    map.draw_nodes(buf, hits);
    let beyond = map.beyond();
    draw_foot(cx, &scene, beyond, foot, buf);
}

fn labels(cx: &Cx<'_>, scene: &Scene<'_>, here: &Here<'_>) -> Vec<String> {
    let broken: HashSet<&str> = cx.state.broken_tools().into_iter().map(ToolName::as_str).collect();
    let label = |name: &&str| node::label(cx.state, name, here, broken.contains(name));
    scene.nodes.iter().map(label).collect()
}

/// The scene laid out with nodes of this height: 1, or 3 for boxes.
pub fn plan(scene: &Scene<'_>, labels: &[String], height: usize, spacing: usize) -> Rc<Plan> {
    let edges = scene.edges.iter().map(|edge| (edge.from, edge.to)).collect();
    let shape = Shape { nodes: scene.nodes.len(), height, edges };
    let frame = if height == 1 { 2 } else { 4 };
    memo::plan(shape, labels.iter().map(|label| text::width(label) + frame).collect(), spacing)
}

/// The roomiest way to draw it that fits; where none does, the closest one.
fn fitting(scene: &Scene<'_>, labels: &[String], area: Rect) -> (Rc<Plan>, usize) {
    let (width, rows) = (usize::from(area.width), usize::from(area.height));
    let mut closest = None;
    // Boxes above each other would not fit: no need to lay them out.
    let ways = WAYS.iter().filter(|(height, _)| *height == 1 || scene.nodes.len() <= BOXES);
    for (height, spacing) in ways {
        let plan = plan(scene, labels, *height, *spacing);
        if plan.width <= width && plan.height <= rows {
            return (plan, *height);
        }
        closest = Some((plan, *height));
    }
    closest.unwrap_or_default()
}

/// Where the plan lies in the pane: in the middle if there is room, else so that the focus is seen.
fn offset(
    cx: &Cx<'_>,
    plan: &Plan,
    focus: Option<(usize, usize)>,
    height: usize,
    area: Rect,
) -> ((isize, isize), Window) {
    let (width, rows) = (usize::from(area.width), usize::from(area.height));
    let (x, y) = focus.unwrap_or((0, 0));
    // With something above it and below it.
    let (above, below) = (y.saturating_sub(rows / 4), y + height + rows / 4);
    let below = below.min(plan.height).saturating_sub(1);
    let window = cx.view.windows[SPEC.id as usize];
    let window = window.next(plan.height, rows, focus.map(|_| below));
    let window = window.next(plan.height, rows, focus.map(|_| above));
    let down = if plan.height <= rows {
        (rows - plan.height) as isize / 2
    } else {
        -(window.first as isize)
    };
    let right = if plan.width <= width {
        (width - plan.width) as isize / 2
    } else {
        // The focus a third from the left: what can follow it lies to the right.
        -((x.saturating_sub(width / 3)).min(plan.width - width) as isize)
    };
    ((right, down), window)
}

impl Map<'_> {
    /// Where there is more than the pane shows.
    fn beyond(&self) -> String {
        let ((x, y), area) = (self.offset, self.area);
        let past = |size: usize, offset: isize, room: u16| size as isize + offset > room as isize;
        let sides = [
            ("< left", x < 0),
            ("right >", past(self.plan.width, x, area.width)),
            ("^ above", y < 0),
            ("below v", past(self.plan.height, y, area.height)),
        ];
        let sides: Vec<&str> =
            sides.iter().filter(|(_, more)| *more).map(|(side, _)| *side).collect();
        if sides.is_empty() { String::new() } else { format!("; more {}", sides.join(" ")) }
    }

    fn ink(&self, edge: &Edge) -> Ink {
        let (from, to) = (self.scene.nodes[edge.from], self.scene.nodes[edge.to]);
        let selected = self.cx.view.tool.as_ref().map(ToolName::as_str);
        match edge.weight {
            _ if edge.walked => Ink::Path,
            _ if selected.is_some_and(|tool| tool == from || tool == to) => Ink::Strong,
            Some(weight) if weight >= PLAIN => Ink::Plain,
            Some(_) | None => Ink::Faint,
        }
    }

    fn line_style(&self, ink: Ink) -> Style {
        let theme = self.cx.theme;
        match ink {
            Ink::Faint => theme.graph_edge,
            Ink::Plain => theme.text,
            Ink::Strong => theme.accent,
            Ink::Path => theme.graph_here,
        }
    }

    /// The cell of a place on the plan, if it is in the pane.
    fn cell(&self, (x, y): (usize, usize)) -> Option<(u16, u16)> {
        let x = u16::try_from(x as isize + self.offset.0).ok()?;
        let y = u16::try_from(y as isize + self.offset.1).ok()?;
        (x < self.area.width && y < self.area.height).then(|| (self.area.x + x, self.area.y + y))
    }

    fn draw_lines(&self, buf: &mut Buffer, hits: &mut Hits) {
        let corner = ((-self.offset.0).max(0) as usize, (-self.offset.1).max(0) as usize);
        let (width, height) = (usize::from(self.area.width), usize::from(self.area.height));
        let mut lines = Lines::new(corner, width, height);
        for (edge, wire) in self.scene.edges.iter().zip(&self.plan.wires) {
            let ink = self.ink(edge);
            for (from, to, net) in &wire.pieces {
                lines.draw(*from, *to, *net, ink);
            }
        }
        for y in corner.1..corner.1 + height {
            for x in corner.0..corner.0 + width {
                let Some((glyph, ink)) = lines.glyph((x, y)) else { continue };
                let Some(cell) = self.cell((x, y)) else { continue };
                buf[cell].set_char(glyph).set_style(self.line_style(ink));
            }
        }
        for (i, edge) in self.scene.edges.iter().enumerate() {
            self.draw_label(i, edge, buf, hits);
        }
    }

    /// The weight of an edge, and which way it goes, on the row that is the edge's alone.
    fn draw_label(&self, i: usize, edge: &Edge, buf: &mut Buffer, hits: &mut Hits) {
        let Some(wire) = self.plan.wires.get(i) else { return };
        let Some((x, y)) = wire.label else { return };
        let number = edge.weight.map_or("new".to_owned(), |weight| self.format.show(weight));
        let number = if edge.pinned { format!("={number}") } else { number };
        let label = if wire.back { format!("<{number}") } else { format!("{number}>") };
        let style =
            if edge.pinned { self.cx.theme.pinned } else { self.line_style(self.ink(edge)) };
        let (from, to) = (self.scene.nodes[edge.from], self.scene.nodes[edge.to]);
        for (i, letter) in label.chars().take(LABEL).enumerate() {
            let Some(cell) = self.cell((x + i, y)) else { continue };
            buf[cell].set_char(letter).set_style(style);
            let area = Rect { x: cell.0, y: cell.1, width: 1, height: 1 };
            hits.add(area, Target::Edge(from.into(), to.into()));
        }
    }

    fn draw_nodes(&self, buf: &mut Buffer, hits: &mut Hits) {
        for (i, name) in self.scene.nodes.iter().enumerate() {
            let style = node::style(self.cx, name, &self.here, &self.path);
            let (x, y) = self.plan.nodes[i];
            let lines = framed(&self.labels[i], self.height);
            let areas = lines.iter().enumerate();
            let areas = areas.filter_map(|(row, line)| self.put((x, y + row), line, style, buf));
            let Some(area) = areas.reduce(Rect::union) else { continue };
            if self.cx.view.tool.as_ref().is_some_and(|tool| tool.as_str() == *name) {
                buf.set_style(area, self.cx.theme.selection(self.cx.focused));
            }
            hits.add(area, Target::Tool(ToolName::new(name)));
        }
    }

    /// Writes a text at a place on the plan, as much of it as is in the pane; where that is.
    fn put(&self, at: (usize, usize), text: &str, style: Style, buf: &mut Buffer) -> Option<Rect> {
        let y = u16::try_from(at.1 as isize + self.offset.1).ok()?;
        if y >= self.area.height {
            return None;
        }
        let mut x = at.0 as isize + self.offset.0;
        let mut shown = Rect { x: 0, y: self.area.y + y, width: 0, height: 1 };
        for letter in text.chars() {
            let mut bytes = [0; 4];
            let letter = letter.encode_utf8(&mut bytes);
            let width = text::width(letter);
            let inside = x >= 0 && x + width as isize <= isize::from(self.area.width as i16);
            if let (true, Ok(column)) = (inside && width > 0, u16::try_from(x)) {
                let column = self.area.x + column;
                buf.set_stringn(column, shown.y, &*letter, width, style);
                if shown.width == 0 {
                    shown.x = column;
                }
                shown.width = column + width as u16 - shown.x;
            }
            x += width as isize;
        }
        (shown.width > 0).then_some(shown)
    }
}

/// A node's rows: its label in brackets, or in a box.
fn framed(label: &str, height: usize) -> Vec<String> {
    if height == 1 {
        return vec![format!("[{label}]")];
    }
    let bar = "─".repeat(text::width(label) + 2);
    vec![format!("╭{bar}╮"), format!("│ {label} │"), format!("╰{bar}╯")]
}

fn foot_height(scene: &Scene<'_>, area: Rect) -> u16 {
    match area.height {
        0..6 => 0,
        _ if scene.loose.is_empty() => 1,
        _ => 2,
    }
}

/// What is not drawn.
fn draw_foot(cx: &Cx<'_>, scene: &Scene<'_>, beyond: String, area: Rect, buf: &mut Buffer) {
    let dim = cx.theme.dim;
    let mut row = Row::new(area, buf);
    if scene.part {
        let all = cx.state.learning.graph.len();
        row.put(&format!("{} of {all} tools  ", scene.nodes.len()), dim);
    }
    row.put(&format::plural(scene.edges.len(), "edge"), dim);
    row.put("; hidden: ", dim);
    if scene.lighter > 0 {
        let weak = format::plural(scene.lighter, "weak edge");
        row.put(&format!("{weak}, "), dim);
    }
    row.put("all edges to Finish", dim).put(&beyond, cx.theme.warn);
    row.put("; ", dim).put(&format!("{PLANNED} path of this attempt"), cx.theme.graph_here);
    // It has no line where every node has an edge.
    let mut row = Row::new(split(area, 1).1, buf);
    row.put("isolated: ", dim);
    let names: Vec<&str> = scene.loose.iter().map(|name| shown_name(name)).collect();
    row.put(&names.join(" · "), dim);
}
