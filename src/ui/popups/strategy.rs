//! The choice of a strategy: a loop and its switches. The selected loop is the one taken. A switch that the loop cannot
//! have is off while the loop is selected, and shows the reason.

use ratatui::{buffer::Buffer, layout::Rect};

use super::chooser::{self, Chooser, ChooserFrame};
use super::narrow::{FuzzyMatch, Words};
use super::{Pressed, Reply, choice::ChooserPopup};
use crate::action::Action;
use crate::domain::strategy::{MODIFIERS, ModifierSpec, STRATEGIES};
use crate::domain::{Command, State, Strategy};
use crate::hits::{Hits, Target};
use crate::panes::row::{self, Row};
use crate::symbols::CHOSEN;
use crate::window::Move;
use crate::{cx::Cx, keymap::Hint, request::World, view::Tone, view::View};

/// The loops come first in the list, then the switches.
const LOOPS: usize = STRATEGIES.len();
/// Lines below the list: the resulting strategy, and its description.
const FOOT: u16 = 3;
/// Cells for a mark and for a name.
const MARK: usize = 4;
const NAME: usize = 12;
/// The line that chooses the strategy, for the mouse.
const TAKE: usize = usize::MAX;

/// A loop and its switches.
#[derive(Debug)]
pub struct StrategyChoice {
    now: Strategy,
    /// The loop that the user last moved to, by its index.
    base: usize,
    /// The wanted switches, whether or not the loop can have them.
    wanted: [bool; MODIFIERS.len()],
    chooser: Chooser,
}

impl StrategyChoice {
    /// Starts at the present strategy.
    pub fn new(live: &State) -> Self {
        let now = live.strategy;
        let base = now.base as usize;
        let is_on = |spec: &ModifierSpec| now.modifiers().any(|on| on.name == spec.name);
        let loops = STRATEGIES.iter().map(|spec| Words::new(spec.name, spec.doc));
        let switches =
            MODIFIERS.iter().map(|spec| Words::new(&format!("+{}", spec.name), spec.doc));
        let chooser = Chooser::new("strategy or switch", loops.chain(switches).collect(), base)
            .with_sections(vec![(0, "Strategy"), (LOOPS, "Switches")])
            .with_foot(FOOT);
        Self { now, base, wanted: std::array::from_fn(|i| is_on(&MODIFIERS[i])), chooser }
    }

    /// The loop of the result: the selected one, if a loop is selected.
    fn base(&self) -> usize {
        self.chooser.selected().filter(|id| *id < LOOPS).unwrap_or(self.base)
    }

    /// The reason why the loop cannot have this switch.
    fn why_not(&self, switch: usize) -> Option<String> {
        let name = format!("{}+{}", STRATEGIES[self.base()].name, MODIFIERS[switch].name);
        name.parse::<Strategy>().err()
    }

    /// The strategy that would be chosen.
    fn strategy(&self) -> Strategy {
        let base = &STRATEGIES[self.base()];
        let is_on = |switch: &usize| self.wanted[*switch] && self.why_not(*switch).is_none();
        let on = (0..MODIFIERS.len()).filter(is_on);
        let name = on.fold(base.name.to_owned(), |name, on| name + "+" + MODIFIERS[on].name);
        name.parse().unwrap_or_else(|_| base.base.into())
    }

    fn take(&self) -> Reply {
        match self.strategy() {
            strategy if strategy == self.now => Reply::Close,
            strategy => Reply::send(Command::UseStrategy { strategy }),
        }
    }

    /// Turns a switch; from a loop, moves to the switches.
    fn toggle(&mut self, world: &World<'_>, view: &mut View) {
        let Some(id) = self.chooser.selected() else { return };
        let Some(switch) = id.checked_sub(LOOPS) else {
            self.chooser.clear();
            return self.chooser.select(LOOPS);
        };
        match self.why_not(switch) {
            None => self.wanted[switch] = !self.wanted[switch],
            Some(why) => view.tell(world.live.at, Tone::Bad, why),
        }
    }

    /// Keeps the loop that the user last moved to.
    fn keep_base(&mut self) {
        self.base = self.base();
    }

    /// Moves within the section, so that the way to the switches does not pass other loops.
    fn go(&mut self, pressed: Pressed) -> Reply {
        let before = self.chooser.selected();
        let reply = self.chooser.key(pressed);
        let after = self.chooser.selected();
        if let (Some(before), Some(after), true) = (before, after, self.chooser.is_whole()) {
            let last = LOOPS + MODIFIERS.len() - 1;
            let (first, last) = if before < LOOPS { (0, LOOPS - 1) } else { (LOOPS, last) };
            self.chooser.select(after.clamp(first, last));
        }
        reply
    }

