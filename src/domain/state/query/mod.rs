//! Queries of the state that need more than one of its parts. They change nothing.

mod acting;
mod breakpoints;
mod cost;
mod effects;
mod evidence;
mod faults;
mod followed;
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
mod served;
mod shown;
mod totals;
mod usable;
mod what_if;

pub use self::{
    marks::{CallMark, Uncached},
    moves::Cause,
    probing::ProbingSums,
    repeat::Repeat,
};
