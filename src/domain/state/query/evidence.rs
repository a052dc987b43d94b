//! Evidence of a plan, and the part of it that is null.

use crate::id::ToolName;
use crate::null_filter::NullReason;
use crate::plan::EvidenceId;
use crate::state::{EvidenceSource, EvidenceState, ModelCallState, PlanProgress, State, TaskState};

impl State {
    /// The solver's input for a piece of evidence; `None` if it is null or not found yet.
    pub fn evidence_text<'s>(&'s self, work: &'s PlanProgress, id: EvidenceId) -> Option<&'s str> {
        let evidence = work.evidence.get(&id)?;
        if evidence.found.is_none() || evidence.nulled.is_some() {
            return None;
        }
        self.evidence_found(evidence)
    }

    /// Returns the result found for a piece of evidence, null or not; `None` before anything was found.
    pub fn evidence_found<'s>(&'s self, evidence: &'s EvidenceState) -> Option<&'s str> {
        match evidence.source {
            EvidenceSource::None => None,
            EvidenceSource::Model(_) => evidence.text.as_deref(),
            EvidenceSource::Call(call) => self.tool_call(call)?.observation(),
        }
    }

    /// Why a tool's result is null, if it is; `None` is a failed call. Solver, judge, blacklist and experience all use
    /// this rule.
    pub fn nulled(&self, tool: &ToolName, result: Option<&str>) -> Option<NullReason> {
        let class = self.tools.get(tool).and_then(|tool| tool.class.as_ref());
        let names = class.map(|class| [Some(class.class.as_str()), class.domain.as_deref()]);
        let names: Vec<&str> = names.into_iter().flatten().flatten().collect();
        self.workers.null.nulled(tool, &names, result)
    }

    /// The model call that searches for a piece of evidence, if it is one.
    pub fn evidence_model_call(&self, task: &TaskState, id: EvidenceId) -> Option<&ModelCallState> {
        match task.work.evidence.get(&id)?.source {
            EvidenceSource::Model(call) => self.model_call(call),
            EvidenceSource::Call(_) | EvidenceSource::None => None,
        }
    }
}
