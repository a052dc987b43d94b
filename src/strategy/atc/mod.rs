//! ATC: one program over the tools for the whole task. Its output is the answer. A failed program is revised with the
//! error, the tool that is to blame for it, and that tool's document (Shi et al. 2024, eq. 1 and 2).

mod probe;
mod reflect;
mod run;

use std::sync::Arc;

pub use self::probe::probe;
use self::reflect::Reflection;
use self::run::{From, ProgramRun, Ran};
use super::prompt::lack::{keeping, lacking};
use super::prompt::program as prompt;
use super::{CallResult, Context, Ending, Strategy, Trajectory, TrajectoryTurn, close, menu};
use crate::domain::program::{Function, ProgramEnd, Raised};
use crate::domain::{
    Boundary, Caveat, Knob, MenuItem, MenuReason, Outcome, ProgramEvent, ProgramSource,
    ProgramVerdict, Reflect, Reply, Role, Task, TaskEvent, ToolCall, ToolName,
};
use crate::papers::atc::extract;
use crate::papers::atc::flaws::flaws_of;
use crate::papers::atc::identifiers::{self, Identifiers};

/// Makes one attempt at a task.
pub async fn act(
    ctx: &impl Context,
    strategy: Strategy,
    task: &Task,
    reflections: &[String],
) -> (Trajectory, Ending) {
    let (menu, names, turns) = Default::default();
    let mut programmer =
        Programmer { ctx, strategy, task, reflections, menu, names, asked: 0, turns };
    programmer.look().await;
    let mut last = Last::default();
    let mut doubted = None;
    let mut given = task.program.clone().map(Given::of_task);
    let mut tries = 0;
    for number in 1.. {
        let is_persons = given.as_ref().is_some_and(|given| given.source == ProgramSource::Person);
        // The knob does not count a person's programs.
        tries += usize::from(!is_persons);
        let (programs, reflect) =
            ctx.state(|state| (state.knobs.count(Knob::Programs), state.knobs.choice::<Reflect>()));
        if !is_persons && (tries > programs || tries > 1 && reflect == Reflect::Off) {
            break;
        }
        let from = given.as_ref().and_then(|given| given.from.clone());
        let written = match programmer.write(number, given.take()).await {
            Ok(written) => written,
            Err(ending) => return (last.trajectory(), ending),
        };
        let Some(program) = written.program else { continue };
        let functions = programmer.functions();
        let flaws = flaws_of(&program, &functions);
        let reflects = tries < programs && reflect != Reflect::Off;
        if let Some((error, more)) = flaws.split_first() {
            ctx.say(|task| {
                let (error, more) = (error.clone(), more.to_vec());
                ProgramEvent::ProgramRefused { task, number, error, more }
            });
            ctx.checkpoint(Boundary::AfterProgram).await;
            given = edited(ctx, number).map(|(text, _)| Given::of_person(text, &program, None));
            if given.is_none() && reflects {
                let refused = Last::refused(program, error.clone());
                let how = ProgramVerdict::Failed;
                let reflection = programmer.reflection(number);
                let finding = reflection.finding(&refused, how, reflect, more).await;
                programmer.turns.push((written.reply, finding));
            }
            continue;
        }
        let names = &programmer.names;
        let run = ProgramRun { ctx, number, program: &program, names, functions: &functions, from };
        let (ran, how) = match programmer.run(&run).await {
            Ok(ran) => ran,
            Err((text, held)) => {
                given = Some(Given::of_person(text, &program, held));
                continue;
            }
        };
        let Ran { calls, called, end, .. } = ran;
        last = Last { program, calls, called, end, is_refused: false, cut: written.cut };
        match how {
            ProgramVerdict::Fine => return last.ended(how),
            // A doubtful program is reflected on once, then accepted.
            ProgramVerdict::Doubtful if doubted.is_some() => return last.ended(how),
            ProgramVerdict::Doubtful => doubted = Some(last.clone()),
            ProgramVerdict::Failed => {}
        }
        if reflects {
            let finding = programmer.reflection(number).finding(&last, how, reflect, &[]).await;
            programmer.turns.push((written.reply, finding));
        }
    }
    match doubted {
        Some(doubted) => doubted.ended(ProgramVerdict::Doubtful),
        // The output of a program before its failure is not an answer.
        None => (last.trajectory(), Ending::without_answer(Outcome::Failed)),
    }
}

/// The program with which a person replaced this one, and the line and hit at which this one was held.
fn edited(ctx: &impl Context, number: u32) -> Option<(Arc<str>, Option<LineHit>)> {
    ctx.state(|state| {
        let mut programs = state.current_task()?.programs.iter();
        let program = programs.find(|program| program.number == number)?;
        let held = program.held.as_ref().map(|held| (held.line, held.hit));
        Some((program.edited.clone()?, held))
    })
}

