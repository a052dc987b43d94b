//! The calls of two programs of a task, side by side.

use serde_json::Value;

use super::Page;
use crate::domain::words::counted;
use crate::domain::{Origin, State, TaskId, ToolCallPhase, ToolCallState};
use crate::panes::{inline_json, program_words::standing};
use crate::papers::atc::compare::{Pair, asked, compare, differing};
use crate::papers::atc::record::way;
use crate::symbols::{DONE, FAILED, RECORDED, REFUSED, RUNNING};

/// Cells of the arguments of a call.
const ROOM: usize = 48;
/// Cells of a value that differs.
const VALUE: usize = 24;

pub(super) fn write(state: &State, task: TaskId, (a, b): (u32, u32), page: &mut Page<'_>) {
    let (Some(first), Some(second)) = (state.program(task, a), state.program(task, b)) else {
        return page.not_yet("These programs did not exist");
    };
    let (Some(one), Some(other)) = (way(state, first), way(state, second)) else {
        return page.not_yet("The calls of these programs were unknown");
    };
    for (program, calls) in [(first, &one), (second, &other)] {
        let calls = counted(calls.len(), "call");
        page.field(
            &format!("program {}", program.number),
            &format!("{calls} · {}", standing(program)),
        );
    }
    let pairs = compare(&one, &other);
    let count = |is: fn(&Pair<'_>) -> bool| pairs.iter().filter(|pair| is(pair)).count();
    let said = [
        (count(|pair| matches!(pair, Pair::Same(..))), "the same".to_owned()),
        (count(|pair| matches!(pair, Pair::Other(..))), "with other arguments".to_owned()),
        (count(|pair| matches!(pair, Pair::First(..))), format!("only in program {a}")),
        (count(|pair| matches!(pair, Pair::Second(..))), format!("only in program {b}")),
    ];
    let said = said.iter().filter(|(count, _)| *count > 0);
    let said = said.map(|(count, words)| format!("{count} {words}")).collect::<Vec<_>>();
    page.field_if_any("calls", &said.join(" · "));
    page.heading(&format!("{:>3} {:>3}  Their calls, in order", a, b));
    if pairs.is_empty() {
        page.text("Neither made a call.", page.theme.dim);
    }
    let (mut i, mut j) = (0, 0);
    for pair in &pairs {
        match pair {
            Pair::Same(..) | Pair::Other(..) => (i, j) = (i + 1, j + 1),
            Pair::First(_) => i += 1,
            Pair::Second(_) => j += 1,
        }
        row(pair, (i, j), page);
    }
}

fn row(pair: &Pair<'_>, (i, j): (usize, usize), page: &mut Page<'_>) {
    let theme = page.theme;
    let (left, right) = (i.to_string(), j.to_string());
    let (left, sign, right, style) = match pair {
        Pair::Same(..) => (&*left, "=", &*right, theme.dim),
        Pair::Other(..) => (&*left, "~", &*right, theme.warn),
        Pair::First(_) => (&*left, "-", "", theme.dim),
        Pair::Second(_) => ("", "+", &*right, theme.title),
    };
    let (first, last) = match pair {
        Pair::Same(a, b) | Pair::Other(a, b) => (a, b),
        Pair::First(a) => (a, a),
        Pair::Second(b) => (b, b),
    };
    let marks = match pair {
        Pair::Same(a, b) | Pair::Other(a, b) => format!("{} {}", mark(a), mark(b)),
        Pair::First(a) => mark(a).to_owned(),
        Pair::Second(b) => format!("  {}", mark(b)),
    };
    let arguments = match pair {
        Pair::Other(..) => String::new(),
        _ => format!("({})", inline_json::arguments(asked(last), ROOM)),
    };
    page.pieces(vec![
        (format!("{left:>3} {right:>3}  {marks:<4}"), theme.dim),
        (format!("{sign} {}{arguments}", first.tool), style),
    ]);
    if let Pair::Other(a, b) = pair {
        for (name, was, is) in differing(asked(a), asked(b)) {
            let shown = |value: Option<&Value>| {
                value.map_or_else(|| "not given".to_owned(), |it| inline_json::arguments(it, VALUE))
            };
            let text = format!("{name}: {} → {}", shown(was), shown(is));
            page.pieces(vec![(" ".repeat(16), theme.dim), (text, theme.text)]);
        }
    }
}

/// How a call ended.
fn mark(call: &ToolCallState) -> &'static str {
    match call.phase {
        ToolCallPhase::Requested | ToolCallPhase::Running => RUNNING,
        ToolCallPhase::Done { .. } if call.origin == Origin::Reused => RECORDED,
        ToolCallPhase::Done { .. } => DONE,
        ToolCallPhase::Failed { .. } => FAILED,
        ToolCallPhase::Refused { .. } => REFUSED,
    }
}
