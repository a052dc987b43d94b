//! The planner/solver pairs of all sessions in this workspace, with accuracy and cost.

use ratatui::{buffer::Buffer, layout::Rect};

use super::{Popup, PopupKeys, Pressed, Reply, frame, pick::Pick};
use crate::action::{Action, KeyLayer};
use crate::panes::{models::pairs, row};
use crate::{
    cx::Cx, hits::Hits, keymap::Hint, request::World, view::Round, view::View, window::Window,
};

/// Lines below the table with details of the selected pair.
const MORE: u16 = 3;

/// The table of pairs, with its selected row.
#[derive(Debug, Default)]
pub struct PairTable {
    pick: Pick,
}

impl Popup for PairTable {
    fn keys(&self) -> PopupKeys {
        const HINTS: &[Hint] = &[
            (&[Action::Sort], "sort by the next column"),
            (&[Action::Up, Action::Down], "details of the models"),
            (&[Action::Leave], "leave"),
        ];
        (KeyLayer::List, HINTS)
    }

    fn key(&mut self, pressed: Pressed, world: &World<'_>, view: &mut View) -> Reply {
        if pressed.action == Some(Action::Sort) {
            view.pair_sort = view.pair_sort.next();
            return Reply::Stay;
        }
        self.pick.key(pressed, world.shown.pairs.all().len())
    }

    fn click(&mut self, row: usize, _: &World<'_>, _: &mut View) -> Reply {
        self.pick.row = row;
        Reply::Stay
    }

    fn window(&mut self) -> Option<&mut Window> {
        Some(&mut self.pick.window)
    }

    fn prepare(&mut self, cx: &Cx<'_>, area: Rect) {
        let total = cx.state.pairs.all().len();
        self.pick.fit(total, rows(total, area));
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let sort = cx.view.pair_sort;
        let all = pairs::sorted(cx.state, sort);
        let title = pairs::heading(&cx.state.pairs, sort);
        let size = (108, all.len() + 2 + usize::from(MORE));
        let inside = frame::open(cx, (area, buf, hits), &title, &self.legend(cx), size);
        let rows = u16::try_from(rows(all.len(), area)).unwrap_or(u16::MAX);
        let (table, below) = row::split(inside, rows + 1);
        let list = row::split(table, 1).1;
        pairs::draw(cx, &all, self.pick.window.first, table, buf);
        // The table has already drawn its rows, in the columns of its head.
        self.pick.draw(cx, (list, buf, hits), |_, _, _| {});
        if let Some(tally) = all.get(self.pick.row) {
            row::wrapped(row::split(below, 1).1, &pairs::about(tally), cx.theme.dim, buf);
        }
    }
}

/// The number of rows between the head and the lines about the selected pair.
fn rows(total: usize, area: Rect) -> usize {
    usize::from(area.height.saturating_sub(2 + 2 + MORE)).min(total)
}
