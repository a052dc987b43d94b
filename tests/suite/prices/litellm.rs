//! Reading LiteLLM's table: what is taken for a price, and what never is.

use proptest::prelude::*;
use serde_json::{Map, Value};
use toolyard::files::json_file;
use toolyard::store::prices::litellm::{ImportSummary, parse};
use toolyard::store::prices::{ModelPrice, PriceTable};

fn read(text: &str) -> ImportSummary {
    parse("t.json", text, "2026-01-31").unwrap_or_else(|problem| panic!("{problem}"))
}

fn refused(text: &str) -> String {
    parse("t.json", text, "2026-01-31").unwrap_err().to_string()
}

const PLAIN: &str = r#"{
    "sample_spec": {"input_cost_per_token": 0, "litellm_provider": "one of …", "mode": "one of",
        "max_input_tokens": "max input tokens, if the provider specifies it"},
    "plain": {"litellm_provider": "x", "mode": "chat", "input_cost_per_token": 1.5e-07,
        "output_cost_per_token": 6e-07, "cache_read_input_token_cost": 7.5e-08,
        "max_input_tokens": 128000, "supports_vision": true},
    "x/kindless": {"litellm_provider": "x", "input_cost_per_token": 1e-5,
        "output_cost_per_token": 3e-5, "max_input_tokens": 0},
    "embed": {"litellm_provider": "x", "mode": "embedding", "input_cost_per_token": 2e-8,
        "output_cost_per_token": 0.0}
}"#;

#[test]
fn prices_are_read_per_million_tokens() {
    let ImportSummary { table, entries, unpriced, others, odd } = read(PLAIN);
    assert_eq!((entries, unpriced, others, odd.len()), (3, 0, 0, 0));
    let plain = ModelPrice {
        provider: "x".into(),
        price_in: Some(0.15),
        price_out: Some(0.6),
        price_cached: Some(0.075),
        price_written: None,
        context: Some(128_000),
    };
    assert_eq!(table.models["plain"], plain);
    let kindless = &table.models["x/kindless"];
    assert_eq!((kindless.price_in, kindless.context), (Some(10.0), None));
    assert_eq!(table.models["embed"].price_out, Some(0.0), "an embedding has no output");
    assert_eq!(table.imported, "2026-01-31");
}

#[test]
fn nothing_is_taken_for_a_price_that_is_none() {
    let imported = read(
        r#"{
        "free?": {"litellm_provider": "x", "mode": "chat", "input_cost_per_token": 0,
            "output_cost_per_token": 0.0},
        "half": {"litellm_provider": "x", "mode": "chat", "input_cost_per_token": 1e-6,
            "output_cost_per_token": 0, "cache_read_input_token_cost": 0},
        "tiered": {"litellm_provider": "x", "mode": "chat", "tiered_pricing": [],
            "max_input_tokens": 1000},
        "null": {"litellm_provider": "x", "mode": "chat", "input_cost_per_token": null},
        "picture": {"litellm_provider": "x", "mode": "image_generation",
            "input_cost_per_token": 1e-6, "output_cost_per_token": 1e-6},
        "rules": {"rules": []},
        "strange": {"litellm_provider": 7, "mode": "chat", "input_cost_per_token": 1e-6}
        }"#,
    );
    let ImportSummary { table, entries, unpriced, others, odd } = &imported;
    assert_eq!((*entries, *unpriced, *others, odd.len()), (7, 4, 3, 0));
    let half = &table.models["half"];
    assert_eq!((half.price_in, half.price_out, half.price_cached), (Some(1.0), None, None));
    assert_eq!(table.models["tiered"].context, Some(1000));
    assert!(!table.models.contains_key("free?") && !table.models.contains_key("picture"));
    assert!(imported.to_string().starts_with("prices of 0 models; of 7 entries 3 are not"));
}

