//! A recorded session for an agent that runs again: its conversations, each a list of requests with their answers.
//! Pure: no network, no clock.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use super::calls::Returned;
use super::compare::{Compare, ComparedRequest};
use super::fork_point::ForkPoint;
use super::volatile_parts::Varies;
use crate::domain::difference::{Difference, of_texts};
use crate::domain::sent_body::SentBody;
use crate::domain::state::model_calls::{ModelCallPhase, ModelCallState};
use crate::domain::state::tool_calls::{ToolCallPhase, ToolCallState};
use crate::domain::wire_answer::WireAnswer;
use crate::domain::{
    EffectId, Event, Message, ModelCallEvent, ModelErrorKind, Origin, Record, Request, RunId,
    State, ToolErrorKind, ToolOutput,
};
use crate::model::relay::{KnownReply, RelayResult};
use crate::net::kept_body::unpacked;
use crate::wire::{WireFormat, answer_id, json};

/// The conversations of a recorded session, and how far an agent has repeated them.
pub struct RecordedPast {
    pub(super) conversations: Vec<Conversation>,
    /// The moment from which one of them is live.
    pub(super) point: Option<ForkPoint>,
    /// The place of each conversation of this session in the record, by its number; `None`: it has left the record.
    playing: HashMap<usize, Option<Playing>>,
    varies: Varies,
    /// The number of requests in which each rule made a difference.
    used: BTreeMap<usize, u32>,
    answered: usize,
    /// The number of results that were compared, and that differed.
    compared: (usize, usize),
}

pub(super) struct Conversation {
    pub run: RunId,
    format: Option<WireFormat>,
    pub asked: Vec<RecordedRequest>,
    pub results: HashMap<RecordedCall, Recalled>,
    is_taken: bool,
}

/// A recorded request and its answer.
pub(super) struct RecordedRequest {
    pub place: Nearest,
    model: String,
    request: Arc<Request>,
    /// JSON text: bodies repeat their past, and take several times as much memory as values.
    body: Option<SentBody>,
    pub said: RelayResult,
    /// The answer as it came, if nothing changed it.
    pub answer: Option<Arc<WireAnswer>>,
    pub origin: Origin,
    took: Duration,
    is_spoiled: bool,
}

/// A call in the record of a conversation. Its id may be that of others, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RecordedCall {
    /// The place of its answer among those of the conversation.
    pub(super) answer: usize,
    /// The place among the calls of the answer.
    pub(super) call: usize,
}

/// The result of a call in the record.
#[derive(Clone, Debug, PartialEq)]
pub struct Recalled {
    /// The result that the model read.
    pub read: Returned,
    /// The tool's own text, if the model read something else.
    pub withheld: Option<String>,
    /// Whether a fault caused this; the fault is armed again.
    pub by_fault: bool,
    /// Whether the agent never had the call.
    pub is_skipped: bool,
    /// Whether a person has changed it for this run.
    is_changed: bool,
}

#[derive(Clone, Copy)]
struct Playing {
    conversation: usize,
    next: usize,
}

/// The request with which an agent left the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parting {
    pub difference: Difference,
    /// The most similar recorded request.
    pub nearest: Option<Nearest>,
}

/// A recorded request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nearest {
    /// The number of its session among those that were recorded.
    pub session: usize,
    /// The number of its record.
    pub n: u64,
}

impl RecordedPast {
    /// Gathers the conversations of recorded sessions.
    pub fn new(sessions: &[Vec<Record>], varies: Varies) -> Self {
        Self {
            conversations: sessions
                .iter()
                .enumerate()
                .flat_map(|(session, records)| conversations(session, records))
                .collect(),
            point: None,
            playing: HashMap::new(),
            varies,
            used: BTreeMap::new(),
            answered: 0,
            compared: (0, 0),
        }
    }

    /// Looks for the conversation that begins like this one of the session: first for one whose whole first request is
    /// equal. Of several, the first one is taken.
    pub fn open(&mut self, talk: usize, format: WireFormat, side: &ComparedRequest) {
        let begins = |this: &Self, is_whole: bool| {
            let own = first_of_user(&side.request);
            this.conversations.iter().position(|known| {
                let first = known.asked.first().filter(|_| !known.is_taken);
                // Reading a whole body is slow, so only bodies that may match are read.
                let may_be = |first: &&RecordedRequest| {
                    let other = first_of_user(&first.request);
                    let [own, other] = [own, other].map(Option::unwrap_or_default);
                    own == other || this.varies.without(own).0 == this.varies.without(other).0
                };
                let first = first.filter(|_| known.format == Some(format)).filter(may_be);
                let mut compare = Compare::new(&this.varies);
                first.map(|first| first.side(format)).is_some_and(|first| match is_whole {
                    true => compare.requests(side, &first).is_none(),
                    false => compare.opens_alike(side, &first),
                })
            })
        };
        let found = begins(self, true).or_else(|| begins(self, false));
        let Some(known) = found.and_then(|at| self.conversations.get_mut(at)) else { return };
        known.is_taken = true;
        let point = self.point.iter_mut().filter(|point| found == Some(point.conversation));
        point.for_each(|point| point.talk = Some(talk));
        let begun = found.map(|conversation| Playing { conversation, next: 0 });
        self.playing.insert(talk, begun);
    }

