//! The row of time: all events of the session from left to right, the moment looked at, and the landmarks. If landmarks
//! share a cell, the worst is shown: failures, then faults, then stops at breakpoints, then changes. Faults and
//! breakpoints that were only set have no mark. A click goes to the moment.
//!
//! ```text
//!  event 1,820 ▕━━━━━✎━━━↯━✗━━━━━━━━━━━━━┃────────▏  LIVE +272
//! ```

use std::ops::RangeInclusive;

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::hits::{Hits, Target};
use super::panes::row::Row;
use super::symbols::{CHOSEN, EDITED, FAILED, INJECTED, PLANNED, RUNNING};
use super::text::{self, number};
use super::{cx::Cx, theme::Theme, view::ReadOnly};
use crate::domain::state::{Landmark, Landmarks};

/// The least number of cells that can show a session.
const LEAST: u16 = 20;

/// The cells of a session.
#[derive(Clone, Copy, Debug)]
struct Track {
    events: u64,
    cells: u64,
}

impl Track {
    /// The last event of the cells before this one.
    fn before(self, cell: u64) -> u64 {
        // A damaged journal may have any number of events.
        let before = u128::from(cell) * u128::from(self.events) / u128::from(self.cells);
        u64::try_from(before).unwrap_or(u64::MAX)
    }

    /// The events of a cell; none where there are fewer events than cells.
    fn events(self, cell: u64) -> RangeInclusive<u64> {
        self.before(cell).saturating_add(1)..=self.before(cell + 1)
    }

    /// The cell of an event.
    fn cell(self, event: u64) -> u64 {
        let through =
            (u128::from(event) * u128::from(self.cells)).div_ceil(u128::from(self.events));
        u64::try_from(through).unwrap_or(u64::MAX).clamp(1, self.cells) - 1
    }
}

pub fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let events = cx.live.n;
    if area.is_empty() || events == 0 {
        return;
    }
    let at = cx.view.moment.unwrap_or(events);
    let (widest, ahead) = (number(events), number(events.saturating_sub(at)));
    let end = if cx.view.read_only == Some(ReadOnly::Replay) { "END" } else { "LIVE" };
    let (right, room) = match cx.view.moment {
        Some(_) => (format!("{end} +{ahead}"), end.len() + 2 + widest.len()),
        None => (end.to_owned(), end.len()),
    };
    let right = match cx.view.play.is_on() {
        true => format!("{RUNNING} {}", cx.view.play.speed()),
        false => right,
    };
    let style = if cx.view.moment.is_some() { cx.theme.past } else { cx.theme.running };
    let mut row = Row::new(area, buf);
    row.gap(1)
        .put("event ", cx.theme.dim)
        .right(&number(at), widest.len(), style)
        .put(" ▕", cx.theme.dim);
    let track = row.x();
    let cells = area.right().saturating_sub(track).saturating_sub(room as u16 + 4);
    if cells < LEAST {
        return;
    }
    draw_track(cx, Rect { x: track, width: cells, height: 1, ..area }, at, buf, hits);
    let rest = Rect { x: track + cells, width: area.right() - track - cells, ..area };
    let mut row = Row::new(rest, buf);
    row.put("▏", cx.theme.dim).gap(2 + room.saturating_sub(text::width(&right))).put(&right, style);
}

fn draw_track(cx: &Cx<'_>, area: Rect, at: u64, buf: &mut Buffer, hits: &mut Hits) {
    let track = Track { events: cx.live.n, cells: u64::from(area.width) };
    let here = track.cell(at);
    let position = if cx.view.moment.is_some() { cx.theme.past } else { cx.theme.running };
    for (cell, x) in (0..).zip(area.x..area.right()) {
        let events = track.events(cell);
        let line = if cell < here { PLANNED } else { "─" };
        let mark = mark(&cx.live.landmarks, &events, cx.theme);
        let (sign, style, goes) = match mark {
            _ if cell == here => ("┃", position, None),
            Some((sign, style, n)) => (sign, style, Some(n)),
            None => (line, cx.theme.dim, None),
        };
        buf.set_stringn(x, area.y, sign, 1, style);
        let goes = goes.unwrap_or_else(|| (*events.end()).max(1));
        hits.add(Rect { x, width: 1, ..area }, Target::Moment(goes));
    }
}

/// The worst landmark among these events: its sign, its style, and its event.
fn mark(
    marks: &Landmarks,
    events: &RangeInclusive<u64>,
    theme: &Theme,
) -> Option<(&'static str, Style, u64)> {
    let groups: [(&[Landmark], &str, Style); 4] = [
        (&[Landmark::Wrong, Landmark::Failed], FAILED, theme.bad),
        (&[Landmark::Fired, Landmark::FailedByFault], INJECTED, theme.injected),
        (&[Landmark::Stopped], CHOSEN, theme.paused),
        (&[Landmark::Edited], EDITED, theme.user),
    ];
    groups.into_iter().find_map(|(kinds, sign, style)| {
        let before = events.start().saturating_sub(1);
        let first = |kind: &Landmark| marks.after(*kind, before).filter(|n| events.contains(n));
        Some((sign, style, kinds.iter().find_map(first)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_number_of_events_is_drawn_too() {
        let track = Track { events: u64::MAX, cells: 90 };
        assert_eq!(
            (track.cell(1), track.cell(u64::MAX), *track.events(89).end()),
            (0, 89, u64::MAX)
        );
    }

    #[test]
    fn every_event_has_one_cell() {
        for (events, cells) in [(1, 20), (7, 20), (20, 20), (2_092, 86), (1_000_003, 90)] {
            let track = Track { events, cells };
            let all: Vec<u64> = (0..cells).flat_map(|cell| track.events(cell)).collect();
            assert!(all.iter().copied().eq(1..=events), "{track:?}");
            for cell in 0..cells {
                assert!(track.events(cell).all(|event| track.cell(event) == cell), "{track:?}");
            }
        }
    }
}
