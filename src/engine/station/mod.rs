//! The stations that every effect passes, in order, before and after the real call. A station can
//! hold an effect, change it, or answer in its place; an effect that was held or changed passes the
//! stations again.

mod approval;
mod arguments;
mod budget;
mod common_purse;
mod dollars;
mod fault;
mod gate;
mod judge;
mod many;
mod menu;
mod model_guard;
mod money;
mod record_station;
mod reuse;
mod room;

use std::rc::Rc;

use futures::FutureExt;
use futures::future::{self, Either, LocalBoxFuture, Ready};

pub use super::actor::Actor;
pub use super::effect::{Effect, Outcome, ToolCall};
use super::{effect::PendingEffect, fault_choice::FaultChoice, handle::Handle, session::Session};
use crate::domain::{Chance, EffectRef, FaultId, FaultKind, Origin, Refusal, TaskId};

pub use self::common_purse::{CommonPurse, PurseShare, SharedPurse};
pub use self::model_guard::MODEL_UNUSABLE;
pub use self::money::{DOLLARS_REACHED, MoneyAtStart, UNPRICED};

/// A station that effects pass.
pub trait Station {
    /// Whether the station concerns effects of this actor.
    fn concerns(&self, _actor: Actor) -> bool {
        true
    }

    /// Runs before the real call.
    fn before<'a>(&'a self, _passage: &'a mut Passage) -> Passing<'a, StationVerdict> {
        now(StationVerdict::Go)
    }

    /// Runs after the event of its result.
    fn after<'a>(&'a self, _passage: &'a mut Passage, _outcome: &'a Outcome) -> Passing<'a, ()> {
        now(())
    }

    /// Runs after a person has edited the outcome, once `after` has run.
    fn after_edit<'a>(
        &'a self,
        _passage: &'a mut Passage,
        _outcome: &'a Outcome,
    ) -> Passing<'a, ()> {
        now(())
    }
}

/// A station's answer. Most stations answer at once, at every effect, without allocating.
pub type Passing<'a, T> = Either<Ready<T>, LocalBoxFuture<'a, T>>;

/// The answer of a station that does not wait.
pub fn now<'a, T>(answer: T) -> Passing<'a, T> {
    Either::Left(future::ready(answer))
}

/// The answer of a station that may wait.
pub fn later<'a, T>(answer: impl Future<Output = T> + 'a) -> Passing<'a, T> {
    Either::Right(answer.boxed_local())
}

/// A station's verdict on an effect.
#[derive(Debug)]
pub enum StationVerdict {
    /// Continue with the next station.
    Go,
    /// Pass all stations again: the effect was held or changed.
    Again,
    /// End the effect with this outcome.
    Answer(Outcome, Origin),
}

impl StationVerdict {
    /// Refuses a tool call.
    fn refuse((reason, why): (Refusal, String)) -> Self {
        StationVerdict::Answer(Outcome::Refused(reason, why), Origin::Live)
    }
}

/// An effect on its way through the stations.
pub struct Passage {
    handle: Handle,
    pub reference: EffectRef,
    pub task: TaskId,
    pub effect: Effect,
    pub(super) chance: Chance,
    /// The decisions of the armed faults.
    choice: FaultChoice,
    /// The fault that replaces the real call. It is not an answer: the effect starts, and the fault is an event.
    pub(super) fault: Option<(FaultId, FaultKind)>,
    /// Whether the gate has released the effect, and nothing has held it since.
    was_released: bool,
    /// Whether the breakpoints before the effect have been checked.
    was_met: bool,
    /// Whether a person's program makes the effect while it repeats the record of the program before: nothing stops it.
    is_of_record: bool,
    /// Whether the record that answered the effect also has what stopped it.
    has_its_stops: bool,
}

impl Passage {
    /// The actor that makes the effect.
    pub fn actor(&self) -> Actor {
        self.effect.actor()
    }

    pub(super) fn new(handle: &Handle, requested: PendingEffect) -> Self {
        let PendingEffect { reference, task, effect, chance, choice, .. } = requested;
        Self {
            handle: handle.clone(),
            reference,
            task,
            effect,
            chance,
            choice,
            fault: None,
            was_released: false,
            was_met: false,
            is_of_record: false,
            has_its_stops: false,
        }
    }

    /// Takes a person's edit of the input; false if there is none.
    fn take_edit(&mut self) -> bool {
        let id = self.reference.id;
        // Writing wakes all waiting lanes.
        let is_edited =
            |session: &Session| session.lanes().flight(id).is_some_and(|it| it.edit.is_some());
        if !self.handle.read(is_edited) {
            return false;
        }
        let edit = self.handle.write(|session| session.lanes_mut().take_edit(id));
        edit.map(|edit| self.effect.take(edit)).is_some()
    }
}

/// The engine's own stations in order, followed by these.
pub(super) fn stations(more: Vec<Rc<dyn Station>>, money: MoneyAtStart) -> Rc<[Rc<dyn Station>]> {
    let own: Vec<Rc<dyn Station>> = vec![
        Rc::new(record_station::FromRecord),
        Rc::new(reuse::Reuse),
        Rc::new(dollars::Dollars::new(money)),
        Rc::new(many::Many),
        Rc::new(menu::Menu),
        Rc::new(arguments::Arguments),
        Rc::new(budget::Budget),
        Rc::new(approval::Approve::default()),
        Rc::new(room::Room),
        Rc::new(gate::Gate),
        Rc::new(fault::FaultInjection),
        Rc::new(judge::Judge),
        // After the gate, so before it on the way back: a pause holds the failed call.
        Rc::new(model_guard::Unusable),
        Rc::new(record_station::FromRest),
    ];
    own.into_iter().chain(more).collect()
}
