//! Targets: the calls to which a fault, a breakpoint or a rule of approval applies.

use std::fmt;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use super::chat::Role;
use super::event::ClassAssignment;
use super::expression::Expression;
use super::id::{ModelName, ToolName};
use super::{spec::EffectClass, words};

/// Calls of tools, of models, or requests for embeddings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// Every call.
    Any,
    /// Every tool call.
    Tools,
    /// Every model call.
    Models,
    /// The requests to the embedding model.
    Embedding,
    /// The calls of one tool.
    Tool(ToolName),
    /// The calls of all tools of a class, or of `class / domain`; case-insensitive.
    Class(String),
    /// The calls of the second tool that follow the first one, or `start`.
    Edge(ToolName, ToolName),
    /// The calls of all tools with this effect on the world.
    Effect(EffectClass),
    /// The model calls of a role, regardless of the model.
    Role(Role),
    /// The calls of a model, regardless of the role.
    Model(ModelName),
    /// The calls of all models at this address, such as `api.openai.com`.
    Server(String),
    /// The calls of all tools of the MCP server with this key; case-insensitive.
    Mcp(String),
}

/// The sorts of targets: the words that are written alone, or before a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Sort {
    Tool,
    Class,
    Edge,
    Effect,
    Mcp,
    Tools,
    Role,
    Model,
    Server,
    Models,
    Embedding,
    Any,
}

/// Why nothing can happen to an embedding.
pub const NO_EMBEDDING: &str = "no embedding model is configured";

/// The properties of a call that a target compares. Missing ones stay empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct Aim<'a> {
    /// The called tool, and its class if it has one.
    pub tool: Option<(&'a ToolName, Option<&'a ClassAssignment>)>,
    /// The name of the called tool in its server's list, if that differs.
    pub served_as: Option<&'a ToolName>,
    /// The effect of the called tool.
    pub effect: Option<EffectClass>,
    /// The key of the MCP server that has the called tool.
    pub mcp: Option<&'a str>,
    /// The tool before a tool call.
    pub from: Option<&'a str>,
    pub role: Option<Role>,
    pub model: Option<&'a ModelName>,
    /// The address of the model's endpoint.
    pub server: Option<&'a str>,
    pub embedding: bool,
}

impl Aim<'_> {
    fn is_of_tool(&self, wanted: &ToolName) -> bool {
        self.tool.is_some_and(|(name, _)| name == wanted) || self.served_as == Some(wanted)
    }
}

impl Sort {
    pub fn all() -> impl Iterator<Item = Sort> {
        Self::VARIANTS.iter().copied()
    }

    pub fn name(self) -> &'static str {
        self.into()
    }

    pub(crate) fn by_name(name: &str) -> Option<Self> {
        name.parse().ok()
    }

    /// Whether a name follows its word.
    pub fn takes_name(self) -> bool {
        !matches!(self, Sort::Any | Sort::Tools | Sort::Models | Sort::Embedding)
    }

    /// Whether all its calls are tool calls.
    pub fn is_of_tools(self) -> bool {
        matches!(
            self,
            Sort::Tool | Sort::Class | Sort::Edge | Sort::Effect | Sort::Mcp | Sort::Tools
        )
    }

    /// Whether all its calls are model calls.
    pub fn is_of_models(self) -> bool {
        matches!(self, Sort::Role | Sort::Model | Sort::Server | Sort::Models)
    }
}

impl Target {
    /// The target of this sort and name.
    ///
    /// # Errors
    /// The name is missing, or no target can have it.
    pub fn named(sort: Sort, name: &str) -> Result<Self, String> {
        let name = name.trim();
        if sort.takes_name() && name.is_empty() {
            return Err(format!("no {} given", sort.name()));
        }
        Ok(match sort {
            Sort::Any => Target::Any,
            Sort::Tools => Target::Tools,
            Sort::Models => Target::Models,
            Sort::Embedding => Target::Embedding,
            Sort::Tool => Target::Tool(name.into()),
            Sort::Class => Target::Class(name.to_owned()),
            Sort::Edge => edge(name)?,
            Sort::Effect => Target::Effect(effect(name)?),
            Sort::Role => Target::Role(role(name)?),
            Sort::Model => Target::Model(name.into()),
            Sort::Server => Target::Server(name.to_owned()),
            Sort::Mcp => Target::Mcp(name.to_owned()),
        })
    }

