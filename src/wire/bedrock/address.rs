//! The addresses of Bedrock: `/model/ID/METHOD`.

use super::Envelope;
use crate::AnswerForm;
use crate::codec::{AddressFacts, RequestAddress};

/// The facts of an address; `None` if it is that of something else.
pub(crate) fn addressed(address: &RequestAddress<'_>) -> Option<AddressFacts> {
    let (model, method) = address.path.split_once("/model/")?.1.rsplit_once('/')?;
    let (envelope, form) = match method {
        "invoke" => (Envelope::Invoke, AnswerForm::Whole),
        "invoke-with-response-stream" => (Envelope::Invoke, AnswerForm::Events),
        "converse" => (Envelope::Converse, AnswerForm::Whole),
        "converse-stream" => (Envelope::Converse, AnswerForm::Events),
        _ => return None,
    };
    // An id has colons, and the name of a profile also slashes, which clients escape.
    let model = ["%3A", "%3a"].iter().fold(model.to_owned(), |id, code| id.replace(code, ":"));
    let model = ["%2F", "%2f"].iter().fold(model, |id, code| id.replace(code, "/"));
    Some(AddressFacts { model: Some(model), form: Some(form), envelope: Some(envelope) })
}
