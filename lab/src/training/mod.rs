//! The training of CoTools' heads, and their measures. Only the heads are trained; the language model is frozen.
//!
//! Everything here is pure: states come in as matrices, and every draw comes from a seed. [`RetrieverTraining`] and
//! [`JudgeTraining`] are iterators over batches. [`examples`] and [`judge_labels`] make their data from records.
//! [`Figures`] and [`Positives`] measure the heads.

pub mod adamw;
mod batch_result;
mod batches;
pub mod clip;
pub mod contrastive;
mod dimensions;
mod figures;
mod gradient;
mod judge;
pub mod judge_loss;
mod labels;
mod positives;
pub mod recipe;
mod retriever;
pub mod schedule;

pub use self::batch_result::{Best, Trained};
pub use self::batches::shuffled;
pub use self::dimensions::{above_mean, heaviest, random, scores_on, weight_z_scores};
pub use self::figures::{Figures, WrongPicks, over_pool};
pub use self::judge::{JudgeData, JudgeTraining};
pub use self::labels::{
    BadRecord, Example, examples, judge_labels, published_examples, published_judge_labels,
};
pub use self::positives::Positives;
pub use self::retriever::{RetrieverData, RetrieverNorms, RetrieverTraining};
pub use self::schedule::Schedule;
