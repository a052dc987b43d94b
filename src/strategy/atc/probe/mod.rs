//! Probing: tools are called by programs, to learn what they return (ATC, section 4.3). A tool that does not answer
//! alone is tried again with the tools that have answered, since their results may have what it needs.
//!
//! Its programs and calls are like those of any task: they can be held, broken, and paid for.

mod choose;
mod sample;

use std::collections::BTreeMap;
use std::sync::Arc;

use self::choose::{Left, targets};
use self::sample::{ProbeResult, Sampled};
use super::extract;
use crate::domain::probe::{LearnedSchema, Merged, Probe, ProbeEnd, SchemaSource};
use crate::domain::result_schema::{Schema, SchemaMode};
use crate::domain::{
    GraphEvent, InTask, Knob, MenuItem, MenuReason, Outcome, ProbeEvent, ProbeSchema, ToolName,
    words,
};
use crate::papers::atc::identifiers::Identifiers;
use crate::papers::atc::probing::Passes;
use crate::{Context, Ending};

/// Bytes of a response that are kept.
const RESPONSE: usize = 4 << 10;

/// Probes tools until all have answered, or a pass reaches none.
pub async fn probe(ctx: &impl Context, probe: &Probe) -> Ending {
    let Left { open, left_out } = ctx.state(|state| targets(state, probe));
    let known: Vec<ToolName> = ctx.state(|state| known(state, &open));
    let names = ctx.state(|state| Identifiers::of(state.tools.keys()));
    let tools = open.clone();
    ctx.say(|task| ProbeEvent::ProbeStarted { task, tools, left_out });
    let mut passes = Passes::new(open, !known.is_empty());
    let (tried, empty) = Default::default();
    let mut prober = Prober { ctx, names, known, programs: 0, tried, empty };
    loop {
        let most = ctx.state(|state| state.knobs.count(Knob::ProbePasses));
        let Some((pass, tool)) = passes.next(u32::try_from(most).unwrap_or(u32::MAX)) else {
            break;
        };
        match prober.tool(&tool, pass).await {
            Ok(true) => passes.answered(),
            Ok(false) => {}
            Err(ending) => return ending,
        }
    }
    for (tool, (pass, found)) in std::mem::take(&mut prober.empty) {
        prober.learn(&tool, pass, &[found]);
    }
    match ctx.state(|state| state.probing.as_ref().map(|probing| probing.reached())) {
        Some((0, all @ 1..)) => Ending {
            answer: Some(format!("None of {all} tools answered")),
            ..Ending::without_answer(Outcome::GaveUp)
        },
        Some((answered, all)) => Ending::answered(format!("{answered} of {all} tools answered")),
        None => Ending::without_answer(Outcome::GaveUp),
    }
}

/// The tools with a learned schema that may be called, without those that are still to be probed.
fn known(state: &InTask<'_>, open: &[ToolName]) -> Vec<ToolName> {
    let known = state.offered_tools().filter(|tool| tool.learned.is_some());
    known.map(|tool| tool.spec.name.clone()).filter(|tool| !open.contains(tool)).collect()
}

/// The number of known fields in the results of a tool.
fn fields(state: &InTask<'_>, tool: &ToolName) -> (ToolName, usize) {
    let known = state.tools.get(tool).and_then(|tool| tool.learned.as_ref());
    (tool.clone(), known.map_or(0, |known| known.learned.schema.size()))
}

struct Prober<'a, C> {
    ctx: &'a C,
    names: Identifiers,
    /// H: the tools that have answered, in order.
    known: Vec<ToolName>,
    /// The number of programs so far.
    programs: u32,
    /// The helpers with which each tool was tried, and the number of known fields of each. The same ones would lead to
    /// the same programs.
    tried: BTreeMap<ToolName, Vec<BTreeMap<ToolName, usize>>>,
    /// The first result of each tool that has not answered, if it had one with empty lists, and its pass.
    empty: BTreeMap<ToolName, (u32, ProbeResult)>,
}

