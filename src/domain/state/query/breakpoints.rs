//! Breakpoints that match a call, and problems of calls.

use crate::breakpoint::{At, BreakpointPlace, Trouble, When};
use crate::chance::canonical;
use crate::event::Refusal;
use crate::id::{BreakpointId, EffectId, ToolName};
use crate::state::breakpoints::BreakpointState;
use crate::state::{ModelCallPhase, ModelCallState, State, ToolCallPhase, ToolCallState};
use crate::{error::ModelErrorKind, error::ToolErrorKind, target::Target};

/// Number of equal calls that make a loop.
const LOOP: usize = 3;

impl State {
    /// The breakpoints that are on and match this call, in order.
    pub fn breakpoints_at(
        &self,
        call: EffectId,
        when: When,
    ) -> Vec<(BreakpointId, &BreakpointState)> {
        if self.breakpoints.is_empty() {
            return Vec::new();
        }
        let of_trouble =
            |known: &BreakpointState| matches!(known.spec.place, BreakpointPlace::Trouble(_));
        let troubles: Vec<Trouble> = match self.breakpoints.values().any(of_trouble) {
            true => self.troubles(call, when).collect(),
            false => Vec::new(),
        };
        let Some(at) = self.place_of(call, when, &troubles) else { return Vec::new() };
        let on = self.breakpoints.iter().filter(|(_, known)| known.on);
        on.filter(|(_, known)| known.spec.matches(&at)).map(|(id, known)| (*id, known)).collect()
    }

    /// A call in the form that places are compared with.
    pub fn place_of<'a>(
        &'a self,
        call: EffectId,
        when: When,
        troubles: &'a [Trouble],
    ) -> Option<At<'a>> {
        self.effect(call)?;
        Some(At { when, aim: self.aim(call), troubles })
    }

    /// The breakpoints on a place other than a call.
    pub fn breakpoints_on(&self, place: &BreakpointPlace) -> Vec<(BreakpointId, &BreakpointState)> {
        let on = self.breakpoints.iter().filter(|(_, known)| known.on);
        on.filter(|(_, known)| known.spec.place == *place).map(|(id, known)| (*id, known)).collect()
    }

    /// A breakpoint of exactly this place, on or off.
    pub fn breakpoint_of(
        &self,
        place: &BreakpointPlace,
    ) -> Option<(BreakpointId, &BreakpointState)> {
        let found = self.breakpoints.iter().find(|(_, known)| known.spec.place == *place);
        found.map(|(id, known)| (*id, known))
    }

    /// Whether a breakpoint on exactly this tool is on, by its name here or at its server.
    pub fn breaks_at_tool(&self, tool: &ToolName) -> bool {
        let served_as = self.tools.get(tool).and_then(|known| known.spec.served_as.as_ref());
        let of_it = |known: &&BreakpointState| matches!(&known.spec.place, BreakpointPlace::Call(Target::Tool(name)) if name == tool || Some(name) == served_as);
        self.breakpoints.values().filter(of_it).any(|known| known.on)
    }

    /// The tool before a call in its task, or `start`.
    pub fn came_from(&self, call: &ToolCallState) -> &str {
        let task = self.task(call.task);
        let steps = task.into_iter().flat_map(|task| task.steps.iter().rev());
        let mut of_it = steps.filter(|step| step.step == call.step);
        of_it.next().map_or(ToolName::START, |step| step.from.as_str())
    }

    /// The text of a call's error, if it failed or was refused.
    pub fn error_of(&self, call: EffectId) -> Option<&str> {
        if let Some(call) = self.tool_call(call) {
            return match &call.phase {
                ToolCallPhase::Failed { error } => Some(&error.text),
                ToolCallPhase::Refused { why, .. } => Some(why),
                _ => None,
            };
        }
        match &self.model_call(call)?.phase {
            ModelCallPhase::Failed { error } => Some(&error.text),
            _ => None,
        }
    }

    /// Returns the problems of a call: before it, loops and changed pasts; after it, all others.
    pub fn troubles(&self, call: EffectId, when: When) -> impl Iterator<Item = Trouble> {
        let found = match (when, self.tool_call(call), self.model_call(call)) {
            (When::Before, Some(call), _) => {
                [self.is_loop(call).then_some(Trouble::Loop), None, None]
            }
            (When::After, Some(call), _) => {
                [of_tool_call(call), call.has_no_result().then_some(Trouble::NoResult), None]
            }
            (When::Before, None, Some(call)) => [
                call.lost.is_some().then_some(Trouble::CacheBreak),
                call.rewritten.is_some().then_some(Trouble::Rewritten),
                None,
            ],
            (When::After, None, Some(call)) => [
                of_model_call(call),
                self.first_failure(call),
                call.unread.map(|_| Trouble::DroppedInput),
            ],
            (_, None, None) => [None; 3],
        };
        let injected = self.effect(call).is_some_and(|effect| effect.injected.is_some());
        let injected = (injected && when == When::After).then_some(Trouble::Injected);
        found.into_iter().flatten().chain(injected)
    }

    /// Whether the same call was made often enough in its task.
    fn is_loop(&self, call: &ToolCallState) -> bool {
        let Some(task) = self.task(call.task) else { return false };
        let own = canonical(&call.arguments);
        let all = task.tool_calls.iter().filter_map(|id| self.tool_call(*id));
        let same = all.filter(|other| {
            other.id <= call.id && other.tool == call.tool && canonical(&other.arguments) == own
        });
        same.count() >= LOOP
    }

    fn first_failure(&self, call: &ModelCallState) -> Option<Trouble> {
        let failed = matches!(call.phase, ModelCallPhase::Failed { .. });
        let tally = &self.models.known.get(&call.model)?.tally;
        (failed && tally.failed == 1).then_some(Trouble::FirstFailure)
    }
}

