//! The endpoint of a request that another program makes.

use std::error::Error;
use std::sync::Arc;

use super::formats;
use crate::ModelProgress;
use crate::domain::{ModelError, Reply, Request};
use crate::http::{EndpointLabel, Pieces, overhear};
use crate::wire::{FunctionNames, GrowingAnswer, WireFormat};

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
    /// the answer hung up before it was complete. With the endpoint's id of the answer, if it has one.
    pub async fn reply(
        &self,
        request: &Request,
        pieces: &mut Pieces,
        progress: &mut dyn FnMut(ModelProgress),
    ) -> Option<Result<(Reply, Option<String>), ModelError>> {
        let names = Arc::new(FunctionNames::of(request));
        let place = self.label();
        let begin = |headers: &_| self.format.begin(&names, formats::cost(headers));
        let heard = overhear(&place, begin, pieces, progress).await?;
        let named = |answer: Box<dyn GrowingAnswer>| {
            let id = Some(answer.id()).filter(|id| !id.is_empty()).map(str::to_owned);
            (answer.reply(request, &self.source).0, id)
        };
        Some(heard.map(named))
    }

    /// The error if there is no answer, or no more of one.
    pub fn failed(&self, error: reqwest::Error) -> ModelError {
        self.label().no_more(error)
    }

    fn label(&self) -> EndpointLabel<'_> {
        EndpointLabel::of_other(&self.host, &self.model, &self.format.codec().http)
    }

    /// The error if another client than reqwest's got no answer.
    pub fn unanswered(&self, error: &dyn Error, is_timeout: bool, is_connect: bool) -> ModelError {
        self.label().none(error, is_timeout, is_connect)
    }
}
