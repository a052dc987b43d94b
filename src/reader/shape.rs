//! The hyper-parameters of a model, each within the limits that the arithmetic needs.

use super::{error::ModelFileFault, gguf::Metadata};

/// The longest sequence that is read, in tokens. SmolLM2-135M keeps 46 kB for each of its tokens.
pub const LONGEST_CONTEXT: usize = 4_096;

/// The sizes of a llama model.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    pub layers: usize,
    /// Numbers in a state.
    pub width: usize,
    pub feed_forward: usize,
    /// Attention heads of queries.
    pub heads: usize,
    /// Attention heads of keys and values; divides `heads`.
    pub kv_heads: usize,
    /// Numbers in a head; even.
    pub head: usize,
    /// The longest sequence in tokens.
    pub context: usize,
    /// The number added to the mean square in a normalisation.
    pub epsilon: f32,
    /// The base of the rotary position embedding.
    pub rope_base: f32,
}

/// Keys that change the arithmetic, with the only values that leave it plain.
const PLAIN: [(&str, u64); 2] = [("llama.expert_count", 0), ("llama.attention.sliding_window", 0)];

impl Shape {
    /// Reads and checks the hyper-parameters of a file.
    pub fn read(metadata: &Metadata) -> Result<Self, ModelFileFault> {
        let architecture = metadata.text("general.architecture")?.unwrap_or_default();
        if architecture != "llama" {
            let found = format!("`general.architecture` is {architecture:?}");
            return Err(ModelFileFault::bad(
                found,
                "\"llama\"; other architectures are not supported",
            ));
        }
        refuse_variants(metadata)?;
        let of = ShapeNumbers(metadata);
        let width = of.number("llama.embedding_length", None, 1..=1 << 16)?;
        let heads = of.number("llama.attention.head_count", None, 1..=1 << 10)?;
        let kv_heads = of.number("llama.attention.head_count_kv", Some(heads), 1..=heads)?;
        if heads % kv_heads != 0 {
            let found = format!("{heads} attention heads share {kv_heads} key/value heads");
            return Err(ModelFileFault::bad(found, "a number of heads that is a multiple"));
        }
        let head = of.number("llama.rope.dimension_count", Some(width / heads), 2..=1 << 10)?;
        for key in ["llama.attention.key_length", "llama.attention.value_length"] {
            of.number(key, Some(head), head..=head)?;
        }
        if head % 2 != 0 {
            let found = format!("attention heads have {head} numbers");
            return Err(ModelFileFault::bad(found, "an even number, as they are rotated in pairs"));
        }
        let context = of.number("llama.context_length", None, 1..=1 << 30)?;
        Ok(Self {
            layers: of.number("llama.block_count", None, 1..=1 << 10)?,
            width,
            feed_forward: of.number("llama.feed_forward_length", None, 1..=1 << 18)?,
            heads,
            kv_heads,
            head,
            context: context.min(LONGEST_CONTEXT),
            epsilon: of.float("llama.attention.layer_norm_rms_epsilon", None, 0.0, 0.1)?,
            rope_base: of.float("llama.rope.freq_base", Some(10_000.0), 1.0, 1e12)?,
        })
    }
}

/// Refuses models for which this arithmetic would give wrong states.
fn refuse_variants(metadata: &Metadata) -> Result<(), ModelFileFault> {
    let scaling = metadata.text("llama.rope.scaling.type")?.unwrap_or("none");
    if scaling != "none" {
        let found = format!("`llama.rope.scaling.type` is {scaling:?}");
        return Err(ModelFileFault::bad(found, "\"none\"; scaled positions are not supported"));
    }
    for (key, plain) in PLAIN {
        if let Some(number) = metadata.number(key)?.filter(|number| *number != plain) {
            return Err(ModelFileFault::bad(format!("`{key}` is {number}"), format!("{plain}")));
        }
    }
    for key in ["llama.logit_scale", "llama.residual_scale", "llama.embedding_scale"] {
        if metadata.has(key) {
            return Err(ModelFileFault::bad(
                format!("the file has `{key}`"),
                "a llama model without it",
            ));
        }
    }
    Ok(())
}

struct ShapeNumbers<'a>(&'a Metadata);

impl ShapeNumbers<'_> {
    fn number(
        &self,
        key: &str,
        default: Option<usize>,
        range: std::ops::RangeInclusive<usize>,
    ) -> Result<usize, ModelFileFault> {
        let expected = || match range.start() == range.end() {
            true => range.start().to_string(),
            false => format!("{} to {}", range.start(), range.end()),
        };
        let found = match self.0.number(key)? {
            Some(number) => usize::try_from(number).unwrap_or(usize::MAX),
            None => {
                default.ok_or_else(|| ModelFileFault::bad(format!("no `{key}`"), expected()))?
            }
        };
        if range.contains(&found) {
            return Ok(found);
        }
        Err(ModelFileFault::bad(format!("`{key}` is {found}"), expected()))
    }

    /// A number above `least` and up to `most`.
    fn float(
        &self,
        key: &str,
        default: Option<f64>,
        least: f64,
        most: f64,
    ) -> Result<f32, ModelFileFault> {
        let expected = || format!("a number above {least} and at most {most}");
        let found = match self.0.float(key)? {
            Some(number) => number,
            None => {
                default.ok_or_else(|| ModelFileFault::bad(format!("no `{key}`"), expected()))?
            }
        };
        if found > least && found <= most {
            return Ok(found as f32);
        }
        Err(ModelFileFault::bad(format!("`{key}` is {found}"), expected()))
    }
}
