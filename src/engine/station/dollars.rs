//! Keeps a session below its limit of real money. Before a model call or an embedding starts, the money that was
//! spent and the probable cost of the calls under way must leave enough for it. On the screen the session pauses, and
//! a person who resumes it allows the same amount once more. Without a person it ends.
//!
//! A watched agent has a limit only if a person has given one. It gets an error that it does not repeat, since a request
//! without an answer would go on unread when the session ends. The command that started the agent ends it at the limit. A
//! model without a price is refused, too: the limit could not hold. Without a limit, one line says that the default amount is
//! spent.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use super::common_purse::PurseShare;
use super::money::{DOLLARS_REACHED, MoneyAtStart, UNPRICED};
use super::{Actor, Effect, Outcome, Passage, Passing, Station, StationVerdict, later, now};
use crate::domain::{
    By, EffectId, ModelError, ModelErrorKind, ModelName, ModelSpec, Origin, SessionEvent, Tally,
    Usage, tokens, words,
};
use crate::effect::{EmbeddingCall, ReadingCall};
use crate::{commands, session::Session};

/// The longest name of a model that a reason repeats, in characters.
const SHOWN: usize = 160;

/// Bytes of a request in JSON for each of its tokens: text and code in English have about four.
const BYTES_PER_TOKEN: u64 = 4;

/// Tokens of an answer, assumed for a model before its first one.
const ASSUMED: u64 = 500;

pub(super) struct Dollars {
    /// How many US dollars the session may cost; `None`: any number.
    limit: Option<f64>,
    /// The part of a purse that several sessions have together.
    share: Option<PurseShare>,
    purse: RefCell<Purse>,
    /// How many US dollars a session without a limit spends before it says so; `None`: it says nothing, or has said it.
    tells: Cell<Option<f64>>,
    /// The reasons why watched agents were refused: models without a price, and the limit.
    refused: RefCell<BTreeSet<Option<ModelName>>>,
}

/// The probable cost of a call, in US dollars.
#[derive(Clone, Copy, Debug, PartialEq)]
enum CallPrice {
    About(f64),
    /// No price is known, and no call was charged yet.
    Unknown,
}

#[derive(Default)]
struct Purse {
    /// The probable price of each call under way.
    pending: BTreeMap<EffectId, f64>,
    /// The cost that the state does not know, in US dollars. The answers of an interrupted task were paid for, whether
    /// they are repeated or not. A repeated answer is in the state, but costs nothing now.
    beside: f64,
    /// The amount that the user allowed beyond the limit, in US dollars.
    more: f64,
}

/// Why a limit does not allow a call.
#[derive(Debug, PartialEq)]
struct DollarRefusal {
    why: String,
    /// How many dollars are missing.
    missing: f64,
}

impl Dollars {
    pub fn new(money: MoneyAtStart) -> Self {
        let MoneyAtStart { paid, limit, share, tells } = money;
        let purse = RefCell::new(Purse { beside: paid, ..Purse::default() });
        Self { limit, share, purse, tells: Cell::new(tells), refused: RefCell::default() }
    }

    /// Answers a watched agent in place of its model. The session says the reason once: for a model without a price, or
    /// for the limit.
    fn refuse(&self, passage: &Passage, of: Option<&ModelName>, why: String) -> StationVerdict {
        if self.refused.borrow_mut().insert(of.cloned()) {
            passage.handle.emit(SessionEvent::Noticed { text: why.clone() });
        }
        let error = ModelError::new(ModelErrorKind::OverBudget, why);
        StationVerdict::Answer(passage.effect.failed(error), Origin::Live)
    }

    /// Says once that a session without a limit has spent the default amount.
    fn tell(&self, session: &mut Session) {
        let is_spent = |most: &f64| session.state().dollars_spent() > *most;
        let Some(most) = self.tells.get().filter(is_spent) else { return };
        self.tells.set(None);
        let listed = session.state().models.known.values().any(|model| model.tally.listed);
        let about = if listed { " by list prices (~)" } else { "" };
        let text = format!(
            "the agents have spent more than {most} dollars{about}; --max-dollars N ends them at N dollars"
        );
        session.emit(SessionEvent::Noticed { text });
    }

