//! Makes a scenario of a session that has run: its present settings, with its results as expectations.

use std::path::Path;

use super::Scenario;
use super::expect::{AtLeast, Expectations};
use super::expected_call::ExpectedCall;
use super::limits::Limits;
use super::observation::Observed;
use crate::config::{Config, MAX_DOLLARS};
use crate::domain::knob::KNOBS;
use crate::domain::state::Landmark;
use crate::domain::words::counted;
use crate::domain::{Knob, Opening, State, Task};
use crate::papers::resilience::{RecoveryVerdict, Resilience};
use crate::session::{PreparedSession, SessionError, SessionSpec, TaskSource, faults_so_far};
use crate::stage::Sample;

impl SessionSpec {
    /// Returns the spec with the sample or workspace of a journal's opening. A journal does not name the configuration.
    ///
    /// # Errors
    /// The workspace no longer exists.
    pub fn of_opening(opening: &Opening) -> Result<Self, String> {
        let folder = &opening.workspace;
        if let Some(sample) = Sample::titled(folder) {
            return Ok(Self { sample: Some(sample), ..Self::default() });
        }
        if !Path::new(folder).is_dir() {
            return Err(format!("the session's workspace does not exist: {folder}"));
        }
        Ok(Self { workspace: Some(folder.into()), ..Self::default() })
    }
}

/// The scenario of a session that began with this spec and has this state, which must have all its tasks.
///
/// # Errors
/// No task has ended, or an input of the session can no longer be read.
pub fn saved(base: &SessionSpec, state: &State, observed: &Observed) -> Result<Scenario, String> {
    let done = state.tasks_done;
    if done == 0 {
        return Err("no task has ended yet".to_owned());
    }
    let session = session(base, state).map_err(|error| error.to_string())?;
    let after = counted(done, "task");
    let mut about = format!("Saved from a session on {} after {after}.", state.workspace);
    let edits = state.landmarks.count(Landmark::Edited);
    if edits > 0 {
        let times = counted(edits, "time");
        about += &format!(
            " A person changed it {times} during the run; the settings are the final ones."
        );
    }
    Ok(Scenario { name: None, about: Some(about), session, expect: expected(state, observed) })
}

/// The spec of the finished part of the session, with its present settings.
fn session(base: &SessionSpec, state: &State) -> Result<SessionSpec, SessionError> {
    let done = state.tasks_done;
    let base = SessionSpec {
        journal: Default::default(),
        faults: Vec::new(),
        breakpoints: Vec::new(),
        allow: Vec::new(),
        max_dollars: None,
        tasks_limit: Some(done),
        ..base.apart()
    };
    let began = base.prepare()?;
    let configured = Config::find(base.config.as_deref()).map_err(SessionError::input)?;
    let knobs = KNOBS.iter().filter(|spec| spec.knob != Knob::Speed).filter_map(|spec| {
        let value = state.knobs.get(spec.knob);
        // Changes by the configuration are written too, so that another configuration gives the same session.
        let is_plain =
            [value, configured.knobs.get(spec.knob)].iter().all(|it| *it == spec.default);
        (!is_plain).then_some((spec.knob, value))
    });
    let roles = state.models.roles.iter().map(|(role, of)| (*role, of.model.clone()));
    let roles = roles.filter(|(role, model)| began.config.roles.get(role) != Some(model));
    let breakpoints = state.breakpoints.values().filter(|it| it.on && !it.temporary);
    let (tasks, tasks_limit) = tasks(&base, &began, state);
    Ok(SessionSpec {
        strategy: Some(state.strategy),
        seed: Some(state.seed),
        faults: faults_so_far(state),
        breakpoints: breakpoints.map(|it| it.spec.clone()).collect(),
        allow: state.approval.allow.clone(),
        max_dollars: (state.max_dollars.map(f64::from))
            .filter(|most| *most != configured.max_dollars.unwrap_or(MAX_DOLLARS)),
        roles: base.roles.clone().into_iter().chain(roles).collect(),
        knobs: knobs.collect(),
        tasks,
        tasks_limit,
        ..base
    })
}

/// The ended tasks: as a number, if they are the first ones of the same source, else as a list.
fn tasks(
    base: &SessionSpec,
    began: &PreparedSession,
    state: &State,
) -> (TaskSource, Option<usize>) {
    let ended = || state.tasks.iter().take(state.tasks_done).map(|task| &task.task);
    if began.tasks.part(0, state.tasks_done).eq(ended()) {
        return (base.tasks.clone(), Some(state.tasks_done));
    }
    // Data of a task that the workspace has need not be written.
    let short = |task: &Task| match began.workspace.tasks.contains(task) {
        true => Task::from_text(task.text.clone()),
        false => task.clone(),
    };
    (TaskSource::List(ended().map(short).collect()), None)
}

/// Expectations that the session meets, as a first version to edit.
fn expected(state: &State, observed: &Observed) -> Expectations {
    let some = |count: u64| (count > 0).then_some(AtLeast::Count(count));
    let taken = Resilience::of_session(state).map(|(_, taken)| taken.verdict);
    let recovered = match taken {
        Some(RecoveryVerdict::Recovered { after }) => Some(after as u64),
        _ => None,
    };
    let sums = observed.sums_of(state);
    Expectations {
        answered: some(observed.answered),
        right: some(observed.right),
        limits: Limits {
            used: sums.used.keys().cloned().map(ExpectedCall::Tool).collect(),
            calls: Some(sums.calls()),
            model_calls: Some(sums.model_calls),
            // Rounded up to the next cent, since sums of decimals are not exact.
            credits: Some((sums.credits * 100.0).ceil() / 100.0),
            ..Limits::default()
        },
        recovered,
        writes_once: observed.has_writes() && observed.repeats == 0,
        ..Expectations::default()
    }
}
