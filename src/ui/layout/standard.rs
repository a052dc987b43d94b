//! The layouts to start with. The basis of a strategy's decisions gets the place where the eye begins. Every pane is in
//! one slot, so that its key finds it.

use super::{Layout, LayoutColumn, LayoutSlot, Size, column, slot, watch_layouts};
use crate::domain::strategy::Decides;
use crate::domain::{Acting, Base, Strategy};
use crate::pane::PaneId;

impl Layout {
    /// The pane where the eye begins.
    pub fn first_pane(acting: impl Into<Acting>) -> PaneId {
        Self::standard(acting, Size::Small).panes().next().unwrap_or_default()
    }

    /// The default layout of a strategy, or of watched agents.
    pub fn standard(acting: impl Into<Acting>, size: Size) -> Self {
        let acting = acting.into();
        let columns = match acting {
            Acting::Own(strategy) => own(strategy, size),
            Acting::Foreign => watch_layouts::columns(size),
        };
        let mut layout = Self { columns };
        // On a wide screen, what went wrong with somebody else's agent is always in sight.
        let is_wide = matches!(size, Size::Huge | Size::Giant) && acting == Acting::Foreign;
        if is_wide && layout.slot_of(P::Problems).is_none() {
            layout.columns.iter_mut().take(1).for_each(|it| it.slots.push(slot(6, &[P::Problems])));
        }
        // Panes that are not listed below go to the last slot.
        let others = PaneId::ALL.iter().copied().filter(|pane| layout.slot_of(*pane).is_none());
        let others: Vec<PaneId> = others.collect();
        let last = layout.columns.last_mut().and_then(|column| column.slots.last_mut());
        if let Some(slot) = last {
            slot.panes.extend(others);
        }
        layout
    }
}

fn own(strategy: Strategy, size: Size) -> Vec<LayoutColumn> {
    let main = Main::of(strategy);
    match size {
        Size::Tiny => vec![column(1, vec![slot(1, &main.first())])],
        Size::Small => vec![column(1, main.two())],
        Size::Medium => vec![column(1, main.three())],
        Size::Large => main.two_columns(strategy.btp),
        Size::Huge => main.three_columns(strategy.btp),
        Size::Giant => main.wide_columns(),
    }
}

/// Basis on which a strategy decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Main {
    /// A graph that it walks.
    Graph,
    /// A plan of all calls.
    Plan,
    /// A program over all tools.
    Program,
    /// A text that a small model reads along.
    Reading,
    /// A tree that it searches.
    Search,
    /// No visible basis but its calls.
    Calls,
}

use PaneId as P;

impl Main {
    fn of(strategy: Strategy) -> Self {
        let spec = strategy.base.spec();
        match spec.decides {
            Decides::AtOnce if strategy.base == Base::Atc => Main::Program,
            Decides::AtOnce => Main::Plan,
            _ if strategy.base == Base::Cotools => Main::Reading,
            _ if spec.searches => Main::Search,
            _ if spec.walks => Main::Graph,
            _ => Main::Calls,
        }
    }

    /// The panes most worth looking at, the best first.
    fn first(self) -> [PaneId; 4] {
        match self {
            Main::Graph => [P::Graph, P::Calls, P::Search, P::Plan],
            Main::Plan => [P::Calls, P::Graph, P::Plan, P::Search],
            Main::Program => [P::Program, P::Variables, P::Revisions, P::Calls],
            Main::Reading => [P::Reading, P::Calls, P::Graph, P::Plan],
            Main::Search => [P::Search, P::Calls, P::Graph, P::Plan],
            Main::Calls => [P::Calls, P::Graph, P::Search, P::Plan],
        }
    }

    fn two(self) -> Vec<LayoutSlot> {
        let above: Vec<PaneId> = self.first().into_iter().chain([P::Budget]).collect();
        vec![slot(11, &above), slot(9, &[P::Transcript, P::Tools, P::Resilience])]
    }

    fn three(self) -> Vec<LayoutSlot> {
        let middle: &[PaneId] = match self {
            Main::Program => &[P::Graph, P::Budget, P::Tools, P::Models, P::Knobs],
            _ => &[P::Budget, P::Tools, P::Models, P::Knobs],
        };
        vec![
            slot(11, &self.first()),
            slot(8, middle),
            slot(9, &[P::Transcript, P::Tasks, P::Resilience]),
        ]
    }

