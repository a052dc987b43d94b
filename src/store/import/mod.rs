//! External data: trajectories to learn a graph from, data sets of queries and tools, and an OpenAPI file as tools.
//!
//! Data sets are large and never exactly as documented, so an error here names the file, the line,
//! the field, and the expected content.

pub mod cotools;
pub mod dialogue;
mod error;
pub mod files;
pub mod manifest;
mod openapi;
pub mod tool_declarations;
mod trajectories;

pub use error::ImportError;
pub use files::{write as write_file, write_private};
pub use openapi::OpenApi;
pub use trajectories::{Trajectory, TrajectoryFormat, read_trajectories};
