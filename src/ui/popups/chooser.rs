//! A list that narrows as the user types: the field, the rows that match, and the selected row. The popup that owns
//! the list draws its rows and decides the effect of choosing one.

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::narrow::{FuzzyMatch, Words, narrow};
use super::{Pressed, Reply, entry::TextEntry, frame, pick::Pick};
use crate::action::{Action, KeyLayer};
use crate::panes::row::{self, Row};
use crate::window::Move;
use crate::{cx::Cx, hits::Hits, keymap::Hint, text};

/// Lines above the list: the field, and one for the column heads.
const HEAD: u16 = 2;

/// Things to choose from.
#[derive(Debug, Default)]
pub struct Chooser {
    /// The noun for a thing of the list, such as `strategy`.
    noun: &'static str,
    all: Vec<Words>,
    /// The first thing of each section, and the section's title.
    sections: Vec<(usize, &'static str)>,
    /// Lines below the list, of which the first stays blank.
    foot: u16,
    entry: TextEntry,
    /// The meaning of the typed text, shown if no row matches.
    pub instead: Option<String>,
    lines: Vec<ChooserLine>,
    pub pick: Pick,
    /// The index of the thing selected while nothing is typed.
    first: usize,
    /// The thing that the user moved to; it stays selected while it matches.
    kept: Option<usize>,
}

#[derive(Debug)]
enum ChooserLine {
    Section(&'static str),
    Thing(FuzzyMatch),
}

/// The parts of the box that are the popup's own.
pub(super) struct ChooserAreas {
    pub head: Rect,
    pub foot: Rect,
}

/// The title, the keys and the inner width of the box.
pub(super) struct ChooserFrame<'a> {
    pub title: &'a str,
    pub hints: &'static [Hint],
    pub width: usize,
}

impl Chooser {
    pub(super) fn new(noun: &'static str, all: Vec<Words>, first: usize) -> Self {
        let mut chooser = Self { noun, all, first, ..Self::default() };
        chooser.search();
        chooser
    }

