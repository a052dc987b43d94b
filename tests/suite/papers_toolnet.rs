//! ToolNet against golden values: equations 5 to 8, the formats of table 5.

use serde_json::Value;
use toolyard::{
    graph::{Pins, Scores, ToolGraph, WeightFormat, Weights},
    id::ToolName,
};

use crate::shared;

const CLOSE: f64 = 1e-9;

fn vectors() -> Option<Value> {
    let path = shared("vectors/toolnet.json")?;
    Some(serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
}

#[test]
fn weights_after_scores_are_those_of_equations_6_to_8() {
    let Some(vectors) = vectors() else { return };
    let cases = vectors["dynamic"].as_array().unwrap();
    assert!(!cases.is_empty());
    for case in cases {
        let graph = graph_with_row(&case["prior"]);
        let scores: Scores = serde_json::from_value(case["scores"].clone()).unwrap();
        let weights = Weights {
            graph: &graph,
            scores: &scores,
            alpha: case["alpha"].as_f64().unwrap(),
            beta: case["beta"].as_f64().unwrap(),
            pins: &Pins::new(),
        };
        let row = weights.row("from");
        assert_eq!(row.len(), case["weights"].as_object().unwrap().len(), "{case}");
        for step in row {
            let right = case["weights"][step.to.as_str()].as_f64().unwrap();
            assert!((step.weight - right).abs() < CLOSE, "{step:?}, not {right}, in {case}");
            assert_eq!(weights.weight("from", step.to.as_str()), Some(step.weight));
        }
    }
}

/// A graph in which `from` has these successors and no others, as one writes it by hand.
fn graph_with_row(prior: &Value) -> ToolGraph {
    let prior = prior.as_object().unwrap();
    let nodes: Vec<_> = prior.keys().map(String::as_str).chain(["from"]).collect();
    let edges: Vec<_> = prior
        .iter()
        .map(|(to, prior)| serde_json::json!({"from": "from", "to": to, "prior": prior}))
        .collect();
    let text = serde_json::json!({"nodes": nodes, "edges": edges}).to_string();
    ToolGraph::from_json(&text).unwrap()
}

#[test]
fn weights_are_shown_as_in_table_5() {
    let Some(vectors) = vectors() else { return };
    let cases = vectors["format"].as_array().unwrap();
    assert!(!cases.is_empty());
    for case in cases {
        for format in WeightFormat::ALL {
            let shown = format.show(case["weight"].as_f64().unwrap());
            assert_eq!(shown, case["shown"][format.name()], "{format} of {case}");
        }
    }
}

#[test]
fn end_takes_part_with_a_score_of_its_own() {
    let graph = graph_with_row(&serde_json::json!({"x": 0.5, "end": 0.5}));
    let mut scores = Scores::new();
    scores.set(ToolName::end(), 2.0).unwrap();
    let weights =
        Weights { graph: &graph, scores: &scores, alpha: 0.5, beta: 0.0, pins: &Pins::new() };
    assert_eq!(weights.row("from")[0].to, ToolName::end());
    assert!((weights.weight("from", "end").unwrap() - 2.0 / 3.0).abs() < CLOSE);
}
