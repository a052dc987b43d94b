//! A session that goes on from a moment of an earlier one, with something changed there.

use std::path::Path;

use super::fork_edit::{EditedPart, ForkEdit};
use super::fork_moment::Moment;
use super::fork_spec::ForkSpec;
use super::resume::{base, wrong};
use super::{AGENT_IS_GONE, PreparedSession, SessionError, SessionSpec, SpecField};
use crate::ask::recorded_call::with_prompt;
use crate::domain::approval::{Approval, Rule};
use crate::domain::breakpoint::BreakpointPlace;
use crate::domain::call_policy::{CallPolicy, CallSource};
use crate::domain::edit::Edit;
use crate::domain::target::Target;
use crate::domain::{Command, EffectClass, EffectId, State};
use crate::engine::{Beginning, ForkPoint, Past, RecordSource};
use crate::tool::check::Checker;

impl SessionSpec {
    /// The session of that journal up to the moment, with the changes. Of this spec, only what a fork may have counts.
    ///
    /// # Errors
    /// The journal cannot be read or does not have the moment; a change is not possible there; or the workspace or the
    /// models differ.
    pub(super) fn fork(&self, fork: &ForkSpec) -> Result<PreparedSession, SessionError> {
        let path = &fork.of;
        let part = edited_part(fork)?;
        let moment = Moment::find(path, fork, part)
            .map_err(|why| SessionError::input(format!("{}: {why}", path.display())))?;
        let opening = moment.opening.clone().ok_or_else(|| wrong(path, "it has no first event"))?;
        if opening.watched {
            return Err(wrong(path, AGENT_IS_GONE));
        }
        let knows_workspace = moment.header.spec.is_some();
        let spec = SessionSpec {
            config: self.config.clone(),
            workspace: self.workspace.clone(),
            faults: self.faults.clone(),
            breakpoints: self.breakpoints.clone(),
            allow: self.allow.clone(),
            journal: self.journal.clone(),
            max_dollars: self.max_dollars,
            learned: self.learned.clone(),
            paused: self.paused,
            stay: self.stay,
            hold: self.hold,
            keep_going: self.keep_going,
            fork: Some(Box::new(ForkSpec { at: moment.at, call: None, ..fork.clone() })),
            ..base(path, &moment.header)?
        };
        let own = base(path, &moment.header)?;
        let spec = SessionSpec {
            config: spec.config.or(own.config),
            workspace: spec.workspace.or(own.workspace),
            max_dollars: spec.max_dollars.or(own.max_dollars),
            recorded: None,
            fork_at: None,
            ..spec
        };
        let mut prepared = spec.read()?;
        prepared.expect_same(path, &opening, knows_workspace)?;
        // A trial leaves what the workspace has learned as it is.
        prepared.learned.clone_from(&self.learned);
        let commands = prepared.commands(fork, &moment)?;
        let Moment { at, past, facts, .. } = moment;
        let of = RecordSource::Journal { path: path.clone(), facts, after: past.n };
        let past = Past::of_journal(path.clone(), past);
        let point = Box::new(ForkPoint { at, calls: fork.calls, commands });
        prepared.beginning = Beginning::Forked { past, of, point };
        Ok(prepared)
    }
}

/// The part of a call that a fork changes.
///
/// # Errors
/// There are several.
pub(super) fn edited_part(fork: &ForkSpec) -> Result<Option<EditedPart>, SessionError> {
    let mut edited = fork.set.iter().filter_map(|edit| Some((edit, edit.part()?)));
    let (first, second) = (edited.next(), edited.next());
    if let Some((second, _)) = second {
        let why = "only one part of a call can change at a moment: fork the fork for another";
        return Err(SessionError::of(SpecField::Set(Box::new(second.clone())))(why.to_owned()));
    }
    Ok(first.map(|(_, part)| part))
}

impl PreparedSession {
    /// The journal of the session from which this one comes: that of a fork, or of a record.
    pub fn came_from(&self) -> Option<&Path> {
        self.forked_from().or(self.spec.recorded.as_deref())
    }

