//! Figures: conversions of money, and statistics of lists.

use serde_json::Value;

use super::arguments;
use crate::{tool::ToolError, world::World};

/// `amount` of the currency `from`, given in the currency `to`, to two decimals.
pub fn convert_currency(arguments: &Value) -> Result<String, ToolError> {
    let amount = arguments::number(arguments, "amount")?;
    let price = |name| {
        let currencies = &World::get().tables.currencies;
        let choices: Vec<_> =
            currencies.iter().map(|(currency, price)| (currency.as_str(), *price)).collect();
        let given = arguments::text(arguments, name)?.to_lowercase();
        // People write the plural.
        let singular = given.strip_suffix('s').unwrap_or(&given);
        match currencies.get(singular) {
            Some(price) => Ok(*price),
            None => arguments::choice(arguments, name, &choices),
        }
    };
    let (from, to) = (price("from")?, price("to")?);
    Ok(plain((amount * from / to * 100.0).round() / 100.0))
}

type Figure = fn(&[f64]) -> f64;

/// Calculates one statistic of the list `numbers`.
pub fn list_statistic(arguments: &Value) -> Result<String, ToolError> {
    let choices: [(&str, Figure); 8] = [
        ("sum", |list| list.iter().sum()),
        ("mean", mean),
        ("median", median),
        ("minimum", least),
        ("maximum", most),
        ("range", |list| most(list) - least(list)),
        ("deviation", deviation),
        ("count", |list| list.len() as f64),
    ];
    let numbers = arguments::numbers(arguments, "numbers")?;
    let figure = arguments::choice(arguments, "statistic", &choices)?;
    Ok(plain(figure(&numbers)))
}

fn least(list: &[f64]) -> f64 {
    list.iter().copied().fold(f64::INFINITY, f64::min)
}

fn most(list: &[f64]) -> f64 {
    list.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn mean(list: &[f64]) -> f64 {
    list.iter().sum::<f64>() / list.len() as f64
}

fn median(list: &[f64]) -> f64 {
    let mut sorted = list.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { mean(&sorted[middle - 1..=middle]) }
}

/// Standard deviation of the population.
fn deviation(list: &[f64]) -> f64 {
    let mean = mean(list);
    (list.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / list.len() as f64).sqrt()
}

/// A number without the noise of binary fractions: at most ten decimals, no zeros at the end.
pub fn plain(number: f64) -> String {
    let text = format!("{number:.10}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn currencies_are_known_by_singular_and_plural() {
        let money = json!({ "amount": 250_000, "from": "pells", "to": "Verran" });
        assert_eq!(convert_currency(&money).unwrap(), "200000");
        let error = convert_currency(&json!({ "amount": 1, "from": "euro", "to": "pell" }));
        assert!(error.unwrap_err().text.contains("one of istra, kroon"));
    }

    #[test]
    fn figures_of_lists() {
        let figure = |statistic: &str| {
            list_statistic(&json!({ "numbers": [4, 1, 3, 2.5], "statistic": statistic })).unwrap()
        };
        assert_eq!(
            ["sum", "mean", "median", "range", "count"].map(figure),
            ["10.5", "2.625", "2.75", "3", "4"]
        );
        assert_eq!(figure("deviation"), "1.0825317547");
    }
}
