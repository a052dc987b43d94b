//! The embedded table of list prices: what is in it, and which names of watched agents have a price.

use std::process::Command;

use toolyard::store::prices::{PriceMatch, PriceTable, all_listed, listed};

const OPENAI: &str = "https://api.openai.com/v1";
/// A gateway, a proxy on this machine, and a tunnel to one.
const ELSEWHERE: [&str; 3] =
    ["https://gateway.example/openai", "http://127.0.0.1:4000/v1", "http://10.0.0.7:8080"];

/// The name of the entry, after `~` if it is a list price; `-` for none, `free` where nothing is charged.
fn found(at: &str, model: &str) -> String {
    let table = listed(model);
    match table.find_watched(at, model) {
        PriceMatch::Price(id, _) => id.to_owned(),
        PriceMatch::Listed(id, _) => format!("~{id}"),
        PriceMatch::Ambiguous(..) | PriceMatch::Nothing => "-".to_owned(),
        PriceMatch::Private => "free".to_owned(),
    }
}

#[test]
fn the_table_is_whole_and_says_where_it_is_from() {
    let PriceTable { source, licence, imported, unit, models } = all_listed();
    assert!(source.starts_with("LiteLLM 1."), "{source}");
    assert_eq!(licence, "MIT, Copyright (c) 2023 Berri AI");
    assert!(imported.parse::<jiff::civil::Date>().is_ok(), "{imported}");
    assert_eq!(unit, "US dollars per million tokens");
    assert!(models.len() > 3000, "{}", models.len());
    for (id, price) in &models {
        let prices = [price.price_in, price.price_out];
        let more = [price.price_cached, price.price_written].into_iter().flatten();
        assert!(prices.iter().all(Option::is_some) && price.context.is_none(), "{id}");
        let all = prices.into_iter().flatten().chain(more);
        assert!(all.into_iter().all(|it| it > 0.0 && it < 1e6), "{id}: {price:?}");
    }
    // The newest prices of the authors' own lists, by hand.
    for (id, price_in, price_out, cached, written) in [
        ("gpt-4o", 2.5, 10.0, Some(1.25), None),
        ("gpt-5", 1.25, 10.0, Some(0.125), None),
        ("claude-sonnet-4-5", 3.0, 15.0, Some(0.3), Some(3.75)),
        ("gemini/gemini-2.5-flash", 0.3, 2.5, Some(0.03), None),
    ] {
        let price = &models[id];
        assert_eq!((price.price_in, price.price_out), (Some(price_in), Some(price_out)), "{id}");
        assert_eq!(price.price_cached, cached, "{id}");
        assert!(written.is_none() || price.price_written == written, "{id}");
    }
    // What is free or paid in another way has no price, and neither has what is no text.
    for absent in ["sample_spec", "dall-e-3", "whisper-1", "text-embedding-3-small"] {
        assert!(!models.contains_key(absent), "{absent}");
    }
    assert!(!models.values().any(|price| price.provider == "ollama"));
}

#[test]
fn a_well_known_address_has_prices_of_its_own() {
    for (at, model, entry) in [
        (OPENAI, "gpt-4o", "gpt-4o"),
        (OPENAI, "gpt-4o-2024-05-13", "gpt-4o-2024-05-13"),
        ("https://api.anthropic.com", "claude-sonnet-4-5-20250929", "claude-sonnet-4-5-20250929"),
        ("https://api.x.ai/v1", "grok-4.3", "xai/grok-4.3"),
        ("https://me.openai.azure.com/openai", "gpt-4o", "azure/gpt-4o"),
        (
            "https://generativelanguage.googleapis.com/v1beta/openai",
            "models/gemini-2.5-flash",
            "gemini/gemini-2.5-flash",
        ),
        // A snapshot that is newer than the table costs about what its model does.
        (OPENAI, "gpt-4o-2031-01-31", "~gpt-4o"),
        ("https://api.anthropic.com", "claude-sonnet-4-5-20310131", "~claude-sonnet-4-5"),
        // Another one sells it.
        (OPENAI, "claude-sonnet-4-5", "-"),
        (OPENAI, "gpt-4", "gpt-4"),
        (OPENAI, "gpt", "-"),
        (OPENAI, "gpt-4o-2031-13", "-"),
        (OPENAI, "-2024-05-13", "-"),
        (OPENAI, "ft:gpt-4o:me::1", "-"),
    ] {
        assert_eq!(found(at, model), entry, "{model} at {at}");
    }
}

