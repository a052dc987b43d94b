//! `toolyard-lab graph`: weights of tool graphs, and their forms for other programs.

pub mod drawing;

use std::fs;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use indexmap::IndexMap;

use crate::app::shell::value::number;
use crate::app::shell::{out, trouble::Trouble};
use crate::domain::{Listing, Pins, Scores, ToolGraph, ToolName};
use crate::files::{json_file, text_file::without_mark};
use crate::papers::toolnet::Weights;
use crate::ui::text::clean;

#[derive(Debug, Subcommand)]
pub enum GraphCommand {
    /// Compute the weights of a graph's edges from scores (ToolNet, eq. 6–8).
    Weights {
        /// File of the graph.
        graph: PathBuf,
        /// File of {"tool": number, …}.
        #[arg(long, value_name = "FILE")]
        scores: Option<PathBuf>,
        /// Speed of learning, at least 0.
        #[arg(long, default_value_t = 0.5, allow_negative_numbers = true, value_parser = number)]
        alpha: f64,
        /// Trust in the prior, 0 to 1.
        #[arg(long, default_value_t = 0.5, allow_negative_numbers = true, value_parser = number)]
        beta: f64,
        /// Print JSON instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// Print a graph in a format for other programs.
    Show {
        /// File of the graph.
        graph: PathBuf,
        /// Format of the output.
        #[arg(long, default_value = "json", value_parser = ["json", "dot", "mermaid", "graphml"])]
        format: String,
    },
}

/// Runs `toolyard-lab graph`.
///
/// # Errors
/// A file is wrong, or the output cannot be written.
pub fn graph(command: &GraphCommand) -> Result<(), Trouble> {
    match command {
        GraphCommand::Weights { graph, scores, alpha, beta, json } => {
            weights(graph, scores.as_deref(), (*alpha, *beta), *json)
        }
        GraphCommand::Show { graph, format } => {
            let listing = Listing::learned(&read_graph(graph)?);
            let text = match format.as_str() {
                "dot" => drawing::to_dot(&listing),
                "mermaid" => drawing::to_mermaid(&listing),
                "graphml" => drawing::to_graphml(&listing),
                _ => listing.to_json(),
            };
            out::print(text)
        }
    }
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
