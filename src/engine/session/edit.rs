//! A person's actions on calls in flight: editing, answering, repeating. Each is an event at once and reaches the call
//! at the gate. From there an edited call passes the earlier stations again.

use serde_json::Value;

use super::{Session, lanes::Waits};
use crate::domain::edit::Edit;
use crate::domain::{
    By, EditEvent, EffectId, EffectState, Event, Reply, Request, ToolCall, ToolError, ToolName,
    ToolOutput,
};
use crate::effect::{self, Effect, Outcome, PendingEffect};
use crate::guest::with_messages;
use crate::model::relay::{Holds, Relay};
use crate::tool::check::Checker;

const SEEN: &str =
    "the agent has seen it: hold the call after its end (H, or a breakpoint with `after`)";

impl Session {
    /// Edits a call that has not started, or one that is held after its end.
    pub fn edit_call(
        &self,
        id: EffectId,
        edit: Edit,
        shown: bool,
        by: By,
    ) -> Result<Event, String> {
        let was = self.part_of(id, &edit)?;
        if was == edit {
            return Err("the edit changes nothing".to_owned());
        }
        let effect = self.known_effect(id)?.reference();
        let (edit, was) = (Box::new(edit), Box::new(was));
        Ok(EditEvent::CallEdited { effect, edit, was, shown, past: false, by }.into())
    }

    /// The part of a call that an edit replaces, if the edit is possible now.
    fn part_of(&self, id: EffectId, edit: &Edit) -> Result<Edit, String> {
        let effect = self.known_effect(id)?;
        let wrong = || format!("call {id} has no {}", edit.name());
        match edit {
            Edit::Arguments(arguments) => {
                let call = self.state.tool_call(id).ok_or_else(wrong)?;
                not_started(effect)?;
                let checked = match self.state.is_of_guest(id) {
                    true => self.check_as_told(&call.tool, arguments),
                    false => self.kit.tools.check(call.tool.as_str(), arguments),
                };
                checked.map_err(|error| error.text)?;
                Ok(Edit::Arguments(call.arguments.clone()))
            }
            Edit::Messages(messages) => {
                let call = self.state.model_call(id).ok_or_else(wrong)?;
                not_started(effect)?;
                if messages.is_empty() {
                    return Err("a prompt needs at least one message".to_owned());
                }
                if let Some(relay) = self.relay(id) {
                    with_messages(&relay.changeable()?, &call.request.messages, messages)?;
                }
                Ok(Edit::Messages(call.request.messages.clone()))
            }
            Edit::Result(_) => {
                let call = self.state.tool_call(id).ok_or_else(wrong)?;
                self.not_seen(effect)?;
                Ok(Edit::Result(call.observation().unwrap_or_default().to_owned()))
            }
            Edit::Reply { text, calls } => {
                let call = self.state.model_call(id).ok_or_else(wrong)?;
                self.not_seen(effect)?;
                let unnamed = calls.iter().any(|call| call.tool.as_str().is_empty());
                if unnamed {
                    return Err("a call of the reply has no tool name".to_owned());
                }
                let reply = call.reply();
                let was = reply.map_or("", |reply| reply.text.as_str());
                let is_read = self.relay(id).is_some_and(|relay| relay.holds() != Holds::All);
                if is_read && was != text {
                    let why = "the agent has read the text of the reply while it came: only calls can be changed";
                    return Err(why.to_owned());
                }
                let text = was.to_owned();
                let calls = reply.map_or_else(Vec::new, |reply| reply.calls.clone());
                Ok(Edit::Reply { text, calls })
            }
        }
    }

    /// Changes a result that the model of a watched agent has read.
    pub fn edit_past(&self, id: EffectId, text: String, by: By) -> Result<Event, String> {
        let effect = self.known_effect(id)?;
        if self.state.cost_of_past(id).is_none() {
            return Err(format!("call {id} has no result in the past of a watched agent's model"));
        }
        let call = self.state.tool_call(id);
        let was = call.and_then(|call| call.observation()).unwrap_or_default().to_owned();
        if was == text {
            return Err("the edit changes nothing".to_owned());
        }
        let (edit, was) = (Box::new(Edit::Result(text)), Box::new(Edit::Result(was)));
        let effect = effect.reference();
        Ok(EditEvent::CallEdited { effect, edit, was, shown: true, past: true, by }.into())
    }

    /// Answers a call that waits, is held or runs, in place of its model or tool.
    pub fn answer_call(&self, id: EffectId, text: String, by: By) -> Result<Event, String> {
        let effect = self.known_effect(id)?;
        if effect.is_over() || self.lanes.flight(id).is_none() {
            return Err(format!("call {id} has ended: its result can be edited while it is held"));
        }
        let effect = effect.reference();
        Ok(EditEvent::CallAnswered { effect, text, by }.into())
    }