#[test]
fn behind_another_address_a_name_has_the_list_price_of_its_seller() {
    for at in ELSEWHERE {
        for (model, entry) in [
            ("gpt-4o", "~gpt-4o"),
            ("GPT-4o", "~gpt-4o"),
            ("gpt-4o-2024-08-06", "~gpt-4o-2024-08-06"),
            ("gpt-4o-2031-01-31", "~gpt-4o"),
            ("openai/gpt-5", "~gpt-5"),
            ("OpenAI/GPT-5", "~gpt-5"),
            ("anthropic/claude-sonnet-4-5-20250929", "~claude-sonnet-4-5-20250929"),
            ("claude-sonnet-4-5@20250929", "~claude-sonnet-4-5"),
            ("vertex_ai/claude-sonnet-4-5@20250929", "~vertex_ai/claude-sonnet-4-5@20250929"),
            (
                "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
                "~us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            ),
            (
                "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
                "~us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            ),
            ("azure/gpt-4o", "~azure/gpt-4o"),
            ("google/gemini-2.5-flash", "~gemini/gemini-2.5-flash"),
            ("models/gemini-2.5-flash", "~gemini/gemini-2.5-flash"),
            ("gemini-2.5-flash", "~gemini-2.5-flash"),
            ("x-ai/grok-4.3", "~xai/grok-4.3"),
            ("grok-4.3", "~xai/grok-4.3"),
        ] {
            assert_eq!(found(at, model), entry, "{model} at {at}");
        }
    }
}

/// A part has the same prices as the whole.
#[test]
fn each_entry_is_in_the_part_for_its_own_name() {
    let all = all_listed();
    for (id, price) in all.models.iter().step_by(97) {
        assert_eq!(listed(id).models.get(id), Some(price), "{id}");
        let bare = id.rsplit('/').next().unwrap();
        for at in [OPENAI, ELSEWHERE[0], "https://api.groq.com", "https://openrouter.ai/api"] {
            let dated = format!("{bare}-2031-01-31");
            for name in [id, bare, &id.to_uppercase(), &dated] {
                let part = listed(name);
                assert_eq!(part.find(at, name, None), all.find(at, name, None), "{name} at {at}");
            }
        }
    }
}

/// Models that anybody runs, names that are nearly those of others, and names that are hostile.
#[test]
fn a_name_that_is_no_sellers_own_has_no_price() {
    let long = "x".repeat(100_000);
    for at in ELSEWHERE {
        for model in [
            "qwen3",
            "qwen3:8b",
            "llama3.2",
            "gpt-oss-20b",
            "openai/gpt-oss-20b",
            "Qwen/Qwen3-32B",
            "deepseek-ai/DeepSeek-R1",
            "dolphin",
            "together-ai-up-to-4b",
            "my-alias",
            "gpt",
            "gpt-4o ",
            "gpt-4omni",
            "gpt-4o/",
            "/gpt-4o",
            "//",
            "anthropic/gpt-4o",
            "evil/gpt-4o",
            "openai/openai/gpt-4o",
            "gpt-4o\u{1b}[31m",
            "gpt-4o\n",
            "",
            "@20250929",
            "é-20250929",
            "ééééé20250929",
            &long,
        ] {
            assert_eq!(found(at, model), "-", "{model:?} at {at}");
        }
    }
    // Only local models are at these ports, even if their names are those of others.
    for at in ["http://127.0.0.1:11434/v1", "http://localhost:1234/v1", "http://ollama:11434"] {
        for model in ["qwen3", "gpt-4o", "my-alias"] {
            assert_eq!(found(at, model), "free", "{model} at {at}");
        }
    }
    assert_eq!(found("https://gateway.example:11434/v1", "gpt-4o"), "~gpt-4o", "not at home");
}

/// A made-up wheel: the script keeps what is a price, and gives the same bytes again.
#[test]
fn the_script_keeps_names_and_prices_only() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/prices.py");
    let folder = tempfile::tempdir().unwrap();
    let made = Command::new("python3").arg("-c").arg(WHEEL).current_dir(folder.path()).status();
    if !made.is_ok_and(|status| status.success()) {
        println!("SKIPPED: there is no python3");
        return;
    }
    for out in ["one", "two"] {
        let words = ["litellm-9.8-py3-none-any.whl", "--day", "2026-01-31", "--out", out];
        let mut ran = Command::new("python3");
        let ran = ran.arg(script).args(words).current_dir(folder.path()).output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
        assert!(ran.stdout.starts_with(b"2 models of litellm-9.8"), "{ran:?}");
    }
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert_eq!(read("one/table.json.deflate"), read("two/table.json.deflate"));
    assert_eq!(read("one/LICENSE"), b"MIT");
    let text = miniz_oxide::inflate::decompress_to_vec(&read("one/table.json.deflate")).unwrap();
    let table: PriceTable = serde_json::from_slice(&text).unwrap();
    assert_eq!((&*table.source, &*table.imported), (SOURCE, "2026-01-31"));
    let names: Vec<_> = table.models.keys().map(String::as_str).collect();
    assert_eq!(names, ["a\u{1b}[31m", "x/b"]);
    let price = &table.models["x/b"];
    let prices = (price.price_in, price.price_out, price.price_cached, price.price_written);
    assert_eq!(prices, (Some(0.15), Some(3.0), Some(0.015), None));
}

const SOURCE: &str = "LiteLLM 9.8, model_prices_and_context_window.json";
const WHEEL: &str = r#"
import json, zipfile
good = {"litellm_provider": "x", "mode": "chat", "input_cost_per_token": 1.5e-7, "output_cost_per_token": 3e-6}
models = {
    "sample_spec": good,
    "x/b": {**good, "cache_read_input_token_cost": 1.5e-8, "cache_creation_input_token_cost": 0, "max_input_tokens": 9},
    "a\x1b[31m": {"litellm_provider": "x", "input_cost_per_token": 1e-6, "output_cost_per_token": 1},
    "text": {**good, "input_cost_per_token": "1e-6"},
    "true": {**good, "input_cost_per_token": True},
    "list": {**good, "input_cost_per_token": [1e-6]},
    "negative": {**good, "output_cost_per_token": -1e-6},
    "nan": {**good, "input_cost_per_token": float("nan")},
    "endless": {**good, "input_cost_per_token": float("inf")},
    "huge": {**good, "cache_read_input_token_cost": 2},
    "free": {**good, "input_cost_per_token": 0, "output_cost_per_token": 0},
    "half": {"litellm_provider": "x", "mode": "chat", "input_cost_per_token": 1e-6},
    "picture": {**good, "mode": "image_generation"},
    "kind": {**good, "mode": 7},
    "provider": {**good, "litellm_provider": None},
}
with zipfile.ZipFile("litellm-9.8-py3-none-any.whl", "w") as wheel:
    wheel.writestr("litellm/model_prices_and_context_window_backup.json", json.dumps(models))
    wheel.writestr("litellm-9.8.dist-info/licenses/LICENSE", "MIT")
"#;
