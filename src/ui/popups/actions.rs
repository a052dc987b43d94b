//! Help and palette: every action there is, by section or by how well it fits what was typed. Both do
//! what is chosen, for who has found a key wants to press it.

use ratatui::text::{Line, Span};
use ratatui::{buffer::Buffer, crossterm::event::KeyCode, layout::Rect, widgets::Widget};

use super::{Reply, entry::Entry, frame, fuzzy};
use crate::ui::action::{ACTIONS, Action, ActionSpec, Group};
use crate::ui::hits::{Hits, Target};
use crate::ui::pane::{Cx, Move};
use crate::ui::vlist::{self, Window};
use crate::ui::{key::Key, text, update::World, view::View};

pub(super) const KEYS: &str = "type to search · enter: do it · esc: leave";

/// Cells for the keys and for the names.
const KEY_WIDTH: usize = 14;
const NAME_WIDTH: usize = 16;
/// Rows at the foot: air, and two for what the selected action does.
const FOOT: u16 = 3;

/// Every action, searched.
#[derive(Debug)]
pub struct Actions {
    title: &'static str,
    /// In sections, where nothing is searched for.
    sections: bool,
    entry: Entry,
    /// Everything, in the table's order.
    all: Vec<Item>,
    /// What is shown.
    rows: Vec<Row>,
    /// Of `rows`.
    selected: usize,
    window: Window,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Row {
    Heading(Group),
    /// The place in `all`.
    Item(usize),
}

#[derive(Debug)]
struct Item {
    spec: &'static ActionSpec,
    keys: String,
    /// Why it cannot be done now.
    why_not: Option<&'static str>,
}

impl Item {
    fn doc(&self) -> String {
        match self.why_not {
            Some(why) => format!("{} (not now: {why})", self.spec.doc),
            None => self.spec.doc.to_owned(),
        }
    }
}

impl Actions {
    /// By section.
    pub fn help(world: &World<'_>, view: &View) -> Self {
        Self::new("Help: every key", true, world, view)
    }

    /// One list.
    pub fn palette(world: &World<'_>, view: &View) -> Self {
        Self::new("Palette: every action", false, world, view)
    }

    fn new(title: &'static str, sections: bool, world: &World<'_>, view: &View) -> Self {
        let all = ACTIONS.iter().map(|spec| Item {
            spec,
            keys: world.keymap.show(spec.action),
            why_not: spec.why_not(world.live, view),
        });
        let mut actions = Self {
            title,
            sections,
            entry: Entry::line(""),
            all: all.collect(),
            rows: Vec::new(),
            selected: 0,
            window: Window::default(),
        };
        actions.search();
        actions
    }

    fn search(&mut self) {
        let query = self.entry.text().to_lowercase();
        self.rows = if query.trim().is_empty() { self.everything() } else { self.found(&query) };
        self.selected = self.rows.iter().position(|row| matches!(row, Row::Item(_))).unwrap_or(0);
        self.window = Window::default();
    }

    fn everything(&self) -> Vec<Row> {
        if !self.sections {
            return (0..self.all.len()).map(Row::Item).collect();
        }
        let section = |group: Group| {
            let items = (0..self.all.len()).filter(move |i| self.all[*i].spec.group == group);
            std::iter::once(Row::Heading(group)).chain(items.map(Row::Item))
        };
        Group::ALL.into_iter().flat_map(section).collect()
    }

    /// The best first: names by some of their letters, then docs and keys by their words.
    fn found(&self, query: &str) -> Vec<Row> {
        let fits = |item: &Item| {
            let words = || {
                let exact = item.keys.split(' ').any(|key| key == query);
                let doc = item.spec.doc.to_lowercase().contains(query);
                if exact { Some(1000) } else { doc.then_some(-100) }
            };
            words()
                .filter(|score| *score > 0)
                .or_else(|| fuzzy::score(query, item.spec.name))
                .or_else(words)
        };
        let scored = self.all.iter().enumerate().filter_map(|(i, item)| Some((fits(item)?, i)));
        let mut scored: Vec<_> = scored.collect();
        scored.sort_by_key(|(score, i)| (-score, *i));
        scored.into_iter().map(|(_, i)| Row::Item(i)).collect()
    }

    pub(super) fn key(&mut self, key: Key) -> Reply {
        let to = match key.code {
            KeyCode::Esc => return Reply::Close,
            KeyCode::Char('c') if key.types().is_none() => return Reply::Close,
            KeyCode::Enter => return self.click(self.selected),
            KeyCode::Up => Move::Up,
            KeyCode::Down => Move::Down,
            KeyCode::PageUp => Move::PageUp,
            KeyCode::PageDown => Move::PageDown,
            _ => {
                self.entry.key(key);
                self.search();
                return Reply::Stay;
            }
        };
        self.go(to);
        Reply::Stay
    }

