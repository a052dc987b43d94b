//! A model call, as a journal has it.

use std::sync::Arc;

use crate::domain::sent_body::SentBody;
use crate::domain::state::{Keeps, ModelCallState, RECENT, ToolState};
use crate::domain::{
    EffectId, Event, Message, ModelCallEvent, ModelSpec, Record, Request, State, ToolDef,
    blocks::Block,
};

/// The most model calls that are named instead of one that is not there.
const NEAR: usize = 6;

/// A model call of a journal, with the state of the session at its end.
pub struct RecordedCall {
    id: EffectId,
    pub state: State,
    /// A watched agent's own body.
    pub sent: Option<SentBody>,
    calls: Vec<EffectId>,
}

impl RecordedCall {
    /// A call that [`Self::take`] finds.
    pub fn sought(id: EffectId) -> Self {
        let state = State::keeping(Keeps::Details(RECENT));
        Self { id, state, sent: None, calls: Vec::new() }
    }

    /// Takes the next record of the journal; true once the call is known to its end.
    pub fn take(&mut self, record: &Record) -> bool {
        self.state.apply(record);
        match &record.event {
            Event::ModelCall(ModelCallEvent::ModelCallRequested { effect, .. }) => {
                self.calls.push(effect.id);
            }
            Event::ModelCall(ModelCallEvent::ModelCallSent { effect, body })
                if effect.id == self.id =>
            {
                self.sent = Some(body.clone());
            }
            _ => {}
        }
        self.state.model_call(self.id).is_some_and(|call| call.phase.is_over())
    }

    /// The call, with the request as its model read it.
    ///
    /// # Errors
    /// There is none of this number: what has the number, and the nearest model calls.
    pub fn call(&self) -> Result<&ModelCallState, String> {
        let id = self.id;
        if let Some(call) = self.state.model_call(id) {
            return Ok(call);
        }
        let is_tool = self.state.tool_call(id).is_some();
        let what = if is_tool { "is a tool call, not a model call" } else { "is no model call" };
        let mut near = self.calls.clone();
        near.sort_by_key(|other| other.0.abs_diff(id.0));
        near.truncate(NEAR);
        near.sort_unstable();
        let near = near.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        Err(format!("call {id} {what}; the nearest model calls: {near}"))
    }

    /// The model of the call, as the journal knows it.
    pub fn spec(&self) -> Option<&ModelSpec> {
        let model = &self.state.model_call(self.id)?.model;
        self.state.models.known.get(model).map(|model| &model.spec)
    }

    /// All tools of the session.
    pub(crate) fn tools(&self) -> Arc<[ToolDef]> {
        let def = |tool: &ToolState| ToolDef {
            name: tool.spec.name.clone(),
            description: String::new(),
            parameters: Arc::clone(&tool.spec.parameters),
        };
        self.state.tools.values().map(def).collect()
    }
}

/// The request with another text in its last message of the user. Pictures and files beside the text stay.
///
/// # Errors
/// The request has no message of the user.
pub fn with_prompt(request: &Request, text: &str) -> Result<Request, String> {
    let mut changed = request.clone();
    let last = changed.messages.iter_mut().rev().find_map(|message| match message {
        Message::User { text, blocks } => Some((text, blocks)),
        _ => None,
    });
    let (told, blocks) = last.ok_or("the request has no message of a user to replace")?;
    text.clone_into(told);
    blocks.retain(|block| !matches!(block, Block::Text { .. }));
    if !blocks.is_empty() {
        blocks.insert(0, Block::Text { bytes: text.len() });
    }
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::{Role, blocks::BlockKind};

    #[test]
    fn a_prompt_replaces_the_last_message_of_the_user_and_keeps_its_pictures() {
        let picture = Block::kept(BlockKind::Image, json!({"type": "image"}));
        let blocks = vec![Block::Text { bytes: 2 }, picture.clone(), Block::Text { bytes: 1 }];
        let messages = vec![
            Message::system("Help."),
            Message::user("First"),
            Message::User { text: "Hi!".to_owned(), blocks },
            Message::assistant("Yes?"),
        ];
        let request = Request::new(Role::Actor, messages);
        let changed = with_prompt(&request, "Servus").unwrap();
        let texts: Vec<_> = changed.messages.iter().map(Message::text).collect();
        assert_eq!(texts, ["Help.", "First", "Servus", "Yes?"]);
        let blocks = changed.messages.get(2).unwrap().blocks();
        assert_eq!(blocks, [Block::Text { bytes: 6 }, picture]);
        assert_eq!(request.messages.get(2).unwrap().text(), "Hi!", "the recorded one stays");
        let without = Request::new(Role::Actor, vec![Message::system("Help.")]);
        assert!(with_prompt(&without, "Hi").is_err());
    }

    #[test]
    fn a_number_that_is_no_model_call_is_told_with_those_near_it() {
        let mut sought = RecordedCall::sought(EffectId(50));
        sought.calls = [1, 3, 40, 47, 48, 49, 55, 90].map(EffectId).to_vec();
        let near = "call 50 is no model call; the nearest model calls: 40, 47, 48, 49, 55, 90";
        assert_eq!(sought.call().unwrap_err(), near);
    }
}
