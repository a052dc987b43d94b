//! `toolyard graph`: learning from files, weights against golden values, formats for other programs.

use serde_json::{Value, json};

use crate::program::{Home, text};
use crate::{shared, vectors};

/// The golden values are good to nine digits.
const CLOSE: f64 = 1e-9;

fn golden() -> Value {
    serde_json::from_str(&vectors("toolnet.json")).unwrap()
}

fn edges(graph: &Value) -> &Vec<Value> {
    graph["edges"].as_array().unwrap()
}

#[test]
fn a_graph_is_learned_from_lines_of_json() {
    let home = Home::new();
    for case in golden()["static"].as_array().unwrap() {
        let trajectories = case["trajectories"].as_array().unwrap();
        let lines = trajectories.iter().map(|tools| json!({ "task": "t", "tools": tools }));
        home.write("t.jsonl", lines.map(|line| format!("{line}\n")).collect::<String>());
        home.succeed(&["graph", "learn", "--format", "jsonl", "t.jsonl", "--out", "g.json"]);
        let graph = home.json("g.json");
        let right = case["weights"].as_object().unwrap();
        let count: usize = right.values().map(|row| row.as_object().unwrap().len()).sum();
        assert_eq!(edges(&graph).len(), count, "{case}");
        for edge in edges(&graph) {
            let (from, to) = (edge["from"].as_str().unwrap(), edge["to"].as_str().unwrap());
            let prior = right[from][to].as_f64().unwrap();
            assert!((edge["prior"].as_f64().unwrap() - prior).abs() < CLOSE, "{edge} in {case}");
            assert_eq!(edge["weight"], edge["prior"], "nothing was scored yet");
            assert!(edge["count"].as_u64().unwrap() > 0, "{edge}");
        }
    }
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
fn api_bank_is_learned_with_its_numbers() {
    let Some(data) = shared("data/api-bank") else { return };
    let home = Home::new();
    let from = ["graph", "learn", "--format", "api-bank", text(&data)];
    let out = home.succeed(&[&from[..], &["--out", "g.json"]].concat());
    assert_eq!(out, "212 trajectories, 2 without calls; 49 tools, 110 edges → g.json\n");
    let graph = home.json("g.json");
    assert_eq!(edges(&graph).iter().map(|edge| edge["count"].as_u64().unwrap()).sum::<u64>(), 389);
    let first = home.read("g.json");
    home.succeed(&[&from[..], &["--out", "g.json"]].concat());
    assert_eq!(home.read("g.json"), first, "learning twice writes the same file");
}

#[test]
fn a_graph_is_shown_in_every_format_and_stays_in_order() {
    let home = Home::new();
    home.write(
        "t.jsonl",
        "{\"task\":\"\",\"tools\":[\"b\",\"a\"]}\n{\"task\":\"\",\"tools\":[\"a\"]}\n",
    );
    home.succeed(&["graph", "learn", "--format", "jsonl", "t.jsonl", "--out", "g.json"]);
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