    pub(super) fn with_sections(mut self, sections: Vec<(usize, &'static str)>) -> Self {
        self.sections = sections;
        self.search();
        self
    }

    /// Reserves this many lines below the list for the popup.
    pub(super) fn with_foot(self, lines: u16) -> Self {
        Self { foot: lines + 1, ..self }
    }

    /// The index of the selected thing among all; `None` if nothing matches.
    pub fn selected(&self) -> Option<usize> {
        self.thing(self.pick.row)
    }

    /// The index of the thing in this line of the list; `None` for a section.
    pub fn thing(&self, line: usize) -> Option<usize> {
        match self.lines.get(line)? {
            ChooserLine::Thing(found) => Some(found.id),
            ChooserLine::Section(_) => None,
        }
    }

    pub fn select(&mut self, id: usize) {
        self.kept = Some(id);
        self.pick.window.free = false;
        self.place();
    }

    /// Whether the whole list is shown.
    pub fn is_whole(&self) -> bool {
        self.entry.text().trim().is_empty()
    }

    /// The typed text.
    pub fn typed(&self) -> String {
        self.entry.text()
    }

    /// Shows the whole list again.
    pub fn clear(&mut self) {
        self.entry.set("");
        self.search();
    }

    pub fn paste(&mut self, text: &str) {
        self.entry.paste(text);
        self.search();
    }

    /// Handles a key that leaves, moves, or types.
    pub fn key(&mut self, pressed: Pressed) -> Reply {
        match pressed.action {
            Some(Action::Leave) => return Reply::Close,
            Some(Action::NextSection) => self.go_to_section(),
            action => match action.and_then(Move::of) {
                Some(to) => self.go(to),
                None => {
                    self.entry.key(pressed.key);
                    self.search();
                }
            },
        }
        Reply::Stay
    }

    /// Moves to this line of the list, or to its last one.
    pub(super) fn go_to(&mut self, line: usize) {
        self.pick.row = line.min(self.lines.len().saturating_sub(1));
        self.kept = self.selected();
    }

    /// Moves to the next thing, skipping the names of sections.
    pub(super) fn go(&mut self, to: Move) {
        let before = self.pick.row;
        self.pick.go(to, self.lines.len());
        let at = self.pick.row;
        let is_thing = |line: &usize| self.thing(*line).is_some();
        let up = matches!(to, Move::Up | Move::PageUp);
        let found = match up {
            true => (0..=at).rev().find(is_thing).or_else(|| (at..before).find(is_thing)),
            false => (at..self.lines.len()).find(is_thing),
        };
        self.pick.row = found.unwrap_or(before);
        self.kept = self.selected();
    }

    /// Goes to the next section, going round. Shows the whole list again, since only that has sections.
    fn go_to_section(&mut self) {
        if self.sections.is_empty() {
            return self.go(Move::Down);
        }
        let here = self.selected().unwrap_or(self.first);
        let after = self.sections.iter().map(|(first, _)| *first).find(|first| *first > here);
        self.clear();
        self.select(after.unwrap_or(0));
    }

    fn search(&mut self) {
        let typed = self.entry.text();
        let found = narrow(&typed, &self.all);
        self.lines.clear();
        for found in found {
            let section = self.sections.iter().find(|(first, _)| *first == found.id);
            if let Some((_, name)) = section.filter(|_| self.is_whole()) {
                self.lines.push(ChooserLine::Section(name));
            }
            self.lines.push(ChooserLine::Thing(found));
        }
        self.pick.window = Default::default();
        self.place();
    }

    /// Selects the thing that the user moved to, if listed; else the best match, in the whole list the first choice.
    fn place(&mut self) {
        let kept = self.kept.or(self.is_whole().then_some(self.first));
        let of = |id: usize| (0..self.lines.len()).find(|line| self.thing(*line) == Some(id));
        let best = || (0..self.lines.len()).find(|line| self.thing(*line).is_some());
        self.pick.row = kept.and_then(of).or_else(best).unwrap_or(0);
    }

    /// Lines of the box in this area; it keeps its height when the list narrows.
    fn height(&self, area: Rect) -> u16 {
        let lines = self.all.len() + self.sections.len();
        let wanted = u16::try_from(lines).unwrap_or(u16::MAX).max(1);
        let most = area.height.saturating_sub(4).min(50);
        wanted.saturating_add(HEAD + self.foot).min(most)
    }

    fn rows(&self, inside: u16) -> u16 {
        inside.saturating_sub(HEAD + self.foot).max(1)
    }

    pub fn prepare(&mut self, area: Rect) {
        let rows = self.rows(self.height(area));
        self.pick.fit(self.lines.len(), rows.into());
    }

    /// Draws the box, the field and the list. `row` draws a thing on a line.
    pub(super) fn draw(
        &self,
        cx: &Cx<'_>,
        (area, buf, hits): (Rect, &mut Buffer, &mut Hits),
        look: &ChooserFrame<'_>,
        mut row: impl FnMut(&FuzzyMatch, Rect, &mut Buffer),
    ) -> ChooserAreas {
        let size = (look.width, usize::from(self.height(area)));
        let keys = cx.keymap.legend(KeyLayer::Chooser, look.hints);
        let inside = frame::open(cx, (area, buf, hits), look.title, &keys, size);
        let (field, rest) = row::split(inside, 1);
        let (head, rest) = row::split(rest, HEAD - 1);
        let (list, foot) = row::split(rest, self.rows(inside.height));
        self.draw_field(cx, field, buf);
        if self.lines.is_empty() {
            let typed = self.entry.text();
            let none = match typed.is_empty() {
                true => format!("no {} yet", self.noun),
                false => format!("no {} matches `{typed}` · backspace deletes letters", self.noun),
            };
            match &self.instead {
                Some(instead) => row::note(list, instead, cx.theme.accent, buf),
                None => row::note(list, &none, cx.theme.warn, buf),
            }
        }
        self.pick.draw(cx, (list, buf, hits), |i, line, buf| match &self.lines[i] {
            ChooserLine::Section(name) => row::note(line, name, cx.theme.title, buf),
            ChooserLine::Thing(found) => row(found, line, buf),
        });
        // The first line below the list is left blank.
        ChooserAreas { head, foot: row::split(foot, 1).1 }
    }

    /// Draws the typed text, and the number of matches at the right.
    fn draw_field(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer) {
        if area.is_empty() {
            return;
        }
        let all = self.all.len();
        let fit = self.lines.iter().filter(|line| matches!(line, ChooserLine::Thing(_))).count();
        let count = format!(" {fit} of {all}");
        let mut line = Row::new(area, buf);
        line.put("> ", cx.theme.key);
        let width = line.left().saturating_sub(count.len());
        let field = Rect { x: line.x(), width: width as u16, ..area };
        line.gap(width).put(&count, cx.theme.dim);
        self.entry.draw(cx, field, buf);
        if self.entry.text().is_empty() {
            let after = Rect { x: field.x + 1.min(field.width), ..field };
            let words = text::cut(" type to filter", width.saturating_sub(1));
            row::note(after, &words, cx.theme.dim, buf);
        }
    }
}

/// Writes a name into cells of this width, a gap, and the description into the rest. In both, the characters that match
/// the input are marked.
pub(super) fn put(
    row: &mut Row<'_>,
    found: &FuzzyMatch,
    (name, about): (&str, &str),
    (width, gap): (usize, usize),
    styles: (Style, Style),
) {
    put_marked(row, (name, &found.name), width, styles);
    let left = row.gap(gap).left();
    put_marked(row, (about, &found.about), left, styles);
}

fn put_marked(
    row: &mut Row<'_>,
    (text, places): (&str, &[u32]),
    width: usize,
    (plain, marked): (Style, Style),
) {
    let chars: Vec<(usize, char)> = text::fit(text, width).chars().enumerate().collect();
    let is_marked = |at: usize| places.iter().any(|place| *place as usize == at);
    for run in chars.chunk_by(|(a, _), (b, _)| is_marked(*a) == is_marked(*b)) {
        let text: String = run.iter().map(|(_, c)| c).collect();
        row.put(&text, if is_marked(run[0].0) { marked } else { plain });
    }
}
