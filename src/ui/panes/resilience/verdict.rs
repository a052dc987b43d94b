//! The verdict of the session, and that of its twin beside it.

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::facts::Facts;
use crate::cx::Cx;
use crate::domain::Lap;
use crate::panes::row::{self, Row};
use crate::papers::resilience::{self, Means, RecoveryVerdict, Resilience};
use crate::symbols::{DONE, FAILED, RUNNING, WAITING};
use crate::text;
use crate::theme::Theme;
use crate::twin::{Twin, TwinKind};

/// From this height on a verdict may take two lines.
const TALL: u16 = 8;
/// From this width on both are side by side; below it, one below the other.
const BESIDE: u16 = 90;

/// Draws both verdicts; returns the rest of the area.
pub(super) fn draw(cx: &Cx<'_>, facts: &Facts<'_>, area: Rect, buf: &mut Buffer) -> Rect {
    let most = if area.height < TALL { 1 } else { 2 };
    let own = verdict(cx, facts);
    let Some(twin) = facts.twin.as_ref().and_then(|(twin, found)| of_twin(cx, facts, twin, found))
    else {
        return put(&own, most, area, buf);
    };
    if area.width < BESIDE {
        let rest = put(&own, most, area, buf);
        return put(&twin, 1, rest, buf);
    }
    let width = area.width * 3 / 5;
    let left = put(&own, most, Rect { width: width - 1, ..area }, buf);
    let right = Rect { x: area.x + width, width: area.width - width, ..area };
    let right = put(&twin, most, right, buf);
    let y = left.y.max(right.y);
    Rect { y, height: area.bottom() - y, ..area }
}

/// Writes a verdict on the lines that it needs; returns the rest of the area.
fn put((said, style): &(String, Style), most: usize, area: Rect, buf: &mut Buffer) -> Rect {
    let lines = text::wrap_within(said, usize::from(area.width.saturating_sub(1)), most);
    let (head, rest) = row::split(area, lines.len() as u16);
    for (line, said) in head.rows().zip(&lines) {
        Row::new(line, buf).gap(1).put(said, *style);
    }
    rest
}

/// The verdict with its mark, or why there is none.
fn verdict(cx: &Cx<'_>, facts: &Facts<'_>) -> (String, Style) {
    let Some((taken, sentence)) = facts.taken.as_ref().zip(facts.sentence()) else {
        let said = "No fault yet. Press <key:fail> to break the selected tool.";
        return (cx.keymap.fill(said).into_owned(), cx.theme.dim);
    };
    if taken.found.hit.is_none() && taken.fault.armed {
        let said = match taken.fault.fired {
            0 => "The fault is armed, but has hit no call yet.",
            _ => "The fault has hit; the task that it hit first is not over.",
        };
        return (said.to_owned(), cx.theme.injected);
    }
    let (mark, style) = look(cx.theme, &taken.found);
    (format!("{mark} {}", first_upper(&sentence)), style)
}

/// The verdict of the twin. A twin without the fault has none: it shows what these tasks take without it.
fn of_twin(
    cx: &Cx<'_>,
    facts: &Facts<'_>,
    twin: &Twin,
    found: &Resilience,
) -> Option<(String, Style)> {
    if twin.kind == TwinKind::Frozen {
        let (mark, style) = look(cx.theme, found);
        return Some((format!("twin {mark} {}", resilience::sentence(found, None)), style));
    }
    let hit = facts.taken.as_ref()?.found.hit?;
    let is_same = |lap: &&Lap| facts.laps.iter().any(|own| own.task == lap.task);
    let since: Vec<_> = twin.laps.iter().filter(|lap| lap.task >= hit).filter(is_same).collect();
    let means = Means::of(&since);
    let said = match (means.tasks, means.right_share()) {
        (0, _) => "twin without the fault: not there yet".to_owned(),
        (_, None) => format!("twin without the fault: {:.1} calls per task", means.calls),
        (_, Some(share)) => format!(
            "twin without the fault: {:.1} calls per task, {:.0} % right",
            means.calls,
            100.0 * share
        ),
    };
    Some((said, cx.theme.planned))
}

/// The mark and the style of a verdict.
fn look(theme: &Theme, found: &Resilience) -> (&'static str, Style) {
    match found.verdict {
        _ if found.is_unharmed() => (WAITING, theme.dim),
        RecoveryVerdict::Recovered { .. } => (DONE, theme.good),
        RecoveryVerdict::Recovering { .. } => (RUNNING, theme.running),
        RecoveryVerdict::NotRecovered { .. } => (FAILED, theme.bad),
        RecoveryVerdict::NotAffected | RecoveryVerdict::NoComparison => (WAITING, theme.dim),
    }
}

fn first_upper(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
