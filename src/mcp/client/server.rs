//! A server as a provider of tools.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures::future::{self, LocalBoxFuture};
use futures::stream::{self, LocalBoxStream};
use futures::{FutureExt, StreamExt};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;

use super::call::McpTool;
use super::definition::Definition;
use super::life::{self, ServerContext};
use super::stage::Stage;
use crate::domain::fault::Drift;
use crate::domain::{ServerEvent, ToolName};
use crate::tool::provider::{Provider, ProviderChange};
use crate::tool::{Tool, ToolError};
use crate::trust::{DefinitionStatus, Trust};
use crate::{ServerEntry, name};

/// A server of a configuration, and the task that keeps it running; dropping it ends both.
pub struct McpServer {
    name: String,
    trust: Arc<Trust>,
    /// The task of the current entry.
    running: RefCell<ServerTask>,
    told: UnboundedSender<ProviderChange>,
    changes: RefCell<Option<UnboundedReceiver<ProviderChange>>>,
    /// The last list: a tool with an unchanged listing stays the same tool.
    last: RefCell<HashMap<ToolName, Listed>>,
}

/// The task of an entry, which ends when this is dropped.
struct ServerTask {
    shared: Arc<ServerContext>,
    task: Option<JoinHandle<()>>,
}

impl ServerTask {
    fn start(
        pause: Duration,
        entry: ServerEntry,
        trust: Arc<Trust>,
        told: UnboundedSender<ProviderChange>,
    ) -> Self {
        let is_off = entry.disabled.is_some();
        let shared = Arc::new(ServerContext::new(entry, trust, told));
        let task = (!is_off).then(|| tokio::spawn(life::live(shared.clone(), pause)));
        Self { shared, task }
    }

    fn end(&self) {
        if let Some(task) = &self.task {
            task.abort();
        }
        self.shared.set_peer(None);
    }
}

impl Drop for ServerTask {
    fn drop(&mut self) {
        self.end();
    }
}

/// A tool of the last list.
#[derive(Clone)]
struct Listed {
    definition: Arc<Definition>,
    standing: DefinitionStatus,
    tool: Rc<McpTool>,
}

impl McpServer {
    /// Starts a server, unless its entry is disabled; nothing waits for it. Needs a runtime.
    pub fn start(entry: ServerEntry, trust: Arc<Trust>) -> Self {
        Self::start_after(Duration::ZERO, entry, trust)
    }

    /// Starts a server after a pause.
    pub(super) fn start_after(pause: Duration, entry: ServerEntry, trust: Arc<Trust>) -> Self {
        let name = format!("mcp:{}", entry.key);
        let (told, changes) = unbounded_channel();
        let running = RefCell::new(ServerTask::start(pause, entry, trust.clone(), told.clone()));
        let changes = RefCell::new(Some(changes));
        Self { name, trust, running, told, changes, last: RefCell::default() }
    }

    /// Restarts the server with a changed entry of the same key.
    pub(super) fn restart(&self, entry: ServerEntry) {
        self.running.borrow().end();
        let (trust, told) = (self.trust.clone(), self.told.clone());
        self.running.replace(ServerTask::start(Duration::ZERO, entry, trust, told));
        // The tools are now those of the new entry, which are not known yet.
        self.say(ProviderChange::Listed);
    }

    /// Ends the server for good: its tools are gone.
    pub(super) fn leave(&self) {
        self.running.borrow().end();
        self.say(ProviderChange::Left);
    }

    fn say(&self, change: ProviderChange) {
        // Without a receiver nobody needs the change.
        let _ = self.told.send(change);
    }

    fn shared(&self) -> Arc<ServerContext> {
        self.running.borrow().shared.clone()
    }

    pub fn stage(&self) -> Stage {
        self.shared().stage.borrow().clone()
    }

    /// Notices about tools of its last list that cannot be read, and are left out.
    pub fn left_out(&self) -> Vec<String> {
        self.shared().left_out()
    }

    /// How many lines among its messages are none, if any.
    pub fn unread_lines(&self) -> Option<String> {
        self.shared().log.unread_lines()
    }

    /// The offered tools, by their names in a session.
    fn offered(&self) -> Vec<(ToolName, Arc<Definition>)> {
        let Stage::Ready(offer) = self.stage() else { return Vec::new() };
        let shared = self.shared();
        let entry = &shared.entry;
        let offered = |definition: &&Arc<Definition>| entry.offered.includes(&definition.name);
        let offered: Vec<_> = offer.tools.iter().filter(offered).cloned().collect();
        let own = offered.iter().map(|definition| definition.name.as_str());
        // A configuration without a prefix was refused earlier.
        let names = name::names(&entry.key, own).unwrap_or_default();
        names.iter().map(ToolName::new).zip(offered).collect()
    }

