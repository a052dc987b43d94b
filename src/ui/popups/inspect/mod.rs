//! The page of a thing, to read and scroll: a tool, a prompt, a call, a task, a line, the messages. Lines are made when
//! their subject changes, not for every frame: a prompt may be long.

mod call;
mod compared;
mod copied;
mod evidence;
mod fields;
mod page;
mod plan;
mod probed;
mod program;
mod prompt;
mod search;
mod server;
mod signature;
mod task;
mod told;
mod tool;

use std::sync::Arc;

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use self::search::PageSearch;
use super::{Popup, PopupKeys, Pressed, Reply, frame, lines::ScrolledText};
use crate::action::{Action, KeyLayer};
use crate::domain::{EffectId, EvidenceId, State, TaskId, ToolName, state::EvidenceSource};
use crate::request::{ScreenRequest, World};
use crate::theme::Theme;
use crate::update::past;
use crate::view::{Message, Tone};
use crate::window::{self, Window};
use crate::{cx::Cx, hits::Hits, keymap::Hint, text, view::View};

pub use copied::{CopyForm, copy};
pub use page::Page;

/// The subject of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    Tool(ToolName),
    /// A model call: the exact prompt, and the reply.
    Prompt(EffectId),
    Call(EffectId),
    /// A piece of evidence of a task's plan, found or not.
    Evidence(TaskId, EvidenceId),
    Task(TaskId),
    /// The latest plan of a task.
    Plan(TaskId),
    /// A program of a task by its number.
    Program(TaskId, u32),
    /// The calls of two programs of a task, by the programs' numbers.
    Compared(TaskId, u32, u32),
    /// The results of probing a tool.
    Probed(ToolName),
    /// A variable of a program by its name, or an expression evaluated there.
    Variable(TaskId, u32, String),
    /// A line of the transcript by its event's number.
    Line(u64),
    /// A server of tools.
    Server(Arc<str>),
    /// The messages of the screen.
    Messages,
    /// The fields that expressions can use.
    Fields,
    /// The output of one of the user's commands: the command's name, and its output.
    Said(Arc<(String, String)>),
}

impl Subject {
    /// The event at which the subject happened: the end of a task, the request of a call. `None` if it has not
    /// happened, or has no moment.
    pub fn moment(&self, state: &State) -> Option<u64> {
        let of_task = |id| {
            let task = state.task(id)?;
            let begun = || state.transcript.get(task.first_line).map(|line| line.n);
            let has_begun = task.started.is_some();
            Some(task.ended_by).filter(|n| *n > 0).or_else(|| has_begun.then(begun).flatten())
        };
        match self {
            Subject::Task(task) | Subject::Plan(task) => of_task(*task),
            Subject::Prompt(call) | Subject::Call(call) => Some(state.effect(*call)?.n),
            Subject::Evidence(task, id) => match state.task(*task)?.work.evidence.get(id)?.source {
                EvidenceSource::Call(call) | EvidenceSource::Model(call) => {
                    Some(state.effect(call)?.n)
                }
                EvidenceSource::None => None,
            },
            Subject::Line(n) => Some(*n),
            Subject::Program(task, number) => {
                let call = *state.program(*task, *number)?.calls.last()?;
                Some(state.effect(call)?.n)
            }
            Subject::Tool(_)
            | Subject::Compared(..)
            | Subject::Probed(_)
            | Subject::Variable(..)
            | Subject::Server(_)
            | Subject::Messages
            | Subject::Fields
            | Subject::Said(_) => None,
        }
    }

