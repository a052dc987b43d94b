//! The tools that queries are about.

use std::path::Path;
use std::sync::Arc;

use crate::domain::{Lexical, ToolSpec};
use crate::papers::cotools::tool_text;
use crate::shell::trouble::Trouble;
use crate::workspace::manifests;

/// Tools in order.
pub struct Catalogue {
    /// The name for people, and for the domain of the queries.
    pub name: String,
    pub tools: Vec<Arc<ToolSpec>>,
}

impl Catalogue {
    /// The tools of a workspace.
    ///
    /// # Errors
    /// A file is wrong, or there are no tools.
    pub fn of_workspace(folder: &Path) -> Result<Self, Trouble> {
        let loaded = manifests(None, &[folder.join("tools")]).map_err(Trouble::usage)?;
        let tools = loaded.manifests.into_iter().map(|manifest| manifest.spec).collect();
        Self { name: folder.display().to_string(), tools }.with_tools()
    }

    /// The catalogue, if it has a tool.
    ///
    /// # Errors
    /// The name of one without tools.
    pub fn with_tools(self) -> Result<Self, Trouble> {
        if self.tools.is_empty() {
            let text = format!("{}: no tools; expected at least one", self.name);
            return Err(Trouble::Usage(text));
        }
        Ok(self)
    }

    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.tools.iter().map(|tool| tool.name.as_str())
    }

    /// The text about each tool that the reader encodes.
    pub fn texts(&self) -> Vec<String> {
        self.tools.iter().map(|tool| tool_text(tool.name.as_str(), &tool.description)).collect()
    }

    /// The index of words over some of the tools.
    pub fn lexical(&self, places: &[usize]) -> Lexical {
        Lexical::new(places.iter().map(|place| &*self.tools[*place]))
    }
}
