//! The past: uses of tools ⟨query, tool, parameters, result, helpful⟩ (BTP, section 2.2), in
//! SQLite, so that people can open it with standard tools.
//!
//! Sessions add to it as they run, possibly several at once; each owns an [`Experience`] of its own
//! on the same file. Plans use a [`History`] per candidate tool: the similarity of each past query,
//! and how often the tool helped there or did not. It is read from a table that triggers keep up to
//! date, and the work is limited by [`MOST_PAST`], so that a plan takes as long among millions of
//! uses as among some thousand.
//!
//! The content is as hostile as the tools it comes from: it is stored unchanged, up to a size
//! limit, and cleaned when it is printed.

mod add;
mod copy;
mod embedding;
mod error;
mod helpful_tools;
mod history;
mod import;
mod lines;
mod open;
mod past_use;
mod prune;
mod runs;
mod summary;
mod upgrade;
mod word_update;
mod words;

pub use self::{
    error::ExperienceError,
    history::{Query, Same},
    import::Imported,
    past_use::Use,
    prune::Prune,
    summary::Summary,
};
pub use self::{
    history::{History, MOST_PAST},
    prune::PruneSummary,
};

use crate::database::Database;
use crate::shared::Shared;

/// An open store of past uses. One thread uses it at a time; several may be open on one file.
pub struct Experience {
    database: Database,
    reader: words::WordVectorizer,
}

/// A store of past uses with several owners: a session writes to it, and copies start from its content.
pub type SharedExperience = Shared<Experience>;
