//! Tools of MCP servers. The configurations that people already have say which servers there are;
//! each of their entries becomes a [`ServerEntry`].

use toolyard_net as net;

mod entry;

pub use self::entry::{Kept, ServerEntry, Transport};