    pub fn sort(&self) -> Sort {
        match self {
            Target::Any => Sort::Any,
            Target::Tools => Sort::Tools,
            Target::Models => Sort::Models,
            Target::Embedding => Sort::Embedding,
            Target::Tool(_) => Sort::Tool,
            Target::Class(_) => Sort::Class,
            Target::Edge(..) => Sort::Edge,
            Target::Effect(_) => Sort::Effect,
            Target::Role(_) => Sort::Role,
            Target::Model(_) => Sort::Model,
            Target::Server(_) => Sort::Server,
            Target::Mcp(_) => Sort::Mcp,
        }
    }

    /// Returns the target's name among those of its sort; empty where the sort has no names.
    pub fn name(&self) -> String {
        match self {
            Target::Tool(name) => name.to_string(),
            Target::Class(name) | Target::Server(name) | Target::Mcp(name) => name.clone(),
            Target::Edge(from, to) => format!("{from}->{to}"),
            Target::Effect(class) => class.name().to_owned(),
            Target::Role(role) => role.to_string(),
            Target::Model(name) => name.to_string(),
            Target::Any | Target::Tools | Target::Models | Target::Embedding => String::new(),
        }
    }

    /// Whether the target matches this call.
    pub fn matches(&self, aim: &Aim<'_>) -> bool {
        match self {
            Target::Any => true,
            Target::Tools => aim.tool.is_some(),
            Target::Models => aim.role.is_some() || aim.model.is_some(),
            Target::Embedding => aim.embedding,
            Target::Tool(wanted) => aim.is_of_tool(wanted),
            Target::Class(wanted) => aim.tool.and_then(|(_, class)| class).is_some_and(|class| {
                is_same(wanted, &class.class)
                    || class.domain.is_some() && is_same(wanted, &class.name())
            }),
            Target::Edge(from, to) => aim.from == Some(from.as_str()) && aim.is_of_tool(to),
            Target::Effect(wanted) => aim.tool.is_some() && aim.effect == Some(*wanted),
            Target::Role(wanted) => aim.role == Some(*wanted),
            Target::Model(wanted) => aim.model == Some(wanted),
            Target::Server(wanted) => aim.server.is_some_and(|server| is_same(wanted, server)),
            Target::Mcp(wanted) => aim.mcp.is_some_and(|server| is_same(wanted, server)),
        }
    }

    /// # Errors
    /// The condition names another tool, role or model than the target, so no call meets both.
    pub fn allows(&self, condition: &Expression) -> Result<(), String> {
        let (field, name) = match self {
            Target::Tool(name) | Target::Edge(_, name) => ("tool", name.as_str()),
            Target::Role(role) => ("role", role.name()),
            Target::Model(name) => ("model", name.as_str()),
            _ => return Ok(()),
        };
        match condition.can_hold(field, name) {
            true => Ok(()),
            false => Err(format!(
                "if: `{condition}` is never true for {field} {name}; leave {field} out, or choose all calls with \
                 `{}`",
                if field == "tool" { Sort::Tools.name() } else { Sort::Models.name() }
            )),
        }
    }

