//! The places from which an agent gets variables: its environment, and files in its working directory.

use std::collections::BTreeMap;

use reqwest::Url;

use super::dotenv;
use crate::net::client::names_a_key;
use crate::net::learn;

/// The values of variables.
pub type Variables = BTreeMap<String, String>;

/// The name of the first place.
pub const ENVIRONMENT: &str = "the environment";

/// The facts that the environment of an agent depends on.
pub struct Given<'g> {
    /// The listener's address without a path of an endpoint, such as `http://127.0.0.1:4600/s/1`.
    pub address: Url,
    /// The name of the agent's session.
    pub session: &'g str,
    /// The variables of this process.
    pub environment: Variables,
    /// The files of variables in the agent's working directory with their texts, first those that count first.
    pub files: Vec<(&'static str, String)>,
}

/// The most lines of a file that are named as unread.
const MOST: usize = 5;

/// The variables of one place.
pub struct Place {
    pub name: &'static str,
    pub variables: Variables,
}

/// The places of an agent's variables, the one that counts first at the beginning. Lines that cannot be read are noted.
pub fn read(given: &Given<'_>, notes: &mut Vec<String>) -> Vec<Place> {
    let mut places = vec![Place { name: ENVIRONMENT, variables: given.environment.clone() }];
    for (file, text) in given.files.iter().rev() {
        // A key of the environment must not get into an address of a file.
        let known = |name: &str| {
            let own = if names_a_key(name) { &places[1..] } else { &places[..] };
            value(own, name).map(str::to_owned)
        };
        let read = dotenv::read(text, &known);
        read.variables.iter().for_each(|(name, value)| learn::variable(name, value));
        for (line, named) in read.unread.iter().take(MOST) {
            // The rest of the line may be a key.
            let what = named.as_ref().map_or_else(String::new, |name| {
                format!(", though it names {name}; write {name}=…")
            });
            notes.push(format!("{file}, line {line} assigns nothing, and is not read{what}"));
        }
        if let Some(more) = read.unread.len().checked_sub(MOST).filter(|more| *more > 0) {
            notes.push(format!("{file} has {more} more lines that assign nothing"));
        }
        for name in &read.long {
            notes.push(format!("{name} in {file} is longer than 64 KiB, and is not read"));
        }
        places.insert(1, Place { name: file, variables: read.variables });
    }
    places
}

/// The value of a variable that is set and not empty.
pub fn value<'p>(places: &'p [Place], name: &str) -> Option<&'p str> {
    let value = places.iter().find_map(|place| place.variables.get(name));
    value.map(|value| value.trim()).filter(|value| !value.is_empty())
}