impl<C: Context> Prober<'_, C> {
    /// Probes a tool in a pass. Returns whether it answered.
    async fn tool(&mut self, tool: &ToolName, pass: u32) -> Result<bool, Ending> {
        let before = self.tokens();
        let helpers = if pass == 0 { Vec::new() } else { self.helpers(tool).await? };
        let set = self.ctx.state(|state| helpers.iter().map(|tool| fields(state, tool)).collect());
        let tried = self.tried.entry(tool.clone()).or_default();
        if pass > 0 && (helpers.is_empty() || tried.contains(&set)) {
            let why = match helpers.is_empty() {
                true => "no known tool has what it needs",
                false => "it was tried with the same tools before",
            };
            let end = ProbeEnd::Skipped(why.to_owned());
            self.say((tool, pass, 0), helpers, before, end);
            return Ok(false);
        }
        tried.push(set);
        let (mut found, mut turns): (Vec<ProbeResult>, Vec<(String, String)>) = Default::default();
        let mut before = before;
        for sample in 1.. {
            let (samples, all) = self.ctx.state(|state| {
                (state.knobs.count(Knob::ProbeSamples), state.knobs.is_on(Knob::ProbeAll))
            });
            if sample > samples || !found.is_empty() && !all {
                break;
            }
            let sampled = self.sample(tool, &helpers, &turns).await?;
            let end = match &sampled {
                Sampled::Answered { .. } => ProbeEnd::Answered,
                Sampled::Failed { why, .. } => ProbeEnd::Failed(why.clone()),
            };
            let number = u32::try_from(sample).unwrap_or(u32::MAX);
            self.say((tool, pass, number), helpers.clone(), before, end);
            before = self.tokens();
            match sampled {
                Sampled::Answered { reply, more, answer } => {
                    turns.push((reply, more));
                    found.push(answer);
                }
                // The same program would fail in the same way.
                Sampled::Failed { reply, .. } if turns.iter().any(|(was, _)| *was == reply) => {
                    break;
                }
                Sampled::Failed { reply, finding, empty, .. } => {
                    turns.push((reply, finding));
                    if let Some(empty) = empty {
                        self.empty.entry(tool.clone()).or_insert((pass, empty));
                    }
                }
            }
        }
        if found.is_empty() {
            return Ok(false);
        }
        self.learn(tool, pass, &found);
        self.empty.remove(tool);
        Ok(true)
    }

    /// Notes what the results show about a tool, and which values it took from others.
    fn learn(&mut self, tool: &ToolName, pass: u32, found: &[ProbeResult]) {
        let Some(first) = found.first() else { return };
        let results: Vec<_> = found.iter().map(|found| found.result.clone()).collect();
        let mode = match self.ctx.state(|state| state.knobs.choice()) {
            ProbeSchema::Merged => SchemaMode::Merged,
            ProbeSchema::Paper => SchemaMode::Paper,
        };
        let (samples, tokens) = self.ctx.state(|state| {
            let row = state.probing.as_ref().and_then(|probing| probing.rows.get(tool));
            row.map_or((0, 0), |row| (row.samples, row.tokens))
        });
        let mut after: Vec<ToolName> = Vec::new();
        for from in found.iter().flat_map(|found| &found.after) {
            if !after.contains(from) {
                after.push(from.clone());
            }
        }
        let mut learned = LearnedSchema {
            schema: Schema::of(mode, &results),
            mode,
            program: first.program.clone(),
            response: words::clipped(&first.result.to_string(), RESPONSE),
            merged: Vec::new(),
            question: first.question.clone(),
            arguments: first.arguments.clone(),
            after: after.clone(),
            samples,
            pass,
            tokens,
        };
        let used = if mode == SchemaMode::Paper { 1 } else { found.len() };
        for (i, ProbeResult { arguments, result, .. }) in found.iter().enumerate().take(used) {
            let fields = Schema::of(mode, &results[i..=i]).size();
            let known = Schema::of(mode, &results[..i]);
            let brought = if i == 0 { Vec::new() } else { known.drift(result) };
            learned.note(Merged { arguments: arguments.clone(), fields, brought });
        }
        let (tool, source) = (tool.clone(), SchemaSource::Probed);
        let named = tool.clone();
        let learned = Arc::new(learned);
        self.ctx.say(|_| ProbeEvent::SchemaLearned { tool: named, learned, source });
        if self.ctx.state(|state| state.knobs.is_on(Knob::ProbeEdges)) {
            for from in after {
                let is_new = self
                    .ctx
                    .state(|state| !state.learning.graph.has_edge(from.as_str(), tool.as_str()));
                if is_new {
                    let to = tool.clone();
                    self.ctx.say(|_| GraphEvent::EdgeExplored { from, to });
                }
            }
        }
        self.known.push(tool);
    }

    fn say(
        &self,
        (tool, pass, sample): (&ToolName, u32, u32),
        helpers: Vec<ToolName>,
        before: u64,
        end: ProbeEnd,
    ) {
        let (tool, tokens) = (tool.clone(), self.tokens().saturating_sub(before));
        self.ctx.say(|task| ProbeEvent::Probed { task, tool, pass, sample, helpers, tokens, end });
    }

    /// Tokens of the task so far.
    fn tokens(&self) -> u64 {
        self.ctx.state(|state| state.current_task().map_or(0, |task| task.tokens()))
    }

    /// The probed tool, and those whose results it may use.
    fn menu(tool: &ToolName, helpers: &[ToolName]) -> Arc<[MenuItem]> {
        let item = |tool: &ToolName| MenuItem {
            tool: tool.clone(),
            weight: None,
            why: MenuReason::Probed,
        };
        std::iter::once(tool).chain(helpers).map(item).collect()
    }
}