    /// The title of the page.
    pub fn title(&self) -> String {
        match self {
            Subject::Tool(tool) => format!("Tool {tool}"),
            Subject::Prompt(call) => {
                format!("Prompt of model call {call}: exactly what the model saw")
            }
            Subject::Call(call) => format!("Call {call}"),
            Subject::Evidence(_, evidence) => format!("Evidence {evidence}"),
            Subject::Task(task) => format!("Task {task}"),
            Subject::Plan(task) => format!("Plan of task {task}"),
            Subject::Program(task, number) => format!("Program {number} of task {task}"),
            Subject::Compared(task, first, second) => {
                format!("Calls of programs {first} and {second} of task {task}")
            }
            Subject::Probed(tool) => format!("Probing of {tool}"),
            Subject::Variable(_, _, name) => format!("Value of {}", text::clean(name)),
            Subject::Line(n) => format!("Event {n}"),
            Subject::Server(key) => format!("MCP server {}", text::clean(key)),
            Subject::Messages => "Messages".to_owned(),
            Subject::Fields => "Fields of expressions".to_owned(),
            Subject::Said(said) => format!("Output of {}", said.0),
        }
    }

    /// Writes the page of this subject.
    fn write(&self, state: &State, messages: &[Message], page: &mut Page<'_>) {
        match self {
            Subject::Tool(name) => tool::write(state, name, page),
            Subject::Prompt(call) => prompt::write(state, *call, page),
            Subject::Call(call) => call::write(state, *call, page),
            Subject::Evidence(task, id) => evidence::write(state, *task, *id, page),
            Subject::Task(task) => task::write(state, *task, page),
            Subject::Plan(task) => plan::write(state, *task, page),
            Subject::Program(task, number) => program::write(state, *task, *number, page),
            Subject::Compared(task, first, second) => {
                compared::write(state, *task, (*first, *second), page);
            }
            Subject::Probed(tool) => probed::write(state, tool, page),
            Subject::Variable(task, number, name) => {
                program::variable(state, *task, *number, name, page);
            }
            Subject::Line(n) => told::line(state, *n, page),
            Subject::Server(key) => server::write(state, key, page),
            Subject::Messages => told::messages(messages, page),
            Subject::Fields => fields::write(page),
            Subject::Said(said) => page.text(&said.1, page.theme.text),
        }
    }

    /// All subjects of this kind, to turn through; empty: there is no turning.
    fn all(&self, state: &State) -> Vec<Self> {
        let last = u32::try_from(state.tasks.len()).unwrap_or(u32::MAX);
        let tasks = (1..=last).map(TaskId);
        match self {
            Subject::Prompt(_) => {
                state.model_calls.iter().map(|it| Subject::Prompt(it.id)).collect()
            }
            Subject::Call(_) => state.tool_calls.iter().map(|it| Subject::Call(it.id)).collect(),
            Subject::Task(_) => tasks.map(Subject::Task).collect(),
            Subject::Plan(_) => tasks.map(Subject::Plan).collect(),
            Subject::Program(task, _) => {
                let programs = state.task(*task).into_iter().flat_map(|task| &task.programs);
                programs.map(|program| Subject::Program(*task, program.number)).collect()
            }
            Subject::Compared(task, ..) => {
                let programs = state.task(*task).into_iter().flat_map(|task| &task.programs);
                let numbers: Vec<u32> = programs.map(|program| program.number).collect();
                let pairs = numbers.iter().enumerate().flat_map(|(i, second)| {
                    numbers[..i].iter().map(|first| Subject::Compared(*task, *first, *second))
                });
                pairs.collect()
            }
            Subject::Server(_) => state.servers.keys().cloned().map(Subject::Server).collect(),
            Subject::Probed(_) => state.tools.keys().cloned().map(Subject::Probed).collect(),
            _ => Vec::new(),
        }
    }
}

/// The page of a thing.
#[derive(Debug)]
pub struct Inspect {
    subject: Subject,
    lines: ScrolledText,
    search: PageSearch,
    /// Width, theme and version of the data that the lines were made from; a change makes them again.
    made_from: Option<(usize, String, u64)>,
}

impl Inspect {
    pub fn new(subject: Subject) -> Self {
        Self {
            subject,
            lines: ScrolledText::default(),
            search: PageSearch::default(),
            made_from: None,
        }
    }

