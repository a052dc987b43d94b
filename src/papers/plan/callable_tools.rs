//! The tools that a plan may call. Only their names turn words into a call: `search_web("x")` is a call if `search_web`
//! is offered, and a remark otherwise.

use std::collections::HashMap;

/// Characters of the longest name that is searched.
const NAME: usize = 64;
/// Words that models put around a tool's name where only a name is expected.
const AROUND: [&str; 12] = [
    "the", "use", "using", "call", "tool", "tools", "search", "engine", "api", "function",
    "worker", "model",
];

/// A tool of the menu.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedTool {
    pub name: String,
    /// The names of the tool's arguments.
    pub parameters: Vec<String>,
    /// Whether the tool takes no input.
    pub takes_nothing: bool,
}

/// The tools that a plan may call.
#[derive(Clone, Debug, Default)]
pub struct PlanTools {
    tools: Vec<OfferedTool>,
    /// Positions by folded name.
    by_name: HashMap<String, Vec<usize>>,
}

impl PlanTools {
    pub fn new(tools: impl IntoIterator<Item = OfferedTool>) -> Self {
        let tools: Vec<OfferedTool> = tools.into_iter().collect();
        let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, tool) in tools.iter().enumerate() {
            by_name.entry(folded(&tool.name)).or_default().push(at);
        }
        Self { tools, by_name }
    }

    /// Tools with only their names known.
    pub fn named<'t>(names: impl IntoIterator<Item = &'t str>) -> Self {
        let tool = |name: &str| OfferedTool {
            name: name.to_owned(),
            parameters: Vec::new(),
            takes_nothing: false,
        };
        Self::new(names.into_iter().map(tool))
    }

    /// The tool with this name, or the only one that differs only in case, spaces, hyphens and underscores.
    pub(super) fn named_exactly(&self, written: &str) -> Option<&OfferedTool> {
        let alike = self.by_name.get(&folded(written))?;
        let exact = alike.iter().find(|at| self.tools[**at].name == written);
        let only = alike.first().filter(|_| alike.len() == 1);
        exact.or(only).map(|at| &self.tools[*at])
    }

    /// The tool that is meant where a name is expected: `the Google tool`, `Google Search`.
    pub(super) fn meant(&self, written: &str) -> Option<&OfferedTool> {
        let words: Vec<&str> = words(written).collect();
        let whole = words.join(" ");
        self.named_exactly(&whole).or_else(|| {
            let kept = words.iter().filter(|word| !AROUND.contains(&&*word.to_lowercase()));
            self.named_exactly(&kept.copied().collect::<Vec<_>>().join(" "))
        })
    }

    /// The tools that a short text names, in the order of the text.
    pub(super) fn mentioned(&self, text: &str) -> Vec<&OfferedTool> {
        let mut found: Vec<&OfferedTool> = Vec::new();
        let mut rest = text;
        while let Some(begin) = rest.find(|c: char| c.is_alphanumeric() || c == '_') {
            rest = &rest[begin..];
            if let Some((tool, after)) = self.begins(rest) {
                if found.iter().all(|known| known.name != tool.name) {
                    found.push(tool);
                }
                rest = after;
            } else {
                rest = &rest[word_end(rest)..];
            }
        }
        found
    }

    /// The tool whose name this text begins with, the longest of several, and the text after it.
    pub(super) fn begins<'t>(&self, text: &'t str) -> Option<(&OfferedTool, &'t str)> {
        if self.tools.is_empty() {
            return None;
        }
        let mut longest = None;
        let mut end = 0;
        while end <= NAME {
            let word = word_end(&text[end..]);
            if word == 0 {
                break;
            }
            end += word;
            if let Some(tool) = self.named_exactly(&text[..end]) {
                longest = Some((tool, &text[end..]));
            }
            let gap =
                text[end..].find(|c: char| !matches!(c, ' ' | '-' | '.' | '/' | '\\')).unwrap_or(0);
            if gap != 1 {
                break;
            }
            end += gap;
        }
        longest
    }

    /// The tool whose name this text ends with, the longest of several.
    pub(super) fn ends(&self, text: &str) -> Option<&OfferedTool> {
        let from = text.ceil_char_boundary(text.len().saturating_sub(NAME));
        let mut starts = text[from..].char_indices().map(|(at, _)| text.split_at(from + at));
        starts.find_map(|(before, name)| {
            let is_whole = !before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
            self.named_exactly(name).filter(|_| is_whole)
        })
    }

    /// The tool of exactly this name.
    pub(super) fn get(&self, name: &str) -> Option<&OfferedTool> {
        self.tools.iter().find(|tool| tool.name == name)
    }
}

