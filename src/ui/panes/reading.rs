//! The output of the reader model: the text of an answer with the judge's probabilities, and the last ranking of
//! tools, by states and by words.

use std::collections::HashMap;

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;
use ratatui::{buffer::Buffer, layout::Rect};

use super::row::{Row, note};
use super::spec::{Opened, PLAIN, PaneSpec};
use crate::action::Action;
use crate::domain::{
    JudgedPiece, Knob, ModelCallState, RankedTool, Ranking, State, ToolName, words::counted,
};
use crate::hits::{Hits, Target};
use crate::papers::cotools::FEWEST;
use crate::symbols::LEADS;
use crate::text::{clean, width as width_of};
use crate::vlist::{self, List};
use crate::{cx::Cx, pane::PaneId, view::View};

/// Columns of a number, and of a rank.
const NUMBER: usize = 7;
const PLACE: usize = 6;
/// The most rows of the judged text.
const STRIP: usize = 6;
/// Rows around the text and the tools: reader, read text and heading; and all rows if nothing was read.
const AROUND: usize = 4;
const UNREAD: usize = 3;

pub const SPEC: PaneSpec = PaneSpec {
    id: PaneId::Reading,
    when: |state, _| state.reader.is_some() || judged(state).is_some(),
    most: |state, _| {
        let ranked = state.rankings().next().map(|(_, ranking)| sorted(state, ranking).len());
        Some(ranked.map_or(UNREAD, |tools| tools + STRIP + AROUND))
    },
    title: |cx| Line::from(calls(cx.state).map(|text| format!(" {text}")).unwrap_or_default()),
    draw,
    list: tools,
    filters: |_| Some("tool"),
    open: |_, _| Opened::Act(Action::InspectTool),
    keys: &[Action::Open],
    ..PLAIN
};

/// The words for the reader: its model, states, heads, means and judge.
pub(super) fn about(state: &State) -> String {
    let Some(reader) = &state.reader else {
        return "no reader in use: words alone find tools; set heads in [reader], or change `retrieve`".to_owned();
    };
    if let Some(error) = &reader.failed {
        return format!("no reader: {}", clean(error));
    }
    let about = &reader.about;
    let heads = match about.heads.as_slice() {
        [] => "no trained heads".to_owned(),
        heads => format!("heads from {}", heads.join(" and ")),
    };
    let judge = match &about.judge {
        Some(judge) => format!("judge from {judge}"),
        None => "no judge: `=` starts a call".to_owned(),
    };
    let seen = state.rankings().next().map_or(0, |(_, ranking)| ranking.queries);
    let means = match seen {
        seen if seen < FEWEST => {
            format!("ranking by words only until {FEWEST} queries are known (now {seen})")
        }
        seen => format!("means: catalogue / {seen} past queries"),
    };
    let encoded = match (reader.encoded, reader.tools) {
        (encoded, tools) if encoded < tools => format!(" · {encoded} of {tools} tools encoded"),
        _ => String::new(),
    };
    clean(&format!("{} · {} · {heads} · {means}{encoded} · {judge}", about.model, about.states))
        .into_owned()
}

/// The tools of the last ranking, best first.
pub(super) fn tools<'a>(state: &'a State, view: &View) -> List<'a> {
    let ranking = state.rankings().next();
    let ranked = ranking.map(|(_, ranking)| sorted(state, ranking)).unwrap_or_default();
    let place = view.tool.as_ref();
    let place = place.and_then(|tool| ranked.iter().position(|ranked| ranked.tool == *tool));
    let names: Vec<_> = ranked.iter().map(|ranked| ranked.tool.clone()).collect();
    let found = names.clone();
    List::new(
        (names.len(), place),
        Some,
        move |row, view| view.tool = found.get(row).cloned(),
        move |row| names.get(row).map(ToString::to_string).unwrap_or_default(),
    )
}

