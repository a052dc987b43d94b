//! The roles, the model that plays each of them, and what they used; below, if there is room, every
//! configured model.

use ratatui::{buffer::Buffer, layout::Rect, style::Style, text::Line};

use super::{row::Row, units};
use crate::{
    chat::Role,
    state::{ModelState, State, models::Tally},
    ui::{
        hits::{Hits, Target},
        pane::{Cx, Move, PaneId},
        text,
        theme::Theme,
        view::View,
        vlist::{self, Find},
    },
};

const PANE: PaneId = PaneId::Models;
const ROLE: usize = 10;
const SIMULATED: &str = "SIMULATED";
/// The heads and widths of what a tally is shown as; those on the left stay longest.
const COLUMNS: [(&str, usize); 8] = [
    ("asks", 5),
    ("in", 7),
    ("out", 7),
    ("dollars", 10),
    ("last", 8),
    ("mean", 8),
    ("failed", 6),
    ("retried", 7),
];

pub fn title(cx: &Cx<'_>) -> Line<'static> {
    if cx.state.models.any_simulated() {
        return Line::from(vec![
            format!("{} · ", PANE.name()).into(),
            ratatui::text::Span::styled(format!("{SIMULATED} MODEL"), cx.theme.simulated),
        ]);
    }
    Line::from(PANE.name())
}

fn selected(state: &State, view: &View) -> Option<usize> {
    state.models.roles.keys().position(|role| *role == view.role())
}

/// How wide the model's name may be, and how many columns of [`COLUMNS`] fit behind it.
fn fitting(width: usize) -> (usize, usize) {
    let mut room = width.saturating_sub(ROLE + 14);
    let shown = COLUMNS.iter().take_while(|(_, width)| {
        let fits = room > *width;
        room = room.saturating_sub(width + 1);
        fits
    });
    let shown = shown.count();
    let taken: usize = COLUMNS[..shown].iter().map(|(_, width)| width + 1).sum();
    (width.saturating_sub(ROLE + taken), shown)
}

pub fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let roles = cx.state.models.roles.len();
    if roles == 0 {
        Row::new(area, buf).put("no models yet", cx.theme.dim);
        return;
    }
    let head = u16::from(area.height > 2);
    if head > 0 {
        draw_head(cx.theme, area, buf);
    }
    // The list of roles is short; what is left below it shows every configured model.
    let wanted = u16::try_from(roles).unwrap_or(u16::MAX).min(area.height - head);
    let list = Rect { y: area.y + head, height: wanted, ..area };
    vlist::draw(
        cx,
        PANE,
        (list, buf, hits),
        (roles, selected(cx.state, cx.view)),
        |i, line, buf, hits| {
            if let Some(role) = cx.state.models.roles.keys().nth(i) {
                draw_role(cx, *role, line, buf);
                hits.add(line, Target::Role(*role));
            }
        },
    );
    let below = Rect { y: list.bottom(), height: area.bottom() - list.bottom(), ..area };
    draw_configured(cx, below, buf, hits);
}

fn draw_head(theme: &Theme, line: Rect, buf: &mut Buffer) {
    let (name, shown) = fitting(usize::from(line.width));
    let mut row = Row::new(line, buf);
    row.cell("role", ROLE, theme.dim).cell("model", name, theme.dim);
    for (head, width) in &COLUMNS[..shown] {
        row.gap(1).right(head, *width, theme.dim);
    }
}

fn draw_role(cx: &Cx<'_>, role: Role, line: Rect, buf: &mut Buffer) {
    let Some(bound) = cx.state.models.roles.get(&role) else { return };
    let (name, shown) = fitting(usize::from(line.width));
    let asking = cx.state.ask_in_flight().filter(|ask| ask.role == role);
    let mut row = Row::new(line, buf);
    row.cell(role.name(), ROLE, cx.theme.text);
    draw_name(cx, cx.state.models.of(role), bound.model.as_str(), name, &mut row);
    let last = asking.map(|ask| format!("▶{}", text::span(ask.elapsed(cx.now))));
    draw_tally(cx.theme, &bound.tally, last, shown, &mut row);
}

