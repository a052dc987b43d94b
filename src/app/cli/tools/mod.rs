//! `toolyard tools`.

mod accept;
mod add;
pub(super) mod args;
mod list;
pub(super) mod open;

use self::args::ToolsCommand;
use super::trouble::Trouble;
use super::{call, doctor};

/// Runs the command; returns whether all is well.
pub fn tools(command: &ToolsCommand) -> Result<bool, Trouble> {
    match command {
        ToolsCommand::List(args) => return list::list(args),
        ToolsCommand::Show(args) => list::show(args),
        ToolsCommand::Call(args) => call::call(args),
        ToolsCommand::Check(args) => return doctor::check_tools(args),
        ToolsCommand::Accept(args) => accept::accept(args),
        ToolsCommand::Add(args) => add::add(args),
    }
    .map(|()| true)
}
