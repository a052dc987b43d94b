//! Captions of figures: the reader, layer, heads and means that they were measured with.

use crate::encoder::Encoder;
use crate::papers::cotools::{HeadFile, Pooling, Preparation, RecipeLayer};
use crate::ui::text::clean;

/// The place of states, such as `layer 14 mean`.
pub fn place((layer, pooling): (RecipeLayer, Pooling)) -> String {
    let pooling = match pooling {
        Pooling::Mean => "mean",
        Pooling::End => "end",
        Pooling::Token => "tokens",
    };
    match layer {
        RecipeLayer::After(layer) => format!("layer {layer} {pooling}"),
        RecipeLayer::Final => format!("final {pooling}"),
    }
}

/// The training of heads, such as `STQuestions (CC BY 3.0), 999 examples`.
pub fn training(heads: &HeadFile) -> String {
    format!("{}, {} examples", clean(&heads.about.data), heads.about.examples)
}

/// A line about the ranking by states: `SmolLM2-135M · layer 14 mean · heads … · means: catalogue / 37 past queries`.
pub fn line(
    encoder: &Encoder,
    at: (RecipeLayer, Pooling),
    heads: Option<&HeadFile>,
    queries: &str,
) -> String {
    let name = clean(encoder.name()).into_owned();
    let of =
        heads.map_or_else(|| "untrained".to_owned(), |heads| format!("heads {}", training(heads)));
    let is_raw = heads.is_some_and(|heads| heads.about.preparation == Preparation::Raw);
    let means = if is_raw {
        "means: none, as in the paper".to_owned()
    } else {
        format!("means: catalogue / {queries}")
    };
    format!("{name} · {} · {of} · {means}", place(at))
}
