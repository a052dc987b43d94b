//! A form for a spec, field by field. The fields make up the same text that the command line takes, and that text is
//! what is checked: one grammar, one set of errors.

use ratatui::{buffer::Buffer, layout::Rect};

use super::fields::{Doubts, FormFields};
use super::{Inspect, Popup, PopupKeys, Pressed, Reply, Subject, frame};
use crate::action::{Action, KeyLayer};
use crate::domain::{Command, State};
use crate::hits::Hits;
use crate::panes::row;
use crate::window::Window;
use crate::{cx::Cx, keymap::Hint, request::ScreenRequest, request::World, text, view::View};

/// Columns of the form.
const WIDTH: usize = 76;
/// Lines about the selected field and the spec, or for what is wrong.
const BELOW: usize = 4;

/// The part of a form that depends on the kind of spec.
pub trait SpecKind: std::fmt::Debug {
    /// The effect of the key that accepts, in a word.
    const ACCEPT: &'static str;

    fn title(&self) -> String;

    /// Replaces the fields where another choice has others.
    fn settle(&mut self, fields: &mut FormFields, live: &State);

    /// The commands that set the spec.
    ///
    /// # Errors
    /// The spec is wrong, or doubtful for the first time. The text begins with a field's label or quotes its value.
    fn commands(
        &self,
        fields: &FormFields,
        live: &State,
        doubts: &mut Doubts,
    ) -> Result<Vec<Command>, String>;

    /// The spec in short, below the description of a field; empty for none.
    fn summary(&self, _fields: &FormFields) -> String {
        String::new()
    }
}

/// A form for a spec of this kind.
#[derive(Debug)]
pub struct SpecForm<K> {
    pub(super) kind: K,
    pub(super) fields: FormFields,
    error: Option<String>,
    doubts: Doubts,
}

impl<K: SpecKind> SpecForm<K> {
    const HINTS: &'static [Hint] = &[
        (&[Action::Accept], K::ACCEPT),
        (&[Action::Up, Action::Down], "field"),
        (&[Action::Left, Action::Right], "choose"),
        (&[Action::Leave], "leave"),
    ];

    /// A form with the keyboard in the field of this label.
    pub(super) fn at(kind: K, mut fields: FormFields, label: &str) -> Self {
        fields.go_to(label);
        Self { kind, fields, error: None, doubts: Doubts::default() }
    }

    fn accept(&mut self, live: &State) -> Reply {
        match self.kind.commands(&self.fields, live, &mut self.doubts) {
            Ok(commands) => Reply::Done(commands.into_iter().map(ScreenRequest::Send).collect()),
            Err(error) => {
                self.fields.blame(&error);
                self.error = Some(error);
                Reply::Stay
            }
        }
    }

    fn settle(&mut self, live: &State) -> Reply {
        self.error = None;
        self.kind.settle(&mut self.fields, live);
        Reply::Stay
    }
}

impl<K: SpecKind> Popup for SpecForm<K> {
    fn keys(&self) -> PopupKeys {
        (KeyLayer::Form, Self::HINTS)
    }

    fn key(&mut self, pressed: Pressed, world: &World<'_>, _: &mut View) -> Reply {
        match pressed.action {
            Some(Action::Leave) => return Reply::Close,
            Some(Action::Accept) => return self.accept(world.live),
            Some(Action::Fields) => return Reply::Open(Box::new(Inspect::new(Subject::Fields))),
            _ => self.fields.key(pressed),
        }
        self.settle(world.live)
    }

    fn click(&mut self, row: usize, world: &World<'_>, _: &mut View) -> Reply {
        self.fields.click(row);
        self.settle(world.live)
    }

    fn paste(&mut self, text: &str) {
        self.error = None;
        self.fields.paste(text);
    }

    fn window(&mut self) -> Option<&mut Window> {
        Some(&mut self.fields.window)
    }

    fn prepare(&mut self, _: &Cx<'_>, area: Rect) {
        self.fields.fit(rows(self.fields.count(), area));
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let rows = rows(self.fields.count(), area);
        let size = (WIDTH, rows + BELOW);
        let title = self.kind.title();
        let inside = frame::open(cx, (area, buf, hits), &title, &self.legend(cx), size);
        let (list, below) = row::split(inside, u16::try_from(rows).unwrap_or(u16::MAX));
        self.fields.draw(cx, list, buf, hits);
        let (said, style) = match &self.error {
            Some(error) => (error.clone(), cx.theme.warn),
            None => {
                let summary = self.kind.summary(&self.fields);
                (format!("{}\n{summary}", self.fields.about()), cx.theme.dim)
            }
        };
        let (said, width) = (cx.keymap.fill(&said), usize::from(inside.width));
        row::lines(below, text::wrap_message(&said, width), style, buf);
    }
}

/// Lines for the fields on a screen of this size.
fn rows(fields: usize, area: Rect) -> usize {
    fields.min(usize::from(area.height).saturating_sub(BELOW + 2)).max(1)
}
