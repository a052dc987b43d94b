//! Arguments of an operation: the parameters of its path, query and headers and the fields of its body, with names of
//! their own, and the places where they go.

use indexmap::IndexMap;
use oas3::Spec;
use oas3::spec::{
    Components, MediaType, Operation, Parameter, ParameterIn, ParameterStyle, PathItem, RequestBody,
};
use serde_json::{Map, Value, json};

use super::names::Names;
use super::reference::followed;
use super::schema::{Schemas, Way, has_parts};
use super::security::Keys;
use crate::store::import::manifest::HttpSource;

/// Headers whose parameters OpenAPI ignores (`Parameter Object`).
const IGNORED: [&str; 3] = ["accept", "content-type", "authorization"];

/// The arguments of one operation.
pub(super) struct Arguments<'d> {
    spec: &'d Spec,
    schemas: &'d Schemas<'d>,
    names: Names,
    properties: Map<String, Value>,
    required: Vec<String>,
    /// Whether parts of a schema were left out.
    pub is_cut: bool,
}

impl<'d> Arguments<'d> {
    pub fn new(spec: &'d Spec, schemas: &'d Schemas<'d>) -> Self {
        let (names, properties) = (Names::default(), Map::new());
        Self { spec, schemas, names, properties, required: Vec::new(), is_cut: false }
    }

    /// The JSON Schema of the arguments.
    pub fn schema(&self) -> Value {
        let mut schema = Map::from_iter([("type".to_owned(), "object".into())]);
        if !self.required.is_empty() {
            schema.insert("required".to_owned(), self.required.as_slice().into());
        }
        schema.insert("properties".to_owned(), self.properties.clone().into());
        schema.into()
    }

    /// Adds all parameters: those of the path item, unless the operation has one of the same name and place. One
    /// that is a key is no argument, since keys come from the environment.
    ///
    /// # Errors
    /// A parameter cannot be read or sent.
    pub fn add_parameters(
        &mut self,
        (path, item): (&str, &PathItem),
        operation: &Operation,
        keys: &Keys,
        source: &mut HttpSource,
    ) -> Result<(), String> {
        let none = Components::default();
        let components = self.spec.components.as_ref().unwrap_or(&none);
        let mut parameters: IndexMap<(String, String), &Parameter> = IndexMap::new();
        for parameter in item.parameters.iter().chain(&operation.parameters) {
            let parameter = followed(parameter, &components.parameters, "parameters")?;
            let place = format!("{:?}", parameter.location);
            parameters.insert((place, parameter.name.clone()), parameter);
        }
        for parameter in parameters.values().filter(|parameter| !is_key(parameter, keys)) {
            self.add_parameter(parameter, path, source)?;
        }
        // Some documents forget to declare a part of a path.
        let undeclared = places(&source.url).into_iter();
        for name in
            undeclared.filter(|name| !self.properties.contains_key(name)).collect::<Vec<_>>()
        {
            let own = self.add(&name, json!({ "type": "string" }), true);
            source.url = source.url.replace(&format!("{{{name}}}"), &format!("{{{own}}}"));
        }
        Ok(())
    }

    fn add_parameter(
        &mut self,
        parameter: &Parameter,
        path: &str,
        source: &mut HttpSource,
    ) -> Result<(), String> {
        let wire = &parameter.name;
        let is_required = parameter.required == Some(true);
        let schema = self.schema_of(parameter);
        match parameter.location {
            ParameterIn::Path => {
                let place = format!("{{{wire}}}");
                if !path.contains(&place) {
                    return Ok(());
                }
                let own = self.add(wire, schema, true);
                source.url = source.url.replace(&place, &format!("{{{own}}}"));
            }
            ParameterIn::Query => {
                let each = if is_spread(parameter, &schema)? { "*" } else { "" };
                let own = self.add(wire, schema, is_required);
                source.query.insert(wire.clone(), format!("{{{own}{each}}}"));
            }
            ParameterIn::Header => {
                if !IGNORED.iter().any(|ignored| wire.eq_ignore_ascii_case(ignored)) {
                    let own = self.add(wire, schema, is_required);
                    source.headers.insert(wire.clone(), format!("{{{own}}}"));
                }
            }
            // A header of several cookies would be left out with the first one that is not given.
            ParameterIn::Cookie if is_required => {
                let own = self.add(wire, schema, true);
                let cookies = source.headers.entry("Cookie".to_owned()).or_default();
                let between = if cookies.is_empty() { "" } else { "; " };
                *cookies += &format!("{between}{wire}={{{own}}}");
            }
            ParameterIn::Cookie => {}
        }
        Ok(())
    }

    fn schema_of(&mut self, parameter: &Parameter) -> Value {
        let mut schema = match &parameter.schema {
            Some(schema) => {
                let written = self.schemas.write(schema, Way::Sent);
                self.is_cut |= written.is_cut;
                written.schema
            }
            // Its value is a document of another format within the address.
            None => json!({ "type": "string" }),
        };
        let said = parameter.description.as_deref().map(str::trim).filter(|text| !text.is_empty());
        if let (Some(text), Some(object)) = (said, schema.as_object_mut()) {
            object.insert("description".to_owned(), text.into());
        }
        schema
    }

