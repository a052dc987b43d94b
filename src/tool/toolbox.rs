//! The tools of a session, ready to be called. They can be added, removed and changed while it
//! runs.

use std::{cell::OnceCell, collections::HashSet, rc::Rc, sync::Arc};

use indexmap::IndexMap;
use serde_json::Value;

use crate::domain::{ToolName, ToolSpec, words::nearest};
use crate::{Tool, ToolError, ToolErrorKind, check::Checker, manifest::Manifest};

/// Tools by name, in the order in which they were added.
#[derive(Default)]
pub struct ToolBox {
    entries: IndexMap<ToolName, ToolboxEntry>,
    /// Tools of providers that have died: they keep their names, and their schemas for a return.
    away: IndexMap<ToolName, ToolboxEntry>,
}

struct ToolboxEntry {
    tool: Rc<dyn Tool>,
    /// The provider that listed the tool; `None` for a tool without a provider.
    provider: Option<Rc<str>>,
    /// The checker, compiled at the first call: of thousands of tools a session calls only a few.
    checker: OnceCell<Checker>,
}

impl ToolboxEntry {
    fn new(tool: Rc<dyn Tool>, provider: Option<Rc<str>>) -> Self {
        Self { tool, provider, checker: OnceCell::new() }
    }

    fn is_of(&self, provider: &str) -> bool {
        self.provider.as_deref() == Some(provider)
    }

    /// Replaces the tool of the same name; the compiled schema stays if the new tool has the same
    /// one.
    fn put(&mut self, tool: Rc<dyn Tool>) {
        if self.tool.spec().parameters != tool.spec().parameters {
            self.checker.take();
        }
        self.tool = tool;
    }
}

/// The effect of a provider's new list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    pub joined: Vec<Arc<ToolSpec>>,
    pub left: Vec<ToolName>,
    /// The changed tools in their new form.
    pub changed: Vec<Arc<ToolSpec>>,
    /// Tools that are listed although another provider's tool (or an earlier one of this list) has the name.
    pub left_out: Vec<ToolName>,
}

impl Changes {
    /// Whether no tool changed.
    pub fn is_empty(&self) -> bool {
        self.joined.is_empty() && self.left.is_empty() && self.changed.is_empty()
    }
}

impl ToolBox {
    /// The tools of these manifests, whose names are unique (see [`super::manifest::unique`]).
    pub fn from_manifests(manifests: Vec<Manifest>) -> Self {
        let mut tools = Self::default();
        manifests.into_iter().for_each(|manifest| tools.join(Rc::new(manifest)));
        tools
    }

    /// Adds a tool without a provider, replacing one of the same name.
    pub fn join(&mut self, tool: Rc<dyn Tool>) {
        self.entries.insert(tool.spec().name.clone(), ToolboxEntry::new(tool, None));
    }

    /// Makes these the tools of a provider, without changing others. An unchanged tool keeps its compiled schema and
    /// its place. Running calls continue.
    pub fn replace(&mut self, provider: &str, tools: Vec<Rc<dyn Tool>>) -> Changes {
        let mut changes = Changes::default();
        let mut due: HashSet<ToolName> =
            tools.iter().map(|tool| tool.spec().name.clone()).collect();
        self.away.retain(|name, entry| !entry.is_of(provider) || due.contains(name));
        self.entries.retain(|name, entry| {
            let stays = !entry.is_of(provider) || due.contains(name);
            if !stays {
                changes.left.push(name.clone());
            }
            stays
        });
        let owner: Rc<str> = provider.into();
        for tool in tools {
            let (spec, name) = (tool.spec().clone(), tool.spec().name.clone());
            let named = self.entries.get(&name).or_else(|| self.away.get(&name));
            if named.is_some_and(|entry| !entry.is_of(provider)) || !due.remove(&name) {
                changes.left_out.push(name);
                continue;
            }
            match self.entries.get_mut(&name) {
                Some(entry) if Rc::ptr_eq(&entry.tool, &tool) => {}
                Some(entry) => {
                    entry.put(tool);
                    changes.changed.push(spec);
                }
                None => {
                    let back = self.away.swap_remove(&name);
                    let mut entry = back
                        .unwrap_or_else(|| ToolboxEntry::new(tool.clone(), Some(owner.clone())));
                    entry.put(tool);
                    self.entries.insert(name, entry);
                    changes.joined.push(spec);
                }
            }
        }
        changes
    }

    /// Removes the tools of a provider that has died, until its next list. Running calls continue.
    pub fn take_off(&mut self, provider: &str) -> Vec<ToolName> {
        let all = std::mem::take(&mut self.entries).into_iter();
        let (gone, stay): (IndexMap<_, _>, _) = all.partition(|(_, entry)| entry.is_of(provider));
        self.entries = stay;
        let names = gone.keys().cloned().collect();
        self.away.extend(gone);
        names
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
    /// [`ToolErrorKind::Arguments`] for arguments that do not fit the tool's schema;
    /// [`ToolErrorKind::Unavailable`] for an unknown tool, with the nearest name, and for a disabled one.
    pub fn check(&self, name: &str, arguments: &Value) -> Result<(), ToolError> {
        let entry = self.entries.get(name).ok_or_else(|| self.unknown(name))?;
        let spec = entry.tool.spec();
        if let Some(why) = &spec.disabled {
            let text = format!("it is disabled: {why}");
            return Err(ToolError::new(ToolErrorKind::Unavailable, text));
        }
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::*;
    use crate::builtin::none;

    fn tools(names: &[&str]) -> Vec<Rc<dyn Tool>> {
        let text = |name: &&str| {
            format!(
                "name = \"{name}\"\ndescription = \"d\"\n[parameters.properties.expression]\n\
                 type = \"string\"\n[source]\ncommand = [\"true\"]\n"
            )
        };
        let tool = |text: String| Manifest::parse("t.toml", &text, Path::new(""), none).unwrap();
        names.iter().map(|name| Rc::new(tool(text(name))) as Rc<dyn Tool>).collect()
    }

    #[test]
    fn a_provider_that_comes_back_finds_its_names_and_compiled_schemas() {
        let mut all = ToolBox::default();
        assert_eq!(all.replace("one", tools(&["a", "b"])).joined.len(), 2);
        all.check("a", &json!({"expression": 1})).unwrap_err();
        assert_eq!(all.take_off("one").len(), 2);
        assert!(all.is_empty() && all.get("a").is_none());
        let changes = all.replace("two", tools(&["a", "b", "c", "c"]));
        assert_eq!((changes.joined.len(), changes.left_out.len()), (1, 3), "names are taken");
        let changes = all.replace("one", tools(&["a"]));
        assert_eq!((changes.joined.len(), changes.left.len()), (1, 0));
        assert!(all.entries["a"].checker.get().is_some(), "compiled before");
        let changes = all.replace("two", tools(&["b"]));
        assert_eq!((changes.joined.len(), changes.left.len()), (1, 1), "`b` is free now");
    }
}