/// A line, and the number of times that the program has reached it.
type LineHit = (u32, u32);

/// A program that the programmer does not write.
struct Given {
    text: Arc<str>,
    source: ProgramSource,
    from: Option<From>,
}

impl Given {
    fn of_task(text: Arc<str>) -> Self {
        Self { text, source: ProgramSource::Task, from: None }
    }

    /// A person's program, in place of one that was held at this line and hit.
    fn of_person(text: Arc<str>, was: &str, held: Option<LineHit>) -> Self {
        let from = From::of(was, &text, held);
        Self { text, source: ProgramSource::Person, from: Some(from) }
    }
}

/// The tools of a menu without `Finish`: a program ends by itself.
fn offered(menu: &[MenuItem]) -> Arc<[MenuItem]> {
    menu.iter().filter(|item| item.why != MenuReason::Finish).cloned().collect()
}

struct Programmer<'a, C> {
    ctx: &'a C,
    strategy: Strategy,
    task: &'a Task,
    reflections: &'a [String],
    menu: Arc<[MenuItem]>,
    names: Identifiers,
    /// The number of calls of the programmer.
    asked: u32,
    /// Earlier replies, and the finding about each.
    turns: Vec<(String, String)>,
}

/// A reply of the programmer.
struct ProgrammerReply {
    reply: String,
    /// `None`: the reply has no program, or none that can run. The next turn has the reason.
    program: Option<Arc<str>>,
    cut: Option<Caveat>,
}

impl<C: Context> Programmer<'_, C> {
    /// Determines the tools that are offered.
    async fn look(&mut self) {
        let menu = menu::next_of_planner(self.ctx, self.strategy.toolnet, self.task).await;
        self.menu = offered(&menu);
        self.names = Identifiers::of(self.menu.iter().map(|item| &item.tool));
    }

    fn begin_step(&self, step: u32) {
        self.ctx.say(|task| {
            let (from, menu) = (ToolName::start(), Arc::clone(&self.menu));
            TaskEvent::StepStarted { task, step, from, menu }
        });
    }

    /// Gets a program: the given one, or the programmer's.
    async fn write(
        &mut self,
        number: u32,
        given: Option<Given>,
    ) -> Result<ProgrammerReply, Ending> {
        self.begin_step(number);
        let (reply, from, cut) = match &given {
            Some(given) if given.source == ProgramSource::Person => {
                (format!("```python\n{}\n```", given.text), given.source, None)
            }
            Some(given) => (given.text.to_string(), given.source, None),
            None => {
                let reply = self.ask(number).await?;
                (reply.text.clone(), ProgramSource::Reply, Caveat::of(&reply.finish))
            }
        };
        let program =
            match given.map_or_else(|| extract(&reply).map(Arc::from), |given| Ok(given.text)) {
                Ok(program) => program,
                Err(why) => {
                    let error = Raised::new("NoProgram", why.to_string());
                    let more = Vec::new();
                    self.ctx.say(|task| ProgramEvent::ProgramRefused { task, number, error, more });
                    let filled = [("{why}", why.to_string())];
                    let finding = self.ctx.state(|state| {
                        let filled = filled.each_ref().map(|(name, value)| (*name, value.as_str()));
                        state.prompts.filled(crate::domain::Prompt::ProgrammerNone, &filled)
                    });
                    self.turns.push((reply.clone(), finding));
                    return Ok(ProgrammerReply { reply, program: None, cut });
                }
            };
        let text = Arc::clone(&program);
        self.ctx.say(|task| ProgramEvent::ProgramWritten { task, number, text, from });
        Ok(ProgrammerReply { reply, program: Some(program), cut })
    }

    /// Requests a program. If the programmer names a missing capability and the budget allows replanning, it is called
    /// again with other functions.
    async fn ask(&mut self, number: u32) -> Result<Arc<Reply>, Ending> {
        let most = self.ctx.state(|state| state.knobs.count(Knob::MaxSteps));
        loop {
            self.asked += 1;
            let may_lack =
                (self.asked as usize) < most && self.ctx.state(|state| state.may_widen());
            let Self { strategy, task, menu, names, reflections, turns, .. } = &*self;
            let (strategy, turns) = (*strategy, turns.as_slice());
            let asked = prompt::ProgrammerInput {
                strategy,
                task,
                menu,
                names,
                reflections,
                turns,
                may_lack,
            };
            let request = self.ctx.state(|state| prompt::programmer(state, &asked));
            let reply = self.ctx.ask(Role::Programmer, request).await;
            let reply = reply.map_err(|error| close::failed(&error))?;
            let needs = lacking(&reply.text);
            let shown = menu.iter().filter_map(|item| Some((names.name(&item.tool)?, &item.tool)));
            let kept = keeping(&reply.text, shown);
            if !may_lack || needs.is_empty() || !self.ctx.widen(&needs, kept.as_deref()).await {
                return Ok(reply);
            }
            self.look().await;
            self.begin_step(number);
        }
    }

    /// Runs a program to its end, and again from where a person takes it back.
    ///
    /// # Errors
    /// A person's program replaces it: its text, and where this one was held.
    async fn run(
        &self,
        run: &ProgramRun<'_, C>,
    ) -> Result<(Ran, ProgramVerdict), (Arc<str>, Option<LineHit>)> {
        let (ctx, number) = (self.ctx, run.number);
        let mut ran = run.to_end().await;
        loop {
            if let Some(edited) = edited(ctx, number) {
                return Err(edited);
            }
            let how = self.judge(&ran.end, &ran.called);
            let end = Arc::new(ran.end.clone());
            ctx.say(|task| ProgramEvent::ProgramEnded { task, number, end, how });
            ctx.checkpoint(Boundary::AfterProgram).await;
            if let Some((text, _)) = edited(ctx, number) {
                return Err((text, None));
            }
            ran = match run.back(ran).await {
                Ok(again) => again,
                Err(ran) => return Ok((ran, how)),
            };
        }
    }

    /// The reflection on the program with this number, which finds its fault.
    fn reflection(&self, number: u32) -> Reflection<'_, C> {
        let Self { ctx, task, menu, names, .. } = self;
        Reflection { ctx: *ctx, task, menu, names, number }
    }

    /// The tools as functions.
    fn functions(&self) -> Vec<Function> {
        let function = |item: &MenuItem| {
            let name = self.names.name(&item.tool)?;
            self.ctx.state(|state| {
                let tool = state.tools.get(&item.tool)?;
                Some(identifiers::function(name, &tool.spec))
            })
        };
        self.menu.iter().filter_map(function).collect()
    }

    /// Judges a program. An error or a missing answer is a failure; calls that all returned errors, empty or null
    /// results make it doubtful.
    fn judge(&self, end: &ProgramEnd, called: &[CallResult]) -> ProgramVerdict {
        if end.error.is_some() || answer(end).is_none() {
            return ProgramVerdict::Failed;
        }
        let is_null = |called: &CallResult| {
            let result = match &called.observation {
                super::Observation::Result(text) | super::Observation::More(text) => {
                    Some(text.as_str())
                }
                super::Observation::Failed(_) | super::Observation::Refused(_) => None,
            };
            self.ctx.state(|state| state.nulled(&called.tool, result)).is_some()
        };
        match !called.is_empty() && called.iter().all(is_null) {
            true => ProgramVerdict::Doubtful,
            false => ProgramVerdict::Fine,
        }
    }
}

