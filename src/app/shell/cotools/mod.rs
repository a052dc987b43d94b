//! `toolyard cotools`: a small local model encodes tools (CoTools). The laboratory trains, measures and shows its heads.

pub mod args;
pub mod captions;
pub mod catalogue;
pub mod clock;
mod encode;
pub mod open;

pub use self::args::CotoolsCommand;
pub use self::encode::encode_tools;
use super::trouble::Trouble;

/// Runs `toolyard cotools`.
///
/// # Errors
/// The files are wrong, or the command failed.
pub fn cotools(command: &CotoolsCommand) -> Result<(), Trouble> {
    let CotoolsCommand::Encode(args) = command;
    encode::encode(args)
}
