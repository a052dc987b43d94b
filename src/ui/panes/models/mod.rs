//! The roles, the model of each, and their usage; below, if there is room, every configured model, and the results
//! of planner/solver pairs.

pub mod configured;
mod model_rows;
pub mod pairs;
mod per_task;
mod prompt_composition;

use ratatui::text::{Line, Span};
use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use self::configured::{SIMULATED, draw_mark, draw_name};
use super::format;
use super::row::{Row, note, split};
use super::spec::{Opened, PLAIN, PaneSpec};
use crate::domain::{Aim, Matter, ModelName, Role, State, Tally};
use crate::hits::{Hits, Target};
use crate::symbols::RUNNING;
use crate::table::{Cell, TableColumn, TextTable, right};
use crate::vlist::{self, List, ListSection, VisibleRows};
use crate::{action::Action, text, theme::Theme, view::View};
use crate::{cx::Cx, pane::PaneId};

const ROLE: usize = 11;
/// The most pairs that get a row each.
const PAIRS: usize = 6;
/// Columns of a tally, the most important first; the last are left out first.
fn columns<'a>() -> [TableColumn<Used<'a>>; 9] {
    [
        right("calls", 5, |used| (used.tally.calls.to_string(), used.theme.text)),
        right("in", 7, |used| tokens(used, used.tally.tokens_in)),
        right("out", 7, |used| tokens(used, used.tally.tokens_out)),
        right("dollars", 10, dollars),
        right("last", 8, last),
        right("median", 8, |used| {
            (text::span_if_any(used.tally.latency.median()), used.theme.text)
        }),
        right("cached", 6, cached),
        right("failed", 6, |used| counted(used, used.tally.failed, used.theme.bad)),
        right("retried", 7, |used| counted(used, used.tally.retries, used.theme.warn)),
    ]
}

pub const SPEC: PaneSpec = PaneSpec {
    id: PaneId::Models,
    most: |state, _| {
        let (roles, known) = (state.models.roles.len(), state.models.known.len());
        let pairs = state.pairs.all().len().min(PAIRS);
        let pairs = if pairs > 0 { pairs + 3 } else { 0 };
        let parts = prompt_composition::most(state);
        let (rows, pairs) =
            if roles == 0 { (known + 1, parts) } else { (roles + known + 3, pairs) };
        Some(rows + pairs + per_task::ROWS)
    },
    title,
    draw,
    list,
    filters: |_| Some("role or model"),
    open: |state, _| match state.cannot(Matter::Models) {
        None => Opened::Act(Action::Model),
        Some(_) => Opened::Nothing,
    },
    keys: &[Action::Model, Action::Pairs, Action::CheckModels, Action::Prompt, Action::Strategy],
    ..PLAIN
};

fn title(cx: &Cx<'_>) -> Line<'static> {
    let mut words = Vec::new();
    if cx.state.models.any_simulated() {
        let simulated = Span::styled(format!("{SIMULATED} MODEL"), cx.theme.simulated);
        words.extend([" · ".into(), simulated, ", tokens estimated".into()]);
    }
    Line::from(words)
}

/// Used roles come first: a small pane has no room for the others.
fn order(state: &State) -> Vec<Role> {
    let mut roles: Vec<_> = state.models.roles.iter().collect();
    roles.sort_by_key(|(_, bound)| bound.tally.calls == 0);
    roles.into_iter().map(|(role, _)| *role).collect()
}

/// A row that can be selected.
#[derive(Clone, Copy, PartialEq)]
enum RoleOrModel<'a> {
    Role(Role),
    Model(&'a ModelName),
}

/// First the roles, then the configured models.
fn list<'a>(state: &'a State, view: &View) -> List<'a> {
    let roles = order(state).into_iter().map(RoleOrModel::Role);
    let places: Vec<_> = roles.chain(state.models.known.keys().map(RoleOrModel::Model)).collect();
    // If no role is bound, the first model is selected.
    let first = state.models.known.keys().next().filter(|_| state.models.roles.is_empty());
    let selected = view.model.as_ref().or(first);
    let selected = selected.map_or_else(|| RoleOrModel::Role(view.role()), RoleOrModel::Model);
    let selected = places.iter().position(|place| *place == selected);
    List::new(
        (places.len(), selected),
        move |row| places.get(row).copied(),
        |place, view| match place {
            RoleOrModel::Role(role) => (view.model, view.role) = (None, Some(role)),
            RoleOrModel::Model(model) => view.model = Some(model.clone()),
        },
        |place| match place {
            RoleOrModel::Role(role) => {
                let bound = state.models.roles.get(&role);
                format!("{role} {}", bound.map_or("", |bound| bound.model.as_str()))
            }
            RoleOrModel::Model(model) => model.to_string(),
        },
    )
}