    fn draw_row(&self, cx: &Cx<'_>, found: &FuzzyMatch, line: Rect, buf: &mut Buffer) {
        let theme = cx.theme;
        let mut row = Row::new(line, buf);
        let mut put = |found: &FuzzyMatch, mark, mark_style, words, style| {
            row.gap(1).cell(mark, MARK, mark_style);
            chooser::put(&mut row, found, words, (NAME, 0), (style, theme.letters()));
        };
        let Some(switch) = found.id.checked_sub(LOOPS) else {
            let spec = &STRATEGIES[found.id];
            let is_taken = found.id == self.base();
            let (mark, style) = if is_taken { (CHOSEN, theme.good) } else { (" ", theme.text) };
            return put(found, mark, style, (spec.name, spec.doc), theme.text);
        };
        let spec = &MODIFIERS[switch];
        let name = format!("+{}", spec.name);
        match (self.why_not(switch), self.wanted[switch]) {
            (Some(why), _) => {
                // The foot shows the whole sentence for the selected row.
                let why = why.trim_start_matches(&name).split(';').next().unwrap_or_default();
                let mut found = found.clone();
                found.about.clear();
                put(&found, "[–]", theme.dim, (&name, why.trim()), theme.dim);
            }
            (None, true) => put(found, "[x]", theme.good, (&name, spec.doc), theme.text),
            (None, false) => put(found, "[ ]", theme.text, (&name, spec.doc), theme.text),
        }
    }

    /// Draws the resulting strategy, the present one, and a description or the reason against a switch.
    fn draw_foot(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let Some(id) = self.chooser.selected() else { return };
        let (line, rest) = row::split(area, 1);
        let strategy = self.strategy();
        let now = match strategy == self.now {
            true => "unchanged".to_owned(),
            false => format!("now {}", self.now),
        };
        let mut row = Row::new(line, buf);
        row.put("→ ", cx.theme.key).put(&strategy.to_string(), cx.theme.accent);
        row.put(&format!("  {now}"), cx.theme.dim);
        hits.add(line, Target::PopupRow(TAKE));
        match id.checked_sub(LOOPS).and_then(|switch| self.why_not(switch)) {
            Some(why) => row::wrapped(rest, &why, cx.theme.warn, buf),
            None => row::wrapped(rest, &strategy.doc(), cx.theme.dim, buf),
        }
    }
}

impl ChooserPopup for StrategyChoice {
    fn hints(&self) -> &'static [Hint] {
        &[
            (&[Action::Accept], "choose"),
            (&[Action::NextSection], "to the switches"),
            (&[Action::Toggle], "on or off"),
            (&[Action::Leave], "leave"),
        ]
    }

    fn choose(&mut self, _: usize, _: &World<'_>, _: &mut View) -> Reply {
        self.take()
    }

    fn other_key(&mut self, pressed: Pressed, world: &World<'_>, view: &mut View) -> Reply {
        let reply = match pressed.action {
            Some(Action::Toggle) => {
                self.keep_base();
                self.toggle(world, view);
                Reply::Stay
            }
            Some(action) if Move::of(action).is_some() => self.go(pressed),
            Some(Action::NextSection) => {
                self.keep_base();
                self.chooser.key(pressed)
            }
            _ => return self.chooser.key(pressed),
        };
        self.keep_base();
        reply
    }

    /// A second click chooses the selected loop, as it opens other things.
    fn click(&mut self, line: usize, world: &World<'_>, view: &mut View) -> Reply {
        if line == TAKE {
            return self.take();
        }
        let Some(id) = self.chooser.thing(line) else { return Reply::Stay };
        if id < LOOPS && self.chooser.selected() == Some(id) {
            return self.take();
        }
        self.keep_base();
        self.chooser.select(id);
        self.keep_base();
        if id >= LOOPS {
            self.toggle(world, view);
        }
        Reply::Stay
    }

    fn chooser(&mut self) -> &mut Chooser {
        &mut self.chooser
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let title = "Strategy, from the next task on";
        let look = ChooserFrame { title, hints: self.hints(), width: 76 };
        let parts = self.chooser.draw(cx, (area, buf, hits), &look, |found, line, buf| {
            self.draw_row(cx, found, line, buf);
        });
        self.draw_foot(cx, parts.foot, buf, hits);
    }
}
