//! Answers an effect from the record of an earlier session (see [`crate::recorded`]). It is
//! the first station, because a recorded answer is free, takes no room, and may be a refusal.
//!
//! The effects of a run that has parted from the record are new. They pass all stations, and only what is left to do
//! then, the real call, is answered from the record if it has the same one.

use std::sync::Arc;

use super::{Actor, Effect, Outcome, Passage, Passing, Station, StationVerdict, later, now};
use crate::domain::{
    By, ConsentEvent, ControlEvent, EffectId, EffectRef, Embedding, EmbeddingEvent, Event,
    FaultEvent, Lane, ModelCallEvent, Origin, ReaderEvent, Record, SessionEvent, TaskId,
    ToolCallEvent, ToolOutput, Usage,
};
use crate::effect::{self, Embedded, ModelCall, Ranked};
use crate::recorded::RecordWait;
use crate::{handle::Handle, session::Session};

pub(super) struct FromRecord;

impl Station for FromRecord {
    fn before<'a>(&'a self, passage: &'a mut Passage) -> Passing<'a, StationVerdict> {
        if passage.actor() == Actor::Guest {
            of_guest(passage);
            return now(StationVerdict::Go);
        }
        let (follows, holds) = passage
            .handle
            .read(|session| (session.follows(passage.task), session.recorded().how().holds_then));
        if !follows {
            if holds {
                goes_live(&passage.handle);
            }
            return now(StationVerdict::Go);
        }
        later(async move {
            let id = passage.reference.id;
            let run = passage.handle.read(|session| session.state().run_of(passage.task));
            let request = effect::requested(passage.reference, passage.task, &passage.effect);
            let taken =
                passage.handle.write(|session| session.recorded_mut().take(id, run, &request));
            match taken {
                None => {
                    // What had not started by the point of a fork starts behind it.
                    if let Some(until) = passage.handle.read(|it| it.recorded().how().until) {
                        until_due(&passage.handle, id, (until + 1, 0)).await;
                    }
                    goes_live(&passage.handle);
                    StationVerdict::Go
                }
                Some(Err(text)) => {
                    passage.handle.emit(SessionEvent::Noticed { text });
                    StationVerdict::Go
                }
                Some(Ok(events)) if passage.handle.read(|it| breaks_off(it, &events)) => {
                    goes_live(&passage.handle);
                    let has_started = events.iter().any(|record| record.event.is_start());
                    if has_started {
                        passage
                            .handle
                            .emit(ConsentEvent::OutcomeUnknown { effect: passage.reference });
                    }
                    StationVerdict::Go
                }
                Some(Ok(events)) => {
                    passage.reference.origin = Origin::Recorded;
                    // Behind the point of a fork, the session stops where a person wants it.
                    passage.has_its_stops =
                        passage.handle.read(|it| it.recorded().has_stops(&events));
                    match replay(passage, events).await {
                        Some(outcome) => answer(passage, outcome),
                        None => StationVerdict::Go,
                    }
                }
            }
        })
    }
}

pub(super) struct FromRest;

impl Station for FromRest {
    fn concerns(&self, actor: Actor) -> bool {
        actor != Actor::Guest
    }

    fn before<'a>(&'a self, passage: &'a mut Passage) -> Passing<'a, StationVerdict> {
        let Passage { handle, reference, task, effect, .. } = passage;
        // A fault changes the outcome of a real call.
        if passage.fault.is_some() || handle.read(|session| !session.recorded().answers()) {
            return now(StationVerdict::Go);
        }
        let request = effect::requested(*reference, *task, effect);
        let taken = handle.write(|session| {
            let run = session.state().run_of(*task);
            session.recorded_mut().take_left(reference.id, run, &request)
        });
        let Some(events) = taken else { return now(StationVerdict::Go) };
        reference.origin = Origin::Recorded;
        for Record { event, .. } in events {
            match outcome(passage, &event) {
                Some(outcome) => return now(answer(passage, outcome)),
                None if is_of_the_call(&event) => {
                    passage.handle.emit(again(event, passage.reference));
                }
                None => {}
            }
        }
        now(StationVerdict::Go)
    }
}

