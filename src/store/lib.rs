//! Data that outlives a session: journals, experience, tasks, prices, and imports from other
//! programs.

use toolyard_domain as domain;
use toolyard_files as files;
use toolyard_net as net;
use toolyard_papers as papers;

pub mod breakpoints;
pub mod database;
pub mod experience;
pub mod few_shots;
pub mod import;
pub mod journal;
pub mod json_store;
pub mod kept_tree;
pub mod prices;
pub mod prompts;
pub mod shared;
pub mod states;
pub mod tasks;
