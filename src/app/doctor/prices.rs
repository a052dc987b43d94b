//! The price table, and what calls of an endpoint's model count as.

use super::Finding;
use crate::app::config::Config;
use crate::model::http::Endpoint;
use crate::store::prices;

/// What there is of a table; one that is broken has ended the reading of the configuration, unless no
/// model needed it.
pub(super) fn table(config: &Config, findings: &mut Vec<Finding>) {
    const ABOUT: &str = "prices";
    match config.price_table() {
        Ok(None) => {}
        Ok(Some(table)) => {
            let (count, day) = (table.models.len(), &table.imported);
            let text = format!("{count} models of {}, imported {day}", table.source);
            findings.push(Finding::ok(ABOUT, text));
        }
        Err(problem) => {
            let advice = "import the table again: toolyard import prices FILE";
            findings.push(Finding::fail(ABOUT, problem.to_string()).advise(advice));
        }
    }
}

/// What the model of this endpoint costs. That it has no price is normal only where nobody charges.
pub(super) fn of(about: &str, endpoint: &Endpoint, config: &Config) -> Finding {
    if let (Some(price_in), Some(price_out)) = (endpoint.price_in, endpoint.price_out) {
        let cached = endpoint.price_cached.map(|price| format!(", ${price} for cached input"));
        let from = endpoint.price_from.as_deref().unwrap_or("configuration");
        let text = format!(
            "${price_in} in and ${price_out} out per million tokens{} ({from})",
            cached.unwrap_or_default()
        );
        return Finding::ok(about, text);
    }
    let credits = config.cost.model(None);
    let text =
        format!("its price is not known; each call counts as {credits} of a budget's credits");
    if endpoint.provider.is_none() && prices::is_private(&endpoint.base_url) {
        return Finding::ok(about, text + ", and one in a private network is not looked up");
    }
    Finding::warn(about, text).advise(
        "set price_in and price_out, or provider, or import a price table: toolyard import prices FILE",
    )
}
