//! Embeddings of texts (`/embeddings`), for comparing meanings.

use futures::future::LocalBoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Hosted;
use crate::domain::{Embedding, ModelError, ModelErrorKind, Usage, tokens};
use crate::http::{Again, EndpointLabel, Failure};
use crate::wire::ServicePath;
use crate::wire::usage::{self, Report};
use crate::{Embedder, Embeddings};

/// An entry of an answer's list.
#[derive(Deserialize)]
#[serde(expecting = "struct Entry")]
struct EmbeddingEntry {
    #[serde(default)]
    index: Option<usize>,
    embedding: Vec<f32>,
}

impl Embedder for Hosted {
    fn model(&self) -> &str {
        &self.connection.endpoint().model
    }

    /// Embeds some hundred texts at most in one request, because endpoints have their own limits.
    fn embed<'a>(
        &'a self,
        texts: &'a [String],
    ) -> LocalBoxFuture<'a, Result<Embeddings, ModelError>> {
        Box::pin(self.read(texts))
    }
}

impl Hosted {
    async fn read(&self, texts: &[String]) -> Result<Embeddings, ModelError> {
        let mut body = json!({ "model": self.model(), "input": texts });
        for (name, value) in &self.connection.endpoint().extra {
            body[name] = value.clone();
        }
        let read = |answer: Value, place: &EndpointLabel<'_>| {
            embedded(answer, self.model(), texts).map_err(|why| {
                let text = format!("the answer of {} contains no embeddings: {why}.", place.host);
                Failure::new(ModelErrorKind::BadAnswer, text, Again::Never)
            })
        };
        let (read, report) =
            self.connection.fetch(&ServicePath::of("embeddings"), &body, read).await?;
        Ok(Embeddings { notice: self.notice(&report), ..read })
    }
}

fn embedded(
    mut answer: Value,
    model: &str,
    texts: &[String],
) -> Result<(Embeddings, Report), String> {
    let list: Vec<EmbeddingEntry> = serde_json::from_value(answer["data"].take())
        .map_err(|why| format!("expected a list `data` of vectors ({why})"))?;
    let vectors = in_order(list, texts.len())?;
    let zero = || format!("{model} returned only zeros for a text");
    let embeddings = vectors.iter().map(|vector| Embedding::new(model, vector).ok_or_else(zero));
    let embeddings = embeddings.collect::<Result<_, _>>()?;
    let tokens_in = || texts.iter().map(|text| tokens::count(text)).sum();
    let report = usage::read(&answer["usage"]).unwrap_or_default();
    let usage = report.usage(|| Usage::estimate(tokens_in(), 0));
    Ok((Embeddings { embeddings, usage, notice: None }, report))
}

/// The vectors by their index, or in the order in which they arrived.
fn in_order(list: Vec<EmbeddingEntry>, expected: usize) -> Result<Vec<Vec<f32>>, String> {
    if list.len() != expected {
        return Err(format!("expected {expected} vectors, found {}", list.len()));
    }
    let mut vectors = vec![Vec::new(); expected];
    let length = list.first().map_or(0, |entry| entry.embedding.len());
    for (at, EmbeddingEntry { index, embedding }) in list.into_iter().enumerate() {
        if embedding.is_empty() || embedding.len() != length {
            return Err(format!("a vector has {} numbers, another {length}", embedding.len()));
        }
        if embedding.iter().any(|number| !number.is_finite()) {
            return Err("a vector has a number that is not finite".to_owned());
        }
        let place = vectors.get_mut(index.unwrap_or(at));
        *place.ok_or_else(|| "an index is beyond the list".to_owned())? = embedding;
    }
    if vectors.iter().any(Vec::is_empty) {
        return Err("two vectors have the same index".to_owned());
    }
    Ok(vectors)
}
