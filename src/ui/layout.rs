//! Where everything goes. Pure: a size, what is zoomed and what is worth a place in, rectangles out.
//!
//! ```text
//! up to 119×29: tabs        120×30 and more: two columns      200×45 and more: three
//! ┌ header ────────┐        ┌ header ──────────────────┐      ┌ header ──────────────────────┐
//! │ 1 Graph 2 …    │        │ Graph       │ Tasks      │      │ Graph      │ Tasks  │ Models │
//! │ one pane       │        │ (Search)    │ (Budget)   │      │ (Search)   │ Budget │ Knobs  │
//! │                │        │             │ Tools      │      │            │        │        │
//! │                │        │ Transcript  │ Models     │      │ Transcript │ Tools  │ Calls  │
//! │                │        │             │ Knobs      │      │            │        │        │
//! │                │        │             │ Calls      │      │            │        │        │
//! └ footer ────────┘        └ footer ──────────────────┘      └ footer ──────────────────────┘
//! ```
//!
//! Search has a place where there is something to search for: while the strategy or the task shown
//! searches. In two columns Budget has one while there is a budget to hold to (`+btp`), and takes it from
//! Knobs, since what turns a plan is in it. Where a planner writes down all calls, its plan stands above
//! the lanes of its workers on the left, and the graph, which nobody walks, takes the place of Calls. A
//! pane that has no place and gets the keyboard takes that of Calls, or of the graph there.

use ratatui::layout::{Constraint, Layout, Rect};

use super::{pane::PaneId, panes, view::View};
use crate::domain::State;

/// The smallest screen on which anything can be read.
pub const MIN: (u16, u16) = (60, 16);
/// From here on there are two columns.
const TWO: (u16, u16) = (120, 30);
/// From here on there are three.
const THREE: (u16, u16) = (200, 45);

/// What is worth a place of its own now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    pub budget: bool,
    pub search: bool,
    /// A planner's plan, and its workers.
    pub plan: bool,
}

impl Wanted {
    pub fn of(state: &State, view: &View) -> Self {
        let task = view.task_of(state);
        let wanted = |pane: PaneId| (panes::spec(pane).when)(state, view);
        Self {
            budget: state.strategy.btp || task.is_some_and(|task| task.budget.plan.is_some()),
            search: wanted(PaneId::Search),
            plan: wanted(PaneId::Plan),
        }
    }
}

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
pub fn parts(area: Rect, view: &View, wanted: Wanted) -> Option<Parts> {
    if area.width < MIN.0 || area.height < MIN.1 {
        return None;
    }
    let at_least = |(width, height)| area.width >= width && area.height >= height;
    let [header, body, footer] =
        Layout::vertical([Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1)])
            .areas(area);
    let (tabs, panes) = match view.zoom {
        Some(pane) if at_least(TWO) => (None, vec![(pane, body)]),
        _ if at_least(THREE) => (None, placed(three_columns(body, wanted), view.focus)),
        _ if at_least(TWO) => (None, placed(two_columns(body, wanted), view.focus)),
        _ => {
            let [tabs, body] =
                Layout::vertical([Constraint::Length(1), Constraint::Fill(1)]).areas(body);
            (Some(tabs), vec![(view.focus, body)])
        }
    };
    Some(Parts { header, tabs, panes, footer })
}

/// Whoever has the keyboard is seen: in the last place, if it has none of its own.
fn placed(mut panes: Vec<(PaneId, Rect)>, focus: PaneId) -> Vec<(PaneId, Rect)> {
    if panes.iter().all(|(pane, _)| *pane != focus)
        && let Some((pane, _)) = panes.last_mut()
    {
        *pane = focus;
    }
    panes
}

fn two_columns(body: Rect, wanted: Wanted) -> Vec<(PaneId, Rect)> {
    use PaneId as P;
    let [left, right] =
        Layout::horizontal([Constraint::Percentage(56), Constraint::Fill(1)]).areas(body);
    let mut panes = main_column(left, wanted);
    let last = if wanted.plan { P::Graph } else { P::Calls };
    let low = body.height < 36;
    let tasks = match (low, wanted.budget) {
        (true, _) => 4,
        (false, true) => 5,
        (false, false) => 6,
    };
    let right_column = [
        Some((P::Tasks, Constraint::Length(tasks))),
        wanted.budget.then_some((P::Budget, Constraint::Fill(5))),
        Some((P::Tools, Constraint::Fill(3))),
        Some((P::Models, Constraint::Length(5))),
        (!wanted.budget).then_some((P::Knobs, Constraint::Fill(2))),
        Some((last, Constraint::Fill(2))),
    ];
    panes.extend(column(right, right_column.into_iter().flatten()));
    panes
}

