//! Arguments of an operation: the parameters of its path, query, headers and cookies and the fields of its body, with
//! names of their own, and the places where they go.

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::names::TakenNames;
use super::operation::{ApiOperation, Left};
use super::parameter::{In, Parameter, any_text, shown, written};
use super::path::{self, Path};
use super::reference::Root;
use super::schema::{Schemas, ValueDirection};
use super::security::ApiKeys;
use crate::import::manifest::HttpSource;

/// Headers whose parameters OpenAPI ignores (`Parameter Object`).
const IGNORED: [&str; 3] = ["accept", "content-type", "authorization"];

/// The arguments of one operation.
pub(super) struct Arguments<'d> {
    pub root: Root<'d>,
    schemas: &'d Schemas<'d>,
    names: TakenNames,
    properties: Map<String, Value>,
    required: Vec<String>,
    /// The schema of arguments that are not named; `false` if there are none.
    pub others: Value,
    /// Whether parts of a schema were left out, since they are too large.
    pub is_cut: bool,
    /// Whether parts of a schema were left out, since they are not a schema.
    pub is_wrong: bool,
    /// Faults of the document that make no difference.
    pub notes: Vec<String>,
}

impl<'d> Arguments<'d> {
    pub fn new(root: Root<'d>, schemas: &'d Schemas<'d>) -> Self {
        Self {
            root,
            schemas,
            names: TakenNames::default(),
            properties: Map::new(),
            required: Vec::new(),
            others: json!(false),
            is_cut: false,
            is_wrong: false,
            notes: Vec::new(),
        }
    }

    /// The JSON Schema of the arguments. It refuses arguments without a place, since they would not be sent.
    pub fn schema(&self) -> Value {
        let mut schema = Map::from_iter([("type".to_owned(), "object".into())]);
        if !self.required.is_empty() {
            schema.insert("required".to_owned(), self.required.as_slice().into());
        }
        schema.insert("properties".to_owned(), self.properties.clone().into());
        schema.insert("additionalProperties".to_owned(), self.others.clone());
        schema.into()
    }

    /// Adds all parameters: those of the path item, unless the operation has one of the same name and place. A
    /// parameter that is a key is not an argument, since keys come from the environment.
    ///
    /// # Errors
    /// A parameter cannot be read or sent.
    pub fn add_parameters(
        &mut self,
        place: &ApiOperation<'d>,
        keys: &ApiKeys,
        base: &str,
        source: &mut HttpSource,
    ) -> Result<(), Left> {
        let split = Path::read(place.path)?;
        let parameters = self.parameters(place)?;
        let mut places: IndexMap<String, String> = IndexMap::new();
        // The fixed query comes first, as in the path; its places are known once all parameters are.
        source.query.extend(split.query.iter().map(|(name, _)| (name.clone(), String::new())));
        for parameter in parameters.values() {
            let is_in_path = split.places().any(|name| name == parameter.name);
            let is_fixed = split.query.iter().any(|(name, _)| name == parameter.name);
            match parameter.place {
                In::Path if !is_in_path => {}
                In::Path => drop(self.add_place(parameter, &mut places)?),
                // The path has the value, or the place for it.
                In::Query if is_in_path => drop(self.add_place(parameter, &mut places)?),
                In::Query if is_fixed => {}
                _ if is_key(parameter, keys) => {}
                _ => self.add_parameter(parameter, source)?,
            }
        }
        // Some documents forget to declare a part of a path.
        for name in split.places().map(str::to_owned).collect::<Vec<_>>() {
            if !places.contains_key(&name) {
                let own = self.add(&name, any_text(), true);
                places.insert(name, format!("{{{own}}}"));
            }
        }
        let fill = |name: &str| places.get(name).cloned().unwrap_or_default();
        source.url = format!("{base}{}", path::template(&split.path, fill));
        for (name, value) in &split.query {
            source.query.insert(name.clone(), path::template(value, fill));
        }
        Ok(())
    }

