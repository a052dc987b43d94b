//! Tools of MCP servers. The configurations that people already have ([`config`], found at [`places`]) list the
//! servers. Each of their entries becomes a [`ServerEntry`], from whose key the names of its tools derive ([`name`]).
//! [`client`] keeps the servers running and calls their tools; [`trust`] knows which definitions were seen. [`relay`]
//! is between a foreign client and its server.

use toolyard_domain as domain;
use toolyard_files as files;
use toolyard_net as net;
use toolyard_process as process;
use toolyard_tool as tool;
use toolyard_wire as wire;

pub mod client;
pub mod config;
mod entry;
pub mod name;
pub mod places;
pub mod relay;
pub mod trust;

pub use self::entry::{OfferedTools, ServerEntry, Transport, header_values};
