//! The process of a watched agent beside its session.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;

use super::WatchArgs;
use super::place::AgentLaunch;
use crate::cli::trouble::Trouble;
use crate::model::relay::ListenerNews;
use crate::serve::agent::{Agent, Environment, Manner, unseen};
use crate::serve::watch::Listener;

/// How long an agent may be silent before toolyard says what may keep its requests away.
const SILENCE: Duration = Duration::from_secs(10);

/// Starts the agent, and tells the session.
///
/// # Errors
/// It cannot be started.
pub async fn start(
    args: &WatchArgs,
    place: &AgentLaunch,
    manner: &Manner,
    news: &UnboundedSender<ListenerNews>,
) -> Result<Agent, Trouble> {
    let agent = Agent::start(&place.command, &place.environment, manner).await;
    let agent = agent.map_err(Trouble::usage)?;
    // The session may have ended already.
    let _ = news.send(ListenerNews::Started { command: args.title() });
    Ok(agent)
}

/// Waits for the end of the agent, and reports it to the session. Meanwhile says why no requests arrive, if none do.
/// `seen`: the number of requests so far.
pub async fn follow(
    agent: &Agent,
    environment: &Environment,
    news: &UnboundedSender<ListenerNews>,
    seen: impl Fn() -> u64,
) -> Option<i32> {
    let silent = async {
        tokio::time::sleep(SILENCE).await;
        if seen() == 0 {
            for text in unseen::lines(agent.pid(), environment) {
                let _ = news.send(ListenerNews::Noticed(text));
            }
        }
        std::future::pending::<()>().await;
    };
    let code = tokio::select! {
        code = agent.wait() => code,
        () = silent => None,
    };
    let _ = news.send(ListenerNews::Ended { code });
    code
}

/// Counts the requests that a listener has seen; the count outlives the listener.
pub fn counted(listener: &Arc<Listener>) -> impl Fn() -> u64 + use<> {
    let listener = Arc::downgrade(listener);
    move || listener.upgrade().map_or(0, |listener| listener.requests())
}
