//! Fields of a spec in the form that people write.

/// `search_web:error:from-task=50`, as on the command line.
pub(super) mod texts {
    use std::{fmt::Display, str::FromStr};

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<T: Display, S: Serializer>(
        all: &[T],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(all.iter().map(ToString::to_string))
    }

    pub fn deserialize<'de, T: FromStr<Err = String>, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<T>, D::Error> {
        let written = Vec::<String>::deserialize(from)?;
        written.iter().map(|text| text.parse().map_err(D::Error::custom)).collect()
    }
}

/// `budget = 20`, `learn = false`, `blacklist = "strict"`, as in the configuration.
pub(super) mod knobs {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    use crate::domain::knob::{Kind, Knob};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged, expecting = "expected a number, true or false, or a name")]
    enum Written {
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
                Kind::Real | Kind::Whole => Written::Number(*value),
                Kind::Switch => Written::Switch(*value != 0.0),
                Kind::Choice(_) => Written::Name(spec.show(*value)),
            };
            (spec.name, value)
        }))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<BTreeMap<Knob, f64>, D::Error> {
        let written = BTreeMap::<String, Written>::deserialize(from)?;
        let knob = |(name, value): (String, Written)| {
            let knob = Knob::named(&name)?;
            let value = match value {
                Written::Switch(on) => knob.spec().parse(&on.to_string()),
                Written::Number(value) => knob.spec().check(value),
                Written::Name(name) => knob.spec().parse(&name),
            };
            value.map(|value| (knob, value))
        };
        written.into_iter().map(|entry| knob(entry).map_err(D::Error::custom)).collect()
    }
}
