//! The beginning of a session: its first events, or those of a continued one.

use std::collections::BTreeSet;

use super::intervene::{CommandToMake, Interventions};
use super::{Listener, Session, seats::Seats};
use crate::domain::call_policy::{CallPolicy, CallSource};
use crate::domain::words::counted;
use crate::domain::{By, ControlEvent, EffectId, GraphEvent, Lane, Mode, Resume, SessionEvent};
use crate::observer::{
    Observer, breakpoints::KeptBreakpoints, experience::Remembered, hidden_tools::HiddenTools,
    in_text::InText, journal::Writer, learned::Learned, loops::Loops, missing_feedback::Unfed,
    pairs::Pairs, schemas::Schemas, silent_losses::Unsaid,
};
use crate::{
    beginning::{Beginning, Past, RecordSource, Rest},
    commands, faults,
    handle::Handle,
    manual_calls,
    providers::{self, ProviderListing},
    reading,
    recorded::{How, Recorded},
    setup::Setup,
    station::{self, MoneyAtStart},
};

/// The work after a past.
enum Further {
    Nothing,
    Rest(Rest),
    Fork(RecordSource, How),
}

/// Makes the first events of a session, or restores those of a continued one.
pub fn open(setup: Setup, mut listed: Vec<ProviderListing>, listener: Listener) -> Handle {
    let journal = Writer::new(setup.journal);
    let mut session = Session::new(setup.tools, setup.models, journal, setup.keeps, listener);
    session.breakpoints.seats =
        Seats { own: setup.stay, attached: setup.attached, hold: setup.hold };
    let mut observers: Vec<Box<dyn Observer>> = Vec::new();
    // A store that is kept already has the uses of a session that continues.
    let mut later: Vec<Box<dyn Observer>> = Vec::new();
    if let Some(memory) = setup.memory {
        let goes_on = matches!(
            setup.beginning,
            Beginning::Continued { rest: Some(_), .. } | Beginning::Forked { .. }
        );
        let own = if goes_on && memory.is_kept { &mut later } else { &mut observers };
        own.push(Box::new(Pairs(memory.store.clone())));
        own.push(Box::new(Remembered::new(memory.store.clone())));
        session.memory = Some(memory);
    }
    if let Some(book) = setup.classes {
        observers.push(Box::new(book));
    }
    observers.push(Box::new(Schemas::new(setup.schemas)));
    if let Some(keep) = setup.keep {
        observers.push(Box::new(Learned(keep)));
    }
    observers.push(Box::new(HiddenTools::default()));
    observers.push(Box::new(InText::default()));
    observers.push(Box::new(Loops));
    observers.push(Box::new(Unfed::default()));
    observers.push(Box::new(Unsaid::default()));
    session.log.observers = observers;
    let limit = setup.opening.max_dollars.map(Into::into);
    let mut paid = 0.0;
    session.kit.ranker = setup.ranker.or_else(|| reading::of_record(&setup.beginning));
    let (faults, breakpoints) = (setup.faults, setup.breakpoints);
    let own = Interventions { faults, breakpoints, commands: Vec::new() };
    let (continued, at_once) = begin(&mut session, setup.beginning, own, setup.stay);
    let unlisted = session.take_lists(&mut listed);
    let told: Vec<_> = listed.iter_mut().flat_map(|listed| listed.told.drain(..)).collect();
    if let Some((past, further)) = continued {
        let before = past.state().n;
        session.queue.tasks = setup.tasks;
        session.take_up(past);
        session.tell_held();
        // Calls by hand may outlast a task.
        session.abandon_all("toolyard ended before the call did");
        told.into_iter().for_each(|event| session.emit(event));
        session.tell_difference();
        for text in unlisted {
            session.emit(SessionEvent::Noticed { text });
        }
        session.log.observers.extend(later);
        match further {
            Further::Nothing => {}
            Further::Rest(rest) => paid = session.go_on(rest, setup.opening.paused),
            Further::Fork(of, how) => {
                session.tell_new_models();
                let how = How { later: session.state.n.saturating_sub(before), ..how };
                session.recorded = Recorded::new(of, Some(&session.state), how);
            }
        }
    } else {
        session.emit(SessionEvent::SessionOpened { opening: Box::new(setup.opening) });
        session.open_runs(setup.runs);
        let scores = setup.scores.into_iter().map(|(tool, score)| (tool, score.into())).collect();
        session.emit(GraphEvent::GraphLoaded { graph: setup.graph, scores });
        told.into_iter().for_each(|event| session.emit(event));
        session.join_all();
        for text in unlisted.into_iter().chain(setup.notices) {
            session.emit(SessionEvent::Noticed { text });
        }
        session.queue.tasks = setup.tasks;
        session.queue_part();
        session.begin_with(at_once);
    }
    // The initial breakpoints are saved already.
    if let Some(keep) = setup.keep_breakpoints {
        session.log.observers.push(Box::new(KeptBreakpoints(keep)));
    }
    session.sync();
    session.tell_reader();
    let spent = session.state.dollars_spent();
    let tells = setup.tells_dollars.filter(|most| limit.is_none() && spent <= *most);
    let money = MoneyAtStart { paid, limit, share: setup.purse, tells };
    let handle = Handle::new(session, station::stations(setup.stations, money));
    listed.into_iter().for_each(|listed| providers::watch(&handle, listed));
    manual_calls::watch(&handle);
    reading::watch(&handle);
    handle.spawn(faults::end_in_time(handle.clone()));
    handle
}

