//! The key of a state: a place in a model, and a text.

use rusqlite::{Connection, OptionalExtension, params};

use crate::files::sha256;
use crate::papers::cotools::{Pooling, RecipeLayer};

/// The place in a model where states are taken.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StatePlace {
    /// SHA-256 of the model's file, in hexadecimal digits, or the name of an embedding model.
    pub model: String,
    pub layer: RecipeLayer,
    pub pooling: Pooling,
}

/// A text, by its SHA-256.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TextKey(pub(super) String);

impl TextKey {
    pub fn of(text: &str) -> Self {
        Self(sha256::of_texts([text]))
    }
}

impl StatePlace {
    fn layer(&self) -> u32 {
        match self.layer {
            RecipeLayer::After(layer) => layer,
            RecipeLayer::Final => 0,
        }
    }

    fn pooling(&self) -> &'static str {
        match self.pooling {
            Pooling::Mean => "mean",
            Pooling::End => "end",
            Pooling::Token => "token",
        }
    }

    /// The id of this place in the cache; `None` if the cache does not have it.
    pub(super) fn find(&self, connection: &Connection) -> rusqlite::Result<Option<i64>> {
        let mut select = connection.prepare_cached(
            "SELECT id FROM place WHERE model = ?1 AND layer = ?2 AND pooling = ?3",
        )?;
        let found = params![self.model, self.layer(), self.pooling()];
        select.query_row(found, |row| row.get(0)).optional()
    }

    /// The id of this place in the cache; created if necessary.
    pub(super) fn id(&self, connection: &Connection) -> rusqlite::Result<i64> {
        if let Some(id) = self.find(connection)? {
            return Ok(id);
        }
        let mut insert = connection
            .prepare_cached("INSERT INTO place (model, layer, pooling) VALUES (?1, ?2, ?3)")?;
        insert.execute(params![self.model, self.layer(), self.pooling()])?;
        Ok(connection.last_insert_rowid())
    }
}
