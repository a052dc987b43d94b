//! Which tools suit a text: the first menu of a task, and what is offered beyond the successors.

mod lexical;
mod words;

pub use lexical::Lexical;
pub use words::taken_apart;
