//! The fictional continent of the sample tools: articles to search and tables to look up. It is
//! invented so that no model knows the answers by heart, and part of the program so that the demo
//! needs neither files nor network.

use std::collections::{BTreeMap, HashMap};
use std::{cmp::Ordering, sync::OnceLock};

use serde::Deserialize;

use crate::domain::retrieve::{Bm25, rarity};
use crate::files::toml_file::read_embedded;

/// The files under `sample-tools/world`, in the order in which articles are numbered.
const FILES: [(&str, &str); 4] = [
    ("places.toml", include_str!("../../sample-tools/world/places.toml")),
    ("people.toml", include_str!("../../sample-tools/world/people.toml")),
    ("works.toml", include_str!("../../sample-tools/world/works.toml")),
    ("things.toml", include_str!("../../sample-tools/world/things.toml")),
];
const TABLES: &str = include_str!("../../sample-tools/world/tables.toml");

/// An entry of the encyclopedia.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Article {
    pub title: String,
    /// Kind of subject in one word: `city`, `person`, `book`.
    pub kind: String,
    pub text: String,
}

/// A direct connection between two cities; it runs both ways.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CityLink {
    pub between: [String; 2],
    pub by: String,
    pub minutes: u32,
    /// The fare in pells.
    pub fare: u32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Climate {
    pub city: String,
    /// Mean temperature of each month, January first.
    pub celsius: [i32; 12],
    /// Millimetres a year.
    pub rain: u32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tables {
    /// Pells that one unit costs.
    pub currencies: BTreeMap<String, f64>,
    #[serde(rename = "connection")]
    pub connections: Vec<CityLink>,
    pub climate: Vec<Climate>,
    /// Per language: English word or phrase → its translation.
    pub words: BTreeMap<String, BTreeMap<String, String>>,
}

pub struct World {
    pub articles: Vec<Article>,
    pub tables: Tables,
    by_title: HashMap<String, usize>,
    weigher: Bm25,
    /// The weight of each word in the articles that have it, by their place.
    weights: HashMap<String, BTreeMap<usize, f32>>,
}

impl World {
    /// The embedded world, parsed and indexed at its first use.
    #[expect(clippy::unreachable, reason = "the text is part of the program and read by its tests")]
    pub fn get() -> &'static World {
        static WORLD: OnceLock<World> = OnceLock::new();
        WORLD.get_or_init(|| match World::read() {
            Ok(world) => world,
            Err(error) => unreachable!("the embedded world is broken: {error}"),
        })
    }

    fn read() -> Result<Self, String> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct File {
            article: Vec<Article>,
        }
        let mut articles = Vec::new();
        for (name, text) in FILES {
            let file: File = read_embedded(text).map_err(|error| format!("{name}: {error}"))?;
            articles.extend(file.article);
        }
        let tables = read_embedded(TABLES).map_err(|error| format!("tables.toml: {error}"))?;
        Ok(Self::index(articles, tables))
    }

    fn index(articles: Vec<Article>, tables: Tables) -> Self {
        // The title twice: an article is more about its subject than about other things that it
        // mentions.
        let texts: Vec<String> =
            articles.iter().map(|a| format!("{} {} {}", a.title, a.title, a.text)).collect();
        let weigher = Bm25::of(&texts);
        let mut weights: HashMap<String, BTreeMap<usize, f32>> = HashMap::new();
        for (at, text) in texts.iter().enumerate() {
            for (word, weight) in weigher.weigh(text) {
                weights.entry(word).or_default().insert(at, weight);
            }
        }
        let by_title =
            articles.iter().enumerate().map(|(at, a)| (a.title.to_lowercase(), at)).collect();
        Self { articles, tables, by_title, weigher, weights }
    }

    /// The articles that match a query best, of these kinds (of all kinds if none is named).
    pub fn search(&self, query: &str, kinds: &[String], most: usize) -> Vec<&Article> {
        let mut scores: BTreeMap<usize, f32> = BTreeMap::new();
        for (word, _) in self.weigher.weigh(query) {
            let Some(having) = self.weights.get(&word) else { continue };
            let rarity = rarity(self.articles.len(), having.len());
            for (at, weight) in having {
                *scores.entry(*at).or_default() += rarity * weight;
            }
        }
        let mut matches: Vec<(usize, f32)> = scores.into_iter().collect();
        // Equal ones stay in the order of their places.
        matches.sort_by(|a, b| b.1.partial_cmp(&a.1).unwrap_or(Ordering::Equal));
        matches
            .into_iter()
            .filter_map(|(at, _)| self.articles.get(at))
            .filter(|article| kinds.is_empty() || kinds.contains(&article.kind))
            .take(most)
            .collect()
    }

    /// The article with this title, case-insensitive.
    pub fn titled(&self, title: &str) -> Option<&Article> {
        let at = self.by_title.get(&title.trim().to_lowercase())?;
        self.articles.get(*at)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_embedded_world_can_be_read_and_is_big_enough() {
        let world = World::read().unwrap();
        assert!(world.articles.len() >= 150, "{}", world.articles.len());
        assert_eq!(world.by_title.len(), world.articles.len(), "two articles share a title");
    }

    #[test]
    fn every_article_leads_to_another_and_is_short() {
        let world = World::get();
        for article in &world.articles {
            let mentions = |other: &&Article| {
                other.title != article.title && article.text.contains(&other.title)
            };
            assert!(world.articles.iter().any(|other| mentions(&other)), "{}", article.title);
            let sentences = article.text.matches(". ").count() + 1;
            assert!((2..=5).contains(&sentences), "{}: {sentences} sentences", article.title);
        }
    }

    #[test]
    fn tables_name_only_places_that_have_an_article() {
        let world = World::get();
        let ends = world.tables.connections.iter().flat_map(|connection| &connection.between);
        let places: BTreeSet<_> =
            ends.chain(world.tables.climate.iter().map(|c| &c.city)).collect();
        for place in places {
            assert_eq!(world.titled(place).map(|a| a.kind.as_str()), Some("city"), "{place}");
        }
        for currency in world.tables.currencies.keys() {
            let text = format!("its currency is the {currency}.");
            assert!(world.articles.iter().any(|a| a.text.contains(&text)), "{currency}");
        }
    }

    #[test]
    fn another_wording_still_finds() {
        let cases = [
            ("Who wrote the novel The Salt Garden?", "novel by Marisol Cade"),
            ("longest river in Istrava", "1,105 kilometres long"),
            ("first woman to climb Pico Estrada", "Hilde Garrack"),
            ("inventor of korrite", "Ansel Korr"),
            ("capital of the country Tharne", "Its capital is Ironmere"),
        ];
        for (query, fragment) in cases {
            let found = World::get().search(query, &[], 3);
            assert!(found.iter().any(|a| a.text.contains(fragment)), "{query}: {found:?}");
        }
    }
}
