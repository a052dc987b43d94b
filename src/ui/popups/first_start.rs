//! The first start: the person's own agent, the tours, and ways to begin with own models, tools and questions.

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
    /// Asks for this first.
    Ask(Asked),
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
        let agent = (
            "own agent".to_owned(),
            "watch it: toolyard watch -- python my_agent.py".to_owned(),
            FirstStartOutcome::Ask(Asked::Command),
        );
        let own = [
            ("own model", &*models, FirstStartOutcome::Project(folder.to_owned())),
            (
                "own tools",
                "import an API: OpenAPI, Swagger or Postman",
                FirstStartOutcome::Ask(Asked::Api),
            ),
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
        let items: Vec<_> = [agent].into_iter().chain(tours).chain(own).collect();
        let words = items.iter().map(|(name, about, _)| Words::new(name, about));
        let sections = vec![
            (0, "Your agent, as it is"),
            (1, "Demos: no key, no network, at most two minutes each"),
            (1 + demos.len(), "toolyard's agents, with your own models and tools"),
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
            FirstStartOutcome::Ask(asked) => Reply::Open(Box::new(BeginEntry::new(asked))),
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

/// A text that is needed to begin.
#[derive(Clone, Copy, Debug)]
enum Asked {
    /// The path of an API's description.
    Api,
    /// The command of an agent, as in a terminal.
    Command,
}

impl Asked {
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Asked::Api => (
                "Import the tools of an API: path of its OpenAPI, Swagger or Postman file",
                "A new folder beside this one gets a tool for each operation.",
            ),
            Asked::Command => (
                "Watch your agent: its command, such as python my_agent.py",
                "It runs in this folder. Its code does not change.",
            ),
        }
    }

    /// # Errors
    /// Nothing begins with this text.
    fn begin(self, typed: &str) -> Result<NextSession, String> {
        match self {
            Asked::Api => {
                let path = PathBuf::from(typed);
                match (path.is_file(), typed) {
                    (true, _) => Ok(NextSession::Import(path)),
                    (false, "") => Err("type the path of a file".to_owned()),
                    (false, typed) => Err(format!("no such file: {typed}")),
                }
            }
            Asked::Command => {
                // Some type the whole command line.
                let typed = ["toolyard", "watch", "--"].iter().fold(typed, |typed, word| {
                    typed.strip_prefix(word).map_or(typed, str::trim_start)
                });
                let words = shell_words::split(typed);
                let words = words.map_err(|_| "a quote has no closing quote".to_owned())?;
                match words.is_empty() {
                    true => Err("type a command".to_owned()),
                    false => Ok(NextSession::Watch([vec!["--".to_owned()], words].concat())),
                }
            }
        }
    }
}

/// The entry for that text.
#[derive(Debug)]
struct BeginEntry {
    asked: Asked,
    entry: TextEntry,
}

impl BeginEntry {
    fn new(asked: Asked) -> Self {
        Self { asked, entry: TextEntry::default() }
    }

    fn accept(&mut self) -> Reply {
        match self.asked.begin(self.entry.text().trim()) {
            Ok(next) => Reply::Done(vec![ScreenRequest::Leave(next)]),
            Err(why) => {
                self.entry.error = Some(why);
                Reply::Stay
            }
        }
    }
}

impl Popup for BeginEntry {
    fn keys(&self) -> PopupKeys {
        (KeyLayer::Form, &[(&[Action::Accept], "start"), (&[Action::Leave], "leave")])
    }

    fn key(&mut self, pressed: Pressed, _: &World<'_>, _: &mut View) -> Reply {
        match pressed.action {
            Some(Action::Leave) => Reply::Close,
            Some(Action::Accept) => self.accept(),
            _ => {
                self.entry.key(pressed.key);
                Reply::Stay
            }
        }
    }

    fn paste(&mut self, text: &str) {
        self.entry.paste(text.trim());
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let (title, note) = self.asked.words();
        let size = (text::width(title) + 2, 4);
        let inside = frame::open(cx, (area, buf, hits), title, &self.legend(cx), size);
        let (field, rest) = row::split(inside, 1);
        self.entry.draw(cx, field, buf);
        let (said, style) = match &self.entry.error {
            Some(why) => (&**why, cx.theme.bad),
            None => (note, cx.theme.dim),
        };
        row::wrapped(row::split(rest, 1).1, said, style, buf);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_split_like_a_shell_splits_it() {
        let begin = |typed: &str| Asked::Command.begin(typed);
        let watch = |words: &[&str]| {
            let words = ["--"].iter().chain(words);
            Ok(NextSession::Watch(words.map(|word| (*word).to_owned()).collect()))
        };
        assert_eq!(begin("python my_agent.py"), watch(&["python", "my_agent.py"]));
        assert_eq!(
            begin("toolyard watch -- python 'my agent.py'"),
            watch(&["python", "my agent.py"])
        );
        for wrong in ["", "toolyard watch", "python 'my agent.py"] {
            assert!(begin(wrong).is_err(), "{wrong}");
        }
    }
}
