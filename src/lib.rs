//! toolyard: a terminal workbench for tool-using LLM agents.
//!
//! ```text
//!             keys, mouse                      Command: a wish, may be refused
//!  terminal ───────────► keymap ─► Action ─► update ──────────────────► engine
//!      ▲                              │ (changes only View)               │  strategy ─ asks a model, calls tools;
//!      │ bytes                        ▼                                   │  each through gate, faults, event
//!      └── frame ◄── draw(&State, &View, &Theme, now) ◄── State           ▼
//!                                                           ▲ fold     Event: true, numbered, dated
//!                                                           └──────────── └─► journal ─► replay, report
//! ```
//!
//! 1. Only the engine makes events; it numbers them; they are the truth of a session.
//! 2. State is a fold of events and nothing else; engine, screen, replay and reports use the same fold.
//! 3. What the user wants is a command; each ends as an event, or as `CommandRefused` with a reason.
//! 4. What only the screen needs is the view; it is never journaled.
//! 5. Drawing reads state and view, changes nothing, and returns where things are.
//!
//! # Who may name whom
//!
//! A crate has no walls, so a test keeps this rule: a module names only modules of lines above its own.
//!
//! ```text
//! layers
//!   answer arguments budget chance id measure tool_class words
//!   blueprint chat graph knob null_filter outcome pairs rates spec toml_file
//!   fault import json_file retrieve text_file workers
//!   event prices tasks
//!   command experience journal tool
//!   state
//!   prospect report sample strategy
//!   model workspace
//!   engine ui
//!   config
//!   doctor
//! ```
//!
//! So `ui` and `engine` never name each other. `graph` and what states are made of do no I/O and know
//! neither clock nor randomness. `ratatui` and `crossterm` are named only under `ui`. The program itself
//! (`main` and what it declares) may name everything and is named by nothing; it alone prints.
#![deny(unsafe_code)]

pub mod answer;
pub mod arguments;
pub mod blueprint;
pub mod budget;
pub mod chance;
pub mod chat;
pub mod command;
pub mod config;
pub mod doctor;
pub mod engine;
pub mod event;
pub mod experience;
pub mod fault;
pub mod graph;
pub mod id;
pub mod import;
pub mod journal;
pub mod json_file;
pub mod knob;
pub mod measure;
pub mod model;
pub mod null_filter;
pub mod outcome;
pub mod pairs;
pub mod prices;
pub mod prospect;
pub mod rates;
pub mod report;
pub mod retrieve;
pub mod sample;
pub mod spec;
pub mod state;
pub mod strategy;
pub mod tasks;
pub mod text_file;
pub mod toml_file;
pub mod tool;
pub mod tool_class;
pub mod ui;
pub mod words;
pub mod workers;
pub mod workspace;
