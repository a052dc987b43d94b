//! Learned schemas beyond the session, and results that differ from them. A schema counts until its tool's manifest or
//! the prober's prompts change.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Observer;
use crate::domain::event::json_of;
use crate::domain::probe::{LearnedSchema, SchemaSource};
use crate::domain::{
    Chance, EffectId, Event, Origin, ProbeEvent, Prompt, Record, SessionEvent, State, TaskEvent,
    ToolCallEvent, ToolName, ToolSpec, ToolState, chance::canonical,
};

/// Learned schemas, by the hash of the conditions under which they were learned.
pub type KeptSchemas = BTreeMap<String, KeptSchema>;

/// A stored schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptSchema {
    pub tool: ToolName,
    /// When it was learned.
    pub at: Timestamp,
    pub learned: LearnedSchema,
}

/// Adds schemas to those that are saved, in place of older ones of the same tools.
pub type SaveSchemas = Box<dyn FnMut(&KeptSchemas) -> Result<(), String>>;

/// The schemas of earlier sessions, and how those of this one are saved.
pub struct SchemaBook {
    pub kept: KeptSchemas,
    pub save: SaveSchemas,
}

impl Default for SchemaBook {
    /// A book without schemas, which saves nothing.
    fn default() -> Self {
        Self { kept: KeptSchemas::new(), save: Box::new(|_| Ok(())) }
    }
}

/// Watches the results of tools.
pub(crate) struct Schemas {
    book: SchemaBook,
    /// The schemas to save.
    new: KeptSchemas,
}

impl Schemas {
    pub fn new(book: SchemaBook) -> Self {
        Self { book, new: KeptSchemas::new() }
    }

    /// The schemas that earlier sessions learned of equal tools.
    fn known(&self, tools: &[std::sync::Arc<ToolSpec>], state: &State) -> Vec<Event> {
        // There may be thousands of tools, and hashing a manifest takes time.
        let kept: BTreeSet<&ToolName> = self.book.kept.values().map(|kept| &kept.tool).collect();
        let unknown = tools.iter().filter(|spec| {
            let is_unknown = |tool: &ToolState| tool.learned.is_none();
            kept.contains(&spec.name) && state.tools.get(&spec.name).is_some_and(is_unknown)
        });
        let learned = unknown.filter_map(|spec| {
            let kept = self.book.kept.get(&key(spec, state))?;
            let (tool, source) = (spec.name.clone(), SchemaSource::Kept);
            let learned = kept.learned.clone().into();
            Some(ProbeEvent::SchemaLearned { tool, learned, source }.into())
        });
        learned.collect()
    }

    /// Notes that a schema was learned, or extended by another result.
    fn note(&mut self, tool: &ToolName, state: &State) {
        let Some(known) = state.tools.get(tool) else { return };
        let Some(schema) = &known.learned else { return };
        let key = key(&known.spec, state);
        let earlier = self.new.get(&key).or_else(|| self.book.kept.get(&key));
        let at = match earlier {
            Some(kept) if schema.drifts > 0 => kept.at,
            _ => Timestamp::now(),
        };
        let learned = LearnedSchema::clone(&schema.learned);
        self.new.insert(key, KeptSchema { tool: tool.clone(), at, learned });
    }

    /// The parts of a result that the schema of its tool lacks. A result that a fault or a person has changed says
    /// nothing about the tool.
    fn drift(state: &State, call: EffectId) -> Option<ProbeEvent> {
        let made = state.tool_call(call)?;
        let known = state.tools.get(&made.tool)?.learned.as_ref()?;
        let is_own = matches!(made.origin, Origin::Live | Origin::Recorded | Origin::Provider);
        if made.injected.is_some() || !is_own {
            return None;
        }
        let drift = known.learned.schema.drift(&state.json_result(call)?);
        let tool = made.tool.clone();
        (!drift.is_empty()).then_some(ProbeEvent::SchemaDrifted { tool, call, drift })
    }

    fn save(&mut self) -> Option<SessionEvent> {
        if self.new.is_empty() {
            return None;
        }
        match (self.book.save)(&self.new) {
            Ok(()) => {
                self.new.clear();
                None
            }
            Err(error) => {
                let text = format!("learned schemas were not saved: {error}");
                Some(SessionEvent::Noticed { text })
            }
        }
    }
}

impl Observer for Schemas {
    fn on(&mut self, record: &Record, state: &State) -> Vec<Event> {
        let said: Option<Event> = match &record.event {
            Event::Session(SessionEvent::ToolsAdded { tools }) => return self.known(tools, state),
            Event::ToolCall(ToolCallEvent::ToolCallFinished { effect, .. }) => {
                Self::drift(state, effect.id).map(Event::from)
            }
            // The schema is saved at once, since a probing can be stopped at any tool.
            Event::Probe(ProbeEvent::SchemaLearned {
                tool, source: SchemaSource::Probed, ..
            }) => {
                self.note(tool, state);
                self.save().map(Event::from)
            }
            Event::Probe(ProbeEvent::SchemaDrifted { tool, .. }) => {
                self.note(tool, state);
                None
            }
            Event::Task(TaskEvent::TaskFinished { .. }) => self.save().map(Event::from),
            _ => None,
        };
        said.into_iter().collect()
    }

    fn close(&mut self, _state: &State) -> Vec<Event> {
        self.save().into_iter().map(Event::from).collect()
    }
}

/// The key of the conditions under which a schema was learned: the manifest, and the prober's prompts.
fn key(spec: &ToolSpec, state: &State) -> String {
    let prompts = [Prompt::Prober, Prompt::ProberHelpers, Prompt::ProberSelect, Prompt::ProberMore];
    let manifest = json_of(spec);
    let mut chance = Chance::new(0).with(canonical(&manifest).as_bytes());
    for prompt in prompts {
        chance = chance.with(state.prompts.text(prompt).as_bytes());
    }
    format!("{:016x}", chance.bits())
}