    /// The recorded answer to the next request of a conversation of the session; `None` if the conversation has left
    /// the record. `is_again`: the request repeats the one before.
    ///
    /// # Errors
    /// The conversation leaves the record with this request.
    pub fn answer(
        &mut self,
        talk: usize,
        format: WireFormat,
        side: &ComparedRequest,
        is_again: bool,
    ) -> Result<Option<KnownReply>, Parting> {
        let playing = match self.playing.insert(talk, None) {
            Some(Some(playing)) => playing,
            Some(None) => return Ok(None),
            None => return Err(self.stray(format, side)),
        };
        let known = self.conversations.get(playing.conversation);
        let asked = known.map_or(&[][..], |known| known.asked.as_slice());
        let point = self.point.as_mut().filter(|it| it.conversation == playing.conversation);
        if point.as_ref().is_some_and(|point| playing.next >= point.requests && !is_again) {
            return Ok(None);
        }
        // A client that gives up earlier than in the record sends the same request again.
        let before = playing.next.checked_sub(1).filter(|_| is_again);
        let mut parting = None;
        for at in [Some(playing.next), before].into_iter().flatten() {
            let Some(then) = asked.get(at) else { continue };
            let (mut compare, recorded) = (Compare::new(&self.varies), then.side(format));
            match compare.requests(side, &recorded) {
                None => {
                    self.playing.insert(talk, Some(Playing { next: at + 1, ..playing }));
                    let known = then.known();
                    compare.used.iter().for_each(|rule| *self.used.entry(*rule).or_default() += 1);
                    self.answered += usize::from(at == playing.next);
                    return Ok(Some(known));
                }
                Some(difference) => {
                    let nearest = Some(then.place);
                    parting.get_or_insert(Parting { difference, nearest });
                }
            }
        }
        point.into_iter().for_each(|point| point.is_left = true);
        Err(parting.unwrap_or_else(|| ended(side, asked)))
    }

    /// The conversation of the record that this one follows, and the number of its requests that were answered.
    pub(super) fn place_of(&self, talk: usize) -> Option<(usize, usize)> {
        let playing = self.playing.get(&talk)?.as_ref()?;
        Some((playing.conversation, playing.next))
    }

    /// The place of a call of the last answer, if its conversation still follows the record.
    pub fn recorded_call(&self, talk: usize, call: usize) -> Option<RecordedCall> {
        let playing = self.playing.get(&talk)?.as_ref()?;
        Some(RecordedCall { answer: playing.next.checked_sub(1)?, call })
    }

    /// The recorded result of a call, if its conversation still follows the record.
    pub fn result(&self, talk: usize, call: RecordedCall) -> Option<&Recalled> {
        let playing = self.playing.get(&talk)?.as_ref()?;
        self.conversations.get(playing.conversation)?.results.get(&call)
    }

    /// How a tool's own result of a call differs from the recorded one, if its conversation still follows the record.
    pub fn drift(&mut self, talk: usize, call: RecordedCall, own: &Returned) -> Option<Difference> {
        let found = self.result(talk, call)?.drift(own, &self.varies);
        let (compared, differed) = self.compared;
        self.compared = (compared + 1, differed + usize::from(found.is_some()));
        found
    }

    /// Summarises for people how far the record was used.
    pub fn summary(&self) -> Vec<String> {
        let all: usize = self.conversations.iter().map(|known| known.asked.len()).sum();
        let answered = self.answered;
        let mut lines = vec![format!("{answered} of {all} model calls answered from the record")];
        let is_missed = self.point.as_ref().is_some_and(|point| !point.is_past);
        let missed = "the agent did not come to the moment of the fork: nothing changed there";
        lines.extend(is_missed.then(|| missed.to_owned()));
        let (compared, differed) = self.compared;
        let differ = format!("{differed} of {compared} results of tools are not as recorded");
        lines.extend((differed > 0).then_some(differ));
        let rules = self.used.iter().map(|(at, times)| {
            let times = if *times == 1 { "once".to_owned() } else { format!("{times} times") };
            format!("{} ({times})", self.varies.rule(*at))
        });
        let rules: Vec<_> = rules.collect();
        if !rules.is_empty() {
            let rules = rules.join(", ");
            lines.push(format!("differed, and was left out of the comparison: {rules}"));
        }
        lines
    }

