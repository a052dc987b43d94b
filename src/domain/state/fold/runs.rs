//! The fold of runs.

use std::sync::Arc;

use super::Family;
use crate::api_requests;
use crate::event::RunEvent;
use crate::id::TaskId;
use crate::state::{Rewritten, RunState, State, Watched, What};

impl Family for RunEvent {
    fn fold(&self, state: &mut State, _at: u64) {
        match self {
            RunEvent::RunOpened { run, strategy, guest } => {
                let (strategy, guest) = (*strategy, guest.clone());
                state.runs.insert(*run, RunState { strategy, guest, rewritten: 0 });
            }
            RunEvent::HistoryRewritten { run, kept, dropped, call, gone } => {
                if let Some(run) = state.runs.get_mut(run) {
                    run.rewritten += 1;
                }
                if let Some(call) = call.and_then(|call| state.model_call_mut(call)) {
                    let (kept, dropped, gone) = (*kept, *dropped, gone.clone());
                    call.rewritten = Some(Rewritten { kept, dropped, gone });
                }
            }
            RunEvent::PrefixLost { call, lost, .. } => {
                if let Some(call) = state.model_call_mut(*call) {
                    call.lost = Some(Arc::clone(lost));
                }
            }
            RunEvent::InputUnread { call, unread, .. } => {
                if let Some(call) = state.model_call_mut(*call) {
                    call.unread = Some(*unread);
                }
            }
            RunEvent::RunParted { .. } => {}
            RunEvent::ResultDrifted { drift, .. } => state.watch(|watched| watched.drifts(drift)),
            RunEvent::RequestPassed { what, why } => state.watch(|watched| match why {
                Some(_) => watched.not_understood += 1,
                None => {
                    watched.passed += 1;
                    api_requests::count(&mut watched.unread, what);
                }
            }),
            RunEvent::Intercepting {} => state.watch(|watched| watched.intercepts = true),
            RunEvent::RequestMetered { model, usage, dollars, .. } => {
                state.models.metered(model, *usage, *dollars);
            }
            RunEvent::AgentStarted { command } => {
                state.watch(|watched| watched.command = Some(command.clone()));
            }
            RunEvent::AgentEnded { code } => state.watch(|watched| watched.ended = Some(*code)),
        }
    }

    fn line(&self, state: &State) -> Option<(Option<TaskId>, What)> {
        match self {
            RunEvent::RequestPassed { what, why: None } if !state.is_first_of_api(what) => None,
            // Each is in the sums of its model.
            RunEvent::RequestMetered { .. } => None,
            // A text that changes with every request is reported only once; each model call has its mark.
            RunEvent::PrefixLost { lost, .. } if state.is_lost_again(lost) => None,
            _ => What::told(self.clone()),
        }
    }
}

impl State {
    /// Whether a request that passed unread is the first for a known service, or of a known API.
    fn is_first_of_api(&self, what: &str) -> bool {
        let (watched, named) = (self.watched.as_ref(), api_requests::service(what));
        let named = named.or_else(|| api_requests::api(what));
        named.zip(watched).is_some_and(|(name, it)| it.unread.get(name) == Some(&1))
    }

    fn watch(&mut self, change: impl FnOnce(&mut Watched)) {
        change(Arc::make_mut(self.watched.get_or_insert_default()));
    }
}
