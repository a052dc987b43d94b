//! Tools of MCP servers. The configurations that people already have ([`config`], found at [`places`]) say which
//! servers there are. Each of their entries becomes a [`ServerEntry`], from whose key the tools have their names
//! ([`name`]).

use toolyard_domain as domain;
use toolyard_files as files;
use toolyard_net as net;

pub mod config;
mod entry;
pub mod name;
pub mod places;

pub use self::entry::{OfferedTools, ServerEntry, Transport};
