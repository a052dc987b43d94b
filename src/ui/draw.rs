//! Draws a whole frame: header, panes, row of time, footer, popups. Pure: reads, writes cells, and notes the owner of
//! each.

use std::cell::OnceCell;

use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::symbols::merge::MergeStrategy;
use ratatui::widgets::{Block, BorderType, Widget};
use ratatui::{buffer::Buffer, style::Style};

use super::hits::{Hits, Target};
use super::layout::{self, MIN, Placed, Size};
use super::panes::{self, row::Row};
use super::symbols::SELECTED;
use super::{action::Action, cx::Cx, footer, header, pane::PaneId, scrubber, text};

/// Draws everything into `area`.
pub fn draw(cx: &Cx<'_>, title: &str, area: Rect, buf: &mut Buffer) -> Hits {
    let mut hits = Hits::default();
    ground(area, cx.theme.screen, buf);
    let Some(size) = Size::of(area.width, area.height) else {
        too_small(cx, area, buf);
        return hits;
    };
    // The first line has all that there is to say of a watched agent.
    let has_vitals = size.has_vitals() && cx.state.watched.is_none();
    let vitals = Constraint::Length(u16::from(has_vitals));
    let time = Constraint::Length(u16::from(size.has_scrubber()));
    let (line, rest) = (Constraint::Length(1), Constraint::Fill(1));
    let caption = Constraint::Length(u16::from(cx.view.caption.is_some()));
    let rows = Layout::vertical([line, vitals, rest, caption, time, line]);
    let [head, vital, body, said, time, foot] = rows.areas(area);
    header::draw(cx, title, head, buf, &mut hits);
    header::vitals(cx, vital, buf, &mut hits);
    hits.placed = placed(cx, size, body);
    draw_panes(cx, buf, &mut hits);
    scrubber::draw(cx, time, buf, &mut hits);
    let above = Rect { height: area.height - 1 - said.height, ..area };
    for popup in &cx.view.popups {
        popup.draw(cx, above, buf, &mut hits);
    }
    footer::following(cx, above, buf);
    footer::draw(cx, foot, buf, &mut hits);
    footer::caption(cx, said, buf);
    hits
}

/// Gives every cell this style. A row at a time, since `Buffer::set_style` checks the place of each cell and
/// then takes a third of the time of a small frame.
fn ground(area: Rect, style: Style, buf: &mut Buffer) {
    for row in area.rows().filter(|row| !row.is_empty()) {
        let start = buf.index_of(row.x, row.y);
        for cell in &mut buf.content[start..start + usize::from(row.width)] {
            cell.set_style(style);
        }
    }
}

fn too_small(cx: &Cx<'_>, area: Rect, buf: &mut Buffer) {
    let line = format!("too small: {}×{}, needs {}×{}", area.width, area.height, MIN.0, MIN.1);
    let middle = Rect { y: area.y + area.height / 2, ..area };
    Row::new(middle, buf).put(&line, cx.theme.warn);
}

fn placed(cx: &Cx<'_>, size: Size, body: Rect) -> Vec<Placed> {
    if let Some(pane) = cx.view.zoom {
        return vec![Placed { pane, others: Vec::new(), area: body, spare: None }];
    }
    // Several arrangements of a layout are tried, but each pane is asked once.
    let (shown, rows) = (PaneCache::default(), PaneCache::default());
    let has = |pane: PaneId| {
        let when = || pane == cx.view.focus || (panes::spec(pane).when)(cx.state, cx.view);
        shown.get(pane, when)
    };
    let most = |pane: PaneId| {
        let most = || (panes::spec(pane).most)(cx.state, cx.view);
        rows.get(pane, || most().map(|rows| u16::try_from(rows).unwrap_or(u16::MAX)))
    };
    let layout = &cx.view.layouts.now;
    // On smaller screens panes are tabs.
    match size >= Size::Large {
        true => layout::fill(layout, body, has, most),
        false => layout::place(layout, body, has, most),
    }
}

/// Answers of the panes, each computed once.
#[derive(Default)]
struct PaneCache<T>([OnceCell<T>; PaneId::ALL.len()]);

impl<T: Copy> PaneCache<T> {
    fn get(&self, pane: PaneId, ask: impl FnOnce() -> T) -> T {
        *self.0[pane as usize].get_or_init(ask)
    }
}

/// Frames first, since neighbours share a line: the frame of the pane with the keyboard goes over the others, and
/// titles and insides go over all frames.
fn draw_panes(cx: &Cx<'_>, buf: &mut Buffer, hits: &mut Hits) {
    let placed = hits.placed.clone();
    let is_focused = |placed: &&Placed| placed.pane == cx.view.focus;
    let others = placed.iter().filter(|placed| !is_focused(placed));
    for Placed { pane, area, .. } in others.chain(placed.iter().filter(is_focused)) {
        let focused = has_keyboard(cx, *pane);
        let (kind, style) = match focused {
            true => (BorderType::Thick, cx.theme.border_focus),
            false => (BorderType::Plain, cx.theme.border),
        };
        let block = Block::bordered().border_type(kind).border_style(style);
        block.merge_borders(MergeStrategy::Fuzzy).render(*area, buf);
        hits.add(*area, Target::Pane(*pane));
    }
    for placed in &placed {
        let cx = Cx { focused: has_keyboard(cx, placed.pane), frame: placed.area, ..*cx };
        draw_title(&cx, placed, buf, hits);
        panes::draw(placed.pane, &cx, Block::bordered().inner(placed.area), buf, hits);
    }
}

fn has_keyboard(cx: &Cx<'_>, pane: PaneId) -> bool {
    cx.view.focus == pane && cx.view.popups.is_empty()
}

/// Draws the pane's name and title, then the names of the other panes in its slot.
fn draw_title(cx: &Cx<'_>, placed: &Placed, buf: &mut Buffer, hits: &mut Hits) {
    // The title does not take the frame's colour: a frame may be faint, but the title must be readable.
    let words = if cx.focused { cx.theme.title } else { cx.theme.text };
    let ground = |style: Style| Style::reset().patch(cx.theme.screen).patch(style);
    let area = placed.area;
    let line = Rect { x: area.x + 2, width: area.width.saturating_sub(4), height: 1, ..area };
    let mut row = Row::new(line, buf);
    row.put(if cx.focused { SELECTED } else { " " }, ground(cx.theme.accent));
    row.put(&format!("{} ", number(cx, placed.pane)), ground(cx.theme.key));
    for span in &panes::title(placed.pane, cx).spans {
        row.put(&span.content, ground(words.patch(span.style)));
    }
    row.put(" ", ground(words));
    let mut left = placed.others.len();
    for pane in &placed.others {
        let label = format!(" {} {} ", number(cx, *pane), panes::name(*pane, cx.state));
        let more = if left > 1 { format!("+{left} ").len() } else { 0 };
        if text::width(&label) + more > row.left() {
            row.put(&format!("+{left} "), ground(cx.theme.dim));
            break;
        }
        let start = row.x();
        row.put(&label, ground(cx.theme.dim));
        hits.add(row.since(start), Target::Action(Action::Pane(*pane)));
        left -= 1;
    }
}

/// The pane's key.
fn number<'a>(cx: &Cx<'a>, pane: PaneId) -> &'a str {
    cx.keymap.key(Action::Pane(pane)).unwrap_or("·")
}