    /// The text of a subject's page, in lines of at most `width` columns.
    pub fn text(subject: &Subject, state: &State, messages: &[Message], width: usize) -> String {
        let mut page = Page::new(Theme::of_words(), width);
        subject.write(state, messages, &mut page);
        let lines =
            page.into_lines().into_iter().map(|line| line.to_string().trim_end().to_owned());
        let title = subject.title();
        [title, String::new()].into_iter().chain(lines).collect::<Vec<_>>().join("\n")
    }

    /// Goes to the previous or next thing of the same kind.
    fn turn(&mut self, by: isize, state: &State, view: &mut View) {
        let all = self.subject.all(state);
        let at = all.iter().position(|other| *other == self.subject);
        let beside = at.and_then(|at| all.get(at.checked_add_signed(by)?));
        if let Some(subject) = beside {
            // The search goes on in the other page.
            let search = std::mem::take(&mut self.search);
            if let Subject::Task(task) | Subject::Plan(task) = subject {
                // The task's details are then read back if they are gone.
                view.task = Some(*task);
            }
            *self = Self { search, ..Self::new(subject.clone()) };
        }
    }

    fn told(&self, cx: &Cx<'_>) -> u64 {
        let state = cx.state;
        let unless_over = |over: bool| if over { 0 } else { state.n };
        match &self.subject {
            Subject::Prompt(call) => {
                unless_over(state.model_call(*call).is_some_and(|call| call.phase.is_over()))
            }
            // A result is judged after the end of its call.
            Subject::Call(call) => unless_over(state.tool_call(*call).is_some_and(|call| {
                let is_judged = call.helpful.is_some() || !state.at_work.contains(call.task);
                call.phase.is_over() && is_judged
            })),
            Subject::Line(_) | Subject::Fields | Subject::Said(_) => 0,
            Subject::Plan(task) => state.task(*task).map_or(0, |task| u64::from(task.budget.plans)),
            Subject::Tool(_)
            | Subject::Task(_)
            | Subject::Evidence(..)
            | Subject::Program(..)
            | Subject::Compared(..)
            | Subject::Probed(_)
            | Subject::Server(_)
            | Subject::Variable(..) => state.n,
            Subject::Messages => cx.view.messages.len() as u64,
        }
    }
}

impl Popup for Inspect {
    fn keys(&self) -> PopupKeys {
        const LEAVE: Hint = (&[Action::Leave], "leave");
        const FIND: Hint = (&[Action::Find], "find");
        const COPY: Hint = (&[Action::Copy], "copy");
        const EDIT: Hint = (&[Action::Editor], "editor");
        const MOMENT: Hint = (&[Action::GoToMoment], "its moment");
        const TURN: Hint = (&[Action::Left, Action::Right], "turn");
        const SCROLL: Hint = (&[Action::PageDown, Action::PageUp], "scroll");
        const NEXT: Hint = (&[Action::NextMatch, Action::PreviousMatch], "next, previous match");
        if self.search.is_typed() {
            const MOVE: Hint = (&[Action::Down, Action::Up], "next, previous");
            return (KeyLayer::Search, &[(&[Action::Accept], "keep"), MOVE, LEAVE]);
        }
        let hints: &[Hint] = match self.subject {
            _ if self.search.is_on() => &[NEXT, FIND, (&[Action::Leave], "end the search")],
            Subject::Prompt(_)
            | Subject::Call(_)
            | Subject::Task(_)
            | Subject::Plan(_)
            | Subject::Program(..) => &[TURN, SCROLL, FIND, LEAVE, COPY, EDIT, MOMENT],
            Subject::Compared(..) | Subject::Probed(_) => &[TURN, SCROLL, FIND, LEAVE, COPY, EDIT],
            Subject::Evidence(..) | Subject::Line(_) => &[SCROLL, FIND, LEAVE, COPY, EDIT, MOMENT],
            Subject::Tool(_)
            | Subject::Variable(..)
            | Subject::Server(_)
            | Subject::Messages
            | Subject::Fields
            | Subject::Said(_) => &[SCROLL, FIND, LEAVE, COPY, EDIT],
        };
        (KeyLayer::Pager, hints)
    }

