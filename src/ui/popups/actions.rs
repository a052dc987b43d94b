//! Help and palette: every action, by section or by how well it matches the input. Both run the chosen action, as
//! a user who has found a key wants to press it. The help begins with the actions that act now.

use ratatui::{buffer::Buffer, layout::Rect};
use strum::VariantArray;

use super::chooser::{self, Chooser, ChooserFrame};
use super::narrow::Words;
use super::{AskProgram, Pressed, Reply, choice::ChooserPopup, legend};
use crate::action::{ACTIONS, Action, ActionSpec, Group, KeyLayer, LAYER_KEYS};
use crate::domain::{Knob, Matter, State};
use crate::own::{self, OwnCommand};
use crate::panes::row::{self, Row};
use crate::text::number;
use crate::update::{debug, past};
use crate::view::{Tone, View};
use crate::{change, cx::Cx, hits::Hits, keymap::Hint, panes, program_moment, request::World};

/// Cells for the keys and for the names.
const KEY_WIDTH: usize = 14;
const NAME_WIDTH: usize = 16;
/// Lines at the foot that describe the selected action.
const FOOT: u16 = 2;

/// Actions that act on the selection of most panes.
const ON_SELECTION: [Action; 11] = [
    Action::Open,
    Action::Consent,
    Action::Edit,
    Action::Answer,
    Action::RunAgain,
    Action::Remove,
    Action::Fail,
    Action::Breakpoint,
    Action::Prompt,
    Action::GoToMoment,
    Action::Copy,
];
/// The matters that a watched agent can forbid.
const MATTERS: [Matter; 7] = [
    Matter::Strategy,
    Matter::Models,
    Matter::Knob(Knob::Learn),
    Matter::Menus,
    Matter::Tools,
    Matter::Tasks,
    Matter::Copies,
];

/// Every action, searched.
#[derive(Debug)]
pub struct Actions {
    title: &'static str,
    /// The actions that act now, until all are wanted or something is typed.
    acting: Option<ActionList>,
    all: ActionList,
    /// Whether a typed number is an event to look at.
    goes: bool,
}

#[derive(Debug)]
struct ActionList {
    items: Vec<ActionItem>,
    chooser: Chooser,
}

#[derive(Debug)]
struct ActionItem {
    action: Action,
    group: Group,
    name: String,
    keys: String,
    /// The action's description, or the reason why it cannot be done now.
    doc: String,
    can: bool,
}

impl ActionItem {
    fn new(spec: &ActionSpec, world: &World<'_>, view: &View) -> Self {
        let why_not = spec.why_not(world.live, view);
        let doc = match &why_not {
            Some(why) => format!("{} (not now: {})", spec.doc, world.keymap.fill(why)),
            None => spec.doc.to_owned(),
        };
        let (action, group, name) = (spec.action, spec.group, spec.name.to_owned());
        let keys = world.keymap.show(action);
        ActionItem { action, group, name, keys, doc, can: why_not.is_none() }
    }

    fn words(&self, world: &World<'_>) -> Words {
        let keys = world.keymap.keys(self.action).to_vec();
        Words { keys, ..Words::new(&self.name, &self.doc) }
    }
}

/// Whether the action never acts in this watched session.
fn is_barred(spec: &ActionSpec, state: &State, view: &View) -> bool {
    let why = spec.why_not(state, view);
    let never = MATTERS.iter().filter_map(|matter| state.cannot(*matter));
    let mut never = never.chain(change::over(state, view));
    let shows = |pane| (panes::spec(pane).when)(state, view);
    state.watched.is_some()
        && (matches!(spec.action, Action::Pane(pane) if !shows(pane))
            || never.any(|never| why.as_deref() == Some(never)))
}

impl Actions {
    /// The help: the actions that act now, then all by section.
    pub fn help(world: &World<'_>, view: &View) -> Self {
        let all = Self::new("Help: every key and symbol", true, world, view);
        Self { acting: Some(Self::acting(world, view)), ..all }
    }

