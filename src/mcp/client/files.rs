//! Configurations of servers, which are reloaded when their files change.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures::future::{self, LocalBoxFuture};
use futures::stream::{self, LocalBoxStream};
use futures::{FutureExt, StreamExt};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::sleep;

use super::server::McpServer;
use crate::ServerEntry;
use crate::tool::provider::{Provider, ProviderChange};
use crate::tool::{Tool, ToolError};
use crate::trust::Trust;

/// The interval between checks of the files.
const EVERY: Duration = Duration::from_secs(2);

/// The servers of the files, with remarks; or why the files cannot be read.
type ConfigReader = Box<dyn Fn() -> Result<(Vec<ServerEntry>, Vec<String>), String>>;

/// A provider without tools of its own: it starts and stops servers according to the files.
pub struct ServerFiles {
    files: Vec<PathBuf>,
    read: ConfigReader,
    trust: Arc<Trust>,
    servers: RefCell<Vec<(ServerEntry, Rc<McpServer>)>>,
    /// Servers that the session does not know yet.
    new: RefCell<Vec<Rc<McpServer>>>,
    said: RefCell<Vec<String>>,
    sender: UnboundedSender<ProviderChange>,
    receiver: RefCell<Option<UnboundedReceiver<ProviderChange>>>,
}

/// The modification time and the length of a file; `None` if there is no file.
type Stamp = Option<(SystemTime, u64)>;

impl ServerFiles {
    /// Starts these servers after a pause; needs a runtime. `read` reads the files again.
    pub fn start(
        pause: Duration,
        entries: Vec<ServerEntry>,
        files: Vec<PathBuf>,
        trust: Arc<Trust>,
        read: impl Fn() -> Result<(Vec<ServerEntry>, Vec<String>), String> + 'static,
    ) -> Self {
        let (sender, receiver) = unbounded_channel();
        let start = |entry: ServerEntry| {
            let server = McpServer::start_after(pause, entry.clone(), trust.clone());
            (entry, Rc::new(server))
        };
        let servers = RefCell::new(entries.into_iter().map(start).collect());
        let receiver = RefCell::new(Some(receiver));
        let read = Box::new(read);
        Self {
            files,
            read,
            trust,
            servers,
            new: RefCell::default(),
            said: RefCell::default(),
            sender,
            receiver,
        }
    }

    /// The servers that run at the start.
    pub fn servers(&self) -> Vec<Rc<dyn Provider>> {
        let servers = self.servers.borrow();
        servers.iter().map(|(_, server)| server.clone() as Rc<dyn Provider>).collect()
    }

    /// Reads the files again: ends removed servers, starts new ones, and restarts changed ones.
    fn read_again(&self) {
        let (entries, said) = match (self.read)() {
            Ok(read) => read,
            // The file may be incomplete while it is written, for example.
            Err(why) => {
                let text = format!("{why}; the MCP servers stay as they are");
                return self.tell(ProviderChange::Noticed { text });
            }
        };
        let mut servers = self.servers.borrow_mut();
        servers.retain(|(known, server)| {
            let stays = entries.iter().any(|entry| entry.key == known.key);
            if !stays {
                server.leave();
            }
            stays
        });
        for entry in entries {
            match servers.iter_mut().find(|(known, _)| known.key == entry.key) {
                Some((known, _)) if is_same(known, &entry) => {}
                Some((known, server)) => {
                    server.restart(entry.clone());
                    *known = entry;
                }
                None => {
                    let server = Rc::new(McpServer::start(entry.clone(), self.trust.clone()));
                    self.new.borrow_mut().push(server.clone());
                    self.tell(ProviderChange::Joined);
                    servers.push((entry, server));
                }
            }
        }
        if *self.said.borrow() != said {
            said.iter().for_each(|text| self.tell(ProviderChange::Noticed { text: text.clone() }));
            self.said.replace(said);
        }
    }

    fn tell(&self, change: ProviderChange) {
        // Without a receiver nobody needs the change.
        let _ = self.sender.send(change);
    }
}

/// Whether two entries are equal except for their lines, which move when others are edited.
fn is_same(one: &ServerEntry, other: &ServerEntry) -> bool {
    ServerEntry { line: 0, ..one.clone() } == ServerEntry { line: 0, ..other.clone() }
}

fn stamps(files: &[PathBuf]) -> Vec<Stamp> {
    let stamp = |file: &PathBuf| {
        let about = file.metadata().ok()?;
        Some((about.modified().ok()?, about.len()))
    };
    files.iter().map(stamp).collect()
}

impl Provider for ServerFiles {
    fn name(&self) -> &str {
        "configurations of MCP servers"
    }

    /// No tools; but a request to list them reads the files again.
    fn tools(&self) -> LocalBoxFuture<'_, Result<Vec<Rc<dyn Tool>>, ToolError>> {
        if self.receiver.borrow().is_none() {
            self.read_again();
        }
        future::ready(Ok(Vec::new())).boxed_local()
    }

    fn joined(&self) -> Vec<Rc<dyn Provider>> {
        self.new.take().into_iter().map(|server| server as Rc<dyn Provider>).collect()
    }

    fn changes(&self) -> LocalBoxStream<'static, ProviderChange> {
        let Some(receiver) = self.receiver.take() else { return stream::empty().boxed_local() };
        let files = self.files.clone();
        let seen = stamps(&files);
        let next = |(mut receiver, files, mut seen): (
            UnboundedReceiver<ProviderChange>,
            Vec<PathBuf>,
            Vec<Stamp>,
        )| async move {
            loop {
                tokio::select! {
                    biased;
                    change = receiver.recv() => return Some((change?, (receiver, files, seen))),
                    () = sleep(EVERY) => {}
                }
                let now = stamps(&files);
                if now != seen {
                    seen = now;
                    return Some((ProviderChange::Listed, (receiver, files, seen)));
                }
            }
        };
        stream::unfold((receiver, files, seen), next).boxed_local()
    }
}
