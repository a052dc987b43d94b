//! The sources of answers to the calls behind the point of a fork, by what the calls change.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use strum::VariantArray;

use super::spec::EffectClass;

/// The source of the answer to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum CallSource {
    /// An equal call of the record; without one it is made.
    Recorded,
    /// A person decides whether it is made; without one it is refused.
    Ask,
    /// The tool or the model: the call is made.
    Live,
}

/// A source for each class of effects. Calls of models are of the class `read`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallPolicy([CallSource; 4]);

impl Default for CallPolicy {
    /// The record answers what does no harm when it is made twice; the rest asks.
    fn default() -> Self {
        let of = |class: EffectClass| match class.is_repeatable() {
            true => CallSource::Recorded,
            false => CallSource::Ask,
        };
        Self(ORDER.map(of))
    }
}

const ORDER: [EffectClass; 4] =
    [EffectClass::Read, EffectClass::Idempotent, EffectClass::Write, EffectClass::Unknown];

impl CallPolicy {
    /// The same source for all calls.
    pub const fn all(source: CallSource) -> Self {
        Self([source; 4])
    }

    pub fn of(&self, class: EffectClass) -> CallSource {
        self.0[class as usize]
    }

    pub fn is_recorded(&self, class: EffectClass) -> bool {
        self.of(class) == CallSource::Recorded
    }

    /// Whether the record answers any call.
    pub fn has_recorded(&self) -> bool {
        self.0.contains(&CallSource::Recorded)
    }

    /// Each class with its source.
    pub fn each(&self) -> impl Iterator<Item = (EffectClass, CallSource)> {
        ORDER.into_iter().zip(self.0)
    }
}

impl fmt::Display for CallPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let each = self.each().map(|(class, source)| {
            let source: &str = source.into();
            format!("{}={source}", class.name())
        });
        f.write_str(&each.collect::<Vec<_>>().join(","))
    }
}

impl FromStr for CallPolicy {
    type Err = String;

    /// Reads `live`, or `write=live,read=recorded`. Classes that are not named have their default.
    fn from_str(text: &str) -> Result<Self, String> {
        let source = |text: &str| {
            text.parse::<CallSource>()
                .map_err(|_| format!("there is no source `{text}`; expected recorded, ask or live"))
        };
        if !text.contains('=') {
            return source(text.trim()).map(Self::all);
        }
        let mut policy = Self::default();
        for part in text.split(',') {
            let (class, from) = part.split_once('=').ok_or_else(|| {
                format!("`{part}` has no source; expected CLASS=SOURCE, such as write=live")
            })?;
            let name = class.trim();
            let class = ORDER.into_iter().find(|class| class.name() == name).ok_or_else(|| {
                format!("there is no class `{name}`; expected read, idempotent, write or unknown")
            })?;
            policy.0[class as usize] = source(from.trim())?;
        }
        Ok(policy)
    }
}

impl Serialize for CallPolicy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CallPolicy {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_is_read_as_it_is_written() {
        for (text, whole) in [
            ("live", "read=live,idempotent=live,write=live,unknown=live"),
            ("write=live", "read=recorded,idempotent=recorded,write=live,unknown=ask"),
            ("unknown = live , read=ask", "read=ask,idempotent=recorded,write=ask,unknown=live"),
        ] {
            let policy: CallPolicy = text.parse().unwrap();
            assert_eq!(policy.to_string(), whole);
            assert_eq!(whole.parse(), Ok(policy));
        }
        for (text, why) in [
            ("alive", "there is no source `alive`; expected recorded, ask or live"),
            ("write=live,read", "`read` has no source; expected CLASS=SOURCE, such as write=live"),
            (
                "writes=live",
                "there is no class `writes`; expected read, idempotent, write or unknown",
            ),
            ("read=", "there is no source ``; expected recorded, ask or live"),
        ] {
            assert_eq!(text.parse::<CallPolicy>(), Err(why.to_owned()));
        }
    }
}
