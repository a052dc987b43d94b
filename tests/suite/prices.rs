//! Prices from LiteLLM's table, from the import to the models of a session.

use toolyard::app::config::{Config, ModelConfig};
use toolyard::app::doctor::{Subject, Terminal, Trials, examine};
use toolyard::model::http::Endpoint;

use crate::program::Home;

mod listed;
mod litellm;

/// In the form of LiteLLM's table, with made-up models.
const TABLE: &str = r#"{
    "sample_spec": {"litellm_provider": "one of …", "mode": "one of: chat", "max_input_tokens": "…"},
    "gpt-a": {"litellm_provider": "openai", "mode": "chat", "input_cost_per_token": 2.5e-06,
        "output_cost_per_token": 1e-05, "cache_read_input_token_cost": 1.25e-06,
        "max_input_tokens": 128000},
    "azure/gpt-a": {"litellm_provider": "azure", "mode": "chat", "input_cost_per_token": 3e-06,
        "output_cost_per_token": 1.2e-05},
    "groq/free": {"litellm_provider": "groq", "mode": "chat", "input_cost_per_token": 0,
        "output_cost_per_token": 0},
    "picture": {"litellm_provider": "openai", "mode": "image_generation"},
    "bad\u001b[31m": {"litellm_provider": "openai", "mode": "chat", "input_cost_per_token": -1}
}"#;

/// A home with the table imported, and this configuration.
fn home(config: &str) -> Home {
    let home = Home::new();
    home.write("table.json", TABLE);
    home.write("c.toml", config);
    home.succeed(&["import", "prices", "table.json", "--out", "p.json"]);
    home
}

fn settled(home: &Home) -> Result<Config, String> {
    let settled = Config::settle(Some(&home.path("c.toml")), &|_| None);
    settled.map(|settled| settled.config).map_err(|problems| problems.to_string())
}

fn endpoint(config: &Config, name: &str) -> Endpoint {
    match &config.models[name] {
        ModelConfig::Hosted(endpoint) => endpoint.clone(),
        other => panic!("{name} is {other:?}"),
    }
}

fn model(name: &str, url: &str, more: &str) -> String {
    format!("[models.{name}]\nkind = \"openai\"\nurl = \"{url}\"\nmodel = \"gpt-a\"\n{more}\n")
}

const PRICES: &str = "[cost]\nprices = \"p.json\"\n";
const OPENAI: &str = "https://api.openai.com/v1";

#[test]
fn an_import_says_what_it_took_and_keeps_it_where_sessions_look() {
    let home = Home::new();
    home.write("table.json", TABLE);
    let said = home.succeed(&["import", "prices", "table.json"]);
    assert!(
        said.contains("prices of 2 models; of 5 entries 1 are not paid by the token"),
        "{said}"
    );
    assert!(said.contains("are invalid: 1 (bad") && !said.contains('\u{1b}'), "{said}");
    let table = home.json("toolyard/prices.json");
    assert_eq!(table["models"]["gpt-a"]["price_in"], 2.5);
    assert!(table["source"].as_str().unwrap().starts_with("LiteLLM"), "{table}");
    assert!(table["licence"].as_str().unwrap().starts_with("MIT"), "{table}");

    // Elsewhere, where the configuration says so.
    home.write("conf/c.toml", "[cost]\nprices = \"mine/p.json\"\n");
    home.succeed(&["import", "prices", "table.json", "--config", "conf/c.toml"]);
    assert_eq!(home.read("conf/mine/p.json"), home.read("toolyard/prices.json"));
}

#[test]
fn what_is_no_table_is_refused_and_changes_nothing() {
    let home = home("");
    let before = home.read("p.json");
    for (file, text, said) in [
        ("no.json", None, "no.json: no such file; it is part of the Python package"),
        ("t.json", Some("{\n\"a\": \n}"), "t.json:3: "),
        ("t.json", Some("{\"a\": {\"b\": 1}}"), "none of its 1 entries has a litellm_provider"),
        ("t.json", Some(&*before), "t.json: source: expected an object with prices"),
    ] {
        if let Some(text) = text {
            home.write(file, text);
        }
        let ran = home.run(&["import", "prices", file, "--out", "p.json"]);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains(said), "{said} is missing in {}", ran.err);
    }
    assert_eq!(home.read("p.json"), before);
}

