//! A watched agent behind the screen.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::sync::oneshot;

use super::place::Place;
use super::{WatchArgs, agent, begin};
use crate::cli::{live, out, runtime::runtime, save, trouble::Trouble};
use crate::domain::{Command, state::Keeps, state::RECENT};
use crate::model::relay::News;
use crate::serve::agent::{Manner, Output, Stream};
use crate::session::Session;
use crate::ui::{self, AgentOutput, OutputLine};

/// Shows the agent until the person leaves, which ends it.
pub fn run(args: &WatchArgs, mut place: Place) -> Result<ExitCode, Trouble> {
    live::expect_terminal()?;
    let (mut prepared, news) = args.session(true)?;
    prepared.keeps = Keeps::Tasks(RECENT);
    prepared.is_attachable = true;
    let config = prepared.config.clone();
    let Session { opened, title, journal, records, commands, seat, engine } = prepared.spawn()?;
    if args.command.is_empty() {
        for line in place.environment.lines_to_copy(&place.address).lines() {
            let _ = news.send(News::Noticed(line.to_owned()));
        }
    }
    let listener = Arc::new(begin(args, &mut place, &news)?);
    let runtime = runtime()?;
    let manner = args.out.clone().map_or(Manner::Captured, Manner::CapturedTo);
    let (leave, left) = oneshot::channel::<()>();
    let (output, following) = if args.command.is_empty() {
        (None, None)
    } else {
        let started = runtime.block_on(agent::start(args, &place, &manner, &news));
        let started = started.inspect_err(|_| drop(commands.send(Command::Stop)))?;
        let output: Arc<dyn AgentOutput> = Arc::new(Lines(started.output()));
        let (seen, saved) = (agent::counted(&listener), journal.clone());
        let work = move || {
            runtime.block_on(async {
                let followed = agent::follow(&started, &place.environment, &news, seen);
                let mut followed = std::pin::pin!(followed);
                let code = tokio::select! {
                    code = &mut followed => code,
                    _ = left => {
                        started.end();
                        followed.await
                    }
                };
                if let Some(path) = saved {
                    let text = format!("what was seen is in the journal {}", path.display());
                    let _ = news.send(News::Noticed(text));
                }
                code
            })
        };
        let thread = thread::Builder::new().name("agent".to_owned()).spawn(work);
        (Some(output), Some(thread.map_err(Trouble::failed)?))
    };
    let source = ui::Source {
        opened: Some(opened),
        records: ui::Records::Live(records, Arc::clone(&engine.broken)),
        commands: Some(commands.clone()),
        seat,
        journal: journal.clone(),
        twins: None,
        sweeps: None,
        scenarios: save::saver(None, journal.clone()),
        output,
    };
    let shown = live::settings(&config, title, None).map(|mut settings| {
        settings.screen.journal = journal.as_deref().and_then(live::follow);
        settings
    });
    let shown = shown.and_then(|settings| ui::run(source, settings).map_err(Trouble::failed));
    // Regardless of how the screen ended, agent and session must end properly.
    drop(leave);
    let code = following.and_then(|thread| thread.join().ok()).map(|code| code.unwrap_or(128 + 15));
    drop(listener);
    let _ = commands.send(Command::Stop);
    let ended = engine.join();
    let shown = shown?;
    ended?;
    said(journal.as_deref())?;
    Ok(match (shown, code) {
        (ui::EndReason::BySignal(signal), _) => exit(128 + signal),
        (_, Some(code)) => exit(code),
        (_, None) => ExitCode::SUCCESS,
    })
}

fn said(journal: Option<&Path>) -> Result<(), Trouble> {
    journal.map_or(Ok(()), |path| out::print_line(format!("journal: {}", path.display())))
}

fn exit(code: i32) -> ExitCode {
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

/// The output of an agent, as the screen reads it.
#[derive(Debug)]
struct Lines(Arc<Output>);

impl AgentOutput for Lines {
    fn version(&self) -> u64 {
        self.0.count()
    }

    fn lines(&self) -> Vec<OutputLine> {
        let lines = self.0.lines();
        let first = self.0.count().saturating_sub(lines.len() as u64);
        let line = |(n, line): (u64, &Arc<crate::serve::agent::Line>)| OutputLine {
            n,
            text: line.text.clone(),
            stream: match line.stream {
                Stream::Out => ui::agent_output::Stream::Out,
                Stream::Err => ui::agent_output::Stream::Err,
                Stream::Toolyard => ui::agent_output::Stream::Toolyard,
            },
        };
        (first + 1..).zip(&lines).map(line).collect()
    }

    fn changed(&self, seen: u64) -> BoxFuture<'_, ()> {
        let mut changes = self.0.changes();
        async move {
            // The output that has ended changes no more.
            if changes.wait_for(|count| *count != seen).await.is_err() {
                std::future::pending::<()>().await;
            }
        }
        .boxed()
    }
}
