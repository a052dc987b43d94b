//! toolyard: a terminal workbench for tool-using LLM agents.
#![deny(unsafe_code)]

pub mod chat;
pub mod id;
pub mod model;
pub mod outcome;
pub mod spec;
pub mod tool;
