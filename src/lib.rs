//! toolyard: a terminal workbench for tool-using LLM agents.
//!
//! `docs/architecture.md` has a picture of the flow, five sentences about it, and the files to read first.
//!
//! # Dependencies between rooms
//!
//! Each room is a crate, whose manifest names the rooms that it uses. A test reads the manifests: a room names only
//! rooms in lines above its own.
//!
//! ```text
//! rooms
//!   domain
//!   files net papers process reader wire
//!   model nats program store strategy tool
//!   ask mcp
//!   engine serve ui
//!   report stage
//!   app
//! ```
//!
//! So `ui` and `engine` never name each other. `domain`, `papers` and `strategy` do no I/O and know neither
//! clock nor randomness. Only `ui` names `ratatui` and `crossterm`; only `app/cli` prints.
//!
//! This crate gathers the rooms for the program, and for tests, benches and fuzz targets of the whole.

// Tools run as Unix processes, and the screen is a Unix terminal.
#[cfg(not(unix))]
compile_error!("toolyard supports Linux and macOS only; on Windows, build and run it in WSL");

pub use toolyard_app as app;
pub use toolyard_ask as ask;
pub use toolyard_domain as domain;
pub use toolyard_engine as engine;
pub use toolyard_files as files;
pub use toolyard_mcp as mcp;
pub use toolyard_model as model;
#[cfg(feature = "nats")]
pub use toolyard_nats as nats;
pub use toolyard_net as net;
pub use toolyard_papers as papers;
pub use toolyard_process as process;
pub use toolyard_program as program;
pub use toolyard_reader as reader;
pub use toolyard_report as report;
pub use toolyard_serve as serve;
#[cfg(feature = "stage")]
pub use toolyard_stage as stage;
pub use toolyard_store as store;
pub use toolyard_strategy as strategy;
pub use toolyard_tool as tool;
pub use toolyard_ui as ui;
pub use toolyard_wire as wire;

pub use app::main;

/// The allocator of the program, its tests and its benches. Folding a session makes many small allocations and frees
/// them at once; the C library's allocator returns such memory to the system each time (glibc), or is slow (musl).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
