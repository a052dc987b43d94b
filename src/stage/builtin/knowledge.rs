//! Lookups in the sample world: articles, climate, words.

use serde_json::Value;

use super::arguments;
use crate::domain::words::nearest;
use crate::tool::ToolError;
use crate::world::{Article, World};

/// The reply of every search that finds nothing, whether genuine or not.
pub const NOTHING: &str = "Nothing found";

/// The options of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchOptions {
    /// Only articles of these kinds; all if empty.
    pub kinds: Vec<String>,
    /// Hits shown, from 1 to 20.
    pub hits: usize,
}

impl SearchOptions {
    pub fn answer(&self, arguments: &Value) -> Result<String, ToolError> {
        let query = arguments::text(arguments, "query")?;
        let found = World::get().search(query, &self.kinds, self.hits);
        if found.is_empty() {
            return Ok(NOTHING.into());
        }
        let lines: Vec<_> = found
            .iter()
            .enumerate()
            .map(|(at, article)| format!("{}. {}", at + 1, shown(article)))
            .collect();
        Ok(lines.join("\n"))
    }
}

fn shown(article: &Article) -> String {
    format!("{} ({}): {}", article.title, article.kind, article.text)
}

/// The article called `title`, or a hint at a similar title.
pub fn look_up(arguments: &Value) -> Result<String, ToolError> {
    let title = arguments::text(arguments, "title")?;
    let world = World::get();
    Ok(match world.titled(title) {
        Some(article) => shown(article),
        None => match nearest(title, world.articles.iter().map(|a| a.title.as_str())) {
            Some(near) => format!("{NOTHING} under {title:?}. The nearest title is {near:?}."),
            None => format!("{NOTHING} under {title:?}."),
        },
    })
}

/// Mean temperature of a `city`, of one `month` if it is named, else of all.
pub fn climate(arguments: &Value) -> Result<String, ToolError> {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let city = arguments::text(arguments, "city")?;
    let places = &World::get().tables.climate;
    let Some(place) = places.iter().find(|place| place.city.eq_ignore_ascii_case(city)) else {
        return Ok(unknown_city(city, places.iter().map(|place| place.city.as_str())));
    };
    if arguments.get("month").is_some() {
        let numbered: Vec<_> = MONTHS.iter().copied().zip(0..).collect();
        let month: usize = arguments::choice(arguments, "month", &numbered)?;
        let (name, celsius) = (MONTHS[month], place.celsius[month]);
        return Ok(format!("{}, {name}: {celsius} °C on average", place.city));
    }
    let months: Vec<_> = MONTHS
        .iter()
        .zip(place.celsius)
        .map(|(name, celsius)| format!("{name} {celsius} °C"))
        .collect();
    Ok(format!("{}: {}; {} mm of rain a year", place.city, months.join(", "), place.rain))
}

/// The reply for a city that a table does not have.
pub fn unknown_city<'a>(city: &str, known: impl Iterator<Item = &'a str>) -> String {
    match nearest(city, known) {
        Some(near) => format!("{NOTHING} for {city:?}. The nearest name is {near:?}."),
        None => format!("{NOTHING} for {city:?}."),
    }
}

/// A `word` in another `language`, or the meaning of a word of that language.
pub fn translate(arguments: &Value) -> Result<String, ToolError> {
    let languages: Vec<_> =
        World::get().tables.words.iter().map(|(name, words)| (name.as_str(), words)).collect();
    let words = arguments::choice(arguments, "language", &languages)?;
    let word = arguments::text(arguments, "word")?.to_lowercase();
    let meaning =
        || words.iter().find(|(_, foreign)| **foreign == word).map(|(english, _)| english);
    Ok(words.get(&word).or_else(meaning).cloned().unwrap_or_else(|| NOTHING.into()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn searches_keep_to_their_kinds_and_say_when_nothing_is_found() {
        let search = SearchOptions { kinds: vec!["person".into()], hits: 2 };
        let found = search.answer(&json!({ "query": "mountaineer Pico Estrada" })).unwrap();
        assert!(found.starts_with("1. Hilde Garrack (person): "), "{found}");
        assert_eq!(found.matches("(person)").count(), 2);
        assert_eq!(search.answer(&json!({ "query": "zzzz" })).unwrap(), NOTHING);
    }

    #[test]
    fn tables_answer() {
        let july = climate(&json!({ "city": "Cala Verde", "month": "july" })).unwrap();
        assert_eq!(july, "Cala Verde, July: 29 °C on average");
        assert!(
            climate(&json!({ "city": "Cala Verde" })).unwrap().ends_with("390 mm of rain a year")
        );
        let word = |word: &str| translate(&json!({ "word": word, "language": "kaldic" })).unwrap();
        assert_eq!(["Lantern", "lykt", "unicorn"].map(word), ["lykt", "lantern", NOTHING]);
        let article = look_up(&json!({ "title": "  LAKE hollow " })).unwrap();
        assert!(article.starts_with("Lake Hollow (lake): "), "{article}");
    }
}
