//! toolyard: a terminal workbench for tool-using LLM agents.
#![deny(unsafe_code)]

pub mod answer;
pub mod chance;
pub mod chat;
pub mod command;
pub mod config;
pub mod doctor;
pub mod engine;
pub mod event;
pub mod fault;
pub mod graph;
pub mod id;
pub mod import;
pub mod journal;
pub mod knob;
pub mod model;
pub mod outcome;
pub mod report;
pub mod retrieve;
pub mod sample;
pub mod spec;
pub mod state;
pub mod strategy;
pub mod tasks;
pub mod toml_file;
pub mod tool;
pub mod ui;
pub mod words;
pub mod workspace;
