//! `toolyard cotools`: a small local model ranks tools and judges texts (CoTools). The laboratory trains and measures
//! its heads.

pub mod args;
pub mod catalogue;
pub mod clock;
mod encode;
mod judge;
pub mod open;
pub mod said;
mod tools;

pub use self::args::CotoolsCommand;
use super::trouble::Trouble;

/// Runs `toolyard cotools`.
///
/// # Errors
/// The files are wrong, or the command failed.
pub fn cotools(command: &CotoolsCommand) -> Result<(), Trouble> {
    match command {
        CotoolsCommand::Encode(args) => encode::encode(args),
        CotoolsCommand::Judge(args) => judge::judge(args),
        CotoolsCommand::Tools(args) => tools::tools(args),
    }
}
