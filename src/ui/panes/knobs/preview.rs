//! The effect of one step of the selected knob: on the tools that an agent may choose from, or on the uses left
//! in its budget plan. The common part of a bar is solid, and the difference is a ghost.

use ratatui::style::Style;
use ratatui::{buffer::Buffer, layout::Rect};

use crate::action::Action;
use crate::domain::{ToolName, WeightFormat, words::counted};
use crate::panes::row::{self, Row, split};
use crate::panes::{format, glyph};
use crate::strategy::preview::{Preview, PreviewRow, PreviewSide, Shows};
use crate::symbols::{FELL, GHOST, LEADS, ROSE, SPENT};
use crate::{cx::Cx, text};

/// Cells of a number, and of the change of a tool's place.
const NUMBER: usize = 5;
const MOVED: usize = 4;
const BAR: usize = 30;
/// Least rows of a table with a legend for its bars.
const WITH_LEGEND: u16 = 8;

/// Draws the preview beside the list.
pub(super) fn draw(cx: &Cx<'_>, ahead: &Preview, area: Rect, buf: &mut Buffer) {
    let (head, rest) = split(area, 1);
    draw_head(cx, ahead, head, buf);
    let then = match then(cx, ahead) {
        Ok(then) => then,
        Err(why) => return row::wrapped(rest, &why, cx.theme.dim, buf),
    };
    let width = usize::from(area.width);
    let said = sentences(ahead, then);
    let mut said: Vec<_> = said.iter().flat_map(|said| text::wrap(said, width)).collect();
    let (step, turns) = match cx.view.ahead.is_less {
        true => ("less", Action::Less),
        false => ("more", Action::More),
    };
    let legend = [
        format!("{SPENT} in both  {GHOST} changed by one step {step}"),
        match cx.keymap.key(turns) {
            Some(key) => format!("nothing changes until you press {key}"),
            None => "the preview changes nothing".to_owned(),
        },
    ];
    let plain = said.len();
    if rest.height >= WITH_LEGEND {
        said.extend(legend);
    }
    // An empty line stands above the words.
    let words = (said.len() as u16 + 1).min(rest.height / 2);
    let rows = (ahead.rows(then).len() as u16).saturating_add(1);
    let (table, below) = split(rest, rows.min(rest.height - words));
    draw_table(cx, ahead, then, true, table, buf);
    for (at, (line, sentence)) in split(below, 1).1.rows().zip(&said).enumerate() {
        let style = if at < plain { cx.theme.text } else { cx.theme.dim };
        Row::new(line, buf).put(sentence, style);
    }
}

/// Draws the preview below the list: a head, the changes in words, and the tools that change most.
pub(super) fn draw_below(cx: &Cx<'_>, ahead: &Preview, area: Rect, buf: &mut Buffer) {
    if area.height < 2 {
        return;
    }
    let (head, rest) = split(area, 1);
    draw_head(cx, ahead, head, buf);
    let then = match then(cx, ahead) {
        Ok(then) => then,
        Err(why) => return row::wrapped(rest, &why, cx.theme.dim, buf),
    };
    let (line, rest) = split(rest, 1);
    Row::new(line, buf).put(&sentences(ahead, then).join("; "), cx.theme.text);
    draw_table(cx, ahead, then, false, rest, buf);
}

/// The other side of the preview, or why there is nothing to compare.
fn then<'a>(cx: &Cx<'_>, ahead: &'a Preview) -> Result<&'a PreviewSide, String> {
    let spec = ahead.knob.spec();
    if let Shows::Nothing(why) = &ahead.shows {
        return Err(format!("{}: {why}", spec.name));
    }
    let is_less = cx.view.ahead.is_less;
    ahead.side(!is_less).ok_or_else(|| {
        let end = if is_less { "lowest" } else { "highest" };
        format!("{} is at its {end} value", spec.name)
    })
}

