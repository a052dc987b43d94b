//! The graph as other programs read it: stable, complete where it says so, and safe with any name.

use toolyard::domain::{Listing, Pins, Prior, Scores, ToolGraph, ToolName};
use toolyard::papers::toolnet::{LearnError, Weights, learn};

fn names(list: &[&str]) -> Vec<ToolName> {
    list.iter().map(|&name| name.into()).collect()
}

fn small() -> ToolGraph {
    learn([names(&["a", "b"]), names(&["b"])]).unwrap()
}

#[test]
fn a_learned_graph_lists_what_was_seen() {
    let json: serde_json::Value =
        serde_json::from_str(&Listing::learned(&small()).to_json()).unwrap();
    assert_eq!(
        json,
        serde_json::json!({
            "structure": "implied",
            "nodes": ["start", "a", "b", "end"],
            "edges": [
                { "from": "a", "to": "b", "prior": 1.0, "weight": 1.0, "count": 1 },
                { "from": "b", "to": "end", "prior": 1.0, "weight": 1.0, "count": 2 },
            ],
        })
    );
}

#[test]
fn weights_list_every_row_in_full() {
    let graph = small();
    let mut scores = Scores::new();
    scores.set("b".into(), 2.0).unwrap();
    let weights =
        Weights { graph: &graph, scores: &scores, alpha: 0.5, beta: 0.5, pins: &Pins::new() };
    let json: serde_json::Value = serde_json::from_str(&weights.listing(0).to_json()).unwrap();
    assert_eq!(json.get("structure"), None);
    let rows: Vec<_> = json["edges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|edge| {
            let [from, to] = ["from", "to"].map(|end| edge[end].as_str().unwrap());
            (from, to, edge["prior"].as_f64().unwrap(), edge["weight"].as_f64().unwrap())
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("start", "a", 0.5, 0.25 + 0.5 / 3.0),
            ("start", "b", 0.5, 0.25 + 1.0 / 3.0),
            ("a", "a", 0.0, 0.125),
            ("a", "b", 1.0, 0.75),
            ("a", "end", 0.0, 0.125),
            ("b", "b", 0.0, 1.0 / 3.0),
            ("b", "end", 1.0, 0.5 + 0.5 / 3.0),
        ]
    );
}

#[test]
fn sixteen_thousand_uninformed_tools_stay_small() {
    let mut graph = ToolGraph::new(Prior::Uninformed);
    for i in 0..16_000 {
        graph.add_tool(format!("tool_{i:05}").into());
    }
    let mut scores = Scores::new();
    scores.set("tool_09999".into(), 3.0).unwrap();
    scores.set("tool_00001".into(), -3.0).unwrap();
    let weights =
        Weights { graph: &graph, scores: &scores, alpha: 0.5, beta: 0.5, pins: &Pins::new() };
    assert_eq!(graph.edge_count(), 0);
    let top: Vec<_> = weights.top("tool_00000", 3).into_iter().map(|step| step.to).collect();
    assert_eq!(top, names(&["tool_09999", "tool_00000", "tool_00002"]));
    let text = weights.listing(1_000_000).to_json();
    assert!(text.len() < 500_000, "{} bytes", text.len());
    assert_eq!(ToolGraph::from_json(&text).unwrap(), graph);
}

#[test]
fn names_that_no_tool_can_have_are_refused() {
    for bad in ["start", "end", ""] {
        let error = learn([names(&["a"]), names(&["a", bad])]).unwrap_err();
        assert_eq!(error, LearnError { place: 2, name: bad.into() });
    }
}