    /// Repeats a call that is held after its end.
    pub fn repeat_call(&self, id: EffectId, by: By) -> Result<Event, String> {
        let effect = self.known_effect(id)?;
        self.not_seen(effect)?;
        self.not_of_guest(id, "call")?;
        let is_embedding = self.state.embedding(id).is_some();
        if is_embedding {
            return Err("an embedding cannot be repeated".to_owned());
        }
        let effect = effect.reference();
        Ok(EditEvent::CallRepeated { effect, by }.into())
    }

    /// Requests a tool call again, with the arguments that it had.
    pub fn request_again(&mut self, id: EffectId) -> Option<PendingEffect> {
        let call = self.state.tool_call(id)?;
        let task = call.task;
        let effect = Effect::Tool(effect::ToolCall {
            step: call.step,
            tool: call.tool.clone(),
            arguments: call.arguments.clone(),
            evidence: call.evidence,
            by: call.by,
            line: call.line,
            guest: None,
        });
        Some(effect::request(self, task, effect, Some(id), Waits::Agent))
    }

    fn known_effect(&self, id: EffectId) -> Result<&EffectState, String> {
        self.state.effect(id).ok_or_else(|| format!("there is no call {id}"))
    }

    /// The relay of a watched agent's request.
    fn relay(&self, id: EffectId) -> Option<&Relay> {
        self.lanes.flight(id)?.relay.as_deref()
    }

    /// Checks arguments against the schema of a tool that a watched agent has declared.
    fn check_as_told(&self, tool: &ToolName, arguments: &Value) -> Result<(), ToolError> {
        let known = self.state.tools.get(tool);
        known.map_or(Ok(()), |known| Checker::new(&known.spec.parameters).check(arguments))
    }

    /// Checks that toolyard itself makes a call.
    fn not_of_guest(&self, id: EffectId, what: &str) -> Result<(), String> {
        match self.state.is_of_guest(id) {
            true => Err(format!("a watched agent makes this call: its {what} goes on as it came")),
            false => Ok(()),
        }
    }

    /// Checks that a call is between its end and the agent: held there, or at the point of a fork.
    fn not_seen(&self, effect: &EffectState) -> Result<(), String> {
        let is_held = self.state.control.is_held(effect.lane);
        let is_new = self.lanes.flight(effect.id).is_some() && !self.state.is_of_guest(effect.id);
        if effect.is_over() && (is_held || is_new) { Ok(()) } else { Err(SEEN.to_owned()) }
    }
}

fn not_started(effect: &EffectState) -> Result<(), String> {
    if effect.started.is_some() || effect.is_over() {
        return Err(format!("call {} has started: its input is already sent", effect.id));
    }
    Ok(())
}

impl Effect {
    /// Replaces the input by a person's edit.
    pub fn take(&mut self, edit: Edit) {
        match (self, edit) {
            (Effect::Tool(call), Edit::Arguments(arguments)) => call.arguments = arguments,
            (Effect::Model(call), Edit::Messages(messages)) => {
                if let Some(relay) = &call.guest
                    && let Ok(body) = relay.changeable()
                    && let Ok(body) = with_messages(&body, &call.request.messages, &messages)
                {
                    relay.replace(body.into());
                }
                call.request = Request { messages, ..(*call.request).clone() }.into();
            }
            _ => {}
        }
    }

    /// The outcome that a person gives.
    pub fn answered(&self, text: String) -> Outcome {
        match self {
            Effect::Tool(_) => Outcome::Result(Ok(ToolOutput::of(text))),
            Effect::Model(_) => Outcome::Reply(Ok(said(text, Vec::new()).into())),
            Effect::Embedding(_) | Effect::Reading(_) => self.cancelled(),
        }
    }
}

impl Outcome {
    /// The outcome as a person has edited it.
    #[must_use]
    pub fn edited(self, edit: Edit) -> Self {
        match (self, edit) {
            (Outcome::Result(_) | Outcome::Refused(..), Edit::Result(text)) => {
                Outcome::Result(Ok(ToolOutput::of(text)))
            }
            (Outcome::Reply(Ok(reply)), Edit::Reply { text, calls }) => {
                Outcome::Reply(Ok(Reply { text, calls, ..(*reply).clone() }.into()))
            }
            (Outcome::Reply(Err(_)), Edit::Reply { text, calls }) => {
                Outcome::Reply(Ok(said(text, calls).into()))
            }
            (outcome, _) => outcome,
        }
    }
}

fn said(text: String, calls: Vec<ToolCall>) -> Reply {
    Reply { calls, ..Reply::of_text(text) }
}