/// The tools of a ranking, in the order of a menu.
fn sorted<'a>(state: &State, ranking: &'a Ranking) -> Vec<&'a RankedTool> {
    let (retrieve, share) = state.knobs.retrieval();
    ranking.ranked(retrieve, share)
}

/// The places of tools in a ranking, from 1.
fn places(ranked: Vec<(&RankedTool, f32)>) -> HashMap<&ToolName, usize> {
    (1..).zip(ranked).map(|(place, (tool, _))| (&tool.tool, place)).collect()
}

/// The last model call of the task that was judged.
fn judged(state: &State) -> Option<&ModelCallState> {
    let calls = state.shown_task()?.model_calls.iter().rev();
    calls.filter_map(|id| state.model_call(*id)).find(|call| !call.judged.is_empty())
}

/// The number of calls at the threshold, and the numbers at one step less or more.
fn calls(state: &State) -> Option<String> {
    let call = judged(state)?;
    let theta = state.knobs.get(Knob::Theta);
    let step = Knob::Theta.spec().step;
    let at = |theta: f64| starts(&call.judged, theta).count();
    let (less, more) = (theta - step, theta + step);
    let highest = call.judged.iter().fold(0.0_f32, |highest, piece| highest.max(*piece.p));
    Some(format!(
        "{} found (θ {theta:.2}; {} at {less:.2}, {} at {more:.2}) · highest p {highest:.2}",
        counted(at(theta), "call"),
        at(less),
        at(more),
    ))
}

/// The pieces after which a call starts: the first of each run above the threshold.
fn starts(pieces: &[JudgedPiece], theta: f64) -> impl Iterator<Item = usize> {
    let fires = move |piece: &JudgedPiece| f64::from(piece.p) > theta;
    let before = std::iter::once(false).chain(pieces.iter().map(fires).collect::<Vec<_>>());
    let starts = pieces.iter().zip(before).filter(move |(piece, before)| fires(piece) && !before);
    starts.map(|(piece, _)| piece.end).collect::<Vec<_>>().into_iter()
}

fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let mut rest = area;
    let mut below = |rows: u16| {
        let rows = rows.min(rest.height);
        let part = Rect { height: rows, ..rest };
        rest = Rect { y: rest.y + rows, height: rest.height - rows, ..rest };
        part
    };
    let facts = wrapped(vec![Span::styled(about(cx.state), cx.theme.dim)], usize::from(area.width));
    for line in facts.iter().take(usize::from(area.height).div_ceil(3)) {
        line.render(below(1), buf);
    }
    if let Some(call) = judged(cx.state) {
        let lines = wrapped(strip(cx, call), usize::from(area.width));
        let hidden = lines.len().saturating_sub(STRIP);
        for line in &lines[hidden..] {
            line.render(below(1), buf);
        }
    }
    let Some((read, ranking)) = cx.state.rankings().next() else {
        return note(rest, "no text read in this task yet", cx.theme.dim, buf);
    };
    let ranked = sorted(cx.state, ranking);
    let read =
        format!("for: {}", clean(&read.text).split_whitespace().collect::<Vec<_>>().join(" "));
    note(below(1), &read, cx.theme.text, buf);
    heading(cx, below(1), buf);
    let (by_states, by_words) = (places(ranking.by_states()), places(ranking.by_words()));
    // In other panes the best tools matter more than the selected one.
    let selected = cx.view.tool.as_ref().filter(|_| cx.view.focus == SPEC.id);
    let selected = selected.and_then(|tool| ranked.iter().position(|it| it.tool == *tool));
    vlist::draw(cx, SPEC.id, (rest, buf, hits), (ranked.len(), selected), |i, row| {
        let tool = *ranked.get(i)?;
        let place = |places: &HashMap<&ToolName, usize>| places.get(&tool.tool).copied();
        tool_row(cx, i + 1, tool, [place(&by_states), place(&by_words)], row);
        Some(Target::Tool(tool.tool.clone()))
    });
}

