//! The settings of training, from the paper and measured with a small model.

use serde::{Deserialize, Serialize};

use super::schedule::Schedule;
use crate::papers::cotools::{ModelSize, Recipe, Use};

/// How the optimiser is used. Both kinds of heads have these.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Optimiser {
    /// Learning rate of the perceptrons, above 0.
    pub lr: f64,
    /// AdamW's decay of the perceptrons.
    pub decay: f64,
    /// Greatest norm of a gradient, for each perceptron and for `w` alone.
    pub clip: f64,
    /// Examples in a batch: texts of the judge, questions of the retriever.
    pub batch: usize,
    /// Batches before a step.
    pub accumulate: usize,
    pub schedule: Schedule,
    pub epochs: usize,
    /// Learning rates fall from epoch to epoch in a straight line, so that the heads settle.
    /// Otherwise they are constant.
    pub falling: bool,
}

/// Settings of a retriever's training.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RetrieverRecipe {
    /// D of the paper.
    pub hidden: usize,
    /// The divisor of scores in training. The paper has none, which is 1.
    pub temperature: f64,
    /// Learning rate of `w`.
    pub lr_w: f64,
    /// AdamW's decay of `w`. Without a decay, a small weight means that training made it small.
    pub decay_w: f64,
    pub optimiser: Optimiser,
}

/// Settings of a judge's training.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct JudgeRecipe {
    /// D of the paper.
    pub hidden: usize,
    pub optimiser: Optimiser,
}

/// How a retriever is trained for [`Use::Question`] or [`Use::Here`].
pub fn retriever(recipe: Recipe, of: Use, model: ModelSize) -> RetrieverRecipe {
    match recipe {
        Recipe::Paper => RetrieverRecipe {
            hidden: paper_hidden(model),
            temperature: 1.0,
            lr_w: 0.01,
            decay_w: 0.01,
            optimiser: Optimiser {
                lr: 1e-4,
                decay: 0.01,
                clip: 1.0,
                batch: 16,
                accumulate: 12,
                schedule: Schedule::Published,
                epochs: 10,
                falling: false,
            },
        },
        Recipe::Ours => RetrieverRecipe {
            hidden: model.width,
            temperature: if of == Use::Here { 0.05 } else { 0.1 },
            lr_w: 0.01,
            decay_w: 0.0,
            optimiser: Optimiser {
                lr: 3e-4,
                decay: 0.01,
                clip: 1.0,
                batch: if of == Use::Here { 32 } else { 64 },
                accumulate: 1,
                schedule: Schedule::EveryK,
                epochs: 12,
                falling: of == Use::Here,
            },
        },
    }
}

/// How the judge is trained.
pub fn judge(recipe: Recipe, model: ModelSize) -> JudgeRecipe {
    match recipe {
        Recipe::Paper => JudgeRecipe {
            hidden: paper_hidden(model),
            optimiser: Optimiser {
                lr: 1e-5,
                decay: 0.01,
                clip: 1.0,
                batch: 1,
                accumulate: 16,
                schedule: Schedule::Published,
                epochs: 3,
                falling: false,
            },
        },
        Recipe::Ours => JudgeRecipe {
            hidden: 128,
            optimiser: Optimiser {
                lr: 2e-3,
                decay: 0.01,
                clip: 1.0,
                batch: 4,
                accumulate: 1,
                schedule: Schedule::EveryK,
                epochs: 12,
                falling: true,
            },
        },
    }
}

/// The size of the model's own feed-forward blocks, or four times its width.
fn paper_hidden(model: ModelSize) -> usize {
    model.feed_forward.unwrap_or(4 * model.width)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMOL: ModelSize = ModelSize { layers: 30, width: 576, feed_forward: Some(1536) };

    #[test]
    fn the_papers_heads_are_as_wide_as_the_models_own() {
        assert_eq!(judge(Recipe::Paper, SMOL).hidden, 1536);
        let unknown = ModelSize { feed_forward: None, ..SMOL };
        assert_eq!(retriever(Recipe::Paper, Use::Here, unknown).hidden, 2304);
        assert_eq!(retriever(Recipe::Ours, Use::Question, SMOL).hidden, 576);
    }

    #[test]
    fn a_recipe_can_be_written_and_read() {
        let recipe = retriever(Recipe::Ours, Use::Question, SMOL);
        let text = serde_json::to_string(&recipe).unwrap();
        assert_eq!(serde_json::from_str::<RetrieverRecipe>(&text).unwrap(), recipe);
    }
}