fn of_tool_call(call: &ToolCallState) -> Option<Trouble> {
    match &call.phase {
        ToolCallPhase::Requested | ToolCallPhase::Running | ToolCallPhase::Done { .. } => None,
        ToolCallPhase::Refused { reason, .. } => match reason {
            Refusal::Arguments => Some(Trouble::Schema),
            Refusal::NotOffered | Refusal::TooMany | Refusal::Denied => Some(Trouble::Refused),
            Refusal::Cancelled => None,
            Refusal::Blacklisted | Refusal::NoUseLeft | Refusal::TooDear => Some(Trouble::Budget),
        },
        ToolCallPhase::Failed { error } => match error.kind {
            ToolErrorKind::Arguments => Some(Trouble::Schema),
            ToolErrorKind::Timeout => Some(Trouble::Timeout),
            ToolErrorKind::OverBudget => Some(Trouble::Budget),
            ToolErrorKind::Cancelled => None,
            ToolErrorKind::Unavailable | ToolErrorKind::Failed | ToolErrorKind::NotRecorded => {
                Some(Trouble::ToolError)
            }
        },
    }
}

fn of_model_call(call: &ModelCallState) -> Option<Trouble> {
    match &call.phase {
        ModelCallPhase::Requested | ModelCallPhase::Running => None,
        ModelCallPhase::Done { reply } => reply.finish.is_cut().then_some(Trouble::CutAnswer),
        ModelCallPhase::Failed { error } => match error.kind {
            ModelErrorKind::Timeout => Some(Trouble::Timeout),
            ModelErrorKind::RateLimited => Some(Trouble::RateLimit),
            ModelErrorKind::TooLong | ModelErrorKind::BadAnswer => Some(Trouble::CutAnswer),
            ModelErrorKind::OverBudget => Some(Trouble::Budget),
            ModelErrorKind::Cancelled => None,
            ModelErrorKind::Connection
            | ModelErrorKind::Auth
            | ModelErrorKind::Quota
            | ModelErrorKind::ContextOverflow
            | ModelErrorKind::Endpoint
            | ModelErrorKind::Refused
            | ModelErrorKind::Filtered => Some(Trouble::ModelError),
        },
    }
}
