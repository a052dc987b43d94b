//! Watched agents: their requests arrive through a channel from a listener, and are effects like any others. A
//! conversation is a run, and each of its requests a model call whose model is the relay of the request. A call in the
//! answer is a tool call that starts when the agent gets it, and ends when a later request has its result.

mod again;
mod answers;
mod attend;
mod calls;
mod compare;
mod conversations;
mod decided;
mod digest;
mod ending;
mod facts;
mod given;
mod joined;
mod leaving;
mod named;
mod on_wire;
mod past;
mod prefix;
mod resumed;
mod said;
mod seen;
mod skipped;
mod talk;
mod tool_wire;
mod varies;
mod waiting;

use std::{cell::RefCell, rc::Rc};

use tokio::sync::mpsc::UnboundedReceiver;

pub use self::again::Again;
pub(super) use self::decided::with_messages;
pub use self::facts::SpecOf;
use self::seen::Seen;
use self::talk::Talks;
use self::tool_wire::Wires;
pub use self::varies::Varies;
use crate::domain::{Record, RunEvent, SessionEvent};
use crate::handle::Handle;
use crate::model::relay::ListenerNews;
use crate::tool::relayed;

/// The channels and settings through which a session serves watched agents.
pub struct Inbox {
    pub news: UnboundedReceiver<ListenerNews>,
    /// News from the relays between clients and their servers.
    pub relayed: UnboundedReceiver<relayed::RelayNews>,
    pub spec_of: SpecOf,
    /// The record over which the agents run again, if they do.
    pub again: Option<Again>,
}

/// Handles the news of a listener; never ends, since others can end the session. `past`: the records that the session
/// continues.
pub(super) async fn serve(handle: Handle, inbox: Inbox, past: Vec<Record>) {
    let Inbox { mut news, mut relayed, spec_of, again } = inbox;
    let mut talks = Talks::new(spec_of, again);
    talks.take_up(&past);
    drop(past);
    let talks = Rc::new(RefCell::new(talks));
    let mut wires = Wires::default();
    let mut seen = Seen::default();
    loop {
        let news = tokio::select! {
            Some(news) = news.recv() => news,
            Some(news) = relayed.recv() => {
                hear(&handle, &talks, &mut wires, news);
                continue;
            }
            else => break,
        };
        match news {
            ListenerNews::Arrived(arrival) => {
                seen.has_asked = true;
                // At once, since the order of requests determines which of equal conversations is meant.
                let known = talks.borrow().len();
                let placed = handle.write(|session| talks.borrow_mut().place(session, &arrival));
                if talks.borrow().len() > known {
                    handle.spawn(leaving::leave_idle(handle.clone(), Rc::clone(&talks)));
                }
                let attended = attend::attend(handle.clone(), Rc::clone(&talks), placed, *arrival);
                handle.spawn(attended);
            }
            ListenerNews::Passed { what, why } => {
                handle.emit(RunEvent::RequestPassed { what, why })
            }
            ListenerNews::Started { command } => handle.emit(RunEvent::AgentStarted { command }),
            ListenerNews::Ended { code } => {
                let summary = talks.borrow().again.as_ref().map(|again| again.past.summary());
                let unseen = handle.read(|session| seen.lines(session.state()));
                let lines = summary.into_iter().flatten().chain(unseen);
                lines.for_each(|text| handle.emit(SessionEvent::Noticed { text }));
                handle.spawn(leaving::leave(handle.clone(), Rc::clone(&talks), code));
            }
            ListenerNews::SeenBeside { facts, advice, past } => {
                seen = Seen { facts, advice, past, ..seen };
            }
            ListenerNews::Noticed(text) => handle.emit(SessionEvent::Noticed { text }),
        }
    }
    std::future::pending().await
}

/// Handles the news of a relay.
fn hear(handle: &Handle, talks: &Rc<RefCell<Talks>>, wires: &mut Wires, news: relayed::RelayNews) {
    match news {
        relayed::RelayNews::Offered { server, tools } => {
            handle.write(|session| tool_wire::offer(session, wires, &server, tools));
        }
        relayed::RelayNews::Called(call) => {
            let known = |session: &mut _| joined::find(session, &mut talks.borrow_mut(), &call);
            if let Some(effect) = handle.write(known) {
                let way = call.way;
                let attended = joined::attend(handle.clone(), Rc::clone(talks), effect, way);
                return handle.spawn(attended);
            }
            let begun = handle.write(|session| tool_wire::begin(session, wires, *call));
            handle.spawn(tool_wire::attend(handle.clone(), begun));
        }
        relayed::RelayNews::Ended { server } => {
            handle.write(|session| tool_wire::end(session, wires, &server));
        }
        relayed::RelayNews::Noticed(text) => handle.emit(SessionEvent::Noticed { text }),
    }
}