    /// Adds the fields of the body, or the body itself where it has none.
    ///
    /// # Errors
    /// It cannot be read, or no type of it can be sent.
    pub fn add_body(
        &mut self,
        operation: &Operation,
        source: &mut HttpSource,
    ) -> Result<(), String> {
        let Some(body) = &operation.request_body else { return Ok(()) };
        let none = Components::default();
        let components = self.spec.components.as_ref().unwrap_or(&none);
        let body = followed(body, &components.request_bodies, "requestBodies")?;
        let is_json =
            |kind: &str| kind == "application/json" || kind.ends_with("+json") || kind == "*/*";
        if let Some(content) = content(body, is_json) {
            let fields = self.fields(content, body.required == Some(true));
            source.body = Some(match fields {
                Fields::Named(fields) => fields
                    .into_iter()
                    .map(|(wire, own)| (wire, Value::from(format!("{{{own}}}"))))
                    .collect::<Map<_, _>>()
                    .into(),
                Fields::Whole(own) => format!("{{{own}}}").into(),
            });
            return Ok(());
        }
        let is_form = |kind: &str| kind == "application/x-www-form-urlencoded";
        if let Some(content) = content(body, is_form)
            && let Fields::Named(fields) = self.fields(content, body.required == Some(true))
        {
            let field = |(wire, own): (String, String)| {
                let each = if has_parts(&self.properties[&own]) { "*" } else { "" };
                (wire, format!("{{{own}{each}}}"))
            };
            source.form = Some(fields.into_iter().map(field).collect());
            return Ok(());
        }
        let kinds: Vec<&str> = body.content.keys().map(String::as_str).collect();
        Err(format!("its body is {}, which cannot be sent", kinds.join(" or ")))
    }

    fn fields(&mut self, content: &MediaType, is_required: bool) -> Fields {
        let schema = content.schema.as_ref().map(|schema| self.schemas.write(schema, Way::Sent));
        self.is_cut |= schema.as_ref().is_some_and(|written| written.is_cut);
        let schema = schema.map_or_else(|| json!({}), |written| written.schema);
        let properties = schema.get("properties").and_then(Value::as_object);
        let Some(properties) = properties.filter(|properties| !properties.is_empty()) else {
            return Fields::Whole(self.add("body", schema, is_required));
        };
        let needed = |name: &str| {
            let needed = schema["required"].as_array().into_iter().flatten();
            is_required && needed.into_iter().any(|needed| needed == name)
        };
        let field = |(wire, property): (&String, &Value)| {
            (wire.clone(), self.add(wire, property.clone(), needed(wire)))
        };
        Fields::Named(properties.iter().map(field).collect())
    }

    /// Adds an argument, and returns its name.
    fn add(&mut self, wire: &str, schema: Value, is_required: bool) -> String {
        let own = self.names.take(wire);
        self.properties.insert(own.clone(), schema);
        if is_required {
            self.required.push(own.clone());
        }
        own
    }
}

/// Whether a parameter carries one of these keys.
fn is_key(parameter: &Parameter, keys: &Keys) -> bool {
    let is_named = |all: &[(String, String)]| {
        all.iter().any(|(name, _)| name.eq_ignore_ascii_case(&parameter.name))
    };
    match parameter.location {
        ParameterIn::Query => is_named(&keys.query),
        ParameterIn::Header => is_named(&keys.headers),
        ParameterIn::Path | ParameterIn::Cookie => false,
    }
}

/// What a body is made of: its fields with the arguments of their values, or one argument.
enum Fields {
    Named(Vec<(String, String)>),
    Whole(String),
}

fn content(body: &RequestBody, is_good: impl Fn(&str) -> bool) -> Option<&MediaType> {
    let kind = |kind: &str| kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    body.content.iter().find(|(name, _)| is_good(&kind(name))).map(|(_, content)| content)
}

/// Whether each part of a list or object has a place of its own in the query.
///
/// # Errors
/// A style that cannot be sent.
fn is_spread(parameter: &Parameter, schema: &Value) -> Result<bool, String> {
    match parameter.style {
        Some(ParameterStyle::SpaceDelimited | ParameterStyle::PipeDelimited)
            if parameter.explode != Some(true) =>
        {
            Err(format!("the style of its parameter {:?} cannot be sent", parameter.name))
        }
        Some(ParameterStyle::DeepObject) => Ok(false),
        _ => Ok(has_parts(schema) && parameter.explode != Some(false)),
    }
}

/// The names between braces.
fn places(url: &str) -> Vec<String> {
    let parts = url.split('{').skip(1);
    parts.filter_map(|part| Some(part.split_once('}')?.0.to_owned())).collect()
}
