//! The first start: the tours, and ways to begin with own models, tools and questions.

use std::path::{Path, PathBuf};

use ratatui::{buffer::Buffer, layout::Rect};

use super::chooser::{self, Chooser, ChooserFrame};
use super::narrow::Words;
use super::{
    Confirm, Popup, PopupKeys, Pressed, Reply, choice::ChooserPopup, entry::TextEntry, frame,
};
use crate::action::{Action, KeyLayer};
use crate::next::NextSession;
use crate::panes::row::{self, Row};
use crate::request::{ScreenRequest, World};
use crate::{cx::Cx, hits::Hits, keymap::Hint, text, view::View};

/// The first start's note on the model, below the list.
const NOTE: &str = "The simulated model knows only the sample tasks. It refuses other questions, and such answers earn \
    no scores.";
const NOTE_LINES: u16 = 2;
/// The name of the key that runs the samples from here.
const SPACE: &str = "space";
/// Columns of a name.
const NAME: usize = 12;

/// The list of ways to begin.
#[derive(Debug)]
pub struct FirstStart {
    items: Vec<(String, String, FirstStartOutcome)>,
    chooser: Chooser,
}

#[derive(Clone, Debug)]
enum FirstStartOutcome {
    Leave(NextSession),
    /// Writes a project into this folder.
    Project(PathBuf),
    /// Asks for the path of an API's description.
    Import,
    Act(Action),
    Stay,
}

impl FirstStart {
    /// The list of tours, each with a line about it; API keys in the environment; and the folder for a new project.
    pub fn new(demos: &[(&'static str, &'static str)], keys: &[&str], folder: &Path) -> Self {
        let tours = demos.iter().map(|(name, about)| {
            (
                (*name).to_owned(),
                (*about).to_owned(),
                FirstStartOutcome::Leave(NextSession::Demo(name)),
            )
        });
        let models = match keys {
            [] => "a new project here, with the local models that answer".to_owned(),
            keys => format!("a new project here, with {} and local models", keys.join(", ")),
        };
        let own = [
            ("own model", &*models, FirstStartOutcome::Project(folder.to_owned())),
            ("own tools", "import an API: OpenAPI, Swagger or Postman", FirstStartOutcome::Import),
            (
                "question",
                "type a question for the sample tools",
                FirstStartOutcome::Act(Action::NewTask),
            ),
            (
                "sessions",
                "open the last session, or one before it",
                FirstStartOutcome::Act(Action::Sessions),
            ),
            ("samples", "run the sample tasks by hand", FirstStartOutcome::Stay),
        ];
        let own = own.map(|(name, about, does)| (name.to_owned(), about.to_owned(), does));
        let items: Vec<_> = tours.chain(own).collect();
        let words = items.iter().map(|(name, about, _)| Words::new(name, about));
        let sections = vec![
            (0, "Demos: no key, no network, at most two minutes each"),
            (demos.len(), "Work with your own"),
        ];
        let chooser = Chooser::new("beginning", words.collect(), 0)
            .with_sections(sections)
            .with_foot(NOTE_LINES);
        Self { items, chooser }
    }
}

impl ChooserPopup for FirstStart {
    fn hints(&self) -> &'static [Hint] {
        &[(&[Action::Accept], "start"), (&[Action::Leave], "to the samples")]
    }

    /// A space before any letter cannot be meant for the filter: it runs the samples, as it does without this list.
    fn other_key(&mut self, pressed: Pressed, world: &World<'_>, _: &mut View) -> Reply {
        let runs = world.keymap.key(Action::RunOrPause).is_some_and(|key| key == SPACE);
        if runs && self.chooser.typed().is_empty() && pressed.key.to_string() == SPACE {
            return Reply::Act(Action::RunOrPause);
        }
        self.chooser.key(pressed)
    }

    fn chooser(&mut self) -> &mut Chooser {
        &mut self.chooser
    }

    fn choose(&mut self, thing: usize, _: &World<'_>, _: &mut View) -> Reply {
        match self.items[thing].2.clone() {
            FirstStartOutcome::Leave(next) => Reply::Done(vec![ScreenRequest::Leave(next)]),
            FirstStartOutcome::Project(folder) => Reply::Open(Box::new(Confirm::project(&folder))),
            FirstStartOutcome::Import => Reply::Open(Box::new(ImportEntry::default())),
            FirstStartOutcome::Act(action) => Reply::Act(action),
            FirstStartOutcome::Stay => Reply::Close,
        }
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let widest = self.items.iter().map(|(_, about, _)| text::width(about)).max().unwrap_or(0);
        let look = ChooserFrame { title: "Begin", hints: self.hints(), width: NAME + widest + 8 };
        let styles = (cx.theme.text, cx.theme.letters());
        let parts = self.chooser.draw(cx, (area, buf, hits), &look, |found, line, buf| {
            let (name, about, _) = &self.items[found.id];
            let mut row = Row::new(line, buf);
            row.gap(3);
            chooser::put(&mut row, found, (name, about), (NAME, 1), styles);
        });
        row::wrapped(parts.foot, NOTE, cx.theme.dim, buf);
    }
}

/// The entry for the path of an API's description.
#[derive(Debug, Default)]
struct ImportEntry {
    entry: TextEntry,
    error: Option<String>,
}

impl ImportEntry {
    fn accept(&mut self) -> Reply {
        let typed = self.entry.text();
        let path = PathBuf::from(typed.trim());
        if path.is_file() {
            return Reply::Done(vec![ScreenRequest::Leave(NextSession::Import(path))]);
        }
        self.error = Some(match typed.trim() {
            "" => "type the path of a file".to_owned(),
            path => format!("no such file: {path}"),
        });
        Reply::Stay
    }
}

impl Popup for ImportEntry {
    fn keys(&self) -> PopupKeys {
        (KeyLayer::Form, &[(&[Action::Accept], "import"), (&[Action::Leave], "leave")])
    }

    fn key(&mut self, pressed: Pressed, _: &World<'_>, _: &mut View) -> Reply {
        match pressed.action {
            Some(Action::Leave) => return Reply::Close,
            Some(Action::Accept) => return self.accept(),
            _ => {
                self.error = None;
                self.entry.key(pressed.key);
            }
        }
        Reply::Stay
    }

    fn paste(&mut self, text: &str) {
        self.entry.paste(text.trim());
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let title = "Import the tools of an API: path of its OpenAPI, Swagger or Postman file";
        let size = (text::width(title) + 2, 4);
        let inside = frame::open(cx, (area, buf, hits), title, &self.legend(cx), size);
        let (field, rest) = row::split(inside, 1);
        self.entry.draw(cx, field, buf);
        let (said, style) = match &self.error {
            Some(why) => (&**why, cx.theme.bad),
            None => ("A new folder beside this one gets a tool for each operation.", cx.theme.dim),
        };
        row::wrapped(row::split(rest, 1).1, said, style, buf);
    }
}
