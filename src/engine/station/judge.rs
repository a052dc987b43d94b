//! Judges whether a result helped (BTP, section 2.4): every result of every strategy is judged,
//! because judged results are the experience for later budget plans.
//!
//! Rules decide at once. A model's verdict is a model call of its own in parallel with the agent:
//! calls that depend on the result continue, and the agent's next own decision waits for it (see
//! [`Handle::verdicts`]), so that blacklist and budget plan never act on a missing verdict.

use super::{Actor, Effect, Outcome, Passage, Passing, Station, ToolCall, now};
use crate::domain::{EffectId, Request, Role, RunId, TaskId, ToolErrorKind, knob};
use crate::effect::{self, Caller};
use crate::session::lanes::Waits;
use crate::strategy::judge;
use crate::{handle::Handle, session::Session};

pub(super) struct Judge;

impl Station for Judge {
    /// A person's call belongs to no task that it could have helped.
    fn concerns(&self, actor: Actor) -> bool {
        actor != Actor::Person
    }

    fn after_edit<'a>(&'a self, passage: &'a mut Passage, outcome: &'a Outcome) -> Passing<'a, ()> {
        self.after(passage, outcome)
    }

    fn after<'a>(&'a self, passage: &'a mut Passage, outcome: &'a Outcome) -> Passing<'a, ()> {
        let call = passage.reference.id;
        let judged = |helpful: bool, why: String| {
            passage.handle.write(|session| session.judged(call, None, helpful, why));
        };
        let is_more =
            |call: &ToolCall| passage.handle.read(|session| session.state().reads_on(&call.tool));
        let is_unseen = || {
            let known = |session: &Session| session.state().tool_call(call)?.unseen;
            passage.handle.read(known).is_some()
        };
        let probes = || passage.handle.read(|session| session.state().is_probe(passage.task));
        match (&passage.effect, outcome) {
            // The call belongs to no task that it could have helped.
            (Effect::Tool(_), _) if probes() => {}
            // Nobody knows what the tool returned.
            (Effect::Tool(_), _) if is_unseen() => {}
            // No tool was used that could have helped.
            (Effect::Tool(call), _) if is_more(call) => {}
            (Effect::Tool(_), Outcome::Result(Err(error)))
                if !matches!(error.kind, ToolErrorKind::Cancelled | ToolErrorKind::Arguments) =>
            {
                judged(false, format!("it failed: {}", error.text));
            }
            (Effect::Tool(tool), Outcome::Result(Ok(output))) => {
                let said = passage
                    .handle
                    .read(|session| session.state().nulled(&tool.tool, Some(&output.text)));
                // No model is called to judge the work of a watched agent.
                let is_own = passage.actor() == Actor::Run;
                let question = || passage.handle.read(|session| question(session, call));
                match (said, is_own.then(question).flatten()) {
                    (Some(nulled), _) => judged(false, nulled.to_string()),
                    _ if passage
                        .handle
                        .read(|session| session.state().is_repeat(call, &output.text)) =>
                    {
                        judged(
                            false,
                            "it repeats an earlier call, with the same result".to_owned(),
                        );
                    }
                    (None, None) => judged(true, "it found something".to_owned()),
                    (None, Some(question)) => {
                        ask_beside(&passage.handle, passage.task, call, question);
                    }
                }
            }
            // A call that did not run, was cancelled, or had wrong arguments does not count for its tool.
            (Effect::Tool(_) | Effect::Model(_) | Effect::Embedding(_) | Effect::Reading(_), _) => {
            }
        }
        now(())
    }
}

/// The judge's request; `None` if rules judge.
fn question(session: &Session, call: EffectId) -> Option<Request> {
    if session.state().knobs.choice::<knob::Judge>() == knob::Judge::Rules {
        return None;
    }
    let made = session.state().tool_call(call)?;
    judge::question(&session.state().in_task(made.task), made)
}

/// Has a model judge, in parallel with the agent.
fn ask_beside(handle: &Handle, task: TaskId, call: EffectId, question: Request) {
    handle.write(|session| session.begin_verdict(task));
    let beside = handle.clone();
    handle.spawn(async move {
        let (evidence, parent, waits) = (None, Some(call), Waits::Nobody);
        let caller = Caller { task, evidence, parent, waits, judged: None };
        let (verdict, reply) = effect::ask(&beside, caller, Role::Judge, question).await;
        let (helpful, why) = match reply {
            Ok(reply) => judge::read(&reply.text).unwrap_or_else(|| {
                (true, "by rules: the judge's answer contains no verdict".to_owned())
            }),
            Err(error) => (true, format!("by rules: {error}")),
        };
        beside.write(|session| {
            session.judged(call, verdict, helpful, why);
            session.end_verdict(task);
        });
    });
}

impl Handle {
    /// Waits for all verdicts of models on results of this run.
    pub async fn verdicts(&self, run: RunId) {
        if self.read(|session| session.lanes().verdicts(run) == 0) {
            return;
        }
        self.write(|session| {
            session.lanes_mut().await_verdicts(run, true);
            session.settle();
        });
        self.until(|session| session.lanes().verdicts(run) == 0).await;
        self.write(|session| session.lanes_mut().await_verdicts(run, false));
    }
}
