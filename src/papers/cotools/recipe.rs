//! The states that the heads read, and the training settings: the paper's, and those that performed better.

use serde::{Deserialize, Serialize};

use super::schedule::Schedule;

/// A place in the language model at which states are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecipeLayer {
    /// After this many layers, from 1.
    After(u32),
    /// After all layers and the final norm.
    Final,
}

/// The tokens of a text whose states count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pooling {
    /// The mean over all tokens except the first, END included. The first one is an attention sink: its state is a
    /// hundred times as long as the others and carries no information about the text.
    Mean,
    /// The state of END, which follows the text.
    End,
    /// The state of each token, without END: for the judge.
    Token,
}

/// A use of heads. A model's single pass gives the states for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Use {
    /// Selects the tools that fit a question.
    Question,
    /// Selects the tool to call at this point of the answer.
    Here,
    /// Decides whether a call starts here.
    Judge,
}

/// The preprocessing of states before heads read them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preparation {
    /// No preprocessing.
    Raw,
    /// [`super::scale`]: the judge's tokens differ enough by themselves.
    Scaled,
    /// [`super::centre`]: the states of any two tools have a cosine of 0.97, so retrieval needs it.
    Centred,
}

/// A set of settings that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recipe {
    /// The paper and its code.
    Paper,
    /// The default.
    Ours,
}

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

/// The size of a language model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelSize {
    pub layers: u32,
    /// Numbers in a state.
    pub width: usize,
    /// The size of its feed-forward blocks, if known.
    pub feed_forward: Option<usize>,
}

impl Recipe {
    /// The states that a use needs. Our layers were measured on a model with 30 layers, and are taken at the same share
    /// of another model's depth.
    pub fn states(self, of: Use, model: ModelSize) -> (RecipeLayer, Pooling) {
        let at = |layer: f64| {
            let layer = (layer / 30.0 * f64::from(model.layers)).round() as u32;
            RecipeLayer::After(layer.clamp(1, model.layers.max(1)))
        };
        match (self, of) {
            (Self::Paper, Use::Judge) => (RecipeLayer::Final, Pooling::Token),
            (Self::Paper, Use::Question | Use::Here) => (RecipeLayer::Final, Pooling::End),
            (Self::Ours, Use::Question) => (at(14.0), Pooling::Mean),
            (Self::Ours, Use::Here) => (at(22.0), Pooling::End),
            (Self::Ours, Use::Judge) => (at(14.0), Pooling::Token),
        }
    }

    /// How the states of a use are prepared.
    pub fn preparation(self, of: Use) -> Preparation {
        match (self, of) {
            (Self::Paper, _) => Preparation::Raw,
            (Self::Ours, Use::Judge) => Preparation::Scaled,
            (Self::Ours, Use::Question | Use::Here) => Preparation::Centred,
        }
    }

    /// How a retriever is trained for [`Use::Question`] or [`Use::Here`].
    pub fn retriever(self, of: Use, model: ModelSize) -> RetrieverRecipe {
        match self {
            Self::Paper => RetrieverRecipe {
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
            Self::Ours => RetrieverRecipe {
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
    pub fn judge(self, model: ModelSize) -> JudgeRecipe {
        match self {
            Self::Paper => JudgeRecipe {
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
            Self::Ours => JudgeRecipe {
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
    fn one_pass_gives_the_states_of_all_uses() {
        let ours = |of, layers| Recipe::Ours.states(of, ModelSize { layers, ..SMOL });
        assert_eq!(ours(Use::Question, 30), (RecipeLayer::After(14), Pooling::Mean));
        assert_eq!(ours(Use::Here, 30), (RecipeLayer::After(22), Pooling::End));
        assert_eq!(ours(Use::Judge, 30), (RecipeLayer::After(14), Pooling::Token));
        assert_eq!(ours(Use::Here, 12), (RecipeLayer::After(9), Pooling::End));
        assert_eq!(ours(Use::Question, 1), (RecipeLayer::After(1), Pooling::Mean));
        assert_eq!(Recipe::Paper.states(Use::Question, SMOL), (RecipeLayer::Final, Pooling::End));
    }

    #[test]
    fn the_papers_heads_are_as_wide_as_the_models_own() {
        assert_eq!(Recipe::Paper.judge(SMOL).hidden, 1536);
        let unknown = ModelSize { feed_forward: None, ..SMOL };
        assert_eq!(Recipe::Paper.retriever(Use::Here, unknown).hidden, 2304);
        assert_eq!(Recipe::Ours.retriever(Use::Question, SMOL).hidden, 576);
    }

    #[test]
    fn a_recipe_can_be_written_and_read() {
        let recipe = Recipe::Ours.retriever(Use::Question, SMOL);
        let text = serde_json::to_string(&recipe).unwrap();
        assert_eq!(serde_json::from_str::<RetrieverRecipe>(&text).unwrap(), recipe);
    }
}
