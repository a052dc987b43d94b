//! The sessions kept on this machine, the newest first: filtered, marked, opened, deleted.

use std::path::{Path, PathBuf};

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::chooser::{Chooser, ChooserFrame};
use super::narrow::Words;
use super::{Confirm, Pressed, Reply, choice::ChooserPopup};
use crate::action::Action;
use crate::listing::{self, Listing, SessionStatus};
use crate::panes::row::{self, Row};
use crate::request::ScreenRequest;
use crate::store::journal::{Summary, folder};
use crate::symbols::{CHOSEN, DONE, FAILED, REFUSED, RUNNING};
use crate::table::{self, TextTable};
use crate::text::{self, number};
use crate::view::{Tone, View};
use crate::{cx::Cx, hits::Hits, keymap::Hint, request::World, theme::Theme, window::Move};

/// Lines below the list about the selected session.
const MORE: u16 = 2;
/// Cells before the columns: for the pointer and the mark.
const BEFORE: usize = 3;
const WIDTH: usize = 164;
/// The sign of a marked session, in place of its state.
const MARKED: &str = "*";

/// The list of sessions.
#[derive(Debug)]
pub struct Sessions {
    title: String,
    rows: Vec<SessionRow>,
    chooser: Chooser,
    /// The journals of the session on the screen and of the live one.
    own: Option<PathBuf>,
    live: Option<PathBuf>,
}

#[derive(Debug)]
struct SessionRow {
    path: PathBuf,
    /// The summary, or the reason why it cannot be read.
    summary: Result<Summary, String>,
    is_shown: bool,
    is_live: bool,
    is_marked: bool,
}

impl Sessions {
    /// A list of sessions, where those on the screen and behind it have these journals.
    pub fn new(listing: Listing, own: Option<&Path>, live: Option<&Path>) -> Self {
        let own = own.and_then(|own| own.canonicalize().ok());
        let live = live.and_then(|live| live.canonicalize().ok());
        Self::of(listing, own, live)
    }

    fn of(listing: Listing, own: Option<PathBuf>, live: Option<PathBuf>) -> Self {
        let is_it = |path: &Path, of: &Option<PathBuf>| {
            of.as_ref().is_some_and(|of| path.canonicalize().is_ok_and(|path| path == *of))
        };
        let rows: Vec<SessionRow> = listing
            .sessions
            .into_iter()
            .map(|(path, summary)| SessionRow {
                is_shown: is_it(&path, &own),
                is_live: is_it(&path, &live),
                is_marked: false,
                path,
                summary,
            })
            .collect();
        let words = rows.iter().map(|row| Words::new(&row.name(), &row.about()));
        let chooser = Chooser::new("session", words.collect(), 0).with_foot(MORE);
        let title = format!("Sessions · {} · {}", rows.len(), listing.folder.display());
        Self { title, rows, chooser, own, live }
    }

    fn mark(&mut self) {
        let Some(at) = self.chooser.selected() else { return };
        self.rows[at].is_marked = !self.rows[at].is_marked;
        self.chooser.go(Move::Down);
    }

    /// Asks before deleting the marked sessions, or the selected one if none is marked.
    ///
    /// # Errors
    /// None is selected, or one of them is shown or runs.
    fn delete(&self) -> Result<Confirm, &'static str> {
        let marked: Vec<_> = self.rows.iter().filter(|row| row.is_marked).collect();
        let rows = match marked.is_empty() {
            true => self.chooser.selected().map(|at| &self.rows[at]).into_iter().collect(),
            false => marked,
        };
        if rows.is_empty() {
            return Err("no session is selected");
        }
        if rows.iter().any(|row| row.is_shown || row.is_live) {
            return Err("this session is on the screen; it cannot be deleted");
        }
        if rows.iter().any(|row| row.summary.as_ref().is_ok_and(|summary| summary.running)) {
            return Err("this session runs; it cannot be deleted");
        }
        let bytes = rows.iter().map(|row| folder::size(&row.path)).sum();
        Ok(Confirm::delete(rows.iter().map(|row| row.path.clone()).collect(), bytes))
    }
}

impl SessionRow {
    fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The text that a search looks in besides the name.
    fn about(&self) -> String {
        match &self.summary {
            Ok(session) => [
                listing::started(session),
                listing::question(session),
                listing::strategy(session),
                session.workspace.clone(),
                listing::changes(session),
                listing::parent(session),
                SessionStatus::of(session).name().to_owned(),
            ]
            .join(" "),
            Err(why) => why.clone(),
        }
    }

    /// The sign for the session's status.
    fn sign(&self, theme: &Theme) -> table::Cell {
        let (sign, style) = match &self.summary {
            Err(_) => (FAILED, theme.bad),
            Ok(_) if self.is_live => (RUNNING, theme.running),
            Ok(_) if self.is_shown => (CHOSEN, theme.accent),
            Ok(session) => match SessionStatus::of(session) {
                SessionStatus::Running => (RUNNING, theme.running),
                SessionStatus::Done => (DONE, theme.good),
                SessionStatus::Quit => (REFUSED, theme.dim),
                SessionStatus::Killed => (REFUSED, theme.warn),
            },
        };
        (sign.to_owned(), style)
    }
}

