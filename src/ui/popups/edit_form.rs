//! The form for a part of a call in flight: its text above, and below it the difference from the old text.

use std::fmt;

use ratatui::{buffer::Buffer, layout::Rect};

use super::{
    Confirm, Popup, PopupKeys, Pressed, Reply, difference::Edited, edit_text, entry::TextEntry,
};
use crate::action::{Action, KeyLayer};
use crate::domain::edit::Edit;
use crate::domain::fault::Trigger;
use crate::domain::{CacheBreak, Command, EffectId, FaultKind, FaultSpec, State, Target};
use crate::next::ForkPlace;
use crate::own::Selection;
use crate::pane::PaneId;
use crate::panes::row::Row;
use crate::panes::{format::credits, inline_json};
use crate::symbols::{DONE, FAILED};
use crate::tool::check::Checker;
use crate::{cx::Cx, hits::Hits, keymap::Hint, request::ScreenRequest, request::World, view::View};

/// The least columns of a part of the screen that can hold the form; the rows of the form without its text; and the
/// rows that are enough for any text.
const LEAST: u16 = 48;
const FRAME: u16 = 5;
const ROOMY: u16 = 16;
/// The most columns of an argument that the form shows.
const ARGUMENT: usize = 40;

/// A part of a call being edited.
pub struct EditForm {
    effect: EffectId,
    title: String,
    /// Facts to weigh before a change.
    facts: String,
    /// The part before the edit; empty for an answer.
    before: Edit,
    /// The tool or role in whose place the user answers.
    answers: Option<Target>,
    /// How many of the target's next calls get the same answer.
    times: u32,
    entry: TextEntry,
    checker: Option<Checker>,
    /// For arguments: whether the model remembers the edited call.
    shown: bool,
    /// For a result that a model has read: the cost of a change.
    past: Option<CacheBreak>,
    /// For a fork: the event that is looked at.
    forks_at: Option<u64>,
}

impl fmt::Debug for EditForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EditForm")
            .field("effect", &self.effect)
            .field("before", &self.before)
            .finish()
    }
}

impl EditForm {
    /// The part of this call that can be edited now: the request before it starts, the result after it ends.
    pub fn edit(state: &State, id: EffectId) -> Option<Self> {
        let (effect, is_over) = state.effect(id).map(|effect| (effect, effect.is_over()))?;
        let (tool, model) = (state.tool_call(id), state.model_call(id));
        let before = match (tool, model) {
            (Some(call), _) if is_over => {
                Edit::Result(call.observation().unwrap_or_default().to_owned())
            }
            (Some(call), _) => Edit::Arguments(call.arguments.clone()),
            (_, Some(call)) if is_over => {
                let reply = call.reply();
                let text = reply.map_or_else(String::new, |reply| reply.text.clone());
                let calls = reply.map_or_else(Vec::new, |reply| reply.calls.clone());
                Edit::Reply { text, calls }
            }
            (_, Some(call)) => Edit::Messages(call.request.messages.clone()),
            (None, None) => return None,
        };
        let spec = tool.and_then(|call| state.tools.get(&call.tool)).map(|tool| &tool.spec);
        let checker = spec.filter(|_| !is_over).map(|spec| Checker::new(&spec.parameters));
        let facts = facts(state, id);
        let title =
            format!("Edit the {} of call {} · {}", before.name(), effect.id, name(state, id));
        let entry = TextEntry::text_of(&edit_text::written(&before));
        Some(Self {
            effect: id,
            title,
            facts,
            before,
            answers: None,
            times: 0,
            entry,
            checker,
            shown: true,
            past: state.cost_of_past(id),
            forks_at: None,
        })
    }

    /// The part of this call that changes in a fork of the session, from the moment of this state.
    pub fn fork(state: &State, id: EffectId) -> Option<Self> {
        let form = Self::edit(state, id)?;
        let (part, name) = (form.before.name(), name(state, id));
        let starts =
            if state.watched.is_some() { "starts the agent again" } else { "leaves this session" };
        let title = format!("Fork with another {part} of call {id} · {name} · {starts}");
        Some(Self { title, past: None, forks_at: Some(state.n), ..form })
    }

    /// An answer in place of the model or the tool of this call.
    pub fn answer(state: &State, id: EffectId) -> Option<Self> {
        let tool = state.tool_call(id).map(|call| Target::Tool(call.tool.clone()));
        let target = tool.or_else(|| Some(Target::Role(state.model_call(id)?.role)))?;
        let title = format!("Answer call {id} · {} · in its place", name(state, id));
        let (before, entry) = (Edit::Result(String::new()), TextEntry::text_of(""));
        let (answers, times, checker) = (Some(target), 0, None);
        let (shown, past, facts) = (true, None, facts(state, id));
        let forks_at = None;
        Some(Self {
            effect: id,
            title,
            facts,
            before,
            answers,
            times,
            entry,
            checker,
            shown,
            past,
            forks_at,
        })
    }

