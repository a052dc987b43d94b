//! The fold of the contents of a session, and of the settings that a person changes.

use std::sync::Arc;

use super::Family;
use crate::chat::Role;
use crate::event::{ChangeEvent, Opening, SessionEvent};
use crate::id::TaskId;
use crate::knob::Knob;
use crate::state::{Mode, Models, State, What};

impl State {
    fn apply_session(&mut self, at: u64, event: &SessionEvent) {
        match event {
            SessionEvent::SessionOpened { opening } => self.open(opening),
            SessionEvent::SessionEnded { .. } => {
                self.control.mode = Mode::Ended;
                self.models.stop_probing();
            }
            SessionEvent::ToolsAdded { tools } => {
                for spec in tools {
                    self.join(Arc::clone(spec));
                }
            }
            SessionEvent::ModelsAdded { models } => {
                models.iter().for_each(|spec| self.models.add(spec));
            }
            SessionEvent::ToolsRemoved { tools } => {
                for tool in tools {
                    self.leave(tool);
                }
            }
            SessionEvent::PairsLoaded { pairs } => {
                pairs.iter().for_each(|tally| self.pairs.add(tally));
            }
            SessionEvent::ModelsProbed { models } => self.models.probe(at, models),
            SessionEvent::ModelReached { model, how, text } => self.models.reach(model, *how, text),
            SessionEvent::Noticed { .. } | SessionEvent::CommandRefused { .. } => {}
        }
    }

    fn open(&mut self, opening: &Opening) {
        self.seed = opening.seed;
        self.workspace.clone_from(&opening.workspace);
        self.strategy = opening.strategy;
        self.knobs = opening.knobs.clone();
        self.rates = opening.rates;
        self.approval.clone_from(&opening.approval);
        self.max_dollars = opening.max_dollars;
        self.workers.clone_from(&opening.workers);
        self.prompts.clone_from(&opening.prompts);
        self.sampling.clone_from(&opening.sampling);
        self.few_shots.clone_from(&opening.few_shots);
        self.watched = opening.watched.then(Arc::default);
        self.models = Models::new(&opening.models, &opening.roles);
        self.control.mode = if opening.paused { Mode::Paused } else { Mode::Running };
    }

    fn apply_change(&mut self, event: &ChangeEvent) {
        match event {
            ChangeEvent::KnobTurned { knob, value, .. } => {
                self.knobs.set(*knob, f64::from(*value));
                if *knob == Knob::FixTools {
                    self.defined = Arc::default();
                }
            }
            ChangeEvent::RoleBound { role, model, .. } => {
                self.models.bind(*role, model);
                // Another endpoint has another cache.
                if *role == Role::Actor {
                    self.defined = Arc::default();
                }
            }
            ChangeEvent::StrategyChosen { strategy, .. } => self.strategy = *strategy,
            ChangeEvent::SeedChosen { seed, .. } => self.seed = *seed,
            ChangeEvent::ToolSwitched { tool, on, .. } => {
                if let Some(tool) = self.tools.get_mut(tool) {
                    tool.switched_on = *on;
                }
            }
        }
    }
}

impl Family for SessionEvent {
    fn fold(&self, state: &mut State, at: u64) {
        state.apply_session(at, self);
    }

    fn line(&self, _state: &State) -> Option<(Option<TaskId>, What)> {
        match self {
            SessionEvent::SessionEnded { .. }
            | SessionEvent::Noticed { .. }
            | SessionEvent::CommandRefused { .. } => What::told(self.clone()),
            SessionEvent::SessionOpened { .. }
            | SessionEvent::ToolsAdded { .. }
            | SessionEvent::ModelsAdded { .. }
            | SessionEvent::ToolsRemoved { .. }
            | SessionEvent::PairsLoaded { .. }
            | SessionEvent::ModelsProbed { .. }
            | SessionEvent::ModelReached { .. } => None,
        }
    }
}

impl Family for ChangeEvent {
    fn fold(&self, state: &mut State, _at: u64) {
        state.apply_change(self);
    }

    fn line(&self, _state: &State) -> Option<(Option<TaskId>, What)> {
        What::told(self.clone())
    }
}
