//! The box that every popup is drawn in.

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Widget};

use crate::hits::{Hits, Target};
use crate::{cx::Cx, text};

/// Draws an empty box of this inner size in the middle, with the popup's keys at its foot, and returns its inside. From
/// now on the mouse belongs to the popup.
pub(super) fn open(
    cx: &Cx<'_>,
    (area, buf, hits): (Rect, &mut Buffer, &mut Hits),
    title: &str,
    keys: &str,
    (width, height): (usize, usize),
) -> Rect {
    let cells = |inner: usize| Constraint::Length(u16::try_from(inner).unwrap_or(u16::MAX));
    let outer = area.centered(cells(width + 4), cells(height + 2));
    hits.cover();
    hits.add(area, Target::Popup);
    uncover(outer, buf);
    Clear.render(outer, buf);
    buf.set_style(outer, cx.theme.screen);
    buf.set_style(outer, cx.theme.popup);
    let room = usize::from(outer.width.saturating_sub(4));
    let edge = |text: &str| format!(" {} ", text::cut(text, room));
    let block = Block::bordered()
        .border_type(BorderType::Double)
        .border_style(cx.theme.border_focus)
        .title(Line::from(Span::styled(edge(title), cx.theme.title)))
        .title_bottom(Line::from(Span::styled(edge(keys), cx.theme.dim)));
    let inner = block.inner(outer);
    block.render(outer, buf);
    Rect { x: inner.x + 1.min(inner.width), width: inner.width.saturating_sub(2), ..inner }
}

/// Removes wide characters whose second half the box covers: a terminal would draw them over its frame.
fn uncover(outer: Rect, buf: &mut Buffer) {
    let Some(x) = outer.x.checked_sub(1) else { return };
    for y in outer.top()..outer.bottom() {
        if let Some(cell) = buf.cell_mut((x, y)).filter(|cell| text::width(cell.symbol()) > 1) {
            cell.set_symbol(" ");
        }
    }
}