    /// Checks whether the target is among the known ones.
    ///
    /// # Errors
    /// The target does not exist; the error lists those that do.
    pub fn among(&self, known: &[Target]) -> Result<(), String> {
        match self {
            Target::Any | Target::Tools | Target::Models | Target::Effect(_) => return Ok(()),
            Target::Edge(from, to) => {
                let ends = [from, to].into_iter().filter(|end| !end.is_special());
                return ends.cloned().try_for_each(|end| Target::Tool(end).among(known));
            }
            _ => {}
        }
        let is_it = |target: &Target| match (target, self) {
            (Target::Class(one), Target::Class(other))
            | (Target::Server(one), Target::Server(other))
            | (Target::Mcp(one), Target::Mcp(other)) => is_same(one, other),
            (one, other) => one == other,
        };
        if known.iter().any(is_it) {
            return Ok(());
        }
        if *self == Target::Embedding {
            return Err(NO_EMBEDDING.to_owned());
        }
        let same = known.iter().filter(|target| target.sort() == self.sort());
        let names: Vec<String> = same.map(Target::name).collect();
        let expected = words::expected(&self.name(), names.iter().map(String::as_str));
        let sort = match self.sort() {
            Sort::Mcp => "MCP server",
            sort => sort.name(),
        };
        Err(format!("there is no {sort} {}; {expected}", self.name()))
    }
}

impl Target {
    /// Explains why nothing in a watched agent can have this target, if so. Its tools and models become known only when
    /// it names them.
    pub fn of_foreign(&self) -> Result<(), String> {
        let why = match self {
            Target::Embedding => "embeddings of a watched agent pass unread",
            Target::Role(role) if *role != Role::Actor => {
                "all model calls of a watched agent have the role actor; name its model instead"
            }
            Target::Class(_) => "tools of a watched agent have no class; name a tool instead",
            Target::Effect(class) if *class != EffectClass::Unknown => {
                "the effect of a watched agent's tools is unknown; name a tool instead"
            }
            _ => return Ok(()),
        };
        Err(why.to_owned())
    }
}

/// Displayed as it is written: `search_web`, `role:actor`, `models`. A colon in a name is `\:`.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&target_text(self.sort(), &self.name()))
    }
}

/// A target as it is written, whether or not it exists.
pub fn target_text(sort: Sort, name: &str) -> String {
    let escaped = name.replace('\\', "\\\\").replace(':', "\\:");
    match sort {
        _ if !sort.takes_name() => sort.name().to_owned(),
        Sort::Tool if Sort::by_name(name).is_none() => escaped,
        _ => format!("{}:{escaped}", sort.name()),
    }
}

/// Compares without allocating: the screen checks every tool in every frame.
fn is_same(one: &str, other: &str) -> bool {
    one.chars().flat_map(char::to_lowercase).eq(other.chars().flat_map(char::to_lowercase))
}

fn edge(name: &str) -> Result<Target, String> {
    let ends = name.split_once("->").or_else(|| name.split_once('→'));
    let ends = ends.map(|(from, to)| (from.trim(), to.trim()));
    let (from, to) = ends
        .filter(|(from, to)| !from.is_empty() && !to.is_empty())
        .ok_or_else(|| format!("`{name}` is not an edge such as search_web->calculator"))?;
    Ok(Target::Edge(from.into(), to.into()))
}

fn role(name: &str) -> Result<Role, String> {
    Role::all().find(|role| role.name() == name).ok_or_else(|| {
        let expected = words::expected(name, Role::all().map(Role::name));
        format!("there is no role {name}; {expected}")
    })
}

