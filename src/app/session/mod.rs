//! A session as data: its description ([`SessionSpec`]), the result of reading everything it names
//! ([`PreparedSession`]), and the running session ([`SessionHandle`]). Nothing here knows a command line
//! or prints.
//!
//! ```text
//! SessionSpec ── prepare ──► Prepared ── spawn ──► SessionHandle { records, commands, engine }
//!      └─────── setup_with(models, tools) ──► engine::Setup, without files
//! ```

mod agent_command;
mod agent_fork;
mod classes;
mod costs;
mod embedding;
mod error;
mod fork;
mod fork_edit;
mod fork_moment;
mod fork_spec;
mod journal_chain;
mod moved;
mod place;
mod prepare;
mod reader;
mod repetition;
mod rerun_journals;
mod resume;
mod schemas;
mod servers;
mod setup;
mod spawn;
mod spec;
mod spec_fields;
mod sweep;
mod task_tools;
mod twin;
mod watch_session;

pub use self::servers::{add as add_servers, seen as seen_definitions};
pub use self::{
    agent_command::AgentCommand,
    costs::CostRange,
    embedding::embedder,
    error::{SessionError, SpecField},
    fork_edit::ForkEdit,
    fork_spec::ForkSpec,
    prepare::PreparedSession,
    resume::{first_of, newest_interrupted, spec_of},
    setup::{models, opening},
    spawn::{Engine, SessionHandle},
    spec::{JournalChoice, SessionSpec, SimulatedSpec, TaskSource},
    sweep::SweepOrigin,
    twin::{Origin, faults_so_far},
    watch_session::{AGENT_IS_GONE, Feed},
};
