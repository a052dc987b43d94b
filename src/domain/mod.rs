//! The truth of a session, pure: events, commands, and the state that is a fold of them; and the words
//! that they are made of. No I/O, no clock, no shared chance.

pub mod arguments;
pub mod chance;
pub mod chat;
pub mod command;
pub mod embedding;
pub mod error;
pub mod event;
pub mod fault;
pub mod graph;
pub mod id;
pub mod knob;
pub mod markers;
pub mod null_filter;
pub mod output;
pub mod pairs;
pub mod plan;
pub mod prompt;
pub mod rates;
pub mod retrieve;
pub mod spec;
pub mod state;
pub mod strategy;
pub mod tokens;
pub mod tool_class;
pub mod words;
pub mod worker_settings;
