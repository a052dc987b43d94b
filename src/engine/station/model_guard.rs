//! Notices a model that cannot be used at all: it is unreachable, its key is refused, or it does not exist. Every
//! further call would fail as well. With a person the session pauses before the failure reaches the agent, and the call
//! is repeated when the person resumes; without one the session ends after the task that failed so.

use super::{Actor, Effect, Outcome, Passage, Passing, Station, now};
use crate::domain::{By, EffectId, ModelError, ModelName, Origin, SessionEvent};
use crate::{commands, handle::Handle, session::Session};

/// How the reason begins when a session ends because of a model.
pub const MODEL_UNUSABLE: &str = "a model is unusable";

pub(super) struct Unusable;

impl Station for Unusable {
    /// A guest sees its model's failure unchanged.
    fn concerns(&self, actor: Actor) -> bool {
        actor != Actor::Guest
    }

    fn after<'a>(&'a self, passage: &'a mut Passage, outcome: &'a Outcome) -> Passing<'a, ()> {
        let (Effect::Model(call), Outcome::Reply(Err(error))) = (&passage.effect, outcome) else {
            return now(());
        };
        let (id, origin) = (passage.reference.id, passage.reference.origin);
        let model = &call.model.spec().name;
        if !passage.handle.read(|session| session.state().is_unusable(model, error)) {
            return now(());
        }
        let is_made_again = match origin {
            Origin::Live => passage.handle.read(Session::has_person),
            // The recorded session has decided this.
            Origin::Recorded => passage.handle.read(|session| session.recorded().repeats(id)),
            Origin::Injected | Origin::Person | Origin::Reused | Origin::Provider => return now(()),
        };
        if is_made_again {
            self.hold(&passage.handle, id, model, error);
        } else if origin == Origin::Live {
            let error = error.text.trim_end_matches('.');
            let why = format!("{MODEL_UNUSABLE}: {model}: {error}");
            let task = passage.task;
            passage.handle.write(|session| session.note_unusable(task, why));
        }
        now(())
    }
}

impl Unusable {
    /// Notes that this call is repeated, and pauses the session if a person can resume it.
    fn hold(&self, handle: &Handle, id: EffectId, model: &ModelName, error: &ModelError) {
        handle.write(|session: &mut Session| {
            if let Some(flight) = session.flight(id) {
                flight.again = true;
            }
            session.emit(SessionEvent::Noticed {
                text: format!(
                    "{model} cannot be used: {error} Fix it, or choose another model; continuing \
                     repeats this call"
                ),
            });
            if session.has_person() {
                // A session that is already paused stops by itself.
                if let Ok(event) = commands::pause(session, None, By::Engine) {
                    session.intervene(event);
                }
            }
        });
    }
}
