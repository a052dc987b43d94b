//! toolyard: a terminal workbench for tool-using LLM agents.
#![deny(unsafe_code)]

pub mod chance;
pub mod chat;
pub mod fault;
pub mod id;
pub mod knob;
pub mod model;
pub mod outcome;
pub mod spec;
pub mod tool;
