//! The states that the heads read, and the training settings: the paper's, and those that performed better.

use serde::{Deserialize, Serialize};

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
}
