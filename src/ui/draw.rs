//! One whole frame: header, panes, footer, popups. Pure: reads, writes cells, and says who owns which.

use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Widget};
use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::hits::{Hits, Target};
use super::layout::{self, MIN, Wanted};
use super::panes::{self, row::Row};
use super::{action::Action, footer, header};
use super::{cx::Cx, pane::PaneId};

/// Draws everything into `area`.
pub fn draw(cx: &Cx<'_>, title: &str, area: Rect, buf: &mut Buffer) -> Hits {
    let mut hits = Hits::default();
    ground(area, cx.theme.screen, buf);
    let Some(parts) = layout::parts(area, cx.view, Wanted::of(cx.state, cx.view)) else {
        too_small(cx, area, buf);
        return hits;
    };
    header::draw(cx, title, parts.header, buf, &mut hits);
    if let Some(line) = parts.tabs {
        tabs(cx, line, buf, &mut hits);
    }
    for (pane, frame) in &parts.panes {
        framed(cx, *pane, *frame, buf, &mut hits);
    }
    let above = Rect { height: area.height - 1, ..area };
    for popup in &cx.view.popups {
        popup.draw(cx, above, buf, &mut hits);
    }
    footer::following(cx, above, buf);
    footer::draw(cx, parts.footer, buf, &mut hits);
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

fn framed(cx: &Cx<'_>, pane: PaneId, frame: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let focused = cx.view.focus == pane && cx.view.popups.is_empty();
    let cx = Cx { focused, ..*cx };
    let (kind, style) = if focused {
        (BorderType::Thick, cx.theme.border_focus)
    } else {
        (BorderType::Plain, cx.theme.border)
    };
    // The frame's colour is not the title's: what is faint round a pane must be read in it.
    let words = if focused { cx.theme.title } else { cx.theme.text };
    let words = Style::reset().patch(cx.theme.screen).patch(words);
    hits.add(frame, Target::Pane(pane));
    let mut title = Line::from(Span::styled(format!(" {} ", number(&cx, pane)), cx.theme.key));
    title.spans.extend(panes::title(pane, &cx).spans);
    title.push_span(" ");
    let block =
        Block::bordered().border_type(kind).border_style(style).title_style(words).title(title);
    let inside = block.inner(frame);
    block.render(frame, buf);
    if !inside.is_empty() {
        panes::draw(pane, &cx, inside, buf, hits);
    }
}

/// The pane's key.
fn number<'a>(cx: &Cx<'a>, pane: PaneId) -> &'a str {
    cx.keymap.key(Action::Pane(pane)).unwrap_or("·")
}

fn tabs(cx: &Cx<'_>, line: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let mut x = line.x;
    let tab =
        |pane: &PaneId| *pane == cx.view.focus || (panes::spec(*pane).when)(cx.state, cx.view);
    let panes: Vec<PaneId> = PaneId::ALL.iter().copied().filter(tab).collect();
    let names: usize = panes.iter().map(|pane| pane.name().len() + 4).sum();
    // Where the line is short, tabs stand a cell closer.
    let after = if names > usize::from(line.width) { "" } else { " " };
    for pane in panes {
        let label = format!(" {} {}{after}", number(cx, pane), pane.name());
        let style = if pane == cx.view.focus { cx.theme.selection } else { cx.theme.dim };
        let start = x;
        x = buf.set_stringn(x, line.y, label, usize::from(line.right() - x), style).0;
        hits.add(Rect { x: start, width: x - start, ..line }, Target::Action(Action::Pane(pane)));
    }
}
