//! Interventions of a person and their consequences, both live and in a session that runs again.

use super::Session;
use crate::domain::breakpoint::BreakpointSpec;
use crate::domain::{
    BudgetEvent, By, ChangeEvent, ConsentEvent, ControlEvent, Event, FaultEvent, FaultSpec, Mode,
    Resume, SessionEvent, TaskEvent, ToolCallEvent,
};

/// A person's changes at the start or at the point of a fork.
#[derive(Default)]
pub(super) struct Interventions {
    pub faults: Vec<FaultSpec>,
    /// The breakpoints; those that are off can be switched on.
    pub breakpoints: Vec<(BreakpointSpec, bool)>,
    /// Commands, in their order.
    pub commands: Vec<CommandToMake>,
}

/// Makes the event of a command, or of its refusal.
pub(super) type CommandToMake = Box<dyn FnOnce(&mut Session)>;

impl Session {
    /// Repeats the interventions of the record that come next, in a session that runs again; and makes those that wait
    /// for the point of a fork.
    pub fn repeat_interventions(&mut self) {
        while let Some(event) = self.recorded.intervention(self.state.n + 1) {
            self.intervene(event);
        }
        let has_ended = self.state.control.mode == Mode::Ended;
        if !has_ended && self.recorded.forks_now(self.state.n, self.now()) {
            let own = std::mem::take(&mut self.after_fork);
            self.begin_with(own);
            self.go_on_alone();
        }
    }

    /// Resumes a session that the record had paused, where no person can do that.
    fn go_on_alone(&mut self) {
        let goes_on =
            self.state.control.mode == Mode::Running && self.state.control.modes.is_empty();
        if !goes_on && !self.has_person() {
            self.intervene(ControlEvent::Resumed { how: Resume::Run, by: By::Engine, run: None });
        }
    }

    /// Arms faults and sets breakpoints.
    pub fn begin_with_all(
        &mut self,
        faults: Vec<FaultSpec>,
        breakpoints: Vec<(BreakpointSpec, bool)>,
    ) {
        self.begin_with(Interventions { faults, breakpoints, commands: Vec::new() });
    }

    /// Arms faults, sets breakpoints and makes commands.
    pub(super) fn begin_with(&mut self, own: Interventions) {
        for spec in own.faults {
            let fault = self.next_fault();
            self.emit(FaultEvent::FaultArmed { fault, spec, by: By::User });
        }
        own.breakpoints.into_iter().for_each(|(spec, on)| self.begin_with_breakpoint(spec, on));
        own.commands.into_iter().for_each(|make| make(self));
    }

    /// Sets a breakpoint. One that names something of another workspace is left out with a notice.
    fn begin_with_breakpoint(&mut self, spec: BreakpointSpec, on: bool) {
        let written = spec.to_string();
        match self.set_breakpoint(None, spec, on, By::User) {
            Ok(event) => self.intervene(event),
            Err(why) => {
                let text = format!("breakpoint {written} is left out: {why}");
                self.emit(SessionEvent::Noticed { text });
            }
        }
    }

    /// Makes the event of an intervention, and applies its consequences.
    pub fn intervene(&mut self, event: impl Into<Event>) {
        let event = event.into();
        // The call is requested again with the number of the recorded call, and answered from the record.
        if let Event::ToolCall(ToolCallEvent::ToolCallRequested { tool, arguments, .. }) = event {
            // A tool that is gone cannot be called; the records part here.
            drop(self.call_by_hand(tool, arguments));
            return;
        }
        if let Event::Control(ControlEvent::PauseRequested { run, .. }) = event {
            self.revoke_step(run);
        }
        self.emit(event.clone());
        match event {
            Event::Control(ControlEvent::Resumed { how: Resume::Step, run, .. }) => {
                self.grant_step(run);
            }
            Event::Control(ControlEvent::PauseRequested { .. }) => self.settle(),
            Event::Fault(FaultEvent::FaultDisarmed { .. }) => self.list_back(),
            Event::Change(ChangeEvent::KnobTurned { knob, value, was, .. }) => {
                let spec = knob.spec();
                if spec.replans {
                    self.replan(&format!("{knob} {} → {}", spec.show(*was), spec.show(*value)));
                }
            }
            Event::Change(ChangeEvent::RoleBound { role, model, was, .. }) => {
                self.replan_quietly(&format!("{role}: {was} → {model}"));
            }
            Event::Change(ChangeEvent::ToolSwitched { tool, on, .. }) => {
                let how = if on { "on" } else { "off" };
                self.replan_quietly(&format!("{tool} switched {how}"));
            }
            Event::Budget(BudgetEvent::UsesSet { tool, uses, .. }) => {
                self.replan(&format!("uses of {tool} set to {uses}"));
            }
            Event::Edit(event) => self.lanes.apply_edit(event),
            Event::Consent(ConsentEvent::ConsentGiven { effect, allowed, .. }) => {
                if let Some(flight) = self.lanes.flight_mut(effect.id) {
                    flight.consent = Some(allowed);
                }
            }
            Event::Task(TaskEvent::TaskSkipped { task, .. }) => self.run_of(task).skip.cancel(),
            _ => {}
        }
    }
}