fn effect(name: &str) -> Result<EffectClass, String> {
    EffectClass::all().find(|class| class.name() == name).ok_or_else(|| {
        let names = EffectClass::all().map(EffectClass::name);
        format!("there is no effect {name}; {}", words::expected(name, names))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::ClassedBy;
    use crate::fault::FaultSpec;

    fn classed(class: &str, domain: Option<&str>) -> ClassAssignment {
        ClassAssignment {
            class: class.into(),
            domain: domain.map(str::to_owned),
            by: ClassedBy::User,
        }
    }

    fn hits(target: &str, aim: &Aim<'_>) -> bool {
        let spec: FaultSpec = format!("{target}:error").parse().unwrap();
        spec.target.matches(aim)
    }

    #[test]
    fn a_tool_is_hit_by_its_name_its_class_and_its_domain() {
        let (name, class) = (ToolName::new("fly"), classed("Task Completion", Some("Airline")));
        let aim = Aim { tool: Some((&name, Some(&class))), ..Aim::default() };
        for target in ["fly", "class:task completion", "class:Task Completion / airline"] {
            assert!(hits(target, &aim), "{target}");
        }
        for target in ["fl", "class:fly", "class:Airline", "role:actor", "model:fly", "embedding"] {
            assert!(!hits(target, &aim), "{target}");
        }
        let unsorted = Aim { tool: Some((&name, None)), ..Aim::default() };
        assert!(hits("fly", &unsorted) && !hits("class:Task Completion", &unsorted));
    }

    #[test]
    fn a_model_call_is_hit_by_its_role_and_its_model_and_an_embedding_as_such() {
        let name = ModelName::new("gpt");
        let aim = Aim { role: Some(Role::Solver), model: Some(&name), ..Aim::default() };
        assert!(hits("role:solver", &aim) && hits("model:gpt", &aim));
        assert!(!hits("role:actor", &aim) && !hits("model:gp", &aim) && !hits("gpt", &aim));
        let embedding = Aim { embedding: true, ..Aim::default() };
        assert!(hits("embedding", &embedding) && !hits("embedding", &aim));
        assert!(!hits("role:solver", &embedding));
    }

    #[test]
    fn all_calls_an_edge_an_effect_and_a_server_have_words() {
        let (to, model) = (ToolName::new("calc"), ModelName::new("m"));
        let effect = Some(EffectClass::Write);
        let aim = Aim { tool: Some((&to, None)), from: Some("find"), effect, ..Aim::default() };
        for target in ["any", "tools", "edge:find->calc", "edge:find → calc", "effect:write"] {
            assert!(hits(target, &aim), "{target}");
        }
        for target in ["models", "edge:calc->find", "edge:start->calc", "effect:read", "server:h"] {
            assert!(!hits(target, &aim), "{target}");
        }
        let served = Aim { mcp: Some("files"), ..aim };
        assert!(hits("mcp:Files", &served) && !hits("mcp:files", &aim));
        // An agent calls the tool `read` of the server `files` by another name.
        let (own, read) = (ToolName::new("mcp__files__read"), ToolName::new("read"));
        let other = Aim { tool: Some((&own, None)), served_as: Some(&read), ..served };
        for target in ["read", "mcp__files__read", "edge:find->read"] {
            assert!(hits(target, &other) && !hits(target, &served), "{target}");
        }
        // A single tool call has no tool before it.
        assert!(!hits("edge:find->calc", &Aim { from: None, ..aim }));
        let asked = Aim { role: Some(Role::Actor), model: Some(&model), ..Aim::default() };
        let asked = Aim { server: Some("api.example.com"), ..asked };
        for target in ["any", "models", "server:API.example.com"] {
            assert!(hits(target, &asked), "{target}");
        }
        assert!(!hits("tools", &asked) && !hits("effect:read", &asked));
    }

    #[test]
    fn an_unknown_target_says_what_is_known_of_its_sort() {
        let known = [
            Target::Tool("search_web".into()),
            Target::Class("Task Completion".into()),
            Target::Model("gpt".into()),
        ];
        for target in [known[0].clone(), Target::Class("task completion".into())] {
            assert_eq!(target.among(&known), Ok(()));
        }
        for (target, why) in [
            (
                Target::Tool("serch_web".into()),
                "there is no tool serch_web; did you mean `search_web`? (known: search_web)",
            ),
            (Target::Model("x".into()), "there is no model x; known: gpt"),
            (Target::Embedding, "no embedding model is configured"),
        ] {
            assert_eq!(target.among(&known), Err(why.to_owned()));
        }
    }
}
