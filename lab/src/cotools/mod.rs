//! `toolyard-lab cotools`: trains the heads of CoTools and measures them. It shares the reader, catalogues and words
//! of `toolyard cotools`.

pub mod answer;
pub mod args;
mod bug;
pub mod catalogue;
mod dimensions;
mod eval;
mod judge;
mod judge_eval;
mod judge_texts;
pub mod lesson;
pub mod measure;
pub mod open;
pub mod print;
pub mod score;
mod shapes;
mod split;
mod tools;
mod train;
mod train_judge;
mod verdict;

pub use self::args::CotoolsCommand;
pub use self::verdict::lines as bench_lines;
use crate::app::shell::cotools::encode_tools;
use crate::app::shell::trouble::Trouble;

/// Runs `toolyard-lab cotools`.
///
/// # Errors
/// Files are wrong, or a step failed.
pub fn cotools(command: &CotoolsCommand) -> Result<(), Trouble> {
    match command {
        CotoolsCommand::Encode(args) => encode_tools(
            &catalogue::open(&args.catalogue)?,
            args.heads.as_deref(),
            &args.reader,
            args.json,
        ),
        CotoolsCommand::Train(args) => train::command(args),
        CotoolsCommand::Eval(args) => eval::eval(args),
        CotoolsCommand::Judge(args) => judge::judge(args),
        CotoolsCommand::Tools(args) => tools::tools(args),
    }
}
