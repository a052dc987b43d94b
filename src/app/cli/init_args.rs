//! Arguments of `toolyard init`.

use std::path::PathBuf;

use clap::Args;

/// Where to begin a project.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// The folder; the working directory where none is given.
    #[arg(default_value = ".")]
    pub dir: PathBuf,
    /// Say what would be written, and write nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Send no request to the models that are found. Without this, the first model of each local server gets one small
    /// request with a tool, which shows what it does with tools; a server may load the model for it.
    #[arg(long)]
    pub no_probe: bool,
}
