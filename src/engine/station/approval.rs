//! Asks a person for consent to tool calls that may change something: a breakpoint with a default action. Without a
//! person such a call is refused, unless a rule allows it.

use std::{cell::RefCell, collections::BTreeSet};

use super::{Actor, Effect, Passage, Passing, Station, StationVerdict, later, now};
use crate::domain::approval::{Approval, Consent, Rule};
use crate::domain::breakpoint::{BreakpointPlace, When};
use crate::domain::expression::{Evaluator, Expression, Resolver};
use crate::domain::{
    Boundary, By, ConsentEvent, ControlEvent, EffectId, Event, Refusal, SessionEvent, ToolName,
};
use crate::effect;
use crate::papers::facts::Facts;
use crate::session::Session;

/// Why a person must consent to a call that ran when its session was interrupted.
const UNKNOWN: &str = "its outcome is unknown";
/// Why a call is refused without a person.
const NOBODY: &str = "not made: it needs a person's consent, and no person is present";

#[derive(Default)]
pub(super) struct Approve {
    /// Tools for which a notice already said that nobody can be asked.
    told: RefCell<BTreeSet<ToolName>>,
}

impl Station for Approve {
    fn before<'a>(&'a self, passage: &'a mut Passage) -> Passing<'a, StationVerdict> {
        let Effect::Tool(call) = &passage.effect else { return now(StationVerdict::Go) };
        // The tools of a guest run elsewhere, and it asks for consent itself. A relay can keep them from running.
        if passage.actor() == Actor::Guest && !passage.effect.is_relayed() {
            return now(StationVerdict::Go);
        }
        if passage.handle.read(|session| session.state().is_unknown(passage.reference.id)) {
            return self.after_interruption(passage);
        }
        // A person's own call needs no other consent, and reading on touches nothing outside.
        let is_own = passage.actor() == Actor::Person;
        if is_own || passage.handle.read(|session| session.state().reads_on(&call.tool)) {
            return now(StationVerdict::Go);
        }
        // A call that the record answers is not made.
        if passage.handle.read(|session| is_recorded(session, passage)) {
            return now(StationVerdict::Go);
        }
        let id = passage.reference.id;
        let (consent, rule) =
            passage.handle.read(|session| session.consent_to(id, passage.effect.is_relayed()));
        match consent {
            Consent::Allow => now(StationVerdict::Go),
            Consent::Deny => {
                now(refused(format!("{} may not be called: {rule} is denied", call.tool)))
            }
            Consent::Ask if !passage.handle.read(Session::has_person) => {
                self.tell(passage, &call.tool, &rule);
                now(refused(NOBODY.to_owned()))
            }
            Consent::Ask => {
                let tool = call.tool.clone();
                later(self.wait(passage, tool, rule))
            }
        }
    }
}

impl Approve {
    /// Asks whether to repeat a call that may have changed something already, also if the agent itself repeats it.
    fn after_interruption<'a>(&'a self, passage: &'a mut Passage) -> Passing<'a, StationVerdict> {
        let Effect::Tool(call) = &passage.effect else { return now(StationVerdict::Go) };
        let tool = call.tool.clone();
        if passage.handle.read(|session| session.recorded().how().repeats_unknown) {
            return now(StationVerdict::Go);
        }
        if !passage.handle.read(Session::has_person) {
            return now(refused(format!(
                "not repeated: the session was interrupted while {tool} ran, its outcome is unknown, and no person is \
                 present"
            )));
        }
        later(self.wait(passage, tool, UNKNOWN.to_owned()))
    }

    /// Reports once for each tool why its calls are refused, and what allows them.
    fn tell(&self, passage: &Passage, tool: &ToolName, rule: &str) {
        if self.told.borrow_mut().insert(tool.clone()) {
            let server = passage.handle.read(|session| {
                let spec = session.kit().tools.spec(tool.as_str());
                spec.and_then(|spec| spec.mcp_server().map(str::to_owned))
            });
            let or = match server {
                Some(server) => format!("`--allow mcp:{server}` those of all tools of its server"),
                None => {
                    "as does `effect = \"read\"` in the manifest of a tool that changes nothing"
                        .to_owned()
                }
            };
            let text = format!(
                "calls of {tool} are refused: {rule} needs consent, and there is no screen; `--allow {tool}` \
                 allows them, {or}"
            );
            passage.handle.emit(SessionEvent::Noticed { text });
        }
    }

