//! The screen without a terminal: its state, the effect of inputs, and its drawing. Tests need no more; [`super::run`]
//! adds the terminal and the clock.

use std::path::{Path, PathBuf};
use std::{sync::Arc, time::Duration};

use ratatui::crossterm::event::{Event as Input, KeyEventKind};
use ratatui::{buffer::Buffer, layout::Rect};

use super::cx::Cx;
use super::inputs::framer::MOST_PASTED;
use super::layout::{Layout, Layouts, Saved, Size};
use super::own::OwnCommand;
use super::popups::{FirstStart, Inspect, Subject};
use super::request::{Requests, World};
use super::symbols::{self, Charset};
use super::update::{control, mouse, press};
use super::view::{ReadOnly, Tone, View};
use super::watch::Watch;
use super::{action::Action, draw, history::History, hits::Hits, key::Key, keymap::Keymap, pace};
use super::{change, moment_run, program_moment};
use super::{pane::PaneId, panes, theme::Theme, wording};
use crate::domain::ProgramEvent::ProgramTakenBack;
use crate::domain::program::{Again, Reached};
use crate::domain::seat::SeatNews;
use crate::domain::{
    BreakpointEvent, By, ControlEvent, Event, Knob, Lane, Mode, Record, SessionEvent, State,
    TaskEvent, TaskId, ToolCallEvent,
};
use crate::domain::{Expression, state::Keeps, state::RECENT};
use crate::store::journal::JournalPast;

/// Facts for the offers of a first start.
#[derive(Clone, Debug)]
pub struct First {
    /// Environment variables that hold API keys.
    pub keys: Vec<&'static str>,
    /// The folder for a new project.
    pub folder: PathBuf,
}

/// The setup of the screen.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// The title in the header.
    pub title: String,
    /// The address where a watched agent asks.
    pub address: Option<String>,
    /// Why the session cannot be changed from here, if it cannot.
    pub read_only: Option<ReadOnly>,
    pub keymap: Keymap,
    /// The theme in use, then those that a key can change to. None: the terminal's own colours.
    pub themes: Vec<Theme>,
    /// Character set of the screen.
    pub charset: Charset,
    /// The initial watches.
    pub watches: Vec<Expression>,
    /// The layouts that the person saved.
    pub layouts: Saved,
    /// The journal from which forgotten events are read back.
    pub journal: Option<JournalPast>,
    /// The demos, by name, with what each shows.
    pub demos: &'static [(&'static str, &'static str)],
    /// The user's own commands.
    pub commands: Vec<OwnCommand>,
    /// The offers of a first start, which the screen begins with.
    pub first: Option<First>,
    /// Whether the run key runs all tasks again once they are done.
    pub runs_again: bool,
}

/// The screen and all state behind it.
#[derive(Debug, Default)]
pub struct Screen {
    setup: Setup,
    theme: usize,
    pub history: History,
    live: State,
    /// The state at the moment looked at, if that is in the past.
    past: Option<State>,
    pub view: View,
    hits: Hits,
}

impl Screen {
    pub fn new(mut setup: Setup) -> Self {
        if setup.themes.is_empty() {
            setup.themes.push(Theme::default());
        }
        let layouts = Layouts::new(std::mem::take(&mut setup.layouts));
        let live = State::keeping(Keeps::Details(RECENT));
        let watched = std::mem::take(&mut setup.watches).into_iter();
        let watches = watched.map(|watched| Watch::new(watched, &live)).collect();
        let (read_only, address) = (setup.read_only, setup.address.take());
        let runs_again = setup.runs_again;
        let view = View { read_only, address, layouts, watches, runs_again, ..View::default() };
        let history = History::of(live.clone(), setup.journal.take());
        Self { setup, view, history, live, ..Self::default() }
    }

    /// A screen of a known state, without the events before it.
    pub fn showing(state: State, setup: Setup, view: View) -> Self {
        Self { live: state, view, ..Self::new(setup) }
    }

    /// Begins with this state of a session, whose journal has the events before it.
    pub fn begin(&mut self, state: State, journal: JournalPast) {
        self.history = History::of(state.clone(), Some(journal));
        self.live = state;
        self.look_first();
    }

    /// A screen for another session, set up like this one.
    pub fn beside(&self, journal: &Path) -> Self {
        let (title, read_only) = (journal.display().to_string(), Some(ReadOnly::Replay));
        let layouts = self.view.layouts.saved.clone();
        let setup = Setup { title, read_only, layouts, journal: None, ..self.setup.clone() };
        Self { theme: self.theme, ..Self::new(setup) }
    }

    /// Folds a record.
    pub fn receive(&mut self, record: Arc<Record>) {
        self.live.apply(&record);
        let live = &self.live;
        self.view.watches.iter_mut().for_each(|watch| watch.note(live));
        self.note_for_twin(&record);
        self.listen(&record);
        self.history.push(record);
    }