fn draw_head(cx: &Cx<'_>, ahead: &Preview, line: Rect, buf: &mut Buffer) {
    let spec = ahead.knob.spec();
    let is_less = cx.view.ahead.is_less;
    let mut row = Row::new(line, buf);
    row.put("preview ", cx.theme.title).put(spec.name, cx.theme.accent);
    row.put(&format!(" {}", spec.show(ahead.now.value)), cx.theme.text);
    if let Some(then) = ahead.side(!is_less) {
        row.put(&format!(" {LEADS} {}", spec.show(then.value)), cx.theme.user);
    }
    let (other, words) = match is_less {
        true => (Action::Right, "one step more"),
        false => (Action::Left, "one step less"),
    };
    if let Some(key) = cx.keymap.key(other) {
        let hint = format!("{key}: {words}");
        let left = row.left();
        if left > text::width(&hint) + 1 {
            row.right(&hint, left, cx.theme.dim);
        }
    }
}

/// The changes, in words.
fn sentences(ahead: &Preview, then: &PreviewSide) -> Vec<String> {
    let rows = ahead.rows(then);
    match &ahead.shows {
        Shows::Plan => {
            let uses = |number: Option<(usize, Option<f64>)>| {
                number.and_then(|(_, uses)| uses).unwrap_or(0.0)
            };
            let changed = rows.iter().filter(|row| uses(row.now) != uses(row.then));
            let changed = changed.map(|row| {
                format!("{} {:.0} {LEADS} {:.0}", row.tool, uses(row.now), uses(row.then))
            });
            let changed: Vec<String> = changed.collect();
            match changed.is_empty() {
                true => vec!["budget plan unchanged".to_owned()],
                false => vec![format!("budget plan: {}", changed.join(", "))],
            }
        }
        _ => of_order(ahead, then, &rows),
    }
}

fn of_order(ahead: &Preview, then: &PreviewSide, rows: &[PreviewRow<'_>]) -> Vec<String> {
    let names = |of: fn(&&PreviewRow<'_>) -> bool| {
        rows.iter().filter(of).map(|row| row.tool.to_string()).collect::<Vec<_>>().join(", ")
    };
    let first = |side: &PreviewSide| side.tools.first().map(|(tool, _)| tool.clone());
    let moved = rows.iter().filter(|row| moved(row) != 0).count();
    let mut said = Vec::new();
    match (first(&ahead.now), first(then)) {
        (now, Some(then)) if now.as_ref() != Some(&then) => {
            said.push(format!("new order: {then} is first"));
        }
        _ if moved > 0 => said.push(format!("new order: {} moved", counted(moved, "tool"))),
        _ => {
            let weights = rows.iter().all(|row| weight(row.now) == weight(row.then));
            let words = if weights { "order and weights unchanged" } else { "order unchanged" };
            said.push(words.to_owned());
        }
    }
    let (joins, leaves) = (names(|row| row.now.is_none()), names(|row| row.then.is_none()));
    said.extend((!joins.is_empty()).then(|| format!("added: {joins}")));
    said.extend((!leaves.is_empty()).then(|| format!("removed: {leaves}")));
    said
}

fn weight(side: Option<(usize, Option<f64>)>) -> Option<f64> {
    side.and_then(|(_, weight)| weight)
}

/// By how many places a tool rises; it falls below 0.
fn moved(row: &PreviewRow<'_>) -> i64 {
    let place = |side: Option<(usize, Option<f64>)>| side.map(|(place, _)| place as i64);
    place(row.now).zip(place(row.then)).map_or(0, |(now, then)| now - then)
}

/// Draws the tools; if there is no room for all, those that change most.
fn draw_table(
    cx: &Cx<'_>,
    ahead: &Preview,
    then: &PreviewSide,
    has_head: bool,
    area: Rect,
    buf: &mut Buffer,
) {
    let (head, list) = split(area, u16::from(has_head && area.height > 1));
    let all = ahead.rows(then);
    let difference = |row: &PreviewRow<'_>| {
        let by = weight(row.then).unwrap_or(0.0) - weight(row.now).unwrap_or(0.0);
        by.abs()
    };
    let room = usize::from(list.height);
    let mut kept: Vec<usize> = (0..all.len()).collect();
    if all.len() > room {
        kept.sort_by(|a, b| difference(&all[*b]).total_cmp(&difference(&all[*a])));
        kept.truncate(room);
        kept.sort_unstable();
    }
    let widest = kept.iter().map(|at| text::width(&text::clean(shown(all[*at].tool)))).max();
    let numbers = 2 * (NUMBER + 1) + MOVED + 1;
    let width = usize::from(area.width).saturating_sub(numbers);
    let name = widest.unwrap_or(0).clamp(4, 24).min(width);
    let bar = width.saturating_sub(name + 1).min(BAR);
    let table = PreviewTable { cx, format: unit(cx, ahead), most: most(ahead, then), name, bar };
    if !head.is_empty() {
        table.head(ahead, &mut Row::new(head, buf));
    }
    for (line, at) in list.rows().zip(kept) {
        table.row(&all[at], &mut Row::new(line, buf));
    }
}