    async fn wait(&self, passage: &mut Passage, tool: ToolName, rule: String) -> StationVerdict {
        match ask(passage, rule).await {
            // The state may have changed meanwhile.
            Some(true) => StationVerdict::Again,
            Some(false) => refused(format!("a person refused this call of {tool}")),
            None => refused(NOBODY.to_owned()),
        }
    }
}

/// Holds a tool call until a person has decided whether it is made. `None`: the person has left.
pub(super) async fn ask(passage: &Passage, rule: String) -> Option<bool> {
    let (effect, lane) = (passage.reference, passage.reference.lane());
    passage.handle.write(|session| {
        session.emit(ConsentEvent::ConsentAsked { effect, rule });
        session.emit(ControlEvent::Held { lane, boundary: Boundary::BeforeToolCall });
        session.settle();
    });
    tokio::select! {
        biased;
        () = passage.handle.until(|session| session.lanes().consent(effect.id).is_some()) => {}
        _ = passage.handle.read(Session::left) => {}
    }
    passage.handle.write(|session| {
        session.emit(ControlEvent::Released { lane });
        session.lanes().consent(effect.id)
    })
}

/// Whether the record of a fork answers this call, in place of its tool.
fn is_recorded(session: &Session, passage: &Passage) -> bool {
    let recorded = session.recorded();
    let Passage { reference, task, effect, .. } = passage;
    recorded.how().until.is_some()
        && recorded.answers()
        && recorded
            .has_left(session.state().run_of(*task), &effect::requested(*reference, *task, effect))
}

fn refused(why: String) -> StationVerdict {
    StationVerdict::refuse((Refusal::Denied, why))
}

impl Session {
    /// The consent to a tool call, and the rule that decides it.
    fn consent_to(&self, id: EffectId, is_relayed: bool) -> (Consent, String) {
        let state = self.state();
        if state.approval.is_empty() || self.lanes().consent(id) == Some(true) {
            return (Consent::Allow, String::new());
        }
        let Some(at) = state.place_of(id, When::Before, &[]) else {
            return (Consent::Allow, String::new());
        };
        // Most rules have no condition, and then nothing is needed to evaluate one.
        let holds = |condition: &Expression| {
            let facts = Facts::of_call(state, id, When::Before);
            Evaluator::new(&Resolver(&facts)).holds(condition)
        };
        let (consent, rule) = state.approval.of(&at, holds);
        // The effects of a watched agent's tools are never known, and the agent asks for consent itself.
        if is_relayed && rule.is_some_and(|rule| *rule == Rule::of_unknown()) {
            return (Consent::Allow, String::new());
        }
        (consent, rule.map_or_else(String::new, ToString::to_string))
    }

    /// Sets which tool calls need consent.
    pub fn set_approval(&self, approval: Approval, by: By) -> Result<Event, String> {
        let was = Box::new(self.state().approval.clone());
        if *was == approval {
            return Err("these rules are already set".to_owned());
        }
        Ok(ConsentEvent::ApprovalSet { approval: Box::new(approval), was, by }.into())
    }

    /// Allows a call that waits for consent, and all later ones of its tool.
    pub fn allow_tool(&self, id: EffectId, by: By) -> Result<[Event; 2], String> {
        let call = self.state().tool_call(id).ok_or_else(|| format!("there is no call {id}"))?;
        let rule = Rule { place: BreakpointPlace::tool(call.tool.clone()), condition: None };
        let mut approval = self.state().approval.clone();
        approval.allow.push(rule);
        Ok([self.set_approval(approval, by)?, self.decide(id, true, by)?])
    }

    /// Decides on a call that waits for consent.
    pub fn decide(&self, id: EffectId, allowed: bool, by: By) -> Result<Event, String> {
        if !self.state().control.asks.contains(&id) {
            return Err(format!("call {id} is not waiting for consent"));
        }
        let effect = self.state().effect(id).ok_or("there is no such call")?.reference();
        Ok(ConsentEvent::ConsentGiven { effect, allowed, by }.into())
    }
}
