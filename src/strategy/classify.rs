//! The classifier: sorts tools into the configured classes, once per version of a tool (the paper's
//! "Classifier Module"). Classes from a manifest or the user take precedence, and cost no model
//! call.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Context, json, prompt::planner_prompts as prompt};
use crate::domain::{ClassAssignment, ClassedBy, MenuItem, PlanEvent, Role, ToolClasses, ToolName};

/// The most tools in one model call: few enough for a complete answer.
const AT_ONCE: usize = 40;

/// Ensures that the tools of a menu have classes. If the classifier fails, its tools stay without one, and each is
/// called alone.
pub async fn classify(ctx: &impl Context, menu: &[MenuItem]) {
    for tools in unsorted(ctx, menu).chunks(AT_ONCE) {
        let request = ctx.state(|state| prompt::classifier(state, tools));
        let Ok(reply) = ctx.ask(Role::Classifier, request).await else { return };
        let sorted = ctx.state(|state| read(&reply.text, tools, &state.workers.classes));
        if !sorted.is_empty() {
            ctx.say(|_| PlanEvent::ToolsClassified { tools: sorted });
        }
    }
}

fn unsorted(ctx: &impl Context, menu: &[MenuItem]) -> Vec<ToolName> {
    ctx.state(|state| {
        let has_none =
            |tool: &&ToolName| state.tools.get(*tool).is_some_and(|tool| tool.class.is_none());
        menu.iter().map(|item| &item.tool).filter(has_none).cloned().collect()
    })
}

/// Reads `{"classes": {TOOL: CLASS or [CLASS, DOMAIN]}}`; unknown tools and classes are left out.
fn read(text: &str, tools: &[ToolName], classes: &ToolClasses) -> Vec<(ToolName, ClassAssignment)> {
    #[derive(Deserialize)]
    struct ClassSheet {
        classes: BTreeMap<String, Label>,
    }
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Label {
        Class(String),
        Both(String, String),
    }
    let sheet = json::objects(text).find_map(|json| serde_json::from_str::<ClassSheet>(json).ok());
    let labels = sheet.into_iter().flat_map(|sheet| sheet.classes);
    labels
        .filter_map(|(name, label)| {
            let tool = tools.iter().find(|tool| tool.as_str() == name)?.clone();
            let (class, domain) = match label {
                Label::Class(class) => (class, None),
                Label::Both(class, domain) => (class, Some(domain)),
            };
            let (class, known) = classes.find(&class)?;
            let domain = domain.and_then(|domain| known.find_domain(&domain).map(str::to_owned));
            Some((tool, ClassAssignment { class: class.to_owned(), domain, by: ClassedBy::Model }))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_read_and_what_is_unknown_is_left_out() {
        let tools: Vec<ToolName> = vec!["search".into(), "book".into()];
        let text = "Sure:\n```json\n{\"classes\": {\"search\": \"information retrieval\", \
                    \"book\": [\"Task Completion\", \"Travel\"], \"ghost\": \"Task Completion\"}}\n```";
        let sorted = read(text, &tools, &ToolClasses::default());
        let said: Vec<_> = sorted
            .iter()
            .map(|(tool, class)| (tool.as_str(), class.class.as_str(), class.domain.as_deref()))
            .collect();
        // The second class has no domains configured.
        assert_eq!(
            said,
            [("book", "Task Completion", None), ("search", "Information Retrieval", None)]
        );
        assert!(
            read("{\"classes\": {\"search\": \"magic\"}}", &tools, &ToolClasses::default())
                .is_empty()
        );
        assert!(read("no json", &tools, &ToolClasses::default()).is_empty());
    }
}
