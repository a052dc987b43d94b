//! The graph as other programs draw it: stable, complete where it says so, and safe with any name.

use toolyard::domain::{Listing, ToolGraph, ToolName};
use toolyard::papers::toolnet::learn;
use toolyard_lab::graph::drawing;

fn names(list: &[&str]) -> Vec<ToolName> {
    list.iter().map(|&name| name.into()).collect()
}

fn small() -> ToolGraph {
    learn([names(&["a", "b"]), names(&["b"])]).unwrap()
}

#[test]
fn drawings_are_stable_and_say_what_they_leave_out() {
    let listing = Listing::learned(&small());
    insta::assert_snapshot!(drawing::to_dot(&listing), @r##"
    digraph tools {
      rankdir=LR;
      // start leads to every tool equally, every tool leads to itself and to end; only edges that were seen or explored are listed
      "start" [shape=circle];
      "a" [shape=box];
      "b" [shape=box];
      "end" [shape=circle];
      "a" -> "b" [label="1.00"];
      "b" -> "end" [label="1.00"];
    }
    "##);
    insta::assert_snapshot!(drawing::to_mermaid(&listing), @r##"
    flowchart LR
      %% start leads to every tool equally, every tool leads to itself and to end; only edges that were seen or explored are listed
      n0(("start"))
      n1["a"]
      n2["b"]
      n3(("end"))
      n1 -->|1.00| n2
      n2 -->|1.00| n3
    "##);
    insta::assert_snapshot!(drawing::to_graphml(&listing), @r##"
    <?xml version="1.0" encoding="UTF-8"?>
    <graphml xmlns="http://graphml.graphdrawing.org/xmlns">
      <key id="name" for="node" attr.name="name" attr.type="string"/>
      <key id="prior" for="edge" attr.name="prior" attr.type="double"/>
      <key id="weight" for="edge" attr.name="weight" attr.type="double"/>
      <key id="count" for="edge" attr.name="count" attr.type="long"/>
      <graph id="tools" edgedefault="directed">
        <desc>start leads to every tool equally, every tool leads to itself and to end; only edges that were seen or explored are listed</desc>
        <node id="n0"><data key="name">start</data></node>
        <node id="n1"><data key="name">a</data></node>
        <node id="n2"><data key="name">b</data></node>
        <node id="n3"><data key="name">end</data></node>
        <edge source="n1" target="n2"><data key="prior">1</data><data key="weight">1</data><data key="count">1</data></edge>
        <edge source="n2" target="n3"><data key="prior">1</data><data key="weight">1</data><data key="count">2</data></edge>
      </graph>
    </graphml>
    "##);
}

#[test]
fn a_name_stays_a_name_whatever_is_in_it() {
    let nasty = "\"]; x -> y\\\" <b>&amp;</b> #quot; \u{1b}[31m\nend`%";
    let graph = learn([names(&[nasty])]).unwrap();
    let listing = Listing::learned(&graph);

    let dot = drawing::to_dot(&listing);
    let node = dot.lines().find(|line| line.contains("x -> y")).unwrap();
    assert!(node.starts_with(r#"  "\"]; x -> y\\\" <b>&amp;"#), "{node}");
    let mermaid = drawing::to_mermaid(&listing);
    let node = mermaid.lines().find(|line| line.contains("n1[")).unwrap();
    assert_eq!(node.matches('"').count(), 2, "{node}");
    assert!(!node.contains(['<', '>', '&', '`']), "{node}");
    let graphml = drawing::to_graphml(&listing);
    let node = graphml.lines().find(|line| line.contains("\"n1\"")).unwrap();
    assert!(node.contains("&quot;]; x -&gt; y\\&quot; &lt;b&gt;&amp;amp;&lt;/b&gt;"), "{node}");
    for text in [dot, mermaid, graphml] {
        assert!(text.chars().all(|c| !c.is_control() || c == '\n'), "{text:?}");
    }
}