    /// Confirms every change by the user, with the key that undoes it.
    fn confirm(&mut self, record: &Record) {
        // The changes of a replay were made earlier, and cannot be undone.
        if self.view.read_only.is_some() {
            return;
        }
        let offer = |action: Action, does| {
            let key = self.setup.keymap.key(action);
            key.map_or_else(String::new, |key| format!(" · {key} {does}"))
        };
        let said = |event: &Event| {
            let armed = change::armed(&self.live, &self.view, event, &self.setup.keymap);
            armed.unwrap_or_else(|| wording::told(event))
        };
        let told = || said(&record.event);
        let text = match record.event.by() {
            Some(By::User) if record.event.is_undoable() => {
                let change = self.live.control.changes.undo.last();
                match change.filter(|change| change.last == record.n) {
                    // All presses of a key are reported as one change.
                    Some(change) => {
                        format!("{}{}", said(&change.event), offer(Action::Undo, "undoes"))
                    }
                    None => told(),
                }
            }
            // A program that was taken back cannot be undone; the text says so.
            Some(By::User) if matches!(record.event, Event::Program(ProgramTakenBack { .. })) => {
                told()
            }
            Some(By::Undo(_)) => format!("undone · {}{}", told(), offer(Action::Redo, "redoes")),
            Some(By::Redo(_)) => format!("redone · {}{}", told(), offer(Action::Undo, "undoes")),
            _ => return,
        };
        self.view.tell(record.at, Tone::Good, text);
    }

    /// Handles the events that are meant for the person.
    fn listen(&mut self, record: &Record) {
        self.confirm(record);
        let is_end = matches!(record.event, Event::Task(TaskEvent::TaskFinished { .. }));
        if is_end && self.view.offers_again(&self.live) {
            let text = format!("all tasks are done: {}", control::outcome(&self.live));
            self.view.tell(record.at, Tone::Good, text);
        }
        if let Event::ToolCall(ToolCallEvent::ToolCallRequested { effect, by: By::User, .. }) =
            &record.event
            && std::mem::take(&mut self.view.opens_call)
        {
            self.view.call = Some(effect.id);
            self.view.open(Inspect::new(Subject::Call(effect.id)));
        }
        if let Event::Breakpoint(BreakpointEvent::BreakpointHit {
            lane: Some(Lane::Effect(call)),
            holds: true,
            ..
        }) = &record.event
            && self.live.tool_call(*call).is_some()
            && self.view.read_only.is_none()
            && self.view.moment.is_none()
        {
            // Keys mean the held call, so the mark is on it.
            self.view.choose_call(&self.live, *call);
        }
        if let Event::Control(ControlEvent::Held { lane: Lane::Effect(call), .. }) = &record.event
            && self.live.watched.is_some()
            && self.view.moment.is_none()
            && !self.view.marks_held(&self.live)
        {
            self.view.choose_call(&self.live, *call);
        }
        let Event::Session(event) = &record.event else { return };
        let mut tell = |tone, text| self.view.tell(record.at, tone, text);
        match event {
            SessionEvent::CommandRefused { command, why } => {
                tell(Tone::Bad, format!("cannot {command}: {why}"));
            }
            SessionEvent::Noticed { text } => {
                self.view.notice(record.at, Tone::Plain, text.clone());
            }
            SessionEvent::SessionEnded { why, .. } => {
                tell(Tone::Plain, format!("the session has ended: {why}"));
            }
            SessionEvent::SessionOpened { .. } => self.look_first(),
            SessionEvent::ToolsAdded { .. } => self.view.select_first(&self.live),
            _ => {}
        }
    }

    /// Focuses the first pane of this strategy's layout, before any key can choose another one.
    fn look_first(&mut self) {
        if self.view.tool.is_some() {
            return;
        }
        if self.live.watched.is_some() {
            // The first of the knobs that act on a watched agent.
            self.view.knob.get_or_insert(Knob::Skip);
        }
        self.view.focus = Layout::first_pane(self.live.acting());
        if let Some(first) = &self.setup.first {
            self.view.open(FirstStart::new(self.setup.demos, &first.keys, &first.folder));
        }
        self.view.select_first(&self.live);
    }

    /// Handles the end of all records of a session that has not ended.
    pub fn break_off(&mut self) {
        self.view.read_only = Some(ReadOnly::BrokenOff);
        self.tell(Tone::Bad, ReadOnly::BrokenOff.why());
    }

