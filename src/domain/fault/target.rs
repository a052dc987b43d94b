//! The target of a fault: tools, model calls or embeddings, by name, class, role or model.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::domain::id::{ModelName, ToolName};
use crate::domain::{chat::Role, event::ClassAssignment, words};

/// The target of a fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// The calls of one tool.
    Tool(ToolName),
    /// The calls of all tools of a class, or of `class / domain`; case-insensitive.
    Class(String),
    /// The model calls of a role, regardless of the model.
    Role(Role),
    /// The calls of a model, regardless of the role.
    Model(ModelName),
    /// The requests to the embedding model.
    Embedding,
}

/// The sorts of targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Sort {
    Tool,
    Class,
    Role,
    Model,
    Embedding,
}

/// The properties of an effect that a target compares. Missing ones stay empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct Aim<'a> {
    /// The called tool, and its class if it has one.
    pub tool: Option<(&'a ToolName, Option<&'a ClassAssignment>)>,
    pub role: Option<Role>,
    pub model: Option<&'a ModelName>,
    pub embedding: bool,
}

impl Sort {
    pub fn all() -> impl Iterator<Item = Sort> {
        Self::VARIANTS.iter().copied()
    }

    pub fn name(self) -> &'static str {
        self.into()
    }

    pub(super) fn by_name(name: &str) -> Option<Self> {
        name.parse().ok()
    }
}

impl Target {
    /// The target of this sort and name; an embedding needs no name.
    pub(super) fn named(sort: Sort, name: &str) -> Result<Self, String> {
        Ok(match sort {
            Sort::Tool => Target::Tool(name.into()),
            Sort::Class => Target::Class(name.to_owned()),
            Sort::Role => Target::Role(role(name)?),
            Sort::Model => Target::Model(name.into()),
            Sort::Embedding => Target::Embedding,
        })
    }

    pub fn sort(&self) -> Sort {
        match self {
            Target::Tool(_) => Sort::Tool,
            Target::Class(_) => Sort::Class,
            Target::Role(_) => Sort::Role,
            Target::Model(_) => Sort::Model,
            Target::Embedding => Sort::Embedding,
        }
    }

    /// Its name among those of its sort; an embedding has none.
    pub fn name(&self) -> &str {
        match self {
            Target::Tool(name) => name.as_str(),
            Target::Class(name) => name,
            Target::Role(role) => role.name(),
            Target::Model(name) => name.as_str(),
            Target::Embedding => "",
        }
    }

    /// Whether it matches this effect.
    pub fn matches(&self, aim: &Aim<'_>) -> bool {
        match self {
            Target::Tool(wanted) => aim.tool.is_some_and(|(name, _)| name == wanted),
            Target::Class(wanted) => aim.tool.and_then(|(_, class)| class).is_some_and(|class| {
                is_class(wanted, &class.class)
                    || class.domain.is_some() && is_class(wanted, &class.name())
            }),
            Target::Role(wanted) => aim.role == Some(*wanted),
            Target::Model(wanted) => aim.model == Some(wanted),
            Target::Embedding => aim.embedding,
        }
    }

    /// Whether it is among the known targets; if not, an error that lists them.
    pub fn among(&self, known: &[Target]) -> Result<(), String> {
        let is_it = |target: &&Target| match (*target, self) {
            (Target::Class(one), Target::Class(other)) => is_class(one, other),
            (one, other) => one == other,
        };
        let Some(_) = known.iter().find(is_it) else {
            if *self == Target::Embedding {
                return Err("no embedding model is configured".to_owned());
            }
            let same = known.iter().filter(|target| target.sort() == self.sort());
            let expected = words::expected(self.name(), same.map(Target::name));
            return Err(format!("there is no {} {}; {expected}", self.sort().name(), self.name()));
        };
        Ok(())
    }
}

/// Compares without allocating: the screen checks every tool in every frame.
fn is_class(one: &str, other: &str) -> bool {
    one.chars().flat_map(char::to_lowercase).eq(other.chars().flat_map(char::to_lowercase))
}

fn role(name: &str) -> Result<Role, String> {
    Role::all().find(|role| role.name() == name).ok_or_else(|| {
        let expected = words::expected(name, Role::all().map(Role::name));
        format!("there is no role {name}; {expected}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::event::ClassedBy;

    fn classed(class: &str, domain: Option<&str>) -> ClassAssignment {
        ClassAssignment {
            class: class.into(),
            domain: domain.map(str::to_owned),
            by: ClassedBy::User,
        }
    }

    fn hits(target: &str, aim: &Aim<'_>) -> bool {
        let spec: crate::domain::fault::FaultSpec = format!("{target}:error").parse().unwrap();
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
