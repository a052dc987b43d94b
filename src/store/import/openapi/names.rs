//! Names of tools and arguments: Python identifiers that say where they come from. What they stand for is kept beside
//! them, so that the server gets its own names.

use std::collections::HashSet;

use crate::domain::words::clipped;

/// Endpoints refuse longer names of functions.
const LONGEST: usize = 64;
/// Python's words, which are no names.
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];

/// Names that are taken. Two that differ in case alone are the same, since file names may be.
#[derive(Default)]
pub(super) struct Names(HashSet<String>);

impl Names {
    /// The name of an operation: `GET /movie/{movie_id}` is `GET_movie_movie_id`.
    pub fn tool(&mut self, method: &str, path: &str) -> String {
        self.take(&format!("{method} {path}"))
    }

    /// A free name for this text: the text itself if it is an identifier. A number ends a name that is taken.
    pub fn take(&mut self, text: &str) -> String {
        let base = identifier(text);
        let mut name = clipped_name(&base, LONGEST);
        let mut number = 2;
        while !self.0.insert(name.to_lowercase()) {
            let end = format!("_{number}");
            name = clipped_name(&base, LONGEST - end.len()) + &end;
            number += 1;
        }
        name
    }
}

fn clipped_name(name: &str, most: usize) -> String {
    name.chars().take(most).collect()
}

/// The text as an identifier: other characters become `_`, one for each run of them and none at the ends.
fn identifier(text: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !text.is_empty() && text.chars().all(allowed) {
        return fit(text.to_owned());
    }
    let parts: Vec<&str> = text.split(|c| !allowed(c)).filter(|part| !part.is_empty()).collect();
    fit(parts.join("_"))
}

fn fit(name: String) -> String {
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return format!("t_{name}");
    }
    if KEYWORDS.contains(&name.as_str()) {
        return name + "_";
    }
    name
}

/// The environment variable of a key: the API's title and the scheme's name, such as `TMDB_API_KEY`.
pub(super) fn variable(title: &str, scheme: &str) -> String {
    let upper = |text: &str| identifier(&clipped(text, 40)).to_ascii_uppercase();
    let (title, scheme) = (upper(title), upper(scheme));
    match scheme.strip_prefix(&title) {
        Some(_) => scheme,
        None => format!("{title}_{scheme}"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn operations_and_arguments_become_identifiers() {
        let mut names = Names::default();
        assert_eq!(names.tool("GET", "/movie/{movie_id}"), "GET_movie_movie_id");
        assert_eq!(names.tool("GET", "/movie/{movie-id}/"), "GET_movie_movie_id_2");
        assert_eq!(names.tool("get", "/Movie/{movie_id}"), "get_Movie_movie_id_3");
        assert_eq!(names.tool("GET", "/"), "GET");
        assert_eq!(names.tool("GET", "/a/{b}.json"), "GET_a_b_json");
        for (text, name) in [
            ("vote_average.gte", "vote_average_gte"),
            ("page", "page"),
            ("3d", "t_3d"),
            ("from", "from_"),
            ("ids[]", "ids"),
            ("_id", "_id"),
            ("名", "t_"),
            ("a__b", "a__b"),
        ] {
            assert_eq!(Names::default().take(text), name);
        }
    }

    #[test]
    fn variables_name_title_and_scheme() {
        assert_eq!(variable("TMDB (v3)", "apiKey"), "TMDB_V3_APIKEY");
        assert_eq!(variable("API", "api_key"), "API_KEY");
        assert_eq!(variable("1st", "x"), "T_1ST_X");
    }

    proptest! {
        #[test]
        fn every_name_is_a_free_identifier(texts in prop::collection::vec("\\PC{0,80}|[a-b./]{0,6}", 1..40)) {
            let mut names = Names::default();
            let all: Vec<String> = texts.iter().map(|text| names.take(text)).collect();
            let unique: HashSet<_> = all.iter().map(|name| name.to_lowercase()).collect();
            prop_assert_eq!(unique.len(), all.len());
            for name in all {
                prop_assert!(!name.is_empty() && name.len() <= LONGEST, "{}", name);
                prop_assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'), "{}", name);
                prop_assert!(!name.starts_with(|c: char| c.is_ascii_digit()), "{}", name);
            }
        }
    }
}
