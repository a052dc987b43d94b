//! The runtime of commands that wait for models, tools and files.

use tokio::runtime::{Builder, Runtime};

use super::trouble::Trouble;

/// A runtime for a command that waits for something.
///
/// # Errors
/// The system's error.
pub fn runtime() -> Result<Runtime, Trouble> {
    Builder::new_current_thread().enable_all().build().map_err(Trouble::failed)
}

/// Waits for SIGINT, SIGTERM or SIGHUP; returns the number of the signal.
pub async fn interrupted() -> i32 {
    use tokio::signal::unix::{SignalKind, signal};
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let listening = kinds.into_iter().filter_map(|kind| Some((kind, signal(kind).ok()?)));
    let mut signals: Vec<_> = listening.collect();
    let waits = signals.iter_mut().map(|(kind, signal)| {
        Box::pin(async {
            signal.recv().await;
            kind.as_raw_value()
        })
    });
    futures::future::select_all(waits).await.0
}