/// The end of the word that a text begins with.
fn word_end(text: &str) -> usize {
    text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len())
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let between =
        |c: char| c.is_whitespace() || matches!(c, '`' | '*' | '"' | '\'' | '.' | ',' | ':');
    text.split(between).filter(|word| !word.is_empty())
}

pub(super) fn folded(name: &str) -> String {
    let kept = name.chars().filter(|c| !c.is_whitespace() && !matches!(c, '-' | '_' | '\\'));
    kept.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered() -> PlanTools {
        PlanTools::named(["search_web", "search", "Google Search", "Wikipedia", "wiki.api"])
    }

    #[test]
    fn a_name_is_known_in_any_spelling_and_the_exact_one_first() {
        let two = PlanTools::named(["Search", "search", "Web-Search"]);
        let named = |text: &str| two.named_exactly(text).map(|tool| tool.name.as_str());
        assert_eq!([named("Search"), named("search")], [Some("Search"), Some("search")]);
        assert_eq!([named("SEARCH"), named("web_search")], [None, Some("Web-Search")]);
    }

    #[test]
    fn the_longest_name_that_a_text_begins_with_is_found() {
        let offered = offered();
        let begins = |text: &'static str| {
            offered.begins(text).map(|(tool, rest)| (tool.name.as_str(), rest))
        };
        for (text, right) in [
            ("search_web[x]", Some(("search_web", "[x]"))),
            ("search web: x", Some(("search_web", ": x"))),
            ("Search-Web", Some(("search_web", ""))),
            ("search  web", Some(("search", "  web"))),
            ("search the web", Some(("search", " the web"))),
            ("google search", Some(("Google Search", ""))),
            ("wiki.api(x)", Some(("wiki.api", "(x)"))),
            ("searched", None),
            ("", None),
        ] {
            assert_eq!(begins(text), right, "{text}");
        }
    }

    #[test]
    fn the_longest_name_that_a_text_ends_with_is_found() {
        let offered = offered();
        let ends = |text: &str| offered.ends(text).map(|tool| tool.name.clone());
        assert_eq!(ends("ask Google Search").as_deref(), Some("Google Search"));
        assert_eq!(ends("ask search").as_deref(), Some("search"));
        assert_eq!([ends("my_search"), ends("research"), ends("search x")], [None, None, None]);
        // The end of a long text is searched, whatever its characters are.
        for before in ["ä".repeat(40), format!("x{}", "ä".repeat(40))] {
            let found = ends(&format!("{before} Wikipedia"));
            assert_eq!(found.as_deref(), Some("Wikipedia"));
        }
    }

    #[test]
    fn words_around_a_name_are_no_part_of_it() {
        let offered = offered();
        let meant = |text: &str| offered.meant(text).map(|tool| tool.name.clone());
        for text in ["Wikipedia", "the Wikipedia tool", "`Wikipedia` API", "use Wikipedia."] {
            assert_eq!(meant(text).as_deref(), Some("Wikipedia"), "{text}");
        }
        assert_eq!([meant("the tool"), meant("Wikipedia or search_web")], [None, None]);
        let named: Vec<_> = offered.mentioned("Wikipedia, then search_web or Wikipedia again");
        let named: Vec<&str> = named.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(named, ["Wikipedia", "search_web"]);
    }
}
