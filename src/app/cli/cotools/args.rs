//! Arguments of `toolyard cotools`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};

use crate::cli::ConfigArgs;
use crate::cli::value::{number, positive};

#[derive(Debug, Subcommand)]
pub enum CotoolsCommand {
    /// Encode the descriptions of all tools of a catalogue; continues after an interruption.
    Encode(EncodeArgs),
    /// Show the tokens of a text after which a tool call would start.
    Judge(JudgeArgs),
    /// Rank the tools of a catalogue for a query, by states and by words.
    Tools(ToolsArgs),
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

/// The tools.
#[derive(Clone, Debug, Args)]
#[command(group = ArgGroup::new("catalogue").required(true).args(["workspace", "data"]))]
pub struct CatalogueArgs {
    /// Folder with tools/.
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Folder of a data set with tool.json, or of API-Bank.
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct EncodeArgs {
    #[command(flatten)]
    pub catalogue: CatalogueArgs,
    /// Encode for these heads; default: for questions without heads.
    #[arg(long, value_name = "FILE")]
    pub heads: Option<PathBuf>,
    #[command(flatten)]
    pub reader: ReaderArgs,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct JudgeArgs {
    /// The text.
    pub text: String,
    /// The heads of a judge; default: those of the configuration's [reader].
    #[arg(long, value_name = "FILE")]
    pub heads: Option<PathBuf>,
    /// Probability above which a call starts, 0 to 1.
    #[arg(long, value_name = "P", default_value_t = 0.5, value_parser = number)]
    pub threshold: f64,
    #[command(flatten)]
    pub reader: ReaderArgs,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ToolsArgs {
    /// The query.
    pub query: String,
    #[command(flatten)]
    pub catalogue: CatalogueArgs,
    /// Heads for questions; default: those of the configuration's [reader], or untrained states.
    #[arg(long, value_name = "FILE")]
    pub heads: Option<PathBuf>,
    /// Number of tools to show.
    #[arg(long, value_name = "N", default_value = "10", value_parser = positive)]
    pub top: NonZeroUsize,
    /// Weight of words in the mix, 0 to 2; default: 0.25.
    #[arg(long, value_name = "W", value_parser = number)]
    pub mix: Option<f64>,
    /// Subtract the training mean of the heads instead of the mean of past queries.
    #[arg(long)]
    pub training_mean: bool,
    #[command(flatten)]
    pub reader: ReaderArgs,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
