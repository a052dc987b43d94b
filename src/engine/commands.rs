//! Turns a command into an event, or refuses it with a reason.

use super::{handle::Handle, session::Session};
use crate::domain::{
    By, ChangeEvent, Command, ControlEvent, EffectId, EffectState, Event, FaultEvent, FaultId,
    FaultSpec, GraphEvent, Knob, Lane, Matter, Mode, NO_EMBEDDING, Resume, RunId, Scores,
    SessionEvent, Target, ToolName, ToolState, Undoable,
};

/// Handles a command or refuses it. Its event is on the disk afterwards.
pub(super) fn handle(handle: &Handle, command: Command) {
    handle.write(|session| {
        make(session, command);
        session.sync();
    });
}

/// Makes the event of a command, or that of its refusal.
pub(super) fn make(session: &mut Session, command: Command) {
    let name = command.name();
    if let Err(why) = apply(session, command, By::User) {
        session.emit(SessionEvent::CommandRefused { command: name.to_owned(), why });
    }
}

fn apply(session: &mut Session, command: Command, by: By) -> Result<(), String> {
    if let Some(why) = matter(&command).and_then(|matter| session.state().cannot(matter)) {
        return Err(why.to_owned());
    }
    match command {
        // The loop itself handles these.
        Command::Stop | Command::StopBecause { .. } | Command::ProbeModels => {}
        Command::Cancel(effect) => cancel(session, effect)?,
        Command::CallTool { tool, arguments } => session.call_by_hand(tool, arguments)?,
        Command::ReloadTools => session.reload_tools()?,
        Command::Undo => undo(session)?,
        Command::Redo => redo(session)?,
        Command::AllowTool { effect } => {
            session.allow_tool(effect, by)?.into_iter().for_each(|it| session.intervene(it));
        }
        Command::RunTo { spec } => {
            session.run_to(*spec, by)?.into_iter().for_each(|it| session.intervene(it));
        }
        command => {
            let event = event(session, command, by)?;
            let turned = matches!(
                event,
                Event::Change(ChangeEvent::KnobTurned { knob: Knob::Retrieve, .. })
            );
            session.intervene(event);
            if turned {
                session.tell_reader();
            }
        }
    }
    Ok(())
}

/// The matter that a command changes, if not every agent has it; `None` if the command works for any agent.
fn matter(command: &Command) -> Option<Matter> {
    Some(match command {
        Command::UseStrategy { .. } => Matter::Strategy,
        Command::BindRole { .. } => Matter::Models,
        Command::TurnKnob { knob, .. } | Command::TurnKnobBy { knob, .. } => Matter::Knob(*knob),
        Command::QueueTask { .. }
        | Command::QueueNext { .. }
        | Command::QueueAgain
        | Command::PutTasks { .. }
        | Command::RemoveTasks { .. }
        | Command::MoveTask { .. }
        | Command::MoveTaskBy { .. }
        | Command::RunNext { .. }
        | Command::SkipTask { .. }
        | Command::FollowUp { .. } => Matter::Tasks,
        Command::PinWeight { .. }
        | Command::UnpinWeight { .. }
        | Command::SwitchTool { .. }
        | Command::SetClass { .. }
        | Command::SetUses { .. }
        | Command::AddUses { .. } => Matter::Menus,
        Command::CallTool { .. } | Command::Probe { .. } | Command::ReloadTools => Matter::Tools,
        _ => return None,
    })
}