    /// Reserves the price of a call. Otherwise returns why the limit does not allow it.
    fn reserve(
        &self,
        session: &Session,
        id: EffectId,
        price: CallPrice,
    ) -> Result<(), DollarRefusal> {
        let most = self.limit.unwrap_or(f64::INFINITY);
        let known = session.state().dollars_spent();
        let mut purse = self.purse.borrow_mut();
        purse.reserve(id, price, known, most)?;
        let Some(share) = &self.share else { return Ok(()) };
        let reserved = share.reserve(purse.taken(id, known), price.known());
        reserved.map_err(|all| {
            purse.pending.remove(&id);
            let most = share.most();
            let why = format!(
                "{DOLLARS_REACHED}: all sessions together have spent or reserved {all:.4} of {most:.2}, and {}; \
                 --max-dollars sets the limit",
                price.of_next()
            );
            DollarRefusal { why, missing: all + price.amount() - most }
        })
    }
}

impl Purse {
    /// Reserves in the same way, if the state knows this much cost, for a limit of `most`.
    fn reserve(
        &mut self,
        id: EffectId,
        price: CallPrice,
        known: f64,
        most: f64,
    ) -> Result<(), DollarRefusal> {
        let pending = self.pending_beside(id);
        let (spent, most) = ((known + self.beside).max(0.0), most + self.more);
        let (cost, fits) = match price {
            CallPrice::About(cost) => (pending + cost, spent + pending + cost <= most),
            // The first call of a model shows its price. Such a call is refused once the limit is spent.
            CallPrice::Unknown => (pending, spent + pending < most || spent + pending == 0.0),
        };
        if fits {
            self.pending.insert(id, price.amount());
            return Ok(());
        }
        let next = match price {
            // Calls that start together are refused for all of them.
            CallPrice::About(_) => CallPrice::About(cost).of_next(),
            CallPrice::Unknown => price.of_next(),
        };
        let why = format!(
            "{DOLLARS_REACHED}: {spent:.4} of {most:.2} are spent, and {next}; --max-dollars sets the limit"
        );
        Err(DollarRefusal { why, missing: spent + cost - most })
    }

    /// The probable prices of the calls under way, but for this one.
    fn pending_beside(&self, id: EffectId) -> f64 {
        self.pending.iter().filter(|(other, _)| **other != id).map(|(_, cost)| cost).sum()
    }

    /// Dollars that are spent or reserved beside this call, if the state knows this much cost.
    fn taken(&self, id: EffectId, known: f64) -> f64 {
        (known + self.beside).max(0.0) + self.pending_beside(id)
    }

    /// Allows the same amount once more, and at least the missing amount for this call.
    fn allow(&mut self, id: EffectId, price: CallPrice, most: f64, missing: f64) -> f64 {
        let more = most.max(missing);
        self.more += more;
        self.pending.insert(id, price.amount());
        more
    }
}

impl CallPrice {
    fn known(self) -> Option<f64> {
        match self {
            CallPrice::About(cost) => Some(cost),
            CallPrice::Unknown => None,
        }
    }

    fn amount(self) -> f64 {
        self.known().unwrap_or_default()
    }

    fn of_next(self) -> String {
        match self {
            CallPrice::About(cost) => format!("the next call costs about {cost:.4}"),
            CallPrice::Unknown => "the price of the next call is unknown".to_owned(),
        }
    }
}

