//! The metadata of a file: keys and values.

use std::collections::BTreeMap;
use std::io::{Read, Seek};

use super::{
    source::GgufSource,
    value::{GgufValue, Texts},
};
use crate::error::ModelFileFault;

/// The most keys. Real files have some dozens.
const MOST: u64 = 65_536;

/// The longest key in bytes, by the format's specification.
const LONGEST: u64 = 65_535;

/// Keys and values of a model file.
#[derive(Debug, Default)]
pub struct Metadata(BTreeMap<String, GgufValue>);

impl Metadata {
    pub(super) fn read<R: Read + Seek>(
        source: &mut GgufSource<R>,
        count: u64,
    ) -> Result<Self, ModelFileFault> {
        // A key has a length, a type and a value.
        source.expect(count, 13, "metadata keys")?;
        if count > MOST {
            return Err(ModelFileFault::bad(
                format!("{count} metadata keys"),
                format!("at most {MOST}"),
            ));
        }
        let mut values = BTreeMap::new();
        for n in 1..=count {
            let key = source.text(LONGEST, &format!("metadata key {n}"))?;
            let value = GgufValue::read(source, &key)?;
            if let Some(key) = values.contains_key(&key).then(|| key.clone()) {
                return Err(ModelFileFault::bad(format!("two values of `{key}`"), "one"));
            }
            values.insert(key, value);
        }
        Ok(Self(values))
    }

    pub fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// A string; `None` where the key is missing.
    pub fn text(&self, key: &str) -> Result<Option<&str>, ModelFileFault> {
        self.get(key, "a string", |value| match value {
            GgufValue::Text(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// A whole number from 0 up; `None` where the key is missing.
    pub fn number(&self, key: &str) -> Result<Option<u64>, ModelFileFault> {
        self.get(key, "one whole number, 0 or larger", |value| match value {
            GgufValue::Unsigned(number) => Some(*number),
            GgufValue::Signed(number) => u64::try_from(*number).ok(),
            _ => None,
        })
    }

    /// A number with decimals; `None` where the key is missing.
    pub fn float(&self, key: &str) -> Result<Option<f64>, ModelFileFault> {
        self.get(key, "a decimal number", |value| match value {
            GgufValue::Float(number) => Some(*number),
            _ => None,
        })
    }

    /// A yes or no; `None` where the key is missing.
    pub fn flag(&self, key: &str) -> Result<Option<bool>, ModelFileFault> {
        self.get(key, "true or false", |value| match value {
            GgufValue::Bool(flag) => Some(*flag),
            _ => None,
        })
    }

    /// A list of strings; `None` where the key is missing.
    pub fn texts(&self, key: &str) -> Result<Option<&Texts>, ModelFileFault> {
        self.get(key, "an array of strings", |value| match value {
            GgufValue::Texts(texts) => Some(texts),
            _ => None,
        })
    }

    /// A list of 32-bit numbers; `None` where the key is missing.
    pub fn integers(&self, key: &str) -> Result<Option<&[i32]>, ModelFileFault> {
        self.get(key, "an array of 32-bit integers", |value| match value {
            GgufValue::Integers(numbers) => Some(numbers.as_slice()),
            _ => None,
        })
    }

    fn get<'a, T>(
        &'a self,
        key: &str,
        expected: &str,
        of: impl FnOnce(&'a GgufValue) -> Option<T>,
    ) -> Result<Option<T>, ModelFileFault> {
        let Some(value) = self.0.get(key) else { return Ok(None) };
        let found = match value {
            GgufValue::Texts(_) | GgufValue::Integers(_) | GgufValue::Skipped => {
                "an array".to_owned()
            }
            GgufValue::Text(text) => {
                format!("the string {:?}", text.chars().take(40).collect::<String>())
            }
            GgufValue::Unsigned(number) => number.to_string(),
            GgufValue::Signed(number) => number.to_string(),
            GgufValue::Float(number) => number.to_string(),
            GgufValue::Bool(flag) => flag.to_string(),
        };
        of(value)
            .map(Some)
            .ok_or_else(|| ModelFileFault::bad(format!("`{key}` is {found}"), expected))
    }
}
