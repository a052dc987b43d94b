//! `toolyard compare`: the same tasks under many combinations of strategies and settings.

mod resilience;

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use self::resilience::BROKEN_TOOL;
use super::trouble::Trouble;
use crate::compare::experiment::CHOSEN;
use crate::compare::{CompareOptions, compared, print, print_all};

#[derive(Debug, Default, Args)]
pub struct CompareArgs {
    /// Predefined comparison; every option overrides it. Without it, give --strategies.
    #[arg(value_enum)]
    pub preset: Option<Preset>,
    /// With `resilience`: also draw the first combination and seed as an SVG picture.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    #[command(flatten)]
    pub options: CompareOptions,
}

/// A predefined comparison. Those of papers belong to the laboratory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Preset {
    /// A tool breaks (--fault, default: search_web from task 30 on): which tools take over, after how many
    /// tasks, at what price; with learning and without, and for react.
    Resilience,
}

/// Runs `toolyard compare`.
///
/// # Errors
/// As [`print`].
pub fn compare(args: &CompareArgs) -> Result<(), Trouble> {
    match (args.preset, &args.svg) {
        (Some(Preset::Resilience), None) => print(&args.options, &BROKEN_TOOL),
        (Some(Preset::Resilience), Some(file)) => {
            let Some((comparison, results)) = compared(&args.options, &BROKEN_TOOL)? else {
                return Ok(());
            };
            resilience::picture(file, &comparison, &results)?;
            print_all(&args.options, &BROKEN_TOOL, &comparison, &results)
        }
        (None, None) => print(&args.options, &CHOSEN),
        (None, Some(_)) => {
            let text =
                "--svg draws what `compare resilience` measures; leave it out, or compare that";
            Err(Trouble::Usage(text.to_owned()))
        }
    }
}
