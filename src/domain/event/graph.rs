//! The tool graph, and what was learned about it (ToolNet).

use std::collections::BTreeMap;

use super::{By, ToolVerdict, family::family};
use crate::finite::Finite;
use crate::graph::ToolGraph;
use crate::id::{TaskId, ToolName};

family! {
    /// The tool graph, and what was learned about it (ToolNet).
    pub enum GraphEvent {
        /// The graph, and what earlier sessions learned about it.
        GraphLoaded {
            graph: ToolGraph,
            scores: BTreeMap<ToolName, Finite>,
        },
        /// The evaluator's verdict on a finished trajectory (ToolNet, section 3.3).
        Evaluated {
            task: TaskId,
            verdicts: Vec<ToolVerdict>,
            /// Whether the scores changed; false while learning is frozen.
            learned: bool,
        },
        /// The evaluator's answer could not be used.
        EvaluationRefused {
            task: TaskId,
            why: String,
        },
        /// A successor that was offered for exploration was used: it has an edge now, with prior 0.
        EdgeExplored {
            from: ToolName,
            to: ToolName,
        },
        ScoreSet {
            tool: ToolName,
            score: Finite,
            was: Finite,
            by: By,
        },
        WeightPinned {
            from: ToolName,
            to: ToolName,
            weight: Finite,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            was: Option<Finite>,
            by: By,
        },
        WeightUnpinned {
            from: ToolName,
            to: ToolName,
            was: Finite,
            by: By,
        },
    }
}
