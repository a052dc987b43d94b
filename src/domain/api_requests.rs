//! Requests of watched agents that pass unread, by the API that they belong to.

use std::collections::BTreeMap;

use crate::words::counted;

/// The name of Google's API.
pub const GEMINI: &str = "Gemini";

/// APIs of models that nothing here reads, each with the ends of its paths.
const APIS: [(&str, &str); 3] = [
    (
        "Ollama",
        "/api/chat /api/generate /api/embed /api/embeddings /api/tags /api/show /api/ps /api/pull /api/version",
    ),
    (
        GEMINI,
        ":generateContent :streamGenerateContent :countTokens :embedContent :batchEmbedContents /v1beta/interactions",
    ),
    ("Cohere", "/v2/chat"),
];

/// The most paths that are counted apart, since paths may have ids in them.
const MOST: usize = 20;

/// The API of a request to this path, if it is known.
pub fn api(path: &str) -> Option<&'static str> {
    let is_its = |ends: &str| ends.split(' ').any(|end| path.ends_with(end));
    APIS.iter().find(|(_, ends)| is_its(ends)).map(|(name, _)| *name)
}

/// Counts a request, given by its method and path.
pub fn count(counts: &mut BTreeMap<String, u32>, what: &str) {
    let is_known = counts.contains_key(what) || counts.len() < MOST;
    let key = api(what).unwrap_or(if is_known { what } else { "other paths" });
    *counts.entry(key.to_owned()).or_default() += 1;
}

/// The counted requests in words, those of known APIs apart from the others: `3 requests of Ollama's API passed unread`.
pub fn told(counts: &BTreeMap<String, u32>) -> (Vec<String>, Vec<String>) {
    let is_api = |key: &str| APIS.iter().any(|(name, _)| *name == key);
    let (of_apis, others): (Vec<_>, Vec<_>) = counts.iter().partition(|(key, _)| is_api(key));
    let requests = |n: &u32| counted(*n as usize, "request");
    let of_api =
        |(key, n): (&String, &u32)| format!("{} of {key}'s API passed unread", requests(n));
    let other = |(key, n): (&String, &u32)| format!("{} passed unread: {key}", requests(n));
    (of_apis.into_iter().map(of_api).collect(), others.into_iter().map(other).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_api_or_path() {
        let mut counts = BTreeMap::new();
        for what in [
            "POST /api/chat",
            "GET /ollama/api/tags",
            "POST /v1beta/models/m:streamGenerateContent",
            "POST /v1/embeddings",
            "GET /api/v1/models",
            "POST /v1/embeddings",
        ] {
            count(&mut counts, what);
        }
        let (of_apis, others) = told(&counts);
        assert_eq!(
            of_apis,
            ["1 request of Gemini's API passed unread", "2 requests of Ollama's API passed unread"]
        );
        assert_eq!(
            others,
            [
                "1 request passed unread: GET /api/v1/models",
                "2 requests passed unread: POST /v1/embeddings"
            ]
        );
        (0..100).for_each(|n| count(&mut counts, &format!("GET /v1/files/{n}")));
        assert_eq!((counts.len(), counts["other paths"]), (MOST + 1, 84));
    }
}
