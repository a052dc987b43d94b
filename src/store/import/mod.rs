//! External data: trajectories to learn a graph from, API-Bank as a whole workspace, an
//! OpenAPI file as tools, and question sets.
//!
//! Data sets are large and never exactly as documented, so an error here names the file, the line,
//! the field, and the expected content.

mod api_bank;
pub mod cotools;
mod declared;
mod dialogue;
mod error;
mod files;
mod manifest;
mod openapi;
mod qa;
mod schema;
mod trajectories;

pub use api_bank::ImportSummary;
pub use api_bank::import_api_bank;
pub use error::ImportError;
pub use files::{write as write_file, write_private};
pub use openapi::OpenApi;
pub use qa::{Chosen, QuestionSet, import_questions};
pub use trajectories::{Format, Trajectory, read_trajectories};