    /// Takes in who controls the session; returns the message about it.
    pub fn hear(&mut self, news: SeatNews) -> (Tone, String) {
        let key = self.setup.keymap.key(Action::Control).unwrap_or_default();
        let is_over = self.view.read_only == Some(ReadOnly::BrokenOff);
        let mut watch = |watches: bool| {
            if !is_over {
                self.view.read_only = watches.then_some(ReadOnly::Watching);
            }
        };
        match news {
            SeatNews::Control { yours: true, .. } => {
                watch(false);
                (Tone::Good, "this screen controls the session".to_owned())
            }
            SeatNews::Control { controller, .. } => {
                watch(true);
                let text = match controller {
                    Some(who) => format!("controlled by {who} · {key} asks for control"),
                    None => format!("no screen controls the session · {key} takes control"),
                };
                (Tone::Plain, text)
            }
            SeatNews::Asked { by } => {
                (Tone::Plain, format!("{by} asks for control · {key} hands it over"))
            }
            SeatNews::Refused { why } => (Tone::Bad, why),
            SeatNews::Lost { why } => {
                watch(true);
                (Tone::Bad, format!("{why}; following only its journal"))
            }
        }
    }

    /// Returns the current state.
    pub fn live(&self) -> &State {
        &self.live
    }

    /// Returns the state that is looked at.
    pub fn shown(&self) -> &State {
        self.past.as_ref().unwrap_or(&self.live)
    }

    pub fn theme(&self) -> &Theme {
        &self.setup.themes[self.theme]
    }

    pub fn next_theme(&mut self) {
        self.theme = (self.theme + 1) % self.setup.themes.len();
        let name = self.theme().name.clone();
        self.view.tell(self.live.at, Tone::Plain, format!("theme: {name}"));
    }

    /// Makes the theme of this name the first, unless the person has chosen another. True if that changes the screen.
    pub fn suit(&mut self, name: &str) -> bool {
        let at = self.setup.themes.iter().position(|theme| theme.name == name);
        let Some(at) = at.filter(|at| *at > 0 && self.theme == 0) else { return false };
        self.setup.themes[..=at].rotate_right(1);
        true
    }

    pub fn tell(&mut self, tone: Tone, text: impl Into<String>) {
        self.view.tell(self.live.at, tone, self.setup.keymap.fill(&text.into()));
    }

    /// Handles a key, a click or a paste.
    pub fn handle(&mut self, input: &Input) -> Requests {
        let world = World {
            live: &self.live,
            shown: self.past.as_ref().unwrap_or(&self.live),
            history: &self.history,
            keymap: &self.setup.keymap,
            demos: self.setup.demos,
            commands: &self.setup.commands,
        };
        let view = &mut self.view;
        let requests = match input {
            // Some terminals also report the release of a key.
            Input::Key(event) if event.kind != KeyEventKind::Release => {
                press(&world, view, Key::from(*event))
            }
            Input::Mouse(event) => mouse(&world, view, &self.hits, *event),
            Input::Paste(text) => {
                if text.len() >= MOST_PASTED {
                    let said = "only the first MiB of the paste was taken";
                    view.tell(world.live.at, Tone::Bad, said);
                }
                if let Some(popup) = view.popups.last_mut() {
                    popup.paste(text);
                }
                Vec::new()
            }
            Input::Key(_) | Input::Resize(..) | Input::FocusGained | Input::FocusLost => Vec::new(),
        };
        self.view.note_choice();
        self.look();
        self.want();
        requests
    }

    /// Notes the query about a program whose result is to be shown.
    fn want(&mut self) {
        let wanted = program_moment::wanted(self.past.as_ref().unwrap_or(&self.live), &self.view);
        self.view.looked.want(wanted);
    }

    /// Returns a program to run again beside the screen, so that one of its moments can be shown.
    pub fn rerun(&mut self) -> Option<(moment_run::ProgramQuery, Again)> {
        self.want();
        self.view.looked.send(self.past.as_ref().unwrap_or(&self.live))
    }

    /// Shows a program at the moment that it has reached.
    pub fn reached(&mut self, wanted: moment_run::ProgramQuery, reached: Reached) {
        let state = self.past.as_ref().unwrap_or(&self.live);
        self.view.looked.see(state, wanted, reached);
    }

    /// Folds the moment looked at, if it has changed.
    pub fn look(&mut self) {
        let Some(moment) = self.view.moment else {
            self.past = None;
            return;
        };
        self.past = self.history.state(moment, self.past.take());
        if self.past.is_none() {
            self.view.moment = None;
            self.tell(Tone::Bad, format!("cannot read event {moment} from the journal"));
        }
    }

