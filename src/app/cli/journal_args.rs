//! Arguments of the commands that read journals.

use std::{path::PathBuf, time::Duration};

use clap::{ArgGroup, Args, Subcommand};

use super::{ConfigArgs, value::whole};
use crate::domain::approval::Rule;
use crate::ui::pane::PaneId;

#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// Journal to read; default: the newest one of `toolyard sessions`.
    pub journal: Option<PathBuf>,
    /// Stop after this event instead of the last.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u64>)]
    pub at: Option<u64>,
    /// Print the state as JSON: all tasks, and the details of the last ones.
    #[arg(long)]
    pub json: bool,
    /// With --json: print the details of all tasks.
    #[arg(long, requires = "json")]
    pub full: bool,
    /// Write the report as one JSON object to this file.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub config: ConfigArgs,
}

#[derive(Debug, Args)]
pub struct AttachArgs {
    /// Journal of the session, or its name in the journal folder; default: the newest running session.
    pub session: Option<PathBuf>,
    /// Only watch, even if nobody controls the session.
    #[arg(long)]
    pub watch: bool,
    #[command(flatten)]
    pub config: ConfigArgs,
}

#[derive(Debug, Args)]
pub struct FollowArgs {
    /// Journal to read; its session may run on another machine.
    pub journal: PathBuf,
    /// Print each event as a line of JSON, until the session ends.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub config: ConfigArgs,
}

#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// Journal of the session; default: the newest session that did not end.
    pub journal: Option<PathBuf>,
    /// Continue without a screen, as `toolyard run` does.
    ///
    /// Interrupted calls that may have changed something are refused.
    #[arg(long)]
    pub headless: bool,
    /// Continue without a screen, and print every event as a line of JSON.
    #[arg(long)]
    pub json: bool,
    /// With --headless: write the report as one JSON object to this file at the end.
    #[arg(long, value_name = "FILE", requires = "headless")]
    pub report: Option<PathBuf>,
    /// Repeat interrupted calls without asking, even if they may have changed something.
    #[arg(long)]
    pub repeat_unknown: bool,
    /// Continue with the next task when a model is unusable.
    ///
    /// A model is unusable if it does not answer, refuses the key, has no credit left or does not exist.
    #[arg(long)]
    pub keep_going: bool,
    /// Allow calls of a tool without asking, in addition to the session's own rules.
    #[arg(long, value_name = "RULE")]
    pub allow: Vec<Rule>,
    /// Use the workspace, configuration, MCP files and settings of the journal without asking.
    #[arg(long)]
    pub trust_journal: bool,
    /// New folder of the session's workspace, if it has moved.
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    #[command(flatten)]
    pub config: ConfigArgs,
}

/// Arguments of `toolyard report`: the session, and the form of the report.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Journal to read; default: the newest one of `toolyard sessions`.
    pub journal: Option<PathBuf>,
    /// Write an HTML page without scripts instead of JSON.
    ///
    /// The page has a summary, the tools, the graph, and each task with its calls and its transcript.
    #[arg(long)]
    pub html: bool,
    /// Write to this file instead of standard output.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Stop after this event instead of the last.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u64>)]
    pub at: Option<u64>,
    #[command(flatten)]
    pub config: ConfigArgs,
}

#[derive(Debug, Args)]
pub struct ShotArgs {
    /// Journal to read.
    pub journal: PathBuf,
    /// Draw the screen after this event instead of the last.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u64>)]
    pub at: Option<u64>,
    /// Size in columns and rows.
    #[arg(long, default_value = "160x48", value_name = "COLSxROWS")]
    pub size: String,
    /// Draw only this pane, such as `resilience`.
    #[arg(long, value_name = "PANE")]
    pub pane: Option<PaneId>,
    /// Theme by name, or a theme file.
    #[arg(long, value_name = "T")]
    pub theme: Option<String>,
    /// Write the picture to this file.
    #[arg(long, value_name = "FILE.svg")]
    pub out: PathBuf,
    /// Print the share of cells with content: no blanks, frames, axes or dim text.
    #[arg(long)]
    pub ink: bool,
    #[command(flatten)]
    pub config: ConfigArgs,
}

/// Arguments of `toolyard sessions`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct SessionsArgs {
    #[command(subcommand)]
    pub command: Option<SessionsCommand>,
    /// Print JSON instead of a table.
    #[arg(long)]
    pub json: bool,
    /// Put each session below the one that it came from.
    ///
    /// These are forks, runs over a record, twins, and sessions that were resumed.
    #[arg(long, conflicts_with = "json")]
    pub tree: bool,
    #[command(flatten)]
    pub config: ConfigArgs,
}

#[derive(Debug, Subcommand)]
pub enum SessionsCommand {
    /// Delete old journals.
    #[command(group = ArgGroup::new("which").required(true).multiple(true).args(["older", "keep"]))]
    Prune {
        /// Delete journals older than this: a number with h, d or w, such as 30d.
        #[arg(long, value_name = "TIME", value_parser = time)]
        older: Option<Duration>,
        /// Always keep the N newest journals.
        #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<usize>)]
        keep: Option<usize>,
        /// Print what would be deleted, and delete nothing.
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        config: ConfigArgs,
    },
}

/// A time such as `30d`.
fn time(text: &str) -> Result<Duration, String> {
    let expected = || "expected a number with h, d or w, such as 30d".to_owned();
    let text = text.trim();
    let unit = text.chars().last().ok_or_else(expected)?;
    let hours = match unit {
        'h' => 1,
        'd' => 24,
        'w' => 7 * 24,
        _ => return Err(expected()),
    };
    let number: u64 = text[..text.len() - 1].parse().map_err(|_| expected())?;
    let seconds = number.checked_mul(hours * 3600).ok_or_else(expected)?;
    Ok(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit() {
        let hours = |text: &str| time(text).map(|time| time.as_secs() / 3600);
        assert_eq!([hours("5h"), hours("30d"), hours(" 2w ")], [Ok(5), Ok(720), Ok(336)]);
        for wrong in ["", "d", "30", "-3d", "3.5d", "30 days", "99999999999999999w", "3日"] {
            assert!(time(wrong).unwrap_err().ends_with("such as 30d"), "{wrong}");
        }
    }
}
