//! Queries of the state that need more than one of its parts. They change nothing.

mod agent_control;
mod breakpoints;
mod cost;
mod effects;
mod evidence;
mod faults;
mod hypothesis;
mod laps;
mod loops;
mod marks;
mod moves;
mod pairs;
mod past;
mod probing;
mod programs;
mod rankings;
mod reactions;
mod repeat;
mod results;
mod shown_run;
mod succession_path;
mod tool_servers;
mod totals;
mod usable_models;

pub use self::{
    marks::{CallMark, Uncached},
    moves::Cause,
    probing::ProbingSums,
    repeat::Repeat,
};