    /// The parameters by place and name.
    fn parameters(
        &mut self,
        place: &ApiOperation<'d>,
    ) -> Result<IndexMap<(In, &'d str), Parameter<'d>>, Left> {
        let mut parameters = IndexMap::new();
        let both =
            [(place.item, vec!["parameters"]), (place.operation, vec![place.key, "parameters"])];
        for (holder, at) in both {
            let list = match holder.get("parameters") {
                None | Some(Value::Null) => continue,
                Some(list) => self.root.follow(list).map_err(|why| Left::at(&at, why))?,
            };
            let Some(list) = list.as_array() else {
                let why = format!("expected a list of parameters, got {}", shown(list));
                return Err(Left::at(&at, why));
            };
            for (number, value) in list.iter().enumerate() {
                let read = Parameter::read(self.root, value, &mut self.notes);
                let parameter = read.map_err(|(field, why)| {
                    let number = number.to_string();
                    let names = at.iter().copied().chain([number.as_str(), field]);
                    Left::at(&names.filter(|name| !name.is_empty()).collect::<Vec<_>>(), why)
                })?;
                parameters.insert((parameter.place, parameter.name), parameter);
            }
        }
        Ok(parameters)
    }

    fn add_place(
        &mut self,
        parameter: &Parameter<'d>,
        places: &mut IndexMap<String, String>,
    ) -> Result<(), Left> {
        let schema = self.schema_of(parameter);
        let own = self.add(parameter.name, schema, true);
        let text = written(&own, parameter.name, parameter.form, &self.properties[&own])?;
        places.insert(parameter.name.to_owned(), text);
        Ok(())
    }

    fn add_parameter(
        &mut self,
        parameter: &Parameter<'d>,
        source: &mut HttpSource,
    ) -> Result<(), Left> {
        let wire = parameter.name;
        let is_ignored = IGNORED.iter().any(|ignored| wire.eq_ignore_ascii_case(ignored));
        if parameter.place == In::Header && is_ignored {
            return Ok(());
        }
        let text = match parameter.fixed {
            Some(fixed) => path::escaped(fixed),
            None => {
                let schema = self.schema_of(parameter);
                let own = self.add(wire, schema, parameter.is_required);
                written(&own, wire, parameter.form, &self.properties[&own])?
            }
        };
        let of = match parameter.place {
            In::Query | In::Path => &mut source.query,
            In::Header => &mut source.headers,
            In::Cookie => &mut source.cookies,
        };
        of.insert(wire.to_owned(), text);
        Ok(())
    }

    fn schema_of(&mut self, parameter: &Parameter<'d>) -> Value {
        let mut schema = match parameter.schema {
            Some(schema) => self.write(schema, ValueDirection::Sent),
            None => any_text(),
        };
        let said = parameter.description;
        if let (false, Some(object)) = (said.is_empty(), schema.as_object_mut()) {
            object.insert("description".to_owned(), said.into());
        }
        schema
    }

    /// A schema of the document, written out.
    pub fn write(&mut self, schema: &Value, way: ValueDirection) -> Value {
        let written = self.schemas.write(schema, way);
        self.is_cut |= written.is_cut;
        self.is_wrong |= written.is_wrong;
        written.schema
    }

    /// Adds an argument, and returns its name.
    pub fn add(&mut self, wire: &str, schema: Value, is_required: bool) -> String {
        let own = self.names.take(wire);
        self.properties.insert(own.clone(), schema);
        if is_required {
            self.required.push(own.clone());
        }
        own
    }

    /// The schema of an argument.
    pub fn schema_of_argument(&self, own: &str) -> &Value {
        &self.properties[own]
    }
}

/// Whether a parameter carries one of these keys.
fn is_key(parameter: &Parameter<'_>, keys: &ApiKeys) -> bool {
    let is_named = |all: &[(String, String)]| {
        all.iter().any(|(name, _)| name.eq_ignore_ascii_case(parameter.name))
    };
    match parameter.place {
        In::Query => is_named(&keys.query),
        In::Header => is_named(&keys.headers),
        In::Cookie => is_named(&keys.cookies),
        In::Path => false,
    }
}
