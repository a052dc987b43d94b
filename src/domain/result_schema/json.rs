//! A schema as JSON, in the form of the authors' stored schemas: an object has the types of its fields, a list the type
//! of its elements, a scalar is its name.

use serde_json::{Map, Value, json};

use super::{Scalar, Schema, SchemaMode};

impl Schema {
    /// The schema as JSON. `Merged` marks optional fields with `?` after the key, and writes a union as `a|b`, or as
    /// `{"any_of": […]}` if it has a list or an object. An unknown part is `"any"`.
    pub fn to_json(&self, mode: SchemaMode) -> Value {
        let scalars = self.scalars.iter().map(|scalar| name(*scalar, mode));
        let mut parts: Vec<Value> = self.object(mode).into_iter().chain(self.list(mode)).collect();
        if parts.is_empty() && !self.has_more_below {
            let names: Vec<&str> = scalars.collect();
            return Value::from(if names.is_empty() { "any".to_owned() } else { names.join("|") });
        }
        parts.extend(scalars.map(Value::from));
        parts.extend(self.has_more_below.then(|| Value::from("any")));
        match <[Value; 1]>::try_from(parts) {
            Ok([only]) => only,
            Err(parts) => json!({"any_of": parts}),
        }
    }

    fn object(&self, mode: SchemaMode) -> Option<Value> {
        let fields = self.fields.as_ref()?;
        let named = fields.iter().map(|(key, field)| {
            let is_optional = mode == SchemaMode::Merged && !self.required.contains(key);
            let key = if is_optional { format!("{key}?") } else { key.clone() };
            (key, field.to_json(mode))
        });
        Some(Value::Object(named.collect::<Map<_, _>>()))
    }

    fn list(&self, mode: SchemaMode) -> Option<Value> {
        let elements = self.elements.as_ref()?;
        Some(Value::Array(match elements.is_unknown() {
            true => Vec::new(),
            false => vec![elements.to_json(mode)],
        }))
    }
}

/// The authors' code writes Python's name for null.
fn name(scalar: Scalar, mode: SchemaMode) -> &'static str {
    match (scalar, mode) {
        (Scalar::Null, SchemaMode::Paper) => "NoneType",
        (scalar, _) => scalar.name(),
    }
}
