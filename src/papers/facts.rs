//! The fields of expressions (see [`crate::domain::expression`]) at a moment of a session: those of its
//! state, and the weights that the papers compute from it.

use std::borrow::Cow;

use crate::domain::breakpoint::When;
use crate::domain::expression::{Fact, FieldSource};
use crate::domain::{
    EffectId, EffectState, EvidenceId, Knob, ModelCallState, RunId, State, TaskState,
    ToolCallPhase, ToolCallState, ToolName, ToolState,
};
use crate::toolnet::Weights;

/// A session at a moment, and the selected call, if any.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    pub state: &'a State,
    pub call: Option<(EffectId, When)>,
    /// The selected run, if any.
    run: Option<RunId>,
}

impl<'a> Facts<'a> {
    pub fn of_session(state: &'a State) -> Self {
        Self { state, call: None, run: None }
    }

    /// A run at a boundary between its effects.
    pub fn of_run(state: &'a State, run: RunId) -> Self {
        Self { state, call: None, run: Some(run) }
    }

    pub fn of_call(state: &'a State, call: EffectId, when: When) -> Self {
        Self { state, call: Some((call, when)), run: None }
    }

    fn task(&self) -> Option<&'a TaskState> {
        let of_call = |(call, _)| self.state.effect(call).map(|effect: &EffectState| effect.task);
        let of_run = |run| self.state.at_work.of(run);
        let own = self.call.and_then(of_call).or_else(|| self.run.and_then(of_run));
        own.and_then(|task| self.state.task(task)).or_else(|| self.state.shown_task())
    }

    fn of_task(&self, name: &str) -> Option<Fact<'a>> {
        let task = self.task();
        let spent = task.map_or(0.0, TaskState::credits);
        let budget = self.state.knobs.get(Knob::Budget);
        let step = task.and_then(|task| task.steps.last());
        Some(match name {
            "task" => Fact::count(task.map_or(0, |task| task.id.0)),
            "run" => Fact::count(task.map_or(RunId::FIRST, |task| task.task.run).0),
            "question" => Fact::text(task.map_or("", |task| &task.task.text)),
            "step" => Fact::count(step.map_or(0, |step| step.step)),
            "place" => Fact::text(step.map_or(ToolName::START, |step| step.from.as_str())),
            "strategy" => {
                let strategy = task.and_then(|task| task.strategy).unwrap_or(self.state.strategy);
                Fact::Text(strategy.to_string().into())
            }
            "budget" => Fact::Amount(budget),
            "spent" => Fact::Amount(spent),
            "left" => Fact::Amount((budget - spent).max(0.0)),
            _ => return None,
        })
    }

    fn of_session_alone(&self, name: &str) -> Option<Fact<'a>> {
        let state = self.state;
        Some(match name {
            "dollars" => Fact::Amount(state.dollars_spent()),
            "done" => Fact::count(state.tasks_done),
            "right" => Fact::count(state.tasks_right),
            "running" => Fact::count(state.effects_in_flight().count()),
            "faults" => Fact::count(state.faults_armed()),
            _ => return None,
        })
    }

    /// The value for one name, as in `score.search_web`.
    fn of_name(&self, field: &str, name: &str) -> Option<Fact<'a>> {
        let state = self.state;
        let tool = || state.tools.get(name);
        Some(match field {
            "score" => {
                let known = tool().map(|tool| &tool.spec.name);
                let end = || (name == ToolName::END).then(|| ToolName::from(ToolName::END));
                Fact::Amount(state.learning.score(&known.cloned().or_else(end)?))
            }
            "weight" => {
                let (from, to) = name.split_once('.')?;
                Fact::Amount(Weights::of(&state.learning, &state.knobs).weight(from, to)?)
            }
            "uses" => Fact::count(uses(self.task()?, tool()?)),
            "calls" => Fact::count(tool()?.started),
            "failed" => Fact::count(tool()?.failed),
            "evidence" => {
                let id: EvidenceId = name.parse().ok()?;
                Fact::text(state.evidence_text(&self.task()?.work, id)?)
            }
            "knob" => Fact::Amount(state.knobs.get(Knob::by_name(name)?)),
            _ => return None,
        })
    }

    /// The values for all names, as in `score[tool]`.
    fn of_all(&self, field: &str) -> Option<Fact<'a>> {
        let state = self.state;
        let tools = || state.tools.values();
        let counted = |count: &dyn Fn(&ToolState) -> u32| {
            let each = tools().map(|tool| (tool.spec.name.to_string(), count(tool).into()));
            Some(Fact::Counts(each.collect()))
        };
        match field {
            "score" => {
                let each = tools().map(|tool| &tool.spec.name);
                let each = each.map(|tool| (tool.to_string(), state.learning.score(tool)));
                Some(Fact::Amounts(each.collect()))
            }
            "uses" => counted(&|tool| self.task().map_or(0, |task| uses(task, tool))),
            "calls" => counted(&|tool| tool.started),
            "failed" => counted(&|tool| tool.failed),
            "evidence" => {
                let work = self.task().map(|task| &task.work);
                let each = work
                    .into_iter()
                    .flat_map(|work| work.evidence.keys().map(move |id| (work, *id)));
                let found = each.filter_map(|(work, id)| {
                    Some((id.to_string(), state.evidence_text(work, id)?.to_owned()))
                });
                Some(Fact::Texts(found.collect()))
            }
            "knob" => {
                let each =
                    Knob::all().map(|knob| (knob.spec().name.to_owned(), state.knobs.get(knob)));
                Some(Fact::Amounts(each.collect()))
            }
            _ => None,
        }
    }

    /// The weights of all edges from a tool, as in `weight.start[tool]`.
    fn of_row(&self, from: &str) -> Fact<'a> {
        let weights = Weights::of(&self.state.learning, &self.state.knobs);
        let row = weights.top(from, usize::MAX).into_iter();
        Fact::Amounts(row.map(|edge| (edge.to.to_string(), edge.weight)).collect())
    }

    fn of_call_alone(&self, id: EffectId, when: When, name: &str) -> Option<Fact<'a>> {
        let state = self.state;
        let effect = state.effect(id)?;
        let (tool, model) = (state.tool_call(id), state.model_call(id));
        let empty = || Fact::text("");
        Some(match name {
            "call" => Fact::count(id.0),
            "kind" => Fact::text(match (tool, model) {
                (Some(_), _) => "tool",
                (_, Some(_)) => "model",
                (None, None) => "embedding",
            }),
            "when" => Fact::text(when.name()),
            "tool" => tool.map_or_else(empty, |call| Fact::text(call.tool.as_str())),
            "role" => model.map_or_else(empty, |call| Fact::text(call.role.name())),
            "model" => match (model, state.embedding(id)) {
                (Some(call), _) => Fact::text(call.model.as_str()),
                (None, Some(call)) => Fact::text(&call.model),
                (None, None) => empty(),
            },
            "class" => {
                let known = tool.and_then(|call| state.tools.get(&call.tool));
                let class = known.and_then(|tool| tool.class.as_ref());
                class.map_or_else(empty, |class| Fact::Text(class.name().into()))
            }
            "effect" => Fact::text(effect.class.name()),
            "from" => tool.map_or_else(empty, |call| Fact::text(state.came_from(call))),
            "finds" => {
                let evidence = tool.map_or_else(|| model?.evidence, |call| call.evidence);
                evidence.map_or_else(empty, |id| Fact::Text(id.to_string().into()))
            }
            "args" => Fact::Json(&tool?.arguments),
            "prompt" => model.map_or_else(empty, |call| Fact::Text(prompt(call).into())),
            "result" => Fact::Text(result(tool, model)),
            "ok" => Fact::Flag(effect.is_over() && state.error_of(id).is_none()),
            "error" => Fact::text(state.error_of(id).unwrap_or_default()),
            "trouble" => {
                let first = state.troubles(id, when).next();
                first.map_or_else(empty, |trouble| Fact::text(trouble.name()))
            }
            "ms" => Fact::count(milliseconds(effect, state.at)),
            "tokens_in" => Fact::count(tokens(model).0),
            "tokens_out" => Fact::count(tokens(model).1),
            "injected" => Fact::Flag(effect.injected.is_some()),
            _ => return None,
        })
    }
}

