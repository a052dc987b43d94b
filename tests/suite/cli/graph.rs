//! `toolyard graph`: learning from files, against golden values.

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
