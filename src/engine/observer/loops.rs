//! Reports that an agent goes in circles, whether or not a breakpoint waits for that.

use super::Observer;
use crate::domain::{Event, Origin, Record, SessionEvent, State, ToolCallEvent};

pub(crate) struct Loops;

impl Observer for Loops {
    fn on(&mut self, record: &Record, state: &State) -> Vec<Event> {
        let Event::ToolCall(
            ToolCallEvent::ToolCallFinished { effect, .. }
            | ToolCallEvent::ToolCallFailed { effect, .. }
            | ToolCallEvent::ToolCallRefused { effect, .. },
        ) = &record.event
        else {
            return Vec::new();
        };
        let live = (effect.origin == Origin::Live).then(|| state.loop_at(effect.id)).flatten();
        let Some(tools) = live else { return Vec::new() };
        let names: Vec<_> = tools.iter().map(|tool| tool.as_str()).collect();
        let text = match names.as_slice() {
            [tool] => format!(
                "a loop: {tool} was called three times with the same arguments and the same result"
            ),
            tools => format!(
                "a loop: {} were called in turn three times with the same results",
                tools.join(", ")
            ),
        };
        vec![SessionEvent::Noticed { text }.into()]
    }
}
