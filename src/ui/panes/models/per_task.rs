//! The cost of each task's model calls as a bar: dollars where the models have prices, else tokens.

use ratatui::{buffer::Buffer, layout::Rect};

use crate::cx::Cx;
use crate::domain::TaskState;
use crate::hits::{Hits, Target};
use crate::panes::row::{Row, split};
use crate::panes::{format, glyph};
use crate::text;

/// The rows of the chart, with the empty line above.
pub const ROWS: usize = 5;
/// The most rows of bars, and the most cells of one with the gap behind it.
const BARS: u16 = 6;
const WIDEST: usize = 4;

pub fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let (_, area) = split(area, 1);
    let tasks: Vec<&TaskState> = cx
        .state
        .tasks
        .iter()
        .map(|task| &**task)
        .filter(|task| !task.model_calls.is_empty())
        .collect();
    if area.height < 2 || tasks.is_empty() {
        return;
    }
    let listed = tasks.iter().any(|task| task.listed);
    let spent: f64 = tasks.iter().map(|task| *task.dollars).sum();
    let is_priced = spent > 0.0;
    let of = |task: &TaskState| if is_priced { *task.dollars } else { task.tokens() as f64 };
    let values: Vec<f64> = tasks.iter().map(|task| of(task)).collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let words = match is_priced {
        true => format!("dollars per task: mean {}", format::dollars(mean, 0, listed)),
        false => format!("tokens per task: mean {}", text::count(mean as u64)),
    };
    let (head, bars) = split(area, 1);
    Row::new(head, buf).put(&words, cx.theme.title);
    let (bars, _) = split(bars, BARS);
    let most = values.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let room = usize::from(bars.width);
    let wide = (room / values.len()).clamp(1, WIDEST);
    let first = values.len().saturating_sub(room / wide);
    let filled = wide.max(2) - 1;
    for (floor, line) in bars.rows().rev().enumerate() {
        let mut row = Row::new(line, buf);
        for value in &values[first..] {
            let cells = value / most * f64::from(bars.height) - floor as f64;
            let glyph = glyph::height(cells).map_or(" ".to_owned(), String::from);
            row.put(&glyph.repeat(filled), cx.theme.bar_fill).gap(wide - filled);
        }
    }
    for (x, task) in (bars.x..).step_by(wide).zip(&tasks[first..]) {
        hits.add(Rect { x, width: wide as u16, ..bars }.intersection(bars), Target::Task(task.id));
    }
}
