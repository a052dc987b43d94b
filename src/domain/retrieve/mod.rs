//! Retrieval of tools for a text: the first menu of a task, and offers beyond the successors.

mod bm25;
mod lexical;
mod ranking;
mod union;
mod words;

pub use bm25::{Bm25, is_stop_word, rarity};
pub use lexical::Lexical;
pub use ranking::{RankedTool, Ranking};
pub use words::taken_apart;
