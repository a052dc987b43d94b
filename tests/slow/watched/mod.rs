//! Real clients and hostile ones behind `toolyard watch`: what they send and get, and what the session knows of them.

mod again;
mod attached;
mod by_keys;
mod checked;
mod clients;
mod equal;
mod held;
mod hostile;
mod http;
mod in_a_terminal;
#[cfg(target_os = "linux")]
mod killed;
mod money;
mod mutated;
mod random_kills;
mod recorded;
mod skipped;
mod started;
#[cfg(target_os = "linux")]
mod streams;
mod tap;
mod team;
mod upstream;
