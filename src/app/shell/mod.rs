//! Parts that the command lines of both programs share: output, errors, options of sessions, and the commands of the local
//! reader. Nothing here knows a command of the workbench.

pub mod colour;
pub mod cotools;
pub mod describe;
pub mod litter;
pub mod log;
mod nats_args;
pub mod openapi;
pub mod out;
pub mod question;
pub mod runtime;
mod session_args;
mod spec;
pub mod stopping;
pub mod trouble;
pub mod value;

pub use self::describe::ManArgs;
pub use self::nats_args::NatsArgs;
pub use self::session_args::{ConfigArgs, SessionArgs};
pub use self::spec::parse_knob;
