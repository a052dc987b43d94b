//! The tool graph and its weights, by properties: whatever was added, removed, scored and pinned.

use proptest::prelude::*;
use toolyard::domain::{Pins, Prior, Scores, ToolGraph, ToolName};
use toolyard::papers::toolnet::{Weights, learn};

/// Names from a small set, so that they collide.
fn tool() -> impl Strategy<Value = ToolName> {
    (0..12u8).prop_map(|i| ToolName::new(format!("t{i}")))
}

/// The special ones among them.
fn name() -> impl Strategy<Value = ToolName> {
    prop_oneof![
        8 => tool(),
        1 => Just(ToolName::start()),
        1 => Just(ToolName::end()),
    ]
}

fn score() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => -30.0..30.0f64,
        1 => Just(0.0),
        1 => Just(-4000.0),
        1 => Just(-Scores::MAX),
        1 => Just(Scores::MAX),
    ]
}

prop_compose! {
    fn scores()(list in prop::collection::vec((name(), score()), 0..8)) -> Scores {
        let mut scores = Scores::new();
        for (tool, score) in list {
            scores.set(tool, score).unwrap();
        }
        scores
    }
}

prop_compose! {
    fn pins()(list in prop::collection::vec((name(), name(), 0.0..=1.0f64), 0..4)) -> Pins {
        let mut pins = Pins::new();
        for (from, to, weight) in list {
            pins.set(from, to, weight).unwrap();
        }
        pins
    }
}

#[derive(Clone, Debug)]
enum Change {
    Add(ToolName),
    Remove(ToolName),
    Edge(ToolName, ToolName),
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let change = prop_oneof![
        4 => name().prop_map(Change::Add),
        1 => name().prop_map(Change::Remove),
        4 => (name(), name()).prop_map(|(from, to)| Change::Edge(from, to)),
    ];
    prop::collection::vec(change, 0..40)
}

prop_compose! {
    fn graph()(
        prior in prop_oneof![Just(Prior::Static), Just(Prior::Uninformed)],
        changes in changes(),
    ) -> ToolGraph {
        let mut graph = ToolGraph::new(prior);
        for change in changes {
            match change {
                Change::Add(tool) => graph.add_tool(tool),
                Change::Remove(tool) => graph.remove_tool(tool.as_str()),
                Change::Edge(from, to) => graph.add_edge(from.as_str(), to.as_str()),
            };
        }
        graph
    }
}

/// `start`, the tools and `end`.
fn nodes(graph: &ToolGraph) -> Vec<ToolName> {
    [ToolName::start()].into_iter().chain(graph.tools().cloned()).chain([ToolName::end()]).collect()
}

