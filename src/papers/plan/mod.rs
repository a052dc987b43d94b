//! Parsing and checking a planner's output: the text form, JSON, and the order of calls.

mod assemble;
mod bracket;
mod calling;
mod check;
mod fields;
mod head;
mod json;
mod label;
mod names;
mod offered;
mod order;
mod parse;
mod reading;
mod step;
mod table;
mod text;

pub use self::{
    check::{check, resolve},
    json::schema,
    offered::{OfferedTool, PlanTools},
    order::{critical_path, levels, ready},
    parse::{read, read_whole_calls},
    reading::PlanReading,
};
pub use self::{
    json::parse_json,
    parse::parse,
    reading::{LONGEST, MOST, Unreadable},
};
