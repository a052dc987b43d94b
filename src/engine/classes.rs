//! Classes of tools beyond the session: what the classifier has said of a tool counts until the tool or
//! the classes are others.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::core::Core;
use crate::domain::{
    chance::{Chance, canonical},
    event::{By, Classed, ClassedBy, Event},
    id::ToolName,
    spec::ToolSpec,
    tool_class::ToolClasses,
};

/// What the classifier has said, by what it was asked about.
pub type Kept = BTreeMap<String, KeptClass>;

/// A class as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptClass {
    /// For people who read the file.
    pub tool: ToolName,
    pub class: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
}

/// Saves all that the classifier has said.
pub type SaveClasses = Box<dyn FnMut(&Kept) -> Result<(), String>>;

/// The classes of earlier sessions, and how those of this one are saved.
pub struct ClassBook {
    pub kept: Kept,
    pub save: SaveClasses,
}

impl Core {
    /// The class that a tool like this was sorted into in an earlier session.
    pub fn class_kept(&self, tool: &ToolName) -> Option<Classed> {
        let spec = &self.state.tools.get(tool)?.spec;
        let kept = self.classes.as_ref()?.kept.get(&key(spec, &self.state.workers.classes))?;
        let (class, domain) = (kept.class.clone(), kept.domain.clone());
        Some(Classed { class, domain, by: ClassedBy::Kept })
    }

    /// Says how tools were sorted, and keeps what a model said.
    pub fn classified(&mut self, tools: Vec<(ToolName, Classed)>) {
        let sorted = tools.iter().filter(|(_, class)| class.by == ClassedBy::Model);
        let entries: Vec<(String, KeptClass)> = sorted
            .filter_map(|(tool, class)| {
                let key = key(&self.state.tools.get(tool)?.spec, &self.state.workers.classes);
                let (tool, class, domain) =
                    (tool.clone(), class.class.clone(), class.domain.clone());
                Some((key, KeptClass { tool, class, domain }))
            })
            .collect();
        self.emit(Event::ToolsClassified { tools });
        let Some(book) = self.classes.as_mut().filter(|_| !entries.is_empty()) else { return };
        book.kept.extend(entries);
        if let Err(error) = (book.save)(&book.kept) {
            self.emit(Event::Noticed { text: format!("classes of tools were not saved: {error}") });
        }
    }

    /// The user says of which class a tool is, or takes back that they did: then whoever said it before
    /// says so again.
    pub fn set_class(
        &mut self,
        tool: ToolName,
        class: Option<Classed>,
        by: By,
    ) -> Result<(), String> {
        let known =
            self.state.tools.get(&tool).ok_or_else(|| format!("there is no tool {tool}"))?;
        let was = known.class.clone();
        let class = match (class, by) {
            (class, By::Undo(_)) => class,
            (Some(class), By::User | By::Engine) => Some(self.as_configured(class)?),
            (None, By::User | By::Engine) => None,
        };
        let same = |class: &Option<Classed>| {
            class.as_ref().map(|class| (class.class.clone(), class.domain.clone()))
        };
        if same(&class) == same(&was) {
            return Err(format!("{tool} is of that class already"));
        }
        self.emit(Event::ToolClassSet { tool, class, was, by });
        Ok(())
    }

    /// A class that is configured is spelled as it is there; any other name is one's own.
    fn as_configured(&self, said: Classed) -> Result<Classed, String> {
        let Classed { class, domain, .. } = said;
        let (class, by) = (class.trim(), ClassedBy::User);
        if class.is_empty() {
            return Err("the class has no name".to_owned());
        }
        let Some((class, known)) = self.state.workers.classes.find(class) else {
            return Ok(Classed { class: class.to_owned(), domain, by });
        };
        let find = |domain: String| {
            let found = known.find_domain(&domain).map(str::to_owned);
            found.ok_or_else(|| format!("the class {class} has no domain {domain:?}"))
        };
        Ok(Classed { class: class.to_owned(), domain: domain.map(find).transpose()?, by })
    }
}

/// What a classifier's answer depends on.
fn key(spec: &ToolSpec, classes: &ToolClasses) -> String {
    let classes = serde_json::to_string(classes).unwrap_or_default();
    let chance = Chance::new(0)
        .with(spec.name.as_str().as_bytes())
        .with(spec.description.as_bytes())
        .with(canonical(&spec.parameters).as_bytes())
        .with(classes.as_bytes());
    format!("{:016x}", chance.bits())
}
