//! Help and palette: every action there is, by section or by how well it fits what was typed. Both do
//! what is chosen, for who has found a key wants to press it.

use ratatui::text::{Line, Span};
use ratatui::{buffer::Buffer, layout::Rect, widgets::Widget};

use super::{Around, Popup, Pressed, Reply, entry::Entry, frame, fuzzy, legend, pick};
use crate::ui::action::{ACTIONS, Action, ActionSpec, Group, Layer};
use crate::ui::window::{self, Move, Window};
use crate::ui::{cx::Cx, vlist};
use crate::ui::{hits::Hits, keymap::Hint, request::World, text, view::View};

/// Cells for the keys and for the names.
const KEY_WIDTH: usize = 14;
const NAME_WIDTH: usize = 16;
/// From this width on the legend stands beside the list.
const BESIDE: u16 = 120;
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
    /// The help has the legend beside the list, else at its end.
    beside: bool,
    /// Of `rows`.
    selected: usize,
    window: Window,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Row {
    Heading(Group),
    /// The place in `all`.
    Item(usize),
    Legend(legend::Entry),
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
        // Those of popups cannot be done from here; their keys stand in each popup's frame.
        let specs = ACTIONS.iter().filter(|spec| spec.group != Group::Popup);
        let all = specs.map(|spec| Item {
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
            beside: false,
            selected: 0,
            window: Window::default(),
        };
        actions.search();
        actions
    }

    fn search(&mut self) {
        let query = self.entry.text().to_lowercase();
        self.rows = if query.trim().is_empty() { self.everything() } else { self.found(&query) };
        if self.sections && !self.beside {
            self.rows.extend(legend::entries(&query).into_iter().map(Row::Legend));
        }
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
        let groups = Group::ALL.into_iter().filter(|group| *group != Group::Popup);
        groups.flat_map(section).collect()
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

    /// Moves to the next action, over headings.
    fn go(&mut self, to: Move) {
        self.window.free = false;
        let page = self.window.rows;
        let moved = window::moved(self.rows.len(), Some(self.selected), to, page);
        let Some(at) = moved else { return };
        let is_heading =
            |row: &Row| matches!(row, Row::Heading(_) | Row::Legend(legend::Entry::Heading(_)));
        let is_item = |i: &usize| !self.rows.get(*i).is_none_or(is_heading);
        let up = matches!(to, Move::Up | Move::PageUp);
        let found =
            if up { (0..=at).rev().find(is_item) } else { (at..self.rows.len()).find(is_item) };
        self.selected = found.unwrap_or(self.selected);
    }

    fn row(&self, cx: &Cx<'_>, row: Row, width: usize) -> Line<'_> {
        let i = match row {
            Row::Heading(group) => return Line::styled(group.name(), cx.theme.title),
            Row::Legend(entry) => return entry.line(cx.theme),
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

    /// The action of this row, unless that is a heading.
    fn item(&self, row: usize) -> Option<&Item> {
        match self.rows.get(row)? {
            Row::Item(i) => self.all.get(*i),
            Row::Heading(_) | Row::Legend(_) => None,
        }
    }

    /// What Enter would do.
    pub fn chosen(&self) -> Option<Action> {
        self.item(self.selected).map(|item| item.spec.action)
    }
}

impl Popup for Actions {
    fn layer(&self) -> Layer {
        Layer::Chooser
    }

    fn hints(&self) -> &'static [Hint] {
        &[(&[Action::Accept], "do it"), (&[Action::Leave], "leave")]
    }

    fn legend(&self, cx: &Cx<'_>) -> String {
        format!("type to filter · {}", cx.keymap.legend(self.layer(), self.hints()))
    }

    fn key(&mut self, pressed: Pressed, around: &mut Around<'_>) -> Reply {
        let to = match pressed.action {
            Some(Action::Leave) => return Reply::Close,
            Some(Action::Accept) => return self.click(self.selected, around),
            Some(action) => Move::of(action),
            None => None,
        };
        match to {
            Some(to) => self.go(to),
            None => {
                self.entry.key(pressed.key);
                self.search();
            }
        }
        Reply::Stay
    }

    fn click(&mut self, row: usize, _: &mut Around<'_>) -> Reply {
        self.item(row).map_or(Reply::Stay, |item| Reply::Act(item.spec.action))
    }

    fn paste(&mut self, text: &str) {
        self.entry.paste(text);
        self.search();
    }

    fn wheel(&mut self, by: isize) {
        self.window = self.window.wheeled(by);
    }

    fn prepare(&mut self, _: &Cx<'_>, area: Rect) {
        let lines = legend::entries("").len() + 1;
        let beside = self.sections && area.width >= BESIDE && height(area) >= lines;
        if beside != self.beside {
            self.beside = beside;
            self.search();
        }
        // Without the field and the line below it, and what is said in full at the foot.
        let rows = height(area).saturating_sub(2 + usize::from(FOOT));
        self.window = self.window.next(self.rows.len(), rows, Some(self.selected));
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let legend = if self.beside { legend::WIDTH } else { 0 };
        let size = (if self.beside { 114 } else { 96 }, height(area));
        let inside = frame::open(cx, (area, buf, hits), self.title, &self.legend(cx), size);
        if inside.height < 3 {
            return;
        }
        let inside = Rect { width: inside.width - legend, ..inside };
        if self.beside {
            let beside = Rect { x: inside.right() + 1, width: legend - 1, ..inside };
            legend::draw(cx, &self.entry.text().to_lowercase(), beside, buf);
        }
        let prompt = buf.set_stringn(inside.x, inside.y, "> ", inside.width.into(), cx.theme.key).0;
        let field = Rect { x: prompt, width: inside.right() - prompt, height: 1, ..inside };
        self.entry.draw(cx, field, buf);
        if self.rows.is_empty() {
            buf.set_stringn(inside.x, inside.y + 2, "no matching action", 40, cx.theme.dim);
        }
        let end = inside.bottom().saturating_sub(FOOT).max(inside.y + 2);
        let (y, height) = (inside.y + 2, end - inside.y - 2);
        let list = Rect { y, height, width: inside.width - 1, ..inside };
        pick::draw(cx, (list, buf, hits), self.window, self.selected, |i, line, buf| {
            self.row(cx, self.rows[i], usize::from(line.width)).render(line, buf);
        });
        vlist::scrollbar(cx, Rect { x: list.right(), width: 1, ..list }, self.window, buf);
        // In full what the selected row may have had no room for.
        if let Some(item) = self.item(self.selected) {
            let doc = item.doc();
            let lines = text::wrap(&doc, usize::from(inside.width));
            frame::write(lines, cx.theme.dim, frame::rest(inside, end + 1), buf);
        }
    }
}

fn height(area: Rect) -> usize {
    usize::from(area.height.saturating_sub(6).clamp(4, 48))
}
