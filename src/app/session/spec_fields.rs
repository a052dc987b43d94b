//! Fields of a spec in their written form.

/// `search_web:error:from-task=50`, as on the command line.
pub(super) mod texts {
    use std::{fmt::Display, str::FromStr};

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    /// An item of a list. It is parsed by itself, so that an error has its place in the list.
    struct TextItem<T>(T);

    impl<'de, T: FromStr<Err = String>> Deserialize<'de> for TextItem<T> {
        fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
            let text = String::deserialize(from)?;
            text.parse().map(Self).map_err(D::Error::custom)
        }
    }

    pub fn serialize<T: Display, S: Serializer>(
        all: &[T],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(all.iter().map(ToString::to_string))
    }

    pub fn deserialize<'de, T: FromStr<Err = String>, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<T>, D::Error> {
        let written = Vec::<TextItem<T>>::deserialize(from)?;
        Ok(written.into_iter().map(|TextItem(one)| one).collect())
    }
}

/// `budget = 20`, `learn = false`, `blacklist = "strict"`, as in the configuration.
pub(super) mod knobs {
    use std::{collections::BTreeMap, fmt};

    use serde::de::{DeserializeSeed, Error, MapAccess, Visitor};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::domain::knob::{Knob, KnobKind};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged, expecting = "expected a number, true or false, or a name")]
    enum KnobValue {
        Switch(bool),
        Number(f64),
        Name(String),
    }

    pub fn serialize<S: Serializer>(
        knobs: &BTreeMap<Knob, f64>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_map(knobs.iter().map(|(knob, value)| {
            let spec = knob.spec();
            let value = match spec.kind {
                KnobKind::Real | KnobKind::Whole => KnobValue::Number(*value),
                KnobKind::Switch => KnobValue::Switch(*value != 0.0),
                KnobKind::Choice(_) => KnobValue::Name(spec.show(*value)),
            };
            (spec.name, value)
        }))
    }

    /// The name of a knob.
    struct Name(Knob);

    impl<'de> Deserialize<'de> for Name {
        fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
            let name = String::deserialize(from)?;
            Knob::named(&name).map(Self).map_err(D::Error::custom)
        }
    }

    /// The value of this knob. Each value is parsed by itself, so that an error has its place.
    struct KnobSeed(Knob);

    impl<'de> DeserializeSeed<'de> for KnobSeed {
        type Value = f64;

        fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<f64, D::Error> {
            let spec = self.0.spec();
            let value = match KnobValue::deserialize(from)? {
                KnobValue::Switch(on) => spec.parse(&on.to_string()),
                KnobValue::Number(value) => spec.check(value),
                KnobValue::Name(name) => spec.parse(&name),
            };
            value.map_err(D::Error::custom)
        }
    }

    struct Knobs;

    impl<'de> Visitor<'de> for Knobs {
        type Value = BTreeMap<Knob, f64>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a table of knobs and their values")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut knobs = BTreeMap::new();
            while let Some(Name(knob)) = map.next_key()? {
                knobs.insert(knob, map.next_value_seed(KnobSeed(knob))?);
            }
            Ok(knobs)
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<BTreeMap<Knob, f64>, D::Error> {
        from.deserialize_map(Knobs)
    }
}