fn three_columns(body: Rect, wanted: Wanted) -> Vec<(PaneId, Rect)> {
    use PaneId as P;
    let [left, middle, right] = Layout::horizontal([
        Constraint::Percentage(44),
        Constraint::Percentage(30),
        Constraint::Fill(1),
    ])
    .areas(body);
    let mut panes = main_column(left, wanted);
    let last = if wanted.plan { P::Graph } else { P::Calls };
    panes.extend(column(
        middle,
        [
            (P::Tasks, Constraint::Length(body.height / 5)),
            (P::Budget, if wanted.budget { Constraint::Fill(5) } else { Constraint::Length(11) }),
            (P::Tools, Constraint::Fill(4)),
        ],
    ));
    panes.extend(column(
        right,
        [
            (P::Models, Constraint::Length(7)),
            (P::Knobs, Constraint::Max(16)),
            (last, Constraint::Fill(1)),
        ],
    ));
    panes
}

fn main_column(area: Rect, wanted: Wanted) -> Vec<(PaneId, Rect)> {
    if wanted.plan {
        let panes = [
            (PaneId::Plan, Constraint::Percentage(38)),
            (PaneId::Calls, Constraint::Percentage(32)),
            (PaneId::Transcript, Constraint::Fill(1)),
        ];
        return column(area, panes);
    }
    let panes = [
        Some((PaneId::Graph, Constraint::Percentage(if wanted.search { 30 } else { 46 }))),
        wanted.search.then_some((PaneId::Search, Constraint::Percentage(30))),
        Some((PaneId::Transcript, Constraint::Fill(1))),
    ];
    column(area, panes.into_iter().flatten())
}

/// Panes one below the other.
fn column(
    area: Rect,
    panes: impl IntoIterator<Item = (PaneId, Constraint)>,
) -> Vec<(PaneId, Rect)> {
    let (panes, heights): (Vec<_>, Vec<_>) = panes.into_iter().unzip();
    panes.into_iter().zip(Layout::vertical(heights).split(area).iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn laid_out(width: u16, height: u16, view: &View, wanted: Wanted) -> Option<Parts> {
        parts(Rect::new(0, 0, width, height), view, wanted)
    }

    fn names(parts: &Parts) -> Vec<PaneId> {
        parts.panes.iter().map(|(pane, _)| *pane).collect()
    }

    #[test]
    fn the_panes_of_every_layout() {
        let view = View::default();
        let count = |width, height| {
            laid_out(width, height, &view, Wanted::default())
                .map(|parts| (parts.tabs.is_some(), parts.panes.len()))
        };
        assert_eq!(count(59, 24), None);
        assert_eq!(count(80, 15), None);
        assert_eq!(count(80, 24), Some((true, 1)));
        assert_eq!(count(120, 40), Some((false, 7)));
        assert_eq!(count(320, 90), Some((false, 8)));
        let zoomed = View { zoom: Some(PaneId::Calls), ..View::default() };
        let parts = laid_out(120, 40, &zoomed, Wanted::default()).unwrap();
        assert_eq!(parts.panes, [(PaneId::Calls, Rect::new(0, 1, 120, 38))]);
    }

    #[test]
    fn what_is_wanted_has_a_place_and_what_has_the_keyboard_too() {
        let wanted = Wanted { budget: true, search: true, plan: false };
        let shown = |focus, wanted| {
            let view = View { focus, ..View::default() };
            names(&laid_out(120, 40, &view, wanted).unwrap())
        };
        let all = shown(PaneId::Graph, wanted);
        assert!(all.contains(&PaneId::Budget) && all.contains(&PaneId::Search));
        assert!(!all.contains(&PaneId::Knobs) && all.contains(&PaneId::Calls));
        let knobs = shown(PaneId::Knobs, wanted);
        assert!(knobs.contains(&PaneId::Knobs) && !knobs.contains(&PaneId::Calls));
        let planned = shown(PaneId::Knobs, Wanted { plan: true, ..wanted });
        let kept = [PaneId::Plan, PaneId::Calls, PaneId::Budget, PaneId::Knobs];
        assert!(kept.iter().all(|pane| planned.contains(pane)), "{planned:?}");
        let search = shown(PaneId::Search, Wanted::default());
        assert!(search.contains(&PaneId::Search) && !search.contains(&PaneId::Budget));
    }

    proptest! {
        #[test]
        fn panes_cover_the_body_and_never_overlap(
            width in 60u16..330, height in 16u16..100, budget: bool, search: bool, plan: bool,
            focus in 0usize..PaneId::ALL.len(),
        ) {
            let area = Rect::new(0, 0, width, height);
            let view = View { focus: PaneId::ALL[focus], ..View::default() };
            let parts = parts(area, &view, Wanted { budget, search, plan }).unwrap();
            prop_assert!(names(&parts).contains(&view.focus));
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
