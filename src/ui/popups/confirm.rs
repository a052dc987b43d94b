//! A question before an action that cannot be undone.

use std::path::{Path, PathBuf};

use ratatui::{buffer::Buffer, layout::Rect};

use super::{Popup, PopupKeys, Pressed, Reply, frame};
use crate::action::{Action, KeyLayer};
use crate::domain::{
    CacheBreak, ChangedDefinition, Command, EffectClass, EffectId, Mode, State, TaskId, ToolName,
    words::counted,
};
use crate::hits::{Hits, Target};
use crate::keymap::Meaning;
use crate::next::{ForkPlace, NextSession};
use crate::panes::row;
use crate::papers::sweep::{SEEDS, Scope};
use crate::request::{ScreenRequest, World};
use crate::twin::TwinKind;
use crate::{cx::Cx, text, view::View};

/// Rows of the screen that the detail cannot use.
const AROUND: usize = 8;
/// The most columns of the detail.
const WIDEST: usize = 100;

/// A question with yes and no.
#[derive(Debug)]
pub struct Confirm {
    question: String,
    detail: String,
    yes: ScreenRequest,
}

impl Confirm {
    pub fn quit(live: &State) -> Self {
        let detail = match (&live.watched, live.effects_in_flight().count()) {
            (Some(watched), _) if watched.command.is_some() => "The agent ends, too.".to_owned(),
            (Some(_), _) => "Agents can no longer reach their models through it.".to_owned(),
            (None, 0) => {
                "The session ends. If it has a journal, `toolyard resume` continues it.".to_owned()
            }
            (None, 1) => "1 running call is cancelled.".to_owned(),
            (None, n) => format!("{n} running calls are cancelled."),
        };
        let question = "Quit while the agent is running?".to_owned();
        Self { question, detail, yes: ScreenRequest::Quit }
    }

    /// Asks before leaving a session that runs elsewhere.
    pub fn leave(live: &State) -> Self {
        let detail = match live.control.mode {
            _ if live.control.stop.is_some() => {
                "What its breakpoint holds goes on, unless another screen controls it. <key:stop> ends it."
            }
            Mode::Paused | Mode::Pausing => {
                "It stays paused until a screen attaches to it. <key:stop> ends it."
            }
            _ => "It keeps running without this screen. <key:stop> ends it.",
        };
        let (question, detail) = ("Leave this session?".to_owned(), detail.to_owned());
        Self { question, detail, yes: ScreenRequest::Quit }
    }

    pub fn stop() -> Self {
        Self {
            question: "End this session?".to_owned(),
            detail: "Running calls are cancelled. The screen stays open.".to_owned(),
            yes: ScreenRequest::Send(Command::Stop),
        }
    }

    /// Asks before changing a result that a watched agent's model has already read.
    pub fn past(cost: &CacheBreak, effect: EffectId, edited: String) -> Self {
        let tokens = cost.tokens;
        let dollars = cost.dollars.filter(|more| **more > 0.0);
        let dollars = dollars.map_or(String::new(), |more| format!(", for ${more:.4} more"));
        Self {
            question: "Change what the model has read?".to_owned(),
            detail: format!("The endpoint reads some {tokens} tokens again, uncached{dollars}."),
            yes: ScreenRequest::Send(Command::EditPast { effect, text: edited }),
        }
    }

    /// Asks before accepting the changed definition of a tool.
    pub fn definition(tool: ToolName, changed: &ChangedDefinition) -> Self {
        Self {
            question: format!("Accept the changed definition of {tool}?"),
            detail: changed.difference.to_string(),
            yes: ScreenRequest::Send(Command::AcceptDefinition {
                tool,
                hash: changed.hash.clone(),
            }),
        }
    }

    /// Asks before ending the running task.
    pub fn skip(live: &State, task: TaskId) -> Self {
        let detail = match live.effects_in_flight().count() {
            0 => "It ends without an answer; the next task begins.".to_owned(),
            1 => "It ends without an answer, and its call is cancelled.".to_owned(),
            n => format!("It ends without an answer, and its {n} calls are cancelled."),
        };
        Self {
            question: format!("Skip the running task {task}?"),
            detail,
            yes: ScreenRequest::Send(Command::SkipTask { task }),
        }
    }

    /// Asks before starting a twin, which makes the calls of all tasks again.
    pub fn twin(live: &State, kind: TwinKind) -> Option<Self> {
        let tasks = counted(live.tasks.len(), "task");
        Self::calling(live, "Run a twin of this session?", &tasks, ScreenRequest::StartTwin(kind))
    }

    /// Asks before starting a sweep, which makes the calls of its tasks once for each value and seed.
    pub fn sweep(live: &State, scope: Scope) -> Option<Self> {
        let (tasks, values) = (counted(scope.tasks.len(), "task"), scope.values.len());
        let question = format!("Try {values} values of {}?", scope.knob);
        let times = format!("{tasks}, {} times: {values} values, {SEEDS} seeds", values * SEEDS);
        let yes = ScreenRequest::StartSweep(Box::new(scope));
        Self::calling(live, &question, &times, yes)
    }

