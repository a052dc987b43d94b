//! Descriptions of APIs as a workspace: each operation becomes a manifest that a person could have written.
//!
//! - `tools/NAME.toml`: method, address, places of arguments, keys from environment variables, and the operation that
//!   it was made from.
//! - `workspace.toml`: the origin of the tools.
//!
//! OpenAPI 3 is read; Swagger 2.0 and Postman collections are converted to it first. A mistake in an operation leaves
//! out only that operation. A file never decides which server is called: without an address from the user the tools are
//! disabled.

mod arguments;
mod body;
mod document;
mod existing_tools;
mod kinds;
mod lines;
mod literal_texts;
mod merge;
mod names;
mod operation;
mod parameter;
mod path;
mod postman;
mod reference;
mod schema;
mod security;
mod server;
mod swagger;

use std::fmt;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;

use self::document::Document;
use self::names::TakenNames;
use self::operation::{ApiOperation, ImportedTool, Left};
use self::reference::Root;
use self::schema::Schemas;
use super::manifest::{Manifest, ManifestSource};
use super::{error::ImportError, files};
use crate::domain::EffectClass;
use crate::domain::words::{clipped, counted};
use crate::files::toml_file::{Problem, Problems};

/// The file that identifies a workspace.
const MARK: &str = "workspace.toml";
/// The placeholder for a missing address; RFC 2606 reserves it.
const NOWHERE: &str = "https://api.invalid";
/// The most remarks that are shown one by one, besides those of operations that are left out.
const REMARKS: usize = 20;
/// The methods in the order in which the operations of a path become tools.
const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/// Reads a manifest as a session would: name of the file, text, folder.
pub type CheckManifest<'c> = &'c dyn Fn(&str, &str, &Path) -> Result<(), Problems>;

/// A description of an API that has been read.
pub struct OpenApi {
    document: Document,
    servers: Vec<String>,
}

/// The result of an import.
#[derive(Debug, Default)]
pub struct ImportedApi {
    pub tools: usize,
    /// Operations of the file, with those that are left out.
    pub operations: usize,
    /// Tools that only read.
    pub reading: usize,
    /// Tools that keep a name from an earlier import that differs from the one they would get today.
    pub renamed: usize,
    /// Environment variables that the tools need, each with a description of its value.
    pub variables: IndexMap<String, &'static str>,
    /// Why the tools cannot be called yet, if so.
    pub disabled: Option<String>,
    /// Operations that are left out, and other differences from the document.
    pub remarks: Vec<String>,
}

impl fmt::Display for ImportedApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tools, operations, reading, renamed, variables, disabled, .. } = self;
        write!(f, "{}, of which {reading} only read", counted(*tools, "tool"))?;
        if tools < operations {
            write!(f, "; {} left out", counted(operations - tools, "operation"))?;
        }
        if *renamed > 0 {
            let kept = counted(*renamed, "tool");
            write!(
                f,
                "\n{kept} of an earlier import: the names stay, since scores and journals have them; import into an \
                 empty folder for names by operationId"
            )?;
        }
        for (name, what) in variables {
            write!(f, "\nset {name}: {what}")?;
        }
        match disabled {
            Some(why) => write!(f, "\nthe tools are disabled: {why}"),
            None => Ok(()),
        }
    }
}

/// A tool and the file that it goes into.
struct ManifestFile {
    tool: ImportedTool,
    file: PathBuf,
    text: String,
}

impl OpenApi {
    /// Reads a document.
    ///
    /// # Errors
    /// The document is too large, or does not describe an API in a known form, with the place.
    pub fn read(path: &Path) -> Result<Self, ImportError> {
        let document = document::read(path)?;
        let servers = server::named(&document.root);
        Ok(Self { document, servers })
    }

    /// The address that the document names, if it names exactly one.
    pub fn server(&self) -> Option<&str> {
        match self.servers.as_slice() {
            [server] => Some(server),
            _ => None,
        }
    }

