//! Where everything goes. Pure: a size and what is zoomed in, rectangles out.
//!
//! ```text
//! up to 119×29: tabs        120×30 and more: two columns      200×45 and more: three
//! ┌ header ────────┐        ┌ header ──────────────────┐      ┌ header ──────────────────────┐
//! │ 1 Graph 2 …    │        │ Graph       │ Tasks      │      │ Graph      │ Tasks │ Models  │
//! │ one pane       │        │             │ Tools      │      │            │       │ Knobs   │
//! │                │        │ Transcript  │ Models     │      │ Transcript │ Tools │         │
//! │                │        │             │ Knobs      │      │            │       │ Calls   │
//! │                │        │             │ Calls      │      │            │       │         │
//! └ footer ────────┘        └ footer ──────────────────┘      └ footer ──────────────────────┘
//! ```

use ratatui::layout::{Constraint, Layout, Rect};

use super::{pane::PaneId, view::View};

/// The smallest screen on which anything can be read.
pub const MIN: (u16, u16) = (60, 16);
/// From here on there are two columns.
const TWO: (u16, u16) = (120, 30);
/// From here on there are three.
const THREE: (u16, u16) = (200, 45);

/// The parts of the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    pub header: Rect,
    /// Where only one pane is shown: the names of all.
    pub tabs: Option<Rect>,
    /// Frames and all.
    pub panes: Vec<(PaneId, Rect)>,
    pub footer: Rect,
}

/// The parts; `None` where the screen is too small.
pub fn parts(area: Rect, view: &View) -> Option<Parts> {
    if area.width < MIN.0 || area.height < MIN.1 {
        return None;
    }
    let at_least = |(width, height)| area.width >= width && area.height >= height;
    let [header, body, footer] =
        Layout::vertical([Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1)])
            .areas(area);
    let (tabs, panes) = match view.zoom {
        Some(pane) if at_least(TWO) => (None, vec![(pane, body)]),
        _ if at_least(THREE) => (None, three_columns(body)),
        _ if at_least(TWO) => (None, two_columns(body)),
        _ => {
            let [tabs, body] =
                Layout::vertical([Constraint::Length(1), Constraint::Fill(1)]).areas(body);
            (Some(tabs), vec![(view.focus, body)])
        }
    };
    Some(Parts { header, tabs, panes, footer })
}

fn two_columns(body: Rect) -> Vec<(PaneId, Rect)> {
    let [left, right] =
        Layout::horizontal([Constraint::Percentage(56), Constraint::Fill(1)]).areas(body);
    let mut panes = main_column(left);
    let [tasks, tools, models, knobs, calls] = Layout::vertical([
        Constraint::Length(if body.height < 36 { 4 } else { 6 }),
        Constraint::Fill(3),
        Constraint::Length(5),
        Constraint::Fill(2),
        Constraint::Fill(2),
    ])
    .areas(right);
    panes.extend([
        (PaneId::Scores, tools),
        (PaneId::Knobs, knobs),
        (PaneId::Models, models),
        (PaneId::Calls, calls),
        (PaneId::Tasks, tasks),
    ]);
    panes
}

fn three_columns(body: Rect) -> Vec<(PaneId, Rect)> {
    let [left, middle, right] = Layout::horizontal([
        Constraint::Percentage(44),
        Constraint::Percentage(30),
        Constraint::Fill(1),
    ])
    .areas(body);
    let mut panes = main_column(left);
    let [tasks, tools] =
        Layout::vertical([Constraint::Length(body.height / 4), Constraint::Fill(1)]).areas(middle);
    let [models, knobs, calls] =
        Layout::vertical([Constraint::Length(6), Constraint::Max(16), Constraint::Fill(1)])
            .areas(right);
    panes.extend([
        (PaneId::Scores, tools),
        (PaneId::Knobs, knobs),
        (PaneId::Models, models),
        (PaneId::Calls, calls),
        (PaneId::Tasks, tasks),
    ]);
    panes
}

fn main_column(column: Rect) -> Vec<(PaneId, Rect)> {
    let [graph, transcript] =
        Layout::vertical([Constraint::Percentage(46), Constraint::Fill(1)]).areas(column);
    vec![(PaneId::Graph, graph), (PaneId::Transcript, transcript)]
}

/// A box in the middle, never larger than the screen.
pub fn middle(area: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(area.width), height.min(area.height));
    Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_panes_of_every_layout() {
        let view = View::default();
        let count = |width, height| {
            parts(Rect::new(0, 0, width, height), &view)
                .map(|parts| (parts.tabs.is_some(), parts.panes.len()))
        };
        assert_eq!(count(59, 24), None);
        assert_eq!(count(80, 15), None);
        assert_eq!(count(80, 24), Some((true, 1)));
        assert_eq!(count(120, 40), Some((false, 7)));
        assert_eq!(count(320, 90), Some((false, 7)));
        let zoomed = View { zoom: Some(PaneId::Calls), ..View::default() };
        let parts = parts(Rect::new(0, 0, 120, 40), &zoomed).unwrap();
        assert_eq!(parts.panes, [(PaneId::Calls, Rect::new(0, 1, 120, 38))]);
    }

    proptest! {
        #[test]
        fn panes_cover_the_body_and_never_overlap(width in 60u16..330, height in 16u16..100) {
            let area = Rect::new(0, 0, width, height);
            let parts = parts(area, &View::default()).unwrap();
            let mut cells = parts.header.area() + parts.footer.area();
            cells += parts.tabs.map_or(0, Rect::area);
            for (i, (pane, rect)) in parts.panes.iter().enumerate() {
                cells += rect.area();
                prop_assert!(rect.width > 2 && rect.height > 2, "{pane:?} {rect:?}");
                for (_, other) in &parts.panes[..i] {
                    prop_assert!(!rect.intersects(*other));
                }
            }
            prop_assert_eq!(cells, area.area());
        }
    }
}