/// The event of a command.
///
/// # Errors
/// Why it is refused.
fn event(session: &Session, command: Command, by: By) -> Result<Event, String> {
    let state = session.state();
    Ok(match command {
        Command::Run => return resume(session, Resume::Run, None, by),
        Command::Step => return resume(session, Resume::Step, None, by),
        Command::StepTask => return resume(session, Resume::Task, None, by),
        Command::Pause => return pause(session, None, by),
        Command::ResumeRun { run, how } => return resume(session, how, Some(run), by),
        Command::PauseRun { run } => return pause(session, Some(run), by),
        Command::PauseLane(lane) => pause_lane(session, lane, by)?,
        Command::ResumeLane(lane) => resume_lane(session, lane, by)?,
        Command::SetClass { tool, class } => session.set_class(tool, class, by)?,
        Command::QueueTask { text } => session.queue_text(&text, session.next_task(), by)?,
        Command::QueueNext { text } => session.queue_text(&text, session.front(), by)?,
        Command::QueueAgain => session.queue_again(by)?,
        Command::PutTasks { first, tasks } => session.put(first, tasks, by)?,
        Command::RemoveTasks { first, tasks } => session.unqueue(first, tasks, by)?,
        Command::MoveTask { task, to } => session.move_task(task, to, by)?,
        Command::MoveTaskBy { task, by: places } => session.move_task_by(task, places, by)?,
        Command::RunNext { task } => session.run_next(task, by)?,
        Command::SkipTask { task } => session.skip_task(task, by)?,
        Command::FollowUp { task, text } => session.follow_up(task, &text, by)?,
        Command::UseStrategy { strategy } => {
            ChangeEvent::StrategyChosen { strategy, was: state.strategy, by }.into()
        }
        Command::UseSeed { seed } => ChangeEvent::SeedChosen { seed, was: state.seed, by }.into(),
        Command::TurnKnob { knob, value } => turn(session, knob, value, by)?,
        Command::TurnKnobBy { knob, steps } => turn_by(session, knob, steps, by)?,
        Command::BindRole { role, model } => {
            if session.model(&model).is_none() {
                return Err(format!("model {model} is not configured"));
            }
            let bound = state.models.roles.get(&role);
            let was = bound.map_or_else(|| model.clone(), |bound| bound.model.clone());
            ChangeEvent::RoleBound { role, model, was, by }.into()
        }
        Command::SetScore { tool, score } => set_score(session, tool, score, by)?,
        Command::AddScore { tool, by: more } => {
            let score = state.learning.score(&tool) + more;
            set_score(session, tool, score, by)?
        }
        Command::ForgetScore { tool } => set_score(session, tool, 0.0, by)?,
        Command::PinWeight { from, to, weight } => pin(session, from, to, weight, by)?,
        Command::UnpinWeight { from, to } => {
            let was = state.learning.pins.get(from.as_str(), to.as_str());
            let was = was.ok_or_else(|| format!("the weight {from} → {to} is not pinned"))?;
            GraphEvent::WeightUnpinned { from, to, was: was.into(), by }.into()
        }
        Command::ArmFault { spec } => arm(session, spec, by)?,
        Command::DisarmFault { fault } => disarm(session, fault, by)?,
        Command::RearmFault { fault } => rearm(session, fault, by)?,
        Command::EditCall { effect, edit, shown } => session.edit_call(effect, *edit, shown, by)?,
        Command::EditPast { effect, text } => session.edit_past(effect, text, by)?,
        Command::AnswerCall { effect, text } => session.answer_call(effect, text, by)?,
        Command::RepeatCall { effect } => session.repeat_call(effect, by)?,
        Command::Consent { effect, allowed } => session.decide(effect, allowed, by)?,
        Command::SetApproval { approval } => session.set_approval(*approval, by)?,
        Command::SetBreakpoint { breakpoint, spec, on } => {
            session.set_breakpoint(breakpoint, *spec, on, by)?
        }
        Command::SwitchBreakpoint { breakpoint, on } => {
            session.switch_breakpoint(breakpoint, on, by)?
        }
        Command::DeleteBreakpoint { breakpoint } => session.delete_breakpoint(breakpoint, by)?,
        Command::AskProgram { task, asked } => session.ask_program(task, asked, by)?,
        Command::EditProgram { task, text } => session.edit_program(task, &text, by)?,
        Command::TakeProgramBack { task, to } => session.take_program_back(task, to, by)?,
        Command::SwitchTool { tool, on } => {
            if known_tool(session, &tool)?.switched_on == on {
                let how = if on { "on" } else { "off" };
                return Err(format!("{tool} is {how} already"));
            }
            ChangeEvent::ToolSwitched { tool, on, by }.into()
        }
        Command::AcceptDefinition { tool, hash } => session.accept_definition(tool, hash, by)?,
        Command::SetUses { tool, uses } => session.set_uses(tool, uses, by)?,
        Command::AddUses { tool, by: more } => session.add_uses(tool, more, by)?,
        Command::Probe { tools } => session.queue_probe(tools, by)?,
        // These commands have no event of their own.
        Command::Stop
        | Command::StopBecause { .. }
        | Command::ProbeModels
        | Command::Cancel(_)
        | Command::CallTool { .. }
        | Command::ReloadTools
        | Command::Undo
        | Command::Redo
        | Command::AllowTool { .. }
        | Command::RunTo { .. } => return Err("the command makes no event".to_owned()),
    })
}

