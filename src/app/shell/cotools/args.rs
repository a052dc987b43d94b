//! Arguments of `toolyard cotools`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::shell::ConfigArgs;
use crate::shell::value::positive;

#[derive(Debug, Subcommand)]
pub enum CotoolsCommand {
    /// Encode the descriptions of all tools of a workspace; continues after an interruption.
    Encode(EncodeArgs),
}

/// The local model.
#[derive(Clone, Debug, Default, Args)]
pub struct ReaderArgs {
    /// Model file (GGUF); default: TOOLYARD_READER_MODEL, then `model` of the configuration's [reader].
    #[arg(long, value_name = "FILE")]
    pub reader: Option<PathBuf>,
    /// Cache of states; default: states.db in the cache folder.
    #[arg(long, value_name = "FILE")]
    pub cache: Option<PathBuf>,
    /// Number of texts read in parallel; default: 2.
    #[arg(long, value_name = "N", value_parser = positive)]
    pub threads: Option<NonZeroUsize>,
    #[command(flatten)]
    pub config: ConfigArgs,
}

#[derive(Debug, Args)]
pub struct EncodeArgs {
    /// Folder with tools/.
    #[arg(long, value_name = "DIR")]
    pub workspace: PathBuf,
    /// Encode for these heads; default: for questions without heads.
    #[arg(long, value_name = "FILE")]
    pub heads: Option<PathBuf>,
    #[command(flatten)]
    pub reader: ReaderArgs,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
