//! The numbers that can be turned while it runs: what each is, where it stands in its range, whether
//! that is its default, and when a change takes effect.

use ratatui::{buffer::Buffer, layout::Rect, text::Line};

use super::row::{self, Row, split};
use super::spec::{Opened, PLAIN, PaneSpec};
use crate::domain::knob::{KNOBS, Kind, Takes};
use crate::domain::{KnobSpec, State};
use crate::ui::change;
use crate::ui::hits::{Hits, Target};
use crate::ui::vlist::{self, List};
use crate::ui::{action::Action, text, view::View};
use crate::ui::{cx::Cx, pane::PaneId};

const SYMBOL: usize = 7;
const NAME: usize = 16;
/// As wide as the longest name of a value.
const VALUE: usize = 9;
const TAKES: usize = 10;
/// Below this height the list needs every line.
const WITH_DOC: u16 = 7;
/// The most lines about the selected knob.
const DOC: usize = 3;

pub const SPEC: PaneSpec = PaneSpec {
    id: PaneId::Knobs,
    most: |_, _| Some(KNOBS.len() + 2),
    title,
    draw,
    list,
    filters: |_| Some("knob"),
    open: |_, _| Opened::Act(Action::Edit),
    why_not_adjust: |_, _| None,
    edit: |world, view| change::set_knob(world.live, view),
    turn: |_, view, up| change::turn(view.knob(), if up { 1 } else { -1 }),
    keys: &[Action::Less, Action::More, Action::Learning],
    ..PLAIN
};

fn title(cx: &Cx<'_>) -> Line<'static> {
    let changed = KNOBS.iter().filter(|spec| is_changed(cx.state, spec)).count();
    match changed {
        0 => Line::default(),
        n => Line::from(format!(" · {n} changed")),
    }
}

fn is_changed(state: &State, spec: &KnobSpec) -> bool {
    state.knobs.get(spec.knob) != spec.default
}

fn list<'a>(_: &'a State, view: &View) -> List<'a> {
    let selected = KNOBS.iter().position(|spec| spec.knob == view.knob());
    List::new(
        (KNOBS.len(), selected),
        |row| KNOBS.get(row),
        |spec, view| view.knob = Some(spec.knob),
        |spec| format!("{}\n{}", spec.name, spec.doc),
    )
}

fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let doc: Vec<String> = text::wrap(&doc(cx), usize::from(area.width)).take(DOC).collect();
    // The line above it is left empty.
    let below = if area.height < WITH_DOC { 0 } else { doc.len() as u16 + 1 };
    let (list, below) = split(area, area.height - below.min(area.height / 2));
    let rows = self::list(cx.state, cx.view).place;
    vlist::draw(cx, SPEC.id, (list, buf, hits), rows, |i, row| {
        let spec = KNOBS.get(i)?;
        draw_knob(cx, spec, row);
        Some(Target::Knob(spec.knob))
    });
    row::lines(split(below, 1).1, doc, cx.theme.dim, buf);
}

fn draw_knob(cx: &Cx<'_>, spec: &KnobSpec, row: &mut Row<'_>) {
    let theme = cx.theme;
    let value = cx.state.knobs.get(spec.knob);
    let changed = is_changed(cx.state, spec);
    row.cell(if changed { "*" } else { "" }, 1, theme.user);
    row.cell(spec.symbol, SYMBOL, theme.accent);
    if row.left() >= NAME + VALUE {
        row.cell(spec.name, NAME, theme.text);
    }
    row.right(&spec.show(value), VALUE, if changed { theme.user } else { theme.title }).gap(2);
    let takes = if row.left() >= TAKES + 12 { TAKES } else { 0 };
    let range = row.left().saturating_sub(takes + usize::from(takes > 0)).min(40);
    draw_range(cx, spec, value, range, row);
    if takes > 0 {
        row.gap(1).cell(effective(spec.takes).0, takes, theme.dim);
    }
}

/// The knob's place in its range.
fn draw_range(cx: &Cx<'_>, spec: &KnobSpec, value: f64, width: usize, row: &mut Row<'_>) {
    let theme = cx.theme;
    match spec.kind {
        Kind::Real | Kind::Whole => {
            row.bar(place(spec, value), width, (theme.bar_fill, theme.bar_empty));
        }
        Kind::Switch => {
            let on = value != 0.0;
            let style = if on { theme.bar_fill } else { theme.bar_empty };
            row.cell(if on { "on" } else { "off" }, width, style);
        }
        Kind::Choice(names) => {
            let start = row.left();
            for (i, name) in names.iter().enumerate() {
                let used = start - row.left();
                if used + text::width(name) + 3 > width {
                    break;
                }
                let on = i as f64 == value;
                let name = if on { format!("[{name}]") } else { format!(" {name} ") };
                row.put(&name, if on { theme.accent } else { theme.bar_empty });
            }
            let used = start - row.left();
            row.gap(width.saturating_sub(used));
        }
    }
}

/// Where a value lies between the least and the most, 0 to 1. Long ranges are drawn by the square
/// root, because it is their lower end that is used.
fn place(spec: &KnobSpec, value: f64) -> f64 {
    let share = ((value - spec.min) / (spec.max - spec.min)).clamp(0.0, 1.0);
    let steps = (spec.max - spec.min) / spec.step;
    if steps > 50.0 { share.sqrt() } else { share }
}

/// When a change takes effect: in a column, and in a sentence.
fn effective(takes: Takes) -> (&'static str, &'static str) {
    match takes {
        Takes::AtOnce => ("at once", "immediately"),
        Takes::NextStep => ("next step", "at the next step"),
        Takes::NextTask => ("next task", "with the next task"),
    }
}

fn doc(cx: &Cx<'_>) -> String {
    let spec = cx.view.knob().spec();
    format!(
        "{}: {}. Takes {}; default {}; takes effect {}.",
        spec.name,
        spec.doc,
        spec.range(),
        spec.show(spec.default),
        effective(spec.takes).1,
    )
}
