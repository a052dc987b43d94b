//! Kinds of databases.

use std::path::Path;

use super::error::{DatabaseError, DatabaseFault};

/// A kind of database: its formats, and advice about files that cannot be used.
pub struct DatabaseKind {
    /// The name in errors, such as "a store of past uses".
    pub name: &'static str,
    /// Identifies a file of this kind, stored as `application_id`.
    pub mark: i64,
    /// The statements that lead from each format to the next, from an empty file on.
    pub steps: &'static [&'static str],
    /// How much of a file is kept in memory, in KiB.
    pub memory: i64,
    /// Advice about a file that is no database. In each advice, FILE stands for the path.
    pub if_no_database: &'static str,
    pub if_too_new: &'static str,
    pub if_damaged: &'static str,
}

impl DatabaseKind {
    /// The last format, stored as `user_version`; the first is 1.
    pub fn version(&self) -> i64 {
        self.steps.len() as i64
    }

    /// The error of the file at this path with this fault.
    pub(super) fn error(&self, path: &Path, fault: impl Into<DatabaseFault>) -> DatabaseError {
        let fault = fault.into();
        let advice = match fault {
            DatabaseFault::NoDatabase => self.if_no_database,
            DatabaseFault::TooNew { .. } => self.if_too_new,
            DatabaseFault::Damaged(_) => self.if_damaged,
            _ => "",
        };
        let advice = advice.replace("FILE", &path.display().to_string());
        DatabaseError { path: path.to_owned(), fault, advice }
    }
}