proptest! {
    #[test]
    fn a_row_sums_to_one_where_its_prior_does(
        graph in graph(), scores in scores(), alpha in 0.0..=Weights::MAX_ALPHA, beta in 0.0..=1.0f64,
    ) {
        let weights = Weights { graph: &graph, scores: &scores, alpha, beta, pins: &Pins::new() };
        for from in nodes(&graph) {
            let row = weights.row(from.as_str());
            prop_assert_eq!(row.len(), weights.successors_len(from.as_str()));
            if row.is_empty() {
                continue;
            }
            let prior: f64 = row.iter().map(|step| step.prior).sum();
            let weight: f64 = row.iter().map(|step| step.weight).sum();
            let right = beta * prior + (1.0 - beta);
            prop_assert!((weight - right).abs() < 1e-9, "{} sums to {}, not {}", from, weight, right);
        }
    }

    #[test]
    fn the_top_is_the_row_cut_and_every_weight_stands_in_it(
        graph in graph(), scores in scores(), pins in pins(),
        alpha in 0.0..3.0f64, beta in 0.0..=1.0f64, k in 0..15usize,
    ) {
        let weights = Weights { graph: &graph, scores: &scores, alpha, beta, pins: &pins };
        for from in nodes(&graph) {
            let from = from.as_str();
            let row = weights.row(from);
            prop_assert_eq!(&weights.top(from, k)[..], &row[..k.min(row.len())]);
            prop_assert!(row.windows(2).all(|two| two[0].weight >= two[1].weight));
            let all = nodes(&graph);
            let names: Vec<&str> = all.iter().map(ToolName::as_str).collect();
            let some = weights.some(from, &names);
            for (to, one) in names.into_iter().zip(some) {
                let step = row.iter().find(|step| step.to.as_str() == to);
                prop_assert_eq!(one.as_ref(), step);
                prop_assert_eq!(weights.weight(from, to), step.map(|step| step.weight));
                prop_assert_eq!(graph.has_edge(from, to), step.is_some());
                if let Some(step) = step {
                    prop_assert_eq!(step.pinned.then_some(step.weight), pins.get(from, to));
                }
            }
        }
    }

    #[test]
    fn an_implied_row_is_the_one_written_out(
        n in 1..10u8, scores in scores(), pins in pins(),
        alpha in 0.0..3.0f64, beta in 0.0..=1.0f64,
    ) {
        let mut implied = ToolGraph::new(Prior::Uninformed);
        for i in 0..n {
            implied.add_tool(ToolName::new(format!("t{i}")));
        }
        let written = write_out(&implied);
        let a = Weights { graph: &implied, scores: &scores, alpha, beta, pins: &pins };
        let b = Weights { graph: &written, ..a };
        for from in nodes(&implied) {
            for to in nodes(&implied) {
                match (a.weight(from.as_str(), to.as_str()), b.weight(from.as_str(), to.as_str())) {
                    (Some(a), Some(b)) => prop_assert!((a - b).abs() < 1e-12),
                    (a, b) => prop_assert_eq!(a, b),
                }
            }
        }
    }

    #[test]
    fn what_leads_to_a_node_is_what_leads_from_the_others(graph in graph()) {
        for to in nodes(&graph) {
            let edges = graph.edges();
            let right: Vec<_> = edges.into_iter().filter(|edge| *edge.to == to).collect();
            prop_assert_eq!(graph.before(to.as_str()), right);
        }
    }

    #[test]
    fn a_graph_comes_back_from_json_as_it_was(graph in graph()) {
        let text = serde_json::to_string(&graph).unwrap();
        let back = ToolGraph::from_json(&text).unwrap();
        prop_assert_eq!(&back, &graph);
        prop_assert_eq!(serde_json::to_string(&back).unwrap(), text);
    }

    #[test]
    fn rows_written_out_are_read_as_the_same_rows(
        graph in graph(), scores in scores(), alpha in 0.0..3.0f64, beta in 0.0..=1.0f64,
    ) {
        let a = Weights { graph: &graph, scores: &scores, alpha, beta, pins: &Pins::new() };
        let listing = a.listing(usize::MAX);
        let written = ToolGraph::from_json(&listing.to_json()).unwrap();
        let b = Weights { graph: &written, ..a };
        for from in nodes(&graph) {
            let (a, b) = (a.row(from.as_str()), b.row(from.as_str()));
            prop_assert_eq!(a.len(), b.len());
            for (a, b) in a.iter().zip(&b) {
                prop_assert!((a.weight - b.weight).abs() < 1e-12, "{:?} {:?}", a, b);
            }
        }
    }

    #[test]
    fn trajectories_in_another_order_teach_the_same(
        mut trajectories in prop::collection::vec(prop::collection::vec(tool(), 0..6), 0..20),
        by in any::<prop::sample::Index>(),
    ) {
        let graph = learn(&trajectories).unwrap();
        for tool in graph.tools() {
            let leaving = graph.edges().into_iter().filter(|edge| edge.from == tool);
            prop_assert!((leaving.map(|edge| edge.prior).sum::<f64>() - 1.0).abs() < 1e-12);
        }
        let calls: usize = trajectories.iter().map(Vec::len).sum();
        prop_assert_eq!(graph.edges().iter().map(|edge| edge.count).sum::<u64>(), calls as u64);
        if !trajectories.is_empty() {
            let by = by.index(trajectories.len());
            trajectories.rotate_left(by);
        }
        prop_assert_eq!(learn(&trajectories).unwrap(), graph);
    }

    #[test]
    fn scores_and_pins_come_back_from_json(scores in scores(), pins in pins()) {
        let text = serde_json::to_string(&(&scores, &pins)).unwrap();
        let back: (Scores, Pins) = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(back, (scores, pins));
    }

    #[test]
    fn a_tool_that_leaves_and_joins_leads_nowhere_it_led_to(mut graph in graph(), i in 0..12u8) {
        let tool = ToolName::new(format!("t{i}"));
        graph.add_tool(tool.clone());
        prop_assert!(graph.remove_tool(tool.as_str()));
        prop_assert!(!graph.contains(tool.as_str()));
        prop_assert!(graph.edges().iter().all(|edge| edge.from != &tool && edge.to != &tool));
        prop_assert!(graph.add_tool(tool.clone()));
        prop_assert_eq!(graph.tools().last(), Some(&tool));
    }
}

/// The uninformed graph with every edge listed.
fn write_out(graph: &ToolGraph) -> ToolGraph {
    let n = graph.len() as f64;
    let tools: Vec<_> = graph.tools().collect();
    let mut edges: Vec<_> = tools.iter().map(|to| edge("start", to.as_str(), 1.0 / n)).collect();
    for from in &tools {
        for to in tools.iter().map(|to| to.as_str()).chain(["end"]) {
            edges.push(edge(from.as_str(), to, 1.0 / (n + 1.0)));
        }
    }
    let text = serde_json::json!({"nodes": tools, "edges": edges}).to_string();
    ToolGraph::from_json(&text).unwrap()
}

fn edge(from: &str, to: &str, prior: f64) -> serde_json::Value {
    serde_json::json!({"from": from, "to": to, "prior": prior})
}

