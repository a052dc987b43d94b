//! Tools that come and go while a session runs, as listed by their providers.

use std::rc::Rc;
use std::sync::Arc;

use tokio::sync::Notify;

use super::Session;
use crate::domain::{
    By, Event, ServerEvent, SessionEvent, ToolName, state::ServerState, words::counted,
};
use crate::providers::{List, Listing, ProviderListing};
use crate::tool::provider::Provider;
use crate::tool::{Changes, ToolError};

impl Session {
    /// Adds a provider; `asked` is notified when the user wants it to list its tools again.
    pub fn attend(&mut self, provider: Rc<dyn Provider>, asked: Rc<Notify>) {
        self.kit.providers.push((provider, asked));
    }

    /// Adds the first lists. Returns notices for the user.
    pub fn take_lists(&mut self, listed: &mut [ProviderListing]) -> Vec<String> {
        let mut notices = Vec::new();
        for ProviderListing { provider, list, .. } in listed {
            match std::mem::replace(list, Ok(Vec::new())) {
                Ok(tools) => {
                    let changes = self.kit.tools.replace(provider.name(), tools);
                    notices.extend(left_out(provider.name(), &changes));
                }
                Err(error) => notices.push(unlisted(provider.name(), &error)),
            }
        }
        notices
    }

    /// Records the tools at the start.
    pub fn join_all(&mut self) {
        let tools: Vec<_> = self.kit.tools.specs().cloned().collect();
        self.emit(SessionEvent::ToolsAdded { tools });
    }

    /// Records how the tools differ from those of a continued session.
    pub fn tell_difference(&mut self) {
        let known = &self.state.tools;
        let gone = known
            .iter()
            .filter(|(name, tool)| tool.present && self.kit.tools.get(name.as_str()).is_none());
        let left = gone.map(|(name, _)| name.clone()).collect();
        let new = self.kit.tools.specs().filter(|spec| {
            known.get(&spec.name).is_none_or(|tool| !tool.present || tool.spec != **spec)
        });
        let joined = new.cloned().collect();
        self.tell(Changes { joined, left, ..Changes::default() });
    }

    /// Asks every provider to list its tools again.
    pub fn reload_tools(&mut self) -> Result<(), String> {
        if self.kit.providers.is_empty() {
            return Err("all tools are built in; there are no files to reload".to_owned());
        }
        self.kit.providers.iter().for_each(|(_, asked)| asked.notify_one());
        Ok(())
    }

    /// Accepts the changed definition of a tool, if it is still the one with this hash.
    pub fn accept_definition(
        &self,
        tool: ToolName,
        hash: Arc<str>,
        by: By,
    ) -> Result<Event, String> {
        let of = |(key, server): (&Arc<str>, &ServerState)| {
            server.changed.contains_key(&tool).then(|| key.clone())
        };
        let server = self.state.servers.iter().find_map(of);
        let server = server.ok_or_else(|| format!("the definition of {tool} has not changed"))?;
        let accept = |(provider, asked): &(Rc<dyn Provider>, Rc<Notify>)| {
            let accepted = provider.accept(&tool, &hash)?;
            asked.notify_one();
            Some(accepted)
        };
        let accepted = self.kit.providers.iter().find_map(accept);
        accepted.ok_or_else(|| format!("the server of {tool} is not here"))??;
        Ok(ServerEvent::DefinitionAccepted { server, tool, hash, by }.into())
    }

    /// Processes the new list of a provider.
    pub fn provider_listed(&mut self, provider: &str, why: Listing, list: List) {
        let changes = match list {
            Ok(tools) => self.kit.tools.replace(provider, tools),
            Err(error) => return self.notice(unlisted(provider, &error)),
        };
        let how = if why == Listing::Back { "is back" } else { "listed its tools again" };
        let counts = [changes.joined.len(), changes.changed.len(), changes.left.len()];
        let text = match counts {
            [joined, 0, 0] if joined > 0 && why != Listing::Back => {
                format!("{provider}: {}", counted(joined, "new tool"))
            }
            [joined, changed, left] => {
                format!("{provider} {how}: {joined} new, {changed} changed, {left} gone")
            }
        };
        let left_out = left_out(provider, &changes);
        // An unchanged list is news only to the user who requested it.
        let is_news = why != Listing::Changed || !changes.is_empty();
        self.tell(changes);
        left_out.into_iter().chain(is_news.then_some(text)).for_each(|text| self.notice(text));
        self.replan_quietly("the tools were listed again");
        self.sync();
    }

    /// Removes a provider that is gone for good.
    pub fn provider_left(&mut self, provider: &str) {
        let changes = self.kit.tools.replace(provider, Vec::new());
        self.kit.providers.retain(|(known, _)| known.name() != provider);
        let lost = counted(changes.left.len(), "tool");
        self.tell(changes);
        self.notice(format!("{provider} is gone, with {lost}"));
        self.replan_quietly(&format!("{provider} is gone"));
        self.sync();
    }

    pub fn provider_died(&mut self, provider: &str, why: &str) {
        let left = self.kit.tools.take_off(provider);
        let lost = match left.len() {
            0 => String::new(),
            lost => format!("; {} unavailable until it is back", counted(lost, "tool")),
        };
        let text = format!("{provider} died: {why}{lost}");
        self.tell(Changes { left, ..Changes::default() });
        self.notice(text);
        self.replan_quietly(&format!("{provider} died"));
        self.sync();
    }

    /// Records added and removed tools, and updates the index.
    fn tell(&mut self, changes: Changes) {
        let Changes { joined, left, changed, left_out: _ } = changes;
        let tools: Vec<_> = changed.into_iter().chain(joined).collect();
        if let Some(index) = self.kit.index.get_mut() {
            left.iter().for_each(|name| _ = index.remove(name.as_str()));
            tools.iter().for_each(|spec| index.insert(spec));
        }
        if !(left.is_empty() && tools.is_empty()) {
            self.tell_reader();
        }
        if !left.is_empty() {
            self.emit(SessionEvent::ToolsRemoved { tools: left });
        }
        if !tools.is_empty() {
            self.emit(SessionEvent::ToolsAdded { tools });
        }
    }

    fn notice(&mut self, text: String) {
        self.emit(SessionEvent::Noticed { text });
    }
}

fn unlisted(provider: &str, error: &ToolError) -> String {
    format!("{provider} could not list its tools; nothing changed: {error}")
}

/// The notice about tools of a provider that are left out, if there are any.
fn left_out(provider: &str, changes: &Changes) -> Option<String> {
    let names: Vec<_> = changes.left_out.iter().map(|name| name.as_str()).collect();
    let text = format!(
        "{provider} lists tools with names that are taken; they are left out: {}",
        names.join(", ")
    );
    (!names.is_empty()).then_some(text)
}
