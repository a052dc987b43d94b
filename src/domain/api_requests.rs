//! Requests of watched agents that pass unread, by the service that they ask for or the API that they belong to.

use std::collections::BTreeMap;

use crate::words::counted;

/// APIs of models that nothing here reads, each with the ends of its paths.
const APIS: [(&str, &str); 3] = [
    ("Ollama", "/api/chat /api/generate /api/pull /api/push /api/create /api/copy /api/delete"),
    (
        "Gemini",
        ":generateContent :streamGenerateContent :predict :predictLongRunning /v1beta/interactions",
    ),
    ("Cohere", "/v2/chat"),
];

/// Requests about tokens, which cost nothing.
const COUNTS: &str = "counts of tokens";

/// Requests about models, which cost nothing either.
const MODELS: &str = "facts about models";

/// Services of models beside chats, each with the ends of its paths.
const SERVICES: [(&str, &str); 9] = [
    (
        "embeddings",
        "/embeddings :embedContent :batchEmbedContents /api/embed /api/embeddings /v1/embed /v2/embed",
    ),
    ("old completions", "/v1/completions"),
    ("reranking", "/rerank"),
    ("moderation", "/moderations"),
    ("images", "/images/generations /images/edits /images/variations"),
    ("audio", "/audio/speech /audio/transcriptions /audio/translations"),
    (COUNTS, ":countTokens /count_tokens /input_tokens"),
    ("realtime sessions", "/realtime"),
    (MODELS, "/api/tags /api/show /api/ps /api/version"),
];

/// The most paths that are counted apart, since paths may have ids in them.
const MOST: usize = 20;

/// The API of a request to this path, if it is known.
pub fn api(path: &str) -> Option<&'static str> {
    named(&APIS, path)
}

/// The service that a request to this path asks for, if it is known and no chat.
pub fn service(path: &str) -> Option<&'static str> {
    named(&SERVICES, path)
}

/// The first request of its kind, in words.
pub fn told_first(what: &str) -> String {
    match (service(what), api(what)) {
        (Some(service), _) => format!("requests for {service} pass unread, such as {what}"),
        (None, Some(api)) => format!("requests of {api}'s API pass unread, such as {what}"),
        (None, None) => format!("passed on: {what}"),
    }
}

/// Whether a service is free.
pub fn is_free(service: &str) -> bool {
    [COUNTS, MODELS].contains(&service)
}

fn named(all: &[(&'static str, &str)], path: &str) -> Option<&'static str> {
    let is_its = |ends: &str| ends.split(' ').any(|end| path.ends_with(end));
    all.iter().find(|(_, ends)| is_its(ends)).map(|(name, _)| *name)
}

/// Counts a request, given by its method and path.
pub fn count(counts: &mut BTreeMap<String, u32>, what: &str) {
    let is_known = counts.contains_key(what) || counts.len() < MOST;
    let key =
        service(what).or_else(|| api(what)).unwrap_or(if is_known { what } else { "other paths" });
    *counts.entry(key.to_owned()).or_default() += 1;
}

/// Counted requests, in words.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ToldRequests {
    /// `3 requests of Cohere's API passed unread`.
    pub of_apis: Vec<String>,
    /// `3 requests for embeddings`.
    pub of_services: Vec<String>,
    /// `3 requests passed unread: POST /v1/files`.
    pub others: Vec<String>,
}

/// The counted requests in words.
pub fn told(counts: &BTreeMap<String, u32>) -> ToldRequests {
    let mut told = ToldRequests::default();
    for (key, n) in counts {
        let requests = counted(*n as usize, "request");
        if APIS.iter().any(|(name, _)| name == key) {
            told.of_apis.push(format!("{requests} of {key}'s API passed unread"));
        } else if SERVICES.iter().any(|(name, _)| name == key) {
            told.of_services.push(format!("{requests} for {key}"));
        } else {
            told.others.push(format!("{requests} passed unread: {key}"));
        }
    }
    told
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
        let told = told(&counts);
        let of_apis =
            ["1 request of Gemini's API passed unread", "1 request of Ollama's API passed unread"];
        assert_eq!(told.of_apis, of_apis);
        let of_services = ["2 requests for embeddings", "1 request for facts about models"];
        assert_eq!(told.of_services, of_services);
        assert_eq!(told.others, ["1 request passed unread: GET /api/v1/models"]);
        // A chat is no completion of the old kind.
        let services = ["POST /v1/completions", "POST /v1/chat/completions", "POST /v1/rerank"];
        assert_eq!(services.map(service), [Some("old completions"), None, Some("reranking")]);
        (0..100).for_each(|n| count(&mut counts, &format!("GET /v1/files/{n}")));
        assert_eq!((counts.len(), counts["other paths"]), (MOST + 1, 85));
    }
}
