//! Anthropic's Messages.
//!
//! ```text
//! a request ──► asked, past ────────► IncomingRequest
//! Request ────► body, turns, marks ─► a request
//! an answer ──► answer, growing ────► Reply
//! Reply ──────► reply ──────────────► an answer
//! ```
//!
//! A message is a list of blocks, and their order counts: signed thoughts stand before the calls that they led to.
//! [`blocks`] says what a block is, [`said`] puts the blocks of one assistant message together, and [`layout`] takes a
//! message apart into blocks again.

mod answer;
mod asked;
mod blocks;
mod body;
mod calls;
mod changed;
mod errors;
mod finish;
mod growing;
mod layout;
#[cfg(test)]
mod made;
mod marks;
mod past;
mod reply;
mod said;
#[cfg(test)]
mod tests;
mod turns;

pub use self::answer::MessagesAnswer;
pub use self::asked::read_request;
pub use self::body::write_request;
pub use self::calls::{calls_in, is_end};
pub(crate) use self::changed::changes;
pub use self::errors::{write_error, write_error_event};
pub use self::reply::{write_reply, write_stream};
pub(crate) use self::turns::messages;
