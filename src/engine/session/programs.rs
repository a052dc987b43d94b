//! Where the program of a task stops, a person's requests to it, and the time of day that it receives.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use super::{Session, breakpoints::AskedOf};
use crate::domain::breakpoint::BreakpointPlace;
use crate::domain::program::{Back, Extra, LineStop, Moment, ProgramQuestion, StopRequest, Stops};
use crate::domain::{
    Boundary, By, Event, Lane, Mode, ProgramEvent, RunId, TaskId, ToolCallState, ToolName,
};
use crate::papers::atc::extra::{check_expression, check_name};
use crate::papers::atc::identifiers::Identifiers;
use crate::papers::atc::source::ParsedProgram;

impl Session {
    /// The program of a run, and the number of a person's requests to it.
    fn asked_of_program(&self, run: RunId) -> Option<AskedOf> {
        let task = self.state.task(self.state.at_work.of(run)?)?;
        let program = task.programs.last()?;
        let backs = usize::try_from(program.backs()).unwrap_or(usize::MAX);
        let asked = program.extras.len() + backs + usize::from(program.edited.is_some());
        Some((task.id, program.number, asked))
    }

    /// Whether a person has made a request to the program at work, or an edit of it, that it does not know yet: then it
    /// is run again.
    pub fn is_program_asked(&self, run: RunId) -> bool {
        let asked = self.asked_of_program(run);
        let known = self.runs.get(&run).and_then(|run| run.asked);
        asked.is_some_and(|(_, _, count)| count > 0) && asked != known
    }

    /// Whether a call of the program at work runs in this lane, and is over.
    pub fn is_of_program(&self, lane: Lane) -> bool {
        let Lane::Effect(call) = lane else { return false };
        let is_over = |call: &ToolCallState| call.line.is_some() && call.phase.is_over();
        self.state.tool_call(call).is_some_and(is_over)
    }

    /// Where a program at work has to stop, and the expressions to evaluate there.
    pub fn wanted_of_program(&mut self, task: TaskId, number: u32) -> StopRequest {
        let run = self.state.run_of(task);
        self.run(run).asked = self.asked_of_program(run);
        let is_watched = self.breakpoints.seats.holds();
        let mut wanted = StopRequest { is_watched, ..StopRequest::default() };
        if matches!(self.state.control.mode_of(run), Mode::Stepping | Mode::Pausing | Mode::Paused)
        {
            wanted.stops = Stops::every();
        }
        for known in self.state.breakpoints.values().filter(|known| known.on) {
            let Stops { within, lines, names } = &mut wanted.stops;
            match &known.spec.place {
                BreakpointPlace::Line(line) => drop(lines.insert(*line)),
                BreakpointPlace::Variable(name) => drop(names.insert(name.clone())),
                BreakpointPlace::Frame(depth) => *within = (*within).max(Some(*depth)),
                _ => continue,
            }
            wanted.extras.extend(known.spec.extras());
        }
        let program = self.state.program(task, number);
        wanted.asked.extend(program.into_iter().flat_map(|program| program.extras.clone()));
        wanted
    }

    /// Notes that a program has reached a statement. Returns whether it must stop there.
    pub fn reach(&mut self, task: TaskId, number: u32, at: &Arc<LineStop>) -> bool {
        let run = self.state.run_of(task);
        let is_stepped = matches!(
            self.state.control.mode_of(run),
            Mode::Stepping | Mode::Pausing | Mode::Paused
        );
        // A person who takes a program back, or makes a request to it, wants to see it there.
        let hits = self.breakpoints.hits_in_program(&self.state, at);
        if !is_stepped && at.values.is_none() && hits.is_empty() {
            return false;
        }
        self.emit(ProgramEvent::ProgramHeld { task, number, at: Arc::clone(at) });
        if !hits.is_empty() {
            self.stop_at(hits, Some((Lane::Run(run), Boundary::ProgramLine)));
        }
        true
    }

