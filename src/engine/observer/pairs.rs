//! Results per planner/solver pair, over the sessions of a workspace. These are counts, not
//! learning, so they continue while learning is frozen.

use jiff::Timestamp;

use super::Observer;
use crate::domain::{Event, GraphEvent, Record, SessionEvent, State, TaskEvent};
use crate::store::experience::SharedExperience;

pub(crate) struct Pairs(pub SharedExperience);

impl Observer for Pairs {
    fn on(&mut self, record: &Record, state: &State) -> Vec<Event> {
        let mut store = self.0.lock();
        let said = match &record.event {
            Event::Graph(GraphEvent::GraphLoaded { .. }) => match store.pairs(&state.workspace) {
                Ok(pairs) if pairs.is_empty() => None,
                Ok(pairs) => Some(SessionEvent::PairsLoaded { pairs }),
                Err(error) => {
                    let text = format!("could not load results of earlier sessions: {error}");
                    Some(SessionEvent::Noticed { text })
                }
            },
            Event::Task(TaskEvent::TaskFinished { task, .. }) => {
                let tally = state.pair_tally(*task);
                let added =
                    tally.map(|tally| store.add_run(&state.workspace, Timestamp::now(), &tally));
                added.and_then(Result::err).map(|error| {
                    let text = format!("could not save the result of the task: {error}");
                    SessionEvent::Noticed { text }
                })
            }
            _ => None,
        };
        said.into_iter().map(Event::from).collect()
    }
}
