//! The addresses of requests, which have the model and the form of the answer.

use crate::AnswerForm;
use crate::codec::{AddressFacts, RequestAddress, ServicePath};

const WHOLE: &str = "generateContent";
const STREAM: &str = "streamGenerateContent";

/// The path of requests to this model. A name with a slash has its own collection: `tunedModels/mine`.
pub(super) fn path(model: &str, streams: bool) -> ServicePath {
    let method = if streams { STREAM } else { WHOLE };
    let model = if model.contains('/') { model.to_owned() } else { format!("models/{model}") };
    let query = streams.then_some("alt=sse");
    ServicePath { query, ..ServicePath::of(&format!("{model}:{method}")) }
}

/// The facts of an address; `None` if it is that of another method.
pub(super) fn addressed(address: &RequestAddress<'_>) -> Option<AddressFacts> {
    let (path, method) = address.path.rsplit_once(':')?;
    let form = match method {
        WHOLE => AnswerForm::Whole,
        STREAM => {
            let mut pairs = address.query.unwrap_or_default().split('&');
            if pairs.any(|pair| pair == "alt=sse") { AnswerForm::Events } else { AnswerForm::List }
        }
        _ => return None,
    };
    let model = path.rsplit('/').next().filter(|name| !name.is_empty())?;
    let model = Some(model.to_owned());
    Some(AddressFacts { model, form: Some(form), ..AddressFacts::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_the_model_and_the_form() {
        let facts = |path: &str, query| {
            let found = addressed(&RequestAddress { path, query, is_anthropic: false })?;
            Some((found.model?, found.form?))
        };
        for (path, query, model, form) in [
            ("/v1beta/models/g-2.5:generateContent", None, "g-2.5", AnswerForm::Whole),
            ("/v1/models/g:streamGenerateContent", Some("key=k&alt=sse"), "g", AnswerForm::Events),
            ("/v1/models/g:streamGenerateContent", Some("alt=json"), "g", AnswerForm::List),
            (
                "/v1/projects/p/locations/l/publishers/google/models/g:streamGenerateContent",
                None,
                "g",
                AnswerForm::List,
            ),
            ("/v1beta/tunedModels/mine:generateContent", None, "mine", AnswerForm::Whole),
        ] {
            assert_eq!(facts(path, query), Some((model.to_owned(), form)), "{path}");
        }
        for other in ["/v1beta/models/g:countTokens", "/v1beta/models", "/:generateContent", ""] {
            assert_eq!(facts(other, None), None, "{other}");
        }
    }

    #[test]
    fn a_path_leads_where_the_answer_has_its_form() {
        let written = |model, streams| {
            let ServicePath { segments, query } = path(model, streams);
            (segments.join("/"), query)
        };
        assert_eq!(written("g", false), ("models/g:generateContent".to_owned(), None));
        let stream = ("tunedModels/m:streamGenerateContent".to_owned(), Some("alt=sse"));
        assert_eq!(written("tunedModels/m", true), stream);
    }
}
