//! The session that a relay reports to: a running one, or its own.

use std::path::Path;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;

use super::McpArgs;
use super::own_session::{self, Alone};
use crate::serve::relay_socket::{RelaySession, SocketScan, dial, find};
use crate::shell::out::warn;
use crate::shell::trouble::Trouble;
use crate::store::journal::folder;
use crate::tool::foreign_calls;
use crate::ui::text::clean;

/// How long a named session may take to open its socket: it may have started this relay's client just now.
const PATIENCE: Duration = Duration::from_secs(5);
/// Time between two looks for the session.
const AGAIN: Duration = Duration::from_millis(50);

/// Sender of a relay's news about its calls.
pub type RelayNewsSender = mpsc::UnboundedSender<foreign_calls::RelayNews>;

/// A connection to the session.
pub struct Door {
    pub news: RelayNewsSender,
    pub session: DoorSession,
}

/// The session behind a door.
pub enum DoorSession {
    Running,
    Own(Alone),
}

impl DoorSession {
    /// Waits until the session has received everything.
    ///
    /// # Errors
    /// The session's journal could not be written.
    pub async fn close(self) -> Result<(), Trouble> {
        match self {
            DoorSession::Running => Ok(()),
            DoorSession::Own(own) => own.close().await,
        }
    }
}

/// Connects to the session that the arguments name.
///
/// # Errors
/// The named session does not run, or an own session cannot be started.
pub async fn open(args: &McpArgs, key: &str) -> Result<Door, Trouble> {
    if args.is_alone() {
        return own(args, key);
    }
    let Some(name) = &args.session else {
        let SocketScan { mut running, dead, .. } = find().await;
        for socket in dead {
            let socket = socket.display();
            warn(&clean(&format!("{key}: nobody answers at {socket}; it is left out")));
        }
        running.retain(RelaySession::is_of_this_home);
        return match running.len() {
            0 => Ok(own_if_possible(args, key)),
            1 => Ok(join(key, running.remove(0))),
            _ => {
                let names: Vec<_> = running.iter().map(told).collect();
                warn(&clean(&format!(
                    "{key}: several sessions run, and none of them is taken: {}; --session names one",
                    names.join(", ")
                )));
                Ok(own_if_possible(args, key))
            }
        };
    };
    let begun = Instant::now();
    loop {
        let found = find().await.running.into_iter().find(|running| is_named(running, name));
        match found {
            Some(running) => return Ok(join(key, running)),
            None if begun.elapsed() < PATIENCE => tokio::time::sleep(AGAIN).await,
            None => {
                let text = format!(
                    "--session {name}: no session of toolyard watch that runs has this name"
                );
                return Err(Trouble::Usage(clean(&text).into_owned()));
            }
        }
    }
}

/// Starts an own session, if possible. Nobody asked for it, so the client gets its server even without one.
fn own_if_possible(args: &McpArgs, key: &str) -> Door {
    own(args, key).unwrap_or_else(|trouble| {
        let why = trouble.text();
        warn(&clean(&format!(
            "{key}: its calls pass unseen, since no session can be started: {why}"
        )));
        let (news, _) = mpsc::unbounded_channel();
        Door { news, session: DoorSession::Running }
    })
}

fn own(args: &McpArgs, key: &str) -> Result<Door, Trouble> {
    let (news, own) = own_session::start(args, key)?;
    Ok(Door { news, session: DoorSession::Own(own) })
}

fn join(key: &str, running: RelaySession) -> Door {
    warn(&clean(&format!("{key}: its calls are in the session {}", told(&running))));
    let (news, told) = mpsc::unbounded_channel();
    let server = key.to_owned();
    tokio::task::spawn_local(async move { dial(running, &server, told).await });
    Door { news, session: DoorSession::Running }
}

fn told(running: &RelaySession) -> String {
    let hello = &running.hello;
    format!("{} (process {}, {})", hello.journal, hello.pid, hello.title)
}

fn is_named(running: &RelaySession, name: &str) -> bool {
    let hello = &running.hello;
    let (journal, given) = (Path::new(&hello.journal), Path::new(name));
    hello.pid.to_string() == name
        || std::path::absolute(given).is_ok_and(|given| given == journal)
        || folder::stem(journal) == name
        || journal.file_name().is_some_and(|file| file == given)
}

impl McpArgs {
    /// True if an option needs a session of its own: `--fault`, `--break`, `--hold`, `--journal` or `--no-journal`.
    fn is_alone(&self) -> bool {
        let wants_own = !self.fault.is_empty() || !self.breakpoint.is_empty();
        wants_own || self.hold.is_some() || self.journal.is_some() || self.no_journal
    }
}
