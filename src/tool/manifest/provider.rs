//! The tools of manifests, as a provider.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use futures::future::{self, LocalBoxFuture};
use futures::stream::{self, LocalBoxStream};
use futures::{FutureExt, StreamExt};

use super::Manifest;
use crate::domain::ToolName;
use crate::files::toml_file::Problems;
use crate::provider::{Provider, ProviderChange};
use crate::{Tool, ToolError, ToolErrorKind};

type ManifestLoader = Box<dyn Fn() -> Result<Vec<Manifest>, Problems>>;

/// Tools of manifests that are read again on request; files are not watched.
pub struct Manifests {
    /// The manifests read before the session: the first list.
    first: RefCell<Option<Vec<Manifest>>>,
    read: ManifestLoader,
    /// The last list: a tool with an unchanged manifest stays the same tool.
    last: RefCell<HashMap<ToolName, Rc<Manifest>>>,
}

impl Manifests {
    /// A provider of these tools, whose names are unique (see [`super::unique`]). `read` reads them again.
    pub fn new(
        first: Vec<Manifest>,
        read: impl Fn() -> Result<Vec<Manifest>, Problems> + 'static,
    ) -> Self {
        Self { first: Some(first).into(), read: Box::new(read), last: RefCell::default() }
    }

    fn list(&self) -> Result<Vec<Rc<dyn Tool>>, ToolError> {
        let manifests = match self.first.take() {
            Some(manifests) => manifests,
            None => (self.read)().map_err(|problems| {
                ToolError::new(ToolErrorKind::Unavailable, problems.to_string())
            })?,
        };
        let mut before = self.last.take();
        let mut tools: Vec<Rc<dyn Tool>> = Vec::with_capacity(manifests.len());
        for manifest in manifests {
            let name = manifest.spec.name.clone();
            let same = before.remove(&name).filter(|was| **was == manifest);
            let tool = same.unwrap_or_else(|| Rc::new(manifest));
            tools.push(tool.clone());
            self.last.borrow_mut().insert(name, tool);
        }
        Ok(tools)
    }
}

impl Provider for Manifests {
    fn name(&self) -> &str {
        "manifests"
    }

    fn tools(&self) -> LocalBoxFuture<'_, Result<Vec<Rc<dyn Tool>>, ToolError>> {
        future::lazy(|_| self.list()).boxed_local()
    }

    fn changes(&self) -> LocalBoxStream<'static, ProviderChange> {
        stream::empty().boxed_local()
    }
}
