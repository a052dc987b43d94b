//! Kind of agent in the session, and what a person therefore cannot change. Screen and engine both use this.

use crate::agent_kind::{Acting, Matter};
use crate::state::State;

impl State {
    /// Returns the kind of agent that acts in the session.
    pub fn acting(&self) -> Acting {
        if self.watched.is_some() { Acting::Foreign } else { Acting::Own(self.strategy) }
    }

    /// Why a person cannot change this; `None`: the agent allows it.
    pub fn cannot(&self, matter: Matter) -> Option<&'static str> {
        if let Acting::Own(_) = self.acting() {
            let Matter::Knob(knob) = matter else { return None };
            let reader = knob.spec().reader;
            return reader.is_foreign.then_some(reader.why_unread);
        }
        Some(match matter {
            Matter::Knob(knob) if knob.spec().is_watching => return None,
            Matter::Knob(_) => {
                "your agent acts here; toolyard only watches its prompts, menus and plans"
            }
            Matter::Strategy => "your agent acts here; toolyard only watches its decisions",
            Matter::Models => "your agent acts here; toolyard only watches its choice of models",
            Matter::Menus => "your agent acts here; toolyard only watches its menus",
            Matter::Tools => "your agent acts here; toolyard only watches its tool calls",
            Matter::Tasks => "your agent acts here; toolyard only watches its tasks",
            Matter::Copies => "your agent acts here; toolyard cannot run a copy of it",
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::knob::Knob;

    #[test]
    fn a_foreign_agent_leaves_only_what_the_screen_shows() {
        let own = State::default();
        let watched = State { watched: Some(Arc::default()), ..State::default() };
        for matter in [Matter::Strategy, Matter::Models, Matter::Tasks, Matter::Knob(Knob::TopK)] {
            assert_eq!(own.cannot(matter), None);
            assert!(watched.cannot(matter).is_some(), "{matter:?}");
        }
        for knob in [Knob::Speed, Knob::Skip] {
            assert_eq!(watched.cannot(Matter::Knob(knob)), None);
        }
        assert!(own.cannot(Matter::Knob(Knob::Skip)).is_some());
        assert_eq!((own.acting(), watched.acting()), (own.strategy.into(), Acting::Foreign));
    }

    #[test]
    fn who_acts_is_read_as_it_is_written() {
        for acting in [Acting::Foreign, Acting::Own("react".parse().unwrap())] {
            assert_eq!(acting.to_string().parse(), Ok(acting));
        }
    }
}
