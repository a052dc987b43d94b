//! The providers of a session's tools: their lists, and their reports during the session.

use std::{rc::Rc, time::Duration};

use futures::stream::{self, LocalBoxStream};
use futures::{FutureExt, StreamExt, future::join_all};
use tokio::{sync::Notify, time::timeout};

use super::handle::Handle;
use crate::domain::{ServerEvent, SessionEvent};
use crate::tool::provider::{Provider, ProviderChange};
use crate::tool::{Tool, ToolError, ToolErrorKind};

/// Time limit for a provider to list its tools; the session waits for it at the start.
const LISTING: Duration = Duration::from_secs(10);

pub(super) type List = Result<Vec<Rc<dyn Tool>>, ToolError>;

/// A provider, its first list, and its later notifications.
pub(super) struct ProviderListing {
    pub provider: Rc<dyn Provider>,
    pub list: List,
    /// The events that the provider reported before its first list.
    pub told: Vec<ServerEvent>,
    changes: LocalBoxStream<'static, ProviderChange>,
}

/// Requests the first lists of all providers at once; `waits`: when they are ready.
pub(super) async fn list_all(
    providers: Vec<Rc<dyn Provider>>,
    waits: bool,
) -> Vec<ProviderListing> {
    let all = providers.into_iter().map(|provider| async move {
        let mut changes = provider.changes();
        if waits {
            provider.ready().await;
        }
        let list = list(&*provider).await;
        let (mut told, mut rest) = (Vec::new(), Vec::new());
        while let Some(Some(change)) = changes.next().now_or_never() {
            match change {
                ProviderChange::Told(event) => told.push(event),
                // The requested list is newer.
                ProviderChange::Listed => {}
                other => rest.push(other),
            }
        }
        let changes = stream::iter(rest).chain(changes).boxed_local();
        ProviderListing { provider, list, told, changes }
    });
    join_all(all).await
}

async fn list(provider: &dyn Provider) -> List {
    timeout(LISTING, provider.tools()).await.unwrap_or_else(|_| {
        let text = format!("no list arrived within {} s", LISTING.as_secs());
        Err(ToolError::new(ToolErrorKind::Timeout, text))
    })
}

/// Why a provider has listed its tools again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Listing {
    Asked,
    Changed,
    Back,
}

/// Adds a provider while the session runs.
async fn join(handle: &Handle, provider: Rc<dyn Provider>) {
    let changes = provider.changes();
    let list = list(&*provider).await;
    handle.write(|session| session.provider_listed(provider.name(), Listing::Changed, list));
    watch(handle, ProviderListing { provider, list: Ok(Vec::new()), told: Vec::new(), changes });
}

/// Listens to a provider in parallel. Its lists are processed one after the other, so that an old
/// one never replaces a newer one.
pub(super) fn watch(handle: &Handle, ProviderListing { provider, changes, .. }: ProviderListing) {
    let asked = Rc::new(Notify::new());
    handle.write(|session| session.attend(Rc::clone(&provider), Rc::clone(&asked)));
    let watched = handle.clone();
    handle.spawn(async move {
        let mut changes = changes.chain(stream::pending());
        loop {
            let change = tokio::select! {
                biased;
                change = changes.next() => change,
                () = asked.notified() => None,
            };
            match change {
                Some(ProviderChange::Died { why }) => {
                    watched.write(|session| session.provider_died(provider.name(), &why));
                    continue;
                }
                Some(ProviderChange::Told(event)) => {
                    watched.emit(event);
                    continue;
                }
                Some(ProviderChange::Left) => {
                    return watched.write(|session| session.provider_left(provider.name()));
                }
                Some(ProviderChange::Joined) => {
                    for joined in provider.joined() {
                        join(&watched, joined).await;
                    }
                    continue;
                }
                Some(ProviderChange::Noticed { text }) => {
                    watched.emit(SessionEvent::Noticed { text });
                    continue;
                }
                Some(ProviderChange::Listed | ProviderChange::Back) | None => {}
            }
            let why = match change {
                None => Listing::Asked,
                Some(ProviderChange::Back) => Listing::Back,
                Some(_) => Listing::Changed,
            };
            let list = list(&*provider).await;
            watched.write(|session| session.provider_listed(provider.name(), why, list));
        }
    });
}