#[test]
fn models_without_a_price_get_the_one_of_whom_they_are_asked_of() {
    let config = [
        PRICES.to_owned(),
        model("openai", OPENAI, ""),
        model("azure", "https://me.openai.azure.com/openai/v1", ""),
        model("home", "http://localhost:4000/v1", ""),
        model("proxy", "http://localhost:4000/v1", "provider = \"azure\""),
    ];
    let config = settled(&home(&config.concat())).unwrap();
    let openai = endpoint(&config, "openai");
    assert_eq!((openai.price_in, openai.price_out), (Some(2.5), Some(10.0)));
    assert_eq!((openai.price_cached, openai.context), (Some(1.25), Some(128_000)));
    let from = openai.price_from.unwrap();
    assert!(from.starts_with("gpt-a in the prices of LiteLLM, imported 2"), "{from}");
    assert_eq!(endpoint(&config, "azure").price_out, Some(12.0));
    assert_eq!(endpoint(&config, "proxy").price_out, Some(12.0));
    let at_home = endpoint(&config, "home");
    assert_eq!((at_home.price_in, at_home.context, at_home.price_from), (None, None, None));
}

#[test]
fn what_the_configuration_says_counts_more_than_a_table() {
    let config = [
        PRICES.to_owned(),
        model("all", OPENAI, "price_in = 0\nprice_out = 7\ncontext = 9"),
        model("part", OPENAI, "price_in = 1"),
    ];
    let config = settled(&home(&config.concat())).unwrap();
    let all = endpoint(&config, "all");
    assert_eq!((all.price_in, all.price_out, all.context), (Some(0.0), Some(7.0), Some(9)));
    assert_eq!((all.price_cached, all.price_from.as_deref()), (None, Some("configuration")));
    let part = endpoint(&config, "part");
    assert_eq!((part.price_in, part.price_out, part.price_cached), (Some(1.0), Some(10.0), None));
    let from = part.price_from.unwrap();
    assert!(from.starts_with("configuration, and gpt-a in the prices of LiteLLM"), "{from}");
}

#[test]
fn a_table_that_is_named_must_be_there_and_sound() {
    let config = format!("[cost]\nprices = \"gone.json\"\n{}", model("m", OPENAI, ""));
    let home = home(&config);
    let said = settled(&home).unwrap_err();
    assert!(
        said.ends_with(
            "gone.json: no such file; make it with `toolyard import \
                            prices`, or remove `prices` from [cost]"
        ),
        "{said}"
    );
    home.write("gone.json", home.read("p.json").replace("\"price_in\":2.5", "\"price_in\":-2.5"));
    let said = settled(&home).unwrap_err();
    assert!(said.contains("gone.json:") && said.contains("models.gpt-a"), "{said}");
    // No model needs it: it is not read.
    home.write("c.toml", "[cost]\nprices = \"none.json\"\n");
    assert!(settled(&home).is_ok());
}

/// What the doctor says of this configuration.
async fn doctor(home: &Home) -> String {
    let environment = |name: &str| (name == "TERM").then(|| "xterm".into());
    let config = home.path("c.toml");
    let subject = Subject {
        config: Some(&config),
        workspace: None,
        mcp: &[],
        model: None,
        environment: &environment,
        terminal: Terminal::default(),
        trials: Trials::None,
    };
    examine(&subject).await.iter().map(|finding| format!("{finding}\n")).collect()
}

#[tokio::test]
async fn the_doctor_says_what_asks_cost_and_why() {
    // Nobody answers there, which is another finding.
    let url = "http://127.0.0.1:1/v1";
    let bound = "[roles]\nactor = \"known\"\nevaluator = \"home\"\nreflector = \"unknown\"\n";
    let config = [
        PRICES.to_owned() + "unknown_ask = 2.5\n",
        model("known", url, "provider = \"openai\""),
        model("home", url, ""),
        model("unknown", url, "provider = \"groq\""),
        bound.to_owned(),
    ];
    let home = home(&config.concat());
    let said = doctor(&home).await;
    for phrase in [
        "ok    prices: 2 models of LiteLLM, model_prices_and_context_window.json, imported 2",
        "ok    model known: $2.5 in and $10 out per million tokens, $1.25 for cached input (gpt-a in",
        "ok    model home: unknown price; each call counts as 2.5 credits in a budget; the",
        "warn  model unknown: unknown price; each call counts as 2.5 credits",
        "→ set price_in and price_out, or set provider, or import a price table: toolyard import prices",
    ] {
        assert!(said.contains(phrase), "{phrase} is missing in\n{said}");
    }
    home.write("p.json", "{}");
    home.write("c.toml", PRICES);
    let said = doctor(&home).await;
    assert!(said.contains("FAIL  prices: ") && said.contains("p.json:1: missing field"), "{said}");
}