    /// The edit given by the text.
    ///
    /// # Errors
    /// The reason why the text is not allowed.
    fn read(&self) -> Result<Edit, String> {
        let read = edit_text::read(&self.entry.text(), &self.before)?;
        match (&read, &self.checker) {
            (Edit::Arguments(arguments), Some(checker)) => {
                checker.check(arguments).map_err(|error| error.text)?;
            }
            (Edit::Messages(messages), _) if messages.is_empty() => {
                return Err("a prompt needs at least one message: `=== user`".to_owned());
            }
            _ => {}
        }
        Ok(read)
    }

    /// Applies the edit; `goes_on` also lets the agent go on.
    fn apply(&self, goes_on: bool) -> Reply {
        let Ok(read) = self.read() else { return Reply::Stay };
        let effect = self.effect;
        if let Some(at) = self.forks_at {
            let edit = Some(read).filter(|read| *read != self.before);
            let edit = edit.map(|edit| (effect, Box::new(edit)));
            return Reply::Done(vec![ScreenRequest::Fork(ForkPlace { at, edit })]);
        }
        let command = match read {
            Edit::Result(text) if self.answers.is_some() => {
                Some(Command::AnswerCall { effect, text })
            }
            read if read == self.before => None,
            Edit::Result(text) if self.past.is_some() => {
                let question = self.past.map(|cost| Confirm::past(&cost, effect, text));
                return question.map_or(Reply::Stay, |question| Reply::Replace(Box::new(question)));
            }
            read => {
                let (edit, shown) = (Box::new(read), self.shown);
                Some(Command::EditCall { effect, edit, shown })
            }
        };
        let run = goes_on.then_some(Command::Run);
        let next = self.for_the_next();
        Reply::Done(command.into_iter().chain(next).chain(run).map(ScreenRequest::Send).collect())
    }

    /// A fault that gives the next calls the same answer.
    fn for_the_next(&self) -> Option<Command> {
        let (target, text) = (self.answers.clone()?, self.entry.text());
        let first = Some(self.times).filter(|times| *times > 0 && !text.is_empty())?;
        let trigger = Trigger { first: Some(first), ..Trigger::default() };
        Some(Command::ArmFault {
            spec: FaultSpec { target, kind: FaultKind::Answer { text }, trigger },
        })
    }

    fn has_choice(&self) -> bool {
        self.forks_at.is_none() && matches!(self.before, Edit::Arguments(_))
    }

    /// Draws whether the edit can be applied, and what the model remembers.
    fn draw_standing(&self, cx: &Cx<'_>, line: Rect, buf: &mut Buffer) {
        let theme = cx.theme;
        let mut row = Row::new(line, buf);
        match (self.read(), &self.before) {
            (Err(why), _) => row.put(&format!("{FAILED} {why}"), theme.warn),
            (Ok(read), before) if self.forks_at.is_some() && read == *before => {
                row.put(&format!("{DONE} a fork without a change"), theme.text)
            }
            (Ok(_), Edit::Arguments(_)) => {
                row.put(&format!("{DONE} matches the schema"), theme.good)
            }
            (Ok(_), _) => row.put(&format!("{DONE} ready to apply"), theme.good),
        };
        if let Some(target) = &self.answers {
            let next = match self.times {
                0 => "only this call".to_owned(),
                times => format!("this call, and the next {times} of {target}"),
            };
            row.gap(3).put(&next, theme.text);
        }
        if self.has_choice() {
            let sees = if self.shown { "the edited call" } else { "its own call" };
            row.gap(3).put(&format!("the model remembers {sees}"), theme.text);
        }
    }
}

/// The next of the call counts that one key goes through.
fn next_of(times: u32) -> u32 {
    match times {
        0 => 1,
        1 => 3,
        3 => 10,
        10 => 100,
        _ => 0,
    }
}

