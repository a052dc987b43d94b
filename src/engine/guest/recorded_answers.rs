//! Agents that run again over the record of a watched session. Their requests are answered from it as long as they are
//! the same as then. The tools run again.

use std::time::Duration;

use bytes::Bytes;

use super::calls::Returned;
use super::compare::ComparedRequest;
use super::conversation_data::{RequestPlace, Talks};
use super::fork_point::GuestFork;
use super::past::{Parting, RecordedCall, RecordedPast};
use super::volatile_parts::Varies;
use crate::domain::difference::Difference;
use crate::domain::event::Drift;
use crate::domain::{
    EffectId, ModelError, ModelErrorKind, Origin, Record, RunEvent, RunId, ToolName,
};
use crate::model::relay::{Arrival, KnownReply};
use crate::net::known;
use crate::session::Session;
use crate::wire::{IncomingRequest, WireFormat, json};

/// Why a request is refused that the record does not have.
const REFUSED: &str = "this is not in the record of the session, and nothing goes to the endpoint";

/// How agents run again.
#[derive(Debug)]
pub struct Again {
    /// The records of each recorded session.
    pub records: Vec<Vec<Record>>,
    /// The names of their journals, if they are given.
    pub names: Vec<String>,
    /// The parts of requests that vary from run to run by themselves.
    pub varies: Varies,
    /// Whether a request that the record lacks is refused instead of sent to the endpoint.
    pub is_strict: bool,
    /// Whether the model reads the recorded results even where a tool returns something else now.
    pub keeps_results: bool,
    /// Whether answers take as long as in the record.
    pub keeps_time: bool,
    /// The moment at which a conversation goes its own way; `None`: where a request differs.
    pub fork: Option<GuestFork>,
}

/// A record that agents run over.
pub struct AgentRecord {
    pub past: RecordedPast,
    pub fork: GuestFork,
    names: Vec<String>,
    is_strict: bool,
    keeps_results: bool,
    keeps_time: bool,
}

/// A request as it would go to the endpoint.
#[derive(Clone, Copy)]
pub struct Asking<'a> {
    pub format: WireFormat,
    pub asked: &'a IncomingRequest,
    pub body: &'a Bytes,
}

impl AgentRecord {
    pub fn new(again: Again) -> Self {
        let Again { records, names, varies, is_strict, keeps_results, keeps_time, fork } = again;
        let mut past = RecordedPast::new(&records, varies);
        if let (Some(fork), [records]) = (&fork, &records[..]) {
            past.fork(records, fork);
        }
        Self { past, fork: fork.unwrap_or_default(), names, is_strict, keeps_results, keeps_time }
    }

    /// Looks for the record of a conversation that begins.
    pub fn open(&mut self, talk: usize, arrival: &Arrival) {
        let Arrival { format, asked, body, .. } = arrival;
        self.past.open(talk, *format, &side(Asking { format: *format, asked, body }));
    }

    fn kept(&self, known: KnownReply) -> KnownReply {
        let after = if self.keeps_time { known.after } else { Duration::ZERO };
        KnownReply { after, ..known }
    }
}

impl Talks {
    /// The recorded answer to a request, or the refusal of a request that is not in the record.
    pub fn known(
        &mut self,
        session: &mut Session,
        (place, run): (RequestPlace, RunId),
        asking: Asking<'_>,
    ) -> Option<KnownReply> {
        let again = self.again.as_mut()?;
        match again.past.answer(place.at, asking.format, &side(asking), place.is_again) {
            Ok(Some(known)) => Some(again.kept(known)),
            Ok(None) => again.is_strict.then(|| refusal(REFUSED.to_owned())),
            Err(Parting { difference, nearest }) => {
                let (is_strict, Difference { field, asked, recorded }) =
                    (again.is_strict, difference);
                let why = format!("{REFUSED}: {field} differs");
                let of_several = again.names.len() > 1;
                let journal =
                    nearest.filter(|_| of_several).and_then(|it| again.names.get(it.session));
                session.emit(RunEvent::RunParted {
                    run,
                    field,
                    asked,
                    recorded,
                    nearest: nearest.map(|it| it.n),
                    journal: journal.cloned(),
                    refused: is_strict,
                });
                is_strict.then(|| refusal(why))
            }
        }
    }

    /// The place in the record of a call of the last answer.
    pub fn recorded_call(&self, place: RequestPlace, call: usize) -> Option<RecordedCall> {
        self.again.as_ref()?.past.recorded_call(place.at, call)
    }

    /// How the own result of a call differs from the recorded one.
    pub fn drift(
        &mut self,
        place: RequestPlace,
        (call, recorded): (EffectId, RecordedCall),
        (tool, own): (&ToolName, &Returned),
    ) -> Option<Drift> {
        let found = self.again.as_mut()?.past.drift(place.at, recorded, own)?;
        let Difference { field, asked: now, recorded } = found;
        Some(Drift { call, tool: tool.clone(), field, now, recorded })
    }

    /// The recorded result with which a call ends in place of the agent's; `None` if the agent's own counts.
    pub fn recalled(
        &self,
        place: RequestPlace,
        call: RecordedCall,
        own: &Returned,
    ) -> Option<Returned> {
        let again = self.again.as_ref()?;
        let own = match own {
            Ok(output) => &output.text,
            Err(error) => &error.text,
        };
        again.past.result(place.at, call)?.instead_of(own, again.keeps_results)
    }
}

fn refusal(why: String) -> KnownReply {
    let said = Err(ModelError::new(ModelErrorKind::Refused, why));
    let (sent, after, origin) = (None, Duration::ZERO, Origin::Live);
    KnownReply { said, answer: None, sent, after, origin, is_spoiled: false }
}

/// The request in the form that is compared. The record has no keys.
fn side(asking: Asking<'_>) -> ComparedRequest {
    let Asking { format, asked, body } = asking;
    let text = String::from_utf8_lossy(body);
    let text = known::without_known(&text);
    let body = json::read(text.as_bytes()).ok();
    match format.read_request(text.as_bytes()) {
        Ok(read) => ComparedRequest { model: read.model, request: read.request, body },
        Err(_) => {
            ComparedRequest { model: asked.model.clone(), request: asked.request.clone(), body }
        }
    }
}
