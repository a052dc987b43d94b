//! The classifier: sorts tools by the words of their descriptions.

use serde_json::{Map, Value, json};

use super::{improvise::words, request_parser::user_texts};
use crate::domain::{Request, markers::TOOLS};

/// Words in descriptions of tools that retrieve information.
const FINDING: [&str; 9] =
    ["search", "look", "find", "tell", "return", "give", "read", "retriev", "show"];

/// A class on offer, and the words that belong to it.
struct Class<'a> {
    name: &'a str,
    about: &'a str,
    domains: Vec<(&'a str, &'a str)>,
}

/// The classes in the requested format.
pub(super) fn classify(request: &Request) -> String {
    let text = user_texts(request).next_back();
    let parts = text.and_then(|text| text.rsplit_once(&format!("\n\n{TOOLS}")));
    let (classes, tools) = parts.unwrap_or_default();
    let classes = listed(classes);
    let sorted: Map<String, Value> = tools
        .lines()
        .filter_map(entry)
        .filter_map(|(tool, about)| Some((tool.to_owned(), label(about, &classes)?)))
        .collect();
    json!({ "classes": sorted }).to_string()
}

fn listed(text: &str) -> Vec<Class<'_>> {
    let mut classes: Vec<Class<'_>> = Vec::new();
    for line in text.lines() {
        if let Some((name, about)) = entry(line) {
            classes.push(Class { name, about, domains: Vec::new() });
        } else if let (Some(domain), Some(class)) =
            (line.strip_prefix("  ").and_then(entry), classes.last_mut())
        {
            class.domains.push(domain);
        }
    }
    classes
}

fn entry(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix("- ")?.split_once(": ")
}

/// The class, with its domain if the class has domains.
fn label(about: &str, classes: &[Class<'_>]) -> Option<Value> {
    let usual = usual(about);
    let class = classes
        .iter()
        .find(|class| class.name == usual)
        .or_else(|| nearest(about, classes.iter().map(|class| (class, class.name, class.about))))?;
    let domains = class.domains.iter().map(|(name, about)| (*name, *name, *about));
    Some(match nearest(about, domains) {
        Some(domain) => json!([class.name, domain]),
        None => json!(class.name),
    })
}

/// Sorts a tool into one of the paper's two classes.
fn usual(about: &str) -> &'static str {
    let finds = words(about).iter().any(|word| FINDING.iter().any(|verb| word.starts_with(verb)));
    if finds { "Information Retrieval" } else { "Task Completion" }
}

/// The item whose name and description share most words with a text; of equal ones the first.
fn nearest<'a, T>(text: &str, all: impl Iterator<Item = (T, &'a str, &'a str)>) -> Option<T> {
    let text = words(text);
    let common =
        |name: &str, about: &str| words(&format!("{name} {about}")).intersection(&text).count();
    let ranked = all.map(|(item, name, about)| (item, common(name, about)));
    let best = ranked.reduce(|best, next| if next.1 > best.1 { next } else { best });
    best.map(|(item, _)| item)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Message;

    fn sorted(classes: &str) -> Value {
        let text = format!(
            "Classes:\n{classes}\n{TOOLS}- web: Searches the web for flights.\n\
             - book: Books rooms in hotels.\n"
        );
        let request =
            Request::new(crate::domain::chat::Role::Classifier, vec![Message::user(text)]);
        serde_json::from_str(&classify(&request)).unwrap()
    }

    #[test]
    fn tools_are_sorted_by_what_they_say_that_they_do() {
        let usual = sorted("- Information Retrieval: Finds out.\n- Task Completion: Does.\n");
        let right = json!({"web": "Information Retrieval", "book": "Task Completion"});
        assert_eq!(usual["classes"], right);
        let own = sorted(
            "- Airline: flights and airports\n- Hotel: hotels and their rooms\n  - Cheap: hostels\n  \
             - Dear: books palaces\n",
        );
        assert_eq!(own["classes"], json!({"web": "Airline", "book": ["Hotel", "Dear"]}));
    }
}
