//! The calls of a task as bars on one axis of time.

use std::fmt::Write as _;

use super::page::escaped;
use crate::domain::{EffectState, ModelCallPhase, State, TaskState, ToolCallPhase};
use crate::ui::{marks, text};

/// Pixels: the names, the axis, and a row.
const NAMES: f64 = 190.0;
const AXIS: f64 = 640.0;
const AFTER: f64 = 90.0;
const ROW: f64 = 18.0;
/// The most lanes of one task; the rest is in its transcript.
const MOST: usize = 60;

struct Bar<'a> {
    name: String,
    class: &'static str,
    effect: &'a EffectState,
}

/// The lanes of a task; empty without calls.
pub fn lanes(state: &State, task: &TaskState) -> String {
    let models = task.model_calls.iter().filter_map(|id| state.model_call(*id)).map(|call| Bar {
        name: call.role.to_string(),
        class: if matches!(call.phase, ModelCallPhase::Failed { .. }) { "failed" } else { "model" },
        effect: &call.effect,
    });
    let tools = task.tool_calls.iter().filter_map(|id| state.tool_call(*id)).map(|call| Bar {
        name: call.tool.to_string(),
        class: match call.phase {
            ToolCallPhase::Failed { .. } | ToolCallPhase::Refused { .. } => "failed",
            ToolCallPhase::Done { .. } | ToolCallPhase::Requested | ToolCallPhase::Running => {
                "fill"
            }
        },
        effect: &call.effect,
    });
    let mut bars: Vec<_> = models.chain(tools).collect();
    bars.sort_by_key(|bar| bar.effect.id);
    let left_out = bars.len().saturating_sub(MOST);
    bars.truncate(MOST);
    let start = bars.iter().map(|bar| bar.effect.requested).min().unwrap_or(0);
    let end = bars.iter().filter_map(|bar| bar.effect.ended).max().unwrap_or(start);
    if bars.is_empty() {
        return String::new();
    }
    let scale = AXIS / end.saturating_sub(start).max(1) as f64;
    let (width, height) = (NAMES + AXIS + AFTER, ROW * bars.len() as f64 + 4.0);
    let mut out =
        format!("<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n");
    for (row, bar) in bars.iter().enumerate() {
        let effect = bar.effect;
        let from = effect.started.unwrap_or(effect.requested);
        let to = effect.ended.unwrap_or(end).max(from);
        let x = NAMES + from.saturating_sub(start) as f64 * scale;
        // Calls without a duration must be visible, too.
        let long = ((to - from) as f64 * scale).max(2.0);
        let (y, base) = (row as f64 * ROW + 3.0, row as f64 * ROW + 15.0);
        let injected = if effect.injected.is_some() { " (injected fault)" } else { "" };
        let marks = state.marks(effect.id).into_iter();
        let marks: String = marks.map(|mark| format!(", {}", marks::short(&mark))).collect();
        let marks = escaped(&marks);
        let name = escaped(&text::cut(&bar.name, 24));
        let took = escaped(&text::span(effect.elapsed(end)));
        let _ = writeln!(
            out,
            "<text x=\"0\" y=\"{base:.0}\">{name}</text><rect class=\"{}\" x=\"{x:.1}\" y=\"{y:.0}\" \
             width=\"{long:.1}\" height=\"13\"><title>{name}, {took}{injected}{marks}</title></rect>\
             <text x=\"{:.1}\" y=\"{base:.0}\">{took}</text>",
            bar.class,
            x + long + 4.0,
        );
    }
    out += "</svg>\n";
    if left_out > 0 {
        out += &format!("<p class=\"dim\">and {left_out} more</p>\n");
    }
    out
}
