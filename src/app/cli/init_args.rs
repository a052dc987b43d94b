//! Arguments of `toolyard init`.

use std::path::PathBuf;

use clap::Args;

/// Where to begin a project.
#[derive(Debug, Default, Args)]
pub struct InitArgs {
    /// Folder of the project; default: the working directory.
    #[arg(default_value = ".")]
    pub dir: PathBuf,
    /// Print the files that would be written, and write nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Send no test request to the models found.
    ///
    /// By default the first model of each local server gets one small request with a tool. The server may load its model to
    /// answer.
    #[arg(long)]
    pub no_probe: bool,
}
