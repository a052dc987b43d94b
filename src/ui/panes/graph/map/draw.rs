//! The drawing of the map: lines, then labels, then nodes over them.

use std::{collections::HashSet, rc::Rc};

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::plan::{LABEL, MapContent, MapLayout, Spacing, Wire};
use super::scene::{Edge, Scene};
use super::{layers::Shape, memo, node};
use crate::domain::{ToolName, words::counted};
use crate::hits::{Hits, Target};
use crate::panes::graph::lines::{CanvasPoint, Ink, LineCanvas};
use crate::panes::graph::{SPEC, centre, shown_name};
use crate::panes::row::{Row, note, split};
use crate::panes::{format, position::Here};
use crate::symbols::PLANNED;
use crate::{cx::Cx, text, window::Window};

/// Ways to draw, the roomiest first: rows of a node, columns from lane to lane, whether a node keeps columns for a
/// longer label.
const WAYS: [(usize, usize, bool); 5] =
    [(3, 2, true), (3, 1, true), (1, 2, true), (1, 1, true), (1, 1, false)];
/// Further columns from layer to layer at most, where there is room.
const APART: usize = 10;
/// Columns of a layer beside the label of an edge, where there is room.
const AIR: usize = 2;
/// The rows from which on the foot names the tools that are not drawn.
const FOOT: u16 = 18;
/// The most nodes that are drawn as boxes.
const BOXES: usize = 30;
/// From this weight on a line is drawn in the colour of text.
const PLAIN: f64 = 0.25;

/// The map of a frame, with its scroll offset.
struct Map<'a> {
    cx: &'a Cx<'a>,
    scene: &'a Scene<'a>,
    plan: Rc<MapLayout>,
    /// The plan's upper left corner relative to the pane's; negative when scrolled.
    offset: (isize, isize),
    area: Rect,
}

/// The map alone in its pane: its rows scroll.
pub fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let window = cx.view.windows[SPEC.id as usize];
    if let Some(window) = draw_in(cx, area, window, buf, hits) {
        hits.window(SPEC.id, window);
    }
}

/// The map beside another view of the pane, whose rows scroll.
pub fn draw_beside(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    draw_in(cx, area, Window::default(), buf, hits);
}

/// Draws the map in this window, moved so that the node in the middle is visible; returns the moved window.
fn draw_in(
    cx: &Cx<'_>,
    area: Rect,
    window: Window,
    buf: &mut Buffer,
    hits: &mut Hits,
) -> Option<Window> {
    if cx.state.tools.is_empty() {
        note(area, "no tools yet", cx.theme.dim, buf);
        return None;
    }
    let focus = centre(cx.state, cx.view.centre.as_ref());
    let here = Here::of(cx.state);
    let foot_height = match area.height {
        0..6 => 0,
        6..FOOT => 1,
        _ => 2,
    };
    let (area, foot) = split(area, area.height - foot_height);
    let broken: HashSet<&str> = cx.state.broken_tools().into_iter().map(ToolName::as_str).collect();
    let labels = |scene: &Scene<'_>, short: bool| -> Vec<String> {
        let label = |name: &&str| node::label(cx.state, name, &here, broken.contains(name), short);
        scene.nodes.iter().map(label).collect()
    };
    let (whole, small) = (Scene::of(cx.state, focus, true), Scene::of(cx.state, focus, false));
    // From all tools with full labels to fewer tools with short ones, until the map fits.
    let ways = [(&whole, false), (&small, false), (&small, true)].into_iter();
    let mut drawn = ways.filter_map(|(scene, short)| {
        let labels = labels(scene, short);
        fitting(scene, &labels, area).map(|plan| (scene, labels, plan))
    });
    let (scene, labels, plan) = drawn.next().unwrap_or_else(|| {
        let labels = labels(&small, true);
        let plan = close(&small, &labels, usize::from(area.height));
        (&small, labels, plan)
    });
    let focused = scene.nodes.get_index_of(focus);
    let focused = focused.or_else(|| scene.nodes.get_index_of(here.node()));
    let (offset, window) = offset(window, &plan, focused.map(|i| plan.nodes[i]), area);
    let map = Map { cx, scene, plan, offset, area };
    map.draw_lines(buf);
    let wires = scene.edges.iter().zip(&map.plan.wires);
    for (edge, wire) in wires.filter(|(edge, _)| edge.is_shown()) {
        map.draw_weight(edge, wire, buf, hits);
    }
    map.draw_nodes(&labels, &here, buf, hits);
    map.draw_foot(foot, buf);
    Some(window)
}

