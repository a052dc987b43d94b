//! Arguments of `toolyard-lab cotools` and `toolyard-lab retrieval`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueEnum};

use crate::app::shell::cotools::args::ReaderArgs;
use crate::app::shell::value::{number, positive, whole};
use crate::papers::cotools::{Recipe, Use};

#[derive(Debug, Subcommand)]
pub enum CotoolsCommand {
    /// Encode the descriptions of all tools of a catalogue; continues after an interruption.
    Encode(EncodeArgs),
    /// Train heads on a data set. The epoch is chosen on dev questions, never on test questions.
    Train(TrainArgs),
    /// Measure heads, beside words, untrained states and chance.
    Eval(EvalArgs),
    /// Show the tokens of a text after which a tool call would start.
    Judge(JudgeArgs),
    /// Rank the tools of a catalogue for a query, by states and by words.
    Tools(ToolsArgs),
}

#[derive(Debug, Subcommand)]
pub enum RetrievalCommand {
    /// Measure how well words, states and both find the right tools of queries.
    Eval(RetrievalEvalArgs),
}

/// Uses of heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Of {
    /// Find tools for a question.
    Question,
    /// Find the tool that is called at a point of an answer.
    Here,
    /// Does a call start here?
    Judge,
}

impl From<Of> for Use {
    fn from(of: Of) -> Self {
        match of {
            Of::Question => Self::Question,
            Of::Here => Self::Here,
            Of::Judge => Self::Judge,
        }
    }
}

/// Settings of training.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RecipeName {
    /// The paper's: the final state at the end token, not centred, without a temperature.
    Paper,
    /// Measured with a small model.
    Ours,
}

impl From<RecipeName> for Recipe {
    fn from(name: RecipeName) -> Self {
        match name {
            RecipeName::Paper => Self::Paper,
            RecipeName::Ours => Self::Ours,
        }
    }
}

/// The mean that is subtracted from the states of queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Means {
    /// Mean of earlier queries, as in a session; words only for the first five.
    Running,
    /// Mean of the training questions.
    Heads,
    /// Mean of all queries in the file.
    All,
}

impl Means {
    /// The mean that queries had, for people.
    pub fn text(self, queries: usize) -> String {
        match self {
            Self::Running => format!("0 to {} past queries", queries.saturating_sub(1)),
            Self::Heads => "the training".to_owned(),
            Self::All => format!("all {queries} queries"),
        }
    }
}

#[derive(Debug, Args)]
pub struct TrainArgs {
    /// Purpose of the heads.
    pub of: Of,
    /// Folder of a data set with tool.json and train.jsonl, dev.jsonl or test.jsonl. A judge can learn from several.
    #[arg(long, value_name = "DIR", required = true)]
    pub data: Vec<PathBuf>,
    /// Write the heads to this file.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Settings of training.
    #[arg(long, default_value = "ours")]
    pub recipe: RecipeName,
    /// Leave this many random tools out of training, to measure generalisation.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole::<usize>)]
    pub hold_out: usize,
    /// For questions: most examples per tool.
    #[arg(long, value_name = "N", default_value = "3", value_parser = positive)]
    pub per_tool: NonZeroUsize,
    /// Most examples; default: all questions, 400 calls, or 200 texts of each set.
    #[arg(long, value_name = "N", value_parser = positive)]
    pub examples: Option<NonZeroUsize>,
    /// Passes over the examples; default: those of the recipe.
    #[arg(long, value_name = "N", value_parser = positive)]
    pub epochs: Option<NonZeroUsize>,
    /// Seed of all randomness.
    #[arg(long, value_name = "S", default_value_t = 0, value_parser = whole::<u64>)]
    pub seed: u64,
    #[command(flatten)]
    pub reader: ReaderArgs,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct EvalArgs {
    /// Measure to take.
    pub of: Of,
    /// Folder of a data set, or of API-Bank. A judge can be measured on several.
    #[arg(long, value_name = "DIR", required = true)]
    pub data: Vec<PathBuf>,
    /// The heads; default: untrained states. A judge needs them.
    #[arg(long, value_name = "FILE")]
    pub heads: Option<PathBuf>,
    /// Measure on the records of this file, instead of dev records that training has not used.
    #[arg(long, value_name = "FILE")]
    pub questions: Option<PathBuf>,
    /// Weight of words in the mix, 0 to 2; default: 0.25.
    #[arg(long, value_name = "W", value_parser = number)]
    pub mix: Option<f64>,
    /// Mean of the queries; default: the training mean if the heads know the set, else the running mean.
    #[arg(long)]
    pub means: Option<Means>,
    /// Most records, chosen at random; default: all questions, 200 calls, or 100 texts of a judge.
    #[arg(long, value_name = "N", value_parser = positive)]
    pub limit: Option<NonZeroUsize>,
    /// Measure which dimensions matter: the weights, and figures on parts of them, beside as many at random (section 4.3.4).
    #[arg(long, requires = "heads")]
    pub dimensions: bool,
    /// Accuracy against the size of the pool, and how spread wrong picks are (figures 4 to 7).
    #[arg(long)]
    pub figures: bool,
    /// For `here`: train with the examples of the published code too, which repeat the last call of a record.
    #[arg(long)]
    pub price_of_bug: bool,
    #[command(flatten)]
    pub reader: ReaderArgs,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct RetrievalEvalArgs {
    /// Lines of JSON: {"query": TEXT, "tools": [NAME, …]}; each of the tools is right.
    pub file: PathBuf,
    #[command(flatten)]
    pub catalogue: CatalogueArgs,
    /// Heads for questions; default: those of the configuration's [reader], or untrained states.
    #[arg(long, value_name = "FILE")]
    pub heads: Option<PathBuf>,
    /// Weight of words in the mix, 0 to 2; default: 0.25.
    #[arg(long, value_name = "W", value_parser = number)]
    pub mix: Option<f64>,
    /// Mean of the queries.
    #[arg(long, default_value = "running")]
    pub means: Means,
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
