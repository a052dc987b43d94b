//! Parsing and checking a planner's output: the text form, JSON, and the order of calls.

mod assemble;
mod bracket;
mod call_forms;
mod callable_tools;
mod check;
mod fields;
mod head;
mod json;
mod label;
mod names;
mod order;
mod parse;
mod reading;
mod step;
mod table;
mod text;

pub use self::{
    callable_tools::{OfferedTool, PlanTools},
    check::{check, resolve},
    json::schema,
    order::{critical_path, levels, ready},
    parse::{read, read_whole_calls},
    reading::PlanReading,
};
pub use self::{
    json::parse_json,
    parse::parse,
    reading::{LONGEST, MOST, Unreadable},
};