/// The format of the numbers; `None`: they are uses.
fn unit(cx: &Cx<'_>, ahead: &Preview) -> Option<WeightFormat> {
    (ahead.shows != Shows::Plan).then(|| format::weight_format(&cx.state.knobs))
}

/// The greatest number of both sides, which has a full bar.
fn most(ahead: &Preview, then: &PreviewSide) -> f64 {
    let numbers = ahead.now.tools.iter().chain(&then.tools).filter_map(|(_, number)| *number);
    numbers.fold(0.0, f64::max)
}

fn shown(tool: &ToolName) -> &str {
    if tool.as_str() == ToolName::END { "Finish" } else { tool.as_str() }
}

struct PreviewTable<'a> {
    cx: &'a Cx<'a>,
    format: Option<WeightFormat>,
    most: f64,
    name: usize,
    bar: usize,
}

impl PreviewTable<'_> {
    fn head(&self, ahead: &Preview, row: &mut Row<'_>) {
        let dim = self.cx.theme.dim;
        let what = match &ahead.shows {
            Shows::Plan => "uses left".to_owned(),
            Shows::Menu { from } => format!("menu at {from}"),
            _ => "weights from start".to_owned(),
        };
        row.cell(&what, self.name + 1 + self.bar, dim).gap(1).right("now", NUMBER, dim).gap(1);
        let then = if self.cx.view.ahead.is_less { "−1" } else { "+1" };
        row.right(then, NUMBER, dim);
    }

    fn row(&self, of: &PreviewRow<'_>, row: &mut Row<'_>) {
        let theme = self.cx.theme;
        let (now, then) = (weight(of.now), weight(of.then));
        row.cell(shown(of.tool), self.name, theme.text).gap(1);
        self.draw_bar(now.unwrap_or(0.0), then.unwrap_or(0.0), row);
        row.gap(1).right(&self.number(now), NUMBER, theme.text).gap(1);
        let style = if now == then { theme.text } else { theme.user };
        row.right(&self.number(then), NUMBER, style).gap(1);
        let (words, style): (String, Style) = match (of.now, of.then, moved(of)) {
            (None, _, _) => ("new".to_owned(), theme.good),
            (_, None, _) => ("gone".to_owned(), theme.warn),
            // The order of tools in a plan means nothing.
            (_, _, 0) => (String::new(), theme.text),
            _ if self.format.is_none() => (String::new(), theme.text),
            (_, _, by) if by > 0 => (format!("{ROSE}{by}"), theme.good),
            (_, _, by) => (format!("{FELL}{}", -by), theme.warn),
        };
        row.cell(&words, MOVED, style);
    }

    fn number(&self, value: Option<f64>) -> String {
        match (value, self.format) {
            (None, _) => "–".to_owned(),
            (Some(value), Some(format)) => format.show(value),
            (Some(value), None) => format!("{value:.0}"),
        }
    }

    /// Draws the common part solid; the ghost begins in the next cell.
    fn draw_bar(&self, now: f64, then: f64, row: &mut Row<'_>) {
        let theme = self.cx.theme;
        let share = |value: f64| if self.most > 0.0 { value / self.most } else { 0.0 };
        let (least, most) = (now.min(then), now.max(then));
        let solid = glyph::bar(share(least), self.bar);
        let cells = text::width(&solid);
        let end = (share(most) * self.bar as f64).round() as usize;
        // A difference smaller than a cell is still visible.
        let ghost = if most > least { end.saturating_sub(cells).max(1) } else { 0 };
        let ghost = ghost.min(self.bar - cells);
        row.put(&solid, theme.bar_fill).put(&GHOST.repeat(ghost), theme.planned);
        row.gap(self.bar - cells - ghost);
    }
}
