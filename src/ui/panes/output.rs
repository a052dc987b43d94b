//! The lines of a watched agent's process: its output, with its errors marked. The end stays in view until the user
//! scrolls up.

use std::rc::Rc;

use ratatui::text::{Line, Span};
use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::row::{Row, note};
use super::spec::{Opened, PLAIN, PaneSpec};
use crate::agent_output::{AgentLines, OutputLine, Stream};
use crate::domain::{State, state::Watched, words::counted};
use crate::hits::{Hits, Target};
use crate::symbols::WAITING;
use crate::vlist::{self, List};
use crate::window::{Move, Window};
use crate::{cx::Cx, pane::PaneId, popups::Subject, text, theme::Theme, view::View};

/// The mark before a line of standard error.
const ERROR: &str = "!";
/// The most cells of the agent's command in the title.
const COMMAND: usize = 20;

pub const SPEC: PaneSpec = PaneSpec {
    id: PaneId::Output,
    when: |_, view| view.agent.is_some(),
    title,
    draw,
    list,
    go,
    open: |_, view| Opened::subject(view.agent.as_ref().and_then(subject)),
    leave: |view| {
        if let Some(agent) = &mut view.agent {
            agent.selected = None;
        }
    },
    ..PLAIN
};

fn title(cx: &Cx<'_>) -> Line<'static> {
    let Some(agent) = &cx.view.agent else { return Line::default() };
    let count = agent.lines().len();
    let below = agent.place().map_or(0, |at| count - 1 - at);
    let end = match below {
        0 => format!(" · {}", counted(text::number(count as u64), "line")),
        below => format!(" · {} below", text::number(below as u64)),
    };
    let mut title = Line::default();
    if let Some(watched) = cx.state.watched.as_deref() {
        let (text, style) = self::agent(watched, COMMAND, cx.theme);
        if !text.is_empty() {
            title.extend([Span::raw(" · "), Span::styled(text, style)]);
        }
    }
    title.push_span(end);
    title
}

/// The command of the agent in at most `most` cells, and its end: `python my_agent.py · exit 0`.
pub fn agent(watched: &Watched, most: usize, theme: &Theme) -> (String, Style) {
    let command = watched.command.as_deref();
    let command = command.map(|command| text::cut(command, most).into_owned());
    let (end, style) = match watched.ended {
        None => (None, theme.text),
        Some(Some(0)) => (Some("exit 0".to_owned()), theme.text),
        Some(Some(code)) => (Some(format!("exit {code}")), theme.bad),
        Some(None) => (Some("ended by a signal".to_owned()), theme.bad),
    };
    let parts: Vec<String> = command.into_iter().chain(end).collect();
    (parts.join(" · "), style)
}

/// A page with the lines from the selected one on.
fn subject(agent: &AgentLines) -> Option<Subject> {
    let lines = agent.lines().iter().skip(agent.place().unwrap_or(0));
    let all: Vec<&str> = lines.map(|line| line.text.as_str()).collect();
    (!all.is_empty()).then(|| Subject::Said(("the agent".to_owned(), all.join("\n")).into()))
}

fn list<'a>(_: &'a State, view: &View) -> List<'a> {
    let Some(agent) = &view.agent else { return List::none() };
    let (lines, place) = (Rc::clone(agent.lines()), agent.place());
    let count = lines.len();
    List::new(
        (count, place),
        move |row| lines.get(row).cloned(),
        |line, view| {
            if let Some(agent) = &mut view.agent {
                agent.selected = Some(line.n);
            }
        },
        |line| line.text,
    )
    .steady(count)
}

/// Moving below the last line follows the end.
fn go(_: &State, view: &mut View, to: Move) -> bool {
    let Some(agent) = &mut view.agent else { return false };
    let at_end = agent.place().is_none_or(|at| at + 1 == agent.lines().len());
    let to_end = to == Move::Bottom || (at_end && matches!(to, Move::Down | Move::PageDown));
    if to_end {
        agent.selected = None;
    }
    to_end
}

fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let Some(agent) = cx.view.agent.as_ref().filter(|agent| !agent.lines().is_empty()) else {
        return note(area, "no output of the agent yet", cx.theme.dim, buf);
    };
    let (lines, selected) = (agent.lines(), agent.place());
    let before = cx.view.windows[SPEC.id as usize];
    // When the wheel is back at the end, the pane follows again.
    let free = before.free && before.first + before.rows < before.total;
    let shown = selected.unwrap_or(lines.len() - 1);
    let window = Window { free, ..before }.next(lines.len(), usize::from(area.height), Some(shown));
    hits.window(SPEC.id, window);
    let (inside, bar) = vlist::beside_bar(cx, area);
    let rows = window.range().map(|at| (at, selected == Some(at)));
    vlist::draw_rows(cx, (inside, buf, hits), rows, |at, row| {
        let line = lines.get(at)?;
        draw_line(cx, line, row);
        Some(Target::Output(line.n))
    });
    vlist::scrollbar(cx, bar, window, buf);
}

fn draw_line(cx: &Cx<'_>, line: &OutputLine, row: &mut Row<'_>) {
    let (mark, text) = match line.stream {
        Stream::Out => ("", cx.theme.text),
        Stream::Err => (ERROR, cx.theme.text),
        Stream::Toolyard => (WAITING, cx.theme.dim),
    };
    row.cell(mark, 1, cx.theme.warn).gap(1).put(&line.text, text);
}
