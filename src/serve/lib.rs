//! The doors of a running session. [`watch`] serves the model requests of watched agents. The other door is a Unix
//! socket, by which other programs on this machine read the session's records and send it commands.
//! `toolyard attach` is such a program.
//!
//! # Protocol of the socket
//!
//! One JSON object per line, in both directions. Version [`VERSION`](line::VERSION).
//!
//! The session begins with its [hello](line::Hello):
//!
//! ```text
//! {"toolyard_attach":1,"journal":PATH,"opened":TIME,"title":TEXT,"pid":N,"n":N,"controller":TEXT or null}
//! ```
//!
//! `n` is the number of the last event so far. The other side begins with its version, and then sends any of these:
//!
//! ```text
//! {"toolyard_attach":1}     first, within ten seconds
//! {"from":N}                send all records after event N, and then each one as it comes
//! {"command":COMMAND}       the form of `domain::Command`; only from the side that controls
//! {"take":true}             take control, or ask for it where somebody has it
//! {"leave":true}            give control up: to the first one who asked, else to the screen that started the session
//! {"relay":KEY}             this side is the relay of an MCP server, and speaks as [`relay_socket`] has it from here on
//! ```
//!
//! The session sends:
//!
//! ```text
//! {"n":N}                   the journal now has event N; to those that did not ask for records
//! {"record":RECORD}         a whole event, as `toolyard run --json` prints it
//! {"control":{"yours":BOOL,"controller":TEXT or null}}     who controls from now on
//! {"asked":TEXT}            to the side that controls: this one asks for control
//! {"refused":TEXT}          what was asked for is not done, and why
//! {"ended":true}            the session has ended; this is the last line
//! ```
//!
//! A line of any other form is answered by `refused`, and the connection ends. Ignore unknown lines of the session.
//!
//! # What it costs
//!
//! The server runs on a thread of its own. The engine only tells it the number of the last event. What the server
//! sends it reads from the journal, so it keeps no history, and a side that reads slowly costs no memory. A side that
//! reads nothing for [`PATIENCE`](guest::PATIENCE) is dropped; it can attach again.

use toolyard_domain as domain;
use toolyard_files as files;
use toolyard_mcp as mcp;
use toolyard_model as model;
use toolyard_net as net;
use toolyard_process as process;
use toolyard_store as store;
use toolyard_tool as tool;
use toolyard_wire as wire;

pub mod agent;
mod client;
mod desk;
mod guest;
pub mod intercept;
pub mod line;
mod place;
pub mod relay_socket;
mod server;
pub mod tools;
pub mod watch;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

pub use self::client::{AttachError, Attached, attach};
pub use self::place::{SessionFolder, dial, folders, listen_for};
pub use self::server::{Opened, Server};
use crate::domain::seat::{self, SeatNews, SeatRequest};

/// The place of a screen at a session that other screens show too.
pub type Seat = seat::Seat<UnboundedReceiver<SeatNews>, UnboundedSender<SeatRequest>>;
