//! Parsing and checking a planner's output: the text form, JSON, and the order of calls.

mod bracket;
mod check;
mod head;
mod json;
mod order;
mod parse;
mod text;

#[cfg(feature = "inside")]
pub use self::json::parse_json;
pub use self::{
    check::resolve,
    json::schema,
    parse::{LONGEST, MOST, Unreadable, parse},
};
