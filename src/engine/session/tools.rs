//! Tools that come and go while a session runs, as listed by their providers.

use std::{rc::Rc, time::Duration};

use futures::stream::{self, LocalBoxStream};
use futures::{StreamExt, future::join_all};
use tokio::{sync::Notify, time::timeout};

use super::Session;
use crate::domain::{Lexical, SessionEvent, words::counted};
use crate::engine::handle::Handle;
use crate::engine::ranker::Ranker;
use crate::tool::provider::{Change, Provider};
use crate::tool::{Changes, Tool, ToolBox, ToolError, ToolErrorKind};

/// The tools of a session, and what finds them.
pub struct Toolkit {
    pub tools: ToolBox,
    pub index: Lexical,
    /// Ranks tools for a text by more than its words.
    pub ranker: Option<Rc<dyn Ranker>>,
    /// Asks each provider to list its tools again.
    pub relist: Vec<Rc<Notify>>,
}

/// Time limit for a provider to list its tools; the session waits for it at the start.
const LISTING: Duration = Duration::from_secs(10);

type List = Result<Vec<Rc<dyn Tool>>, ToolError>;

/// A provider, its first list, and its later notifications.
pub struct ProviderListing {
    provider: Rc<dyn Provider>,
    list: List,
    changes: LocalBoxStream<'static, Change>,
}

/// Asks all providers at once for their first lists.
pub async fn list_all(providers: Vec<Rc<dyn Provider>>) -> Vec<ProviderListing> {
    let all = providers.into_iter().map(|provider| async {
        let changes = provider.changes();
        let list = list(&*provider).await;
        ProviderListing { provider, list, changes }
    });
    join_all(all).await
}

async fn list(provider: &dyn Provider) -> List {
    timeout(LISTING, provider.tools()).await.unwrap_or_else(|_| {
        let text = format!("no list arrived within {} s", LISTING.as_secs());
        Err(ToolError::new(ToolErrorKind::Timeout, text))
    })
}

/// Listens to a provider in parallel. Its lists are processed one after the other, so that an old
/// one never replaces a newer one.
pub fn watch(handle: &Handle, ProviderListing { provider, changes, .. }: ProviderListing) {
    let asked = Rc::new(Notify::new());
    handle.write(|session| session.kit.relist.push(Rc::clone(&asked)));
    let watched = handle.clone();
    handle.spawn(async move {
        let mut changes = changes.chain(stream::pending());
        loop {
            let change = tokio::select! {
                biased;
                change = changes.next() => change,
                () = asked.notified() => None,
            };
            if let Some(Change::Died { why }) = change {
                watched.write(|session| session.provider_died(provider.name(), &why));
                continue;
            }
            let list = list(&*provider).await;
            watched.write(|session| session.provider_listed(provider.name(), change, list));
        }
    });
}

impl Session {
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

    /// Indexes the tools for retrieval.
    pub fn index_all(&mut self) {
        self.kit.index = Lexical::of_session(self.kit.tools.specs().map(|spec| &**spec));
        self.tell_reader();
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
        if self.kit.relist.is_empty() {
            return Err("all tools are built in; there are no files to reload".to_owned());
        }
        self.kit.relist.iter().for_each(|asked| asked.notify_one());
        Ok(())
    }

    /// A provider has listed its tools again: by itself, or (`None`) on the user's request.
    fn provider_listed(&mut self, provider: &str, change: Option<Change>, list: List) {
        let changes = match list {
            Ok(tools) => self.kit.tools.replace(provider, tools),
            Err(error) => return self.notice(unlisted(provider, &error)),
        };
        let how = if change == Some(Change::Back) { "is back" } else { "listed its tools again" };
        let text = format!(
            "{provider} {how}: {} new, {} changed, {} gone",
            changes.joined.len(),
            changes.changed.len(),
            changes.left.len()
        );
        let left_out = left_out(provider, &changes);
        // An unchanged list is news only to the user who requested it.
        let is_news = change != Some(Change::Listed) || !changes.is_empty();
        self.tell(changes);
        left_out.into_iter().chain(is_news.then_some(text)).for_each(|text| self.notice(text));
        self.replan_quietly("the tools were listed again");
        self.sync();
    }

    fn provider_died(&mut self, provider: &str, why: &str) {
        let left = self.kit.tools.take_off(provider);
        let lost = counted(left.len(), "tool");
        let text = format!("{provider} died: {why}; {lost} unavailable until it is back");
        self.tell(Changes { left, ..Changes::default() });
        self.notice(text);
        self.replan_quietly(&format!("{provider} died"));
        self.sync();
    }

    /// Records added and removed tools, and updates the index.
    fn tell(&mut self, changes: Changes) {
        let Changes { joined, left, changed, left_out: _ } = changes;
        for name in &left {
            self.kit.index.remove(name.as_str());
        }
        let tools: Vec<_> = changed.into_iter().chain(joined).collect();
        for spec in &tools {
            self.kit.index.remove(spec.name.as_str());
            self.kit.index.insert(spec);
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
