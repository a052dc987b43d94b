//! Copies of the store, so that compared sessions start with the same past.

use std::{path::Path, time::Duration};

use rusqlite::backup::Backup;

use super::{Experience, error::ExperienceError};

/// Pages that are copied in one go.
const PAGES: i32 = 4096;

impl Experience {
    /// Writes all current uses to a new store in this file. Other sessions may continue meanwhile.
    ///
    /// # Errors
    /// The file exists already, or the store fails.
    pub fn copy_to(&self, file: &Path) -> Result<(), ExperienceError> {
        Ok(self.database.copy_to(file)?)
    }

    /// A private copy of all current uses that ends with its value.
    ///
    /// # Errors
    /// The store fails, or out of memory.
    pub fn private_copy(&self) -> Result<Self, ExperienceError> {
        let mut copy = Self::private()?;
        self.database.run(|connection| {
            let backup = Backup::new(connection, &mut copy.database.connection)?;
            backup.run_to_completion(PAGES, Duration::ZERO, None)?;
            drop(backup);
            Ok(copy)
        })
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::json;

    use super::*;
    use crate::experience::{Prune, Use};

    #[test]
    fn a_copy_is_a_store_of_the_same_uses_and_goes_its_own_way() {
        let folder = tempfile::tempdir().unwrap();
        let mut first = Experience::open(&folder.path().join("a.sqlite")).unwrap();
        let past = Use {
            query: "How warm is it?".to_owned(),
            tool: "weather".into(),
            parameters: json!({}),
            result: "21 °C".to_owned(),
            helpful: true,
            at: Timestamp::UNIX_EPOCH,
            source: "test".to_owned(),
        };
        first.add(&past).unwrap();
        let file = folder.path().join("b.sqlite");
        first.copy_to(&file).unwrap();
        assert!(first.copy_to(&file).is_err(), "an existing file is not overwritten");
        let mut copy = Experience::open_existing(&file).unwrap();
        assert_eq!(copy.summary().unwrap(), first.summary().unwrap());
        copy.add(&past).unwrap();
        assert_ne!(copy.summary().unwrap(), first.summary().unwrap());
        let mut private = first.private_copy().unwrap();
        assert_eq!(private.summary().unwrap(), first.summary().unwrap());
        private.prune(&Prune { since: Some(Timestamp::now()), ..Prune::default() }).unwrap();
        assert_eq!(private.summary().unwrap().uses, 1, "it is older");
        private.prune(&Prune { since: Some(Timestamp::UNIX_EPOCH), ..Prune::default() }).unwrap();
        assert_eq!((private.summary().unwrap().uses, first.summary().unwrap().uses), (0, 1));
    }
}
