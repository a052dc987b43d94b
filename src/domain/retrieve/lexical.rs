//! Retrieval by words: BM25 over the descriptions of tools.
//!
//! The weights are in one list per term, so a query only adds up the lists of its terms. Looking up every term of the
//! query in every candidate instead took 7 to 60 ms per query over 16,000 tools.

use std::collections::{BinaryHeap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::{cmp::Reverse, iter};

use super::bm25::{Bm25, rarity};
use super::ranking::Ranking;
use super::union::union;
use super::words::taken_apart;
use crate::{id::ToolName, spec::ToolSpec, state::InTask};

/// A searchable index of the tools.
///
/// The length of a tool's text is measured against the average of the initial tools. This average
/// is not updated as tools come and go: that would change every weight for no visible difference.
pub struct Lexical {
    weigher: Bm25,
    lists: HashMap<Term, Vec<TermPosting>>,
    tools: Vec<Option<Indexed>>,
    places: HashMap<ToolName, usize>,
    /// Places of removed tools.
    free: Vec<usize>,
}

/// The hash of a word.
type Term = u64;

fn term(word: &str) -> Term {
    let mut hasher = DefaultHasher::new();
    word.hash(&mut hasher);
    hasher.finish()
}

/// A term's occurrence in one tool.
#[derive(Clone, Copy)]
struct TermPosting {
    place: usize,
    weight: f32,
}

struct Indexed {
    name: ToolName,
    terms: Vec<Term>,
}

/// Terms in an average tool, used when there are none to measure.
const USUAL_LENGTH: f32 = 24.0;

/// The number of tools from which the average length is computed.
const SAMPLE: usize = 1_000;

impl Default for Lexical {
    fn default() -> Self {
        Self::new([])
    }
}

impl Lexical {
    pub fn new<'a>(tools: impl IntoIterator<Item = &'a ToolSpec>) -> Self {
        let tools: Vec<&ToolSpec> = tools.into_iter().collect();
        let sample = tools.iter().step_by(tools.len() / SAMPLE + 1).map(|tool| text_of(tool));
        let sample: Vec<String> = sample.collect();
        let weigher = match sample.as_slice() {
            [] => Bm25::with_average(USUAL_LENGTH),
            sample => Bm25::of(sample),
        };
        let mut lexical = Self {
            weigher,
            lists: HashMap::new(),
            tools: Vec::with_capacity(tools.len()),
            places: HashMap::with_capacity(tools.len()),
            free: Vec::new(),
        };
        for tool in tools {
            lexical.insert(tool);
        }
        lexical
    }

    /// The index of a session, whose tools come one after the other.
    pub fn of_session<'a>(tools: impl IntoIterator<Item = &'a ToolSpec>) -> Self {
        let mut lexical = Self::default();
        tools.into_iter().for_each(|tool| lexical.insert(tool));
        lexical
    }

    /// Adds a tool, or replaces the one with that name.
    pub fn insert(&mut self, tool: &ToolSpec) {
        self.remove(tool.name.as_str());
        let place = self.free.pop().unwrap_or_else(|| {
            self.tools.push(None);
            self.tools.len() - 1
        });
        let mut terms = Vec::new();
        // A term appears once per occurrence, always with the weight of all occurrences.
        let mut seen = HashSet::new();
        for (word, weight) in self.weigher.weigh(&text_of(tool)) {
            let term = term(&word);
            if seen.insert(term) {
                self.lists.entry(term).or_default().push(TermPosting { place, weight });
                terms.push(term);
            }
        }
        self.tools[place] = Some(Indexed { name: tool.name.clone(), terms });
        self.places.insert(tool.name.clone(), place);
    }

    /// Removes a tool; `false` if it is not in the index.
    pub fn remove(&mut self, tool: &str) -> bool {
        let Some(place) = self.places.remove(tool) else {
            return false;
        };
        for term in self.tools[place].take().map(|tool| tool.terms).unwrap_or_default() {
            if let Some(list) = self.lists.get_mut(&term) {
                list.retain(|entry| entry.place != place);
                if list.is_empty() {
                    self.lists.remove(&term);
                }
            }
        }
        self.free.push(place);
        true
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The tools that share a word with the text, with their BM25 scores, best first and equal ones
    /// by name. Repeated words count once. Only consumed results are sorted.
    pub fn search(&self, text: &str) -> impl Iterator<Item = (&ToolName, f32)> {
        let mut scores = vec![0.0_f32; self.tools.len()];
        let mut asked = HashSet::new();
        for (word, _) in self.weigher.weigh(&taken_apart(text)) {
            let term = term(&word);
            if let Some(list) = self.lists.get(&term)
                && asked.insert(term)
            {
                let rarity = rarity(self.places.len(), list.len());
                for entry in list {
                    scores[entry.place] += rarity * entry.weight;
                }
            }
        }
        // The bits of positive numbers sort like the numbers.
        let mut found: BinaryHeap<(u32, Reverse<&ToolName>)> = self
            .tools
            .iter()
            .zip(scores)
            .filter(|(_, score)| *score > 0.0)
            .filter_map(|(tool, score)| Some((score.to_bits(), Reverse(&tool.as_ref()?.name))))
            .collect();
        iter::from_fn(move || found.pop()).map(|(bits, Reverse(name))| (name, f32::from_bits(bits)))
    }

    /// The tools that match a text and are currently offered, best first, each with its match as a share of the best
    /// one in the same ranking. If a reader has ranked the tools for the text, words and states find them in the shares
    /// of the knobs, and no more than words alone would find: tools that an agent does not need mislead it.
    pub fn offered<'a>(
        &'a self,
        state: InTask<'a>,
        text: &str,
        ranking: Option<&'a Ranking>,
    ) -> impl Iterator<Item = (&'a ToolName, f32)> {
        let is_offered = move |(tool, _): &(&ToolName, f32)| state.offers(tool.as_str());
        let (states, share) = state.state().fitting(ranking);
        let by_words = || of_best(self.search(text).filter(is_offered));
        let found = if states.is_empty() { 0 } else { by_words().count() };
        let most = if found == 0 || share == 0.0 { usize::MAX } else { found };
        let by_states = of_best(states.into_iter().filter(is_offered));
        // Where states alone decide, words only fill the rest.
        let by_words = by_words().map(move |(tool, of_best)| (tool, of_best.min(share.ceil())));
        union(by_words, by_states, share).take(most)
    }
}

