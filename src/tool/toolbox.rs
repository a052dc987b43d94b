//! The tools of a session, ready to be called. They join, leave and change while it runs.

use std::{cell::OnceCell, rc::Rc, sync::Arc};

use indexmap::IndexMap;
use serde_json::Value;

use crate::{
    domain::{id::ToolName, spec::ToolSpec, words::nearest},
    tool::{Tool, ToolError, ToolErrorKind, check::Checker, manifest::Manifest},
};

/// Tools by name, in the order in which they joined.
#[derive(Default)]
pub struct ToolBox {
    entries: IndexMap<ToolName, Entry>,
}

struct Entry {
    tool: Rc<dyn Tool>,
    /// Where it comes from a manifest: to see whether a reload changes it.
    manifest: Option<Manifest>,
    /// Compiled at the first call: of thousands of tools a session calls a few.
    checker: OnceCell<Checker>,
}

impl Entry {
    fn new(tool: Rc<dyn Tool>, manifest: Option<Manifest>) -> Self {
        Self { tool, manifest, checker: OnceCell::new() }
    }
}

/// What a reload did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    pub joined: Vec<Arc<ToolSpec>>,
    pub left: Vec<ToolName>,
    /// As they are now.
    pub changed: Vec<Arc<ToolSpec>>,
}

impl Changes {
    pub fn is_empty(&self) -> bool {
        self.joined.is_empty() && self.left.is_empty() && self.changed.is_empty()
    }
}

impl ToolBox {
    /// The tools of these manifests, whose names are unique (see [`super::manifest::unique`]).
    pub fn from_manifests(manifests: Vec<Manifest>) -> Self {
        let mut tools = Self::default();
        tools.reload(manifests);
        tools
    }

    /// Puts a tool in, in the place of one that has its name.
    pub fn join(&mut self, tool: Rc<dyn Tool>) {
        self.entries.insert(tool.spec().name.clone(), Entry::new(tool, None));
    }

    /// Takes a tool out; `false` if there is none of this name. A call that runs goes on.
    pub fn leave(&mut self, name: &str) -> bool {
        self.entries.shift_remove(name).is_some()
    }

    /// Makes the tools that come from manifests be these, and leaves the others alone. A tool that
    /// is unchanged keeps its compiled schema and its place.
    pub fn reload(&mut self, manifests: Vec<Manifest>) -> Changes {
        let mut changes = Changes::default();
        let names: std::collections::HashSet<&ToolName> =
            manifests.iter().map(|manifest| &manifest.spec.name).collect();
        self.entries.retain(|name, entry| {
            let stays = entry.manifest.is_none() || names.contains(name);
            if !stays {
                changes.left.push(name.clone());
            }
            stays
        });
        for manifest in manifests {
            let (spec, name) = (manifest.spec.clone(), manifest.spec.name.clone());
            match self.entries.get(&name) {
                Some(entry) if entry.manifest.as_ref() == Some(&manifest) => continue,
                Some(_) => changes.changed.push(spec),
                None => changes.joined.push(spec),
            }
            self.entries.insert(name, Entry::new(manifest.tool(), Some(manifest)));
        }
        changes
    }

    pub fn get(&self, name: &str) -> Option<Rc<dyn Tool>> {
        self.entries.get(name).map(|entry| entry.tool.clone())
    }

    pub fn spec(&self, name: &str) -> Option<&Arc<ToolSpec>> {
        self.entries.get(name).map(|entry| entry.tool.spec())
    }

    pub fn specs(&self) -> impl ExactSizeIterator<Item = &Arc<ToolSpec>> {
        self.entries.values().map(|entry| entry.tool.spec())
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether a call may be made.
    ///
    /// # Errors
    /// [`ToolErrorKind::Arguments`] with what does not fit the tool's schema;
    /// [`ToolErrorKind::Unavailable`] for a tool that is not here, with the nearest name.
    pub fn check(&self, name: &str, arguments: &Value) -> Result<(), ToolError> {
        let entry = self.entries.get(name).ok_or_else(|| self.unknown(name))?;
        let spec = entry.tool.spec();
        entry.checker.get_or_init(|| Checker::new(&spec.parameters)).check(arguments)
    }

    fn unknown(&self, name: &str) -> ToolError {
        let name = crate::domain::words::clipped(name, 128);
        let text = match nearest(&name, self.entries.keys().map(ToolName::as_str)) {
            Some(near) => format!("there is no tool {name:?}; the nearest name is {near:?}"),
            None => format!("there is no tool {name:?}"),
        };
        ToolError::new(ToolErrorKind::Unavailable, text)
    }
}
