//! Tools and their sources. The engine calls only a [`Tool`]; it does not know whether that is a function of the
//! program, another program, a request over HTTP or a table of recorded answers.

use toolyard_domain as domain;
use toolyard_files as files;
use toolyard_net as net;
use toolyard_process as process;

pub mod builtin;
pub mod check;
pub mod command;
pub mod foreign_calls;
pub mod http;
pub mod manifest;
pub mod output;
pub mod provider;
pub mod recorded;
mod toolbox;

use std::sync::Arc;

use futures::future::LocalBoxFuture;
use serde_json::Value;

pub use self::toolbox::{Changes, ToolBox};
use crate::domain::ToolSpec;
pub use crate::domain::{
    error::{ToolError, ToolErrorKind},
    output::{CallProgress, ToolOutput},
};

/// The input of one call.
#[derive(Clone, Debug, PartialEq)]
pub struct Invocation {
    /// The arguments, checked against the tool's schema.
    pub arguments: Value,
    /// The only randomness of a tool: a hash of the session's seed, the tool, the arguments and the
    /// number of earlier identical calls. Never a clock, never a shared stream, so that runs
    /// repeat.
    pub seed: u64,
}

/// A tool that can be called.
///
/// Dropping the future cancels the call: a program ends, with everything that it started.
pub trait Tool {
    fn spec(&self) -> &Arc<ToolSpec>;

    /// Whether the tool is built in or answers from a table, so that it answers at once if nobody watches.
    fn is_sample(&self) -> bool {
        false
    }

    fn call<'a>(
        &'a self,
        invocation: &'a Invocation,
    ) -> LocalBoxFuture<'a, Result<ToolOutput, ToolError>>;

    /// Like [`Tool::call`], and reports progress if the tool knows it.
    fn call_telling<'a>(
        &'a self,
        invocation: &'a Invocation,
        _told: &'a dyn Fn(CallProgress),
    ) -> LocalBoxFuture<'a, Result<ToolOutput, ToolError>> {
        self.call(invocation)
    }
}
