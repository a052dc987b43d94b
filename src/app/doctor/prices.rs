//! The price table, and the prices of endpoints' models.

use super::Finding;
use crate::config::Config;
use crate::domain::words::{counted, credits};
use crate::model::http::Endpoint;
use crate::store::prices;

/// The table; a broken one has already failed the configuration, unless no model needed it.
pub(super) fn table(config: &Config, findings: &mut Vec<Finding>) {
    const ABOUT: &str = "prices";
    match config.price_table() {
        Ok(own) => {
            let part = if own.is_none() { "; it is a part of toolyard" } else { "" };
            let table = own.unwrap_or_else(prices::all_listed);
            let (models, day) = (counted(table.models.len(), "model"), &table.imported);
            let text = format!("{models} of {}, imported {day}{part}", table.source);
            findings.push(Finding::ok(ABOUT, text));
        }
        Err(problem) => {
            let advice = "import the table again: toolyard import prices FILE";
            findings.push(Finding::fail(ABOUT, problem.to_string()).advise(advice));
        }
    }
}

/// The price of this endpoint's model. A missing price is normal only if nothing is charged.
pub(super) fn of(about: &str, endpoint: &Endpoint, config: &Config) -> Finding {
    if let (Some(price_in), Some(price_out)) = (endpoint.price_in, endpoint.price_out) {
        let cached = endpoint.price_cached.map(|price| format!(", ${price} for cached input"));
        let written = endpoint.price_written.map(|price| format!(", ${price} for writing a cache"));
        let from = endpoint.price_from.as_deref().unwrap_or("configuration");
        let sign = if endpoint.listed { "~" } else { "" };
        let text = format!(
            "{sign}${price_in} in and {sign}${price_out} out per million tokens{}{} ({from})",
            cached.unwrap_or_default(),
            written.unwrap_or_default()
        );
        return Finding::ok(about, text);
    }
    let text = format!(
        "unknown price; each call counts as {} in a budget",
        credits(config.cost.model(None))
    );
    if endpoint.provider.is_none() && prices::is_private(&endpoint.base_url) {
        return Finding::ok(about, text + "; the price table is not used for private networks");
    }
    Finding::warn(about, text).advise(
        "set price_in and price_out, or set provider, or import a price table: toolyard import prices FILE",
    )
}