/// The model's name, and whether it is simulated: said once where the name says it already.
fn draw_name(cx: &Cx<'_>, model: Option<&ModelState>, name: &str, width: usize, row: &mut Row<'_>) {
    let simulated = model.is_some_and(|model| model.spec.simulated);
    if !simulated {
        row.cell(name, width, cx.theme.accent);
        return;
    }
    let room = width.saturating_sub(SIMULATED.len() + 1);
    let shown = match text::width(name) {
        _ if name.eq_ignore_ascii_case(SIMULATED) => 0,
        wide => wide.min(room),
    };
    row.cell(name, shown, cx.theme.accent).gap(usize::from(shown > 0));
    let left = width - shown - usize::from(shown > 0);
    row.cell(SIMULATED, left, cx.theme.simulated);
}

fn draw_tally(
    theme: &Theme,
    tally: &Tally,
    asking: Option<String>,
    shown: usize,
    row: &mut Row<'_>,
) {
    let about = if tally.estimated { "≈" } else { "" };
    let answered = u64::from(tally.asks.saturating_sub(tally.failed));
    let time = |micros: u64| if answered == 0 { "–".to_owned() } else { text::span(micros) };
    let is_asking = asking.is_some();
    let cells: [(String, Style); COLUMNS.len()] = [
        (tally.asks.to_string(), theme.text),
        (format!("{about}{}", text::count(tally.tokens_in)), theme.text),
        (format!("{about}{}", text::count(tally.tokens_out)), theme.text),
        dollars(theme, tally),
        (
            asking.unwrap_or_else(|| time(tally.last_micros)),
            if is_asking { theme.running } else { theme.text },
        ),
        (time(tally.micros.checked_div(answered).unwrap_or(0)), theme.text),
        counted(tally.failed, theme.bad, theme),
        counted(tally.retries, theme.warn, theme),
    ];
    for ((text, style), (_, width)) in cells.iter().zip(COLUMNS).take(shown) {
        row.gap(1).right(text, width, *style);
    }
}

fn counted(n: u32, style: Style, theme: &Theme) -> (String, Style) {
    (n.to_string(), if n > 0 { style } else { theme.dim })
}

fn dollars(theme: &Theme, tally: &Tally) -> (String, Style) {
    if tally.asks == 0 {
        return ("–".to_owned(), theme.dim);
    }
    let answered = tally.asks.saturating_sub(tally.failed) as usize;
    let style = if tally.unpriced > 0 { theme.warn } else { theme.text };
    (units::dollars(tally.dollars, tally.unpriced, answered), style)
}

fn draw_configured(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    if area.height < 3 {
        return;
    }
    let at = |y: u16| Rect { y, height: 1, ..area };
    Row::new(at(area.y + 1), buf).put("configured", cx.theme.dim);
    for (y, (name, model)) in (area.y + 2..area.bottom()).zip(&cx.state.models.known) {
        let mut row = Row::new(at(y), buf);
        draw_name(cx, Some(model), name.as_str(), 24, &mut row);
        row.gap(1);
        let price = units::price(&model.spec);
        let left = row.left();
        let room = left.saturating_sub(text::width(&price) + 1);
        row.cell(&model.spec.source, room, cx.theme.text);
        row.gap(1).put(&price, cx.theme.dim);
        hits.add(at(y), Target::Model(name.clone()));
    }
}

pub fn go(state: &State, view: &mut View, to: Move) {
    let at = selected(state, view);
    let to = vlist::moved(state.models.roles.len(), at, to, view.page(PANE));
    if let Some(role) = to.and_then(|i| state.models.roles.keys().nth(i)) {
        view.role = Some(*role);
    }
}

pub fn find(state: &State, view: &mut View, needle: &str, how: Find) -> bool {
    let roles = &state.models.roles;
    let hit = vlist::found(roles.len(), selected(state, view), how, |i| {
        roles.iter().nth(i).is_some_and(|(role, bound)| {
            format!("{role} {}", bound.model).to_lowercase().contains(needle)
        })
    });
    if let Some(role) = hit.and_then(|i| roles.keys().nth(i)) {
        view.role = Some(*role);
    }
    hit.is_some()
}
