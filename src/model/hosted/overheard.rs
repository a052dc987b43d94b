//! The endpoint of a request that another program makes.

use std::sync::Arc;

use tokio::sync::mpsc::UnboundedReceiver;

use super::formats;
use crate::ModelProgress;
use crate::domain::{ModelError, Reply, Request};
use crate::http::{EndpointLabel, Passing, overhear};
use crate::wire::{AnyAnswer, FunctionNames, GrowingAnswer, WireFormat};

/// An endpoint that another program calls.
#[derive(Clone, Debug)]
pub struct Overheard {
    pub format: WireFormat,
    /// Host and port, for errors.
    pub host: String,
    /// The endpoint's own name of the model.
    pub model: String,
    /// The endpoint's name in replies.
    pub source: String,
}

impl Overheard {
    /// Reads the answer to this request from the bytes that pass by, and reports its pieces. `None` if the reader of
    /// the answer hung up before it was complete.
    pub async fn reply(
        &self,
        request: &Request,
        pieces: &mut UnboundedReceiver<Passing>,
        progress: &mut dyn FnMut(ModelProgress),
    ) -> Option<Result<Reply, ModelError>> {
        let names = Arc::new(FunctionNames::of(request));
        let wire = formats::headers(self.format);
        let place = EndpointLabel::of_other(&self.host, &self.model, &wire);
        let begin = |headers: &_| AnyAnswer::begin(self.format, &names, formats::cost(headers));
        let heard = overhear(&place, begin, pieces, progress).await?;
        Some(heard.map(|answer| answer.reply(request, &self.source).0))
    }

    /// The error if there is no answer, or no more of one.
    pub fn failed(&self, error: reqwest::Error) -> ModelError {
        let wire = formats::headers(self.format);
        EndpointLabel::of_other(&self.host, &self.model, &wire).no_more(error)
    }
}