    /// The actions that act now: in the selected pane, then on the run, or in time if nothing can be run here.
    fn acting(world: &World<'_>, view: &View) -> ActionList {
        let is_past = view.moment.is_some() || change::over(world.live, view).is_some();
        let group = if is_past { Group::Past } else { Group::Run };
        let layer = LAYER_KEYS.iter().filter(|(layer, ..)| *layer == KeyLayer::Pane(view.focus));
        let pane = panes::spec(view.focus).keys.iter().chain(layer.map(|(_, action, _)| action));
        let of_group = ACTIONS.iter().filter(|spec| spec.group == group).map(|spec| &spec.action);
        let (mut items, mut sections) = (Vec::<ActionItem>::new(), Vec::new());
        for (name, actions) in [
            (panes::name(view.focus, world.live), pane.chain(&ON_SELECTION).collect::<Vec<_>>()),
            (group.name(), of_group.collect()),
        ] {
            sections.push((items.len(), name));
            for action in actions {
                let item = ActionItem::new(action.spec(), world, view);
                if item.can && items.iter().all(|other| other.action != *action) {
                    items.push(item);
                }
            }
        }
        let words = items.iter().map(|item| item.words(world)).collect();
        let chooser = Chooser::new("key or symbol", words, 0).with_sections(sections);
        ActionList { items, chooser: chooser.with_foot(FOOT) }
    }

    /// The palette: all actions as one list.
    pub fn palette(world: &World<'_>, view: &View) -> Self {
        let all = Self::new("Palette: every action", false, world, view);
        Self { goes: true, ..all }
    }

    /// The palette with `goto ` typed, so that only an event's number is missing.
    pub fn goto(world: &World<'_>, view: &View) -> Self {
        let mut palette = Self::palette(world, view);
        palette.all.chooser.paste("goto ");
        palette
    }

    /// The event whose number is typed, alone or after the name of the action.
    fn event(&self) -> Option<u64> {
        let typed = self.all.chooser.typed();
        let number =
            typed.trim().trim_start_matches(Action::Goto.spec().name).trim().replace(',', "");
        number.parse().ok().filter(|_| self.goes)
    }

    /// The Python expression after `p`, as in `:p len(x)`.
    fn expression(&self) -> Option<String> {
        let typed = self.all.chooser.typed();
        let typed = typed.trim_start().strip_prefix("p ")?.trim();
        (self.goes && !typed.is_empty()).then(|| typed.to_owned())
    }

    fn evaluate(expression: &str, world: &World<'_>, view: &mut View) -> Reply {
        if let Some(why) = debug::nothing_to_ask(world.live, view) {
            view.tell(world.live.at, Tone::Bad, format!("evaluate: {why}"));
            return Reply::Stay;
        }
        let looks = !program_moment::is_present(world.shown, view);
        let mut asked = AskProgram::ask(expression, looks);
        match asked.accept(world, view) {
            // The new popup shows the error.
            Reply::Stay => Reply::Replace(Box::new(asked)),
            reply => reply,
        }
    }

    fn new(title: &'static str, sections: bool, world: &World<'_>, view: &View) -> Self {
        // Actions of popups cannot run from here; each popup's frame shows their keys.
        let specs = ACTIONS.iter().filter(|spec| spec.group != Group::Popup);
        let specs = specs.filter(|spec| !sections || !is_barred(spec, world.live, view));
        let all = specs.map(|spec| ActionItem::new(spec, world, view));
        let mut all: Vec<ActionItem> = all.collect();
        // Own commands come after the action that lists them.
        let own = Self::own(world, view);
        let at = all.iter().position(|item| item.action == Action::OwnCommand);
        let at = at.map_or(all.len(), |at| at + 1);
        all.splice(at..at, own);
        let words = all.iter().map(|item| item.words(world));
        let first = |group: &Group| all.iter().position(|item| item.group == *group);
        let named = Group::VARIANTS.iter().filter_map(|group| Some((first(group)?, group.name())));
        let chooser = if sections {
            // The legend follows the actions.
            let legend = legend::sections().into_iter().map(|(at, name)| (all.len() + at, name));
            let named = named.chain(legend).collect();
            let words = words.chain(legend::words()).collect();
            Chooser::new("key or symbol", words, 0).with_sections(named)
        } else {
            Chooser::new("action", words.collect(), 0)
        };
        let all = ActionList { chooser: chooser.with_foot(FOOT), items: all };
        Self { title, acting: None, all, goes: false }
    }

    /// The user's own commands.
    fn own(world: &World<'_>, view: &View) -> Vec<ActionItem> {
        let can = Action::OwnCommand.spec().why_not(world.live, view).is_none();
        let item = |(at, command): (usize, &OwnCommand)| {
            let (action, group) = (own::action(at), Group::Look);
            let doc = if command.doc.is_empty() { &command.run } else { &command.doc }.clone();
            let (name, keys) = (command.name.clone(), world.keymap.show(action));
            ActionItem { action, group, name, keys, doc, can }
        };
        world.commands.iter().enumerate().map(item).collect()
    }

