//! How a person sets, changes and deletes breakpoints. Each method checks, and returns the event.

use super::Session;
use crate::domain::breakpoint::{BreakpointPlace, BreakpointSpec};
use crate::domain::{
    BreakpointEvent, BreakpointId, BreakpointState, By, ControlEvent, Event, Resume,
};

impl Session {
    /// Sets a breakpoint, or changes one.
    pub fn set_breakpoint(
        &self,
        breakpoint: Option<BreakpointId>,
        spec: BreakpointSpec,
        on: bool,
        by: By,
    ) -> Result<Event, String> {
        self.check_place(&spec)?;
        self.check_python(&spec)?;
        let known = breakpoint.and_then(|id| self.state.breakpoints.get(&id));
        if known.is_some_and(|known| known.spec == spec && known.on == on) {
            return Err("it already has these settings".to_owned());
        }
        let was = known.map(|known| Box::new(known.spec.clone()));
        let breakpoint = breakpoint.unwrap_or_else(|| self.next_breakpoint());
        let (spec, temporary) = (Box::new(spec), false);
        Ok(BreakpointEvent::BreakpointSet { breakpoint, spec, was, on, temporary, by }.into())
    }

    pub fn switch_breakpoint(
        &self,
        breakpoint: BreakpointId,
        on: bool,
        by: By,
    ) -> Result<Event, String> {
        if self.breakpoint(breakpoint)?.on == on {
            let how = if on { "on" } else { "off" };
            return Err(format!("breakpoint {breakpoint} is {how} already"));
        }
        Ok(BreakpointEvent::BreakpointSwitched { breakpoint, on, by }.into())
    }

    pub fn delete_breakpoint(&self, breakpoint: BreakpointId, by: By) -> Result<Event, String> {
        let known = self.breakpoint(breakpoint)?;
        let (spec, on) = (Box::new(known.spec.clone()), known.on);
        Ok(BreakpointEvent::BreakpointDeleted { breakpoint, spec, on, by }.into())
    }

    /// Runs on until a breakpoint set for this run holds.
    pub fn run_to(&self, spec: BreakpointSpec, by: By) -> Result<[Event; 2], String> {
        if !self.breakpoints.seats.holds() {
            return Err("without a screen nobody could resume from there".to_owned());
        }
        self.check_place(&spec)?;
        self.check_python(&spec)?;
        let breakpoint = self.next_breakpoint();
        let (spec, was, on, temporary) = (Box::new(spec), None, true, true);
        let set = BreakpointEvent::BreakpointSet { breakpoint, spec, was, on, temporary, by };
        Ok([set.into(), ControlEvent::Resumed { how: Resume::Run, by, run: None }.into()])
    }

    fn breakpoint(&self, id: BreakpointId) -> Result<&BreakpointState, String> {
        self.state.breakpoints.get(&id).ok_or_else(|| format!("there is no breakpoint {id}"))
    }

    fn next_breakpoint(&self) -> BreakpointId {
        BreakpointId(self.state.breakpoints_set.saturating_add(1))
    }

    /// Checks that everything that a place names exists.
    fn check_place(&self, spec: &BreakpointSpec) -> Result<(), String> {
        match &spec.place {
            BreakpointPlace::Call(target) => {
                self.state.check_target(target, spec.condition.as_ref())
            }
            _ => Ok(()),
        }
    }

    /// Checks that the breakpoint's expressions are Python and call nothing.
    fn check_python(&self, spec: &BreakpointSpec) -> Result<(), String> {
        let shown = self.state.at_work.shown().unwrap_or_default();
        let check = |expression: String| self.check_expression(shown, &expression);
        spec.python.expressions().try_for_each(check)
    }
}
