//! `toolyard cotools` and `toolyard retrieval`: a small local model ranks tools and judges texts (CoTools).

mod answer;
mod args;
mod bug;
mod catalogue;
mod clock;
mod dimensions;
mod encode;
mod eval;
mod judge;
mod judge_eval;
mod judge_texts;
mod lesson;
mod measure;
mod open;
mod print;
mod retrieval;
mod said;
mod score;
mod shapes;
mod split;
mod tools;
mod train;
mod train_judge;
mod verdict;

pub use self::args::{CotoolsCommand, ReaderArgs, RetrievalCommand};
pub use self::verdict::lines as bench_lines;
use super::trouble::Trouble;

/// Obeys `toolyard cotools`.
///
/// # Errors
/// What is wrong with files, or what failed.
pub fn cotools(command: &CotoolsCommand) -> Result<(), Trouble> {
    match command {
        CotoolsCommand::Encode(args) => encode::encode(args),
        CotoolsCommand::Train(args) => train::command(args),
        CotoolsCommand::Eval(args) => eval::eval(args),
        CotoolsCommand::Judge(args) => judge::judge(args),
        CotoolsCommand::Tools(args) => tools::tools(args),
    }
}

/// Obeys `toolyard retrieval`.
///
/// # Errors
/// What is wrong with files, or what failed.
pub fn retrieval(command: &RetrievalCommand) -> Result<(), Trouble> {
    match command {
        RetrievalCommand::Eval(args) => retrieval::eval(args),
    }
}
