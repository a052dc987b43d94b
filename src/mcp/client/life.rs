//! The life of a server: it is started, its tools are listed, and if it ends, it is started again after a pause.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rmcp::RoleClient;
use rmcp::handler::client::progress::ProgressDispatcher;
use rmcp::model::SubscriptionFilter;
use rmcp::service::Peer;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{Notify, watch};
use tokio::time::{sleep, timeout};

use super::connect::{self, ServerConnection};
use super::definition::Definition;
use super::list::{self, ToolList};
use super::log::{Log, NewLines};
use super::server_requests::Client;
use super::stage::{Offer, Stage};
use crate::ServerEntry;
use crate::domain::ServerEvent;
use crate::domain::fault::Drift;
use crate::files::safe_text::visible;
use crate::relay::ServerListing;
use crate::tool::provider::ProviderChange;
use crate::trust::Trust;

/// The time that a server may take until its list of tools, if its entry does not set it.
const START: Duration = Duration::from_secs(30);
/// The pause before the first new start; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// After this time a server counts as stable, and its next pause is short again.
const STEADY: Duration = Duration::from_secs(60);
/// The shortest time between two lists, which bounds the cost of a server that reports changes all the time.
const BETWEEN_LISTS: Duration = Duration::from_secs(1);
/// The time that one list may take.
const LIST: Duration = Duration::from_secs(30);

/// State that the task of a connection and the tools share.
pub struct ServerContext {
    pub entry: ServerEntry,
    trust: Arc<Trust>,
    pub stage: watch::Sender<Stage>,
    /// The peer that answers calls while the server runs.
    peer: Mutex<Option<Peer<RoleClient>>>,
    /// Whether the server has died and is not back yet.
    is_dead: AtomicBool,
    pub log: Arc<Log>,
    /// Signals that the server's list of tools must be read again.
    changed: Arc<Notify>,
    listing: Mutex<ServerListing>,
    /// The last notices about tools that are left out.
    left_out: Mutex<Vec<String>>,
    /// The dispatcher of the progress of calls.
    pub progress: ProgressDispatcher,
    /// Changes of the server, for the session.
    pub told: UnboundedSender<ProviderChange>,
}

impl ServerContext {
    pub fn new(
        entry: ServerEntry,
        trust: Arc<Trust>,
        told: UnboundedSender<ProviderChange>,
    ) -> Self {
        let shared = Self {
            entry,
            trust,
            stage: watch::Sender::new(Stage::Starting),
            peer: Mutex::new(None),
            is_dead: AtomicBool::new(false),
            log: Arc::default(),
            changed: Arc::default(),
            listing: Mutex::default(),
            left_out: Mutex::default(),
            progress: ProgressDispatcher::new(),
            told,
        };
        match &shared.entry.disabled {
            Some(why) => shared.enter(Stage::Off { why: why.clone() }),
            None => shared.enter(Stage::Starting),
        }
        shared
    }

    pub fn tell(&self, event: impl FnOnce(Arc<str>) -> ServerEvent) {
        self.say(ProviderChange::Told(event(self.entry.key.as_str().into())));
    }

    fn say(&self, change: ProviderChange) {
        // Without a receiver nobody needs the change.
        let _ = self.told.send(change);
    }

    /// Sets the stage of the server's connection, and reports it.
    fn enter(&self, stage: Stage) {
        match &stage {
            Stage::Starting => self.tell(|server| ServerEvent::ServerStarted { server }),
            Stage::Ready(offer) => {
                let Offer { revision, program, tools, .. } = &**offer;
                let tools = u32::try_from(tools.len()).unwrap_or(u32::MAX);
                self.tell(|server| ServerEvent::ServerReady {
                    server,
                    program: visible(program).into_owned(),
                    revision: visible(revision).into_owned(),
                    tools,
                });
                let was_down = self.is_dead.swap(false, Ordering::Relaxed);
                self.say(if was_down { ProviderChange::Back } else { ProviderChange::Listed });
            }
            Stage::Down { why, again } => {
                let was_dead = self.is_dead.swap(true, Ordering::Relaxed);
                let again_ms = u64::try_from(again.as_millis()).unwrap_or(u64::MAX);
                let why = visible(why).into_owned();
                self.tell(|server| ServerEvent::ServerDied { server, why: why.clone(), again_ms });
                // A server that cannot be started is reported once.
                if !was_dead {
                    self.say(ProviderChange::Died { why });
                }
            }
            Stage::Off { why } => {
                let why = why.clone();
                self.tell(|server| ServerEvent::ServerOff { server, why });
            }
        }
        self.stage.send_replace(stage);
    }

