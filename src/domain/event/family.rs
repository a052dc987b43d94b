//! The declaration of events: one family per file, in names that are also the journal's kinds.
//!
//! A journal's line names its kind, and is read with one match on it. (Derived by serde, a flat enum behind
//! its number and time is read 1.25 times as slowly, an untagged one 2.1 times.)

/// Declares a family of events. Each variant's name is its kind; its fields are its data.
macro_rules! family {
    ($(#[$doc:meta])* pub enum $name:ident { $(
        $(#[$of_variant:meta])* $variant:ident {
            $($(#[$of_field:meta])* $field:ident: $type:ty),* $(,)?
        }
    ),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize)]
        #[serde(untagged)]
        pub enum $name { $(
            $(#[$of_variant])*
            $variant { $($(#[$of_field])* $field: $type),* }
        ),* }

        impl $name {
            /// The event's kind, as in the journal.
            pub fn kind(&self) -> &'static str {
                match self { $(Self::$variant { .. } => stringify!($variant)),* }
            }

            /// The field of this type, if the event has one. Finding the author and the effect of an event by type
            /// saves each family a list of its events.
            pub(crate) fn part<T: Copy + 'static>(&self) -> Option<T> {
                let parts: &[&dyn std::any::Any] = match self {
                    $(Self::$variant { $($field),* } => &[$($field),*]),*
                };
                parts.iter().find_map(|part| part.downcast_ref().copied())
            }

            /// Reads the data of this kind; returns it if the kind is not of this family.
            pub(super) fn read<'de, D: serde::Deserializer<'de>>(
                kind: &str,
                data: D,
            ) -> Result<Result<Self, D::Error>, D> {
                use serde::Deserialize;
                match kind {
                    $(stringify!($variant) => {
                        #[derive(Deserialize)]
                        struct Data { $($(#[$of_field])* $field: $type),* }
                        let read = Data::deserialize(data);
                        Ok(read.map(|Data { $($field),* }| Self::$variant { $($field),* }))
                    })*
                    _ => Err(data),
                }
            }
        }
    };
}

/// Declares the enum of all families.
macro_rules! events {
    ($(#[$doc:meta])* pub enum $name:ident { $(
        $(#[$of_family:meta])* $family:ident($type:ty)
    ),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $name {
            $($(#[$of_family])* $family($type),)*
            /// A kind unknown to this version, from a newer journal: kept and shown.
            Unknown { kind: String, data: serde_json::Value },
        }

        $(impl From<$type> for $name {
            fn from(event: $type) -> Self {
                Self::$family(event)
            }
        })*

        impl $name {
            /// The event's kind, as in the journal.
            pub fn kind(&self) -> &str {
                match self {
                    $(Self::$family(event) => event.kind(),)*
                    Self::Unknown { kind, .. } => kind,
                }
            }

            /// Reads the data of this kind; `None` for a kind unknown to this version.
            fn of_kind<'de, D: serde::Deserializer<'de>>(
                kind: &str,
                data: D,
            ) -> Option<Result<Self, D::Error>> {
                $(let data = match <$type>::read(kind, data) {
                    Ok(read) => return Some(read.map(Self::$family)),
                    Err(data) => data,
                };)*
                drop(data);
                None
            }

            /// Returns the author of the event, if it is an intervention.
            pub fn by(&self) -> Option<By> {
                self.part()
            }

            /// The effect of the event, if it has one.
            pub fn effect(&self) -> Option<EffectRef> {
                self.part()
            }

            fn part<T: Copy + 'static>(&self) -> Option<T> {
                match self {
                    $(Self::$family(event) => event.part(),)*
                    Self::Unknown { .. } => None,
                }
            }

            fn data<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::Serialize;
                match self {
                    $(Self::$family(event) => event.serialize(serializer),)*
                    Self::Unknown { data, .. } => data.serialize(serializer),
                }
            }
        }
    };
}

pub(super) use {events, family};
