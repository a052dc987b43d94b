//! The tools of a workspace or of a data set.

use std::sync::Arc;

use serde_json::json;

use super::args::CatalogueArgs;
use super::open;
use crate::app::shell::cotools::catalogue::Catalogue;
use crate::app::shell::trouble::Trouble;
use crate::data::DataTool;
use crate::domain::{EffectClass, ToolSpec};

/// The tools that the arguments name.
///
/// # Errors
/// A file is wrong, or the catalogue has no tools.
pub fn open(args: &CatalogueArgs) -> Result<Catalogue, Trouble> {
    match (&args.workspace, &args.data) {
        (Some(folder), _) => Catalogue::of_workspace(folder),
        (None, Some(folder)) => of_data(folder.display(), &open::data(folder)?.tools).with_tools(),
        (None, None) => Err(Trouble::Usage("name --workspace or --data".to_owned())),
    }
}

/// The tools of a set, whose name is `name`.
pub fn of_data(name: impl ToString, tools: &[DataTool]) -> Catalogue {
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
    Catalogue {
        name: name.to_string(),
        tools: tools.iter().map(|tool| Arc::new(spec(tool))).collect(),
    }
}