fn pause_lane(session: &Session, lane: Lane, by: By) -> Result<Event, String> {
    if !session.lanes().live().any(|live| live == lane) {
        return Err(format!("{lane} is idle"));
    }
    if session.state().control.paused_lanes.contains(&lane) {
        return Err(format!("{lane} is paused already"));
    }
    Ok(ControlEvent::LanePaused { lane, by }.into())
}

fn resume_lane(session: &Session, lane: Lane, by: By) -> Result<Event, String> {
    if !session.state().control.paused_lanes.contains(&lane) {
        return Err(format!("{lane} is not paused"));
    }
    Ok(ControlEvent::LaneResumed { lane, by }.into())
}

/// The mode of this run, or of all.
fn mode(session: &Session, run: Option<RunId>) -> Result<Mode, String> {
    let state = session.state();
    match run {
        Some(run) if !state.all_runs().any(|known| known == run) => {
            Err(format!("there is no run {run}"))
        }
        Some(run) => Ok(state.control.mode_of(run)),
        None => Ok(state.control.mode),
    }
}

fn resume(session: &Session, how: Resume, run: Option<RunId>, by: By) -> Result<Event, String> {
    match (mode(session, run)?, how) {
        (Mode::Ended, _) => return Err("the session has ended".to_owned()),
        (Mode::Running, Resume::Run)
            if run.is_some() || session.state().control.modes.is_empty() =>
        {
            return Err(format!("{} is running already", agent(run)));
        }
        _ => {}
    }
    Ok(ControlEvent::Resumed { how, by, run }.into())
}

pub(super) fn pause(session: &Session, run: Option<RunId>, by: By) -> Result<Event, String> {
    let control = &session.state().control;
    // A run that was resumed alone is paused together with all others.
    let goes_on =
        |mode: &&Mode| matches!(mode, Mode::Running | Mode::Stepping | Mode::SteppingTask);
    let alone = control.modes.values().find(goes_on).filter(|_| run.is_none());
    match alone.copied().map_or_else(|| mode(session, run), Ok)? {
        Mode::Ended => return Err("the session has ended".to_owned()),
        Mode::Opening => return Err("the session is not open yet".to_owned()),
        Mode::Paused => return Err(format!("{} is paused already", agent(run))),
        Mode::Pausing => {
            return Err(format!(
                "{} is pausing; running calls must reach a boundary first",
                agent(run)
            ));
        }
        Mode::Running | Mode::Stepping | Mode::SteppingTask => {}
    }
    Ok(ControlEvent::PauseRequested { by, run }.into())
}

/// Names the target of a pause or resume: one run, or the agent.
fn agent(run: Option<RunId>) -> String {
    run.map_or_else(|| "the agent".to_owned(), |run| format!("run {run}"))
}

fn cancel(session: &Session, effect: EffectId) -> Result<(), String> {
    let is_over = session.state().effect(effect).is_some_and(EffectState::is_over);
    let flight = session.lanes().flight(effect).filter(|_| !is_over);
    flight.ok_or("the call is not in flight")?.cancel.cancel();
    Ok(())
}

fn turn(session: &Session, knob: Knob, value: f64, by: By) -> Result<Event, String> {
    let value = knob.spec().check(value)?;
    let was = session.state().knobs.get(knob);
    if value == was {
        return Err(format!("{knob} is {} already", knob.spec().show(was)));
    }
    Ok(ChangeEvent::KnobTurned { knob, value: value.into(), was: was.into(), by }.into())
}