    /// The listed actions.
    fn list(&mut self) -> &mut ActionList {
        // What is typed searches all actions.
        if let Some(acting) = self.acting.take_if(|acting| !acting.chooser.is_whole()) {
            self.all.chooser.paste(&acting.chooser.typed());
        }
        self.acting.as_mut().unwrap_or(&mut self.all)
    }

    /// The action that Enter would run.
    pub fn chosen(&mut self) -> Option<Action> {
        let list = self.list();
        list.chooser.selected().and_then(|item| list.items.get(item)).map(|item| item.action)
    }
}

impl ChooserPopup for Actions {
    fn hints(&self) -> &'static [Hint] {
        match self.acting {
            Some(_) => &[
                (&[Action::Accept], "do it"),
                (&[Action::NextSection], "all keys and symbols"),
                (&[Action::Leave], "leave"),
            ],
            None => &[
                (&[Action::Accept], "do it"),
                (&[Action::NextSection], "next section"),
                (&[Action::Leave], "leave"),
            ],
        }
    }

    /// Lines of the legend do nothing.
    fn choose(&mut self, thing: usize, _: &World<'_>, _: &mut View) -> Reply {
        self.list().items.get(thing).map_or(Reply::Stay, |item| Reply::Act(item.action))
    }

    fn other_key(&mut self, pressed: Pressed, _: &World<'_>, _: &mut View) -> Reply {
        if pressed.action == Some(Action::NextSection) && self.acting.take().is_some() {
            return Reply::Stay;
        }
        let reply = self.chooser().key(pressed);
        let event = self.event().map(|n| format!("event {}", number(n)));
        let expression = self.expression().map(|it| format!("the value of {it}"));
        self.all.chooser.instead = event.or(expression);
        reply
    }

    fn accept_typed(&mut self, world: &World<'_>, view: &mut View) -> Option<Reply> {
        if let Some(expression) = self.expression() {
            return Some(Self::evaluate(&expression, world, view));
        }
        let n = self.event()?;
        let last = world.live.n;
        if n == 0 || n > last {
            let text = format!("no event {}: the last one is {}", number(n), number(last));
            view.tell(world.live.at, Tone::Bad, text);
            return Some(Reply::Stay);
        }
        past::jump(world, view, Some(n));
        Some(Reply::Close)
    }

    fn chooser(&mut self) -> &mut Chooser {
        &mut self.list().chooser
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let list = self.acting.as_ref().unwrap_or(&self.all);
        let title = if self.acting.is_some() { "Help: keys that act now" } else { self.title };
        let look = ChooserFrame { title, hints: self.hints(), width: 96 };
        let parts = list.chooser.draw(cx, (area, buf, hits), &look, |found, line, buf| {
            let mut row = Row::new(line, buf);
            let Some(item) = list.items.get(found.id) else {
                let (sign, style, meaning) = legend::line(found.id - list.items.len(), cx.theme);
                row.gap(1).cell(sign, KEY_WIDTH, style).gap(1);
                let styles = (cx.theme.text, cx.theme.letters());
                return chooser::put(&mut row, found, ("", meaning), (0, 0), styles);
            };
            let style = if item.can { cx.theme.text } else { cx.theme.dim };
            row.gap(1).cell(&item.keys, KEY_WIDTH, cx.theme.key).gap(1);
            let (words, styles) = ((&*item.name, &*item.doc), (style, cx.theme.letters()));
            chooser::put(&mut row, found, words, (NAME_WIDTH, 1), styles);
        });
        if let Some(n) = self.event() {
            let (n, all) = (number(n), number(cx.live.n));
            let said = format!("<key:chooser.accept> goes to event {n} of {all}");
            return row::wrapped(parts.foot, &cx.keymap.fill(&said), cx.theme.accent, buf);
        }
        if let Some(expression) = self.expression() {
            let said = format!(
                "{} evaluates {expression} in the program",
                cx.keymap.fill("<key:chooser.accept>")
            );
            return row::wrapped(parts.foot, &said, cx.theme.accent, buf);
        }
        // The foot shows in full what may not fit into the selected row.
        if let Some(item) = list.chooser.selected().and_then(|item| list.items.get(item)) {
            row::wrapped(parts.foot, &item.doc, cx.theme.dim, buf);
        }
    }
}
