//! `toolyard trust`: what a person has answered about folders, and how to withdraw it.

use clap::Args;

use super::{colour, out, trouble::Trouble};
use crate::compare::table::PlainTable;
use crate::domain::words::counted;
use crate::trust_answers::{self, Kind};

/// The first characters of a hash that are shown.
const SHOWN: usize = 12;

/// Arguments of `toolyard trust`.
#[derive(Debug, Args)]
pub struct TrustArgs {
    /// Forget the answer with this number, or all answers about a folder.
    ///
    /// toolyard then asks again.
    #[arg(long, value_name = "N|FOLDER", conflicts_with = "json")]
    pub forget: Option<String>,
    /// Print JSON instead of a table.
    #[arg(long)]
    pub json: bool,
}

/// Lists the answers, or forgets some.
///
/// # Errors
/// The answers cannot be read or written, or none is meant.
pub fn trust(args: &TrustArgs) -> Result<(), Trouble> {
    if let Some(which) = &args.forget {
        let expected = "expected a number of `toolyard trust`, or a folder in it";
        return match trust_answers::forget(which).map_err(Trouble::Usage)? {
            0 => Err(Trouble::Usage(format!("no answer about {which:?}; {expected}"))),
            some => out::print_line(format!("{} forgotten", counted(some, "answer"))),
        };
    }
    let all = trust_answers::all().map_err(Trouble::Usage)?;
    if args.json {
        return out::print_pretty(&all);
    }
    let mut table = PlainTable::new("", 5, &["number", "kind", "used", "place", "what"]);
    for (number, answer) in (1..).zip(&all) {
        let trust_answers::Brought { kind, place, what } = &answer.brought;
        let what = match kind {
            Kind::Address | Kind::Setting => what.clone(),
            Kind::McpFile | Kind::Workspace | Kind::Configuration => {
                what.chars().take(SHOWN).collect()
            }
        };
        let used = if answer.used { "yes" } else { "no" };
        let (kind, place) = (<&str>::from(kind).to_owned(), place.display().to_string());
        table.row(vec![number.to_string(), kind, used.to_owned(), place, what]);
    }
    match table.text() {
        none if none.is_empty() => out::print_line("no answers"),
        text => out::print(colour::headed(text.trim_start_matches('\n'), 0)),
    }
}
