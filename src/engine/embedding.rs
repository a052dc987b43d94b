//! Embeddings of planned tasks, so that they are compared with past tasks by more than words (sim of BTP, eq. 3 and 4).
//! Embeddings are stored with the past uses, so that each text is paid for only once. `toolyard experience embed`
//! embeds tasks that were not planned. Without an embedding, words are compared.

use super::effect::{self, Effect, Outcome};
use super::handle::Handle;
use super::session::lanes::Waits;
use crate::domain::TaskId;

/// Ensures that the engine has the embedding of the task's text, if one is possible.
pub(super) async fn embed(handle: &Handle, task: TaskId) {
    let Some(call) = handle.write(|session| session.unknown_meaning(task)) else { return };
    let requested = handle.write(|session| {
        effect::request(session, task, Effect::Embedding(call), None, Waits::Agent)
    });
    if let (Outcome::Embedded(Ok(embedded)), _) = effect::perform(handle, requested).await {
        handle.write(|session| session.take_meaning(task, embedded.embedding));
    }
}
