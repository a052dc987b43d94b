//! Keeps a session below its limit of real money: before a model call starts, what was spent and what
//! the calls under way will probably cost must leave enough for it. On the screen the session pauses,
//! and who goes on allows the same amount once more; without a person it ends.

use std::{cell::RefCell, collections::BTreeMap};

use super::{Effect, Outcome, Passage, Passing, Station, Verdict, later, now};
use crate::domain::{By, EffectId, Origin, SessionEvent, Usage, tokens};
use crate::engine::{commands, session::Session};

/// How the reason begins when a session ends at its limit.
pub const DOLLARS_REACHED: &str = "the limit of dollars is reached";

/// Tokens of an answer, assumed for a model before its first one.
const ASSUMED: u64 = 500;

pub(super) struct Dollars {
    /// A person can allow more.
    has_user: bool,
    purse: RefCell<Purse>,
}

#[derive(Default)]
struct Purse {
    /// The probable cost of each call under way.
    pending: BTreeMap<EffectId, f64>,
    /// What embeddings have cost, which no tally of a model has; less what recorded answers had
    /// cost, which a tally has, but which costs nothing now.
    beside: f64,
    /// What the user allowed beyond the limit.
    more: f64,
}

impl Dollars {
    pub fn new(has_user: bool) -> Self {
        Self { has_user, purse: RefCell::default() }
    }

    /// Reserves the cost of a call; or says why the limit does not allow it.
    fn reserve(&self, session: &Session, id: EffectId, cost: f64) -> Result<(), String> {
        let Some(most) = session.state.max_dollars else { return Ok(()) };
        self.purse.borrow_mut().reserve(id, cost, session.state.dollars_spent(), most)
    }
}

impl Purse {
    /// The same, where the models have cost this much, for a limit of `most`.
    fn reserve(&mut self, id: EffectId, cost: f64, models: f64, most: f64) -> Result<(), String> {
        let others = self.pending.iter().filter(|(other, _)| **other != id);
        let pending: f64 = others.map(|(_, cost)| cost).sum();
        let (spent, most) = (models + self.beside, most + self.more);
        if spent + pending + cost <= most {
            self.pending.insert(id, cost);
            return Ok(());
        }
        Err(format!(
            "{DOLLARS_REACHED}: {spent:.4} of {most:.2} are spent, and the next call costs about \
             {:.4}; --max-dollars sets the limit",
            pending + cost
        ))
    }

    /// Allows the limit once more, for this call. At a limit of 0, it allows this call alone.
    fn allow(&mut self, id: EffectId, cost: f64, most: f64) -> f64 {
        let more = most.max(cost);
        self.more += more;
        self.pending.insert(id, cost);
        more
    }
}

impl Station for Dollars {
    fn before<'a>(&'a self, passage: &'a mut Passage) -> Passing<'a, Verdict> {
        let Some(cost) = passage.handle.read(|session| cost(session, &passage.effect)) else {
            return now(Verdict::Go);
        };
        let id = passage.reference.id;
        let Err(why) = passage.handle.read(|session| self.reserve(session, id, cost)) else {
            return now(Verdict::Go);
        };
        if !self.has_user {
            passage.handle.write(|session| session.ends_because = Some(why));
            return later(std::future::pending());
        }
        passage.handle.write(|session| {
            let most = session.state.max_dollars.unwrap_or_default();
            let more = self.purse.borrow_mut().allow(id, cost, most);
            session.emit(SessionEvent::Noticed {
                text: format!("{why}; to go on is to allow {more:.2} more"),
            });
            // A session that is paused already, or makes single steps, stops by itself.
            let _ = commands::pause(session, By::Engine);
        });
        now(Verdict::Go)
    }

    fn after<'a>(&'a self, passage: &'a mut Passage, outcome: &'a Outcome) -> Passing<'a, ()> {
        let mut purse = self.purse.borrow_mut();
        purse.pending.remove(&passage.reference.id);
        let is_live = passage.reference.origin != Origin::Recorded;
        purse.beside += match (&passage.effect, outcome) {
            (Effect::Embedding(call), Outcome::Embedded(Ok(done))) if is_live => {
                call.model.spec().price(&done.usage).unwrap_or_default()
            }
            (Effect::Model(call), Outcome::Reply(Ok(reply)))
                if !is_live && !call.model.spec().simulated =>
            {
                -call.model.spec().price(&reply.usage).unwrap_or_default()
            }
            _ => 0.0,
        };
        now(())
    }
}

/// What a call will probably cost in dollars; `None` if it costs nothing or nobody knows.
fn cost(session: &Session, effect: &Effect) -> Option<f64> {
    session.state.max_dollars?;
    let (spec, usage) = match effect {
        Effect::Model(call) => {
            let spec = call.model.spec();
            let tally = session.state.models.known.get(&spec.name).map(|model| &model.tally);
            let answers = tally.map(|tally| (tally.tokens_out, u64::from(tally.calls)));
            let answer = answers.and_then(|(tokens, calls)| tokens.checked_div(calls));
            let asked = tokens::count_request(&call.request);
            (spec, Usage::estimate(asked, answer.unwrap_or(ASSUMED)))
        }
        Effect::Embedding(call) => {
            (call.model.spec(), Usage::estimate(tokens::count(&call.text), 0))
        }
        Effect::Tool(_) => return None,
    };
    let cost = if spec.simulated { None } else { spec.price(&usage) };
    cost.filter(|cost| *cost > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: EffectId = EffectId(1);
    const SECOND: EffectId = EffectId(2);

    #[test]
    fn calls_under_way_are_paid_before_another_one_starts() {
        let mut purse = Purse::default();
        assert_eq!(purse.reserve(FIRST, 2.0, 1.0, 5.0), Ok(()));
        let why = purse.reserve(SECOND, 2.5, 1.0, 5.0).unwrap_err();
        assert_eq!(
            why,
            "the limit of dollars is reached: 1.0000 of 5.00 are spent, and the next call costs \
             about 4.5000; --max-dollars sets the limit"
        );
        assert_eq!(purse.reserve(SECOND, 2.0, 1.0, 5.0), Ok(()), "the limit itself may be spent");
    }

    #[test]
    fn a_call_that_passes_again_is_paid_once() {
        let mut purse = Purse::default();
        assert_eq!(purse.reserve(FIRST, 3.0, 1.0, 5.0), Ok(()));
        assert_eq!(purse.reserve(FIRST, 3.0, 1.0, 5.0), Ok(()));
    }

    #[test]
    fn embeddings_count_with_the_models() {
        let mut purse = Purse { beside: 1.0, ..Purse::default() };
        assert!(purse.reserve(FIRST, 2.5, 2.0, 5.0).is_err());
        assert_eq!(purse.reserve(FIRST, 2.0, 2.0, 5.0), Ok(()));
    }

    #[test]
    fn a_person_allows_the_limit_once_more_or_the_call_alone() {
        let mut purse = Purse::default();
        assert!(purse.reserve(FIRST, 2.0, 4.0, 5.0).is_err());
        assert_eq!(purse.allow(FIRST, 2.0, 5.0), 5.0);
        assert_eq!(purse.reserve(FIRST, 2.0, 4.0, 5.0), Ok(()));
        assert_eq!(purse.reserve(SECOND, 4.0, 4.0, 5.0), Ok(()), "10 are allowed in all");
        assert_eq!(purse.allow(SECOND, 1.5, 0.0), 1.5);
        let why = purse.reserve(EffectId(3), 2.0, 10.0, 5.0).unwrap_err();
        assert!(why.contains("10.0000 of 11.50"), "{why}");
    }
}
