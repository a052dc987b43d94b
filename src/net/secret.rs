//! A text that cannot be printed. Each one that is read is remembered ([`super::known`]), so that no record and no
//! output contains it.

use std::{env, fmt};

use super::known;

/// A text that cannot be printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Box<str>);

impl Secret {
    /// Hides this text from now on.
    pub fn new(key: &str) -> Self {
        known::remember(key);
        Self(key.into())
    }

    /// A text among secrets that is not secret itself, such as a path or a number. It is not printed here either, but
    /// may be in other texts: hiding a common word everywhere would damage them.
    pub fn ordinary(text: &str) -> Self {
        Self(text.into())
    }

    /// The value of an environment variable that holds `what`, without surrounding white space.
    ///
    /// # Errors
    /// The variable is not set, is empty, or is not UTF-8.
    pub fn from_env(name: &str, what: &str) -> Result<Self, String> {
        match env::var(name) {
            Ok(value) if !value.trim().is_empty() => Ok(Self::new(value.trim())),
            Ok(_) | Err(env::VarError::NotPresent) => {
                Err(format!("{what} is missing: set the environment variable {name}"))
            }
            Err(env::VarError::NotUnicode(_)) => {
                Err(format!("{what} in the environment variable {name} is not valid UTF-8"))
            }
        }
    }

    /// The caller must not store, log or show the value.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}