    /// Notices about tools of the last list that cannot be read, and are left out.
    pub fn left_out(&self) -> Vec<String> {
        self.left_out.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reports the tools that are left out, if they are others than before.
    fn leave_out(&self, left_out: Vec<String>) {
        let mut before = self.left_out.lock().unwrap_or_else(PoisonError::into_inner);
        if *before != left_out {
            let key = &self.entry.key;
            let text = |notice: &String| format!("the MCP server {key:?}: {notice}");
            left_out.iter().for_each(|it| self.say(ProviderChange::Noticed { text: text(it) }));
            *before = left_out;
        }
    }

    /// Lists a tool with a change from now on, or unchanged.
    pub fn relist(&self, tool: &str, change: Option<Drift>) {
        if self.listing.lock().unwrap_or_else(PoisonError::into_inner).set(tool, change) {
            self.changed.notify_one();
        }
    }

    pub fn peer(&self) -> Option<Peer<RoleClient>> {
        self.peer.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn set_peer(&self, peer: Option<Peer<RoleClient>>) {
        *self.peer.lock().unwrap_or_else(PoisonError::into_inner) = peer;
    }
}

/// Keeps the server running until the task is aborted; it is started after a pause.
pub async fn live(shared: Arc<ServerContext>, pause: Duration) {
    sleep(pause).await;
    let log = shared.log.tell(|NewLines { lines, left_out, .. }| {
        let lines = lines.into();
        shared.tell(|server| ServerEvent::ServerSaid { server, lines, left_out });
    });
    tokio::select! {
        () = log => {}
        () = again_and_again(&shared) => {}
    }
}

/// Starts the server, and again whenever it ends. Never returns.
async fn again_and_again(shared: &ServerContext) {
    let mut pause = FIRST_PAUSE;
    loop {
        let begun = Instant::now();
        let why = run(shared).await;
        shared.set_peer(None);
        if begun.elapsed() >= STEADY {
            pause = FIRST_PAUSE;
        }
        shared.enter(Stage::Down { why, again: pause });
        sleep(pause).await;
        pause = (2 * pause).min(LONGEST_PAUSE);
        shared.enter(Stage::Starting);
    }
}

/// Runs the server once; returns why it ended.
async fn run(shared: &ServerContext) -> String {
    let begun = Instant::now();
    let changed = shared.changed.clone();
    let client = Client {
        log: shared.log.clone(),
        changed: changed.clone(),
        progress: shared.progress.clone(),
        is_old: false,
        gives_defaults: shared.entry.gives_defaults,
    };
    let limit = shared.entry.start_timeout.unwrap_or(START);
    let needs_greeting = shared.trust.needs_greeting(&shared.entry);
    let opened = timeout(limit, connect::open(&shared.entry, &client, needs_greeting)).await;
    let ServerConnection { service, program, needs_greeting } = match opened {
        Ok(Ok(connection)) => connection,
        Ok(Err(why)) => return with_last_line(shared, why),
        Err(_) => {
            let why = format!("it did not answer within {} s", limit.as_secs());
            return with_last_line(shared, why);
        }
    };
    if let Err(why) = shared.trust.keep_greeting(&shared.entry, needs_greeting) {
        shared.log.add(&why);
    }
    let peer = service.peer().clone();
    let offer = |tools, took| {
        let info = peer.peer_info();
        let program = info.as_ref().and_then(|info| info.server_info.as_ref());
        let program = program.map(|it| format!("{} {}", it.name, it.version).trim().to_owned());
        let revision = info.map(|info| info.protocol_version.to_string()).unwrap_or_default();
        Stage::Ready(Arc::new(Offer {
            revision,
            program: program.unwrap_or_default(),
            tools,
            took,
        }))
    };
    match listed(shared, &peer).await {
        Ok(tools) => {
            shared.set_peer(Some(peer.clone()));
            shared.enter(offer(tools, begun.elapsed()));
        }
        Err(why) => return with_last_line(shared, why),
    }
    let took = begun.elapsed();
    let lists = async {
        loop {
            changed.notified().await;
            sleep(BETWEEN_LISTS).await;
            match listed(shared, &peer).await {
                Ok(tools) => shared.enter(offer(tools, took)),
                // The tools of the last list stay.
                Err(why) => shared.log.add(&format!("its tools could not be listed again: {why}")),
            }
        }
    };
    tokio::select! {
        () = lists => {}
        () = subscribed(&peer, &changed) => {}
        _ = service.waiting() => {}
    }
    let why = "it closed the connection".to_owned();
    with_last_line(
        shared,
        match &program {
            Some(program) => connect::ended(program, why).await,
            None => why,
        },
    )
}

/// Requests notices about changed tools from a server of the stateless revision. Never returns.
async fn subscribed(peer: &Peer<RoleClient>, changed: &Notify) {
    let is_stateless = peer.peer_info().is_some_and(|info| {
        info.protocol_version == rmcp::model::ProtocolVersion::V_2026_07_28
            && info.capabilities.tools.as_ref().and_then(|tools| tools.list_changed) == Some(true)
    });
    if is_stateless {
        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        if let Ok(mut subscription) = peer.listen(filter).await {
            while let Ok(Some(_)) = subscription.next().await {
                changed.notify_one();
            }
        }
    }
    std::future::pending().await
}

/// The tools of the server, as they are listed now.
async fn listed(
    shared: &ServerContext,
    peer: &Peer<RoleClient>,
) -> Result<Vec<Arc<Definition>>, String> {
    let list = timeout(LIST, list::all(peer, &shared.progress)).await.unwrap_or_else(|_| {
        Err(format!("its list of tools did not arrive within {} s", LIST.as_secs()))
    });
    let ToolList { tools, left_out } = list?;
    shared.leave_out(left_out);
    let listing = shared.listing.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(tools.into_iter().filter_map(|tool| listing.definition(tool).map(Arc::new)).collect())
}

/// The reason, and the server's last line, which is usually more helpful.
fn with_last_line(shared: &ServerContext, why: String) -> String {
    match shared.log.last() {
        Some(line) => format!("{why}; its last line: {line}"),
        None => why,
    }
}
