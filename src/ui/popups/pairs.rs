//! Which models did the tasks of all sessions here, and how well and at what cost.

use ratatui::{buffer::Buffer, crossterm::event::KeyCode, layout::Rect};

use super::{Reply, frame};
use crate::domain::State;
use crate::ui::hits::{Hits, Target};
use crate::ui::pane::{Cx, Move};
use crate::ui::{key::Key, panes::models::pairs, text, vlist};

pub(super) const KEYS: &str =
    "W: sort by another column · arrows: which models these are · esc: leave";

/// Lines below the table that say more of the selected pair.
const MORE: u16 = 3;

/// The table, and which row of it is selected.
#[derive(Debug, Default)]
pub struct PairTable {
    selected: usize,
}

impl PairTable {
    pub(super) fn key(&mut self, key: Key, shown: &State) -> Reply {
        let to = match key.code {
            KeyCode::Up | KeyCode::Char('k') => Move::Up,
            KeyCode::Down | KeyCode::Char('j') => Move::Down,
            KeyCode::PageUp => Move::PageUp,
            KeyCode::PageDown => Move::PageDown,
            KeyCode::Home => Move::Top,
            KeyCode::End => Move::Bottom,
            _ => return Reply::Pass,
        };
        let rows = shown.pairs.all().len();
        self.selected = vlist::moved(rows, Some(self.selected), to, 10).unwrap_or(0);
        Reply::Stay
    }

    pub(super) fn click(&mut self, row: usize) -> Reply {
        self.selected = row;
        Reply::Stay
    }

    pub(super) fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let sort = cx.view.pair_sort;
        let all = pairs::sorted(cx.state, sort);
        let title = pairs::heading(&cx.state.pairs, sort);
        let rows = u16::try_from(all.len()).unwrap_or(u16::MAX);
        let size = (108, rows.saturating_add(2 + MORE));
        let inside = frame::open(cx, (area, buf, hits), &title, KEYS, size);
        let height = inside.height.saturating_sub(1 + MORE).min(rows.saturating_add(1));
        let table = Rect { height, ..inside };
        let selected = self.selected.min(all.len().saturating_sub(1));
        let room = usize::from(height.saturating_sub(1));
        let window = vlist::Window::default().next(all.len(), room, Some(selected));
        pairs::draw(cx, &all, window.first, table, buf);
        for (y, i) in (table.y + 1..).zip(window.range()) {
            let line = Rect { y, height: 1, ..table };
            if i == selected {
                buf.set_style(line, cx.theme.selection);
            }
            hits.add(line, Target::PopupRow(i));
        }
        let Some(tally) = all.get(selected) else { return };
        let width = usize::from(inside.width);
        let lines = text::wrap_within(&pairs::about(tally), width, usize::from(MORE));
        for (y, line) in (table.bottom() + 1..inside.bottom()).zip(lines) {
            buf.set_stringn(inside.x, y, line, width, cx.theme.dim);
        }
    }
}