    /// A request of a conversation that is not in the record. The nearest one is the first request of a conversation
    /// with the same first message of a user, else of any remaining conversation.
    fn stray(&self, format: WireFormat, side: &ComparedRequest) -> Parting {
        let left = || self.conversations.iter().filter(|known| !known.is_taken);
        let of_format = || left().filter(|known| known.format == Some(format));
        let firsts = || of_format().filter_map(|known| known.asked.first());
        let own = first_of_user(&side.request);
        let alike = firsts().find(|first| first_of_user(&first.request) == own);
        let nearest = alike.or_else(|| firsts().next());
        let mut compare = Compare::new(&self.varies);
        let found = nearest.and_then(|first| {
            let difference = compare.requests(side, &first.side(format))?;
            Some(Parting { difference, nearest: Some(first.place) })
        });
        found.unwrap_or_else(|| {
            let other = left().find(|known| known.format.is_some_and(|own| own != format));
            let wire = other
                .and_then(|known| Some((known.format?.to_string(), known.asked.first()?.place)));
            let (recorded, nearest) =
                wire.map_or((String::new(), None), |(it, place)| (it, Some(place)));
            let (field, asked) = ("the wire".to_owned(), format.to_string());
            Parting { difference: Difference { field, asked, recorded }, nearest }
        })
    }
}

/// The conversations of the recorded session with this number, in their order.
fn conversations(session: usize, records: &[Record]) -> Vec<Conversation> {
    let state = State::fold(records);
    let mut kept = Kept::default();
    for record in records {
        match &record.event {
            Event::ModelCall(ModelCallEvent::ModelCallSent { effect, body }) => {
                kept.bodies.insert(effect.id, body.clone());
            }
            Event::ModelCall(ModelCallEvent::ModelCallAnswered { effect, answer }) => {
                kept.answers.insert(effect.id, Arc::clone(answer));
            }
            _ => {}
        }
    }
    let mut runs: BTreeMap<RunId, Conversation> = BTreeMap::new();
    for (run, known) in &state.runs {
        let Some(guest) = &known.guest else { continue };
        let format = WireFormat::named(&guest.wire);
        let (asked, results) = (Vec::new(), HashMap::new());
        runs.insert(*run, Conversation { run: *run, format, asked, results, is_taken: false });
    }
    // The place of each answer, and the number of its calls.
    let mut answers: HashMap<EffectId, (usize, usize)> = HashMap::new();
    for call in state.model_calls.iter() {
        if let Some(run) = runs.get_mut(&state.run_of(call.task))
            && let Some(asked) = asked(session, call, &mut kept)
        {
            answers.insert(call.id, (run.asked.len(), 0));
            run.asked.push(asked);
        }
    }
    for call in state.tool_calls.iter().filter(|call| call.wire_id.is_some()) {
        let answer = call.parent.and_then(|parent| answers.get_mut(&parent));
        if let (Some(run), Some((answer, calls))) = (runs.get_mut(&state.run_of(call.task)), answer)
        {
            let place = RecordedCall { answer: *answer, call: *calls };
            *calls += 1;
            run.results.extend(recalled(call).map(|result| (place, result)));
        }
    }
    runs.into_values().collect()
}

fn first_of_user(request: &Request) -> Option<&str> {
    let is_user = |message: &&Message| matches!(message, Message::User { .. });
    request.messages.iter().find(is_user).map(Message::text)
}

/// A request after the last one of its conversation in the record.
fn ended(side: &ComparedRequest, asked: &[RecordedRequest]) -> Parting {
    let last = asked.last();
    let known = last.map_or(0, |last| last.request.messages.len());
    let at = known.min(side.request.messages.len().saturating_sub(1));
    let text = side.request.messages.get(at).map_or("", |message| message.text());
    let (field, asked) = (format!("messages[{at}]"), text.chars().take(80).collect());
    let difference = Difference { field, asked, recorded: String::new() };
    Parting { difference, nearest: last.map(|last| last.place) }
}

impl RecordedRequest {
    /// The request in the form that is compared: with the results that the model read.
    fn side(&self, format: WireFormat) -> ComparedRequest {
        let text = self.body.as_ref().map_or("", SentBody::text);
        let body = json::read(text.as_bytes()).ok();
        let read = format.read_request(text.as_bytes()).ok();
        match read {
            Some(read) => ComparedRequest { model: read.model, request: read.request, body },
            None => ComparedRequest {
                model: self.model.clone(),
                request: (*self.request).clone(),
                body,
            },
        }
    }

