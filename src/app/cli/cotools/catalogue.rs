//! The tools that queries are about.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use super::args::CatalogueArgs;
use super::open;
use crate::cli::trouble::Trouble;
use crate::domain::{EffectClass, Lexical, ToolSpec};
use crate::papers::cotools::tool_text;
use crate::store::import::cotools::DataTool;
use crate::workspace::manifests;

/// Tools in order.
pub struct Catalogue {
    /// The name for people, and for the domain of the queries.
    pub name: String,
    pub tools: Vec<Arc<ToolSpec>>,
}

impl Catalogue {
    /// The tools of a workspace or of a data set.
    ///
    /// # Errors
    /// A file is wrong, or the catalogue has no tools.
    pub fn open(args: &CatalogueArgs) -> Result<Self, Trouble> {
        let catalogue = match (&args.workspace, &args.data) {
            (Some(folder), _) => Self::of_workspace(folder)?,
            (None, Some(folder)) => Self::of_data(folder.display(), &open::data(folder)?.tools),
            (None, None) => return Err(Trouble::Usage("name --workspace or --data".to_owned())),
        };
        if catalogue.tools.is_empty() {
            let text = format!("{}: no tools; expected at least one", catalogue.name);
            return Err(Trouble::Usage(text));
        }
        Ok(catalogue)
    }

    fn of_workspace(folder: &Path) -> Result<Self, Trouble> {
        let loaded = manifests(None, &[folder.join("tools")]).map_err(Trouble::usage)?;
        let tools = loaded.manifests.into_iter().map(|manifest| manifest.spec).collect();
        Ok(Self { name: folder.display().to_string(), tools })
    }

    /// The tools of a set, whose name is `name`.
    pub fn of_data(name: impl ToString, tools: &[DataTool]) -> Self {
        let spec = |tool: &DataTool| ToolSpec {
            name: tool.name.as_str().into(),
            description: tool.description.clone(),
            parameters: Arc::new(json!({ "type": "object" })),
            class: String::new(),
            cost: None,
            effect: EffectClass::Unknown,
            timeout_ms: 0,
            source: "data".to_owned(),
            examples: Vec::new(),
            disabled: None,
            proposed: None,
            served_as: None,
            returns: None,
            request: None,
        };
        Self {
            name: name.to_string(),
            tools: tools.iter().map(|tool| Arc::new(spec(tool))).collect(),
        }
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
