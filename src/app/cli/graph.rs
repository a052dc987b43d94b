//! `toolyard graph` and `toolyard import`.

use std::path::Path;

use super::{GraphCommand, ImportCommand, openapi, out, prices, trouble::Trouble};
use crate::domain::Listing;
use crate::domain::words::counted;
use crate::store::import;

pub fn graph(command: &GraphCommand) -> Result<(), Trouble> {
    let GraphCommand::Learn { format, paths, out } = command;
    learn(format, paths, out)
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

pub fn import(command: &ImportCommand) -> Result<(), Trouble> {
    match command {
        ImportCommand::Openapi(args) => openapi::import(args),
        ImportCommand::Prices { file, out, config } => {
            prices::import(file, out.as_deref(), config.config.as_deref())
        }
    }
}
