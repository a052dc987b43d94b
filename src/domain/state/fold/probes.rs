//! The fold of results learned from tools by calling them.

use std::sync::Arc;

use super::Family;
use crate::event::ProbeEvent;
use crate::id::{EffectId, TaskId, ToolName};
use crate::probe::{KnownSchema, LearnedSchema, Merged, ProbeEnd, ProbeRow, Probing, SchemaSource};
use crate::result_schema::{Drift, Schema};
use crate::state::{State, ToolCallPhase, What};

impl State {
    fn apply_probe(&mut self, event: &ProbeEvent) {
        match event {
            ProbeEvent::ProbeStarted { tools, left_out, .. } => {
                let left_out = left_out.iter().map(|(tool, why)| {
                    (tool.clone(), ProbeRow { refused: Some(why.clone()), ..ProbeRow::default() })
                });
                let open = tools.iter().map(|tool| (tool.clone(), ProbeRow::default()));
                self.probing =
                    Some(Arc::new(Probing { pass: 0, rows: open.chain(left_out).collect() }));
            }
            ProbeEvent::Probed { tool, pass, sample, helpers, tokens, end, .. } => {
                let Some(probing) = self.probing.as_mut().map(Arc::make_mut) else { return };
                probing.pass = *pass;
                let row = probing.rows.entry(tool.clone()).or_default();
                row.pass = *pass;
                row.samples += u32::from(*sample > 0);
                row.helpers.clone_from(helpers);
                row.tokens = row.tokens.saturating_add(*tokens);
                // The reason for a failure says more than the reason for skipping another attempt.
                if !(matches!(end, ProbeEnd::Skipped(_)) && row.end.is_some()) {
                    row.end = Some(end.clone());
                }
            }
            ProbeEvent::SchemaLearned { tool, learned, source } => {
                self.learn_schema(tool, learned, *source);
            }
            ProbeEvent::SchemaDrifted { tool, call, drift } => self.drift(tool, *call, drift),
        }
    }

    fn learn_schema(
        &mut self,
        tool: &ToolName,
        learned: &Arc<LearnedSchema>,
        source: SchemaSource,
    ) {
        if let Some(tool) = self.tools.get_mut(tool) {
            let learned = Arc::clone(learned);
            tool.learned = Some(KnownSchema { learned, source, drifts: 0, drift: Vec::new() });
        }
    }

    /// Adds the differing result to the schema, so that the same difference is reported only once.
    fn drift(&mut self, tool: &ToolName, call: EffectId, drift: &[Drift]) {
        let Some(result) = self.json_result(call) else { return };
        let arguments = self.tool_call(call).map(|call| call.arguments.clone()).unwrap_or_default();
        let known = self.tools.get_mut(tool).and_then(|tool| tool.learned.as_mut());
        let Some(known) = known else { return };
        let learned = Arc::make_mut(&mut known.learned);
        learned.schema.widen(&result);
        let fields = Schema::of(learned.mode, &[result]).size();
        learned.note(Merged { arguments, fields, brought: drift.to_vec() });
        known.drifts = known.drifts.saturating_add(1);
        known.drift = drift.to_vec();
    }

    /// The whole result of a call as JSON; other text becomes a JSON string. `None` if only its beginning is known.
    pub fn json_result(&self, call: EffectId) -> Option<serde_json::Value> {
        match &self.tool_call(call)?.phase {
            ToolCallPhase::Done { output } if output.cut_from.is_none() => {
                Some(Schema::value(&output.text))
            }
            _ => None,
        }
    }
}

impl Family for ProbeEvent {
    fn fold(&self, state: &mut State, _at: u64) {
        state.apply_probe(self);
    }

    fn line(&self, _state: &State) -> Option<(Option<TaskId>, What)> {
        match self {
            // Kept schemas arrive with the tools, before the transcript begins.
            ProbeEvent::SchemaLearned { source: SchemaSource::Kept, .. } => None,
            event => What::told(event.clone()),
        }
    }
}