fn turn_by(session: &Session, knob: Knob, steps: i32, by: By) -> Result<Event, String> {
    let spec = knob.spec();
    let was = session.state().knobs.get(knob);
    let mut value = spec.turned(was, steps);
    let turned = value - was;
    // From the highest speed nobody means the lowest: keys may come faster than the screen follows.
    if knob == Knob::Speed && turned * f64::from(steps) < 0.0 {
        value = was;
    }
    if value == was {
        return Err(format!("{knob} is at its limit: it takes {}", spec.range()));
    }
    turn(session, knob, value, by)
}

fn known_tool<'a>(session: &'a Session, tool: &ToolName) -> Result<&'a ToolState, String> {
    session.state().tools.get(tool).ok_or_else(|| format!("there is no tool {tool}"))
}

fn set_score(session: &Session, tool: ToolName, score: f64, by: By) -> Result<Event, String> {
    // `end` has a score like a tool (ToolNet, eq. 7 sums over all successors).
    if tool.as_str() != ToolName::END {
        known_tool(session, &tool)?;
    }
    if score.is_nan() || score.abs() > Scores::MAX {
        return Err(format!(
            "invalid score {score}; expected a number from -{0} to {0}",
            Scores::MAX
        ));
    }
    let was = session.state().learning.score(&tool);
    Ok(GraphEvent::ScoreSet { tool, score: score.into(), was: was.into(), by }.into())
}

fn pin(
    session: &Session,
    from: ToolName,
    to: ToolName,
    weight: f64,
    by: By,
) -> Result<Event, String> {
    for end in [&from, &to].into_iter().filter(|end| !end.is_special()) {
        known_tool(session, end)?;
    }
    if !(0.0..=1.0).contains(&weight) {
        return Err(format!("invalid weight {weight}; expected a number from 0 to 1"));
    }
    if !session.state().learning.graph.has_edge(from.as_str(), to.as_str()) {
        return Err(format!("there is no edge {from} → {to}"));
    }
    let was = session.state().learning.pins.get(from.as_str(), to.as_str());
    Ok(GraphEvent::WeightPinned { from, to, weight: weight.into(), was: was.map(Into::into), by }
        .into())
}

fn arm(session: &Session, spec: FaultSpec, by: By) -> Result<Event, String> {
    session.state().check_fault(&spec)?;
    if spec.target == Target::Embedding && !session.can_embed() {
        return Err(NO_EMBEDDING.to_owned());
    }
    let fault = session.next_fault();
    Ok(FaultEvent::FaultArmed { fault, spec, by }.into())
}

fn disarm(session: &Session, fault: FaultId, by: By) -> Result<Event, String> {
    match session.state().faults.get(&fault) {
        Some(known) if known.armed => Ok(FaultEvent::FaultDisarmed { fault, by }.into()),
        Some(_) => Err(format!("fault {fault} is not armed")),
        None => Err(format!("there is no fault {fault}")),
    }
}

fn rearm(session: &Session, fault: FaultId, by: By) -> Result<Event, String> {
    let known =
        session.state().faults.get(&fault).ok_or_else(|| format!("there is no fault {fault}"))?;
    if known.armed {
        return Err(format!("fault {fault} is armed already"));
    }
    let spec = known.spec.clone();
    Ok(FaultEvent::FaultArmed { fault, spec, by }.into())
}

fn undo(session: &mut Session) -> Result<(), String> {
    let changes = session.state().control.changes.undo.clone();
    take_back(session, changes, By::Undo).unwrap_or_else(|| Err("nothing to undo".to_owned()))
}

fn redo(session: &mut Session) -> Result<(), String> {
    let changes = session.state().control.changes.redo.clone();
    take_back(session, changes, By::Redo).unwrap_or_else(|| Err("nothing to redo".to_owned()))
}

/// Takes back the latest of these changes that can still be taken back. Changes that cannot be taken back any more
/// (e.g. their tool was removed) are skipped. `None` without a change.
fn take_back(
    session: &mut Session,
    changes: Vec<Undoable>,
    by: fn(u64) -> By,
) -> Option<Result<(), String>> {
    let mut refused = None;
    for change in changes.into_iter().rev() {
        match apply(session, change.back()?, by(change.n)) {
            Ok(()) => return Some(Ok(())),
            Err(why) => refused = refused.or(Some(why)),
        }
    }
    refused.map(Err)
}
