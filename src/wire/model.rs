//! The model of a request.

use crate::object::JsonObject;

/// The body of a request for another model; `None` where the body does not name its model. Its other values keep their
/// bytes; blanks between its fields go.
pub fn with_model(body: &[u8], model: &str) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(body).ok()?;
    let mut object = JsonObject::of(text)?;
    object.came.get("model")?.string()?;
    object.set("model", serde_json::Value::from(model));
    Some(object.text().unwrap_or_else(|| text.to_owned()).into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_for_another_model_is_the_same_otherwise() {
        let other = |body: &str| {
            let body = with_model(body.as_bytes(), "b \"c\"")?;
            Some(String::from_utf8(body).unwrap())
        };
        let body = r#"{"stream":true, "model" : "a","n":1.00,"messages":[{"model":"a"}]}"#;
        let right = r#"{"stream":true,"model":"b \"c\"","n":1.00,"messages":[{"model":"a"}]}"#;
        assert_eq!(other(body).as_deref(), Some(right));
        assert_eq!(other(r#"{"model":"b \"c\""}"#).as_deref(), Some(r#"{"model":"b \"c\""}"#));
        assert_eq!(
            [other(r#"{"contents":[]}"#), other(r#"{"model":1}"#), other("[")],
            [None, None, None]
        );
    }
}