    /// Reads back forgotten data that is looked at. True if there was some.
    fn recall(&mut self) -> bool {
        let state = self.past.as_mut().unwrap_or(&mut self.live);
        let gone = forgotten(&self.history, state, &self.view);
        let (detailed, listed) = state.recalled();
        if detailed + gone.len() > 2 * LOOKED_AT || listed > LISTED_AGAIN {
            state.forget_recalled();
        }
        // A page before and a page after.
        let shown = self.view.windows[PaneId::Tasks as usize];
        let rows = shown.first.saturating_sub(shown.rows)..shown.first + 2 * shown.rows;
        let is_listed = self.history.list_again(state, rows);
        let found = gone.into_iter().filter(|task| self.history.recall(state, *task)).count();
        is_listed || found > 0
    }

    /// Draws a frame. `now`: microseconds since the session was opened.
    pub fn draw(&mut self, area: Rect, buf: &mut Buffer, now: u64) {
        self.lay_out(area);
        self.recall();
        self.want();
        self.settle_twin();
        panes::look_up(self.past.as_ref().unwrap_or(&self.live), &mut self.view);
        if self.view.sees(PaneId::Output)
            && let Some(agent) = &mut self.view.agent
        {
            agent.read();
        }
        if self.view.sees(PaneId::Knobs) {
            let knob = self.view.knob();
            self.view.ahead.look(self.past.as_ref().unwrap_or(&self.live), knob);
        }
        let mut popups = std::mem::take(&mut self.view.popups);
        for popup in &mut popups {
            let above = Rect { height: area.height.saturating_sub(1), ..area };
            popup.prepare(&self.cx(now), above);
        }
        self.view.popups = popups;
        let hits = draw::draw(&self.cx(now), &self.setup.title, area, buf);
        if self.setup.charset == Charset::Ascii {
            symbols::to_ascii(buf);
        }
        self.view.settle(&hits);
        self.hits = hits;
    }

    /// Draws a complete frame: data for it may first have to be read back.
    pub fn draw_whole(&mut self, area: Rect, buf: &mut Buffer, now: u64) {
        self.draw(area, buf, now);
        if self.recall() {
            buf.reset();
            self.draw(area, buf, now);
        }
    }

    /// Takes the layout for this way of acting and this size of the screen, with the focused pane in it.
    fn lay_out(&mut self, area: Rect) {
        if let Some(size) = Size::of(area.width, area.height) {
            self.view.layouts.settle(self.live.acting(), size);
            self.view.go_to(self.view.focus);
        }
    }

    fn cx(&self, now: u64) -> Cx<'_> {
        let state = self.shown();
        Cx {
            state,
            live: &self.live,
            view: &self.view,
            theme: self.theme(),
            keymap: &self.setup.keymap,
            now: if self.past.is_some() { state.at } else { now },
            focused: true,
            frame: Rect::ZERO,
        }
    }

    /// Returns the owners of the last frame's cells.
    pub fn hits(&self) -> &Hits {
        &self.hits
    }

    /// How often something on the screen changes by time alone; `None`: nothing does.
    pub fn ticks(&self, now: u64) -> Option<Duration> {
        let is_over = self.view.read_only.is_some_and(|read_only| !read_only.is_live());
        if self.past.is_some() || is_over {
            return None;
        }
        // While all lanes are held, effects that have started have also ended, though no event says so yet.
        let held = self.live.control.mode == Mode::Paused;
        if !held && self.live.effects_in_flight().any(|effect| effect.started.is_some()) {
            return Some(pace::TICK);
        }
        // The time of a hold is shown in seconds at first, then in minutes.
        let since = self.live.control.held.first()?.since;
        let young = now.saturating_sub(since) < 60_000_000;
        Some(Duration::from_secs(if young { 1 } else { 60 }))
    }
}

/// The most tasks that are looked at at once; beyond that, earlier ones are forgotten again.
const LOOKED_AT: usize = 8;
/// The most tasks that are listed again.
const LISTED_AGAIN: usize = 1024;

/// The tasks looked at whose details are gone.
fn forgotten(history: &History, state: &State, view: &View) -> Vec<TaskId> {
    let lines = &state.transcript;
    let window = view.windows[PaneId::Transcript as usize];
    let selected = view.line.map(|n| lines.partition_point(|line| line.n < n));
    // Before the first frame nothing is looked at.
    let first = (window.total > 0).then_some(window.first);
    let places = [first, selected].into_iter().flatten();
    // A page before and a page after, so that a movement finds its target.
    let around = places.flat_map(|at| {
        let page = window.rows.max(1);
        at.saturating_sub(page)..(at + 2 * page).min(lines.gone())
    });
    let around = around.filter(|at| lines.get(*at).is_none());
    let mut tasks: Vec<TaskId> = around
        .filter_map(|line| history.task_of_line(state, line))
        .chain(view.task)
        .filter(|task| state.is_bare(*task))
        .collect();
    tasks.dedup();
    tasks.truncate(LOOKED_AT);
    tasks
}
