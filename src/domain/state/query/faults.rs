//! Faults that match an effect or a tool, and the targets on which faults can be armed.

use std::collections::{BTreeSet, HashSet};

use indexmap::IndexSet;

use crate::agent_kind::Acting;
use crate::chat::Role;
use crate::event::ClassAssignment;
use crate::expression::Expression;
use crate::fault::FaultSpec;
use crate::id::{EffectId, FaultId, ToolName};
use crate::spec::EffectClass;
use crate::state::{FaultState, State, ToolState};
use crate::target::{Aim, Sort, Target};
use crate::words;

impl State {
    /// Returns the message that a condition on these calls reads an argument that none of their tools takes.
    pub fn unknown_argument(&self, target: &Target, condition: &Expression) -> Option<String> {
        let mut known = BTreeSet::new();
        for tool in self.tools.values().filter(|tool| target.matches(&tool.aim())) {
            // A tool that does not list its arguments may take any.
            known.extend(
                tool.spec.parameters.get("properties")?.as_object()?.keys().map(String::as_str),
            );
        }
        let unknown = condition.arguments().into_iter().find(|name| !known.contains(name));
        let unknown = unknown.filter(|_| !known.is_empty())?;
        let near = words::nearest(unknown, known.into_iter());
        let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        Some(format!("no tool of these calls takes the argument `{unknown}`{near}"))
    }

    /// The properties of an effect that a fault can match.
    pub(super) fn aim(&self, effect: EffectId) -> Aim<'_> {
        if let Some(call) = self.model_call(effect) {
            let server = self.models.known.get(&call.model).and_then(|model| model.spec.server());
            let (role, model) = (Some(call.role), Some(&call.model));
            return Aim { role, model, server, ..Aim::default() };
        }
        if let Some(call) = self.tool_call(effect) {
            let known = self.tools.get(&call.tool);
            let class = known.and_then(|tool| tool.class.as_ref());
            let mcp = known.and_then(|tool| tool.spec.mcp_server());
            let served_as = known.and_then(|tool| tool.spec.served_as.as_ref());
            let (tool, from) = (Some((&call.tool, class)), Some(self.came_from(call)));
            return Aim { tool, served_as, from, mcp, effect: Some(call.class), ..Aim::default() };
        }
        Aim { embedding: self.embedding(effect).is_some(), ..Aim::default() }
    }

    /// The armed faults that match an effect, in the order in which they were armed.
    pub fn faults_on(&self, effect: EffectId) -> impl Iterator<Item = (FaultId, &FaultState)> {
        // Usually there are none, and then the effect's properties are not needed.
        let aim = if self.faults.is_empty() { Aim::default() } else { self.aim(effect) };
        let hit = self.faults.iter().filter(move |(_, fault)| fault.is_armed_on(&aim));
        hit.map(|(id, fault)| (*id, fault))
    }

    /// The kind of a fault in one word.
    pub fn fault_kind(&self, fault: FaultId) -> &'static str {
        self.faults.get(&fault).map_or("fault", |fault| fault.spec.kind.name())
    }

    /// Whether any armed fault matches this effect.
    pub fn has_fault_on(&self, aim: &Aim<'_>) -> bool {
        self.faults.values().any(|fault| fault.is_armed_on(aim))
    }

    /// The tools that an armed fault targets.
    pub fn broken_tools(&self) -> HashSet<&ToolName> {
        // Usually nothing is armed, and then no tool needs a look.
        if self.faults_armed() == 0 {
            return HashSet::new();
        }
        let broken = self.tools.values().filter(|tool| self.has_fault_on(&tool.aim()));
        broken.map(|tool| &tool.spec.name).collect()
    }

    /// The names that targets of this sort can have; none where there are too many to offer.
    pub fn target_names(&self, sort: Sort) -> Vec<String> {
        if sort == Sort::Effect {
            return EffectClass::all().map(|class| class.name().to_owned()).collect();
        }
        let known = self.fault_targets().into_iter().filter(|target| target.sort() == sort);
        known.map(|target| target.name()).filter(|name| !name.is_empty()).collect()
    }

    /// The tool that the agent has called most; before any call, the one with the highest score.
    pub fn favourite(&self) -> Option<&ToolName> {
        let offered = self.tools.values().filter(|tool| tool.is_offered());
        let key = |tool: &&ToolState| (tool.started, self.learning.score(&tool.spec.name));
        let best = offered.max_by(|one, other| {
            let ((calls, score), (others, other)) = (key(one), key(other));
            calls.cmp(&others).then(score.total_cmp(&other))
        });
        best.map(|tool| &tool.spec.name)
    }

    /// Explains why a fault or a breakpoint cannot have this target, if so.
    pub fn check_target(
        &self,
        target: &Target,
        condition: Option<&Expression>,
    ) -> Result<(), String> {
        condition.map_or(Ok(()), |condition| target.allows(condition))?;
        match self.acting() {
            Acting::Foreign => target.of_foreign(),
            Acting::Own(_) => target.among(&self.fault_targets()),
        }
    }

    /// Explains why this fault cannot act here, if so.
    pub fn check_fault(&self, fault: &FaultSpec) -> Result<(), String> {
        if self.acting() == Acting::Foreign {
            fault.of_foreign()?;
        }
        self.check_target(&fault.target, fault.trigger.condition.as_ref())
    }

    /// Every target that can be named, one sort after the other.
    pub fn fault_targets(&self) -> Vec<Target> {
        let of_tools = self.tools.values().filter_map(|tool| tool.class.as_ref());
        let classes = self.workers.classes.names().chain(of_tools.map(ClassAssignment::name));
        // The classes in use are usually configured ones, too.
        let classes: IndexSet<String> = classes.collect();
        let servers = self.models.known.values().filter_map(|model| model.spec.server());
        let servers: IndexSet<&str> = servers.collect();
        let tools = self.tools.keys().cloned().map(Target::Tool);
        tools
            .chain(classes.into_iter().map(Target::Class))
            .chain(Role::all().map(Target::Role))
            .chain(self.models.known.keys().cloned().map(Target::Model))
            .chain(servers.into_iter().map(|server| Target::Server(server.to_owned())))
            .chain(self.servers.keys().map(|server| Target::Mcp(server.to_string())))
            .chain([Target::Embedding])
            .collect()
    }
}
