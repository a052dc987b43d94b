//! Tool classes set by a person.

use super::Session;
use crate::domain::{By, ClassAssignment, ClassedBy, Event, PlanEvent, ToolName};

impl Session {
    /// Sets the class of a tool for the user, or removes the user's class: then the next source counts again.
    pub fn set_class(
        &self,
        tool: ToolName,
        class: Option<ClassAssignment>,
        by: By,
    ) -> Result<Event, String> {
        let known =
            self.state.tools.get(&tool).ok_or_else(|| format!("there is no tool {tool}"))?;
        let was = known.class.clone();
        let class = match (class, by) {
            (class, By::Undo(_) | By::Redo(_)) => class,
            (Some(class), By::User | By::Engine) => Some(self.as_configured(class)?),
            (None, By::User | By::Engine) => None,
        };
        let same = |class: &Option<ClassAssignment>| {
            class.as_ref().map(|class| (class.class.clone(), class.domain.clone()))
        };
        if same(&class) == same(&was) {
            return Err(format!("{tool} has that class already"));
        }
        Ok(PlanEvent::ToolClassSet { tool, class, was, by }.into())
    }

    /// A configured class gets its configured spelling; any other name is accepted as written.
    fn as_configured(&self, said: ClassAssignment) -> Result<ClassAssignment, String> {
        let ClassAssignment { class, domain, .. } = said;
        let (class, by) = (class.trim(), ClassedBy::User);
        if class.is_empty() {
            return Err("the class has no name".to_owned());
        }
        let Some((class, known)) = self.state.workers.classes.find(class) else {
            return Ok(ClassAssignment { class: class.to_owned(), domain, by });
        };
        let find = |domain: String| {
            let found = known.find_domain(&domain).map(str::to_owned);
            found.ok_or_else(|| format!("the class {class} has no domain {domain:?}"))
        };
        Ok(ClassAssignment { class: class.to_owned(), domain: domain.map(find).transpose()?, by })
    }
}
