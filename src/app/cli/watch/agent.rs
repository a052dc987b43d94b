//! The process of a watched agent beside its session.

use std::cell::RefCell;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;
use tokio::task::spawn_blocking;

use super::WatchArgs;
use super::place::AgentLaunch;
use crate::model::relay::ListenerNews;
use crate::serve::agent::silence_hints::{Sightings, Unseen};
use crate::serve::agent::{Agent, Manner};
use crate::serve::watch::Listener;
use crate::shell::trouble::Trouble;

/// How long an agent may be silent before toolyard says what may keep its requests away.
const SILENCE: Duration = Duration::from_secs(10);

/// The time between two looks at the connections of an agent: it doubles from the first one on.
const FIRST: Duration = Duration::from_millis(20);
const LONGEST: Duration = Duration::from_millis(500);
/// The same for an agent that has asked something.
const SELDOM: Duration = Duration::from_secs(2);

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

/// Waits for the end of the agent, and reports it to the session. Meanwhile looks why no requests arrive, if none do.
pub async fn follow(
    agent: &Agent,
    place: &AgentLaunch,
    news: &UnboundedSender<ListenerNews>,
    listener: &Listener,
) -> Option<i32> {
    let (own, understood) = (listener.address(), listener.understood());
    let seen = RefCell::new(Sightings::default());
    let unseen = |left: &[String]| {
        Unseen::new(&seen.borrow(), left, &place.environment, &place.recipes.display().to_string())
    };
    let looks = async {
        let (begun, mut pause, mut is_silent) = (Instant::now(), FIRST, true);
        loop {
            let pid = agent.pid();
            let looked = spawn_blocking(move || Sightings::look(pid, own)).await;
            looked.into_iter().for_each(|looked| seen.borrow_mut().add(looked));
            let asks = understood.load(Ordering::Relaxed);
            if is_silent && !asks && begun.elapsed() >= SILENCE {
                is_silent = false;
                for text in unseen(&[]).lines(&place.environment) {
                    let _ = news.send(ListenerNews::Noticed(text));
                }
            }
            tokio::time::sleep(pause).await;
            pause = if asks { SELDOM } else { LONGEST.min(pause * 2) };
        }
    };
    let code = tokio::select! {
        code = agent.wait() => code,
        () = looks => None,
    };
    let Unseen { facts, advice, past } = unseen(&agent.left());
    let _ = news.send(ListenerNews::SeenBeside { facts, advice, past });
    let _ = news.send(ListenerNews::Ended { code });
    code
}
