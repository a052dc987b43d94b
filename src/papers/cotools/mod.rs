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
//!
//! # Training
//!
//! [`RetrieverTraining`] and [`JudgeTraining`] are iterators over batches. [`examples`] and
//! [`judge_labels`] make their data from records. [`Figures`] and [`Positives`] measure the heads.

mod adamw;
mod batches;
mod centre;
mod clip;
mod contrastive;
mod dimensions;
mod figures;
mod gradient;
mod head_file;
mod judge;
mod labels;
mod matrix;
mod misfit;
mod mix;
mod mlp;
mod numbers;
mod positives;
mod product;
mod rank;
mod real;
mod recipe;
mod retrieval;
mod retriever;
mod schedule;
mod tensors;
mod texts;
mod train_judge;
mod train_retriever;
mod trained;

pub use crate::domain::Retrieve;
pub use batches::shuffled;
pub use centre::{FEWEST, RunningMean, scale};
pub use dimensions::{above_mean, heaviest, random, scores_on, weight_z_scores};
pub use figures::{Figures, WrongPicks, over_pool};
pub use head_file::{HeadAbout, HeadFile, Heads};
pub use judge::{Judge, hand_rule};
pub use labels::{BadRecord, examples, judge_labels, published_examples};
pub use matrix::{BadShape, Matrix};
pub use misfit::{Misfit, ReaderModel};
pub use mix::{MIX, mix, rank_tools};
pub use positives::Positives;
pub use rank::rank_of;
pub use recipe::{ModelSize, Pooling, Preparation, Recipe, RecipeLayer, Use};
pub use retrieval::{Retrieval, ranked, word_scores};
pub use retriever::{Retriever, scores};
pub use tensors::BadHeadFile;
pub use texts::{QueryTemplate, tool_text};
pub use train_judge::{JudgeData, JudgeTraining};
pub use train_retriever::{RetrieverData, RetrieverTraining};
pub use trained::Best;
pub use {
    adamw::AdamW,
    batches::{Batch, Batches},
    centre::centre,
    clip::clip,
    contrastive::{RetrieverGradient, RetrieverLoss, tools_of_batch},
    judge::JudgeLoss,
    labels::{Example, published_judge_labels},
    mix::{Mixed, z_scores},
    mlp::Mlp,
    numbers::{approx, custom_round, exact, number_in, round_matches, round_to},
    rank::ranking,
    real::Real,
    recipe::{JudgeRecipe, Optimiser, RetrieverRecipe},
    retriever::untrained,
    schedule::Schedule,
    train_retriever::RetrieverNorms,
    trained::Trained,
};
