//! Names of tools and arguments: Python identifiers that say where they come from. The original names are kept beside
//! them and sent to the server.

use std::collections::HashSet;

use crate::domain::words::clipped;

/// Endpoints refuse longer names of functions.
const LONGEST: usize = 64;
/// Python's keywords, which cannot be names.
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];

/// Names of the tool graph's own nodes, and of the call that ends a task; no tool may have them.
const SPECIAL: [&str; 3] = ["start", "end", "finish"];

/// Names that are taken. Two that differ in case alone are the same, since file names may be.
#[derive(Default)]
pub(super) struct TakenNames(HashSet<String>);

impl TakenNames {
    /// Reserves a name that is used outside of the document.
    pub fn reserve(&mut self, name: &str) {
        self.0.insert(name.to_lowercase());
    }

    /// The name of a tool: that of its operation's id, else of method and path: `GET /movie/{movie_id}` is
    /// `GET_movie_movie_id`.
    pub fn tool(&mut self, id: &str, operation: &str) -> String {
        let own = if identifier(id) == "t_" { operation } else { id };
        let is_special = SPECIAL.iter().any(|special| own.eq_ignore_ascii_case(special));
        self.take(&if is_special { format!("{own}_") } else { own.to_owned() })
    }

    /// A free name for this text: the text itself if it is an identifier. A taken name gets a number at its end.
    pub fn take(&mut self, text: &str) -> String {
        let base = identifier(text);
        let mut name = shortened(&base, LONGEST);
        let mut number = 2;
        while !self.0.insert(name.to_lowercase()) {
            let end = format!("_{number}");
            name = shortened(&base, LONGEST - end.len()) + &end;
            number += 1;
        }
        name
    }
}

/// The name without some words in its middle: the first ones give its subject, and the last ones distinguish it.
fn shortened(name: &str, most: usize) -> String {
    if name.len() <= most {
        return name.to_owned();
    }
    let words = words(name);
    let length = |words: &[&str]| words.iter().map(|word| word.len()).sum::<usize>();
    let (mut from, mut to) = (0, words.len());
    let fits = |(from, to): &(usize, usize)| {
        from <= to && length(&words[..*from]) + length(&words[*to..]) <= most
    };
    // Words are taken from both ends in turn, as long as one of them fits.
    for turn in 0..words.len() {
        let mut ends = [(from + 1, to), (from, to - 1)];
        ends.rotate_left(turn % 2);
        let Some(next) = ends.into_iter().find(fits) else { break };
        (from, to) = next;
    }
    let kept = [&words[..from], &words[to..]].concat().concat();
    // A single word may be longer than a name.
    match kept.trim_matches('_') {
        "" => name.chars().take(most).collect(),
        kept => kept.to_owned(),
    }
}

/// The words of an identifier, each with the `_` before it: `listUser_accounts` has `list`, `User`, `_accounts`.
fn words(name: &str) -> Vec<&str> {
    let letters: Vec<(usize, char)> = name.char_indices().collect();
    let is_start = |pair: &[(usize, char)]| match (pair[0].1, pair[1].1) {
        ('_', _) => false,
        (_, '_') => true,
        (before, c) => c.is_ascii_uppercase() && !before.is_ascii_uppercase(),
    };
    let starts = letters.windows(2).filter(|pair| is_start(pair)).map(|pair| pair[1].0);
    let starts: Vec<usize> = [0].into_iter().chain(starts).chain([name.len()]).collect();
    starts.windows(2).map(|ends| &name[ends[0]..ends[1]]).collect()
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
        let mut names = TakenNames::default();
        assert_eq!(names.tool("", "GET /movie/{movie_id}"), "GET_movie_movie_id");
        assert_eq!(names.tool("", "GET /movie/{movie-id}/"), "GET_movie_movie_id_2");
        assert_eq!(names.tool("", "get /Movie/{movie_id}"), "get_Movie_movie_id_3");
        assert_eq!(names.tool("", "GET /"), "GET");
        assert_eq!(names.tool("", "GET /a/{b}.json"), "GET_a_b_json");
        assert_eq!(names.tool("repos/list-for-user", "GET /x"), "repos_list_for_user");
        assert_eq!(names.tool("名", "GET /y"), "GET_y");
        assert_eq!(names.tool("Finish", "POST /z"), "Finish_");
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
            assert_eq!(TakenNames::default().take(text), name);
        }
    }

    #[test]
    fn long_names_lose_words_of_their_middle() {
        let path = "GET /repos/{owner}/{repo}/actions/runs/{run_id}/attempts/{attempt_number}/jobs";
        let mut names = TakenNames::default();
        let short = names.tool("", path);
        assert_eq!(short, "GET_repos_owner_repo_actions_run_id_attempts_attempt_number_jobs");
        let logs = names.tool("", &path.replace("/jobs", "/logs"));
        assert_eq!(logs, short.replace("jobs", "logs"));
        assert_eq!(
            names.tool("", path),
            "GET_repos_owner_repo_actions_id_attempts_attempt_number_jobs_2"
        );
        let id = "replaceApiextensionsV1beta2NamespacedCustomResourceDefinitionDummyScaleStatus";
        assert_eq!(
            names.tool(id, ""),
            "replaceApiextensionsV1beta2NamespacedDefinitionDummyScaleStatus"
        );
        assert_eq!(names.tool(&"x".repeat(99), "").len(), LONGEST);
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
            let mut names = TakenNames::default();
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
