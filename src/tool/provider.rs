//! Sources of tools. A provider lists its tools, and reports when the list changes, when it dies
//! and when it is back. Folders of manifests are one provider ([`super::manifest::Manifests`]).

use std::rc::Rc;

use futures::{future::LocalBoxFuture, stream::LocalBoxStream};

use super::{Tool, ToolError};
use crate::domain::fault::Drift;
use crate::domain::{ServerEvent, ToolName};

/// A source of any number of tools.
///
/// A tool's name belongs to the provider that lists it first; at the start of a session, that is the order
/// of its providers. A tool of another provider with the same name is left out, and a notice says so. A
/// provider that has died keeps its names.
pub trait Provider {
    /// The provider's name for people; no two providers of a session have the same name.
    fn name(&self) -> &str;

    /// All its current tools. Called at the start, after every [`ProviderChange::Listed`] and [`ProviderChange::Back`],
    /// and when the user reloads the tools; never concurrently. The future is dropped if it takes too long.
    ///
    /// An unchanged tool is the same `Rc` as before; any other is reported as a changed tool.
    ///
    /// # Errors
    /// There is no list, with the reason. The tools of the last list stay as they are.
    fn tools(&self) -> LocalBoxFuture<'_, Result<Vec<Rc<dyn Tool>>, ToolError>>;

    /// Returns when the first list is there, or will not come. A session with a person does not wait for it.
    fn ready(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Accepts a changed definition of one of its tools, which is enabled in its next list; `None` if it has no tool of
    /// this name. `hash` identifies the definition that a person has seen.
    ///
    /// # Errors
    /// Nothing is accepted, with the reason.
    fn accept(&self, _tool: &ToolName, _hash: &str) -> Option<Result<(), String>> {
        None
    }

    /// Lists one of its tools with a change from now on, or all of them unchanged. Tools of other providers are
    /// ignored.
    fn relist(&self, _change: Option<(&ToolName, Drift)>) {}

    /// The providers that it has added since the last call of this function.
    fn joined(&self) -> Vec<Rc<dyn Provider>> {
        Vec::new()
    }

    /// The later changes of the provider. Called once, before the first listing, so that no change is missed. After the
    /// end of the stream, nothing changes any more.
    fn changes(&self) -> LocalBoxStream<'static, ProviderChange>;
}

/// A change of a provider.
#[derive(Clone, Debug, PartialEq)]
pub enum ProviderChange {
    /// An event of its server; the list stays.
    Told(ServerEvent),
    /// The list of tools has changed.
    Listed,
    /// The tools can no longer be called; each running call ends by itself.
    Died { why: String },
    /// The tools can be called again.
    Back,
    /// The provider is gone for good, with its tools; it is no longer called.
    Left,
    /// The provider has added others: [`Provider::joined`].
    Joined,
    /// A notice for people.
    Noticed { text: String },
}