    /// Writes a manifest for each operation. `base` is the address that the user has given or agreed to; without it
    /// the tools are disabled. A manifest that does not pass `check` is not written.
    ///
    /// Files in `out` are replaced one by one and atomically; other files in there stay.
    ///
    /// # Errors
    /// `base` is not an address; no operation can be a tool; something cannot be written; `out` is neither empty nor an
    /// earlier import, and `force` is not given.
    pub fn write(
        &self,
        base: Option<&str>,
        out: &Path,
        force: bool,
        check: CheckManifest<'_>,
    ) -> Result<ImportedApi, ImportError> {
        let base =
            base.map(server::checked).transpose().map_err(|why| Problem::of_file("--base", why))?;
        let address = base.as_deref().or(self.servers.first().map(String::as_str));
        let mut imported =
            ImportedApi { remarks: self.document.remarks.clone(), ..ImportedApi::default() };
        imported.disabled = base.is_none().then(|| self.why_disabled());
        let written =
            self.written(address.unwrap_or(NOWHERE), &out.join("tools"), check, &mut imported)?;
        imported.remarks.extend(self.repeated_ids());
        if !force && !files::is_vacant(out)? && !out.join(MARK).is_file() {
            return Err(ImportError::Occupied(out.to_owned()));
        }
        files::make_folder(&out.join("tools"))?;
        // The mark comes first: an interrupted import can be repeated without force.
        files::write(&out.join(MARK), &mark(&self.document.file))?;
        for ManifestFile { file, text, .. } in &written {
            files::write(file, text)?;
        }
        let tools = || written.iter().map(|written| &written.tool);
        imported.tools = written.len();
        imported.reading = tools().filter(|tool| tool.effect == EffectClass::Read).count();
        imported.variables = tools().flat_map(|tool| tool.keys.variables.iter().cloned()).collect();
        imported.remarks = few(imported.remarks);
        Ok(imported)
    }

    /// The manifests of all operations, and remarks about those that are left out or differ.
    fn written(
        &self,
        base: &str,
        folder: &Path,
        check: CheckManifest<'_>,
        imported: &mut ImportedApi,
    ) -> Result<Vec<ManifestFile>, ImportError> {
        let root = self.root();
        let schemas = Schemas::new(root);
        let earlier = if folder.is_dir() {
            existing_tools::of(folder)
        } else {
            existing_tools::Folder::default()
        };
        let mut names = TakenNames::default();
        let kept = earlier.imported.values().map(|earlier| &earlier.name);
        earlier.others.iter().chain(kept).for_each(|name| names.reserve(name));
        let repeated = self.repeated();
        let (mut written, mut first) = (Vec::new(), None);
        for place in self.places(&mut imported.remarks) {
            imported.operations += 1;
            let operation = place.name();
            let made = operation::tool(root, &schemas, &place, base, &self.servers).and_then(
                |mut tool| {
                    let id = if repeated.contains_key(place.id()) { "" } else { place.id() };
                    let (name, file) = match earlier.imported.get(&operation) {
                        Some(earlier) => {
                            let today = TakenNames::default().tool(id, &operation);
                            imported.renamed += usize::from(today != earlier.name);
                            (earlier.name.clone(), earlier.file.clone())
                        }
                        None => {
                            let name = names.tool(id, &operation);
                            let file = folder.join(format!("{name}.toml"));
                            (name, file)
                        }
                    };
                    tool.name = name;
                    let text = text_of(&tool, imported.disabled.as_deref())?;
                    check(&file.display().to_string(), &text, folder).map_err(|problems| {
                        format!("its manifest cannot be used: {}", first_of(&problems))
                    })?;
                    Ok(ManifestFile { tool, file, text })
                },
            );
            match made {
                Ok(made) => {
                    let remarks = made.tool.remarks.iter();
                    imported.remarks.extend(remarks.map(|text| format!("{operation}: {text}")));
                    written.push(made);
                }
                Err(left) => {
                    imported.remarks.push(format!("{operation} is left out: {}", left.why));
                    first.get_or_insert((place.path.to_owned(), left));
                }
            }
        }
        if written.is_empty() {
            return Err(self.unusable(first).into());
        }
        Ok(written)
    }

