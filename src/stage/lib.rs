//! The stage: what toolyard can show without a user's tools and models. A simulated model plays every role, sample
//! tools look things up in an invented world, and demos press the keys. The program is built with it unless its feature
//! `stage` is off; the debugger does not depend on it.

use toolyard_domain as domain;
use toolyard_files as files;
use toolyard_model as model;
use toolyard_papers as papers;
use toolyard_store as store;
use toolyard_tool as tool;
use toolyard_ui as ui;
use toolyard_wire as wire;

pub mod builtin;
pub mod demo;
pub mod films;
pub mod guest;
pub mod noise_tools;
pub mod sample;
pub mod simulated;
pub mod tour;
pub mod world;