    /// Evaluates an expression where the program of a task is held, or gives its value to a variable.
    ///
    /// # Errors
    /// The program is not held there, or the expression cannot be evaluated.
    pub fn ask_program(
        &self,
        task: TaskId,
        asked: ProgramQuestion,
        by: By,
    ) -> Result<Event, String> {
        let ProgramQuestion { expression, sets } = asked;
        let (number, held) = self.held_program(task)?;
        let held = held.ok_or("the program is not held at a line: step to one first")?;
        self.check_expression(task, &expression)?;
        sets.as_deref().map_or(Ok(()), check_name)?;
        let when = Moment::Hit { line: held.line, hit: held.hit };
        let extra = Extra { when, expression, sets };
        Ok(ProgramEvent::ProgramAsked { task, number, extra, by }.into())
    }

    /// Goes on with a person's program.
    ///
    /// # Errors
    /// The program is not held, or the text is not a program.
    pub fn edit_program(&self, task: TaskId, text: &str, by: By) -> Result<Event, String> {
        let (number, _) = self.held_program(task)?;
        ParsedProgram::parse(text).map_err(|error| error.summary())?;
        let text = Arc::from(text);
        Ok(ProgramEvent::ProgramEdited { task, number, text, by }.into())
    }

    /// Takes back a program that is held.
    ///
    /// # Errors
    /// The program is not held, or there is nothing before.
    pub fn take_program_back(&self, task: TaskId, to: Back, by: By) -> Result<Event, String> {
        let known = self.state.reversible_program().filter(|(of, _)| of.id == task);
        let (of, program) = known.ok_or(
            "the program is not held: pause it, step to its next line, or to the end of its call",
        )?;
        let number = program.number;
        let is_at = |boundary| self.state.control.is_run_held_at(of.task.run, boundary);
        let held = program.held.clone().filter(|_| is_at(Boundary::ProgramLine));
        let is_over = is_at(Boundary::AfterProgram);
        let calls = held.as_ref().map_or(program.calls.len(), |held| held.calls);
        let is_probed = self.state.task(task).is_some_and(|task| task.task.probe.is_some());
        match (&held, to) {
            (None, _) if is_over && !program.refused.is_empty() => {
                return Err("the program did not run: e edits it".to_owned());
            }
            (None, _) if is_over && is_probed => {
                return Err("probing continues from the end of this program".to_owned());
            }
            (Some(held), Back::Line) if held.nth == 1 => {
                return Err("this is the first statement of the program".to_owned());
            }
            (_, Back::Call) if calls == 0 => {
                return Err("the program has no call before this place".to_owned());
            }
            (_, Back::Statement(0)) => return Err("statements count from 1".to_owned()),
            _ => {}
        }
        Ok(ProgramEvent::ProgramTakenBack { task, number, to, by }.into())
    }

    /// The program of a task that is held, and where.
    fn held_program(&self, task: TaskId) -> Result<(u32, Option<Arc<LineStop>>), String> {
        let program = self.state.task(task).and_then(|task| task.programs.last());
        let program = program.ok_or("the task has no program")?;
        let run = self.state.run_of(task);
        let is_at = |boundary| self.state.control.is_run_held_at(run, boundary);
        if is_at(Boundary::AfterProgram) {
            return Ok((program.number, None));
        }
        match is_at(Boundary::ProgramLine) {
            true => Ok((program.number, program.held.clone())),
            false => Err("the program is not held: pause it, or step to its next line".to_owned()),
        }
    }

    /// Whether an expression is Python and calls no tool.
    pub fn check_expression(&self, task: TaskId, expression: &str) -> Result<(), String> {
        let tools = self.state.in_task(task).offered_tools().map(|tool| &tool.spec.name);
        let tools: Vec<&ToolName> = tools.collect();
        let names = Identifiers::of(tools.iter().copied());
        let names: Vec<&str> = tools.iter().filter_map(|tool| names.name(tool)).collect();
        check_expression(expression, &names)
    }

    /// The time of day; the recorded one if this session repeats it.
    pub fn clock(&mut self, task: TaskId) -> i64 {
        let now = || {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
        };
        let run = self.state.run_of(task);
        let millis = self.recorded.clock(run).unwrap_or_else(now);
        self.emit(ProgramEvent::ClockRead { task, millis });
        millis
    }
}
