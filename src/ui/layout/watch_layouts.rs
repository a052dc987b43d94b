//! The layouts for watched agents: their calls first, then what was said, what came after what, and their output.

use super::{LayoutColumn, Size, beside, column, slot, under};
use crate::pane::PaneId as P;

/// The columns of a size.
pub(super) fn columns(size: Size) -> Vec<LayoutColumn> {
    match size {
        Size::Tiny => {
            vec![column(1, vec![slot(1, &[P::Calls, P::Conversations, P::Transcript, P::Output])])]
        }
        Size::Small | Size::Medium => vec![column(
            1,
            vec![
                slot(13, &[P::Calls, P::Conversations, P::Output]),
                slot(
                    9,
                    &[P::Transcript, P::Problems, P::Graph, P::Tools, P::Models, P::Resilience],
                ),
            ],
        )],
        Size::Large => vec![column(
            1,
            vec![
                slot(19, &[P::Calls]),
                slot(18, &[P::Transcript, P::Conversations, P::Resilience, P::Tasks]),
                beside(450, 10, &[P::Graph, P::Tools, P::Models]),
                under(8, &[P::Output, P::Problems, P::Knobs]),
            ],
        )],
        Size::Huge => vec![
            column(
                63,
                vec![
                    slot(8, &[P::Conversations, P::Tasks]),
                    slot(27, &[P::Calls]),
                    slot(14, &[P::Graph]),
                    beside(500, 14, &[P::Resilience]),
                    slot(7, &[P::Problems]),
                    under(9, &[P::Tools, P::Knobs]),
                    beside(500, 15, &[P::Models]),
                ],
            ),
            column(37, vec![slot(36, &[P::Transcript]), slot(20, &[P::Output])]),
        ],
        Size::Giant => vec![
            column(
                60,
                vec![
                    slot(14, &[P::Conversations, P::Tasks]),
                    slot(40, &[P::Calls]),
                    slot(20, &[P::Graph]),
                    beside(350, 20, &[P::Resilience]),
                    beside(300, 20, &[P::Models]),
                    slot(14, &[P::Problems, P::Knobs]),
                    beside(500, 14, &[P::Tools]),
                ],
            ),
            column(
                40,
                vec![slot(38, &[P::Transcript]), slot(26, &[P::Prompt]), slot(22, &[P::Output])],
            ),
        ],
    }
}
