//! `toolyard-lab graph`: weights against golden values, formats for other programs.

use std::fs;

use serde_json::{Value, json};

use crate::program::Home;
use crate::{root, toolyard};

/// The golden values are good to nine digits.
const CLOSE: f64 = 1e-9;

fn golden() -> Value {
    let text = fs::read_to_string(root().join("tests/data/vectors/toolnet.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn edges(graph: &Value) -> &Vec<Value> {
    graph["edges"].as_array().unwrap()
}

#[test]
fn weights_are_the_golden_ones() {
    let home = Home::new();
    for case in golden()["dynamic"].as_array().unwrap() {
        let row = case["prior"].as_object().unwrap();
        let nodes: Vec<_> = row.keys().map(String::as_str).chain(["from"]).collect();
        let edge = |(to, prior)| json!({ "from": "from", "to": to, "prior": prior });
        let edges: Vec<_> = row.iter().map(edge).collect();
        home.write("g.json", json!({ "nodes": nodes, "edges": edges }).to_string());
        home.write("s.json", case["scores"].to_string());
        let (alpha, beta) = (case["alpha"].to_string(), case["beta"].to_string());
        let arguments = ["graph", "weights", "g.json", "--scores", "s.json", "--json"];
        let numbers = ["--alpha", &alpha, "--beta", &beta];
        let out = home.succeed(&[&arguments[..], &numbers].concat());
        let graph: Value = serde_json::from_str(&out).unwrap();
        let weighed = self::edges(&graph);
        assert_eq!(weighed.len(), row.len());
        for edge in weighed {
            let right = case["weights"][edge["to"].as_str().unwrap()].as_f64().unwrap();
            assert!((edge["weight"].as_f64().unwrap() - right).abs() < CLOSE, "{edge} in {case}");
        }
    }
}

#[test]
fn a_graph_is_shown_in_every_format_and_stays_in_order() {
    let home = Home::new();
    home.write(
        "t.jsonl",
        "{\"task\":\"\",\"tools\":[\"b\",\"a\"]}\n{\"task\":\"\",\"tools\":[\"a\"]}\n",
    );
    let learn = ["graph", "learn", "--format", "jsonl", "t.jsonl", "--out", "g.json"];
    assert_eq!(toolyard(&home, &learn).code, 0);
    let show = |format: &str| home.succeed(&["graph", "show", "g.json", "--format", format]);
    assert_eq!(show("json"), home.read("g.json"), "what is learned is shown as it is");
    assert!(show("dot").starts_with("digraph tools {\n"));
    assert!(show("dot").contains("  \"b\" -> \"a\" [label=\"1.00\"];\n"));
    assert!(show("mermaid").starts_with("flowchart LR\n"));
    assert!(show("graphml").starts_with("<?xml version=\"1.0\""));
    assert!(show("graphml").contains("<data key=\"prior\">1</data>"));
    for format in ["json", "dot", "mermaid", "graphml"] {
        let shown = show(format);
        assert_eq!(shown, show(format));
        let places: Vec<_> = ["start", "a", "b", "end"]
            .map(|node| shown.find(&format!("\"{node}\"")).or(shown.find(&format!(">{node}<"))))
            .into();
        assert!(places.is_sorted() && places[0].is_some(), "{places:?} in\n{shown}");
    }
}

#[test]
fn what_cannot_be_weighed_or_shown_says_why() {
    let home = Home::new();
    home.write("g", "{\"nodes\": [\"a\"], \"edges\": []}");
    home.write("broken", "{\"nodes\": [\"a\"]}");
    home.write("s", "{\n\"a\": true}");
    home.write("large", "{\"a\": 1e300}");
    for (arguments, says) in [
        (
            "graph show broken",
            &["broken: ", "missing field `edges` at line 1", "expected {\"nodes\""][..],
        ),
        (
            "graph weights g --scores s",
            &[
                "s:2: a: invalid type: boolean `true`, expected f64",
                "expected {\"TOOL\": NUMBER, …}",
            ],
        ),
        ("graph weights g --scores large", &["large: ", "a", "1000000"]),
        ("graph weights g --alpha -1", &["--alpha -1: expected a number from 0 to"]),
        ("graph weights g --beta 2", &["--beta 2: expected a number from 0 to 1"]),
        ("graph show g --format png", &["png", "graphml"]),
        ("graph show \u{9b}2J", &["2J: No such file"]),
    ] {
        let ran = home.run(&arguments.split(' ').collect::<Vec<_>>());
        assert_eq!(ran.code, 2, "{arguments}: {ran:?}");
        assert!(says.iter().all(|says| ran.err.contains(says)), "{arguments}: {ran:?}");
        assert!(ran.err.chars().all(|c| c == '\n' || !c.is_control()), "{ran:?}");
    }
}
