//! The moment of a record at which a watched agent that runs again goes its own way.

use super::fork::{edited, edited_part};
use super::fork_moment::Moment;
use super::fork_spec::ForkSpec;
use super::{SessionError, SpecField};
use crate::engine::GuestFork;

const CHANGES: &str = "of a watched agent's session, a result, a reply, arguments or a prompt can change; faults and \
                       breakpoints act from there on";

impl ForkSpec {
    /// The moment in its journal, and the change there.
    ///
    /// # Errors
    /// The journal cannot be read or does not have the moment, or the change is not possible there.
    pub(super) fn of_agent(&self) -> Result<GuestFork, SessionError> {
        let part = edited_part(self)?;
        let wrong = |why: String| SessionError::input(format!("{}: {why}", self.of.display()));
        let moment = Moment::find(&self.of, self, part).map_err(wrong)?;
        if !moment.state.runs.values().any(|run| run.guest.is_some()) {
            return Err(wrong(format!("no agent had asked anything at event {}", moment.at)));
        }
        let mut edit = None;
        for change in &self.set {
            let field = || SessionError::of(SpecField::Set(Box::new(change.clone())));
            if change.part().is_none() {
                return Err(field()(CHANGES.to_owned()));
            }
            let (call, state) = (moment.call, &moment.state);
            let Some(call) = call else {
                return Err(field()("the event is not one of a call".to_owned()));
            };
            let by_fault = state.tool_call(call).is_some_and(|it| it.injected.is_some());
            if by_fault {
                let why =
                    format!("a fault answered call {call}: fork before it, or without that fault");
                return Err(field()(why));
            }
            edit = Some((call, edited(change, state, call).map_err(field())?));
        }
        let model = self.roles.values().next().map(ToString::to_string);
        Ok(GuestFork { at: moment.at, edit, model, ..GuestFork::default() })
    }
}
