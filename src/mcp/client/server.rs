//! A server as a provider of tools.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use futures::future::{self, LocalBoxFuture};
use futures::stream::{self, LocalBoxStream};
use futures::{FutureExt, StreamExt};
use tokio::task::JoinHandle;

use super::call::McpTool;
use super::definition::Definition;
use super::life::{self, Shared};
use super::stage::Stage;
use crate::domain::ToolName;
use crate::tool::provider::{Change, Provider};
use crate::tool::{Tool, ToolError};
use crate::{ServerEntry, name};

/// A server of a configuration, and the task that keeps it running; dropping it ends both.
pub struct McpServer {
    name: String,
    shared: Arc<Shared>,
    task: Option<JoinHandle<()>>,
    /// The last list: a tool with an unchanged definition stays the same tool.
    last: RefCell<HashMap<ToolName, (Arc<Definition>, Rc<McpTool>)>>,
}

impl McpServer {
    /// Starts it, unless its entry is disabled; nothing waits for it. Needs a runtime.
    pub fn start(entry: ServerEntry) -> Self {
        let name = format!("mcp:{}", entry.key);
        let is_off = entry.disabled.is_some();
        let shared = Arc::new(Shared::new(entry));
        let task = (!is_off).then(|| tokio::spawn(life::live(shared.clone())));
        Self { name, shared, task, last: RefCell::default() }
    }

    pub fn stage(&self) -> Stage {
        self.shared.stage.borrow().clone()
    }

    /// The last lines of its standard error and its log, oldest first.
    pub fn lines(&self) -> Vec<String> {
        self.shared.log.lines()
    }

    fn list(&self) -> Vec<Rc<dyn Tool>> {
        let Stage::Ready(offer) = self.stage() else { return Vec::new() };
        let entry = &self.shared.entry;
        let offered = |definition: &&Arc<Definition>| entry.offered.includes(&definition.name);
        let offered: Vec<_> = offer.tools.iter().filter(offered).collect();
        let own = offered.iter().map(|definition| definition.name.as_str());
        // Without a prefix the configuration was refused.
        let names = name::names(&entry.key, own).unwrap_or_default();
        let mut before = self.last.take();
        let mut tools: Vec<Rc<dyn Tool>> = Vec::with_capacity(offered.len());
        for (definition, name) in offered.into_iter().zip(names) {
            let name = ToolName::new(&name);
            let same = before.remove(&name).filter(|(was, _)| was == definition);
            let tool = same.map_or_else(|| self.tool(name.clone(), definition), |(_, tool)| tool);
            self.last.borrow_mut().insert(name, (definition.clone(), tool.clone()));
            tools.push(tool);
        }
        tools
    }

    fn tool(&self, name: ToolName, definition: &Definition) -> Rc<McpTool> {
        let entry = &self.shared.entry;
        let mut spec = definition.spec(name, &entry.key, entry.call_timeout);
        let output = definition.output.as_ref().map(jsonschema::validator_for);
        let output = output.and_then(|made| match made {
            Ok(validator) => Some(validator),
            Err(error) => {
                let own = &definition.name;
                self.shared.log.add(&format!("the outputSchema of {own} is no schema: {error}"));
                spec.returns = None;
                None
            }
        });
        let (shared, name) = (self.shared.clone(), definition.name.clone());
        Rc::new(McpTool { spec: Arc::new(spec), name, shared, output })
    }
}

impl Drop for McpServer {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

impl Provider for McpServer {
    fn name(&self) -> &str {
        &self.name
    }

    /// The list as far as it is known: a server that is starting has none, and the session does not wait for it.
    fn tools(&self) -> LocalBoxFuture<'_, Result<Vec<Rc<dyn Tool>>, ToolError>> {
        future::ready(Ok(self.list())).boxed_local()
    }

    fn ready(&self) -> LocalBoxFuture<'_, ()> {
        let mut stage = self.shared.stage.subscribe();
        Box::pin(async move {
            // Its start is limited; the sender lives as long as this.
            let _settled = stage.wait_for(|stage| !matches!(stage, Stage::Starting)).await;
        })
    }

    fn changes(&self) -> LocalBoxStream<'static, Change> {
        let stage = self.shared.stage.subscribe();
        let changes = stream::unfold((stage, false), |(mut stage, was_down)| async move {
            loop {
                stage.changed().await.ok()?;
                let now = stage.borrow_and_update().clone();
                match now {
                    Stage::Ready(_) if was_down => return Some((Change::Back, (stage, false))),
                    Stage::Ready(_) => return Some((Change::Listed, (stage, false))),
                    Stage::Down { why, .. } if !was_down => {
                        return Some((Change::Died { why }, (stage, true)));
                    }
                    Stage::Down { .. } | Stage::Starting | Stage::Off { .. } => {}
                }
            }
        });
        changes.boxed_local()
    }
}
