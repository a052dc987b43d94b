//! Chooses the armed fault that hits a call, and disarms faults that are over.
//!
//! The choice is made when a call is requested, in the order in which the reply or the plan lists the calls, so that it
//! does not matter which one runs first. Only faults armed since then are considered when the call starts.

use std::time::Duration;

use tokio::time::timeout;

use super::{fault_choice::FaultChoice, handle::Handle, session::Session};
use crate::domain::breakpoint::When;
use crate::domain::expression::{Evaluator, Resolver};
use crate::domain::fault::{Drift, FaultProgress, Occasion};
use crate::domain::{
    By, Chance, EffectId, FaultEvent, FaultId, FaultKind, FaultState, TaskId, ToolName,
};
use crate::papers::facts::Facts;

impl Session {
    /// Lets armed faults decide about a call, unless they have already done so.
    pub fn choose_fault(
        &mut self,
        (call, task): (EffectId, TaskId),
        chance: Chance,
        choice: &mut FaultChoice,
    ) {
        if self.state().faults_armed() == 0 {
            return;
        }
        for fault in self.faults_that_match(call) {
            if choice.known.contains(&fault) {
                continue;
            }
            choice.known.push(fault);
            let Some(known) = self.state().faults.get(&fault) else { continue };
            let chance = chance.with(b"fault").with(&fault.0.to_le_bytes());
            let now = self.progress_of(known, task);
            let progress = FaultProgress { seen: now.seen.saturating_add(1), ..now };
            let fires = choice.hits.is_none() && known.spec.fires(&Occasion { progress, chance });
            choice.hits = choice.hits.or(fires.then_some(fault));
            self.emit(FaultEvent::FaultMatched { fault, call, fires });
        }
        self.end_faults();
    }

    /// Whether the chosen fault still hits its call: a person may have disarmed it since.
    pub fn fault_that_hits(&self, choice: &FaultChoice) -> Option<(FaultId, &FaultState)> {
        let fault = choice.hits?;
        let known = self.state().faults.get(&fault)?;
        (known.armed || known.is_over).then_some((fault, known))
    }

    /// The armed faults of a call's target whose conditions hold.
    fn faults_that_match(&self, call: EffectId) -> Vec<FaultId> {
        let holds = |known: &FaultState| {
            let Some(condition) = &known.spec.trigger.condition else { return true };
            let facts = Facts::of_call(self.state(), call, When::Before);
            Evaluator::new(&Resolver(&facts)).holds(condition)
        };
        let matching = self.state().faults_on(call).filter(|(_, known)| holds(known));
        matching.map(|(fault, _)| fault).collect()
    }

    fn progress_of(&self, fault: &FaultState, task: TaskId) -> FaultProgress {
        let since = |at: u64| self.now().saturating_sub(at);
        FaultProgress {
            task: task.0,
            seen: fault.seen,
            chosen: fault.chosen,
            elapsed: since(fault.armed_at),
            since_first: fault.first_at.map(since),
        }
    }

    /// The kind of the fault that has hit an effect.
    pub fn hit_by(&self, effect: EffectId) -> Option<&FaultKind> {
        let fault = self.state().effect(effect)?.injected?;
        self.state().faults.get(&fault).map(|known| &known.spec.kind)
    }

    /// The change to the server's list of tools from this call on, if faults change lists; the inner `None`: the
    /// original list, once none of these faults is armed.
    pub fn list_change(&self, call: EffectId) -> Option<Option<Drift>> {
        if let Some(FaultKind::ChangedList { change }) = self.hit_by(call) {
            return Some(Some(*change));
        }
        self.has_lists_back().then_some(None)
    }

    /// Whether faults have changed lists, and none of them is armed.
    fn has_lists_back(&self) -> bool {
        let of_lists =
            |known: &&FaultState| matches!(known.spec.kind, FaultKind::ChangedList { .. });
        let mut of_lists = self.state().faults.values().filter(of_lists).peekable();
        of_lists.peek().is_some() && of_lists.all(|known| !known.armed)
    }

    /// Makes the server of a called tool list it as the faults require.
    pub fn relist(&self, call: EffectId, tool: &ToolName) {
        if let Some(change) = self.list_change(call) {
            let change = change.map(|change| (tool, change));
            self.kit().providers.iter().for_each(|(provider, _)| provider.relist(change));
        }
    }

    /// Makes all servers list their tools unchanged, once no fault changes lists.
    pub fn list_back(&self) {
        if self.has_lists_back() {
            self.kit().providers.iter().for_each(|(provider, _)| provider.relist(None));
        }
    }

    /// Disarms the faults that can never fire again.
    pub fn end_faults(&mut self) {
        let shown = || self.state().shown_task().map_or(TaskId(0), |task| task.id);
        let task = self.state().at_work.tasks().min().unwrap_or_else(shown);
        let is_over =
            |known: &FaultState| known.armed && known.spec.is_over(&self.progress_of(known, task));
        let over = self.state().faults.iter().filter(|(_, known)| is_over(known));
        let over: Vec<FaultId> = over.map(|(fault, _)| *fault).collect();
        for fault in over {
            self.emit(FaultEvent::FaultDisarmed { fault, by: By::Engine });
            self.list_back();
        }
    }

    /// The time in microseconds of the session when the next fault ends by itself.
    fn next_end(&self) -> Option<u64> {
        let armed = self.state().faults.values().filter(|known| known.armed);
        armed.filter_map(FaultState::ends_at).min()
    }
}

/// Disarms faults when their time is over; never ends.
pub async fn end_in_time(handle: Handle) {
    loop {
        let (next, now) = handle.read(|session| (session.next_end(), session.now()));
        let Some(end) = next else {
            handle.until(|session| session.next_end().is_some()).await;
            continue;
        };
        let left = Duration::from_micros(end.saturating_sub(now));
        let other = handle.until(|session| session.next_end() != Some(end));
        if timeout(left, other).await.is_err() {
            handle.write(Session::end_faults);
        }
    }
}
