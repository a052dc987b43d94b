//! Tool classes beyond the session: the classifier's answer for a tool counts until the tool or the
//! classes change.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Observer;
use crate::domain::{
    Chance, ClassAssignment, ClassedBy, Event, PlanEvent, Record, SessionEvent, State, ToolClasses,
    ToolName, ToolSpec, chance::canonical,
};

/// The classifier's answers, by the hash of the question.
pub type KeptClasses = BTreeMap<String, KeptClass>;

/// A stored class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptClass {
    /// For people who read the file.
    pub tool: ToolName,
    pub class: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
}

/// Saves all answers of the classifier.
pub type SaveClasses = Box<dyn FnMut(&KeptClasses) -> Result<(), String>>;

/// The classes of earlier sessions, and how those of this one are saved.
pub struct ClassBook {
    pub kept: KeptClasses,
    pub save: SaveClasses,
}

impl ClassBook {
    /// The class of an equal tool in an earlier session.
    fn class(&self, spec: &ToolSpec, classes: &ToolClasses) -> Option<ClassAssignment> {
        let kept = self.kept.get(&key(spec, classes))?;
        let (class, domain) = (kept.class.clone(), kept.domain.clone());
        Some(ClassAssignment { class, domain, by: ClassedBy::Kept })
    }

    /// Stores a model's answer.
    fn keep(
        &mut self,
        tools: &[(ToolName, ClassAssignment)],
        state: &State,
    ) -> Option<SessionEvent> {
        let sorted = tools.iter().filter(|(_, class)| class.by == ClassedBy::Model);
        let entries: Vec<(String, KeptClass)> = sorted
            .filter_map(|(tool, class)| {
                let key = key(&state.tools.get(tool)?.spec, &state.workers.classes);
                let (tool, class, domain) =
                    (tool.clone(), class.class.clone(), class.domain.clone());
                Some((key, KeptClass { tool, class, domain }))
            })
            .collect();
        if entries.is_empty() {
            return None;
        }
        self.kept.extend(entries);
        let error = (self.save)(&self.kept).err()?;
        Some(SessionEvent::Noticed { text: format!("classes of tools were not saved: {error}") })
    }
}

impl Observer for ClassBook {
    fn on(&mut self, record: &Record, state: &State) -> Vec<Event> {
        match &record.event {
            Event::Session(SessionEvent::ToolsAdded { tools }) => {
                let class = |spec: &ToolSpec| self.class(spec, &state.workers.classes);
                let unsorted = tools.iter().filter(|spec| {
                    state.tools.get(&spec.name).is_some_and(|tool| tool.class.is_none())
                });
                let known = unsorted.filter_map(|spec| Some((spec.name.clone(), class(spec)?)));
                let tools: Vec<_> = known.collect();
                if tools.is_empty() {
                    return Vec::new();
                }
                vec![PlanEvent::ToolsClassified { tools }.into()]
            }
            Event::Plan(PlanEvent::ToolsClassified { tools }) => {
                self.keep(tools, state).into_iter().map(Event::from).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// The inputs of a classifier's answer, as a key.
fn key(spec: &ToolSpec, classes: &ToolClasses) -> String {
    let classes = serde_json::to_string(classes).unwrap_or_default();
    let chance = Chance::new(0)
        .with(spec.name.as_str().as_bytes())
        .with(spec.description.as_bytes())
        .with(canonical(&spec.parameters).as_bytes())
        .with(classes.as_bytes());
    format!("{:016x}", chance.bits())
}
