//! Tools and where they come from. The engine calls a [`Tool`] and nothing else; it does not know
//! whether a built-in function, a program or a table of recorded answers stands behind it.

pub mod builtin;
pub mod check;
pub mod command;
pub mod manifest;
pub mod output;
pub mod provider;
pub mod recorded;
mod toolbox;
pub mod world;

use std::sync::Arc;

use futures::future::LocalBoxFuture;
use serde_json::Value;

pub use self::toolbox::{Changes, ToolBox};
use crate::domain::ToolSpec;
pub use crate::domain::{
    error::{ToolError, ToolErrorKind},
    output::ToolOutput,
};

/// What one call is given.
#[derive(Clone, Debug, PartialEq)]
pub struct Invocation {
    /// The arguments, checked against the tool's schema.
    pub arguments: Value,
    /// All the chance a tool may use: a hash of the session's seed, the tool, the arguments and how
    /// often they were called before. Never a clock, never a shared stream, so that runs repeat.
    pub seed: u64,
}

/// One tool that can be called.
///
/// Dropping the future cancels the call for real: a program's whole process group ends.
pub trait Tool {
    fn spec(&self) -> &Arc<ToolSpec>;

    fn call<'a>(
        &'a self,
        invocation: &'a Invocation,
    ) -> LocalBoxFuture<'a, Result<ToolOutput, ToolError>>;
}
