//! Interventions of a person and their consequences, both live and in a session that runs again.

use super::Session;
use crate::domain::breakpoint::BreakpointSpec;
use crate::domain::{
    BudgetEvent, By, ChangeEvent, ConsentEvent, ControlEvent, Event, FaultEvent, Resume,
    SessionEvent, TaskEvent, ToolCallEvent,
};

impl Session {
    /// Repeats the interventions of the record that come next, in a session that runs again.
    pub fn repeat_interventions(&mut self) {
        while let Some(event) = self.recorded.intervention(self.state.n + 1) {
            self.intervene(event);
        }
    }

    /// Sets a breakpoint with which the session begins. A breakpoint that names something of another workspace is left
    /// out with a notice.
    pub fn begin_with(&mut self, spec: BreakpointSpec, on: bool) {
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
