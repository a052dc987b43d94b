//! The addresses of requests: Anthropic's own, and those of Bedrock and Vertex AI, which have the model and the form of the
//! answer.

use crate::codec::{AddressFacts, RequestAddress};
use crate::{AnswerForm, bedrock};

/// The facts of an address; `None` if it is that of something else.
pub(super) fn addressed(address: &RequestAddress<'_>) -> Option<AddressFacts> {
    if let Some(facts) = AddressFacts::of_end(address, "/messages") {
        return Some(facts).filter(|_| address.is_anthropic);
    }
    if let Some(facts) = bedrock::addressed(address) {
        return Some(facts);
    }
    let (path, method) = address.path.rsplit_once(':')?;
    let form = match method {
        "rawPredict" => AnswerForm::Whole,
        "streamRawPredict" => AnswerForm::Events,
        _ => return None,
    };
    // Models of other vendors have these methods, too.
    let model = path.split_once("/publishers/anthropic/models/")?.1;
    let model = Some(model.to_owned());
    Some(AddressFacts { model, form: Some(form), ..AddressFacts::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_vertex_has_the_model_and_the_form() {
        let facts = |path: &str, is_anthropic| {
            addressed(&RequestAddress { path, query: None, is_anthropic })
        };
        assert_eq!(facts("/v1/messages", true), Some(AddressFacts::default()));
        assert_eq!(facts("/v1/threads/t/messages", false), None);
        let vertex = "/v1/projects/p/locations/l/publishers/anthropic/models/claude@1";
        for (method, form) in
            [(":rawPredict", AnswerForm::Whole), (":streamRawPredict", AnswerForm::Events)]
        {
            let found = facts(&format!("{vertex}{method}"), false).unwrap();
            assert_eq!((found.model.as_deref(), found.form), (Some("claude@1"), Some(form)));
        }
        assert_eq!(facts(&format!("{vertex}:predict"), false), None);
        assert_eq!(facts("/v1/publishers/mistralai/models/m:rawPredict", false), None);
    }
}
