//! The demo of a watched agent. The agent and its endpoint are threads of this program; everything between them works
//! as for any agent.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::thread;

use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::sync::oneshot;
use toolyard_stage::guest;

use crate::cli::watch::screen_run::{self, AgentThread, ScreenLook, WatchedAgent};
use crate::domain::Speed;
use crate::model::relay::ListenerNews;
use crate::serve::agent::{Output, Stream};
use crate::serve::watch::{Listener, Listening, Upstreams, bind, listen};
use crate::session::{Feed, SessionSpec};
use crate::shell::runtime::runtime;
use crate::shell::trouble::Trouble;
use crate::ui::EndReason;

/// How to watch an own agent, printed at the end.
const YOURS: &str = "your own agent: toolyard watch -- python my_agent.py";

/// Shows the small agent of the stage until the person leaves.
///
/// # Errors
/// As [`screen_run::show`].
pub fn show(spec: &SessionSpec, look: ScreenLook, speed: Speed) -> Result<EndReason, Trouble> {
    let (news, inbox) = mpsc::unbounded_channel();
    let feed = Feed { spec_of: Some(guest::spec), ..Feed::new(inbox) };
    let prepared = spec.watch(guest::NAME, feed)?;
    let pace = speed.factor().unwrap_or(1.0);
    let ended = screen_run::show(prepared, look, |_| {
        let endpoint = guest::serve(pace).map_err(Trouble::failed)?;
        let socket = bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).map_err(Trouble::failed)?;
        let upstreams = Upstreams { openai: endpoint, ..Upstreams::default() };
        let listening = Listening {
            socket,
            token: None,
            upstreams,
            intercepting: None,
            has_record: false,
            login: None,
            news: news.clone(),
        };
        let listener = Arc::new(listen(listening).map_err(Trouble::failed)?);
        let (output, agent) = start(&listener, pace, news)?;
        Ok(WatchedAgent { listener, output, agent: Some(agent) })
    })?;
    Ok(ended.screen)
}

/// Starts the agent, which uses the listener as its base URL.
fn start(
    listener: &Listener,
    pace: f64,
    news: UnboundedSender<ListenerNews>,
) -> Result<(Arc<Output>, AgentThread), Trouble> {
    let url = format!("http://{}/v1", listener.address());
    let (output, runtime) = (Arc::new(Output::new(None)), runtime()?);
    let (leave, left) = oneshot::channel::<()>();
    let printed = Arc::clone(&output);
    let work = move || {
        // The session may have ended already.
        let tell = |news_of: ListenerNews| drop(news.send(news_of));
        let print = |line: &str| printed.add(Stream::Out, line.as_bytes());
        tell(ListenerNews::Started { command: guest::NAME.to_owned() });
        let code = runtime.block_on(async {
            tokio::select! {
                worked = guest::work(&url, pace, &print) => match worked {
                    Ok(()) => 0,
                    Err(why) => {
                        printed.add(Stream::Err, why.as_bytes());
                        1
                    }
                },
                _ = left => 0,
            }
        });
        tell(ListenerNews::Ended { code: Some(code) });
        tell(ListenerNews::Noticed(YOURS.to_owned()));
        Some(code)
    };
    let thread = thread::Builder::new().name("agent".to_owned()).spawn(work);
    Ok((output, AgentThread { leave, thread: thread.map_err(Trouble::failed)? }))
}
