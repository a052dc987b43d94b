//! The stations that every effect passes, in order, before and after the real thing. A station can hold an
//! effect, change it, or answer in its stead; what was held or changed passes the stations before it again.

mod budget;
mod fault;
mod gate;
mod judge;
mod menu;
mod recorded;
mod room;

use std::rc::Rc;

use futures::FutureExt;
use futures::future::{self, Either, LocalBoxFuture, Ready};

pub use super::effect::{Effect, EmbeddingCall, ModelCall, Outcome, ToolCall};
use super::{effect::PendingEffect, handle::Handle};
use crate::domain::{Chance, EffectRef, FaultId, FaultKind, Origin, Refusal, TaskId};

/// A place that every effect passes.
pub trait Station {
    /// Before the real thing.
    fn before<'a>(&'a self, _passage: &'a mut Passage) -> Passing<'a, Verdict> {
        now(Verdict::Go)
    }

    /// After its result was told.
    fn after<'a>(&'a self, _passage: &'a mut Passage, _outcome: &'a Outcome) -> Passing<'a, ()> {
        now(())
    }
}

/// What a station answers. Most answer at once, at every effect, and need no allocation for that.
pub type Passing<'a, T> = Either<Ready<T>, LocalBoxFuture<'a, T>>;

/// The answer of a station that does not wait.
pub fn now<'a, T>(answer: T) -> Passing<'a, T> {
    Either::Left(future::ready(answer))
}

/// The answer of a station that may wait.
pub fn later<'a, T>(answer: impl Future<Output = T> + 'a) -> Passing<'a, T> {
    Either::Right(answer.boxed_local())
}

/// What a station says of an effect.
#[derive(Debug)]
pub enum Verdict {
    /// On to the next one.
    Go,
    /// It was held or changed: through all stations again.
    Again,
    /// This is what comes of it; it goes no further.
    Answer(Outcome, Origin),
}

impl Verdict {
    /// A tool call is not run.
    fn refuse((reason, why): (Refusal, String)) -> Self {
        Verdict::Answer(Outcome::Refused(reason, why), Origin::Live)
    }
}

/// An effect on its way.
pub struct Passage {
    handle: Handle,
    pub reference: EffectRef,
    pub task: TaskId,
    pub effect: Effect,
    pub(super) chance: Chance,
    occasions: Vec<(FaultId, u32)>,
    /// The fault that takes the place of the real thing.
    pub(super) fault: Option<(FaultId, FaultKind)>,
    /// The gate has let it go, and nothing has kept it since.
    was_released: bool,
}

impl Passage {
    pub(super) fn new(handle: &Handle, requested: PendingEffect) -> Self {
        let PendingEffect { reference, task, effect, chance, occasions, .. } = requested;
        let (fault, was_released, handle) = (None, false, handle.clone());
        Self { handle, reference, task, effect, chance, occasions, fault, was_released }
    }
}

/// The engine's own stations, in their order, and behind them these.
pub(super) fn stations(more: Vec<Rc<dyn Station>>) -> Rc<[Rc<dyn Station>]> {
    let own: [Rc<dyn Station>; 7] = [
        Rc::new(recorded::FromRecord),
        Rc::new(menu::Menu),
        Rc::new(budget::Budget),
        Rc::new(room::Room),
        Rc::new(gate::Gate),
        Rc::new(fault::Faults),
        Rc::new(judge::Judge),
    ];
    own.into_iter().chain(more).collect()
}