/// The usage of a role or a model.
struct Used<'a> {
    theme: &'a Theme,
    tally: &'a Tally,
    simulated: bool,
    /// The elapsed time of the running model call, as shown.
    asking: Option<String>,
}

/// The width of the model's name, and the columns that fit behind it.
fn fitting<'a>(width: usize) -> (usize, TextTable<Used<'a>>) {
    let table = TextTable::fitting(columns(), width.saturating_sub(ROLE + 14));
    (width.saturating_sub(ROLE + table.width), table)
}

fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let roles = order(cx.state);
    if roles.is_empty() && !cx.state.models.known.is_empty() {
        return model_rows::draw(cx, area, buf, hits);
    }
    if roles.is_empty() {
        return note(area, "no models yet", cx.theme.dim, buf);
    }
    let (head, below) = split(area, u16::from(area.height > 2));
    let selected = cx.view.model.is_none().then(|| cx.view.role());
    let selected = selected.and_then(|selected| roles.iter().position(|role| *role == selected));
    let part = (roles.len(), selected);
    let shown = VisibleRows::of(cx.view, SPEC.id, part).count();
    let wanted = u16::try_from(shown).unwrap_or(u16::MAX);
    // A selected model must be visible: if there is no room below the roles, it takes theirs.
    if cx.view.model.is_some()
        && area.height < wanted.saturating_add(head.height + configured::LEAST)
    {
        draw_configured(cx, area, buf, hits);
        return;
    }
    if !head.is_empty() {
        draw_head(cx.theme, head, buf);
    }
    // The list of roles is short; the rows below it show the models themselves.
    let (list, below) = split(below, wanted);
    vlist::draw(cx, SPEC.id, (list, buf, hits), part, |i, row| {
        let role = *roles.get(i)?;
        draw_role(cx, role, row);
        Some(Target::Role(role))
    });
    if below.height >= configured::LEAST {
        let below = draw_configured(cx, split(below, 1).1, buf, hits);
        let below = draw_pairs(cx, below, buf, hits);
        per_task::draw(cx, below, buf, hits);
    }
}

fn draw_head(theme: &Theme, line: Rect, buf: &mut Buffer) {
    let mut row = Row::new(line, buf);
    let (name, table) = fitting(row.left());
    row.cell("role", ROLE, theme.dim).cell("model", name, theme.dim);
    table.head(&mut row, theme.dim);
}

fn draw_role(cx: &Cx<'_>, role: Role, row: &mut Row<'_>) {
    let Some(bound) = cx.state.models.roles.get(&role) else { return };
    let (name, table) = fitting(row.left());
    let asking = cx.state.model_calls_in_flight().rfind(|call| call.role == role);
    row.cell(role.name(), ROLE, cx.theme.text);
    let aim = Aim { role: Some(role), model: Some(&bound.model), ..Aim::default() };
    let name = draw_mark(cx, &aim, name, row);
    let spec = cx.state.models.of(role).map(|model| &model.spec);
    draw_name(cx.theme, bound.model.as_str(), spec, name, row);
    let simulated = spec.is_some_and(|spec| spec.simulated);
    let asking = asking.map(|call| format!("{RUNNING}{}", text::span(call.elapsed(cx.now))));
    table.cells(&Used { theme: cx.theme, tally: &bound.tally, simulated, asking }, row);
}

