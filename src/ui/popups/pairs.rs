//! Which models did the tasks of all sessions here, and how well and at what cost.

use ratatui::{buffer::Buffer, layout::Rect};

use super::{Around, Popup, Pressed, Reply, frame, pick::Pick};
use crate::ui::action::{Action, Layer};
use crate::ui::{cx::Cx, hits::Hits, keymap::Hint, panes::models::pairs, text, view::Round};

/// Lines below the table that say more of the selected pair.
const MORE: u16 = 3;

/// The table, and which row of it is selected.
#[derive(Debug, Default)]
pub struct PairTable {
    pick: Pick,
}

impl Popup for PairTable {
    fn layer(&self) -> Layer {
        Layer::List
    }

    fn hints(&self) -> &'static [Hint] {
        &[
            (&[Action::Sort], "sort by the next column"),
            (&[Action::Up, Action::Down], "which models these are"),
            (&[Action::Leave], "leave"),
        ]
    }

    fn key(&mut self, pressed: Pressed, around: &mut Around<'_>) -> Reply {
        if pressed.is(Action::Sort) {
            around.view.pair_sort = around.view.pair_sort.next();
            return Reply::Stay;
        }
        self.pick.key(pressed, around.shown.pairs.all().len())
    }

    fn click(&mut self, row: usize, _: &mut Around<'_>) -> Reply {
        self.pick.row = row;
        Reply::Stay
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let sort = cx.view.pair_sort;
        let all = pairs::sorted(cx.state, sort);
        let title = pairs::heading(&cx.state.pairs, sort);
        let size = (108, all.len() + 2 + usize::from(MORE));
        let inside = frame::open(cx, (area, buf, hits), &title, &self.legend(cx), size);
        let rows = u16::try_from(all.len()).unwrap_or(u16::MAX);
        let height = inside.height.saturating_sub(1 + MORE).min(rows.saturating_add(1));
        let table = Rect { height, ..inside };
        let list = frame::rest(table, table.y + 1);
        pairs::draw(cx, &all, self.pick.window(all.len(), list).first, table, buf);
        // The table has drawn its rows already, in the columns of its head.
        let selected = self.pick.draw(cx, (list, buf, hits), all.len(), |_, _, _| {});
        let Some(tally) = all.get(selected) else { return };
        let lines = text::wrap_within(&pairs::about(tally), usize::from(inside.width), MORE.into());
        frame::write(lines, cx.theme.dim, frame::rest(inside, table.bottom() + 1), buf);
    }
}
