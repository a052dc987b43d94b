//! The layouts for foreign agents: their conversations, their calls, and the output of their process.

use super::{LayoutColumn, Size, column, slot};
use crate::pane::PaneId as P;

/// The columns of a size.
pub(super) fn columns(size: Size) -> Vec<LayoutColumn> {
    match size {
        Size::Tiny => {
            vec![column(1, vec![slot(1, &[P::Conversations, P::Calls, P::Transcript, P::Output])])]
        }
        Size::Small => vec![column(
            1,
            vec![
                slot(9, &[P::Conversations, P::Calls, P::Graph, P::Models, P::Budget]),
                slot(11, &[P::Transcript, P::Output, P::Tools, P::Tasks, P::Resilience]),
            ],
        )],
        Size::Medium => vec![column(
            1,
            vec![
                slot(8, &[P::Conversations, P::Tasks, P::Models]),
                slot(9, &[P::Calls, P::Graph, P::Tools, P::Budget, P::Knobs]),
                slot(10, &[P::Transcript, P::Output, P::Resilience]),
            ],
        )],
        Size::Large => vec![
            column(
                57,
                vec![
                    slot(9, &[P::Conversations, P::Tasks]),
                    slot(11, &[P::Calls]),
                    slot(17, &[P::Transcript, P::Resilience]),
                ],
            ),
            column(
                43,
                vec![
                    slot(7, &[P::Models]),
                    slot(16, &[P::Tools, P::Graph, P::Budget, P::Knobs]),
                    slot(14, &[P::Output]),
                ],
            ),
        ],
        Size::Huge | Size::Giant => vec![
            column(
                42,
                vec![
                    slot(14, &[P::Conversations, P::Tasks]),
                    slot(18, &[P::Calls]),
                    slot(24, &[P::Graph]),
                ],
            ),
            column(
                26,
                vec![
                    slot(10, &[P::Models]),
                    slot(24, &[P::Tools, P::Knobs]),
                    slot(22, &[P::Budget]),
                ],
            ),
            column(32, vec![slot(36, &[P::Transcript]), slot(20, &[P::Output])]),
        ],
    }
}
