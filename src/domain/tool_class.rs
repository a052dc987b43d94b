//! Classes of tools: tools of one class can answer the same need and are called together.
//!
//! Classes are broad on purpose. Narrow ones leave hardly anything to call together; broad ones
//! fill the solver's context (the paper, "Classification Criteria"). A second level, the domain,
//! divides a class in a workspace with many tools.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// Class of tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolClass {
    /// The purpose of tools of this class, for the model that sorts them.
    pub description: String,
    /// Domains within it with their descriptions; usually none.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub domains: IndexMap<String, String>,
}

/// The classes by name, in display and prompt order; at least one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ToolClasses(pub IndexMap<String, ToolClass>);

impl Default for ToolClasses {
    /// The two of the paper (table 2).
    fn default() -> Self {
        let class = |name: &str, description: &str| {
            let description = description.to_owned();
            (name.to_owned(), ToolClass { description, domains: IndexMap::new() })
        };
        Self(IndexMap::from([
            class("Information Retrieval", "Finds out what is known: searches, looks up, reads."),
            class("Task Completion", "Gets something done: computes, converts, books, writes."),
        ]))
    }
}

impl ToolClasses {
    /// The classes and their domains, as people read them.
    pub fn names(&self) -> impl Iterator<Item = String> {
        self.0.iter().flat_map(|(name, class)| {
            let domains = class.domains.keys().map(move |domain| format!("{name} / {domain}"));
            std::iter::once(name.clone()).chain(domains)
        })
    }

    /// The class of this name in its declared spelling; case and surrounding spaces do not matter.
    pub fn find(&self, name: &str) -> Option<(&str, &ToolClass)> {
        let wanted = name.trim().to_lowercase();
        let mut all = self.0.iter().map(|(name, class)| (name.as_str(), class));
        all.find(|(name, _)| name.to_lowercase() == wanted)
    }
}

impl ToolClass {
    /// The domain of this name in its declared spelling; case and surrounding spaces do not matter.
    pub fn find_domain(&self, name: &str) -> Option<&str> {
        let wanted = name.trim().to_lowercase();
        self.domains.keys().map(String::as_str).find(|name| name.to_lowercase() == wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_whatever_their_case() {
        let mut classes = ToolClasses::default();
        let found = classes.find(" information retrieval\n").map(|(name, _)| name);
        assert_eq!(found, Some("Information Retrieval"));
        assert_eq!(classes.find("Information"), None);
        let class = &mut classes.0["Task Completion"];
        class.domains.insert("Airline".into(), "flights".into());
        assert_eq!(class.find_domain("AIRLINE"), Some("Airline"));
        assert_eq!(class.find_domain(""), None);
    }
}