    fn two_columns(self, btp: bool) -> Vec<LayoutColumn> {
        let left = match self {
            Main::Plan => vec![
                slot(13, &[P::Graph, P::Search]),
                slot(11, &[P::Calls]),
                slot(13, &[P::Transcript, P::Resilience]),
            ],
            Main::Program => vec![
                slot(20, &[P::Program]),
                slot(9, &[P::Revisions, P::Probing]),
                slot(8, &[P::Transcript, P::Resilience]),
            ],
            Main::Graph => {
                vec![slot(17, &[P::Graph, P::Search]), slot(20, &[P::Transcript, P::Resilience])]
            }
            Main::Search => {
                vec![slot(17, &[P::Search, P::Graph]), slot(20, &[P::Transcript, P::Resilience])]
            }
            Main::Reading => {
                vec![slot(22, &[P::Reading]), slot(15, &[P::Transcript, P::Resilience])]
            }
            Main::Calls => {
                vec![slot(12, &[P::Calls, P::Search]), slot(25, &[P::Transcript, P::Resilience])]
            }
        };
        let has_calls = !matches!(self, Main::Plan | Main::Calls);
        let calls = has_calls.then(|| slot(8, &[P::Calls, P::Plan]));
        let plan = match self {
            Main::Plan => Some(slot(9, &[P::Plan])),
            Main::Program => Some(slot(9, &[P::Variables, P::Watches, P::Graph])),
            _ => None,
        };
        let budget = btp.then(|| slot(12, &[P::Budget]));
        let tools: &[PaneId] = match (self, btp) {
            (Main::Calls, true) => &[P::Tools, P::Graph, P::Knobs, P::Plan],
            (Main::Calls, false) => &[P::Tools, P::Budget, P::Graph, P::Knobs, P::Plan],
            (_, true) => &[P::Tools, P::Knobs],
            (_, false) => &[P::Tools, P::Budget, P::Knobs],
        };
        let right = [
            budget,
            Some(slot(5, &[P::Tasks])),
            Some(slot(7, &[P::Models])),
            plan,
            Some(slot(10, tools)),
            calls,
        ];
        vec![column(56, left), column(44, right.into_iter().flatten().collect())]
    }

    fn three_columns(self, btp: bool) -> Vec<LayoutColumn> {
        // Beside a graph or a plan the pane is always shown, so that a fault has a before to compare with.
        let resilience = slot(14, &[P::Resilience]);
        let left = match self {
            Main::Plan => {
                vec![slot(30, &[P::Graph, P::Search]), slot(14, &[P::Calls]), resilience]
            }
            Main::Program => {
                vec![
                    slot(26, &[P::Program]),
                    slot(12, &[P::Revisions, P::Probing]),
                    slot(10, &[P::Calls]),
                ]
            }
            Main::Graph => {
                vec![slot(30, &[P::Graph, P::Search]), slot(12, &[P::Calls]), resilience]
            }
            Main::Search => {
                vec![slot(20, &[P::Search]), slot(12, &[P::Graph]), slot(10, &[P::Calls])]
            }
            Main::Reading => {
                vec![slot(26, &[P::Reading]), slot(12, &[P::Graph]), slot(10, &[P::Calls])]
            }
            Main::Calls => vec![slot(18, &[P::Calls, P::Search]), slot(25, &[P::Graph])],
        };
        let budget = btp.then(|| slot(18, &[P::Budget]));
        let tools: &[PaneId] = if btp { &[P::Tools] } else { &[P::Tools, P::Budget] };
        let plan = match self {
            Main::Program => slot(14, &[P::Variables, P::Graph]),
            _ => slot(12, &[P::Plan]),
        };
        let middle = [budget, Some(slot(22, tools)), Some(slot(9, &[P::Models])), Some(plan)];
        let right = vec![slot(9, &[P::Tasks]), slot(12, &[P::Knobs]), slot(34, &[P::Transcript])];
        vec![
            column(42, left),
            column(26, middle.into_iter().flatten().collect()),
            column(32, right),
        ]
    }

    fn wide_columns(self) -> Vec<LayoutColumn> {
        let (first, tree): (&[PaneId], &[PaneId]) = match self {
            Main::Search => (&[P::Search], &[P::Graph]),
            Main::Program => (&[P::Program], &[P::Revisions, P::Probing]),
            Main::Reading => (&[P::Reading], &[P::Graph]),
            Main::Graph | Main::Plan | Main::Calls => (&[P::Graph], &[P::Search]),
        };
        let plan: &[PaneId] = match self {
            Main::Program => &[P::Variables, P::Graph],
            _ => &[P::Plan],
        };
        let left = vec![slot(33, first), slot(14, tree), slot(40, &[P::Transcript])];
        let middle = vec![slot(36, &[P::Budget]), slot(24, &[P::Tools]), slot(12, &[P::Models])];
        let right = vec![
            slot(20, &[P::Calls]),
            slot(20, plan),
            slot(26, &[P::Tasks]),
            slot(22, &[P::Knobs]),
        ];
        vec![column(40, left), column(26, middle), column(34, right)]
    }
}

#[cfg(test)]
mod tests {
    use strum::VariantArray;

    use super::*;
    use crate::layout::load;

    #[test]
    fn every_pane_has_its_place_in_every_layout() {
        let own = Strategy::all().map(Acting::Own);
        for acting in own.chain([Acting::Foreign]) {
            for size in Size::VARIANTS {
                let layout = Layout::standard(acting, *size);
                assert_eq!(load::fault(&layout), None, "{acting} {size:?}");
                for pane in PaneId::ALL {
                    assert!(layout.slot_of(*pane).is_some(), "{acting} {size:?}: no {pane:?}");
                }
            }
        }
    }

    #[test]
    fn what_a_strategy_decides_by_comes_first() {
        let first = |name: &str, size| {
            let layout = Layout::standard(name.parse::<Acting>().unwrap(), size);
            layout.seen(|_| true)[0]
        };
        assert_eq!(first("workers", Size::Small), P::Calls);
        assert_eq!(first("toolnet", Size::Small), P::Graph);
        assert_eq!(first("tot-dfs", Size::Small), P::Search);
        assert_eq!(first("atc", Size::Small), P::Program);
        assert_eq!(first("react", Size::Large), P::Calls);
        assert_eq!(first("workers+toolnet+btp", Size::Large), P::Graph);
        assert_eq!(first("watched", Size::Small), P::Calls);
    }
}