/// Lays out the scene with nodes of one row, as densely as possible, over about this many rows.
pub fn close(scene: &Scene<'_>, labels: &[String], rows: usize) -> Rc<MapLayout> {
    let mut parts = parts(scene, labels, 1, Spacing { lanes: 1, layers: 0, rows });
    parts.close();
    memo::plan(parts)
}

fn parts(scene: &Scene<'_>, labels: &[String], height: usize, spacing: Spacing) -> MapContent {
    let edges = scene.edges.iter().map(|edge| (edge.from, edge.to));
    let (edges, added) = (edges.clone().take(scene.fixed), edges.skip(scene.fixed).collect());
    let shape = Shape { nodes: scene.laid, height, edges: edges.collect() };
    let frame = if height == 1 { 2 } else { 4 };
    let width = |(name, label): (&&str, &String)| {
        (text::width(label) + frame, node::least_width(name) + frame)
    };
    let widths = scene.nodes.iter().zip(labels).map(width).collect();
    let leaves = scene.nodes.iter().skip(scene.laid).chain(&scene.loose);
    let leaf = leaves.map(|name| node::least_width(name) + frame).max();
    MapContent { shape, added, widths, leaf: leaf.unwrap_or(0), air: AIR, spacing }
}

/// The roomiest layout that fits, stretched to fill the room; `None` if none fits. Added nodes and edges do not count
/// for the stretch, so that they move nothing.
fn fitting(scene: &Scene<'_>, labels: &[String], area: Rect) -> Option<Rc<MapLayout>> {
    let (width, rows) = (usize::from(area.width), usize::from(area.height));
    let fits = |plan: &MapLayout| plan.width <= width && plan.height <= rows;
    // Boxes of that many nodes would not fit, so they need not be laid out.
    let ways = WAYS.iter().filter(|(height, ..)| *height == 1 || scene.nodes.len() <= BOXES);
    for &(height, lanes, keeps) in ways {
        let spacing = Spacing { lanes, layers: 0, rows: 0 };
        let mut all = parts(scene, labels, height, spacing);
        if !keeps {
            all.close();
        }
        let bare = memo::plan(MapContent { added: Vec::new(), ..all.clone() });
        if fits(&bare) {
            let gaps = bare.layers.saturating_sub(1).max(1);
            let layers = ((width - bare.width) / gaps).min(APART);
            let apart =
                memo::plan(MapContent { spacing: Spacing { layers, rows, ..spacing }, ..all });
            if fits(&apart) {
                return Some(apart);
            }
        }
    }
    None
}

/// The position of the layout in the pane: in the middle if it fits, else so that the focus is visible.
fn offset(
    window: Window,
    plan: &MapLayout,
    focus: Option<CanvasPoint>,
    area: Rect,
) -> ((isize, isize), Window) {
    let (width, rows) = (usize::from(area.width), usize::from(area.height));
    let (x, y) = focus.unwrap_or((0, 0));
    // A quarter of the rows above the focus and below it should be visible too.
    let (above, below) = (y.saturating_sub(rows / 4), y + plan.tall + rows / 4);
    let below = below.min(plan.height).saturating_sub(1);
    let window = window.next(plan.height, rows, focus.map(|_| below));
    let window = window.next(plan.height, rows, focus.map(|_| above));
    // The focus is a third from the left: its successors are to its right.
    let first = x.saturating_sub(width / 3).min(plan.width.saturating_sub(width));
    let x = match plan.width <= width {
        true => (width - plan.width) as isize / 2,
        false => -(first as isize),
    };
    // Added nodes lie above or below the middle, and must move nothing.
    let y = match plan.height <= rows {
        true => rows.saturating_sub(plan.laid) / 2,
        false => return ((x, -(window.first as isize)), window),
    };
    ((x, y.min(rows - plan.height) as isize), window)
}