impl FieldSource for Facts<'_> {
    fn field(&self, path: &str) -> Option<Fact<'_>> {
        let Some((field, name)) = path.split_once('.') else {
            let own = self.of_task(path).or_else(|| self.of_session_alone(path));
            let own = own.or_else(|| self.of_all(path));
            return own
                .or_else(|| self.call.and_then(|(id, when)| self.of_call_alone(id, when, path)));
        };
        match field {
            "weight" if !name.contains('.') => Some(self.of_row(name)),
            "args" => {
                let (id, _) = self.call?;
                let argument = self.state.tool_call(id)?.arguments.get(name)?;
                Some(Fact::Json(argument))
            }
            _ => self.of_name(field, name),
        }
    }
}

/// How often a tool may still be used in a task: without a plan, any number of times.
fn uses(task: &TaskState, tool: &ToolState) -> u32 {
    let name = tool.spec.name.as_str();
    if task.budget.plan.is_none() && !task.budget.set.contains_key(name) {
        return u32::MAX;
    }
    task.budget.allowed(name)
}

fn prompt(call: &ModelCallState) -> String {
    let texts: Vec<&str> = call.request.messages.iter().map(|message| message.text()).collect();
    texts.join("\n")
}

fn result<'a>(tool: Option<&'a ToolCallState>, model: Option<&'a ModelCallState>) -> Cow<'a, str> {
    if let Some(call) = tool {
        return match &call.phase {
            ToolCallPhase::Running | ToolCallPhase::Requested => "".into(),
            _ => call.observation().unwrap_or_default().into(),
        };
    }
    let reply = model.and_then(|call| call.reply());
    let partial = model.map_or("", |call| &call.partial);
    reply.map_or(partial, |reply| &reply.text).into()
}

fn milliseconds(effect: &EffectState, now: u64) -> u64 {
    effect.elapsed(now) / 1000
}

fn tokens(model: Option<&ModelCallState>) -> (u64, u64) {
    let usage = model.and_then(ModelCallState::usage);
    usage.map_or((0, 0), |usage| (usage.tokens_in, usage.tokens_out))
}
