//! Manifests: one TOML file per tool with its name, its parameters, and its source. The parser is
//! strict, because an ignored typo would show only when an agent goes astray.
//!
//! ```toml
//! name = "weather"              # letters, digits, `_`, `.`, `-`
//! description = "…"             # helps the model to choose
//! class = "Information Retrieval"
//! cost = 2                      # credits per call; default: unknown, counted as set in [cost]
//! effect = "read"               # or "idempotent", "write", "unknown"; default "unknown"
//! timeout = "10s"               # default "30s"
//! examples = ["Does it rain?"]  # questions it answers; for retrieval only
//!
//! [parameters]                  # JSON Schema of the arguments; default: none
//! required = ["city"]
//! properties.city.type = "string"
//!
//! disabled = "why"              # it stays visible, and cannot be called; default: it can
//!
//! [returns]                     # optional: the form of a result
//! schema = { type = "object" }  # JSON Schema
//! example = "{}"                # a result, as a text
//!
//! [source]                      # one of four
//! command = ["python3", "weather.py"]  # no shell; runs in the manifest's folder; visible, so put
//!                                      # keys into the environment instead
//! env = ["PATH"]                # variables passed on; default none
//! set = { LANG = "C" }          # variables set; default none
//! cwd = "scripts"               # relative to the manifest's folder
//! max_output = 65536            # bytes of stdout that are kept
//!
//! # url = "https://example.org/movie/{id}"  # {id}: an argument; a request over HTTP
//! # method = "GET"              # or HEAD, POST, PUT, PATCH, DELETE
//! # query = { "vote.gte" = "{votes}", tag = "{tags*}" }  # `*`: once for each part of a list
//! # headers = { Authorization = "Bearer ${TOKEN}" }      # ${TOKEN}: an environment variable
//! # cookies = { session = "{session}" }
//! # body = { title = "{title}" }  # JSON; a place alone keeps its type. Or form = { … }, or text = "{text}"
//! # optional_body = true        # no body where no argument of it is given
//! # rest = true                 # arguments that no place names are fields of the body
//! # A place can name a style of OpenAPI: "{ids:pipeDelimited}", "{filter:deepObject}", "{filter:json}"
//! # max_output = 65536          # bytes of the answer that are kept
//! # any_address = false         # true: also link-local and metadata addresses, and a proxy
//! # operation = "GET /movie/{id}", operation_id = "movie"  # what it was made from, for people
//!
//! # recorded = "answers.jsonl"  # lines {"arguments": {…}, "result": …} or {…, "error": "…"}
//! # otherwise = "no answer"     # for other arguments; default: an error
//!
//! # builtin = "calculator"      # a function of this program
//! # options = { … }             # its options
//! ```

mod http;
mod plain_schema;
mod provider;
mod read;
mod source;
mod words;

use std::{collections::HashMap, fs, num::NonZeroUsize, path::Path, sync::Arc, thread};

use futures::future::{FutureExt, LocalBoxFuture};
use tracing::{Instrument, info_span};

pub use self::provider::Manifests;
use crate::builtin::{Builtin, Builtins};
use crate::domain::{ToolName, ToolSpec};
use crate::files::parallel;
use crate::files::toml_file::{Problem, Problems, TomlFile};
use crate::output::{MAX_OUTPUT, bounded};
use crate::recorded::{RecordedTable, RecordedTables};
use crate::{Invocation, Tool, ToolError, ToolOutput};
use crate::{command::CommandSource, http::HttpSource};

/// The source of a tool.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolSource {
    Builtin(Builtin),
    Command(CommandSource),
    Http(HttpSource),
    Recorded(RecordedTable),
}

/// A tool as its manifest describes it, ready to be called.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    pub spec: Arc<ToolSpec>,
    pub source: ToolSource,
    /// The file it was read from, for messages.
    pub file: String,
    /// Probable mistakes that do not disable the tool.
    pub remarks: Vec<Problem>,
}

/// The folder, the functions and the tables that sources of manifests refer to.
struct Surroundings<'a> {
    /// The start of relative paths.
    folder: &'a Path,
    builtins: Builtins,
    tables: RecordedTables,
}

/// The manifests of some files.
#[derive(Debug, Default)]
pub struct Loaded {
    pub manifests: Vec<Manifest>,
    /// All faults of the manifests that are left out.
    pub problems: Vec<Problem>,
}

impl Loaded {
    /// The manifests, if none is left out.
    ///
    /// # Errors
    /// All faults.
    pub fn whole(self) -> Result<Vec<Manifest>, Problems> {
        if self.problems.is_empty() { Ok(self.manifests) } else { Err(Problems(self.problems)) }
    }

