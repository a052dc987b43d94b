//! Tools that are functions of the program. This room does not know them: the reader of a manifest passes them in.

use std::{fmt, sync::Arc};

use futures::future::LocalBoxFuture;
use serde_json::Value;

use crate::files::toml_file::TomlField;
use crate::{Invocation, ToolError};

/// Reads the name of a function, and its table of options. Faults are noted at the fields.
pub type Builtins = fn(&TomlField<'_>, Option<&TomlField<'_>>) -> Option<Builtin>;

/// The functions of a program that has none.
pub fn none(name: &TomlField<'_>, _: Option<&TomlField<'_>>) -> Option<Builtin> {
    name.refuse(
        "this toolyard was built without built-in tools; use `command`, `recorded` or `url`",
    );
    None
}

/// A function that answers calls. It is pure: arguments and a seed decide everything, so that runs repeat.
pub trait Function: fmt::Debug + Send + Sync {
    /// The answer to these arguments.
    ///
    /// # Errors
    /// [`crate::ToolErrorKind::Arguments`] for unusable arguments, [`crate::ToolErrorKind::Failed`] for
    /// impossible requests.
    fn answer<'a>(
        &'a self,
        invocation: &'a Invocation,
    ) -> LocalBoxFuture<'a, Result<String, ToolError>>;
}

/// A function with its options.
#[derive(Clone, Debug)]
pub struct Builtin {
    pub name: &'static str,
    /// The arguments that a manifest's schema must declare.
    pub needs: &'static [&'static str],
    /// The options as the manifest gives them.
    pub options: Option<Value>,
    pub function: Arc<dyn Function>,
}

impl PartialEq for Builtin {
    fn eq(&self, other: &Self) -> bool {
        (self.name, &self.options) == (other.name, &other.options)
    }
}
