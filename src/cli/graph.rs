//! `toolyard graph` and `toolyard import`.

use std::{fs, path::Path};

use indexmap::IndexMap;

use toolyard::{
    graph::{Listing, Pins, Scores, ToolGraph, Weights},
    id::ToolName,
    import,
};

use super::{GraphCommand, ImportCommand, trouble::Trouble};

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
            print!("{text}");
            Ok(())
        }
    }
}

fn learn(format: &str, paths: &[std::path::PathBuf], out: &Path) -> Result<(), Trouble> {
    let format: import::Format = format.parse().map_err(Trouble::usage)?;
    let read = import::read_trajectories(format, paths).map_err(Trouble::usage)?;
    let graph = read.learn().map_err(Trouble::usage)?;
    import::write_file(out, &Listing::learned(&graph).to_json()).map_err(Trouble::failed)?;
    println!(
        "{} trajectories, {} without calls; {} tools, {} edges → {}",
        read.list.len(),
        read.without_calls,
        graph.len(),
        graph.edge_count(),
        out.display()
    );
    Ok(())
}

fn weights(
    graph: &Path,
    scores: Option<&Path>,
    (alpha, beta): (f64, f64),
    json: bool,
) -> Result<(), Trouble> {
    if !(0.0..=Weights::MAX_ALPHA).contains(&alpha) {
        let text = format!("--alpha is a number from 0 to {}, not {alpha}", Weights::MAX_ALPHA);
        return Err(Trouble::Usage(text));
    }
    if !(0.0..=1.0).contains(&beta) {
        return Err(Trouble::Usage(format!("--beta is a number from 0 to 1, not {beta}")));
    }
    let graph = read_graph(graph)?;
    let scores = scores.map(read_scores).transpose()?.unwrap_or_default();
    let pins = Pins::new();
    let weights = Weights { graph: &graph, scores: &scores, pins: &pins, alpha, beta };
    let listing = Listing::weighed(&weights, usize::MAX);
    if json {
        print!("{}", listing.to_json());
        return Ok(());
    }
    for edge in listing.into_edges() {
        let weight = edge.weight.unwrap_or(edge.prior);
        println!("{:<28} {:<28} {:>7.4} {weight:>7.4}", edge.from, edge.to, edge.prior);
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, Trouble> {
    fs::read_to_string(path).map_err(|error| Trouble::Usage(format!("{}: {error}", path.display())))
}

fn read_graph(path: &Path) -> Result<ToolGraph, Trouble> {
    let in_file = |error| Trouble::Usage(format!("{}: {error}", path.display()));
    ToolGraph::from_json(&read(path)?).map_err(in_file)
}

fn read_scores(path: &Path) -> Result<Scores, Trouble> {
    let wrong = |what: String| {
        Trouble::Usage(format!("{}: {what}; expected {{\"TOOL\": NUMBER, …}}", path.display()))
    };
    let raw: IndexMap<ToolName, f64> =
        serde_json::from_str(&read(path)?).map_err(|error| wrong(error.to_string()))?;
    let mut scores = Scores::new();
    for (tool, score) in raw {
        scores.set(tool, score).map_err(|error| wrong(error.to_string()))?;
    }
    Ok(scores)
}

pub fn import(command: &ImportCommand) -> Result<(), Trouble> {
    match command {
        ImportCommand::ApiBank { dir, out, force } => {
            let imported = import::import_api_bank(dir, out, *force).map_err(Trouble::usage)?;
            println!("{imported}");
            println!("run it: toolyard --workspace {}", out.display());
            Ok(())
        }
    }
}