    fn unusable(&self, first: Option<(String, Left)>) -> Problem {
        let Some((path, left)) = first else {
            let field = ["paths".to_owned()];
            return self
                .document
                .problem(&field, "no operation can be a tool: it has no operations");
        };
        let field: Vec<String> = ["paths".to_owned(), path].into_iter().chain(left.at).collect();
        self.document.problem(&field, format!("no operation can be a tool: {}", left.why))
    }

    fn root(&self) -> Root<'_> {
        Root { value: &self.document.root, file: self.document.name() }
    }

    /// All operations. Fields of the paths that are not operations are named in `remarks`.
    fn places(&self, remarks: &mut Vec<String>) -> Vec<ApiOperation<'_>> {
        let mut places = Vec::new();
        let paths = self.document.root["paths"].as_object().into_iter().flatten();
        for (path, item) in paths.filter(|(path, _)| !path.starts_with("x-")) {
            let target = match self.root().follow(item) {
                Ok(target) => target,
                Err(why) => {
                    remarks.push(format!("{path} is left out: {why}"));
                    continue;
                }
            };
            let Some(fields) = target.as_object() else {
                let got = parameter::shown(target);
                remarks.push(format!(
                    "{path} is left out: expected an object with operations, got {got}"
                ));
                continue;
            };
            for method in METHODS {
                let operations = fields.iter().filter(|(key, _)| key.eq_ignore_ascii_case(method));
                places.extend(operations.map(|(key, operation)| ApiOperation {
                    path,
                    item: target,
                    key,
                    operation,
                }));
            }
        }
        places
    }

    fn why_disabled(&self) -> String {
        let named = match self.servers.as_slice() {
            [] => "no server".to_owned(),
            servers => servers.join(", "),
        };
        format!("no --base URL was given; the file names {}", clipped(&named, 200))
    }

    /// Ids that several operations have, with these operations.
    fn repeated(&self) -> IndexMap<String, Vec<String>> {
        let mut having: IndexMap<String, Vec<String>> = IndexMap::new();
        for place in self.places(&mut Vec::new()).into_iter().filter(|place| !place.id().is_empty())
        {
            having.entry(place.id().to_owned()).or_default().push(place.name());
        }
        having.retain(|_, operations| operations.len() > 1);
        having
    }

    fn repeated_ids(&self) -> Vec<String> {
        let text = |(id, operations): (String, Vec<String>)| {
            let operations = operations.join(" and ");
            format!(
                "operationId {id:?} is that of {operations}; these tools are named by method and path"
            )
        };
        self.repeated().into_iter().map(text).collect()
    }
}

/// The remarks about operations that are left out, and the first of the others.
fn few(remarks: Vec<String>) -> Vec<String> {
    let mut others = 0;
    let mut few: Vec<String> = remarks
        .into_iter()
        .filter(|remark| {
            let is_left = remark.contains(" is left out: ");
            others += usize::from(!is_left);
            is_left || others <= REMARKS
        })
        .collect();
    if others > REMARKS {
        few.push(format!("and {}", counted(others - REMARKS, "more remark")));
    }
    few
}

fn first_of(problems: &Problems) -> String {
    problems
        .0
        .first()
        .map_or_else(String::new, |Problem { field, text, .. }| format!("{field}: {text}"))
}

fn text_of(tool: &ImportedTool, disabled: Option<&str>) -> Result<String, String> {
    let manifest = Manifest {
        name: &tool.name,
        description: &tool.description,
        class: "",
        effect: tool.effect,
        timeout: "30s",
        disabled,
        source: ManifestSource::Http(&tool.source),
        parameters: &tool.parameters,
        returns: tool.returns.as_ref(),
    };
    toml::to_string(&manifest).map_err(|error| error.to_string())
}

fn mark(file: &str) -> String {
    let from = toml::Value::String(file.to_owned());
    format!(
        "# A toolyard workspace made from an OpenAPI file. Importing again replaces the files that the import made and\n\
         # leaves others alone.\n\
         format = 1\nkind = \"openapi\"\nfrom = {from}\n"
    )
}