/// The text with a tint for each piece, and a mark where a call starts.
fn strip(cx: &Cx<'_>, call: &ModelCallState) -> Vec<Span<'static>> {
    let text = call.reply().map_or(call.partial.as_str(), |reply| reply.text.as_str());
    let theta = cx.state.knobs.get(Knob::Theta);
    let starts: Vec<usize> = starts(&call.judged, theta).collect();
    let mut spans = Vec::new();
    let mut at = 0;
    for piece in &call.judged {
        let Some(said) = text.get(at..piece.end) else { break };
        spans.push(Span::styled(clean(said).into_owned(), tint(cx, *piece.p)));
        if starts.contains(&piece.end) {
            let p = format!("{LEADS}{:.2}", piece.p);
            spans.push(Span::styled(p, cx.theme.warn.add_modifier(Modifier::BOLD)));
        }
        at = piece.end;
    }
    spans.push(Span::styled(clean(text.get(at..).unwrap_or_default()).into_owned(), cx.theme.dim));
    spans
}

/// The spans in lines of this width. Pieces are short, and break only at white space.
fn wrapped(spans: Vec<Span<'static>>, width: usize) -> Vec<Line<'static>> {
    let mut lines = vec![Line::default()];
    let mut left = width;
    for span in spans {
        for part in span.content.split_inclusive(char::is_whitespace) {
            let columns = width_of(part);
            if columns > left && left < width {
                lines.push(Line::default());
                left = width;
            }
            left = left.saturating_sub(columns);
            if let Some(line) = lines.last_mut() {
                line.push_span(Span::styled(part.to_owned(), span.style));
            }
        }
    }
    lines
}

/// The style of a probability, in five steps.
fn tint(cx: &Cx<'_>, p: f32) -> Style {
    let theme = cx.theme;
    match p {
        p if p < 0.05 => theme.text,
        p if p < 0.25 => theme.text.add_modifier(Modifier::ITALIC),
        p if p < 0.5 => theme.accent,
        p if p < 0.75 => theme.accent.add_modifier(Modifier::UNDERLINED),
        _ => theme.warn.add_modifier(Modifier::UNDERLINED),
    }
}

fn heading(cx: &Cx<'_>, area: Rect, buf: &mut Buffer) {
    if area.height == 0 {
        return;
    }
    let name = name_width(usize::from(area.width));
    let text = format!(
        "{:>4}  {:name$}{:>NUMBER$}{:>PLACE$}{:>NUMBER$}{:>PLACE$}",
        "", "tool", "states", "", "words", ""
    );
    buf.set_stringn(area.x, area.y, text, usize::from(area.width), cx.theme.dim);
}

fn name_width(width: usize) -> usize {
    width.saturating_sub(6 + 2 * (NUMBER + PLACE)).clamp(8, 40)
}

/// Draws a tool with its rank on a menu, and its z-score and rank by states and by words.
fn tool_row(
    cx: &Cx<'_>,
    place: usize,
    tool: &RankedTool,
    [by_states, by_words]: [Option<usize>; 2],
    row: &mut Row<'_>,
) {
    let name = name_width(row.left());
    row.cell(&format!("{place:>4}"), 4, cx.theme.dim).gap(2);
    row.cell(&clean(tool.tool.as_str()), name, cx.theme.text);
    let states = tool.states.map(f32::from);
    for (score, place) in [(states, by_states), (Some(*tool.words), by_words)] {
        let score = score.map_or_else(|| "–".to_owned(), |z| format!("{z:.2}"));
        let place = place.map_or_else(String::new, |place| format!("{place}."));
        row.cell(&format!("{score:>NUMBER$}"), NUMBER, cx.theme.text);
        let style = if tool.states.is_none() { cx.theme.warn } else { cx.theme.dim };
        row.cell(&format!("{place:>PLACE$}"), PLACE, style);
    }
}
