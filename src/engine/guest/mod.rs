//! Watched agents: their requests arrive through a channel from a listener, and are effects like any others. A
//! conversation is a run, and each of its requests a model call whose model is the relay of the request. A call in the
//! answer is a tool call that starts when the agent gets it, and ends when a later request has its result.

mod agent_answer;
mod answers;
mod attend;
mod call_ends;
mod calls;
mod compare;
mod conversation_data;
mod conversations;
mod departures;
mod digest;
mod double_calls;
mod end_lines;
mod facts;
mod fork_place;
mod fork_point;
mod forking;
mod past;
mod past_changes;
mod person_words;
mod prefix;
mod recorded_answers;
mod relay_doer;
mod resumed_conversations;
mod retries;
mod skipped_calls;
mod tool_names;
mod tool_wire;
mod volatile_parts;

use std::{cell::RefCell, rc::Rc};

use tokio::sync::mpsc::UnboundedReceiver;

use self::conversation_data::Talks;
use self::end_lines::Seen;
pub use self::facts::SpecOf;
pub use self::fork_point::GuestFork;
pub(super) use self::past_changes::with_messages;
pub use self::recorded_answers::Again;
use self::tool_wire::Wires;
pub use self::volatile_parts::Varies;
use crate::domain::{Record, RunEvent, SessionEvent};
use crate::handle::Handle;
use crate::model::relay::ListenerNews;
use crate::tool::foreign_calls;

/// The channels and settings through which a session serves watched agents.
pub struct Inbox {
    pub news: UnboundedReceiver<ListenerNews>,
    /// News from the relays between clients and their servers.
    pub relayed: UnboundedReceiver<foreign_calls::RelayNews>,
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
                    handle.spawn(departures::leave_idle(handle.clone(), Rc::clone(&talks)));
                }
                let attended = attend::attend(handle.clone(), Rc::clone(&talks), placed, *arrival);
                handle.spawn(attended);
            }
            ListenerNews::Passed { what, why } => {
                handle.emit(RunEvent::RequestPassed { what, why })
            }
            ListenerNews::Metered { service, model, endpoint, usage } => handle.write(|session| {
                let spec = talks.borrow_mut().models.of(session, &model, &endpoint);
                let (model, dollars) = (spec.name.clone(), spec.price(&usage));
                session.emit(RunEvent::RequestMetered { service, model, usage, dollars });
            }),
            ListenerNews::Intercepting => handle.emit(RunEvent::Intercepting {}),
            ListenerNews::Started { command } => handle.emit(RunEvent::AgentStarted { command }),
            ListenerNews::Ended { code } => {
                let summary = talks.borrow().again.as_ref().map(|again| again.past.summary());
                let unseen = handle.read(|session| seen.lines(session.state()));
                let lines = summary.into_iter().flatten().chain(unseen);
                lines.for_each(|text| handle.emit(SessionEvent::Noticed { text }));
                handle.spawn(departures::leave(handle.clone(), Rc::clone(&talks), code));
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
fn hear(
    handle: &Handle,
    talks: &Rc<RefCell<Talks>>,
    wires: &mut Wires,
    news: foreign_calls::RelayNews,
) {
    match news {
        foreign_calls::RelayNews::Offered { server, tools } => {
            handle.write(|session| tool_wire::offer(session, wires, &server, tools));
        }
        foreign_calls::RelayNews::Called(call) => {
            let known =
                |session: &mut _| double_calls::find(session, &mut talks.borrow_mut(), &call);
            if let Some(effect) = handle.write(known) {
                let way = call.way;
                let attended = double_calls::attend(handle.clone(), Rc::clone(talks), effect, way);
                return handle.spawn(attended);
            }
            let begun = handle.write(|session| tool_wire::begin(session, wires, *call));
            handle.spawn(tool_wire::attend(handle.clone(), begun));
        }
        foreign_calls::RelayNews::Ended { server } => {
            handle.write(|session| tool_wire::end(session, wires, &server));
        }
        foreign_calls::RelayNews::Noticed(text) => handle.emit(SessionEvent::Noticed { text }),
    }
}
