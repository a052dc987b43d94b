//! The screen.
//!
//! ```text
//! terminal events → keymap → Action → update(&mut View, &State) → ScreenRequest (a Command, quit, …)
//! State, View ────→ draw ──→ cells, and Hits: who owns which cell
//! ```
//!
//! Its `State` is its own fold of the records that it receives. It knows no engine, so the same screen shows a live
//! session, a replay, and a session elsewhere. Only this module names ratatui and crossterm.

use toolyard_domain as domain;
use toolyard_files as files;
use toolyard_net as net;
use toolyard_papers as papers;
use toolyard_store as store;
use toolyard_strategy as strategy;
use toolyard_tool as tool;

pub mod action;
pub mod agent_output;
pub mod alert;
mod beat;
mod bindings;
pub mod brush;
pub mod call_lines;
pub mod cast;
mod change;
mod clipboard;
mod copies_news;
pub mod cx;
mod draw;
pub mod filter_states;
mod footer;
mod header;
pub mod history;
pub mod hits;
pub mod in_step;
pub mod inputs;
pub mod key;
pub mod keymap;
pub mod keytable;
pub mod knob_preview;
pub mod layout;
pub mod listing;
pub mod marks;
pub mod moment_run;
pub mod needle;
pub mod next;
pub mod output;
mod outside;
pub mod own;
pub mod pace;
pub mod pane;
pub mod pane_search;
pub mod panes;
pub mod play;
pub mod popups;
pub mod program_moment;
pub mod request;
pub mod round;
mod run;
pub mod scenario;
pub mod screen;
mod scrubber;
mod seek;
mod selection;
pub mod shot;
mod show;
mod source;
mod strokes;
pub mod sweep;
pub mod sweep_chart;
pub mod symbols;
mod table;
pub mod terminal;
pub mod text;
pub mod theme;
pub mod tour;
pub mod twin;
pub mod twin_call;
pub mod update;
pub mod view;
pub mod vlist;
pub mod watch;
pub mod watch_file;
pub mod window;
pub mod wording;

pub use agent_output::{AgentOutput, OutputLine};
pub use bindings::KeymapError;
pub use call_lines::{AsCommand, Called};
pub use next::NextSession;
pub use run::{ScreenError, run};
pub use shot::shot;
pub use source::{
    EndReason, JournalItem, Library, Records, Remark, ScreenSettings, Seat, SessionSource,
};