impl Station for Dollars {
    fn before<'a>(&'a self, passage: &'a mut Passage) -> Passing<'a, StationVerdict> {
        let cost = || passage.handle.read(|session| price(session, &passage.effect));
        let has_limit = self.limit.is_some() || self.share.is_some();
        let Some(price) = has_limit.then(cost).flatten() else { return now(StationVerdict::Go) };
        if price == CallPrice::Unknown && passage.actor() == Actor::Guest {
            let spec = passage.effect.spec();
            let why = spec.map_or_else(String::new, unpriced);
            return now(self.refuse(passage, spec.map(|spec| &spec.name), why));
        }
        let id = passage.reference.id;
        let reserved = passage.handle.read(|session| self.reserve(session, id, price));
        let Err(DollarRefusal { why, missing }) = reserved else { return now(StationVerdict::Go) };
        let has_person = passage.handle.read(Session::has_person);
        if !has_person && passage.actor() == Actor::Guest {
            return now(self.refuse(passage, None, why));
        }
        if !has_person {
            passage.handle.write(|session| session.end_because(why));
            return later(std::future::pending());
        }
        passage.handle.write(|session| {
            let most = self.limit.unwrap_or_default();
            let more = self.purse.borrow_mut().allow(id, price, most, missing);
            session.emit(SessionEvent::Noticed {
                text: format!("{why}; continuing allows {more:.2} more"),
            });
            // A session that is already paused, or makes single steps, stops by itself.
            if let Ok(event) = commands::pause(session, None, By::Engine) {
                session.intervene(event);
            }
        });
        now(StationVerdict::Go)
    }

    fn after<'a>(&'a self, passage: &'a mut Passage, outcome: &'a Outcome) -> Passing<'a, ()> {
        let mut purse = self.purse.borrow_mut();
        purse.pending.remove(&passage.reference.id);
        // A watched agent's answers from a record cost nothing, as their end events show.
        if passage.reference.origin == Origin::Recorded && passage.actor() != Actor::Guest {
            let spec = passage.effect.spec().and_then(real);
            let cost = spec.and_then(|spec| spec.price(outcome.usage()?));
            purse.beside -= *cost.unwrap_or_default();
        }
        if self.tells.get().is_some() {
            passage.handle.write(|session| self.tell(session));
        }
        now(())
    }
}

/// Why a request for a model without a price is refused, and what to do.
fn unpriced(spec: &ModelSpec) -> String {
    let source = words::clipped(&spec.source, SHOWN);
    format!(
        "{UNPRICED} {source}: nothing has its price, so its request was not sent. Set url, model, price_in and price_out \
         of it in [models.NAME] of the configuration, or import a newer table (toolyard import prices FILE), or leave \
         out --max-dollars"
    )
}

fn real(spec: &ModelSpec) -> Option<&ModelSpec> {
    (!spec.simulated).then_some(spec)
}

/// The price of a call: by the price list, or by the average cost of its model's calls so far, whichever is more. The
/// first call of a model without a price is expected to cost as much as calls of other models. `None` if the call is free.
fn price(session: &Session, effect: &Effect) -> Option<CallPrice> {
    let models = &session.state().models;
    let spec = real(effect.spec()?)?;
    let tally = match effect {
        Effect::Model(_) => models.known.get(&spec.name).map(|model| &model.tally),
        Effect::Embedding(_) | Effect::Reading(_) => Some(&models.embeddings),
        Effect::Tool(_) => return None,
    };
    let charged = tally.and_then(Tally::dollars_per_call);
    let is_free = |usage| spec.price(&usage).is_some_and(|price| *price == 0.0);
    if charged.unwrap_or_default() == 0.0 && is_free(Usage::estimate(1, 1)) {
        // The length does not matter, so it is not counted.
        return None;
    }
    let usage = match effect {
        Effect::Model(call) => {
            let answers = tally.map(|tally| (tally.tokens_out, u64::from(tally.calls)));
            let answer = answers.and_then(|(tokens, calls)| tokens.checked_div(calls));
            let asked = match &call.guest {
                // Counting would keep the agent waiting.
                Some(relay) if relay.known_from().is_some() => return None,
                Some(relay) => relay.body().len() as u64 / BYTES_PER_TOKEN,
                None => tokens::count_request(&call.request),
            };
            Usage::estimate(asked, answer.unwrap_or(ASSUMED))
        }
        Effect::Embedding(EmbeddingCall { text, .. })
        | Effect::Reading(ReadingCall { text, .. }) => Usage::estimate(tokens::count(text), 0),
        Effect::Tool(_) => return None,
    };
    let listed = spec.price(&usage).map(f64::from);
    let is_first = listed.is_none() && tally.is_none_or(|tally| tally.calls == 0);
    // Calls of one model that start together would otherwise all pass before the first of them shows its price.
    let is_guest = effect.actor() == Actor::Guest;
    let others = || (is_first && !is_guest).then(|| models.dollars_per_call()).flatten();
    match listed.into_iter().chain(charged.or_else(others)).reduce(f64::max) {
        Some(cost) => (cost > 0.0).then_some(CallPrice::About(cost)),
        None => Some(CallPrice::Unknown),
    }
}

