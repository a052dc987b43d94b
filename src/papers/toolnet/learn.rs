//! Static construction: the graph learned from trajectories, as a 2-gram model of tool calls.

use std::collections::HashMap;

use crate::domain::{Prior, ToolGraph, ToolName};

/// Counts which tool followed which, one solved task at a time (ToolNet, section 3.2).
#[derive(Clone, Debug, Default)]
pub struct Learner {
    numbers: HashMap<ToolName, u32>,
    /// The number of times that each transition was seen.
    seen: HashMap<(u32, u32), u64>,
}

/// An invalid call in a trajectory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "call {place}: {name:?} is not a valid tool name; expected any name but \"\", \"start\" and \"end\""
)]
pub struct LearnError {
    /// Counted from 1.
    pub place: usize,
    pub name: ToolName,
}

/// Represents `end` among the numbers of the tools.
const END: u32 = u32::MAX;

impl Learner {
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts the transitions of one solved task, from its first call to `end`. Its start is not
    /// counted: `start` leads to every tool equally (ToolNet, section 3.2).
    ///
    /// # Errors
    /// A name is not a valid tool name; nothing is counted in that case.
    pub fn add(&mut self, calls: &[ToolName]) -> Result<(), LearnError> {
        if let Some(at) =
            calls.iter().position(|call| call.is_special() || call.as_str().is_empty())
        {
            return Err(LearnError { place: at + 1, name: calls[at].clone() });
        }
        let mut before = None;
        for call in calls {
            let call = self.number(call);
            if let Some(before) = before {
                *self.seen.entry((before, call)).or_default() += 1;
            }
            before = Some(call);
        }
        if let Some(last) = before {
            *self.seen.entry((last, END)).or_default() += 1;
        }
        Ok(())
    }

    fn number(&mut self, tool: &ToolName) -> u32 {
        if let Some(&number) = self.numbers.get(tool) {
            return number;
        }
        let number = self.numbers.len() as u32;
        self.numbers.insert(tool.clone(), number);
        number
    }

    /// The graph, tools by name: the same trajectories in another order give the same graph.
    ///
    /// ToolNet, eq. 5: `w0[i][j] = count(i followed by j) / count(i followed by anything)`.
    pub fn finish(self) -> ToolGraph {
        let mut names: Vec<(ToolName, u32)> = self.numbers.into_iter().collect();
        names.sort_unstable();
        let mut places = vec![0; names.len()];
        for (place, (_, number)) in names.iter().enumerate() {
            places[*number as usize] = place;
        }
        let place = |number: u32| places.get(number as usize).copied().unwrap_or(usize::MAX);
        let mut seen: Vec<_> = self
            .seen
            .into_iter()
            .map(|((from, to), count)| (place(from), place(to), count))
            .collect();
        seen.sort_unstable();

        let mut leaving = vec![0_u64; names.len()];
        for &(from, _, count) in &seen {
            leaving[from] += count;
        }
        let mut graph = ToolGraph::new(Prior::Static);
        for (name, _) in &names {
            graph.add_tool(name.clone());
        }
        for (from, to, count) in seen {
            let prior = count as f64 / leaving[from] as f64;
            let to = names.get(to).map_or(ToolName::END, |(name, _)| name.as_str());
            graph.put_edge(names[from].0.as_str(), to, prior, count);
        }
        graph
    }
}

/// Learns a graph from whole trajectories; see [`Learner`].
///
/// # Errors
/// A name is not a valid tool name.
pub fn learn<T: AsRef<[ToolName]>>(
    trajectories: impl IntoIterator<Item = T>,
) -> Result<ToolGraph, LearnError> {
    let mut learner = Learner::new();
    for calls in trajectories {
        learner.add(calls.as_ref())?;
    }
    Ok(learner.finish())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Checks that leaving a trajectory out is like not having learned it.
        #[test]
        fn a_graph_without_a_trajectory_is_that_of_the_others(
            all in prop::collection::vec(prop::collection::vec("[a-d]", 1..6), 1..8),
            which in any::<prop::sample::Index>(),
        ) {
            let all: Vec<Vec<ToolName>> = all
                .into_iter()
                .map(|names| names.into_iter().map(ToolName::from).collect())
                .collect();
            let out = which.index(all.len());
            let left = all.iter().enumerate().filter(|(at, _)| *at != out).map(|(_, calls)| calls);
            let (whole, others) = (learn(&all).unwrap(), learn(left).unwrap());
            let less = whole.without(&all[out]);
            let edges = |graph: &ToolGraph| -> std::collections::BTreeMap<(String, String), (u64, f64)> {
                let edges = graph.edges().into_iter();
                edges.map(|e| ((e.from.to_string(), e.to.to_string()), (e.count, e.prior))).collect()
            };
            prop_assert_eq!(edges(&less), edges(&others));
            prop_assert_eq!(less.len(), whole.len(), "the tools stay");
        }
    }
}