    /// Asks before copies of a session make calls, where these cost money or change something.
    fn calling(live: &State, question: &str, tasks: &str, yes: ScreenRequest) -> Option<Self> {
        let bound = live.models.roles.keys().filter_map(|role| live.models.of(*role));
        let real = bound.filter(|model| !model.spec.simulated).count();
        let writing = live
            .tools
            .values()
            .filter(|tool| matches!(tool.spec.effect, EffectClass::Write | EffectClass::Unknown))
            .count();
        let what = match (real, writing) {
            (0, 0) => return None,
            (0, _) => "tools that change something",
            (_, 0) => "the models",
            _ => "the models and tools that change something",
        };
        Some(Self {
            question: question.to_owned(),
            detail: format!("It calls {what} again, for {tasks}."),
            yes,
        })
    }

    /// Asks before writing a project into this folder and opening it.
    pub fn project(folder: &Path) -> Self {
        let detail =
            "config.toml, tasks.toml and tools/: files that exist stay unchanged.".to_owned();
        let folder = text::cut_middle(&text::clean(&folder.to_string_lossy()), 60);
        let question = format!("Write a project into {folder}?");
        Self { question, detail, yes: ScreenRequest::Leave(NextSession::Project) }
    }

    /// Asks before a fork from this moment, where nothing changes.
    pub fn fork(state: &State) -> Self {
        let at = state.n;
        let question = format!("Go on from event {at} in a new session?");
        let agent = if state.watched.is_some() { "Its agent starts again. " } else { "" };
        let detail = format!(
            "It takes the place of this one. {agent}Select a call first to change it there."
        );
        Self { question, detail, yes: ScreenRequest::Fork(ForkPlace { at, edit: None }) }
    }

    /// Asks before deleting journals of this total size.
    pub fn delete(journals: Vec<PathBuf>, bytes: u64) -> Self {
        let question = format!("Delete {}?", counted(journals.len(), "session"));
        let freed = text::bytes(bytes);
        let detail = match journals.as_slice() {
            [one] => {
                let name = one.file_name().unwrap_or_default().to_string_lossy();
                format!("{}, {freed}. It cannot be undone.", text::clean(&name))
            }
            _ => format!("Their journals and indexes, {freed}. It cannot be undone."),
        };
        Self { question, detail, yes: ScreenRequest::DeleteSessions(journals) }
    }

    fn agreed(&self) -> Reply {
        Reply::Done(vec![self.yes.clone()])
    }
}

impl Popup for Confirm {
    fn keys(&self) -> PopupKeys {
        (KeyLayer::Confirm, &[(&[Action::Accept], "yes"), (&[Action::Leave], "no")])
    }

    fn key(&mut self, pressed: Pressed, world: &World<'_>, _: &mut View) -> Reply {
        // Pressing the key for quitting again means yes.
        let quit = Meaning::Action(KeyLayer::Global, Action::Quit);
        let again = world.keymap.meaning(&[KeyLayer::Global], &[pressed.key]) == quit;
        match pressed.action {
            _ if again && self.yes == ScreenRequest::Quit => self.agreed(),
            Some(Action::Accept) => self.agreed(),
            Some(Action::Leave) => Reply::Close,
            _ => Reply::Stay,
        }
    }

    fn click(&mut self, row: usize, _: &World<'_>, _: &mut View) -> Reply {
        if row == 0 { self.agreed() } else { Reply::Close }
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let detail = cx.keymap.fill(&self.detail);
        let most = usize::from(area.height).saturating_sub(AROUND).max(1);
        let lines = text::wrap_within(&detail, usize::from(area.width).clamp(30, WIDEST), most);
        let widest = lines.iter().map(|line| text::width(line)).max().unwrap_or(0);
        let width = widest.max(text::width(&self.question)).max(30);
        let title = &self.question;
        let size = (width, lines.len() + 3);
        let inside = frame::open(cx, (area, buf, hits), title, &self.legend(cx), size);
        if inside.height < 4 {
            return;
        }
        let (above, below) = row::split(inside, inside.height - 1);
        row::lines(row::split(above, 1).1, lines, cx.theme.text, buf);
        let mut x = inside.x;
        for (row, label) in ["[ Yes ]", "[ No ]"].into_iter().enumerate() {
            let button = Rect { x, y: below.y, width: label.len() as u16, height: 1 };
            let button = button.intersection(inside);
            buf.set_stringn(button.x, button.y, label, usize::from(button.width), cx.theme.key);
            hits.add(button, Target::PopupRow(row));
            x += label.len() as u16 + 2;
        }
    }
}
