//! CoTools: small heads on the hidden states of a frozen language model.

mod adamw;
mod batches;
mod clip;
mod contrastive;
mod gradient;
mod judge;
mod matrix;
mod mlp;
mod product;
mod real;
mod recipe;
mod retriever;
mod schedule;
mod train_judge;
mod train_retriever;
mod trained;

pub use adamw::AdamW;
pub use batches::{Batch, Batches, shuffled};
pub use clip::clip;
pub use contrastive::{RetrieverGradient, RetrieverLoss, tools_of_batch};
pub use judge::{Judge, JudgeLoss};
pub use matrix::{BadShape, Matrix};
pub use mlp::Mlp;
pub use real::Real;
pub use recipe::{JudgeRecipe, Layer, ModelSize, Optimiser, Pooling, Recipe, RetrieverRecipe, Use};
pub use retriever::{Retriever, scores, untrained};
pub use schedule::Schedule;
pub use train_judge::{JudgeData, JudgeTraining};
pub use train_retriever::{RetrieverData, RetrieverNorms, RetrieverTraining};
pub use trained::Trained;
