//! Variables with addresses to which an agent may send requests past the listener.

use reqwest::Url;

use super::environment::{base, without_secrets};
use super::places::Place;
use super::recipes;
use crate::net::known::remember_address;

/// A variable with an address that no recipe names, so that requests to it are not seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Unwatched {
    pub variable: String,
    place: &'static str,
    /// The address, without secret parts.
    address: Url,
}

impl Unwatched {
    /// The lines that make toolyard watch it, for this file.
    pub fn advice(&self, file: &str) -> Vec<String> {
        let Self { variable, place, address } = self;
        let name = variable.to_lowercase().replace('_', "-");
        let (shown, path) = (base(address), address.path().trim_end_matches('/'));
        vec![
            format!("{variable} in {place} is not watched ({shown}); add it to {file}:"),
            format!("  [endpoints.{name}]"),
            format!("  upstream = \"{shown}\""),
            format!("  path = \"/{name}{path}\""),
            format!("  variables = [\"{variable}\"]"),
        ]
    }
}

/// The variables with an address that `is_other` selects, each once.
pub fn among(places: &[Place], is_other: impl Fn(&str, &Url) -> bool) -> Vec<Unwatched> {
    let mut found: Vec<Unwatched> = Vec::new();
    for Place { name: place, variables } in places {
        for (name, value) in variables {
            let Some(address) = recipes::url(value.trim()) else { continue };
            let is_new = found.iter().all(|other| other.variable != *name);
            if is_new && is_other(name, &address) {
                remember_address(&address);
                let address = without_secrets(&address);
                found.push(Unwatched { variable: name.clone(), place, address });
            }
        }
    }
    found
}