/// The largest part of the screen beside the lanes, so that these stay visible; the whole screen if no part has room
/// for a text of this many rows.
fn beside_lanes(cx: &Cx<'_>, area: Rect, rows: usize) -> Rect {
    let lanes = cx.view.placed.iter().find(|placed| placed.pane == PaneId::Calls);
    let Some(lanes) = lanes.map(|placed| placed.area.intersection(area)) else { return area };
    let parts = [
        Rect { width: lanes.x - area.x, ..area },
        Rect { x: lanes.right(), width: area.right() - lanes.right(), ..area },
        Rect { height: lanes.y - area.y, ..area },
        Rect { y: lanes.bottom(), height: area.bottom() - lanes.bottom(), ..area },
    ];
    let rows = u16::try_from(rows).unwrap_or(u16::MAX).saturating_add(FRAME).min(ROOMY);
    let enough = parts.into_iter().filter(|part| part.width >= LEAST && part.height >= rows);
    enough.max_by_key(|part| part.area()).unwrap_or(area)
}

/// The name of the tool or role.
fn name(state: &State, id: EffectId) -> String {
    let tool = state.tool_call(id).map(|call| call.tool.to_string());
    tool.or_else(|| Some(state.model_call(id)?.role.to_string())).unwrap_or_default()
}

/// Facts about a tool call to weigh before a change: the tool's class, cost and effect, and the call's origin.
fn facts(state: &State, id: EffectId) -> String {
    let Some(call) = state.tool_call(id) else { return String::new() };
    if state.watched.is_some() {
        // The cost, class and effect of a watched agent's tool are unknown.
        return inline_json::arguments(call.shown_arguments(), ARGUMENT);
    }
    let Some(tool) = state.tools.get(&call.tool) else { return String::new() };
    let spec = &tool.spec;
    let cost = spec.cost.map_or("unknown".to_owned(), |cost| credits(*cost));
    let from = match call.evidence {
        _ if call.is_by_hand() => "from you".to_owned(),
        Some(evidence) => format!("from {} of the plan", evidence.mark()),
        None => format!("from step {}", call.step),
    };
    let class = if spec.class.is_empty() { "no class" } else { spec.class.as_str() };
    format!("{class} · cost {cost} · effect {} · {from}", spec.effect.name())
}

impl Popup for EditForm {
    fn keys(&self) -> PopupKeys {
        const APPLY: Hint = (&[Action::Accept], "apply");
        const GO: Hint = (&[Action::AcceptAndRun], "apply and resume");
        const EDITOR: Hint = (&[Action::Editor], "$EDITOR");
        const LEAVE: Hint = (&[Action::Leave], "drop");
        const PLAIN: &[Hint] = &[APPLY, GO, EDITOR, LEAVE];
        const CHOICE: &[Hint] =
            &[APPLY, GO, (&[Action::Toggle], "what the model remembers"), EDITOR, LEAVE];
        const ANSWER: &[Hint] =
            &[APPLY, GO, (&[Action::RunNext], "for the next calls"), EDITOR, LEAVE];
        const FORK: &[Hint] = &[(&[Action::Accept], "fork"), EDITOR, LEAVE];
        let hints = match &self.answers {
            _ if self.forks_at.is_some() => FORK,
            Some(_) => ANSWER,
            None if self.has_choice() => CHOICE,
            None => PLAIN,
        };
        (KeyLayer::Editor, hints)
    }

    fn key(&mut self, pressed: Pressed, _: &World<'_>, _: &mut View) -> Reply {
        match pressed.action {
            Some(Action::Leave) => return Reply::Close,
            Some(Action::Accept) => return self.apply(false),
            Some(Action::AcceptAndRun) => return self.apply(true),
            Some(Action::Toggle) if self.has_choice() => self.shown = !self.shown,
            Some(Action::RunNext) if self.answers.is_some() => self.times = next_of(self.times),
            Some(Action::Editor) => {
                let text = self.entry.text();
                let json = if self.has_choice() { text.clone() } else { "null".to_owned() };
                let name = format!("{}-{}", self.before.name(), self.effect);
                let selection = Selection { kind: "edit", name, text, json };
                return Reply::KeepAnd(vec![ScreenRequest::Rewrite(Box::new(selection))]);
            }
            _ => self.entry.key(pressed.key),
        }
        Reply::Stay
    }

    fn paste(&mut self, text: &str) {
        self.entry.paste(text);
    }

    fn rewrite(&mut self, text: &str) {
        self.entry.set(text.strip_suffix('\n').unwrap_or(text));
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let before = edit_text::written(&self.before);
        let before = self.answers.is_none().then_some(before.as_str());
        let (title, legend) = (self.title.as_str(), self.legend(cx));
        let facts = self.facts.as_str();
        let edited = Edited { title, facts, legend: &legend, entry: &self.entry, before };
        let area = beside_lanes(cx, area, self.entry.rows());
        edited.draw(cx, (area, buf, hits), |line, buf| self.draw_standing(cx, line, buf));
    }
}
