//! The command lines that make the calls of a session again by hand.

use std::path::Path;

use crate::config::{Config, ModelConfig};
use crate::files::safe_json::safe;
use crate::model::{hosted::Hosted, http::curl::quoted};
use crate::ui::{AsCommand, Called};

/// Command lines for the models of this configuration and the tools of any workspace.
pub fn commands(config: &Config) -> AsCommand {
    let models = config.models.clone();
    Box::new(move |called| match called {
        Called::Model { model, request } => match models.get(model) {
            Some(ModelConfig::Hosted(endpoint)) => {
                Hosted::curl(endpoint, request).map_err(|error| error.to_string())
            }
            Some(ModelConfig::Simulated(_)) => {
                Err(format!("{model} is part of toolyard: it sends no request for curl"))
            }
            None => Err(format!("the model {model} is not configured here")),
        },
        Called::Tool { tool, arguments, workspace } => {
            let arguments = quoted(&safe(&arguments.to_string()));
            let workspace = match Path::new(workspace) {
                folder if folder.is_dir() => format!(" --workspace {}", quoted(workspace)),
                _ => String::new(),
            };
            Ok(format!("toolyard tools call {} {arguments}{workspace}\n", quoted(tool.as_str())))
        }
    })
}