fn tokens(used: &Used<'_>, tokens: u64) -> Cell {
    // For the simulated model the title already says this.
    let about = if used.tally.estimated && !used.simulated { "≈" } else { "" };
    (format!("{about}{}", text::count(tokens)), used.theme.text)
}

/// The time of the last call; during a call, the running time.
fn last(used: &Used<'_>) -> Cell {
    let took = used.tally.latency.median().map(|_| used.tally.last_micros);
    match &used.asking {
        Some(asking) => (asking.clone(), used.theme.running),
        None => (text::span_if_any(took), used.theme.text),
    }
}

fn counted(used: &Used<'_>, n: u32, style: Style) -> Cell {
    (n.to_string(), if n > 0 { style } else { used.theme.dim })
}

/// The share of the input that endpoints had in their cache.
fn cached(used: &Used<'_>) -> Cell {
    let Tally { cached, tokens_in, .. } = used.tally;
    let share = 100.0 * *cached as f64 / (*tokens_in).max(1) as f64;
    let style = if *cached > 0 { used.theme.text } else { used.theme.dim };
    (format!("{share:.0} %"), style)
}

fn dollars(Used { theme, tally, .. }: &Used<'_>) -> Cell {
    if tally.calls == 0 {
        return ("–".to_owned(), theme.dim);
    }
    let style = if tally.unpriced > 0 { theme.warn } else { theme.text };
    (format::dollars(*tally.dollars, tally.unpriced, tally.listed), style)
}

/// Draws the configured models; returns the area left below them.
fn draw_configured(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) -> Rect {
    let (head, list) = split(area, u16::from(area.height > 1));
    if !head.is_empty() {
        configured::draw_head(cx.theme, head, buf);
    }
    let known = &cx.state.models.known;
    let selected = cx.view.model.as_ref().and_then(|model| known.get_index_of(model));
    let part = ListSection { first: cx.state.models.roles.len(), total: known.len(), selected };
    let rows = VisibleRows::of(cx.view, SPEC.id, part);
    let (list, left) = split(list, u16::try_from(rows.count()).unwrap_or(u16::MAX));
    let shown = rows.around_selected(list.height);
    vlist::draw_rows(cx, (list, buf, hits), shown, |i, row| {
        let (name, model) = known.get_index(i)?;
        configured::draw(cx, (name, model), cx.now, row);
        Some(Target::Model(name.clone()))
    });
    left
}

/// Draws the pairs; returns the area left below them.
fn draw_pairs(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) -> Rect {
    if area.height < 4 || cx.state.pairs.all().is_empty() {
        return area;
    }
    // An empty line above the heading.
    let (heading, table) = split(split(area, 1).1, 1);
    let words = pairs::heading(&cx.state.pairs, cx.view.pair_sort);
    Row::new(heading, buf).put(&words, cx.theme.title);
    hits.add(Rect { height: 2, ..heading }, Target::Action(Action::Sort));
    let all = pairs::sorted(cx.state, cx.view.pair_sort);
    let rows = usize::from(table.height - 1);
    if all.len() <= rows {
        let (table, below) = split(table, all.len() as u16 + 1);
        pairs::draw(cx, &all, 0, table, buf);
        return below;
    }
    // The remaining pairs are in their own table.
    let (table, last) = split(table, table.height - 1);
    pairs::draw(cx, &all, 0, table, buf);
    let more = format!("… and {} more (w)", all.len() + 1 - rows);
    Row::new(last, buf).put(&more, cx.theme.dim);
    hits.add(last, Target::Action(Action::Pairs));
    split(last, 1).1
}
