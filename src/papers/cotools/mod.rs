//! CoTools: small heads on the hidden states of a frozen language model decide whether a tool call starts here
//! ([`Judge`]) and which tool a query needs ([`Retriever`]). Only the heads are trained, so a tool that is added today
//! needs only its description.
//!
//! Everything here is pure: states come in as matrices, with one row per text or token, and every draw comes from a
//! seed. Reading states and storing heads is done outside.
//!
//! # From a question to a tool
//!
//! 1. [`Recipe::states`] determines the layer and the pooling of the states, [`QueryTemplate`] and [`tool_text`] the
//!    text for the reader.
//! 2. [`centre`] subtracts the mean of the tools, or the [`RunningMean`] of the queries.
//! 3. [`Retriever::query_vectors`] and [`Retriever::tool_vectors`] encode both, [`scores`] compares
//!    them, or [`untrained`] does without heads.
//! 4. [`mix()`] adds the scores of BM25, and [`ranking`] sorts the tools.
//!
//! [`Retrieval`] does 2 and 3 for a pool of tools that changes, and [`ranked`] does 4.

mod centre;
mod head_file;
mod judge;
mod matrix;
mod misfit;
mod mix;
mod mlp;
pub mod product;
mod rank;
mod real;
mod recipe;
mod retrieval;
mod retriever;
mod tensors;
mod texts;

pub use crate::domain::Retrieve;
pub use centre::{FEWEST, RunningMean, centre, scale};
pub use head_file::{HeadAbout, HeadFile, Heads};
pub use judge::{Judge, hand_rule};
pub use matrix::{BadShape, Matrix};
pub use misfit::{Misfit, ReaderModel};
pub use mix::{MIX, Mixed, mix, rank_tools, z_scores};
pub use mlp::{Mlp, Pass};
pub use rank::{rank_of, ranking};
pub use real::{Real, dot, length, sigmoid};
pub use recipe::{ModelSize, Pooling, Preparation, Recipe, RecipeLayer, Use};
pub use retrieval::{Retrieval, ranked, word_scores};
pub use retriever::{Encoded, Retriever, SHORTEST, scores, untrained};
pub use tensors::BadHeadFile;
pub use texts::{QueryTemplate, tool_text};