impl Map<'_> {
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
    fn cell(&self, (x, y): CanvasPoint) -> Option<(u16, u16)> {
        let x = u16::try_from(x as isize + self.offset.0).ok()?;
        let y = u16::try_from(y as isize + self.offset.1).ok()?;
        (x < self.area.width && y < self.area.height).then(|| (self.area.x + x, self.area.y + y))
    }

    fn draw_lines(&self, buf: &mut Buffer) {
        let corner = ((-self.offset.0).max(0) as usize, (-self.offset.1).max(0) as usize);
        let (width, height) = (usize::from(self.area.width), usize::from(self.area.height));
        let mut lines = LineCanvas::new(corner, width, height);
        let wires = self.scene.edges.iter().zip(&self.plan.wires);
        for (edge, wire) in wires.filter(|(edge, _)| edge.is_shown()) {
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
    }

    /// Draws the weight of an edge and its direction, in the row that only this edge has.
    fn draw_weight(&self, edge: &Edge, wire: &Wire, buf: &mut Buffer, hits: &mut Hits) {
        let Some(place) = wire.label else { return };
        let format = format::weight_format(&self.cx.state.knobs);
        let number = edge.weight.map_or("new".to_owned(), |weight| format.show(weight));
        let number = if edge.pinned { format!("={number}") } else { number };
        let label = if wire.back { format!("<{number}") } else { format!("{number}>") };
        let label: String = label.chars().take(LABEL).collect();
        let style =
            if edge.pinned { self.cx.theme.pinned } else { self.line_style(self.ink(edge)) };
        if let Some(area) = self.put(place, &label, style, buf) {
            let (from, to) = (self.scene.nodes[edge.from], self.scene.nodes[edge.to]);
            hits.add(area, Target::Edge(from.into(), to.into()));
        }
    }

    fn draw_nodes(&self, labels: &[String], here: &Here<'_>, buf: &mut Buffer, hits: &mut Hits) {
        let path = here.path();
        for ((name, label), (x, y)) in self.scene.nodes.iter().zip(labels).zip(&self.plan.nodes) {
            let style = node::style(self.cx, name, here, &path);
            let lines = framed(label, self.plan.tall);
            let lines = (*y..).zip(&lines);
            let areas = lines.filter_map(|(y, line)| self.put((*x, y), line, style, buf));
            let Some(area) = areas.reduce(Rect::union) else { continue };
            if self.cx.view.tool.as_ref().is_some_and(|tool| tool.as_str() == *name) {
                buf.set_style(area, self.cx.theme.selection(self.cx.focused));
            }
            hits.add(area, Target::Tool(ToolName::new(name)));
        }
    }

    /// Writes the part of a text that is in the pane, from a place on the plan on; returns its cells.
    fn put(&self, (x, y): CanvasPoint, text: &str, style: Style, buf: &mut Buffer) -> Option<Rect> {
        let mut next = x;
        let letters = text.chars().filter_map(|letter| {
            let mut bytes = [0; 4];
            let letter = letter.encode_utf8(&mut bytes);
            let x = next;
            next += text::width(letter);
            // A letter is shown whole or not at all.
            let (first, last) = (self.cell((x, y))?, self.cell((next.checked_sub(1)?, y))?);
            buf.set_string(first.0, first.1, &*letter, style);
            Some(Rect { x: first.0, y: first.1, width: last.0 + 1 - first.0, height: 1 })
        });
        letters.reduce(Rect::union)
    }

    /// Says in which directions the map goes beyond the pane.
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

    /// Draws the counts of hidden edges and the names of tools that are not drawn.
    fn draw_foot(&self, area: Rect, buf: &mut Buffer) {
        let (scene, theme) = (self.scene, self.cx.theme);
        let mut row = Row::new(area, buf);
        if scene.part {
            let all = self.cx.state.learning.graph.len();
            row.put(&format!("{} of {all} tools  ", scene.nodes.len()), theme.dim);
        }
        let shown = scene.edges.iter().filter(|edge| edge.is_shown()).count();
        row.put(&counted(shown, "weight"), theme.dim).put("; hidden: ", theme.dim);
        if scene.lighter > 0 {
            let weak = counted(scene.lighter, "weak edge");
            row.put(&format!("{weak}, "), theme.dim);
        }
        row.put("all edges to Finish", theme.dim).put(&self.beyond(), theme.warn);
        row.put("; ", theme.dim).put(&format!("{PLANNED} path of this attempt"), theme.graph_here);
        // This line is empty if every node has an edge.
        let names: Vec<&str> = scene.loose.iter().map(|name| shown_name(name)).collect();
        let rest = format!("not drawn: {}", names.join(" · "));
        note(split(area, 1).1, &rest, theme.dim, buf);
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
