//! `toolyard probe`: what tools return, kept in the workspace.

use serde_json::Value;

use crate::program::Home;

/// What is known of a tool.
fn tool<'a>(all: &'a Value, name: &str) -> &'a Value {
    let tools = all["tools"].as_array().unwrap();
    tools.iter().find(|tool| tool["tool"] == name).unwrap()
}

#[test]
fn the_film_sample_is_reached_by_the_chain_only() {
    let home = Home::new();
    let all: Value = serde_json::from_str(&home.succeed(&["probe", "--json"])).unwrap();
    assert_eq!(all["known"], 15, "{all:#}");
    assert_eq!(tool(&all, "film_details")["how"], "learned");
    assert_eq!(tool(&all, "collection_details")["after"], serde_json::json!(["film_details"]));
    let ran = home.run(&["probe", "--passes", "0", "--json"]);
    let alone: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &alone["sums"]["reached"]), (1, &1.into()), "{alone:#}");
}

#[test]
fn a_workspace_keeps_what_was_learned_until_a_manifest_changes() {
    let home = Home::new();
    home.succeed(&["init", "mine"]);
    let manifest = "name = \"echo\"\ndescription = \"Says a text.\"\nclass = \"Computing\"\ncost = 1\n\
        effect = \"read\"\n[parameters]\nrequired = [\"text\"]\n[parameters.properties.text]\n\
        type = \"string\"\n[source]\ncommand = [\"cat\"]\n";
    home.write("mine/tools/echo.toml", manifest);
    let probe = || {
        let text = home.succeed(&["probe", "echo", "--workspace", "mine", "--json"]);
        serde_json::from_str::<Value>(&text).unwrap()
    };
    let first = probe();
    assert_eq!(tool(&first, "echo")["schema"], serde_json::json!({"text": "str"}));
    let kept = home.read("mine/probed.json");
    assert!(kept.contains("\"tool\": \"echo\"") || kept.contains("\"tool\":\"echo\""), "{kept}");
    let how = || {
        let text = home.run(&["probe", "--workspace", "mine", "--json"]).out;
        let all: Value = serde_json::from_str(&text).unwrap();
        tool(&all, "echo")["how"].as_str().unwrap().to_owned()
    };
    assert_eq!(how(), "known");
    home.write("mine/tools/echo.toml", manifest.replace("Says a text.", "Repeats a text."));
    assert_eq!(how(), "learned", "the manifest has changed");
}

#[test]
fn what_cannot_be_probed_is_said() {
    let home = Home::new();
    let ran = home.run(&["probe", "serch_film"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.out.contains("no such tool; did you mean search_film?"), "{ran:?}");
    let ran = home.run(&["probe", "--tasks-limit", "3"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("the only task is to probe tools"), "{ran:?}");
}

#[test]
fn a_key_that_is_missing_is_named_before_any_call() {
    let home = Home::new();
    home.succeed(&["init", "mine"]);
    let manifest = |name: &str, source: &str| {
        let text = format!(
            "name = \"{name}\"\ndescription = \"Says a text.\"\neffect = \"read\"\n[source]\n{source}\n"
        );
        home.write(&format!("mine/tools/{name}.toml"), text);
    };
    for name in ["film", "person"] {
        let source =
            "url = \"http://127.0.0.1:9/x\"\nheaders = { Authorization = \"Bearer ${FILM_KEY}\" }";
        manifest(name, source);
    }
    manifest("echo", "command = [\"cat\"]");
    let ran = home.run(&["probe", "--workspace", "mine", "--journal", "p.jsonl"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    let said = "the environment variable FILM_KEY is not set, and film and 1 other tool cannot be called without it";
    assert!(ran.err.contains(said), "{ran:?}");
    assert!(!home.path("p.jsonl").exists(), "no session has begun");
    // Tools without it are probed if they are named.
    let ran = home.run(&["probe", "echo", "--workspace", "mine"]);
    assert!(!ran.err.contains("FILM_KEY"), "{ran:?}");
}
