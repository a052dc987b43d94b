//! Prices of models, from a table that others maintain.
//!
//! [`litellm`] reads LiteLLM's table once, at its import, and stores the part that a budget needs:
//! a [`PriceTable`], in a file of our own. The module `find` looks up a model in it. Without an import the table is
//! that of [`listed`], which is a part of the program; `scripts/prices.py` makes it.
//!
//! A wrong price is worse than an unknown one: an unknown price counts as a configured fallback,
//! visibly. So a price is used only if both the provider and the amount are clear.

mod find;
pub mod litellm;

use std::sync::OnceLock;
use std::{collections::BTreeMap, path::Path};

use miniz_oxide::inflate::decompress_to_vec_with_limit;
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

pub use self::find::{PriceMatch, is_private};
use crate::files::text_file::{self, Expectation};
use crate::files::{json_file, toml_file::Problem};

/// US dollars per million tokens, higher than any real price.
const DEAREST: f64 = 1e6;

/// The embedded table: the text of an import, as a raw deflate stream.
const LISTED: &[u8] = include_bytes!("listed/table.json.deflate");
/// The most bytes of its text.
const LONGEST: usize = 8 * 1024 * 1024;

const TABLE: Expectation = Expectation {
    what: "a price table, as `toolyard import prices` writes it",
    missing: "make it with `toolyard import prices`, or remove `prices` from [cost]",
    largest: 32 * 1024 * 1024,
};

/// Prices by the names that the table's source uses for models.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceTable {
    /// The author of the data.
    pub source: String,
    /// The terms of use of the data.
    pub licence: String,
    /// The day of the import, as `2026-01-31`: prices change.
    pub imported: String,
    /// The unit of the numbers, for people who read the file.
    pub unit: String,
    pub models: BTreeMap<String, ModelPrice>,
}

/// Prices of a model in US dollars per million tokens, each at least 0. `None`: unknown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "struct Price")]
pub struct ModelPrice {
    /// The provider that charges, by the source's name, such as `openai` or
    /// `vertex_ai-mistral_models`.
    pub provider: String,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "dollars")]
    pub price_in: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "dollars")]
    pub price_out: Option<f64>,
    /// For input from the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "dollars")]
    pub price_cached: Option<f64>,
    /// For input that goes into the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "dollars")]
    pub price_written: Option<f64>,
    /// Largest prompt in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<u64>,
}

impl ModelPrice {
    /// Whether the prices determine the cost of a model call.
    pub fn is_whole(&self) -> bool {
        self.price_in.is_some() && self.price_out.is_some()
    }

    /// Whether the prices are equal, regardless of the context length.
    fn costs_as_much_as(&self, other: &ModelPrice) -> bool {
        let prices = |price: &ModelPrice| {
            (price.price_in, price.price_out, price.price_cached, price.price_written)
        };
        prices(self) == prices(other)
    }
}

fn dollars<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    let price = Option::<f64>::deserialize(from)?;
    if price.is_some_and(|price| !(0.0..=DEAREST).contains(&price)) {
        return Err(D::Error::custom(format!("expected a price from 0 to {DEAREST}")));
    }
    Ok(price)
}

/// The part of the embedded table that matters for a model: entries whose names end as its own, with or without a date.
/// Only these are read, since the agent waits for it.
pub fn listed(model: &str) -> PriceTable {
    let small = model.to_ascii_lowercase();
    let last = |name: &str| name.rsplit('/').next().map(str::to_owned);
    let names = [Some(model), find::without_date(model), Some(&small), find::without_date(&small)];
    let ends: Vec<String> = names.into_iter().flatten().filter_map(last).collect();
    part(|id| id.rsplit('/').next().is_some_and(|end| ends.iter().any(|own| own == end)))
}

/// The whole embedded table.
pub fn all_listed() -> PriceTable {
    part(|_| true)
}