/// Takes up a record. Returns the past, if there is one, and what to begin with. `own`: what a person wants from the start
/// or from the point of a fork on; a record contains its own.
fn begin(
    session: &mut Session,
    beginning: Beginning,
    own: Interventions,
    stay: bool,
) -> (Option<(Past, Further)>, Interventions) {
    match beginning {
        Beginning::New => (None, own),
        Beginning::Over { of, until } => {
            let calls =
                until.map_or_else(CallPolicy::default, |_| CallPolicy::all(CallSource::Live));
            let holds_then = until.is_some() && stay;
            let how = How { until, calls, holds_then, ..How::default() };
            session.recorded = Recorded::new(of, None, how);
            session.after_fork = own;
            (None, Interventions::default())
        }
        Beginning::Continued { past, rest } => {
            let rest = rest.map_or(Further::Nothing, Further::Rest);
            (Some((past, rest)), Interventions::default())
        }
        Beginning::Forked { past, of, point } => {
            let commands = point.commands.into_iter().map(|command| -> CommandToMake {
                Box::new(move |session| commands::make(session, command))
            });
            session.after_fork = Interventions { commands: commands.collect(), ..own };
            let how = How {
                until: Some(point.at),
                calls: point.calls,
                holds_then: stay,
                ..How::default()
            };
            (Some((past, Further::Fork(of, how))), Interventions::default())
        }
    }
}

impl Session {
    /// Reports which calls of watched agents were held when the session ended: their agents did not get them.
    fn tell_held(&mut self) {
        let state = self.state();
        let told = state.control.held.iter().filter_map(|hold| {
            let Lane::Effect(id) = hold.lane else { return None };
            let name = match (state.tool_call(id), state.model_call(id)) {
                (Some(call), _) => call.tool.as_str(),
                (None, Some(call)) => call.model.as_str(),
                (None, None) => return None,
            };
            let what = format!("{name}, call {id}, {}", hold.boundary.name());
            state.is_of_guest(id).then(|| format!("held when toolyard ended: {what}"))
        });
        let told: Vec<String> = told.collect();
        told.into_iter().for_each(|text| self.emit(SessionEvent::Noticed { text }));
    }

    /// Reports the models that the session of the past did not have.
    fn tell_new_models(&mut self) {
        let known = &self.state.models.known;
        let all = self.models.by_name.values().map(|model| model.spec());
        let new = all.filter(|spec| !known.contains_key(&spec.name));
        let models: Vec<_> = new.cloned().collect();
        if !models.is_empty() {
            self.emit(SessionEvent::ModelsAdded { models });
        }
    }

    /// Continues after the past of an interrupted session. With `paused`, it is held only after the record has been
    /// repeated. Returns the cost of the answers in the record, in US dollars.
    pub fn go_on(&mut self, rest: Rest, paused: bool) -> f64 {
        let Rest { records: rest, repeats_unknown } = rest;
        let before = self.state.n;
        let mut with_rest = self.state.clone();
        rest.iter().for_each(|record| with_rest.apply(record));
        let paid = with_rest.dollars_spent() - self.state.dollars_spent();
        self.let_all_go();
        let by = By::Engine;
        // The record is repeated without a hold; the person decides from there on.
        let holds_then = paused && !rest.is_empty();
        match (paused && !holds_then, self.state.control.mode) {
            (true, Mode::Running | Mode::Stepping | Mode::SteppingTask) => {
                self.intervene(ControlEvent::PauseRequested { by, run: None });
            }
            (true, _) => {}
            // Each run may have its own hold.
            (false, Mode::Running) if self.state.control.modes.is_empty() => {}
            (false, _) => self.intervene(ControlEvent::Resumed { how: Resume::Run, by, run: None }),
        }
        let calls = rest.iter().filter_map(|record| record.event.effect());
        let calls: BTreeSet<EffectId> = calls.map(|effect| effect.id).collect();
        let text = match calls.len() {
            0 => "session resumed".to_owned(),
            n => format!(
                "session resumed: {} of its current task are in the record",
                counted(n, "call")
            ),
        };
        self.emit(SessionEvent::Noticed { text });
        let later = self.state.n.saturating_sub(before);
        let how = How { later, is_resumed: true, holds_then, repeats_unknown, ..How::default() };
        self.recorded = Recorded::new(rest.into(), Some(&self.state), how);
        paid
    }
}
