//! ToolNet against golden values: equations 5 to 8, the formats of table 5, the graph of API-Bank.

use std::collections::BTreeMap;

use serde_json::Value;
use toolyard::domain::{Pins, Scores, ToolGraph, ToolName, WeightFormat, knob::KnobChoice};
use toolyard::papers::toolnet::{Weights, learn};
use toolyard::store::import::{TrajectoryFormat, read_trajectories};

use crate::shared;

const CLOSE: f64 = 1e-9;

fn vectors() -> Value {
    serde_json::from_str(&crate::vectors("toolnet.json")).unwrap()
}

#[test]
fn a_graph_learned_from_trajectories_is_that_of_equation_5() {
    let vectors = vectors();
    let cases = vectors["static"].as_array().unwrap();
    assert!(!cases.is_empty());
    for case in cases {
        let trajectories: Vec<Vec<ToolName>> =
            serde_json::from_value(case["trajectories"].clone()).unwrap();
        let graph = learn(&trajectories).unwrap();
        let mut right: BTreeMap<String, BTreeMap<String, f64>> =
            serde_json::from_value(case["weights"].clone()).unwrap();
        for edge in graph.edges() {
            let right =
                right.get_mut(edge.from.as_str()).and_then(|row| row.remove(edge.to.as_str()));
            let right = right.unwrap_or_else(|| panic!("{edge:?} is too many in {case}"));
            assert!((edge.prior - right).abs() < CLOSE, "{edge:?}, not {right}, in {case}");
        }
        assert!(right.values().all(BTreeMap::is_empty), "missing: {right:?} in {case}");
        // Never seen, but there: every tool leads to itself and to the end.
        let (scores, pins) = (Scores::new(), Pins::new());
        let weights =
            Weights { graph: &graph, scores: &scores, alpha: 0.5, beta: 1.0, pins: &pins };
        for tool in graph.tools() {
            for to in [tool.as_str(), ToolName::END] {
                let seen = case["weights"][tool.as_str()][to].as_f64().unwrap_or(0.0);
                assert!((weights.weight(tool.as_str(), to).unwrap() - seen).abs() < CLOSE);
            }
        }
    }
}

#[test]
fn the_graph_of_api_bank_has_the_numbers_of_the_paper_page() {
    let Some(data) = shared("data/api-bank") else { return };
    let trajectories = read_trajectories(TrajectoryFormat::ApiBank, [data]).unwrap();
    assert_eq!(trajectories.list.len(), 212);
    assert_eq!(trajectories.without_calls, 2);
    assert_eq!(trajectories.list.iter().map(|one| one.tools.len()).sum::<usize>(), 389);

    let graph = trajectories.learn().unwrap();
    let edges = graph.edges();
    assert_eq!(graph.len(), 49);
    assert_eq!(edges.len(), 110);
    assert_eq!(edges.iter().filter(|edge| edge.to.as_str() != ToolName::END).count(), 61);
    assert_eq!(edges.iter().filter(|edge| edge.from == edge.to).count(), 6);
    // Every call leaves its tool once, be it for `end`.
    assert_eq!(edges.iter().map(|edge| edge.count).sum::<u64>(), 389);

    let out_degree = |tool: &str| edges.iter().filter(|edge| edge.from.as_str() == tool).count();
    let degrees: Vec<_> = graph.tools().map(|tool| out_degree(tool.as_str())).collect();
    let mean = degrees.iter().sum::<usize>() as f64 / degrees.len() as f64;
    assert!((mean - 2.2449).abs() < 5e-5, "{mean}");
    assert_eq!(degrees.iter().filter(|&&degree| degree < 6).count(), 48);
    assert_eq!(out_degree("GetUserToken"), 21);
}

#[test]
fn weights_after_scores_are_those_of_equations_6_to_8() {
    let vectors = vectors();
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
    let vectors = vectors();
    let cases = vectors["format"].as_array().unwrap();
    assert!(!cases.is_empty());
    for case in cases {
        for (format, name) in WeightFormat::ALL.iter().zip(WeightFormat::NAMES) {
            let shown = format.show(case["weight"].as_f64().unwrap());
            assert_eq!(shown, case["shown"][name], "{name} of {case}");
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