    /// The journal from a moment of which the session goes on, if it is a fork.
    pub fn forked_from(&self) -> Option<&Path> {
        self.spec.fork.as_ref().map(|fork| &*fork.of)
    }

    /// The commands that make the changes of a fork at its moment.
    fn commands(&mut self, fork: &ForkSpec, moment: &Moment) -> Result<Vec<Command>, SessionError> {
        let state = &moment.state;
        let mut commands = Vec::new();
        let approval = with_policy(&self.config.approval, &fork.calls);
        if approval != state.approval {
            commands.push(Command::SetApproval { approval: Box::new(approval) });
        }
        let chosen = fork.strategy.filter(|strategy| *strategy != state.strategy);
        commands.extend(chosen.map(|strategy| Command::UseStrategy { strategy }));
        let seed = fork.seed.filter(|seed| *seed != state.seed);
        commands.extend(seed.map(|seed| Command::UseSeed { seed }));
        for (role, model) in &fork.roles {
            let bound = self.config.bind(*role, model.as_str());
            bound.map_err(SessionError::of(SpecField::Role(*role)))?;
            if let Some(model) = self.config.roles.get(role).cloned() {
                commands.push(Command::BindRole { role: *role, model });
            }
        }
        for (knob, value) in &fork.knobs {
            let value =
                knob.spec().check(*value).map_err(SessionError::of(SpecField::Knob(*knob)))?;
            if value != state.knobs.get(*knob) {
                commands.push(Command::TurnKnob { knob: *knob, value });
            }
        }
        for edit in &fork.set {
            let made = of_edit(edit, state, moment.call);
            let field = SpecField::Set(Box::new(edit.clone()));
            commands.push(made.map_err(SessionError::of(field))?);
        }
        Ok(commands)
    }
}

/// The rules for calls behind a fork: those of the configuration, and the policy.
fn with_policy(rules: &Approval, calls: &CallPolicy) -> Approval {
    let mut approval = rules.clone();
    for (class, source) in calls.each() {
        let place = BreakpointPlace::Call(Target::Effect(class));
        let rule = Rule { place, condition: None };
        let is_live = source == CallSource::Live;
        let list = match class {
            EffectClass::Read | EffectClass::Idempotent if source != CallSource::Ask => continue,
            _ if is_live => &mut approval.allow,
            _ => &mut approval.ask,
        };
        if !list.contains(&rule) {
            list.push(rule);
        }
    }
    approval
}

/// The command of a change at this state; `call`: that of the moment.
fn of_edit(edit: &ForkEdit, state: &State, call: Option<EffectId>) -> Result<Command, String> {
    if let Some(unknown) = edit.tools().into_iter().find(|tool| {
        !tool.is_special() && !state.tools.get(*tool).is_some_and(|known| known.present)
    }) {
        return Err(format!("tool {unknown} does not exist at that moment"));
    }
    if let ForkEdit::Fault(fault, on) = edit {
        let known = state.faults.get(fault).ok_or_else(|| format!("there is no fault {fault}"))?;
        if known.armed == *on {
            return Err(format!("fault {fault} is {} already", if *on { "on" } else { "off" }));
        }
    }
    if let Some(command) = edit.command() {
        return Ok(command);
    }
    let effect = call.ok_or("the event is not one of a call")?;
    let changed = edited(edit, state, effect)?;
    Ok(Command::EditCall { effect, edit: Box::new(changed), shown: true })
}

/// The new part of this call.
pub(super) fn edited(edit: &ForkEdit, state: &State, call: EffectId) -> Result<Edit, String> {
    let (tool_call, model_call) = (state.tool_call(call), state.model_call(call));
    if let (ForkEdit::Prompt(text), Some(call)) = (edit, model_call) {
        return Ok(Edit::Messages(with_prompt(&call.request, text)?.messages));
    }
    if let (ForkEdit::Arguments(arguments), Some(call)) = (edit, tool_call)
        && let Some(tool) = state.tools.get(&call.tool)
    {
        let checked = Checker::new(&tool.spec.parameters).check(arguments);
        checked.map_err(|error| error.text)?;
    }
    edit.edit().ok_or_else(|| "the event is not one of a model call".to_owned())
}
