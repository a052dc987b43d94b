//! Prices of endpoints that the configuration omits, from a price table.

use super::{Config, ModelConfig, default_prices};
use crate::files::toml_file::Problem;
use crate::model::http::Endpoint;
use crate::store::prices::{PriceMatch, PriceTable};

impl Config {
    /// The price table: the one of `[cost] prices`, which must then exist, else the one next to the
    /// configuration, if there is one.
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
        if let Some(table) = self.price_table()? {
            fill(endpoint, &table);
        }
        Ok(())
    }

    /// Fills in omitted prices. If none is missing, the table is not read, to save time at the
    /// start.
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
        let Some(table) = self.price_table()? else { return Ok(()) };
        let readers = [&mut self.experience.embeddings, &mut self.reader.embeddings];
        readers.into_iter().flatten().for_each(|endpoint| fill(endpoint, &table));
        for model in self.models.values_mut() {
            match model {
                ModelConfig::Simulated(_) => {}
                ModelConfig::Hosted(endpoint) => fill(endpoint, &table),
            }
        }
        Ok(())
    }
}

fn lacks(endpoint: &Endpoint) -> bool {
    endpoint.price_in.is_none() || endpoint.price_out.is_none() || endpoint.context.is_none()
}

/// The configuration takes precedence over the table.
pub(crate) fn fill(endpoint: &mut Endpoint, table: &PriceTable) {
    let provider = endpoint.provider.as_deref();
    let (id, price) = match table.find(&endpoint.base_url, &endpoint.model, provider) {
        PriceMatch::Price(id, price) => (id, price),
        PriceMatch::Ambiguous(..) | PriceMatch::Nothing | PriceMatch::Private => return,
    };
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
        endpoint.price_from = Some(format!("{}{}", own.unwrap_or_default(), from(id, table)));
    }
}

/// The origin of a price, for people.
fn from(id: &str, table: &PriceTable) -> String {
    let source = table.source.split(',').next().unwrap_or_default();
    format!("{id} in the prices of {source}, imported {}", table.imported)
}
