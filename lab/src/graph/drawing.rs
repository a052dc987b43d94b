//! A [`Listing`] in graph formats: DOT, Mermaid, GraphML.
//!
//! Names come from tools, and tools are not trusted: each format's own escapes keep a name a name.

use std::{collections::HashMap, fmt::Write as _};

use crate::domain::graph::ListedEdge;
use crate::domain::{Listing, ToolName};

// Writing to a string cannot fail, so the results of `writeln!` are ignored.

/// For Graphviz. Edges are labelled with their weight, 0.00 to 1.00.
pub fn to_dot(listing: &Listing) -> String {
    let mut text = String::from("digraph tools {\n  rankdir=LR;\n");
    if let Some(note) = listing.note() {
        let _ = writeln!(text, "  // {note}");
    }
    for node in &listing.nodes {
        let shape = if node.is_special() { "circle" } else { "box" };
        let _ = writeln!(text, "  {} [shape={shape}];", dot(node));
    }
    for edge in &listing.edges {
        let (from, to, label) = (dot(&edge.from), dot(&edge.to), label(edge));
        let _ = writeln!(text, "  {from} -> {to} [label=\"{label}\"];");
    }
    text.push_str("}\n");
    text
}

/// For Mermaid, as a flowchart. Edges are labelled with their weight, 0.00 to 1.00.
pub fn to_mermaid(listing: &Listing) -> String {
    let mut text = String::from("flowchart LR\n");
    if let Some(note) = listing.note() {
        let _ = writeln!(text, "  %% {note}");
    }
    let numbers = numbers(listing);
    for (i, node) in listing.nodes.iter().enumerate() {
        let (open, close) = if node.is_special() { ("((", "))") } else { ("[", "]") };
        let _ = writeln!(text, "  n{i}{open}\"{}\"{close}", mermaid(node));
    }
    for edge in &listing.edges {
        let (from, to) = (numbers[&edge.from], numbers[&edge.to]);
        let _ = writeln!(text, "  n{from} -->|{}| n{to}", label(edge));
    }
    text
}

/// For yEd, Gephi, igraph and the like, with every number in full.
pub fn to_graphml(listing: &Listing) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n",
    );
    for (target, name, kind) in [
        ("node", "name", "string"),
        ("edge", "prior", "double"),
        ("edge", "weight", "double"),
        ("edge", "count", "long"),
    ] {
        let _ = writeln!(
            text,
            "  <key id=\"{name}\" for=\"{target}\" attr.name=\"{name}\" attr.type=\"{kind}\"/>"
        );
    }
    text.push_str("  <graph id=\"tools\" edgedefault=\"directed\">\n");
    if let Some(note) = listing.note() {
        let _ = writeln!(text, "    <desc>{note}</desc>");
    }
    let numbers = numbers(listing);
    for (i, node) in listing.nodes.iter().enumerate() {
        let name = xml(node);
        let _ = writeln!(text, "    <node id=\"n{i}\"><data key=\"name\">{name}</data></node>");
    }
    for edge in &listing.edges {
        let (from, to) = (numbers[&edge.from], numbers[&edge.to]);
        let _ = write!(text, "    <edge source=\"n{from}\" target=\"n{to}\">");
        let _ = write!(text, "<data key=\"prior\">{}</data>", edge.prior);
        if let Some(weight) = edge.weight {
            let _ = write!(text, "<data key=\"weight\">{weight}</data>");
        }
        let _ = writeln!(text, "<data key=\"count\">{}</data></edge>", edge.count);
    }
    text.push_str("  </graph>\n</graphml>\n");
    text
}

fn numbers(listing: &Listing) -> HashMap<&ToolName, usize> {
    listing.nodes.iter().enumerate().map(|(i, node)| (node, i)).collect()
}

fn label(edge: &ListedEdge) -> String {
    format!("{:.2}", edge.weight.unwrap_or(edge.prior))
}

/// A quoted DOT identifier. Backslashes are doubled, since labels read `\n` and `\N` as commands.
fn dot(name: &ToolName) -> String {
    let mut quoted = String::from("\"");
    for c in name.as_str().chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push(char::REPLACEMENT_CHARACTER),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// The inside of a quoted Mermaid label: everything that could end it or start markup, as entity codes.
fn mermaid(name: &ToolName) -> String {
    let mut text = String::new();
    for c in name.as_str().chars() {
        match c {
            '"' | '#' | '&' | '<' | '>' | ';' | '`' | '%' | '\\' => {
                let _ = write!(text, "#{};", u32::from(c));
            }
            c if c.is_control() => text.push(char::REPLACEMENT_CHARACTER),
            c => text.push(c),
        }
    }
    text
}

/// XML text; characters that XML 1.0 cannot represent become U+FFFD.
fn xml(name: &ToolName) -> String {
    let mut text = String::new();
    for c in name.as_str().chars() {
        match c {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '"' => text.push_str("&quot;"),
            '\u{FFFE}' | '\u{FFFF}' => text.push(char::REPLACEMENT_CHARACTER),
            c if c.is_control() => text.push(char::REPLACEMENT_CHARACTER),
            c => text.push(c),
        }
    }
    text
}