/// Whether the model or the tool itself causes this event.
fn is_of_the_call(event: &Event) -> bool {
    let is_progress = matches!(
        event,
        Event::ModelCall(ModelCallEvent::ModelCallProgressed { .. })
            | Event::ToolCall(ToolCallEvent::ToolCallProgressed { .. })
            | Event::Reader(ReaderEvent::TokenJudged { .. })
    );
    event.is_start() || is_progress
}

/// Ends an effect with its recorded outcome.
fn answer(passage: &Passage, outcome: Outcome) -> StationVerdict {
    if let Outcome::Reply(Ok(reply)) = &outcome {
        passage.handle.read(|session| session.recall(passage.reference.id, reply));
    }
    StationVerdict::Answer(outcome, Origin::Recorded)
}

impl Session {
    /// Whether the run of a task may still get answers in the order of the record.
    fn follows(&self, task: TaskId) -> bool {
        let recorded = self.recorded();
        recorded.answers() && !recorded.has_parted(self.state().run_of(task))
    }

    /// The lanes whose next event may be one of the record: not those of runs that have parted from it. Once the
    /// numbers differ, nobody can say when a lane that is held goes on.
    fn following(&self) -> impl Iterator<Item = Lane> {
        let (all, recorded) = (self.recorded().keeps_numbers(), self.recorded());
        let is_free = move |lane: &Lane| {
            !recorded.has_parted(self.lanes().run_of(*lane)) && !self.state().control.is_held(*lane)
        };
        self.lanes().live().filter(move |lane| all || is_free(lane))
    }
}

/// Passes a request of a watched agent that the record answers through all stations like a live one: it can be held,
/// edited and failed. An edited request is no longer that of the record.
fn of_guest(passage: &mut Passage) {
    let Effect::Model(ModelCall { guest: Some(relay), meant, request, .. }) = &passage.effect
    else {
        return;
    };
    if !Arc::ptr_eq(meant, request) {
        relay.know(None);
    }
    passage.reference.origin = relay.known_from().unwrap_or_default();
}

/// Pauses at a call that runs live, if a person continues an interrupted session and wants it held there.
fn goes_live(handle: &Handle) {
    handle.write(|session| {
        if session.recorded_mut().holds_now() {
            session.intervene(ControlEvent::PauseRequested { by: By::Engine, run: None });
        }
    });
}

/// Whether the record of an interrupted call has no end.
fn breaks_off(session: &Session, events: &[Record]) -> bool {
    let how = session.recorded().how();
    let may_break_off = how.is_resumed || how.until.is_some();
    may_break_off && !events.iter().any(|record| record.event.is_end())
}

/// Repeats the events of an effect in their recorded order, up to its outcome. `None` if the record
/// breaks off before it.
async fn replay(passage: &Passage, events: Vec<Record>) -> Option<Outcome> {
    let (handle, effect) = (&passage.handle, passage.reference);
    let mut events = events.into_iter();
    while let Some(record) = events.next() {
        until_due(handle, effect.id, (record.n, record.at)).await;
        match outcome(passage, &record.event) {
            Some(outcome) => {
                let edit = events.find(|later| matches!(later.event, Event::Edit(_)));
                handle.write(|session| {
                    edit.into_iter()
                        .for_each(|it| session.recorded_mut().note_edit(effect.id, it.event));
                });
                return Some(outcome);
            }
            None => handle.emit(again(record.event, effect)),
        }
    }
    None
}

/// How often all that could happen gets its turn before a record that is not due comes.
const TURNS: usize = 32;

/// Waits until the records before this one exist, but only while something else can still happen. Behind the point of a
/// fork the same time passes as in the record, since other calls take their own.
async fn until_due(handle: &Handle, id: EffectId, (n, at): (u64, u64)) {
    handle.write(|session| session.recorded_mut().wait(id, n));
    let is_next = |session: &Session| session.recorded().is_next(id, session.following());
    loop {
        match handle.read(|session| wait_of(session, (n, at))) {
            RecordWait::Over => {
                let comes = |session: &Session| session.state().n + 1 >= n;
                for _ in 0..TURNS {
                    if handle.read(comes) {
                        break;
                    }
                    tokio::task::yield_now().await;
                }
                break;
            }
            RecordWait::ForOthers => {
                let is_due = |session: &Session| wait_of(session, (n, at)) != RecordWait::ForOthers;
                handle.until(|session| is_due(session) || is_next(session)).await;
            }
            RecordWait::For(left) => tokio::select! {
                biased;
                () = handle.until(is_next) => {}
                () = tokio::time::sleep(left) => {}
            },
        }
        // Spawned futures that have not begun take their turn first.
        let mut turns = 0;
        while turns < TURNS && handle.read(is_next) {
            tokio::task::yield_now().await;
            turns += 1;
        }
        if turns == TURNS {
            handle.write(|session| {
                let now = session.now();
                session.recorded_mut().skip_to((n, at), now);
            });
            break;
        }
    }
    handle.write(|session| session.recorded_mut().go_on(id));
}

