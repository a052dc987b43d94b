//! External data: trajectories to learn a graph from, and an OpenAPI file as tools.
//!
//! Data sets are large and never exactly as documented, so an error here names the file, the line,
//! the field, and the expected content.

pub mod dialogue;
mod error;
pub mod files;
pub mod manifest;
mod openapi;
mod trajectories;

pub use error::ImportError;
pub use files::{write as write_file, write_private};
pub use openapi::OpenApi;
pub use trajectories::{Trajectory, TrajectoryFormat, read_trajectories};
