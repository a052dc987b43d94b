//! Real clients and hostile ones behind `toolyard watch`: what they send and get, and what the session knows of them.

mod again;
mod attached;
mod by_keys;
mod checked;
mod clients;
mod equal;
#[cfg(target_os = "linux")]
mod faulted;
mod forked;
mod held;
mod hostile;
pub mod http;
mod in_a_terminal;
#[cfg(target_os = "linux")]
mod killed;
mod money;
mod mutated;
#[cfg(target_os = "linux")]
mod other_user;
mod random_kills;
mod recorded;
mod skipped;
pub mod started;
#[cfg(target_os = "linux")]
mod streams;
mod tap;
mod team;
mod upstream;
