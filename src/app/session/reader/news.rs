//! News of a reader, besides the results of effects.

use std::cell::RefCell;

use futures::StreamExt;
use futures::stream::{self, LocalBoxStream};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::domain::ReaderEvent;

/// The receiver of a reader's news, until a listener takes it.
pub(super) struct ReaderNews(RefCell<Option<UnboundedReceiver<ReaderEvent>>>);

impl From<UnboundedReceiver<ReaderEvent>> for ReaderNews {
    fn from(news: UnboundedReceiver<ReaderEvent>) -> Self {
        Self(RefCell::new(Some(news)))
    }
}

impl ReaderNews {
    /// The stream of news from now on; empty for a second listener.
    pub fn stream(&self) -> LocalBoxStream<'static, ReaderEvent> {
        let Some(news) = self.0.take() else { return stream::empty().boxed_local() };
        stream::unfold(news, |mut news| async move { Some((news.recv().await?, news)) })
            .boxed_local()
    }
}
