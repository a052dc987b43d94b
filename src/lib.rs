//! toolyard: a terminal workbench for tool-using LLM agents.
//!
//! `docs/architecture.md` has the flow in a picture and five sentences, and the files to read first.
//!
//! # Who may name whom
//!
//! A test enforces this rule: a room names only rooms in lines above its own.
//!
//! ```text
//! rooms
//!   domain
//!   files net papers process reader
//!   model program store strategy tool
//!   engine ui
//!   serve
//!   app
//! ```
//!
//! So `ui` and `engine` never name each other. `domain`, `papers` and `strategy` do no I/O and know neither
//! clock nor randomness. `ratatui` and `crossterm` are named only under `ui`; only `app/cli` prints.

// Tools run as Unix processes, and the screen is a Unix terminal.
#[cfg(not(unix))]
compile_error!("toolyard supports Linux and macOS only; on Windows, build and run it in WSL");

// The insides are for this crate alone, so that the compiler finds what nobody uses. Tests, benches and fuzz targets
// ask for the feature `inside`.
#[cfg(not(feature = "inside"))]
mod app;
#[cfg(not(feature = "inside"))]
mod domain;
#[cfg(not(feature = "inside"))]
mod engine;
#[cfg(not(feature = "inside"))]
mod files;
#[cfg(not(feature = "inside"))]
mod model;
#[cfg(not(feature = "inside"))]
mod net;
#[cfg(not(feature = "inside"))]
mod papers;
#[cfg(not(feature = "inside"))]
mod process;
#[cfg(not(feature = "inside"))]
mod program;
#[cfg(not(feature = "inside"))]
mod reader;
#[cfg(not(feature = "inside"))]
mod serve;
#[cfg(not(feature = "inside"))]
mod store;
#[cfg(not(feature = "inside"))]
mod strategy;
#[cfg(not(feature = "inside"))]
mod tool;
#[cfg(not(feature = "inside"))]
mod ui;

#[cfg(feature = "inside")]
pub mod app;
#[cfg(feature = "inside")]
pub mod domain;
#[cfg(feature = "inside")]
pub mod engine;
#[cfg(feature = "inside")]
pub mod files;
#[cfg(feature = "inside")]
pub mod model;
#[cfg(feature = "inside")]
pub mod net;
#[cfg(feature = "inside")]
pub mod papers;
#[cfg(feature = "inside")]
pub mod process;
#[cfg(feature = "inside")]
pub mod program;
#[cfg(feature = "inside")]
pub mod reader;
#[cfg(feature = "inside")]
pub mod serve;
#[cfg(feature = "inside")]
pub mod store;
#[cfg(feature = "inside")]
pub mod strategy;
#[cfg(feature = "inside")]
pub mod tool;
#[cfg(feature = "inside")]
pub mod ui;

pub use app::main;

/// For the program, its tests and its benches. Folding a session makes many small allocations and drops them
/// at once; the C library's allocator returns such memory to the system each time (glibc), or is slow (musl).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