    /// The valid manifests, and the problems of others. An invalid manifest does not affect the others.
    ///
    /// # Errors
    /// All faults, if there are any and no manifest is valid.
    pub fn usable(self) -> Result<Self, Problems> {
        match self.manifests.is_empty() && !self.problems.is_empty() {
            true => Err(Problems(self.problems)),
            false => Ok(self),
        }
    }
}

impl Manifest {
    /// Reads one manifest. `file` names it in messages; paths in it are relative to `folder`.
    ///
    /// # Errors
    /// All faults in it.
    pub fn parse(
        file: &str,
        text: &str,
        folder: &Path,
        builtins: Builtins,
    ) -> Result<Self, Problems> {
        let around = Surroundings { folder, builtins, tables: RecordedTables::default() };
        Self::read(file, text, &around)
    }

    fn read(file: &str, text: &str, around: &Surroundings<'_>) -> Result<Self, Problems> {
        TomlFile::read(file, text, |fields| read::manifest(fields, file, around))
    }

    /// The names of unset environment variables without which its calls fail.
    pub fn missing_variables(&self) -> Vec<&str> {
        let ToolSource::Http(source) = &self.source else { return Vec::new() };
        let is_unset = |name: &str| std::env::var_os(name).is_none_or(|value| value.is_empty());
        source.variables().into_iter().filter(|name| is_unset(name)).collect()
    }
}

impl Tool for Manifest {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    fn is_sample(&self) -> bool {
        matches!(self.source, ToolSource::Builtin(_) | ToolSource::Recorded(_))
    }

    fn call<'a>(
        &'a self,
        invocation: &'a Invocation,
    ) -> LocalBoxFuture<'a, Result<ToolOutput, ToolError>> {
        let span = info_span!("call", tool = self.spec.name.as_str());
        let call = async {
            match &self.source {
                ToolSource::Builtin(builtin) => {
                    Ok(bounded(&builtin.function.answer(invocation).await?, MAX_OUTPUT))
                }
                ToolSource::Command(source) => source.run(&invocation.arguments).await,
                ToolSource::Http(source) => source.run(&invocation.arguments).await,
                ToolSource::Recorded(table) => {
                    Ok(bounded(table.answer(&invocation.arguments)?, MAX_OUTPUT))
                }
            }
        };
        call.instrument(span).boxed_local()
    }
}

/// The number of files from which a further thread pays off.
const A_THREADS: usize = 256;

/// Reads every `*.toml` of a directory (not of subdirectories), in the order of their names. Invalid files are left
/// out, and their faults are returned.
///
/// # Errors
/// The directory cannot be read.
pub fn load_dir(path: &Path, builtins: Builtins) -> Result<Loaded, Problems> {
    let unreadable = |error: std::io::Error| {
        let text = format!("cannot be read: {error}; expected a directory of tool manifests");
        Problem::of_file(path.display().to_string(), text)
    };
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(unreadable)? {
        let file = entry.map_err(unreadable)?.path();
        let hidden = file.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if file.extension().is_some_and(|ending| ending == "toml") && !hidden {
            files.push(file);
        }
    }
    // Compares bytes: comparing paths part by part takes long for thousands of files.
    files.sort_by(|one, other| one.as_os_str().cmp(other.as_os_str()));
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let threads = cores.min(files.len().div_ceil(A_THREADS));
    let around = Surroundings { folder: path, builtins, tables: RecordedTables::default() };
    Ok(unique(parallel::each(&files, threads, |file| load(file, &around))))
}

fn load(path: &Path, around: &Surroundings<'_>) -> Result<Manifest, Problems> {
    let file = path.display().to_string();
    let text = fs::read_to_string(path)
        .map_err(|error| Problem::of_file(&file, format!("cannot be read: {error}")))?;
    Manifest::read(&file, &text, around)
}

/// The valid manifests. If two tools have the same name, the first is taken.
pub fn unique(manifests: impl IntoIterator<Item = Result<Manifest, Problems>>) -> Loaded {
    let mut loaded = Loaded::default();
    let mut places: HashMap<ToolName, usize> = HashMap::new();
    for manifest in manifests {
        match manifest {
            Ok(manifest) => match places.get(&manifest.spec.name) {
                Some(earlier) => {
                    let text = format!(
                        "{:?} is already the name of the tool in {}; rename one of them",
                        manifest.spec.name, loaded.manifests[*earlier].file
                    );
                    let field = "name".to_owned();
                    let problem = Problem { field, ..Problem::of_file(manifest.file, text) };
                    loaded.problems.push(problem);
                }
                None => {
                    places.insert(manifest.spec.name.clone(), loaded.manifests.len());
                    loaded.manifests.push(manifest);
                }
            },
            Err(found) => loaded.problems.extend(found.0),
        }
    }
    loaded
}