fn wait_of(session: &Session, place: (u64, u64)) -> RecordWait {
    session.recorded().wait_of(place, (session.state().n, session.now()))
}

/// The event for an effect that is answered from a record now.
fn again(event: Event, effect: EffectRef) -> Event {
    match event {
        Event::ModelCall(ModelCallEvent::ModelCallStarted { .. }) => {
            ModelCallEvent::ModelCallStarted { effect }.into()
        }
        Event::ModelCall(ModelCallEvent::ModelCallProgressed { text, reasoning, .. }) => {
            ModelCallEvent::ModelCallProgressed { effect, text, reasoning }.into()
        }
        Event::ModelCall(ModelCallEvent::ModelCallRetried { attempt, wait_ms, why, .. }) => {
            ModelCallEvent::ModelCallRetried { effect, attempt, wait_ms, why }.into()
        }
        Event::ToolCall(ToolCallEvent::ToolCallStarted { .. }) => {
            ToolCallEvent::ToolCallStarted { effect }.into()
        }
        Event::ToolCall(ToolCallEvent::ToolCallProgressed { progress, .. }) => {
            ToolCallEvent::ToolCallProgressed { effect, progress }.into()
        }
        Event::Embedding(EmbeddingEvent::EmbeddingStarted { .. }) => {
            EmbeddingEvent::EmbeddingStarted { effect }.into()
        }
        Event::Reader(ReaderEvent::TokenJudged { pieces, .. }) => {
            ReaderEvent::TokenJudged { effect, pieces }.into()
        }
        Event::Consent(ConsentEvent::OutcomeUnknown { .. }) => {
            ConsentEvent::OutcomeUnknown { effect }.into()
        }
        Event::Fault(FaultEvent::FaultFired { fault, .. }) => {
            FaultEvent::FaultFired { fault, effect }.into()
        }
        other => other,
    }
}

/// The outcome of the effect, if this event has one.
fn outcome(passage: &Passage, event: &Event) -> Option<Outcome> {
    Some(match event {
        Event::ModelCall(ModelCallEvent::ModelCallFinished { reply, .. }) => {
            Outcome::Reply(Ok(reply.clone()))
        }
        Event::ModelCall(ModelCallEvent::ModelCallFailed { error, .. }) => {
            Outcome::Reply(Err(error.clone()))
        }
        Event::ToolCall(ToolCallEvent::ToolCallFinished { output, .. }) => {
            Outcome::Result(Ok(ToolOutput::clone(output)))
        }
        Event::ToolCall(ToolCallEvent::ToolCallFailed { error, .. }) => {
            Outcome::Result(Err(error.clone()))
        }
        Event::ToolCall(ToolCallEvent::ToolCallRefused { why, reason, .. }) => {
            Outcome::Refused(*reason, why.clone())
        }
        Event::Embedding(EmbeddingEvent::EmbeddingFinished { usage, vector, ranking, .. }) => {
            match ranking.clone() {
                Some(ranking) => Outcome::Ranked(Ok(Ranked { ranking, usage: *usage })),
                None => Outcome::Embedded(Ok(embedded(passage, *usage, vector))),
            }
        }
        Event::Embedding(EmbeddingEvent::EmbeddingFailed { error, .. }) => {
            passage.effect.failed(error.clone())
        }
        _ => return None,
    })
}

fn embedded(passage: &Passage, usage: Usage, vector: &[i8]) -> Embedded {
    let asked =
        |session: &Session| Some(session.state().embedding(passage.reference.id)?.model.clone());
    let model = passage.handle.read(asked);
    let embedding = model
        .filter(|_| !vector.is_empty())
        .map(|model| Embedding::of_rounded(model, vector.to_vec()));
    Embedded { embedding, usage }
}
