//! The tools that a model blames in its reply.

use std::collections::HashMap;

/// Verbs of HTTP, which begin the path form of a tool's name: `GET /movie/{movie_id}`.
const VERBS: [&str; 5] = ["get", "post", "put", "patch", "delete"];
/// The most words in a line that can be just a number from the list, such as `Tool 3.`.
const WORDS: usize = 3;

/// The tools that a reply names, in the order of mention, each once. The first is the blamed one.
///
/// Names are whole identifiers in any case, so a tool's name inside another's does not count. A path such as
/// `GET /movie/{movie_id}` counts as the name that is made from it. If no name is in the reply, its first line can be
/// the number of a tool in the list, counted from 1.
pub fn by_reply(reply: &str, tools: &[&str]) -> Vec<String> {
    let mut by_form: HashMap<String, &str> = HashMap::new();
    for tool in tools {
        by_form.entry(form(tool)).or_insert(tool);
    }
    let mut blamed: Vec<String> = Vec::new();
    for word in words(reply) {
        let exact = tools.iter().copied().find(|tool| *tool == word);
        let tool = exact.or_else(|| by_form.get(&form(word)).copied());
        if let Some(tool) = tool.filter(|tool| !blamed.iter().any(|known| known == tool)) {
            blamed.push(tool.to_owned());
        }
    }
    if blamed.is_empty() {
        blamed.extend(numbered(reply, tools).map(str::to_owned));
    }
    blamed
}

/// A name in lower case, with one `_` in place of characters that identifiers cannot have.
fn form(name: &str) -> String {
    let parts = name.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    parts.map(str::to_lowercase).collect::<Vec<_>>().join("_")
}

/// The identifiers of a text, and its paths with their verbs.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut at = 0;
    std::iter::from_fn(move || {
        at += text[at..].find(is_of_name)?;
        let rest = &text[at..];
        let word = rest.find(|c| !is_of_name(c)).unwrap_or(rest.len());
        let end = path_end(rest, word).unwrap_or(word);
        at += end;
        Some(&rest[..end])
    })
}

/// The end of a path that a text begins with, if its first word is a verb.
fn path_end(text: &str, word: usize) -> Option<usize> {
    let is_verb = VERBS.iter().any(|verb| text[..word].eq_ignore_ascii_case(verb));
    let path = text[word..].trim_start_matches([' ', '\t']);
    if !is_verb || !path.starts_with('/') {
        return None;
    }
    let end = path.find(|c: char| !c.is_alphanumeric() && !"/_-.{}:".contains(c));
    Some(text.len() - path.len() + end.unwrap_or(path.len()))
}

/// The tool whose number is the only content of the first line.
fn numbered<'t>(reply: &str, tools: &[&'t str]) -> Option<&'t str> {
    let line = reply.lines().find(|line| !line.trim().is_empty())?;
    let parts = line.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    let words: Vec<&str> = parts.take(WORDS + 1).collect();
    let mut numbers = words.iter().filter_map(|word| word.parse::<usize>().ok());
    match (numbers.next(), numbers.next()) {
        (Some(number), None) if words.len() <= WORDS => tools.get(number.checked_sub(1)?).copied(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TOOLS: [&str; 3] = ["GET_movie_movie_id", "GET_movie_movie_id_credits", "search"];

    #[test]
    fn paths_and_numbers_are_names_where_nothing_else_is_meant() {
        for (reply, blamed) in [
            ("`GET /movie/{movie_id}/credits`.", &["GET_movie_movie_id_credits"][..]),
            ("get  /movie/{movie_id}, then Search", &["GET_movie_movie_id", "search"]),
            ("Tool 2.", &["GET_movie_movie_id_credits"]),
            ("[3]\n\nThe 2 keys are missing.", &["search"]),
            ("2 tools of 3", &[]),
            ("There are 2 wrong calls.", &[]),
            ("0", &[]),
            ("99999999999999999999999", &[]),
            ("research", &[]),
            ("None: get the movie", &[]),
        ] {
            assert_eq!(by_reply(reply, &TOOLS), blamed, "{reply}");
        }
    }

    proptest! {
        #[test]
        fn any_reply_names_only_tools_and_each_once(
            reply in "(GET|get| |/|movie|_id|\\{|\\}|movie_id|credits|search|_|3|é|\n){0,24}",
        ) {
            let blamed = by_reply(&reply, &TOOLS);
            prop_assert!(blamed.iter().all(|tool| TOOLS.contains(&tool.as_str())));
            prop_assert!((1..blamed.len()).all(|at| !blamed[..at].contains(&blamed[at])));
        }
    }
}