/// The printed text; if nothing was printed, the value of the last expression.
fn answer(end: &ProgramEnd) -> Option<String> {
    let printed = end.printed.trim();
    if !printed.is_empty() {
        return Some(printed.to_owned());
    }
    match end.value.as_ref()? {
        serde_json::Value::String(text) if text.trim().is_empty() => None,
        serde_json::Value::String(text) => Some(text.trim().to_owned()),
        value => Some(value.to_string()),
    }
}

/// The last program that ran, or one that could not.
#[derive(Clone)]
struct Last {
    program: Arc<str>,
    calls: Vec<ToolCall>,
    called: Vec<CallResult>,
    end: ProgramEnd,
    /// Whether the program could not run.
    is_refused: bool,
    cut: Option<Caveat>,
}

impl Default for Last {
    fn default() -> Self {
        let end = ProgramEnd::default();
        let (calls, called) = (Vec::new(), Vec::new());
        Self { program: Arc::from(""), calls, called, end, is_refused: false, cut: None }
    }
}

impl Last {
    /// A program that cannot run for this reason.
    fn refused(program: Arc<str>, error: Raised) -> Self {
        let end = ProgramEnd { error: Some(error), ..ProgramEnd::default() };
        Self { program, end, is_refused: true, ..Self::default() }
    }

    /// The calls of the program, as a trajectory for an evaluator to score.
    fn trajectory(&self) -> Trajectory {
        let (calls, called) = (self.calls.clone(), self.called.clone());
        let turn = TrajectoryTurn {
            thought: self.program.to_string(),
            calls,
            called,
            ..TrajectoryTurn::default()
        };
        Trajectory { turns: if turn.calls.is_empty() { Vec::new() } else { vec![turn] } }
    }

    fn ended(&self, how: ProgramVerdict) -> (Trajectory, Ending) {
        let mut ending = match answer(&self.end) {
            Some(text) => Ending::answered(text),
            None => Ending::without_answer(Outcome::GaveUp),
        };
        if how == ProgramVerdict::Doubtful {
            ending.caveats.push(Caveat::WithoutEvidence);
        }
        ending.caveats.extend(self.cut);
        (self.trajectory(), ending)
    }
}