#[test]
fn what_makes_no_sense_is_left_out_and_named() {
    let good = r#""input_cost_per_token": 1e-6, "output_cost_per_token": 1e-6"#;
    let odd = [
        r#""input_cost_per_token": -1e-6"#,
        r#""input_cost_per_token": "NaN""#,
        r#""input_cost_per_token": "1e-6""#,
        r#""output_cost_per_token": 1.1"#,
        r#""output_cost_per_token": {}"#,
        r#""cache_read_input_token_cost": 1e300"#,
        r#""max_input_tokens": "many""#,
        r#""max_input_tokens": -1"#,
        r#""max_input_tokens": 1e30"#,
    ];
    let mut text = format!(
        "{{\"Case\": {{\"litellm_provider\": \"x\", {good}}}, \
         \"case\": {{\"litellm_provider\": \"y\", {good}}}"
    );
    for (i, field) in odd.iter().enumerate() {
        text.push_str(&format!(", \"m{i}\": {{\"litellm_provider\": \"x\", {field}}}"));
    }
    // The same name twice: once the same, once not.
    for price in ["1e-6", "1e-6", "2e-6"] {
        for id in ["same", "other"] {
            let price = if id == "same" { "1e-6" } else { price };
            text.push_str(&format!(
                ", \"{id}\": {{\"litellm_provider\": \"x\", \"input_cost_per_token\": {price}}}"
            ));
        }
    }
    let imported = read(&(text + "}"));
    let ids: Vec<_> = imported.table.models.keys().map(String::as_str).collect();
    assert_eq!(ids, ["Case", "case", "same"], "names differ by case");
    assert_eq!(imported.odd.len(), odd.len() + 1);
    let said = imported.to_string();
    assert!(said.contains("are invalid: 10 (m0, m1, ") && said.ends_with(", …)"), "{said}");
}

const FIELDS: [&str; 6] = [
    "litellm_provider",
    "mode",
    "input_cost_per_token",
    "output_cost_per_token",
    "cache_read_input_token_cost",
    "max_input_tokens",
];
const TEXTS: [&str; 7] = ["x", "chat", "embedding", "image_edit", "NaN", "1e-6", ""];

/// A value as it should be, or as no table should have it.
fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => (0.0..2e-5_f64).prop_map(Value::from),
        3 => prop::sample::select(&TEXTS[..]).prop_map(Value::from),
        1 => any::<f64>().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => Just(Value::Null),
        1 => Just(Value::Array(Vec::new())),
    ]
}

fn entry() -> impl Strategy<Value = Map<String, Value>> {
    let field = (prop::sample::select(&FIELDS[..]).prop_map(str::to_owned), value());
    prop::collection::vec(field, 0..8).prop_map(|fields| fields.into_iter().collect())
}

proptest! {
    /// Whatever is in a table: each entry is accounted for once, and what is taken over can be read
    /// back, with every price in its range.
    #[test]
    fn each_entry_is_accounted_for(entries in prop::collection::btree_map("[a-c/]{1,4}", entry(), 0..12)) {
        let text = serde_json::to_string(&entries).unwrap();
        if let Ok(imported) = parse("t.json", &text, "") {
            let priced = imported.table.models.values().filter(|price| price.is_whole()).count();
            let ImportSummary { table, entries: all, unpriced, others, odd } = imported;
            prop_assert_eq!(all, entries.len());
            prop_assert_eq!(priced + unpriced + others + odd.len(), all);
            let again: PriceTable = json_file::read("p", &table.to_json().unwrap(), "").unwrap();
            prop_assert_eq!(again, table);
        }
    }
}

#[test]
fn what_is_no_such_table_is_refused() {
    for (text, said) in [
        ("[1]", "t.json:1: invalid type: sequence, expected an object with an entry for each"),
        ("{\n\"a\": {},\n", "t.json:3: EOF while parsing"),
        ("{\"a\": 1}", "t.json: a: expected an object with prices"),
        ("{}", "none of its 0 entries has a litellm_provider and a price"),
        ("{\"a\": {\"price\": 1}}", "none of its 1 entries has a litellm_provider"),
        ("{\"a\": {\"b\": 1e999}}", "number out of range"),
    ] {
        let problem = refused(text);
        assert!(problem.contains(said), "{problem}");
        assert!(problem.ends_with("LiteLLM's model_prices_and_context_window.json"), "{problem}");
    }
    let deep = "[".repeat(100_000);
    assert!(refused(&format!("{{\"a\": {deep}")).contains("recursion limit"));
}
