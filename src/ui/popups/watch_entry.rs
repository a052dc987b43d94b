//! The entry for an expression: to watch it, or to run until it changes. Its value is shown immediately.

use super::entry_popup::{Accepted, EntryKind, EntryLook, EntryPopup};
use super::{Inspect, PopupKeys, Pressed, Reply, Subject, entry::TextEntry};
use crate::action::{Action, KeyLayer};
use crate::domain::breakpoint::{BreakpointPlace, BreakpointSpec};
use crate::domain::expression::{Expression, Scope};
use crate::domain::{Command, State};
use crate::request::ScreenRequest;
use crate::watch::{self, Watch};
use crate::{cx::Cx, keymap::Hint, request::World, view::View};

/// Columns and rows of the box.
const SIZE: (usize, usize) = (76, 7);
/// The note below an empty field.
const EXAMPLES: &str =
    "such as spent / budget or score.search_web; <key:form.fields> lists the fields";

/// The entry for an expression.
pub type WatchEntry = EntryPopup<WatchUse>;

/// The use of the expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchUse {
    Watch,
    /// Replaces the watch at this index.
    Change(usize),
    /// Runs until the value changes, or becomes true.
    Run,
}

impl WatchEntry {
    pub fn add() -> Self {
        Self { kind: WatchUse::Watch, entry: TextEntry::default() }
    }

    pub fn change(at: usize, watch: &Watch) -> Self {
        Self { kind: WatchUse::Change(at), entry: TextEntry::line(watch.expression.text()) }
    }

    pub fn run() -> Self {
        Self { kind: WatchUse::Run, entry: TextEntry::default() }
    }
}

/// The value of the expression now, or why it has none.
fn value_now(text: &str, state: &State) -> String {
    match Expression::read(text, Scope::Session) {
        Ok(expression) => match watch::value(&expression, state) {
            Ok(answer) => format!("now: {}", answer.shown()),
            Err(why) => format!("now: {why}"),
        },
        // While it is typed, an expression is mostly incomplete.
        Err(error) => error.why().to_owned(),
    }
}

impl EntryKind for WatchUse {
    fn keys(&self) -> PopupKeys {
        const RUN: &[Hint] = &[(&[Action::Accept], "run"), (&[Action::Leave], "leave")];
        const WATCH: &[Hint] = &[(&[Action::Accept], "watch"), (&[Action::Leave], "leave")];
        (KeyLayer::Form, if *self == WatchUse::Run { RUN } else { WATCH })
    }

    fn accept(&mut self, entry: &TextEntry, world: &World<'_>, view: &mut View) -> Accepted {
        let text = entry.text();
        if text.trim().is_empty() {
            return Ok(Reply::Stay);
        }
        let expression =
            Expression::read(&text, Scope::Session).map_err(|error| error.to_string())?;
        match self {
            WatchUse::Watch => {
                view.watch = Some(view.watches.len());
                view.watches.push(Watch::new(expression, world.live));
            }
            WatchUse::Change(at) => {
                if let Some(watch) = view.watches.get_mut(*at) {
                    *watch = Watch::new(expression, world.live);
                }
            }
            WatchUse::Run => {
                let spec =
                    BreakpointSpec::at(BreakpointPlace::Value { of: expression, crosses: None });
                return Ok(Reply::send(Command::RunTo { spec: Box::new(spec) }));
            }
        }
        Ok(Reply::Done(vec![ScreenRequest::SaveWatches]))
    }

    fn other_key(&mut self, entry: &mut TextEntry, pressed: Pressed) -> Reply {
        if pressed.action == Some(Action::Fields) {
            return Reply::Open(Box::new(Inspect::new(Subject::Fields)));
        }
        entry.key(pressed.key);
        Reply::Stay
    }

    fn look(&self, typed: &str, cx: &Cx<'_>) -> EntryLook<'_> {
        let title = match self {
            WatchUse::Watch => "Watch an expression",
            WatchUse::Change(_) => "Change a watch",
            WatchUse::Run => "Run until this changes, or becomes true",
        };
        let note = match typed.trim().is_empty() {
            true => cx.keymap.fill(EXAMPLES).into_owned(),
            false => value_now(typed, cx.state),
        };
        EntryLook { title: title.into(), size: SIZE, note: note.into() }
    }
}
