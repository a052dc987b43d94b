//! `toolyard graph` and `toolyard import`.

use std::{fs, path::Path};

use indexmap::IndexMap;

use super::{GraphCommand, ImportCommand, openapi, out, prices, trouble::Trouble};
use crate::domain::words::counted;
use crate::domain::{Listing, Pins, Scores, ToolGraph, ToolName};
use crate::files::{json_file, text_file::without_mark};
use crate::papers::toolnet::Weights;
use crate::store::import;
use crate::ui::text::clean;

pub fn graph(command: &GraphCommand) -> Result<(), Trouble> {
    match command {
        GraphCommand::Learn { format, paths, out } => learn(format, paths, out),
        GraphCommand::Weights { graph, scores, alpha, beta, json } => {
            weights(graph, scores.as_deref(), (*alpha, *beta), *json)
        }
        GraphCommand::Show { graph, format } => {
            let listing = Listing::learned(&read_graph(graph)?);
            let text = match format.as_str() {
                "dot" => listing.to_dot(),
                "mermaid" => listing.to_mermaid(),
                "graphml" => listing.to_graphml(),
                _ => listing.to_json(),
            };
            out::print(text)
        }
    }
}

fn learn(format: &str, paths: &[std::path::PathBuf], file: &Path) -> Result<(), Trouble> {
    let format: import::TrajectoryFormat = format.parse().map_err(Trouble::usage)?;
    let read = import::read_trajectories(format, paths).map_err(Trouble::usage)?;
    let graph = read.learn().map_err(Trouble::usage)?;
    import::write_private(file, &Listing::learned(&graph).to_json()).map_err(Trouble::failed)?;
    let trajectories = counted(read.list.len(), "trajectory");
    out::print_line(format!(
        "{trajectories}, {} without calls; {}, {} → {}",
        read.without_calls,
        counted(graph.len(), "tool"),
        counted(graph.edge_count(), "edge"),
        file.display()
    ))
}

fn weights(
    graph: &Path,
    scores: Option<&Path>,
    (alpha, beta): (f64, f64),
    json: bool,
) -> Result<(), Trouble> {
    if !(0.0..=Weights::MAX_ALPHA).contains(&alpha) {
        let text = format!("--alpha {alpha}: expected a number from 0 to {}", Weights::MAX_ALPHA);
        return Err(Trouble::Usage(text));
    }
    if !(0.0..=1.0).contains(&beta) {
        return Err(Trouble::Usage(format!("--beta {beta}: expected a number from 0 to 1")));
    }
    let graph = read_graph(graph)?;
    let scores = scores.map(read_scores).transpose()?.unwrap_or_default();
    let pins = Pins::new();
    let weights = Weights { graph: &graph, scores: &scores, pins: &pins, alpha, beta };
    let listing = weights.listing(usize::MAX);
    if json {
        return out::print(listing.to_json());
    }
    let lines = listing.into_edges().into_iter().map(|edge| {
        let weight = edge.weight.unwrap_or(edge.prior);
        let (from, to) = (clean(edge.from.as_str()), clean(edge.to.as_str()));
        format!("{from:<28} {to:<28} {:>7.4} {weight:>7.4}\n", edge.prior)
    });
    out::print(lines.collect::<String>())
}

fn read(path: &Path) -> Result<String, Trouble> {
    let text = fs::read_to_string(path).map(|text| without_mark(&text).to_owned());
    text.map_err(|error| Trouble::Usage(format!("{}: {error}", path.display())))
}

fn read_graph(path: &Path) -> Result<ToolGraph, Trouble> {
    let in_file = |error| Trouble::Usage(format!("{}: {error}", path.display()));
    ToolGraph::from_json(&read(path)?).map_err(in_file)
}

fn read_scores(path: &Path) -> Result<Scores, Trouble> {
    let file = path.display().to_string();
    let expected = "{\"TOOL\": NUMBER, …}";
    let raw: IndexMap<ToolName, f64> =
        json_file::read(&file, &read(path)?, expected).map_err(Trouble::usage)?;
    let mut scores = Scores::new();
    for (tool, score) in raw {
        scores.set(tool, score).map_err(|error| Trouble::Usage(format!("{file}: {error}")))?;
    }
    Ok(scores)
}

pub fn import(command: &ImportCommand) -> Result<(), Trouble> {
    match command {
        ImportCommand::Openapi(args) => openapi::import(args),
        ImportCommand::Prices { file, out, config } => {
            prices::import(file, out.as_deref(), config.config.as_deref())
        }
    }
}
