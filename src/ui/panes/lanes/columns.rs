//! The columns of the lanes. Where room is scarce, the lane gives way first, then the arguments, never the state.

use super::rows::{LaneCall, LaneRow, LaneRows};
use super::words;
use crate::text;

/// Cells of a lane that are worth drawing.
pub const LANE: usize = 6;
/// Rows whose names and arguments are measured.
const MEASURED: usize = 256;
/// The fewest cells of arguments, and those from which on they have their names.
const BESIDE: usize = 10;
const NAMED: usize = 36;
/// From this width on results stand beside the lanes, in this many cells at least.
const WITH_NOTES: usize = 150;
const NOTE: usize = 24;
/// Cells of the mark of the selected row, and between columns.
const MARK: usize = 2;
const GAPS: usize = 3;

/// The widths of the columns.
#[derive(Clone, Debug)]
pub struct LaneColumns {
    pub name: usize,
    pub beside: usize,
    /// 0 if there is no room.
    pub lane: usize,
    pub state: usize,
    /// The beginning of what came back, beside wide lanes; 0 elsewhere.
    pub note: usize,
    pub is_named: bool,
    /// Begin of all tools' names, which the title has.
    pub prefix: String,
}

impl LaneColumns {
    pub fn of(rows: &LaneRows<'_>, width: usize) -> Self {
        let prefix = common_prefix(rows);
        let state = match width {
            150.. => 22,
            100.. => 20,
            _ => 17,
        }
        .min(width / 3);
        let most = (width * 3 / 10).saturating_sub(1).clamp(BESIDE, 64);
        let is_named = most >= NAMED;
        let shown = || rows.rows.iter().take(MEASURED);
        let names = shown().map(|row| {
            indent(rows, row) + text::width(short(words::name(rows.state, row), &prefix))
        });
        let name = names.max().unwrap_or(0).clamp(5, (width / 5 + 1).clamp(8, 28));
        let texts = shown().map(|row| text::width(&words::beside(row, most, is_named)));
        let beside = texts.max().unwrap_or(0).clamp(BESIDE, most);
        let note = if width >= WITH_NOTES { (width - WITH_NOTES) / 2 + NOTE } else { 0 };
        let taken = MARK + name + state + GAPS + note;
        let (beside, lane) = match width.checked_sub(taken + beside) {
            Some(lane) if lane >= LANE => (beside, lane),
            _ => {
                let left = width.saturating_sub(taken);
                let lane = if left >= BESIDE + LANE { LANE } else { 0 };
                (left - lane.min(left), lane)
            }
        };
        Self { name, beside, lane, state, note, is_named, prefix }
    }

    /// Cells before the lanes.
    pub fn before(&self) -> usize {
        MARK + self.name + 1 + self.beside + 1
    }
}

/// Cells before a name: for the agents above, and for the model call that decided it.
pub fn indent(rows: &LaneRows<'_>, row: &LaneRow<'_>) -> usize {
    match (row.nested, row.call) {
        (0, LaneCall::Tool(call))
            if call.parent.and_then(|it| rows.state.model_call(it)).is_some() =>
        {
            2
        }
        (0, _) => 0,
        (nested, _) => 2 + 2 * nested,
    }
}

/// A tool's name without the common beginning of all names.
pub fn short<'a>(name: &'a str, prefix: &str) -> &'a str {
    name.strip_prefix(prefix).filter(|rest| !rest.is_empty()).unwrap_or(name)
}

/// The common beginning of all tools' names up to a sign, such as `mcp__files__`; empty if there is none.
fn common_prefix(rows: &LaneRows<'_>) -> String {
    let tool = |row: &LaneRow<'_>| match row.call {
        LaneCall::Tool(call) => Some(call.tool.clone()),
        LaneCall::Model(_) => None,
    };
    let names: Vec<_> = rows.rows.iter().take(MEASURED).filter_map(tool).collect();
    let Some(first) = names.first().map(|name| name.as_str().to_owned()) else {
        return String::new();
    };
    if names.iter().all(|name| name.as_str() == first) {
        return String::new();
    }
    let common = names.iter().fold(first.as_str(), |common, name| {
        let same = common.chars().zip(name.as_str().chars()).take_while(|(a, b)| a == b);
        let bytes = same.map(|(c, _)| c.len_utf8()).sum::<usize>();
        &common[..bytes]
    });
    let end =
        common.rfind("__").map(|at| at + 2).or(common.rfind(['.', '/', ':']).map(|at| at + 1));
    common[..end.unwrap_or(0)].to_owned()
}
