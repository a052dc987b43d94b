//! The facts that a request states: its model and its tools.

use std::collections::HashMap;
use std::sync::Arc;

use super::tool_names::is_named;
use crate::domain::{
    EffectClass, MenuItem, MenuReason, ModelName, ModelSpec, SessionEvent, ToolDef, ToolName,
    ToolSpec,
};
use crate::session::Session;

/// Makes the description of a model from its own name and its endpoint, with the prices that are known.
pub type SpecOf = Box<dyn Fn(&str, &str) -> ModelSpec>;

/// The models that watched agents call.
pub struct Models {
    spec_of: SpecOf,
    known: HashMap<(String, String), Arc<ModelSpec>>,
}

impl Models {
    pub fn new(spec_of: SpecOf) -> Self {
        Self { spec_of, known: HashMap::new() }
    }

    /// The description of a model, which joins the session if it is new.
    pub fn of(&mut self, session: &mut Session, model: &str, endpoint: &str) -> Arc<ModelSpec> {
        let key = (model.to_owned(), endpoint.to_owned());
        if let Some(known) = self.known.get(&key) {
            return Arc::clone(known);
        }
        let mut spec = (self.spec_of)(model, endpoint);
        let known = |spec: &ModelSpec| {
            let known = session.state().models.known.get(&spec.name)?;
            Some(known.spec.source == spec.source)
        };
        // Two endpoints may have models with the same name.
        if known(&spec) == Some(false) {
            spec.name = ModelName::new(format!("{model} at {endpoint}"));
        }
        let (is_new, spec) = (known(&spec).is_none(), Arc::new(spec));
        if is_new {
            session.emit(SessionEvent::ModelsAdded { models: vec![Arc::clone(&spec)] });
        }
        self.known.insert(key, Arc::clone(&spec));
        spec
    }
}

/// The tools that a conversation has defined.
#[derive(Clone, Default)]
pub struct Tools {
    defined: Arc<[ToolDef]>,
    pub menu: Arc<[MenuItem]>,
}

impl Tools {
    pub fn are(&self, defined: &[ToolDef]) -> bool {
        *self.defined == *defined
    }

    /// Takes the tools of a request. New and changed ones join the session.
    pub fn take(&mut self, session: &mut Session, defined: &Arc<[ToolDef]>) {
        let mut joined = Vec::new();
        for def in defined.iter().filter(|def| !self.defined.contains(def)) {
            let spec = spec_of(session, def);
            let known = session.state().tools.get(&def.name).map(|tool| &tool.spec);
            if known.is_some_and(|known| **known == spec) {
                continue;
            }
            if known.is_some() {
                let text = format!("the agent defines its tool {} otherwise than before", def.name);
                session.emit(SessionEvent::Noticed { text });
            }
            joined.push(Arc::new(spec));
        }
        if !joined.is_empty() {
            session.emit(SessionEvent::ToolsAdded { tools: joined });
        }
        let item =
            |def: &ToolDef| MenuItem { tool: def.name.clone(), weight: None, why: MenuReason::All };
        self.menu = defined.iter().map(item).collect();
        self.defined = Arc::clone(defined);
    }
}

/// The tool of a call. A model may name an undefined tool.
pub fn tool_of(session: &Session, name: &ToolName) -> Arc<ToolSpec> {
    let known = session.state().tools.get(name).map(|tool| Arc::clone(&tool.spec));
    known.unwrap_or_else(|| {
        let (description, parameters) = (String::new(), Arc::new(serde_json::json!({})));
        Arc::new(spec_of(session, &ToolDef { name: name.clone(), description, parameters }))
    })
}

/// The tool of a server that agents would name so, if its relay lists it.
fn served<'a>(session: &'a Session, name: &ToolName) -> Option<&'a ToolSpec> {
    let known = session.state().tools.values().map(|tool| &*tool.spec);
    let mut served = known.filter_map(|spec| Some((spec.mcp_server()?, spec)));
    let found = served.find(|(server, spec)| is_named(name.as_str(), server, spec.name.as_str()));
    found.map(|(_, spec)| spec)
}

fn spec_of(session: &Session, def: &ToolDef) -> ToolSpec {
    let served = served(session, &def.name);
    let source = served.map_or_else(|| "the agent".to_owned(), |spec| spec.source.clone());
    let served_as = served.map(|spec| spec.name.clone()).filter(|name| *name != def.name);
    ToolSpec {
        name: def.name.clone(),
        description: def.description.clone(),
        parameters: Arc::clone(&def.parameters),
        class: String::new(),
        cost: None,
        effect: EffectClass::Unknown,
        // Only the agent knows its time limit.
        timeout_ms: 0,
        source,
        examples: Vec::new(),
        disabled: None,
        proposed: None,
        served_as,
        returns: None,
        request: None,
    }
}
