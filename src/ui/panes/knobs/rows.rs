//! The rows of the list: each knob with its value and its place in its range.

use crate::domain::knob::{KnobKind, Takes};
use crate::domain::{Knob, KnobSpec, Matter, State};
use crate::panes::row::Row;
use crate::{cx::Cx, text};

const GROUP: usize = 8;
const NAME: usize = 16;
/// The width of the longest name of a value.
const VALUE: usize = 9;
const TAKES: usize = 10;

/// Whether the knob differs from its default. A screen has a speed of its own from the start.
pub(super) fn is_changed(state: &State, spec: &KnobSpec) -> bool {
    spec.knob != Knob::Speed && state.knobs.get(spec.knob) != spec.default
}

/// Draws a knob; the first one of a group has the group's name before it.
pub(super) fn draw_knob(cx: &Cx<'_>, group: &str, spec: &KnobSpec, row: &mut Row<'_>) {
    let theme = cx.theme;
    let value = cx.state.knobs.get(spec.knob);
    let changed = is_changed(cx.state, spec);
    if cx.state.cannot(Matter::Knob(spec.knob)).is_some() {
        row.gap(1).cell(group, GROUP, theme.dim);
        if row.left() >= NAME + VALUE {
            row.cell(spec.name, NAME, theme.dim);
        }
        row.right(&spec.show(value), VALUE, theme.dim);
        return;
    }
    row.cell(if changed { "*" } else { "" }, 1, theme.user);
    row.cell(group, GROUP, theme.dim);
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

/// Draws the knob's place in its range.
fn draw_range(cx: &Cx<'_>, spec: &KnobSpec, value: f64, width: usize, row: &mut Row<'_>) {
    let theme = cx.theme;
    match spec.kind {
        KnobKind::Real | KnobKind::Whole => {
            row.bar(place(spec, value), width, (theme.bar_fill, theme.bar_empty));
        }
        KnobKind::Switch => {
            let on = value != 0.0;
            let style = if on { theme.bar_fill } else { theme.bar_empty };
            row.cell(if on { "on" } else { "off" }, width, style);
        }
        KnobKind::Choice(names) => {
            let start = row.left();
            let all: usize = names.iter().map(|name| text::width(name) + 2).sum();
            if all > width {
                // The row shows the value already; this is its place among the others.
                let place = format!("{} of {}", value as usize + 1, names.len());
                row.cell(&place, width, theme.bar_empty);
                return;
            }
            for (i, name) in names.iter().enumerate() {
                let on = i as f64 == value;
                let name = if on { format!("[{name}]") } else { format!(" {name} ") };
                row.put(&name, if on { theme.accent } else { theme.bar_empty });
            }
            let used = start - row.left();
            row.gap(width.saturating_sub(used));
        }
    }
}

/// The place of a value between the least and the most, 0 to 1. Long ranges are drawn by the square root, because
/// mostly their lower end is used.
fn place(spec: &KnobSpec, value: f64) -> f64 {
    let share = ((value - spec.min) / (spec.max - spec.min)).clamp(0.0, 1.0);
    let steps = (spec.max - spec.min) / spec.step;
    if steps > 50.0 { share.sqrt() } else { share }
}

/// When a change takes effect: the words for a column, and for a sentence.
pub(super) fn effective(takes: Takes) -> (&'static str, &'static str) {
    match takes {
        Takes::AtOnce => ("at once", "immediately"),
        Takes::NextStep => ("next step", "at the next step"),
        Takes::NextTask => ("next task", "with the next task"),
    }
}
