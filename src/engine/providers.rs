//! The providers of a session's tools: their lists, and what they say while it runs.

use std::{rc::Rc, time::Duration};

use futures::stream::{self, LocalBoxStream};
use futures::{StreamExt, future::join_all};
use tokio::{sync::Notify, time::timeout};

use super::handle::Handle;
use crate::tool::provider::{Change, Provider};
use crate::tool::{Tool, ToolError, ToolErrorKind};

/// Time limit for a provider to list its tools; the session waits for it at the start.
const LISTING: Duration = Duration::from_secs(10);

pub(super) type List = Result<Vec<Rc<dyn Tool>>, ToolError>;

/// A provider, its first list, and its later notifications.
pub(super) struct ProviderListing {
    pub provider: Rc<dyn Provider>,
    pub list: List,
    changes: LocalBoxStream<'static, Change>,
}

/// Asks all providers at once for their first lists; `waits`: when they are ready.
pub(super) async fn list_all(
    providers: Vec<Rc<dyn Provider>>,
    waits: bool,
) -> Vec<ProviderListing> {
    let all = providers.into_iter().map(|provider| async move {
        let changes = provider.changes();
        if waits {
            provider.ready().await;
        }
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
pub(super) fn watch(handle: &Handle, ProviderListing { provider, changes, .. }: ProviderListing) {
    let asked = Rc::new(Notify::new());
    handle.write(|session| session.relist_by(Rc::clone(&asked)));
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