/// The entries of the embedded table with these names.
fn part(is_wanted: impl Fn(&str) -> bool) -> PriceTable {
    static TEXT: OnceLock<String> = OnceLock::new();
    let text = TEXT.get_or_init(|| {
        let text = decompress_to_vec_with_limit(LISTED, LONGEST).unwrap_or_default();
        String::from_utf8(text).unwrap_or_default()
    });
    // Each line is an entry.
    let (head, rows) = text.split_once("\"models\":{\n").unwrap_or_default();
    let id = |row: &&str| row.split_once("\":{").is_some_and(|(id, _)| is_wanted(&id[1..]));
    let rows: Vec<_> = rows.lines().filter(id).map(|row| row.trim_end_matches(',')).collect();
    let text = format!("{head}\"models\":{{{}}}}}", rows.join(","));
    // A test reads all of it, so that it cannot be broken.
    serde_json::from_str(&text).unwrap_or_default()
}

impl PriceTable {
    /// Reads the file of an import.
    ///
    /// # Errors
    /// The file does not exist, or its faults.
    pub fn load(path: &Path) -> Result<Self, Problem> {
        let text = text_file::read(path, &TABLE)?;
        json_file::read(&path.display().to_string(), &text, TABLE.what)
    }

    /// The file's text: one line per model, so that two imports can be compared.
    ///
    /// # Errors
    /// None known: names and numbers can always be written as JSON.
    pub fn to_json(&self) -> serde_json::Result<String> {
        let head = [
            ("source", &self.source),
            ("licence", &self.licence),
            ("imported", &self.imported),
            ("unit", &self.unit),
        ];
        let mut text = String::from("{\n");
        for (name, value) in head {
            text.push_str(&format!("{name:?}: {},\n", serde_json::to_string(value)?));
        }
        text.push_str("\"models\": {\n");
        let line = |(id, price)| {
            Ok(format!("{}: {}", serde_json::to_string(id)?, serde_json::to_string(price)?))
        };
        let lines = self.models.iter().map(line).collect::<serde_json::Result<Vec<_>>>()?;
        text.push_str(&lines.join(",\n"));
        text.push_str("\n}\n}\n");
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(models: &str) -> Result<PriceTable, String> {
        let text = format!(
            "{{\"source\": \"s\", \"licence\": \"l\", \"imported\": \"d\", \"unit\": \"u\",\n\
             \"models\": {models}}}"
        );
        json_file::read("p.json", &text, TABLE.what).map_err(|problem| problem.to_string())
    }

    #[test]
    fn a_table_comes_back_as_it_was_written() {
        let table = read(
            r#"{"a\"b/c": {"provider": "x", "price_in": 0.15, "context": 8192},
                "d": {"provider": "y", "price_in": 2, "price_out": 1e-9, "price_cached": 0}}"#,
        )
        .unwrap();
        let text = table.to_json().unwrap();
        assert_eq!(json_file::read::<PriceTable>("p.json", &text, "").unwrap(), table);
        assert!(text.contains("\n\"a\\\"b/c\": {\"provider\":\"x\",\"price_in\":0.15,"), "{text}");
        let empty = PriceTable { models: BTreeMap::new(), ..table };
        let text = empty.to_json().unwrap();
        assert_eq!(json_file::read::<PriceTable>("p.json", &text, "").unwrap(), empty);
    }

    #[test]
    fn what_is_no_price_is_refused_with_its_place() {
        for (models, said) in [
            (r#"{"a": {"provider": "x", "price_in": -1}}"#, "models.a"),
            (r#"{"a": {"provider": "x", "price_out": 2000000}}"#, "expected a price from 0 to"),
            (r#"{"a": {"provider": "x", "price_in": "NaN"}}"#, "models.a.price_in: invalid type"),
            (r#"{"a": {"price_in": 1}}"#, "missing field `provider`"),
            (r#"{"a": {"provider": "x", "input": 1}}"#, "unknown field `input`"),
            ("[]", "models: invalid type: sequence"),
        ] {
            let problem = read(models).unwrap_err();
            assert!(problem.starts_with("p.json:2: ") && problem.contains(said), "{problem}");
        }
    }
}
