//! What a weight would become, before it does.

use crate::papers::toolnet::{WeightedEdge, f};

/// Below this a score is worth so little that the row is summed up in another scale.
const TINY: f64 = 1e-200;

/// What is lost in rounding (1e-16) does not show if a change multiplies it by less than this.
const SHOWS: f64 = 1e8;

/// The weight that this choice would have if its tool's score, now `score`, changed by `delta` and no
/// other did; `None` where that cannot be told from its weight alone.
///
/// ToolNet, eq. 6 and 7, solved for the sum in the denominator, which the weight implies: so no row has
/// to be built anew for each of its choices.
pub fn what_if(
    choice: &WeightedEdge,
    score: f64,
    delta: f64,
    alpha: f64,
    beta: f64,
) -> Option<f64> {
    if choice.pinned || beta >= 1.0 {
        return Some(choice.weight);
    }
    let (now, then) = (f(score, alpha), f(score + delta, alpha));
    // A share that is lost in the rounding of the weight is nothing; that it is a little more shows
    // only if the change multiplies it.
    let share = ((choice.weight - beta * choice.prior) / (1.0 - beta)).max(0.0);
    if now < TINY || (share == 0.0 && then / now > SHOWS) {
        return None;
    }
    if share == 0.0 {
        return Some(beta * choice.prior);
    }
    let others = (now / share - now).max(0.0);
    Some(beta * choice.prior + (1.0 - beta) * then / (others + then).max(TINY))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        domain::{
            graph::{Pins, Prior, Scores, ToolGraph},
            id::ToolName,
        },
        papers::toolnet::Weights,
    };

    proptest! {
        #[test]
        fn it_is_what_the_weights_become(
            scores in prop::collection::vec(-12.0..12.0f64, 2..9), which in 0usize..9,
            delta in -3.0..3.0f64, alpha in 0.0..3.0f64, beta in 0.0..1.0f64, informed: bool,
        ) {
            let mut graph = ToolGraph::new(if informed { Prior::Static } else { Prior::Uninformed });
            let mut now = Scores::new();
            for (i, score) in scores.iter().enumerate() {
                let tool = ToolName::new(format!("t{i}"));
                graph.add_tool(tool.clone());
                now.set(tool, *score).unwrap();
            }
            let pins = Pins::new();
            let weights = |scores| Weights { graph: &graph, scores, alpha, beta, pins: &pins };
            let row = weights(&now).row("start");
            let choice = &row[which % row.len()];
            let score = now.get(choice.to.as_str()).unwrap();
            let mut then = now.clone();
            then.add(choice.to.clone(), delta).unwrap();
            let right = weights(&then).weight("start", choice.to.as_str()).unwrap();
            let told = what_if(choice, score, delta, alpha, beta).unwrap();
            prop_assert!((told - right).abs() < 1e-6, "{} is not {}", told, right);
        }
    }
}