    /// Moves to the next action, over headings.
    fn go(&mut self, to: Move) {
        self.window.free = false;
        let page = self.window.rows;
        let moved = vlist::moved(self.rows.len(), Some(self.selected), to, page);
        let Some(at) = moved else { return };
        let is_item = |i: &usize| matches!(self.rows[*i], Row::Item(_));
        let up = matches!(to, Move::Up | Move::PageUp);
        let found =
            if up { (0..=at).rev().find(is_item) } else { (at..self.rows.len()).find(is_item) };
        self.selected = found.unwrap_or(self.selected);
    }

    pub(super) fn click(&mut self, row: usize) -> Reply {
        match self.rows.get(row) {
            Some(Row::Item(i)) => Reply::Act(self.all[*i].spec.action),
            Some(Row::Heading(_)) | None => Reply::Stay,
        }
    }

    pub(super) fn paste(&mut self, text: &str) {
        self.entry.paste(text);
        self.search();
    }

    pub(super) fn wheel(&mut self, by: isize) {
        self.window = self.window.wheeled(by);
    }

    pub(super) fn prepare(&mut self, area: Rect) {
        // Without the field and the line below it, and what is said in full at the foot.
        let rows = usize::from(height(area).saturating_sub(2 + FOOT));
        self.window = self.window.next(self.rows.len(), rows, Some(self.selected));
    }

    pub(super) fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let inside = frame::open(cx, (area, buf, hits), self.title, KEYS, (96, height(area)));
        if inside.height < 3 {
            return;
        }
        let prompt = Rect { width: 2.min(inside.width), height: 1, ..inside };
        buf.set_stringn(prompt.x, prompt.y, "› ", usize::from(prompt.width), cx.theme.key);
        let field =
            Rect { x: prompt.right(), width: inside.width - prompt.width, height: 1, ..inside };
        self.entry.draw(cx, field, buf);
        if self.rows.is_empty() {
            buf.set_stringn(inside.x, inside.y + 2, "nothing is called that", 40, cx.theme.dim);
        }
        let end = inside.bottom().saturating_sub(FOOT).max(inside.y + 2);
        for (y, i) in (inside.y + 2..end).zip(self.window.range()) {
            let line = Rect { y, height: 1, width: inside.width - 1, ..inside };
            self.row(cx, self.rows[i], usize::from(line.width)).render(line, buf);
            if i == self.selected {
                buf.set_style(line, cx.theme.selection);
            }
            hits.add(line, Target::PopupRow(i));
        }
        let bar =
            Rect { x: inside.right() - 1, y: inside.y + 2, width: 1, height: end - inside.y - 2 };
        vlist::scrollbar(cx, bar, self.window, buf);
        self.foot(cx, Rect { y: end, height: inside.bottom() - end, ..inside }, buf);
    }

    /// In full what the selected row may have had no room for.
    fn foot(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer) {
        let Some(Row::Item(i)) = self.rows.get(self.selected) else { return };
        let (width, doc) = (usize::from(area.width), self.all[*i].doc());
        for (y, line) in (area.y + 1..area.bottom()).zip(text::wrap(&doc, width)) {
            buf.set_stringn(area.x, y, line, width, cx.theme.dim);
        }
    }

    fn row(&self, cx: &Cx<'_>, row: Row, width: usize) -> Line<'_> {
        let i = match row {
            Row::Heading(group) => return Line::styled(group.name(), cx.theme.title),
            Row::Item(i) => i,
        };
        let item = &self.all[i];
        let doc = item.doc();
        let left = width.saturating_sub(KEY_WIDTH + NAME_WIDTH + 2);
        let style = if item.why_not.is_some() { cx.theme.dim } else { cx.theme.text };
        Line::from(vec![
            Span::styled(text::fit(&item.keys, KEY_WIDTH), cx.theme.key),
            Span::raw(" "),
            Span::styled(text::fit(item.spec.name, NAME_WIDTH), style),
            Span::raw(" "),
            Span::styled(text::cut(&doc, left).into_owned(), style),
        ])
    }

    /// What Enter would do.
    pub fn chosen(&self) -> Option<Action> {
        match self.rows.get(self.selected)? {
            Row::Item(i) => Some(self.all[*i].spec.action),
            Row::Heading(_) => None,
        }
    }
}

fn height(area: Rect) -> u16 {
    area.height.saturating_sub(6).clamp(4, 48)
}
