//! Arguments of `toolyard ask`.

use std::path::PathBuf;

use clap::{Args, value_parser};

use crate::shell::ConfigArgs;
use crate::shell::value::{number, whole};

#[derive(Debug, Args)]
pub struct AskArgs {
    /// Journal to read; default: the newest one of `toolyard sessions`.
    pub journal: Option<PathBuf>,
    /// Number of the model call, as the screen and the journal have it.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u32>)]
    pub call: u32,
    /// Models to ask, separated by commas; default: the model of the recorded call.
    ///
    /// Each is a configured one, PROVIDER:MODEL or an address, as for `toolyard run --model`.
    #[arg(long, value_name = "M", value_delimiter = ',')]
    pub model: Vec<String>,
    /// Number of calls of each model.
    #[arg(long, value_name = "K", default_value_t = 5, value_parser = value_parser!(u32).range(1..=1000))]
    pub times: u32,
    /// Change the request: `prompt=TEXT` replaces its last message of the user.
    #[arg(long, value_name = "prompt=TEXT", value_parser = prompt)]
    pub set: Option<String>,
    /// Most calls at the same time.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = value_parser!(u16).range(1..=64))]
    pub at_once: u16,
    /// Send no further call that could make them all cost more than N US dollars; default: 5.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number)]
    pub max_dollars: Option<f64>,
    /// Print one JSON object at the end, with the whole replies.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub config: ConfigArgs,
}

/// The text of `prompt=TEXT`.
fn prompt(text: &str) -> Result<String, String> {
    let text = text.strip_prefix("prompt=").ok_or("expected prompt=TEXT")?;
    if text.trim().is_empty() {
        return Err("expected a text after prompt=".to_owned());
    }
    Ok(text.to_owned())
}
