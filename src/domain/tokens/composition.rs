//! Composition of a prompt: how many of its tokens are system text, tools, and each kind of message, and how many are new
//! since the request before.

use std::collections::BTreeMap;

use strum::IntoStaticStr;

use super::parts::{framing, of_message, of_tool, part};
use super::{count, is_loaded};
use crate::chat::{Message, Request};
use crate::id::ToolName;

/// Bytes of a prompt up to which all is counted, which takes some milliseconds. Of a longer one, tokens are estimated.
const EXACT: usize = 200_000;
/// Bytes of a usual token.
const USUAL: u64 = 4;

/// Group of parts of a prompt.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum PromptGroup {
    System,
    /// The definition of a tool.
    Tool(ToolName),
    User,
    /// Texts of the model.
    Assistant,
    /// Calls of tools that the model has made.
    Calls,
    Results,
    /// The chat format itself.
    Format,
}

impl PromptGroup {
    /// The name of the group: that of the tool, for a definition.
    pub fn name(&self) -> &str {
        match self {
            PromptGroup::Tool(tool) => tool.as_str(),
            group => group.into(),
        }
    }

    pub fn is_tool(&self) -> bool {
        matches!(self, PromptGroup::Tool(_))
    }

    fn of(message: &Message, label: &str) -> Self {
        match message {
            Message::System { .. } => PromptGroup::System,
            Message::User { .. } => PromptGroup::User,
            Message::Assistant { .. } if label.starts_with("call of ") => PromptGroup::Calls,
            Message::Assistant { .. } => PromptGroup::Assistant,
            Message::Tool { .. } => PromptGroup::Results,
        }
    }
}

/// Composition of a prompt, in tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptSum {
    /// The tokens of each group, and how many of them are new.
    pub groups: BTreeMap<PromptGroup, (u64, u64)>,
    /// Whether tokens are estimated by bytes.
    pub is_rough: bool,
}

impl PromptSum {
    /// The tokens of some groups.
    pub fn sum(&self, is_in: impl Fn(&PromptGroup) -> bool) -> u64 {
        self.groups.iter().filter(|(group, _)| is_in(group)).map(|(_, (tokens, _))| tokens).sum()
    }

    pub fn total(&self) -> u64 {
        self.sum(|_| true)
    }

    /// The tokens of messages that the request before did not have.
    pub fn fresh(&self) -> u64 {
        self.groups.values().map(|(_, new)| new).sum()
    }

    /// The groups with the most tokens first.
    pub fn largest(&self) -> Vec<(&PromptGroup, u64, u64)> {
        let groups = self.groups.iter().map(|(group, (tokens, new))| (group, *tokens, *new));
        let mut groups: Vec<_> = groups.collect();
        groups.sort_by_key(|(_, tokens, _)| std::cmp::Reverse(*tokens));
        groups
    }

    fn add(&mut self, group: PromptGroup, tokens: u64, is_new: bool) {
        let (all, new) = self.groups.entry(group).or_default();
        *all += tokens;
        *new += if is_new { tokens } else { 0 };
    }
}

/// Returns the composition of a request, with what is new since the request before it in the same conversation. Long
/// prompts, and those before the vocabulary is loaded, are estimated, so that no frame waits; `in_full` counts them.
pub fn made_of(request: &Request, before: Option<&Request>, in_full: bool) -> PromptSum {
    let mut bytes = 0_usize;
    for message in &request.messages {
        of_message(message, &mut |_, text| bytes = bytes.saturating_add(text.len()));
    }
    let is_rough = !in_full && (bytes > EXACT || !is_loaded());
    let counted = |text: &str| if is_rough { text.len() as u64 / USUAL } else { count(text) };
    let known = before.map_or(0, |before| request.messages.same(&before.messages));
    let mut sum = PromptSum { groups: BTreeMap::new(), is_rough };
    for tool in request.tools.iter() {
        let tokens = if is_rough { counted(&of_tool(tool)) } else { part(tool).tokens };
        sum.add(PromptGroup::Tool(tool.name.clone()), tokens, false);
    }
    for (at, message) in request.messages.iter().enumerate() {
        of_message(message, &mut |label, text| {
            let group = PromptGroup::of(message, &label);
            // Instructions are a group of their own, new or not.
            let is_new = at >= known && group != PromptGroup::System;
            sum.add(group, counted(&text), is_new);
        });
    }
    sum.add(PromptGroup::Format, framing(request), false);
    sum
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::count_request;
    use super::*;
    use crate::chat::{Role, ToolCall, ToolDef};

    fn request(messages: Vec<Message>) -> Request {
        let tool = |name: &str| ToolDef {
            name: name.into(),
            description: "Finds.".into(),
            parameters: json!({"type": "object"}).into(),
        };
        Request {
            tools: [tool("find"), tool("a"), tool("find")].into(),
            ..Request::new(Role::Actor, messages)
        }
    }

    fn talk() -> Vec<Message> {
        let call = ToolCall { id: "1".into(), tool: "find".into(), arguments: json!({"x": 1}) };
        vec![
            Message::system("Be brief."),
            Message::user("Where is it?"),
            Message::Assistant { text: "I look.".into(), calls: vec![call], source: None },
            Message::result("1", "find".into(), "on the table"),
        ]
    }

    #[test]
    fn groups_add_up_and_only_messages_after_the_known_ones_are_new() {
        let (before, now) = (request(talk()[..2].to_vec()), request(talk()));
        let sum = made_of(&now, Some(&before), true);
        assert_eq!(sum.total(), count_request(&now));
        let names: Vec<_> = sum.groups.keys().map(PromptGroup::name).collect();
        let expected = ["system", "a", "find", "user", "assistant", "calls", "results", "format"];
        assert_eq!(names, expected);
        let fresh = |group: PromptGroup| {
            let (all, new) = sum.groups[&group];
            (all > 0, new == all)
        };
        assert_eq!(fresh(PromptGroup::User), (true, false));
        for group in [PromptGroup::Assistant, PromptGroup::Calls, PromptGroup::Results] {
            assert_eq!(fresh(group), (true, true));
        }
        let messages = |group: &PromptGroup| !group.is_tool() && *group != PromptGroup::System;
        let first = made_of(&before, None, true);
        assert_eq!(first.fresh() + framing(&before), first.sum(messages));
        let mut dropped = talk();
        dropped[1] = Message::user("Where?");
        let dropped = made_of(&request(dropped), Some(&now), true);
        assert_eq!(dropped.fresh() + framing(&now), dropped.sum(messages), "a changed past is new");
    }

    #[test]
    fn a_long_prompt_is_estimated() {
        let long = request(vec![Message::user("word ".repeat(EXACT))]);
        let rough = made_of(&long, None, false);
        assert!(rough.is_rough && !made_of(&long, None, true).is_rough);
        assert_eq!(rough.groups[&PromptGroup::User].0, 5 * EXACT as u64 / USUAL);
    }
}
