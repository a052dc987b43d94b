//! Prices of endpoints that the configuration omits, from a price table.

use std::borrow::Cow;

use super::{Config, ModelConfig, default_prices};
use crate::files::toml_file::Problem;
use crate::model::http::Endpoint;
use crate::store::prices::{self, PriceMatch, PriceTable};

impl Config {
    /// The person's price table: the one of `[cost] prices`, which must then exist, else the one next to the
    /// configuration, if there is one. Without it the embedded one counts.
    ///
    /// # Errors
    /// It does not exist, or its faults.
    pub fn price_table(&self) -> Result<Option<PriceTable>, Problem> {
        let beside = || default_prices().filter(|path| path.exists());
        let path = self.prices.clone().or_else(beside);
        path.map(|path| PriceTable::load(&path)).transpose()
    }

    /// Fills in the prices of one endpoint.
    pub(super) fn look_price_up(&self, endpoint: &mut Endpoint) -> Result<(), Problem> {
        fill(endpoint, self.price_table()?.as_ref());
        Ok(())
    }

    /// Fills in omitted prices. If none is missing, no table is read, to save time at the start.
    pub(super) fn look_prices_up(&mut self) -> Result<(), Problem> {
        let is_lacking = |model: &ModelConfig| match model {
            ModelConfig::Simulated(_) => false,
            ModelConfig::Hosted(endpoint) => lacks(endpoint),
        };
        // An embedding model has no output, and so no price for it.
        let readers = [&self.experience.embeddings, &self.reader.embeddings];
        let is_unpriced = readers.into_iter().flatten().any(|endpoint| endpoint.price_in.is_none());
        if !is_unpriced && !self.models.values().any(is_lacking) {
            return Ok(());
        }
        let table = self.price_table()?;
        let table = table.as_ref();
        let readers = [&mut self.experience.embeddings, &mut self.reader.embeddings];
        readers.into_iter().flatten().for_each(|endpoint| fill(endpoint, table));
        for model in self.models.values_mut() {
            match model {
                ModelConfig::Simulated(_) => {}
                ModelConfig::Hosted(endpoint) => fill(endpoint, table),
            }
        }
        Ok(())
    }
}

fn lacks(endpoint: &Endpoint) -> bool {
    endpoint.price_in.is_none() || endpoint.price_out.is_none() || endpoint.context.is_none()
}

/// The person's table, else the part of the embedded one for this model.
fn table<'t>(own: Option<&'t PriceTable>, model: &str) -> Cow<'t, PriceTable> {
    own.map_or_else(|| Cow::Owned(prices::listed(model)), Cow::Borrowed)
}

/// Fills in what the configuration omits, by the person's table or else the embedded one, which has no contexts.
fn fill(endpoint: &mut Endpoint, own: Option<&PriceTable>) {
    let is_priced = endpoint.price_in.is_some() && endpoint.price_out.is_some();
    let is_at_home = endpoint.provider.is_none() && prices::is_private(&endpoint.base_url);
    if own.is_none() && (is_priced || is_at_home) {
        return;
    }
    let table = table(own, &endpoint.model);
    let provider = endpoint.provider.as_deref();
    let found = table.find(&endpoint.base_url, &endpoint.model, provider);
    take(endpoint, &table, found);
}

/// Fills in the price of a model that a watched agent asks for. Where nothing is charged by the token, it is free.
pub(crate) fn fill_watched(endpoint: &mut Endpoint, own: Option<&PriceTable>) {
    let table = table(own, &endpoint.model);
    let found = table.find_watched(&endpoint.base_url, &endpoint.model);
    if found == PriceMatch::Private {
        (endpoint.price_in, endpoint.price_out) = (Some(0.0), Some(0.0));
        endpoint.price_from = Some("nothing: its port is that of local models".to_owned());
    }
    take(endpoint, &table, found);
}

/// The configuration takes precedence over the table.
fn take(endpoint: &mut Endpoint, table: &PriceTable, found: PriceMatch<'_>) {
    let (id, price) = match found {
        PriceMatch::Price(id, price) | PriceMatch::Listed(id, price) => (id, price),
        PriceMatch::Ambiguous(..) | PriceMatch::Nothing | PriceMatch::Private => return,
    };
    let listed = matches!(found, PriceMatch::Listed(..));
    endpoint.context = endpoint.context.or(price.context);
    let (price_in, price_out) = (endpoint.price_in, endpoint.price_out);
    if price_in.is_none() {
        // A cached price is meaningless together with an uncached price from elsewhere.
        endpoint.price_cached = endpoint.price_cached.or(price.price_cached);
        endpoint.price_written = endpoint.price_written.or(price.price_written);
    }
    endpoint.price_in = price_in.or(price.price_in);
    endpoint.price_out = price_out.or(price.price_out);
    if (endpoint.price_in, endpoint.price_out) != (price_in, price_out) {
        let own = endpoint.price_from.as_deref().map(|own| format!("{own}, and "));
        let list = if listed { "list price of " } else { "" };
        endpoint.price_from = Some(format!("{}{list}{}", own.unwrap_or_default(), from(id, table)));
        endpoint.listed = listed;
    }
}

/// The origin of a price, for people.
fn from(id: &str, table: &PriceTable) -> String {
    let source = table.source.split(',').next().unwrap_or_default();
    format!("{id} in the prices of {source}, imported {}", table.imported)
}
