//! LiteLLM's table of models, `model_prices_and_context_window.json`: an object that has an entry
//! for each model, with prices in US dollars per token.
//!
//! It is maintained by hand for another program. Three oddities matter here. It also lists
//! pictures, voices and searches, which are not paid by the token. A price of 0 may mean that a
//! model is free, that it is paid for in another way, or that its price was never looked up. And
//! some entries are not models at all. So anything but a plain price of tokens stays unknown.

use std::collections::{BTreeMap, BTreeSet};
use std::{fmt, path::Path};

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::{DEAREST, ModelPrice, PriceTable};
use crate::domain::words;
use crate::files::text_file::{self, Expectation};
use crate::files::{json_file, toml_file::Problem};

const FILE: Expectation = Expectation {
    what: "LiteLLM's model_prices_and_context_window.json",
    missing: "it is part of the Python package litellm, as \
              model_prices_and_context_window_backup.json, and of its source code",
    largest: 64 * 1024 * 1024,
};

/// The entry that documents the others.
const SAMPLE: &str = "sample_spec";
/// Kinds of models that are paid by the token. A model without a kind is a text model.
const MODES: [&str; 4] = ["chat", "completion", "responses", EMBEDDING];
const EMBEDDING: &str = "embedding";
/// Most invalid entries that are named to the user.
const NAMED: usize = 8;

/// A table, and statistics about the entries of its source.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportSummary {
    pub table: PriceTable,
    /// Entries of the file, except the one that documents the others.
    pub entries: usize,
    /// Models that are paid by the token, without a price for both directions.
    pub unpriced: usize,
    /// Entries that are not models, or not paid by the token.
    pub others: usize,
    /// Entries with an invalid price or length, and differing duplicates.
    pub odd: BTreeSet<String>,
}

impl fmt::Display for ImportSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let priced = self.table.models.values().filter(|price| price.is_whole()).count();
        write!(
            f,
            "prices of {priced} models; of {} entries {} are not paid by the token and {} have no \
             price, or 0, which counts as unknown",
            self.entries, self.others, self.unpriced
        )?;
        if self.odd.is_empty() {
            return Ok(());
        }
        let names: Vec<_> = self.odd.iter().take(NAMED).map(|id| words::clipped(id, 80)).collect();
        let more = if self.odd.len() > NAMED { ", …" } else { "" };
        let (count, names) = (self.odd.len(), names.join(", "));
        write!(f, "\nleft out because they are invalid: {count} ({names}{more})")
    }
}

/// Reads the file. `today` is the day of the import, as `2026-01-31`.
///
/// # Errors
/// The file cannot be read, or is something else.
pub fn import(path: &Path, today: &str) -> Result<ImportSummary, Problem> {
    parse(&path.display().to_string(), &text_file::read(path, &FILE)?, today)
}

/// Reads the file's text. `file` names it in messages.
///
/// # Errors
/// The text is something else, with the place.
pub fn parse(file: &str, text: &str, today: &str) -> Result<ImportSummary, Problem> {
    let Entries(entries) = json_file::read(file, text, FILE.what)?;
    let mut imported = ImportSummary::new(today);
    for (id, entry) in entries.into_iter().filter(|(id, _)| id != SAMPLE) {
        let Value::Object(entry) = entry else {
            let text = format!("expected an object with prices; expected {}", FILE.what);
            let field = words::clipped(&id, 80);
            return Err(Problem { field, ..Problem::of_file(file, text) });
        };
        imported.take(id, &entry);
    }
    if imported.table.models.is_empty() {
        let text = format!(
            "none of its {} entries has a litellm_provider and a price; expected {}",
            imported.entries, FILE.what
        );
        return Err(Problem::of_file(file, text));
    }
    imported.unpriced += imported.table.models.values().filter(|price| !price.is_whole()).count();
    Ok(imported)
}

impl ImportSummary {
    fn new(today: &str) -> Self {
        let table = PriceTable {
            source: "LiteLLM, model_prices_and_context_window.json".to_owned(),
            licence: "MIT, Copyright (c) 2023 Berri AI".to_owned(),
            imported: today.to_owned(),
            unit: "US dollars per million tokens".to_owned(),
            models: BTreeMap::new(),
        };
        Self { table, entries: 0, unpriced: 0, others: 0, odd: BTreeSet::new() }
    }

    fn take(&mut self, id: String, entry: &Map<String, Value>) {
        self.entries += 1;
        let Some((provider, mode)) = kind(entry) else {
            self.others += 1;
            return;
        };
        let Some(price) = price(provider, mode, entry) else {
            self.table.models.remove(&id);
            self.odd.insert(id);
            return;
        };
        if self.odd.contains(&id) {
            return;
        }
        match self.table.models.get(&id) {
            Some(before) if *before != price => {
                self.table.models.remove(&id);
                self.odd.insert(id);
            }
            Some(_) => {}
            None if price
                == (ModelPrice { provider: provider.to_owned(), ..ModelPrice::default() }) =>
            {
                self.unpriced += 1;
            }
            None => {
                self.table.models.insert(id, price);
            }
        }
    }
}

/// The provider and the mode of a model that is paid by the token.
fn kind(entry: &Map<String, Value>) -> Option<(&str, &str)> {
    let provider = entry.get("litellm_provider")?.as_str()?;
    let mode = entry.get("mode").map_or(Some(""), Value::as_str)?;
    (mode.is_empty() || MODES.contains(&mode)).then_some((provider, mode))
}

/// The price entry; `None` if anything in it is invalid, since then the rest may be, too.
fn price(provider: &str, mode: &str, entry: &Map<String, Value>) -> Option<ModelPrice> {
    let paid = |name| Some(per_million(entry, name)?.filter(|price| *price > 0.0));
    let price_out = match mode {
        // Embeddings have no output, so a free output means nothing else.
        EMBEDDING => per_million(entry, "output_cost_per_token")?,
        _ => paid("output_cost_per_token")?,
    };
    Some(ModelPrice {
        provider: provider.to_owned(),
        price_in: paid("input_cost_per_token")?,
        price_out,
        price_cached: paid("cache_read_input_token_cost")?,
        price_written: paid("cache_creation_input_token_cost")?,
        context: context(entry)?,
    })
}

/// The price in US dollars per million tokens. `Some(None)`: missing. `None`: present, but invalid.
fn per_million(entry: &Map<String, Value>, name: &str) -> Option<Option<f64>> {
    let Some(value) = entry.get(name).filter(|value| !value.is_null()) else { return Some(None) };
    let price = value.as_f64().filter(|price| (0.0..=DEAREST / 1e6).contains(price))?;
    // To a billionth of a dollar, so that 1.5e-7 per token is 0.15 and not 0.15000000000000002.
    Some(Some((price * 1e15).round() / 1e9))
}

/// The longest input, in tokens. Missing and invalid values are as in [`per_million`].
fn context(entry: &Map<String, Value>) -> Option<Option<u64>> {
    let name = "max_input_tokens";
    let Some(value) = entry.get(name).filter(|value| !value.is_null()) else { return Some(None) };
    let tokens = value.as_u64().filter(|tokens| *tokens <= i32::MAX as u64)?;
    Some(Some(tokens).filter(|tokens| *tokens > 0))
}

/// All entries, including duplicates: a map would silently keep the last.
struct Entries(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(EntriesVisitor)
    }
}

struct EntriesVisitor;

impl<'de> Visitor<'de> for EntriesVisitor {
    type Value = Entries;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with an entry for each model")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Entries(entries))
    }
}
