//! A relay's own session, on its own thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{self, UnboundedSender};

use super::McpArgs;
use super::door::RelayNewsSender;
use crate::domain::{Command, Event, Record, TaskEvent};
use crate::domain::{state::Keeps, state::RECENT};
use crate::session::{Feed, JournalChoice, SessionSpec, TaskSource};
use crate::shell::out::warn;
use crate::shell::runtime::runtime;
use crate::shell::trouble::Trouble;
use crate::ui::text::clean;

/// How long the session may take for the last news.
const LAST: Duration = Duration::from_secs(1);

/// A session without a screen.
pub struct Alone {
    commands: UnboundedSender<Command>,
    thread: JoinHandle<Result<(), Trouble>>,
    /// Number of tasks at work: servers with open calls.
    at_work: Arc<AtomicI64>,
}

/// Starts a session.
///
/// # Errors
/// The configuration or an option is wrong, or the journal cannot be written.
pub fn start(args: &McpArgs, key: &str) -> Result<(RelayNewsSender, Alone), Trouble> {
    let (_, nobody) = mpsc::unbounded_channel();
    let feed = Feed::new(nobody);
    let news = feed.relays.clone().ok_or_else(|| Trouble::failed("it takes no relays"))?;
    let spec = SessionSpec {
        config: args.config.config.clone(),
        faults: args.fault.clone(),
        breakpoints: args.breakpoint.clone(),
        hold: args.hold,
        tasks: TaskSource::List(Vec::new()),
        journal: match (&args.journal, args.no_journal) {
            (Some(path), _) => JournalChoice::File(path.clone()),
            (None, true) => JournalChoice::None,
            (None, false) => JournalChoice::Configured,
        },
        ..SessionSpec::default()
    };
    let mut prepared = spec.watch(&format!("the MCP server {key}"), feed)?;
    prepared.is_attachable = true;
    prepared.keeps = Keeps::Tasks(RECENT);
    let at_work = Arc::<AtomicI64>::default();
    let count = Arc::clone(&at_work);
    let listener = Box::new(move |record: &Arc<Record>| match record.event {
        Event::Task(TaskEvent::TaskStarted { .. }) => drop(count.fetch_add(1, Ordering::Relaxed)),
        Event::Task(TaskEvent::TaskFinished { .. }) => drop(count.fetch_sub(1, Ordering::Relaxed)),
        _ => {}
    });
    let (commands, commanded) = mpsc::unbounded_channel();
    let attached = commands.downgrade();
    let work = move || {
        let session = prepared.run(commanded, Some(attached), listener);
        runtime()?.block_on(session)?;
        Ok(())
    };
    let thread = thread::Builder::new().name("engine".to_owned()).spawn(work);
    Ok((news, Alone { commands, thread: thread.map_err(Trouble::failed)?, at_work }))
}

impl Alone {
    /// Ends the session once it has processed all news.
    ///
    /// # Errors
    /// The session's journal could not be written.
    pub async fn close(self) -> Result<(), Trouble> {
        let begun = Instant::now();
        while self.at_work.load(Ordering::Relaxed) > 0 && begun.elapsed() < LAST {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        let why = "the relay has ended".to_owned();
        // The session may have ended by itself.
        let _ = self.commands.send(Command::StopBecause { why });
        let ended = self.thread.join().map_err(|_| Trouble::failed("the session panicked"))?;
        if let Err(error) = &ended {
            warn(&clean(error.text()));
        }
        ended
    }
}