#[cfg(test)]
mod tests {
    use super::CallPrice::{About, Unknown};
    use super::*;

    const FIRST: EffectId = EffectId(1);
    const SECOND: EffectId = EffectId(2);

    #[test]
    fn calls_under_way_are_paid_before_another_one_starts() {
        let mut purse = Purse::default();
        assert_eq!(purse.reserve(FIRST, About(2.0), 1.0, 5.0), Ok(()));
        let refused = purse.reserve(SECOND, About(2.5), 1.0, 5.0).unwrap_err();
        assert_eq!(
            refused.why,
            "the limit of dollars is reached: 1.0000 of 5.00 are spent, and the next call costs \
             about 4.5000; --max-dollars sets the limit"
        );
        assert_eq!(refused.missing, 0.5);
        assert_eq!(purse.reserve(SECOND, About(2.0), 1.0, 5.0), Ok(()), "the limit may be spent");
    }

    #[test]
    fn a_call_that_passes_again_is_paid_once() {
        let mut purse = Purse::default();
        assert_eq!(purse.reserve(FIRST, About(3.0), 1.0, 5.0), Ok(()));
        assert_eq!(purse.reserve(FIRST, About(3.0), 1.0, 5.0), Ok(()));
    }

    #[test]
    fn a_call_of_unknown_price_starts_until_the_limit_is_spent() {
        let mut purse = Purse::default();
        assert_eq!(purse.reserve(FIRST, Unknown, 0.0, 0.0), Ok(()), "it may be free");
        assert_eq!(purse.reserve(FIRST, Unknown, 4.9, 5.0), Ok(()));
        for spent in [5.0, 120.0] {
            let refused = purse.reserve(FIRST, Unknown, spent, 5.0).unwrap_err();
            assert!(refused.why.contains("the price of the next call is unknown"), "{refused:?}");
        }
    }

    #[test]
    fn paid_answers_of_an_interrupted_task_count() {
        let mut purse = Purse { beside: 1.0, ..Purse::default() };
        assert!(purse.reserve(FIRST, About(2.5), 2.0, 5.0).is_err());
        assert_eq!(purse.reserve(FIRST, About(2.0), 2.0, 5.0), Ok(()));
    }

    #[test]
    fn a_person_allows_the_limit_once_more_or_what_is_missing() {
        let mut purse = Purse::default();
        assert!(purse.reserve(FIRST, About(2.0), 4.0, 5.0).is_err());
        assert_eq!(purse.allow(FIRST, About(2.0), 5.0, 1.0), 5.0);
        assert_eq!(purse.reserve(FIRST, About(2.0), 4.0, 5.0), Ok(()));
        assert_eq!(purse.reserve(SECOND, About(4.0), 4.0, 5.0), Ok(()), "10 are allowed in all");
        assert_eq!(purse.allow(SECOND, About(1.5), 0.0, 1.5), 1.5);
        let refused = purse.reserve(EffectId(3), About(2.0), 10.0, 5.0).unwrap_err();
        assert!(refused.why.contains("10.0000 of 11.50"), "{refused:?}");
    }
}
