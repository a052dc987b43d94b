//! Where tools come from. A provider lists its tools, and says when the list changes, when it dies and
//! when it is back. Folders of manifests are one provider ([`super::manifest::Manifests`]).

use std::rc::Rc;

use futures::{future::LocalBoxFuture, stream::LocalBoxStream};

use super::{Tool, ToolError};

/// One source of any number of tools.
///
/// A tool's name belongs to the provider that lists it first; at the start of a session, that is the order
/// of its providers. A tool of another provider with the same name is left out, and a notice says so. A
/// provider that has died keeps its names.
pub trait Provider {
    /// What people know it by; no two providers of a session have the same name.
    fn name(&self) -> &str;

    /// All its tools at this moment. Called at the start, after every change but [`Change::Died`], and when
    /// the user wants the tools again; never twice at once. The future is dropped if it takes too long.
    ///
    /// A tool that has not changed is the same `Rc` as before; any other is told as a changed tool.
    ///
    /// # Errors
    /// Why there is no list. The tools of the last list stay as they are then.
    fn tools(&self) -> LocalBoxFuture<'_, Result<Vec<Rc<dyn Tool>>, ToolError>>;

    /// What happens to it from now on. Called once, before the first listing, so that no change is missed.
    /// A stream that ends says that nothing changes any more.
    fn changes(&self) -> LocalBoxStream<'static, Change>;
}

/// What happened to a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Its list is another one.
    Listed,
    /// Its tools cannot be called any more; calls in flight end as the tools themselves say.
    Died { why: String },
    /// Its tools can be called again.
    Back,
}
