//! The keys that a watched agent or a relayed server gets in its environment and on its command line. They are hidden before
//! any record can repeat them.

use std::ffi::OsString;

use crate::net::client::names_a_key;
use crate::net::learn;

/// The variable with the listener's token. It is part of the addresses that people copy, so it stays visible.
pub const TOKEN: &str = "TOOLYARD_WATCH_TOKEN";

/// Hides the keys that a program gets in the environment of this process, and on its command line.
pub fn hide_keys(command: &[OsString]) {
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    learn::words(&words, names_a_key);
    for (name, value) in std::env::vars_os().filter(|(name, _)| name != TOKEN) {
        learn::variable(&name.to_string_lossy(), &value.to_string_lossy());
    }
}
