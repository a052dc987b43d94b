//! OpenAPI as a workspace: each operation of an API becomes a manifest that a person could have written.
//!
//! - `tools/NAME.toml`: method, address, places of arguments, keys from environment variables, and the operation that
//!   it was made from.
//! - `workspace.toml`: the origin of the tools.
//!
//! A file decides nothing about which server is called: without an address from the user the tools are disabled.

mod arguments;
mod document;
mod names;
mod operation;
mod reference;
mod schema;
mod security;
mod server;
mod settled;

use std::{fmt, path::Path};

use indexmap::IndexMap;
use oas3::Spec;
use oas3::spec::{Operation, PathItem};

use self::names::Names;
use self::operation::{ImportedTool, Place};
use self::schema::Schemas;
use super::manifest::{Manifest, Source};
use super::{error::ImportError, files};
use crate::domain::EffectClass;
use crate::domain::words::{clipped, counted};
use crate::files::toml_file::Problem;

/// The file that identifies a workspace.
const MARK: &str = "workspace.toml";
/// In the place of an address that nobody has given; RFC 2606 keeps it free.
const NOWHERE: &str = "https://api.invalid";
/// Remarks that are shown one by one.
const REMARKS: usize = 20;

/// An OpenAPI document that has been read.
pub struct OpenApi {
    file: String,
    spec: Spec,
    servers: Vec<String>,
}

/// What an import wrote.
#[derive(Debug, Default)]
pub struct ImportedApi {
    pub tools: usize,
    /// Tools that only read.
    pub reading: usize,
    /// Environment variables that the tools need, each with what its value is.
    pub variables: IndexMap<String, &'static str>,
    /// Why the tools cannot be called yet, if so.
    pub disabled: Option<String>,
    /// Operations that are left out, and what else differs from the document.
    pub remarks: Vec<String>,
}

impl fmt::Display for ImportedApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tools, reading, variables, disabled, .. } = self;
        write!(f, "{}, of which {reading} only read", counted(*tools, "tool"))?;
        for (name, what) in variables {
            write!(f, "\nset {name}: {what}")?;
        }
        match disabled {
            Some(why) => write!(f, "\nthe tools are disabled: {why}"),
            None => Ok(()),
        }
    }
}

impl OpenApi {
    /// Reads a document.
    ///
    /// # Errors
    /// It is no OpenAPI of version 3.0 or 3.1, or too large, with the place.
    pub fn read(path: &Path) -> Result<Self, ImportError> {
        let spec = document::read(path)?;
        let servers = server::named(&spec);
        Ok(Self { file: path.display().to_string(), spec, servers })
    }

    /// The address that the document names, if it names exactly one.
    pub fn server(&self) -> Option<&str> {
        match self.servers.as_slice() {
            [server] => Some(server),
            _ => None,
        }
    }

    /// Writes a manifest for each operation. `base` is the address that the user has given or agreed to; without it
    /// the tools are disabled.
    ///
    /// Files in `out` are replaced one by one and atomically; other files in there stay.
    ///
    /// # Errors
    /// `base` is no address; no operation can be a tool; something cannot be written; `out` is neither empty nor an
    /// earlier import, and `force` is not given.
    pub fn write(
        &self,
        base: Option<&str>,
        out: &Path,
        force: bool,
    ) -> Result<ImportedApi, ImportError> {
        let base =
            base.map(server::checked).transpose().map_err(|why| Problem::of_file("--base", why))?;
        let address = base.as_deref().or(self.servers.first().map(String::as_str));
        let (tools, mut remarks) = self.tools(address.unwrap_or(NOWHERE))?;
        remarks.extend(self.repeated_ids());
        let disabled = base.is_none().then(|| self.why_disabled());
        if !force && !files::is_vacant(out)? && !out.join(MARK).is_file() {
            return Err(ImportError::Occupied(out.to_owned()));
        }
        files::make_folder(&out.join("tools"))?;
        // The mark comes first: an interrupted import can be repeated without force.
        files::write(&out.join(MARK), &mark(&self.file))?;
        for tool in &tools {
            write_tool(&out.join("tools"), tool, disabled.as_deref())?;
        }
        let reading = tools.iter().filter(|tool| tool.effect == EffectClass::Read).count();
        let variables = tools.iter().flat_map(|tool| tool.keys.variables.iter().cloned()).collect();
        Ok(ImportedApi { tools: tools.len(), reading, variables, disabled, remarks: few(remarks) })
    }