    fn list(&self) -> Vec<Rc<dyn Tool>> {
        let shared = self.shared();
        let mut before = self.last.take();
        let mut tools: Vec<Rc<dyn Tool>> = Vec::new();
        for (name, definition) in self.offered() {
            let standing = self.trust.judge(&shared.entry, &definition);
            let was = before.remove(&name);
            let is_same = |was: &Listed| was.definition == definition && was.standing == standing;
            let listed = was.filter(is_same).unwrap_or_else(|| {
                self.tell(&name, &standing);
                let tool = self.tool(name.clone(), &definition, &standing);
                Listed { definition, standing, tool }
            });
            tools.push(listed.tool.clone());
            self.last.borrow_mut().insert(name, listed);
        }
        if let Err(why) = self.trust.save() {
            shared.log.add(&why);
        }
        tools
    }

    fn tell(&self, tool: &ToolName, standing: &DefinitionStatus) {
        if let DefinitionStatus::Changed { hash, difference, .. } = standing {
            let (tool, hash, difference) = (tool.clone(), hash.clone(), difference.clone());
            self.shared().tell(|server| ServerEvent::DefinitionChanged {
                server,
                tool,
                hash,
                difference,
            });
        }
    }

    fn tool(
        &self,
        name: ToolName,
        new: &Arc<Definition>,
        standing: &DefinitionStatus,
    ) -> Rc<McpTool> {
        let shared = self.shared();
        let entry = &shared.entry;
        // A changed definition is shown to nobody before a person asks for it.
        let shown = match standing {
            DefinitionStatus::Accepted => new.clone(),
            DefinitionStatus::Changed { before: Some(before), .. } => before.clone(),
            DefinitionStatus::Changed { before: None, .. } => Arc::new(new.without_texts()),
        };
        let mut spec = shown.spec(name, &entry.key);
        if entry.trusts_hints {
            spec.effect = shown.effect;
        }
        if let Some(limit) = entry.call_timeout {
            spec.timeout_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        }
        if let DefinitionStatus::Changed { .. } = standing {
            spec.disabled = Some("its definition has changed since it was last seen".to_owned());
        }
        let output = new.output.as_ref().map(jsonschema::validator_for);
        let output = output.and_then(|made| match made {
            Ok(validator) => Some(validator),
            Err(error) => {
                let own = &new.name;
                shared.log.add(&format!("the outputSchema of {own} is no schema: {error}"));
                spec.returns = None;
                None
            }
        });
        let name = new.name.clone();
        Rc::new(McpTool { spec: Arc::new(spec), name, shared, output })
    }
}

impl Provider for McpServer {
    fn name(&self) -> &str {
        &self.name
    }

    /// The list if it is known: a server that is starting has none, and the session does not wait for it.
    fn tools(&self) -> LocalBoxFuture<'_, Result<Vec<Rc<dyn Tool>>, ToolError>> {
        future::ready(Ok(self.list())).boxed_local()
    }

    fn ready(&self) -> LocalBoxFuture<'_, ()> {
        let mut stage = self.shared().stage.subscribe();
        Box::pin(async move {
            // The time of a start is limited.
            let _settled = stage.wait_for(|stage| !matches!(stage, Stage::Starting)).await;
        })
    }

    fn accept(&self, tool: &ToolName, hash: &str) -> Option<Result<(), String>> {
        let mut offered = self.offered().into_iter();
        let (_, definition) = offered.find(|(name, _)| name == tool)?;
        let accepted = self.trust.accept(&self.shared().entry, &definition, hash);
        Some(accepted.and_then(|()| self.trust.save()))
    }

    fn relist(&self, change: Option<(&ToolName, Drift)>) {
        let Some((tool, change)) = change else { return self.shared().relist("", None) };
        if let Some(listed) = self.last.borrow().get(tool) {
            self.shared().relist(&listed.tool.name, Some(change));
        }
    }

    fn changes(&self) -> LocalBoxStream<'static, ProviderChange> {
        let changes = self.changes.take();
        let next = |mut changes: UnboundedReceiver<ProviderChange>| async {
            changes.recv().await.map(|change| (change, changes))
        };
        changes.map_or_else(
            || stream::empty().boxed_local(),
            |changes| stream::unfold(changes, next).boxed_local(),
        )
    }
}