    fn key(&mut self, pressed: Pressed, world: &World<'_>, view: &mut View) -> Reply {
        if self.search.is_typed() {
            self.search.key(pressed, &mut self.lines);
            return Reply::Stay;
        }
        match pressed.action {
            Some(Action::Leave) if self.search.is_on() => self.search.close(),
            Some(Action::Leave) => return Reply::Close,
            Some(Action::Left) => self.turn(-1, world.shown, view),
            Some(Action::Right) => self.turn(1, world.shown, view),
            Some(Action::Find) => self.search.open(&self.lines),
            Some(Action::Copy) => {
                let requests = copied::copy(&self.subject, CopyForm::Shown, world, view);
                return Reply::KeepAnd(requests);
            }
            Some(Action::Editor) => {
                let selection = self.subject.selection(world, view);
                return Reply::KeepAnd(vec![ScreenRequest::View(Box::new(selection))]);
            }
            Some(Action::GoToMoment) => {
                let moment = self.subject.moment(world.shown);
                match moment.or_else(|| self.subject.moment(world.live)) {
                    Some(moment) => {
                        past::jump(world, view, Some(moment));
                        return Reply::Close;
                    }
                    None => view.tell(world.live.at, Tone::Bad, "no moment to go to"),
                }
            }
            Some(Action::NextMatch | Action::PreviousMatch) if !self.search.is_on() => {
                let key = world.keymap.legend(KeyLayer::Pager, &[(&[Action::Find], "find")]);
                let text = format!("no search here yet · {key}");
                view.tell(world.live.at, Tone::Bad, text);
            }
            Some(Action::NextMatch) => self.search.go(window::Find::Next, &mut self.lines),
            Some(Action::PreviousMatch) => self.search.go(window::Find::Previous, &mut self.lines),
            Some(action) => self.lines.go(action),
            None => {}
        }
        Reply::Stay
    }

    fn paste(&mut self, text: &str) {
        self.search.paste(text, &mut self.lines);
    }

    fn footer(&self, cx: &Cx<'_>) -> Option<(String, Style)> {
        if !self.search.is_typed() && !self.search.is_on() {
            return None;
        }
        let (said, found) = self.search.said();
        let style = if found { cx.theme.input } else { cx.theme.warn };
        Some((format!("{said}   {}", self.legend(cx)), style))
    }

    fn window(&mut self) -> Option<&mut Window> {
        Some(&mut self.lines.window)
    }

    fn prepare(&mut self, cx: &Cx<'_>, area: Rect) {
        let (width, height) = size(area);
        let version = (width, cx.theme.name.clone(), self.told(cx));
        if self.made_from.as_ref() != Some(&version) {
            let mut page = Page::new(cx.theme, width);
            self.subject.write(cx.state, &cx.view.messages, &mut page);
            // The text on the screen stays where it is.
            self.lines.lines = page.into_lines();
            self.made_from = Some(version);
            if self.subject == Subject::Messages {
                self.lines.unwind();
            }
            self.search.refresh(&self.lines);
        }
        self.lines.fit(height);
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let title = self.subject.title();
        let inside = frame::open(cx, (area, buf, hits), &title, &self.legend(cx), size(area));
        self.lines.draw(cx, inside, buf);
        self.search.mark(cx, inside, self.lines.window, buf);
    }
}

/// Uses nearly all of the screen: pages are read, and what is below can wait.
fn size(area: Rect) -> (usize, usize) {
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    (width.saturating_sub(10).clamp(20, 140), height.saturating_sub(5).max(3))
}