    /// The tools of all operations, and remarks about those that are left out or cut.
    fn tools(&self, base: &str) -> Result<(Vec<ImportedTool>, Vec<String>), ImportError> {
        let none = oas3::Map::default();
        let named = self.spec.components.as_ref().map_or(&none, |components| &components.schemas);
        let (schemas, mut names) = (Schemas::new(named), Names::default());
        let (mut tools, mut remarks) = (Vec::new(), Vec::new());
        for (path, item) in self.items() {
            for (method, operation) in operations(item) {
                let place = Place { path, item, method: &method, operation };
                match operation::tool(&self.spec, &schemas, &place, base, &mut names) {
                    Ok(tool) => {
                        if !item.servers.is_empty() || !operation.servers.is_empty() {
                            let text = "the file names a server for it alone, which is not used";
                            remarks.push(format!("{method} {path}: {text}"));
                        }
                        if tool.is_cut {
                            let text = "parts of its arguments refer in a circle or are too large; they allow anything";
                            remarks.push(format!("{method} {path}: {text}"));
                        }
                        tools.push(tool);
                    }
                    Err(why) => remarks.push(format!("{method} {path} is left out: {why}")),
                }
            }
        }
        if tools.is_empty() {
            let why = remarks.first().map_or("it has no operations", String::as_str);
            let text = format!("no operation can be a tool: {why}");
            return Err(Problem::of_file(&self.file, text).into());
        }
        Ok((tools, remarks))
    }

    fn items(&self) -> impl Iterator<Item = (&str, &PathItem)> {
        let paths = self.spec.paths.iter().flatten();
        paths.map(|(path, item)| (path.as_str(), item))
    }

    fn why_disabled(&self) -> String {
        let named = match self.servers.as_slice() {
            [] => "no server".to_owned(),
            servers => servers.join(", "),
        };
        format!("no --base URL was given; the file names {}", clipped(&named, 200))
    }

    /// Remarks about ids of several operations. Tools are named by method and path, so all of them are there.
    fn repeated_ids(&self) -> Vec<String> {
        let mut having: IndexMap<&str, Vec<String>> = IndexMap::new();
        for (path, item) in self.items() {
            for (method, operation) in operations(item) {
                if let Some(id) = &operation.operation_id {
                    having.entry(id).or_default().push(format!("{method} {path}"));
                }
            }
        }
        let repeated = having.into_iter().filter(|(_, operations)| operations.len() > 1);
        repeated
            .map(|(id, operations)| {
                let operations = operations.join(" and ");
                format!(
                    "operationId {id:?} is that of {operations}; tools are named by method and path"
                )
            })
            .collect()
    }
}

fn operations(item: &PathItem) -> impl Iterator<Item = (String, &Operation)> {
    item.methods().into_iter().map(|(method, operation)| (method.to_string(), operation))
}

fn few(mut remarks: Vec<String>) -> Vec<String> {
    let more = remarks.len().saturating_sub(REMARKS);
    remarks.truncate(REMARKS);
    if more > 0 {
        remarks.push(format!("and {}", counted(more, "more remark")));
    }
    remarks
}

fn write_tool(
    folder: &Path,
    tool: &ImportedTool,
    disabled: Option<&str>,
) -> Result<(), ImportError> {
    let manifest = Manifest {
        name: &tool.name,
        description: &tool.description,
        class: "",
        effect: tool.effect,
        timeout: "30s",
        disabled,
        source: Source::Http(&tool.source),
        parameters: &tool.parameters,
        returns: tool.returns.as_ref(),
    };
    let path = folder.join(format!("{}.toml", tool.name));
    let text = toml::to_string(&manifest)
        .map_err(|error| Problem::of_file(path.display().to_string(), error.to_string()))?;
    files::write(&path, &text)
}

fn mark(file: &str) -> String {
    let from = toml::Value::String(file.to_owned());
    format!(
        "# A toolyard workspace made from an OpenAPI file. Importing again replaces the files that the import made and\n\
         # leaves others alone.\n\
         format = 1\nkind = \"openapi\"\nfrom = {from}\n"
    )
}
