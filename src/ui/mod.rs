//! The screen.
//!
//! ```text
//! terminal events → keymap → Action → update(&mut View, &State) → Effect (a Command, quit, …)
//! State, View ────→ draw ──→ cells, and Hits: who owns which cell
//! ```
//!
//! Its `State` is its own fold of the records it is sent: it knows no engine, so the same screen shows a
//! live session, a replay and, later, a session elsewhere. Only this module names ratatui and crossterm.

pub mod action;
pub mod hits;
pub mod key;
pub mod keymap;
pub mod keytable;
pub mod pane;
pub mod panes;
pub mod text;
pub mod theme;
pub mod view;
pub mod vlist;