    /// The recorded answer, with the request body that it belongs to.
    fn known(&self) -> KnownReply {
        let id_in = |answer: &WireAnswer| answer_id(&unpacked(&answer.body)?);
        KnownReply {
            said: self.said.clone(),
            answer: self.answer.as_ref().map(|answer| (Arc::clone(answer), id_in(answer))),
            sent: self.body.clone(),
            after: self.took,
            origin: self.origin,
            is_spoiled: self.is_spoiled,
        }
    }
}

/// The bodies of requests and the answers as they came, which no state has.
#[derive(Default)]
struct Kept {
    bodies: HashMap<EffectId, SentBody>,
    answers: HashMap<EffectId, Arc<WireAnswer>>,
}

/// A model call with its answer; `None` if it has none.
fn asked(session: usize, call: &ModelCallState, kept: &mut Kept) -> Option<RecordedRequest> {
    let said = match &call.phase {
        ModelCallPhase::Done { reply } => Ok(Arc::clone(reply)),
        ModelCallPhase::Failed { error } if error.kind != ModelErrorKind::Cancelled => {
            Err(error.clone())
        }
        ModelCallPhase::Failed { .. } | ModelCallPhase::Requested | ModelCallPhase::Running => {
            return None;
        }
    };
    let took = call.ended?.saturating_sub(call.started.or(call.ended)?);
    Some(RecordedRequest {
        place: Nearest { session, n: call.n },
        model: call.model.to_string(),
        request: Arc::clone(&call.request),
        body: kept.bodies.remove(&call.id),
        said,
        answer: kept
            .answers
            .remove(&call.id)
            .filter(|_| call.edits == 0 && call.injected.is_none()),
        origin: Origin::Recorded,
        took: Duration::from_micros(took.saturating_sub(call.held)),
        is_spoiled: call.injected.is_some(),
    })
}

fn recalled(call: &ToolCallState) -> Option<Recalled> {
    let read = match &call.phase {
        ToolCallPhase::Done { output } => Ok(ToolOutput::clone(output)),
        ToolCallPhase::Failed { error } if error.kind != ToolErrorKind::Cancelled => {
            Err(error.clone())
        }
        _ => return None,
    };
    let withheld = call.withheld.as_ref().map(|output| output.text.clone());
    let (by_fault, is_skipped) = (call.injected.is_some(), call.is_skipped);
    Some(Recalled { read, withheld, by_fault, is_skipped, is_changed: false })
}

impl Recalled {
    /// How the tool's own result differs from its recorded one, if that is known.
    fn drift(&self, own: &Returned, varies: &Varies) -> Option<Difference> {
        let [own, then] = [own, &self.read].map(|returned| match returned {
            Ok(output) => (&output.text, false),
            Err(error) => (&error.text, true),
        });
        let (then, is_error) = match &self.withheld {
            Some(withheld) => (withheld, own.1),
            None => then,
        };
        if self.is_changed || self.is_skipped || (self.by_fault && self.withheld.is_none()) {
            return None;
        }
        let [now, before] = [own.0, then].map(|text| varies.without(text).0);
        let [now_is_error, was_error] = [own.1, is_error].map(|is_error| is_error.to_string());
        of_texts("result", &now, &before)
            .or_else(|| of_texts("is_error", &now_is_error, &was_error))
    }

    /// A result that a person gives in place of the recorded one.
    pub(super) fn changed(output: ToolOutput, is_skipped: bool) -> Self {
        let (withheld, by_fault, is_changed) = (None, false, true);
        Self { read: Ok(output), withheld, by_fault, is_skipped, is_changed }
    }

    /// The result with which the call ends in place of the agent's; `None` if the agent's own counts. With `keeps`, the
    /// recorded result counts even if the tool returns something else now.
    pub fn instead_of(&self, own: &str, keeps: bool) -> Option<Returned> {
        let read = match &self.read {
            Ok(output) => &output.text,
            Err(error) => &error.text,
        };
        if self.by_fault {
            // The fault changes the tool's own result.
            let said = self.withheld.as_ref().filter(|said| keeps && *said != own)?;
            return Some(Ok(ToolOutput::of(said.clone())));
        }
        let is_decided = self.is_changed || self.withheld.as_deref() == Some(own);
        (is_decided || keeps && read != own).then(|| self.read.clone())
    }
}

#[cfg(test)]
mod tests;
