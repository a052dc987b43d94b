//! Parsing and checking a planner's output: the text form, JSON, and the order of calls.

mod bracket;
mod check;
mod head;
mod json;
mod order;
mod parse;
mod text;

pub use self::{
    check::{Fault, Faults, resolve},
    json::{parse_json, schema},
    parse::{LONGEST, MOST, Unreadable, parse},
};
