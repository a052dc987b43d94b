//! Judged results become experience for later budget plans, once per task: a store on a disk is
//! slower than an agent's step. Embeddings of texts are stored as well, so that each text is paid
//! for once.

use jiff::Timestamp;

use super::Observer;
use crate::domain::{
    BudgetEvent, EffectId, Embedding, EmbeddingEvent, Event, Judge, Knob, Record, SessionEvent,
    State, TaskEvent, TaskId, ToolCallPhase,
};
use crate::store::experience::{SharedExperience, Use};

pub(crate) struct Remembered {
    store: SharedExperience,
    /// Judged calls of the tasks at work.
    judged: Vec<EffectId>,
}

impl Remembered {
    pub fn new(store: SharedExperience) -> Self {
        Self { store, judged: Vec::new() }
    }

    /// Stores the judged uses of these tasks. Uses spoilt by a fault are left out if `learn_injected` is off, and
    /// all uses while learning is frozen. A failure is reported, and does not end the session.
    fn remember(&mut self, state: &State, of: impl Fn(TaskId) -> bool) -> Option<SessionEvent> {
        let is_meant = |call: &EffectId| state.tool_call(*call).is_none_or(|call| of(call.task));
        let (judged, rest) = std::mem::take(&mut self.judged).into_iter().partition(is_meant);
        self.judged = rest;
        let judged: Vec<EffectId> = judged;
        if !state.knobs.is_on(Knob::Learn) {
            return None;
        }
        let misled = misled(state, &judged);
        let mut uses: Vec<Use> = Vec::with_capacity(judged.len());
        for call in judged {
            let Some(mut past) = past_use(state, call) else { continue };
            past.helpful &= misled != Some(call);
            uses.push(past);
        }
        if uses.is_empty() {
            return None;
        }
        let added = self.store.lock().add_all(&uses);
        added.err().map(|error| {
            let text = format!("could not save the uses of tools: {error}");
            SessionEvent::Noticed { text }
        })
    }

    fn keep(&mut self, text: &str, embedding: Embedding) -> Option<SessionEvent> {
        let kept = self.store.lock().keep_embeddings(&[(text, embedding)]);
        kept.err().map(|error| {
            let text = format!("could not save embeddings: {error}");
            SessionEvent::Noticed { text }
        })
    }
}

impl Observer for Remembered {
    fn on(&mut self, record: &Record, state: &State) -> Vec<Event> {
        let said = match &record.event {
            Event::Budget(BudgetEvent::Judged { call, .. }) => {
                self.judged.push(*call);
                None
            }
            Event::Task(TaskEvent::TaskFinished { task, .. }) => {
                self.remember(state, |of| of == *task)
            }
            Event::Embedding(EmbeddingEvent::EmbeddingFinished { effect, vector, .. })
                if !vector.is_empty() =>
            {
                state.embedding(effect.id).and_then(|asked| {
                    let embedding = Embedding::of_rounded(&asked.model, vector.clone());
                    self.keep(&asked.text, embedding)
                })
            }
            _ => None,
        };
        said.into_iter().map(Event::from).collect()
    }

    fn close(&mut self, state: &State) -> Vec<Event> {
        self.remember(state, |_| true).into_iter().map(Event::from).collect()
    }
}

/// The result behind a wrong answer: the last one that seemed to help. Rules see only that there is a result, so they
/// would always accept a tool with wrong results. A judge that is a model has read the result, and is trusted. Only
/// with `gold_feedback` may the agent know that the answer is wrong.
fn misled(state: &State, judged: &[EffectId]) -> Option<EffectId> {
    let rules =
        state.knobs.choice::<Judge>() == Judge::Rules && state.knobs.is_on(Knob::GoldFeedback);
    let seemed =
        |call: &&EffectId| state.tool_call(**call).is_some_and(|call| call.helpful == Some(true));
    let last = *judged.iter().rev().find(seemed).filter(|_| rules)?;
    let task = state.task(state.tool_call(last)?.task)?;
    (task.correct == Some(false) && task.answer.is_some()).then_some(last)
}

fn past_use(state: &State, call: EffectId) -> Option<Use> {
    let call = state.tool_call(call)?;
    if call.injected.is_some() && !state.knobs.is_on(Knob::LearnInjected) {
        return None;
    }
    let result = match &call.phase {
        ToolCallPhase::Done { output } => output.text.clone(),
        ToolCallPhase::Failed { error } => error.text.clone(),
        ToolCallPhase::Requested | ToolCallPhase::Running | ToolCallPhase::Refused { .. } => {
            return None;
        }
    };
    Some(Use {
        query: state.task(call.task)?.task.text.clone(),
        tool: call.tool.clone(),
        parameters: call.arguments.clone(),
        result,
        helpful: call.helpful?,
        at: Timestamp::now(),
        source: state.workspace.clone(),
    })
}
