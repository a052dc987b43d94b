//! The request of an HTTP tool: its address, and which argument goes where. It is pure, so that a call and the screen
//! write the same address. It holds no secret: environment variables are named, and their values come from outside.

mod style;
mod template;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::style::{Style, rest};
pub use self::template::{Escape, Template, Unfilled, Variables, given};

/// Characters that are written as %XX: all but those that RFC 3986 calls unreserved.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The method and the address of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpRequest {
    /// In upper case, such as `GET`.
    pub method: String,
    /// An absolute address without a query. Its places are parts of the path.
    pub url: Template,
    /// Names as the server knows them, and their values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub query: Vec<(String, Template)>,
    /// The operation of the API that it was made from, such as `GET /movie/{id}`; empty if it was not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub operation: String,
    /// The API's own name of that operation; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub operation_id: String,
}

impl HttpRequest {
    /// The whole address for these arguments, with values percent-encoded.
    ///
    /// # Errors
    /// A value of the path is missing, or would lead to another path; a variable has no value.
    pub fn address(&self, arguments: &Value, variables: Variables<'_>) -> Result<String, Unfilled> {
        self.written(arguments, &|name| Ok(encoded(&variables(name)?)))
    }

    /// The request in one line for people, such as `GET https://example.org/movie/550`. Variables stay names.
    pub fn line(&self, arguments: &Value) -> String {
        let address = self.written(arguments, &|name| Ok(format!("${{{name}}}")));
        format!("{} {}", self.method, address.unwrap_or_else(|_| self.url.to_string()))
    }

    fn written(&self, arguments: &Value, variables: Variables<'_>) -> Result<String, Unfilled> {
        let mut address = self.url.fill(arguments, variables, encoded)?;
        for slot in self.url.slots() {
            let value = given(arguments, &slot.name);
            if value.is_some_and(|value| slot.written(value, encoded).is_empty()) {
                let name = &slot.name;
                let text = format!("arguments.{name}: expected a part of the path, got nothing");
                return Err(Unfilled::Value(text));
            }
        }
        // Clients remove such parts, also percent-encoded ones, and request another path.
        if address.split('/').any(|part| part == "." || part == "..") {
            let text = "arguments: `.` and `..` cannot be parts of a path";
            return Err(Unfilled::Value(text.to_owned()));
        }
        let pairs = pairs(&self.query, arguments, variables, encoded)?;
        for (at, (name, value)) in pairs.iter().enumerate() {
            address.push(if at == 0 { '?' } else { '&' });
            address.push_str(&format!("{}={value}", encoded(name)));
        }
        Ok(address)
    }
}

/// Names and values for these arguments; pairs whose arguments are not given are left out. For `{name*}`, a list makes
/// one pair for each part, and an object one for each field. For `{name}`, an object makes pairs `name[field]`, which
/// OpenAPI calls `deepObject`. `{name:style}` names another [`Style`].
///
/// # Errors
/// A variable has no value, or a value does not fit its place.
pub fn pairs(
    templates: &[(String, Template)],
    arguments: &Value,
    variables: Variables<'_>,
    escaped: Escape,
) -> Result<Vec<(String, String)>, Unfilled> {
    let mut pairs = Vec::new();
    for (name, template) in templates {
        match template.slot() {
            Some(slot) => {
                if let Some(value) = slot.given(arguments)? {
                    pairs.extend(slot.pairs(name, value, escaped));
                }
            }
            None => match template.fill(arguments, variables, escaped) {
                Ok(value) => pairs.push((name.clone(), value)),
                Err(Unfilled::Argument(_)) => {}
                Err(why) => return Err(why),
            },
        }
    }
    Ok(pairs)
}

/// A value as a part of an address.
pub fn encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn request(url: &str, query: &[(&str, &str)]) -> HttpRequest {
        let template = |text: &str| Template::parse(text).unwrap();
        HttpRequest {
            method: "GET".into(),
            url: template(url),
            query: query.iter().map(|(name, text)| ((*name).to_owned(), template(text))).collect(),
            operation: String::new(),
            operation_id: String::new(),
        }
    }

    fn address(request: &HttpRequest, arguments: &Value) -> Result<String, String> {
        request
            .address(arguments, &|name| Ok(format!("secret of {name}")))
            .map_err(|why| why.to_string())
    }

    #[test]
    fn arguments_go_into_path_and_query() {
        let request = request(
            "https://h/3/{kind}/{id}",
            &[
                ("vote.gte", "{least}"),
                ("ids", "{ids*}"),
                ("joined", "{ids}"),
                ("filter", "{filter}"),
                ("own", "{filter*}"),
                ("api_key", "${KEY}"),
                ("left", "{out}"),
            ],
        );
        let arguments = json!({
            "kind": "a/b ü", "id": 550, "least": 7.5, "ids": [1, "x&y"], "filter": {"a b": true}, "out": null,
        });
        assert_eq!(
            address(&request, &arguments).as_deref(),
            Ok("https://h/3/a%2Fb%20%C3%BC/550?vote.gte=7.5&ids=1&ids=x%26y&joined=1,x%26y\
                &filter%5Ba%20b%5D=true&a%20b=true&api_key=secret%20of%20KEY")
        );
        let line = request.line(&arguments);
        assert!(line.starts_with("GET https://h/3/a%2Fb%20%C3%BC/550?"), "{line}");
        assert!(line.ends_with("&api_key=${KEY}"), "{line}");
    }

    #[test]
    fn no_argument_leads_to_another_path() {
        let request = request("https://h/a/{id}/b", &[]);
        for (value, text) in [
            (json!(".."), "arguments: `.` and `..` cannot be parts of a path"),
            (json!("."), "arguments: `.` and `..` cannot be parts of a path"),
            (json!(""), "arguments.id: expected a part of the path, got nothing"),
            (json!(null), "arguments.id: missing"),
        ] {
            assert_eq!(address(&request, &json!({"id": value})), Err(text.to_owned()));
        }
        assert_eq!(request.line(&json!({})), "GET https://h/a/{id}/b");
    }

    proptest! {
        /// A value stays one part of the path, and the same value.
        #[test]
        fn a_value_is_one_part(value in "\\PC{1,12}") {
            prop_assume!(value != "." && value != "..");
            let address = address(&request("https://h/a/{id}/b", &[]), &json!({"id": value})).unwrap();
            let parts: Vec<&str> = address.split('/').collect();
            prop_assert_eq!(parts.len(), 6);
            let back = percent_encoding::percent_decode_str(parts[4]).decode_utf8().unwrap();
            prop_assert_eq!(&*back, value.as_str());
            prop_assert!(!address.contains(['?', '#', '\\']));
        }
    }
}