#[test]
fn a_row_in_which_all_failed_badly_still_sums_to_one() {
    let mut graph = ToolGraph::new(Prior::Uninformed);
    let mut scores = Scores::new();
    for (tool, score) in [("a", -4000.0), ("b", -4001.0)] {
        graph.add_tool(tool.into());
        scores.set(tool.into(), score).unwrap();
    }
    let weights =
        Weights { graph: &graph, scores: &scores, alpha: 1.0, beta: 0.0, pins: &Pins::new() };
    // From `start` there is no `end` to go to; the two keep their ratio, 1 to e.
    let row = weights.row("start");
    assert!((row[0].weight - 1.0 / (1.0 + (-1.0f64).exp())).abs() < 1e-12, "{row:?}");
    assert!((row[0].weight + row[1].weight - 1.0).abs() < 1e-12, "{row:?}");
}

#[test]
fn a_score_is_added_to_the_one_before() {
    let mut scores = Scores::new();
    for (delta, sum) in [(1.5, 1.5), (2.0, 3.5), (-0.5, 3.0)] {
        assert_eq!(scores.add("a".into(), delta), Ok(sum));
        assert_eq!(scores.get("a"), Some(sum));
    }
}

#[test]
fn what_a_removed_tool_had_goes_to_the_others() {
    let text = r#"{"nodes": ["a", "b", "c"], "edges": [
        {"from": "a", "to": "b", "prior": 0.5}, {"from": "a", "to": "c", "prior": 0.25},
        {"from": "a", "to": "end", "prior": 0.25}]}"#;
    let mut graph = ToolGraph::from_json(text).unwrap();
    graph.remove_tool("b");
    let priors: Vec<_> = graph.edges().iter().map(|edge| edge.prior).collect();
    assert_eq!(priors, [0.5, 0.5]);
}

#[test]
fn numbers_that_are_no_scores_and_no_weights_are_refused() {
    let mut scores = Scores::new();
    for bad in [f64::NAN, f64::INFINITY, -f64::INFINITY, 2.0 * Scores::MAX] {
        assert!(scores.set("a".into(), bad).is_err());
        assert!(scores.add("a".into(), bad).is_err());
    }
    assert!(scores.is_empty());
    assert!(serde_json::from_str::<Scores>(r#"{"a": 1e300}"#).is_err());
    let mut pins = Pins::new();
    for bad in [f64::NAN, -0.1, 1.1] {
        assert!(pins.set("a".into(), "b".into(), bad).is_err());
    }
    assert!(pins.is_empty());
}

#[test]
fn a_broken_graph_file_says_where_and_what() {
    let edge = |text: &str| format!(r#"{{"nodes": ["a"], "edges": [{text}]}}"#);
    for (text, says) in [
        ("{", "line 1"),
        (r#"{"nodes": []}"#, "missing field `edges`"),
        (r#"{"nodes": [], "edges": [], "structur": "implied"}"#, "unknown field `structur`"),
        (r#"{"nodes": [7], "edges": []}"#, "invalid type: integer `7`"),
        (r#"{"nodes": ["a", "a"], "edges": []}"#, r#"nodes[1]: "a" is named twice"#),
        (r#"{"nodes": [""], "edges": []}"#, "nodes[0]: expected a name"),
        (&edge(r#"{"from": "a", "prior": 1}"#), "edges[0]: missing field `to` at line 1"),
        (
            &edge(r#"{"from": "a", "to": "b", "prior": 1}"#),
            r#"edges[0].to: "b" is not among the nodes"#,
        ),
        (&edge(r#"{"from": "end", "to": "a", "prior": 1}"#), "edges[0].from: \"end\" has no"),
        (&edge(r#"{"from": "a", "to": "start", "prior": 1}"#), "edges[0].to: \"start\" has no"),
        (
            &edge(r#"{"from": "a", "to": "end", "prior": 1.5}"#),
            "edges[0].prior: expected a number from 0 to 1",
        ),
        (&edge(r#"{"from": "a", "to": "end", "prior": "x"}"#), "edges[0]: invalid type: string"),
        (
            &edge(r#"{"from":"a","to":"a","prior":0},{"from":"a","to":"a","prior":0}"#),
            "list each edge once",
        ),
        (
            r#"{"structure": "implied", "nodes": ["a"], "edges": [{"from":"start","to":"a","prior":1}]}"#,
            "edges[0].from: \"start\" leads to every tool equally",
        ),
        (
            r#"{"prior": "uninformed", "nodes": ["a"], "edges": [{"from":"a","to":"a","prior":0}]}"#,
            "edges: expected none",
        ),
        (
            "{\"nodes\": [\"a\"],\n \"edges\": [\n{\"from\":\"a\",\"to\":\"a\",\"prior\":0},\n{\"from\":\"a\",\"to\":\"x\",\"prior\":0}]}",
            "line 4: edges[1].to: \"x\"",
        ),
    ] {
        let error = ToolGraph::from_json(text).unwrap_err().to_string();
        assert!(error.contains(says), "{text}\n  says: {error}\n  not: {says}");
    }
}
