//! Retrieval of tools for a text: the first menu of a task, and offers beyond the successors.

mod lexical;
mod ranking;
mod words;

pub use lexical::Lexical;
pub use ranking::{RankedTool, Ranking};
pub use words::taken_apart;
