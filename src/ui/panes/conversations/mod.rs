//! The conversations of watched agents as a tree: sub-agents are below the conversation whose call began them. Each
//! row has status, usage, and the last words. Without watched agents the pane lists the runs.

mod conversation_row;

use ratatui::{buffer::Buffer, layout::Rect, text::Line};

pub(crate) use self::conversation_row::Stands;
use self::conversation_row::{Talk, all};
use super::format;
use super::row::{Row, note, split};
use super::spec::{Opened, PLAIN, PaneSpec};
use crate::action::Action;
use crate::domain::{RunId, State};
use crate::hits::{Hits, Target};
use crate::table::{Cell, TableColumn, TextTable, right};
use crate::theme::Theme;
use crate::vlist::{self, List, VisibleRows};
use crate::window::Window;
use crate::{cx::Cx, pane::PaneId, popups::Subject, text, view::View};

/// Cells of the state's sign, and of its word where there is room.
const SIGN: usize = 2;
const WORD: usize = 13;
/// From this width on states are shown as words.
const WITH_WORD: usize = 64;
/// The least cells of a task's text and of the last words.
const TEXT: usize = 22;
const WORDS: usize = 28;
/// Cells between both, and cells that the text gets before there is room for the last words.
const GAP: usize = 2;
const EASE: usize = 8;
/// The heights from which on the pane shows the column heads, and the last words of the selected conversation.
const WITH_HEAD: u16 = 3;
const WITH_DETAIL: u16 = 5;

pub const SPEC: PaneSpec = PaneSpec {
    id: PaneId::Conversations,
    when: |state, _| state.watched.is_some() || state.runs.len() > 1,
    most: |state, _| Some(2 * state.runs.len().max(1) + 1),
    title,
    draw,
    list,
    filters: |_| Some("conversation"),
    open: |state, view| {
        let task = view.task.or_else(|| state.shown_task().map(|task| task.id));
        Opened::subject(task.map(Subject::Task))
    },
    leave: |view| view.task = None,
    keys: &[Action::Prompt, Action::HoldLane, Action::GoToMoment],
    ..PLAIN
};

fn title(cx: &Cx<'_>) -> Line<'static> {
    let at_work = cx.state.at_work.len();
    let rewritten: u32 = cx.state.runs.values().map(|run| run.rewritten).sum();
    let mut title = String::new();
    if at_work > 0 {
        title.push_str(&format!(" · {at_work} at work"));
    }
    if rewritten > 0 {
        title.push_str(&format!(" · history rewritten {rewritten}×"));
    }
    Line::from(title)
}

/// The run of the task looked at.
fn looked_at(state: &State, view: &View) -> Option<RunId> {
    view.task_of(state).map(|task| task.task.run)
}

fn list<'a>(state: &'a State, view: &View) -> List<'a> {
    let talks = all(state);
    let run = looked_at(state, view);
    let place = (talks.len(), talks.iter().position(|talk| Some(talk.run) == run));
    List::new(
        place,
        move |row| talks.get(row).cloned(),
        |talk, view| view.task = talk.task.map(|task| task.id).or(view.task),
        |talk| {
            let stands = talk.stands(state).look(Theme::of_words()).1;
            let asked = talk.task.map_or("", |task| task.task.text.as_str());
            format!("{stands}\n{asked}\n{}", talk.words(state))
        },
    )
}

/// A conversation that is drawn.
struct ConversationRow<'a> {
    theme: &'a Theme,
    talk: &'a Talk<'a>,
}

/// Columns of a conversation's calls and cost, the most important first; the last are left out first.
fn columns<'a>() -> [TableColumn<ConversationRow<'a>>; 4] {
    [
        right("models", 6, |it| count(it, it.talk.model_calls)),
        right("tools", 5, |it| count(it, it.talk.tool_calls)),
        right("dollars", 9, |ConversationRow { theme, talk }| {
            let style = if talk.unpriced > 0 { theme.warn } else { theme.text };
            (format::dollars(talk.dollars, talk.unpriced, talk.listed), style)
        }),
        right("tokens", 6, |it| (text::count(it.talk.tokens), it.theme.text)),
    ]
}

fn count(it: &ConversationRow<'_>, n: usize) -> Cell {
    (n.to_string(), if n > 0 { it.theme.text } else { it.theme.dim })
}

/// The widths of the columns.
struct Widths<'a> {
    number: usize,
    word: usize,
    text: usize,
    table: TextTable<ConversationRow<'a>>,
    /// Width of the last words; 0 if there is no room.
    words: usize,
}

impl Widths<'_> {
    fn of(talks: &[Talk<'_>], width: usize) -> Self {
        let last = talks.iter().map(|talk| talk.run.0).max().unwrap_or(0);
        let number = last.to_string().len() + 1;
        let word = if width >= WITH_WORD { WORD } else { 0 };
        let room = width.saturating_sub(number + 1 + SIGN + word);
        let table = TextTable::fitting(columns(), room.saturating_sub(TEXT));
        let room = room.saturating_sub(table.width);
        let text = match room.checked_sub(TEXT + GAP + WORDS + EASE) {
            Some(more) => TEXT + EASE + more / 2,
            None => room,
        };
        Self { number, word, text, table, words: room.saturating_sub(text + GAP) }
    }
}

fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let talks = all(cx.state);
    if talks.iter().all(|talk| talk.task.is_none()) {
        return note(area, "waiting for the first model call", cx.theme.dim, buf);
    }
    let run = looked_at(cx.state, cx.view);
    let selected = talks.iter().position(|talk| Some(talk.run) == run);
    let part = (talks.len(), selected);
    let (head, rest) = split(area, u16::from(area.height >= WITH_HEAD));
    let widths = Widths::of(&talks, usize::from(area.width));
    let has_detail = widths.words == 0 && area.height >= WITH_DETAIL;
    let (list, detail) = split(rest, rest.height - u16::from(has_detail));
    if !head.is_empty() {
        draw_head(cx, &widths, head, buf);
    }
    let is_roomy = usize::from(rest.height) >= 2 * talks.len();
    if widths.words == 0 && is_roomy && cx.view.kept(SPEC.id).is_none() {
        return draw_with_words(cx, &talks, (selected, &widths), (rest, buf, hits));
    }
    vlist::draw(cx, SPEC.id, (list, buf, hits), part, |at, row| {
        let talk = talks.get(at)?;
        draw_talk(cx, talk, &widths, row);
        talk.task.map(|task| Target::Task(task.id))
    });
    if let Some(talk) = selected.and_then(|at| talks.get(at)) {
        // The detail comes directly below the rows.
        let rows = VisibleRows::of(cx.view, SPEC.id, part).count();
        let free = list.height.saturating_sub(u16::try_from(rows).unwrap_or(u16::MAX));
        let line = Rect { y: detail.y - free.min(detail.y), ..detail };
        let words = talk.words(cx.state);
        Row::new(line, buf).gap(1 + widths.number + SIGN).put(&words, cx.theme.dim);
    }
}

/// Draws all conversations, each with its last words below it.
fn draw_with_words<'a>(
    cx: &Cx<'a>,
    talks: &'a [Talk<'a>],
    (selected, widths): (Option<usize>, &Widths<'a>),
    (area, buf, hits): (Rect, &mut Buffer, &mut Hits),
) {
    hits.window(SPEC.id, Window { rows: talks.len(), total: talks.len(), ..Window::default() });
    for (at, talk) in talks.iter().enumerate() {
        let (_, below) = split(area, 2 * at as u16);
        let (line, below) = split(below, 1);
        draw_talk(cx, talk, widths, &mut Row::new(line, buf));
        let indent = widths.number + 1 + SIGN + 2 * talk.depth.min(4);
        let (words, _) = split(below, 1);
        Row::new(words, buf).gap(indent + 2).put(&talk.words(cx.state), cx.theme.text);
        if let Some(task) = talk.task {
            hits.add(Rect { height: 2, ..line }, Target::Task(task.id));
        }
        if selected == Some(at) {
            vlist::select(cx, line, buf);
        }
    }
}

fn draw_head(cx: &Cx<'_>, widths: &Widths<'_>, line: Rect, buf: &mut Buffer) {
    let (mut row, dim) = (Row::new(line, buf), cx.theme.dim);
    row.gap(widths.number + 1 + SIGN).cell("", widths.word, dim).cell("task", widths.text, dim);
    widths.table.head(&mut row, dim);
    if widths.words > 0 {
        row.gap(GAP).put("last", dim);
    }
}

fn draw_talk<'a>(cx: &Cx<'a>, talk: &'a Talk<'a>, widths: &Widths<'a>, row: &mut Row<'_>) {
    let theme = cx.theme;
    let stands = talk.stands(cx.state);
    let (sign, word, style) = stands.look(theme);
    let is_active = cx.state.shown_task().is_some_and(|task| task.task.run == talk.run);
    let number = if is_active { theme.accent } else { theme.dim };
    row.right(&talk.run.to_string(), widths.number, number).gap(1);
    row.cell(sign, SIGN, style).cell(word, widths.word, style);
    let branch = match talk.depth {
        0 => String::new(),
        depth => format!("{}└ ", "  ".repeat((depth - 1).min(4))),
    };
    let asked = talk.task.map_or("", |task| task.task.text.as_str());
    let text = match stands {
        Stands::Held | Stands::Running | Stands::Agent => theme.accent,
        Stands::Over(_) | Stands::Queued => theme.text,
    };
    let branch_width = text::width(&branch).min(widths.text);
    row.cell(&branch, branch_width, theme.dim);
    row.cell(asked.lines().next().unwrap_or_default(), widths.text - branch_width, text);
    widths.table.cells(&ConversationRow { theme, talk }, row);
    if widths.words > 0 {
        row.gap(GAP).put(&talk.words(cx.state), theme.text);
    }
}