/// The columns; the last are left out first where there is little room. The question gets a third of it.
fn columns(room: usize) -> Vec<table::TableColumn<Summary>> {
    vec![
        table::left("started", 16, |it| (listing::started(it), Style::new())),
        table::left("first question", room / 3, |it| (listing::question(it), Style::new())),
        table::left("strategy", 19, |it| (listing::strategy(it), Style::new())),
        table::right("tasks", 7, |it| (listing::tasks(it), Style::new())),
        table::right("right", 5, |it| (listing::right(it), Style::new())),
        table::right("cost", 9, |it| (listing::cost(it), Style::new())),
        table::left("state", 7, |it| (SessionStatus::of(it).name().to_owned(), Style::new())),
        table::left("faults, edits", 16, |it| (listing::changes(it), Style::new())),
        table::left("workspace", 14, |it| (text::clean(&it.workspace).into_owned(), Style::new())),
        table::right("events", 9, |it| (number(it.events), Style::new())),
        table::right("length", 9, |it| (text::span(it.micros), Style::new())),
    ]
}

impl ChooserPopup for Sessions {
    fn hints(&self) -> &'static [Hint] {
        &[
            (&[Action::Accept], "open as a replay"),
            (&[Action::Mark], "mark"),
            (&[Action::Remove], "delete"),
            (&[Action::Leave], "leave"),
        ]
    }

    fn other_key(&mut self, pressed: Pressed, world: &World<'_>, view: &mut View) -> Reply {
        match pressed.action {
            Some(Action::Mark) => self.mark(),
            Some(Action::Remove) => match self.delete() {
                Ok(question) => return Reply::Open(Box::new(question)),
                Err(why) => view.tell(world.live.at, Tone::Bad, why),
            },
            _ => return self.chooser.key(pressed),
        }
        Reply::Stay
    }

    /// Takes a new list; the filter and the selected place stay.
    fn relist(&mut self, listing: Listing) -> Option<Listing> {
        let (typed, line) = (self.chooser.typed(), self.chooser.pick.row);
        *self = Self::of(listing, self.own.take(), self.live.take());
        self.chooser.paste(&typed);
        self.chooser.go_to(line);
        None
    }

    fn choose(&mut self, thing: usize, world: &World<'_>, view: &mut View) -> Reply {
        let Some(row) = self.rows.get(thing) else { return Reply::Stay };
        let why = match &row.summary {
            Err(why) => why.clone(),
            Ok(_) if row.is_shown => "this session is already on the screen".to_owned(),
            Ok(_) => return Reply::Done(vec![ScreenRequest::Replay(row.path.clone())]),
        };
        view.tell(world.live.at, Tone::Bad, why);
        Reply::Stay
    }

    fn chooser(&mut self) -> &mut Chooser {
        &mut self.chooser
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let look = ChooserFrame { title: &self.title, hints: self.hints(), width: WIDTH };
        let room = usize::from(area.width).min(WIDTH + 4).saturating_sub(BEFORE + 6);
        let table = TextTable::fitting(columns(room), room);
        let parts = self.chooser.draw(cx, (area, buf, hits), &look, |found, line, buf| {
            let Some(session) = self.rows.get(found.id) else { return };
            let (sign, style) = session.sign(cx.theme);
            let mut row = Row::new(line, buf);
            let (mark, style) =
                if session.is_marked { (MARKED, cx.theme.key) } else { (&*sign, style) };
            row.gap(1).cell(mark, BEFORE - 1, style);
            match &session.summary {
                Ok(summary) => table.cells(summary, &mut row),
                Err(_) => {
                    _ = row
                        .gap(1)
                        .put(&session.name(), cx.theme.dim)
                        .put("  cannot be read", cx.theme.bad)
                }
            }
        });
        let mut head = Row::new(parts.head, buf);
        head.gap(BEFORE);
        table.head(&mut head, cx.theme.dim);
        let Some(session) = self.chooser.selected().and_then(|row| self.rows.get(row)) else {
            return;
        };
        let (said, style) = match &session.summary {
            Err(why) => (why.clone(), cx.theme.bad),
            Ok(summary) => {
                let end = match &summary.ended {
                    Some(why) => why,
                    None if summary.running => "running; toolyard attach controls it",
                    None => "not ended: killed, or running on another machine",
                };
                let parent = listing::parent(summary);
                let from = if parent.is_empty() { parent } else { format!(" · from {parent}") };
                (format!("{} · {end}{from}", session.name()), cx.theme.dim)
            }
        };
        row::wrapped(parts.foot, &said, style, buf);
    }
}
