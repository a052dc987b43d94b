//! Texts as vectors (`/embeddings`): what a likeness of meaning is computed from.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    OpenAi, endpoint,
    failure::{Failed, is_error},
    line::Line,
    retry::Again,
    usage,
};
use crate::domain::{
    chance::Chance,
    chat::Usage,
    embedding::Embedding,
    error::{ModelError, ModelErrorKind},
    tokens,
};

/// Longest answer that is read, in bytes: of a hundred texts, some thousand numbers each.
const LONGEST_BODY: usize = 32 * 1024 * 1024;

/// What an endpoint made of some texts.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedded {
    /// One for each text, in their order, all of one length; finite numbers.
    pub vectors: Vec<Vec<f32>>,
    /// What that consumed; counted here where the endpoint does not say it.
    pub usage: Usage,
}

/// One entry of an answer's list.
#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// What an endpoint made of some texts, ready to be kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// One for each text, in their order.
    pub embeddings: Vec<Embedding>,
    pub usage: Usage,
}

impl OpenAi {
    /// Reads these texts, as [`OpenAi::embed`] does, so that they can be compared with others.
    ///
    /// # Errors
    /// As [`OpenAi::embed`], and a vector that has no direction.
    pub async fn read(&self, texts: &[String]) -> Result<Read, ModelError> {
        let Embedded { vectors, usage } = self.embed(texts).await?;
        let zero = || {
            let text = format!("{} made nothing but zeros of a text.", self.model());
            ModelError::new(ModelErrorKind::BadAnswer, text)
        };
        let embeddings = vectors.iter().map(|vector| Embedding::new(self.model(), vector));
        let embeddings = embeddings.map(|read| read.ok_or_else(zero)).collect::<Result<_, _>>()?;
        Ok(Read { embeddings, usage })
    }

    /// The vectors of these texts, in one request; at most some hundred texts, as endpoints have
    /// bounds of their own. Dropping the future ends the request.
    ///
    /// # Errors
    /// As [`Model::ask`](crate::model::Model::ask), after the configured retries; also an answer that is
    /// no list of as many vectors.
    pub async fn embed(&self, texts: &[String]) -> Result<Embedded, ModelError> {
        let (headers, redactor) = self.headers().await?;
        let mut body = json!({ "model": self.endpoint.model, "input": texts });
        for (name, value) in &self.endpoint.extra {
            body[name] = value.clone();
        }
        let body = body.to_string();
        let chance = Chance::new(0).with(body.as_bytes());
        let line = self.line(&redactor);
        let url = endpoint::service(&self.base, &["embeddings"]);
        let mut failed = 0;
        loop {
            let send = self.client()?.post(url.clone()).headers(headers.clone());
            let why = match exchange(&line, send.body(body.clone()), texts).await {
                Ok(embedded) => return Ok(embedded),
                Err(why) => why,
            };
            failed += 1;
            let Some(wait) = why.again.wait(failed, self.endpoint.max_retries, chance) else {
                return Err(self.give_up(why.error, failed).await);
            };
            tokio::time::sleep(wait).await;
        }
    }
}

async fn exchange(
    line: &Line<'_>,
    send: reqwest::RequestBuilder,
    texts: &[String],
) -> Result<Embedded, Failed> {
    let response = line.send(send).await?;
    let body = line.body(response, LONGEST_BODY).await.map_err(|(_, failed)| failed)?;
    let bad = |why: String| {
        let text = format!("the answer of {} holds no embeddings: {why}.", line.place.host);
        Failed::new(ModelErrorKind::BadAnswer, text, Again::Never)
    };
    let mut answer: Value =
        serde_json::from_slice(&body).map_err(|why| bad(format!("it is no JSON ({why})")))?;
    if is_error(&answer) {
        return Err(line.place.inside(&answer));
    }
    let list: Vec<Entry> = serde_json::from_value(answer["data"].take())
        .map_err(|why| bad(format!("expected a list `data` of vectors ({why})")))?;
    let vectors = in_order(list, texts.len()).map_err(bad)?;
    let tokens_in = || texts.iter().map(|text| tokens::count(text)).sum();
    let usage = usage::read(&answer["usage"]).unwrap_or_else(|| Usage {
        tokens_in: tokens_in(),
        estimated: true,
        ..Usage::default()
    });
    Ok(Embedded { vectors, usage })
}

/// The vectors by their index, or in the order in which they came.
fn in_order(list: Vec<Entry>, expected: usize) -> Result<Vec<Vec<f32>>, String> {
    if list.len() != expected {
        return Err(format!("expected {expected} vectors, found {}", list.len()));
    }
    let mut vectors = vec![Vec::new(); expected];
    let length = list.first().map_or(0, |entry| entry.embedding.len());
    for (at, Entry { index, embedding }) in list.into_iter().enumerate() {
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
        return Err("two vectors have one index".to_owned());
    }
    Ok(vectors)
}