/// Scores as shares of the first one, which is the best.
fn of_best<'a>(
    scored: impl Iterator<Item = (&'a ToolName, f32)>,
) -> impl Iterator<Item = (&'a ToolName, f32)> {
    let mut scored = scored.peekable();
    let best = scored.peek().map_or(1.0, |(_, best)| *best);
    scored.map(move |(tool, score)| (tool, score / best))
}

/// The whole text that describes a tool.
fn text_of(tool: &ToolSpec) -> String {
    let ToolSpec { name, description, class, examples, .. } = tool;
    taken_apart(&format!("{name}\n{description}\n{class}\n{}", examples.join("\n")))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::{
        event::{By, ChangeEvent, Event, Record, SessionEvent},
        spec::EffectClass,
        state::State,
    };

    fn tool(name: &str, description: &str) -> ToolSpec {
        ToolSpec {
            name: name.into(),
            description: description.into(),
            parameters: json!({ "type": "object" }).into(),
            class: String::new(),
            cost: None,
            effect: EffectClass::Read,
            timeout_ms: 1_000,
            source: "test".into(),
            examples: Vec::new(),
            disabled: None,
            proposed: None,
            served_as: None,
            returns: None,
            request: None,
        }
    }

    fn names(lexical: &Lexical, text: &str, k: usize) -> Vec<String> {
        lexical.search(text).take(k).map(|(name, _)| name.to_string()).collect()
    }

    fn some() -> Vec<ToolSpec> {
        vec![
            tool("GetWeather", "The forecast of a place."),
            tool("search_web", "Searches the web for pages."),
            tool("Calculator", "Evaluates an arithmetic expression."),
            tool("BackupSearch", "Searches the web for pages, when the other is down."),
        ]
    }

    #[test]
    fn names_descriptions_classes_and_examples_are_found() {
        let mut tools = some();
        tools[2].class = "Mathematics".into();
        tools[2].examples.push("How much is a dozen eggs?".into());
        let lexical = Lexical::new(&tools);
        for (text, first) in [
            ("what is the weather like", "GetWeather"),
            ("forecasts, please", "GetWeather"),
            ("mathematics", "Calculator"),
            ("eggs", "Calculator"),
            ("search_web", "search_web"),
            ("searching the web", "search_web"),
            ("try BackupSearch", "BackupSearch"),
        ] {
            assert_eq!(names(&lexical, text, 1), [first], "{text}");
        }
        assert_eq!(names(&lexical, "xylophone", 5), [""; 0]);
        assert_eq!(names(&lexical, "", 5), [""; 0]);
    }

    #[test]
    fn equals_come_by_name_and_the_best_k_are_the_first_of_all() {
        let tools: Vec<_> =
            (0..50).rev().map(|i| tool(&format!("t{i:02}"), "same words")).collect();
        let lexical = Lexical::new(&tools);
        let all = names(&lexical, "words", 100);
        assert!(all.is_sorted() && all.len() == 50, "{all:?}");
        for k in [1, 7, 49, 50] {
            assert_eq!(names(&lexical, "words", k), all[..k]);
        }
    }

    #[test]
    fn who_comes_and_goes_leaves_no_trace() {
        let tools = some();
        let fresh = Lexical::new(&tools);
        let mut lexical = Lexical::new(&tools);
        lexical.insert(&tool("Weather2", "weather weather weather"));
        assert_eq!(names(&lexical, "weather", 1), ["Weather2"]);
        assert!(lexical.remove("Weather2"));
        assert!(!lexical.remove("Weather2"));
        lexical.insert(&tools[1]);
        assert_eq!(lexical.len(), 4);
        for text in ["weather", "search the web", "arithmetic", "pages"] {
            assert!(lexical.search(text).eq(fresh.search(text)), "{text}");
        }
        for tool in &tools {
            lexical.remove(tool.name.as_str());
        }
        assert!(lexical.is_empty() && lexical.search("web").next().is_none());
    }

    #[test]
    fn a_tool_that_is_off_leaves_its_place_to_the_next() {
        let tools = some();
        let lexical = Lexical::new(&tools);
        let specs = tools.into_iter().map(Arc::new).collect();
        let off = Event::Change(ChangeEvent::ToolSwitched {
            tool: "search_web".into(),
            on: false,
            by: By::User,
        });
        let events = [Event::Session(SessionEvent::ToolsAdded { tools: specs }), off];
        let records = (1..).zip(events).map(|(n, event)| Record::new(n, 0, event));
        let state = State::fold(&records.collect::<Vec<_>>());
        let text = "search the web";
        assert_eq!(names(&lexical, text, 1), ["search_web"]);
        let first =
            lexical.offered(state.in_shown(), text, None).next().map(|(tool, _)| tool.as_str());
        assert_eq!(first, Some("BackupSearch"));
    }

    #[test]
    fn a_score_is_the_sum_over_the_words_that_are_shared() {
        let tools = some();
        let lexical = Lexical::new(&tools);
        let weights = |text: &str| lexical.weigher.weigh(&taken_apart(text));
        let texts: Vec<_> = tools.iter().map(|tool| weights(&text_of(tool))).collect();
        let query = "search the web for a forecast";
        let score = |at: usize| -> f32 {
            let words = weights(query).into_iter().map(|(word, _)| {
                let of = |text: &[(String, f32)]| {
                    text.iter().find(|(other, _)| *other == word).map(|(_, weight)| *weight)
                };
                let having = texts.iter().filter(|text| of(text).is_some()).count();
                of(&texts[at]).map_or(0.0, |weight| weight * rarity(tools.len(), having))
            });
            words.sum()
        };
        let found: Vec<_> = lexical.search(query).collect();
        assert_eq!(found.len(), (0..tools.len()).filter(|at| score(*at) > 0.0).count());
        for (name, found) in found {
            let at = tools.iter().position(|tool| tool.name == *name).unwrap();
            assert!((found - score(at)).abs() < 1e-5, "{name}: {found}, not {}", score(at));
        }
    }
}
