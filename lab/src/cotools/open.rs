//! Opens the reader, heads and data.

use std::path::Path;
use std::sync::Arc;

pub use crate::app::shell::cotools::open::*;

use crate::app::shell::cotools::args::ReaderArgs;
use crate::app::shell::trouble::Trouble;
use crate::app::encoder::{Encoder, heads::LoadedHeads};
use crate::data::{self, DataSet};
use crate::papers::cotools::{HeadFile, MIX, Use};

/// Heads that are named, or those of the configuration for this use.
///
/// # Errors
/// A file cannot be used.
pub fn usual_heads(
    path: Option<&Path>,
    args: &ReaderArgs,
    encoder: &Encoder,
    of: Use,
) -> Result<Option<Arc<HeadFile>>, Trouble> {
    if path.is_some() {
        return heads(path, encoder, of);
    }
    let loaded = LoadedHeads::load(&settings(args)?.heads, encoder).map_err(Trouble::usage)?;
    Ok(match of {
        Use::Question => loaded.question,
        Use::Here => loaded.here,
        Use::Judge => loaded.judge,
    })
}

/// Loads a data set.
///
/// # Errors
/// File, record and field.
pub fn data(path: &Path) -> Result<DataSet, Trouble> {
    data::load(path).map_err(Trouble::usage)
}

/// Loads a data set to learn from.
///
/// # Errors
/// It cannot be read, or has test records only.
pub fn lessons(path: &Path) -> Result<DataSet, Trouble> {
    let data = self::data(path)?;
    if data.train.is_empty() && data.dev.is_empty() {
        let text = "it has test records only, and nothing learns from those; expected train.jsonl or dev.jsonl too";
        return Err(Trouble::Usage(format!("{}: {text}", path.display())));
    }
    Ok(data)
}

/// The weight of words.
///
/// # Errors
/// It is not from 0 to 2.
pub fn mix(given: Option<f64>) -> Result<f64, Trouble> {
    match given {
        None => Ok(MIX),
        Some(mix) if (0.0..=2.0).contains(&mix) => Ok(mix),
        Some(mix) => Err(Trouble::Usage(format!("--mix {mix}: expected a number from 0 to 2"))),
    }
}
