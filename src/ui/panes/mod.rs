//! One file per region of the screen. Each has `title`, `draw`, `go` (a movement key) and `find`; they
//! are reached only through [`super::pane`].

mod brief;
pub(super) mod glyph;
mod here;
mod order;
mod row;
mod since;
pub mod units;

pub mod calls;
pub mod graph;
pub mod knobs;
pub mod models;
pub mod scores;
pub mod tasks;
pub mod transcript;
