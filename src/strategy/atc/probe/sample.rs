//! Runs a program that probes a tool. The recorded result of the tool's own call counts, not the text that the program
//! prints.

use std::sync::Arc;

use serde_json::Value;

use super::{Prober, extract};
use crate::atc::edited;
use crate::atc::prompt::{Finding, finding};
use crate::atc::run::{From, ProgramRun, Ran};
use crate::domain::program::{Function, ProgramEnd, Raised};
use crate::domain::{
    Boundary, MenuItem, ProgramEvent, ProgramSource, ProgramVerdict, Prompt, Role, TaskEvent,
    ToolName,
};
use crate::papers::atc::flaws::flaws_of;
use crate::papers::atc::identifiers;
use crate::papers::atc::probing::{has_empty_lists_only, no_answer, taken_from};
use crate::prompt::probe::{self as prompt, ProberInput};
use crate::{CallResult, Context, Ending, Observation, close};

/// The result of a probed tool.
pub(super) struct ProbeResult {
    pub question: String,
    pub program: String,
    pub arguments: Value,
    pub result: Value,
    /// The tools whose results have values of the arguments.
    pub after: Vec<ToolName>,
}

/// Why a program has no result of the probed tool.
struct NoAnswer {
    error: Raised,
    /// A result whose lists are all empty.
    empty: Option<ProbeResult>,
}

/// How a sample ended.
pub(super) enum Sampled {
    Answered {
        reply: String,
        /// The next message to the prober, if it is called for another sample.
        more: String,
        answer: ProbeResult,
    },
    Failed {
        reply: String,
        finding: String,
        why: String,
        /// A result whose lists are all empty. It is better than none.
        empty: Option<ProbeResult>,
    },
}

impl<C: Context> Prober<'_, C> {
    /// Has a program written for a tool, and runs it.
    pub(super) async fn sample(
        &mut self,
        tool: &ToolName,
        helpers: &[ToolName],
        turns: &[(String, String)],
    ) -> Result<Sampled, Ending> {
        self.programs += 1;
        let (menu, step) = (Self::menu(tool, helpers), self.programs);
        let (shown, from) = (Arc::clone(&menu), ToolName::start());
        self.ctx.say(|task| TaskEvent::StepStarted { task, step, from, menu: shown });
        let asked = ProberInput { tool, menu: &menu, names: &self.names, turns };
        let request = self.ctx.state(|state| prompt::prober(state, &asked));
        let reply = self.ctx.ask(Role::Prober, request).await;
        let reply = reply.map_err(|error| close::failed(&error))?.text.clone();
        let program: Arc<str> = match extract(&reply) {
            Ok(program) => Arc::from(program),
            Err(why) => {
                let error = Raised::new("NoProgram", why.to_string());
                return Ok(self.refused(reply, "", &error, &[]));
            }
        };
        self.written(&program, ProgramSource::Reply);
        let functions = self.functions(&menu);
        let flaws = flaws_of(&program, &functions);
        if let Some((error, more)) = flaws.split_first() {
            let sampled = self.refused(reply, &program, error, more);
            self.ctx.checkpoint(Boundary::AfterProgram).await;
            return Ok(sampled);
        }
        let (program, ran) = self.run(program, &functions).await;
        let answer = self.answer(tool, &program, &ran);
        let how = match &answer {
            Ok(_) => ProgramVerdict::Fine,
            Err(_) if ran.end.error.is_some() => ProgramVerdict::Failed,
            Err(_) => ProgramVerdict::Doubtful,
        };
        let (number, end) = (self.programs, Arc::new(ran.end.clone()));
        self.ctx.say(|task| ProgramEvent::ProgramEnded { task, number, end, how });
        self.ctx.checkpoint(Boundary::AfterProgram).await;
        Ok(match answer {
            Ok(answer) => {
                let more =
                    self.ctx.state(|state| state.prompts.text(Prompt::ProberMore).to_owned());
                let question = question(&reply);
                Sampled::Answered { reply, more, answer: ProbeResult { question, ..answer } }
            }
            Err(none) => {
                let NoAnswer { error, empty } = *none;
                let finding = self.finding(&program, &error, &[], &ran.end);
                let named = |empty| ProbeResult { question: question(&reply), ..empty };
                let (why, empty) = (error.summary(), empty.map(named));
                Sampled::Failed { reply, finding, why, empty }
            }
        })
    }

    /// Runs a program to its end, and then any programs that a person writes in its place.
    async fn run(&mut self, program: Arc<str>, functions: &[Function]) -> (Arc<str>, Ran) {
        let (mut program, mut from) = (program, None);
        loop {
            let (ctx, number, names) = (self.ctx, self.programs, &self.names);
            let run = ProgramRun { ctx, number, program: &program, names, functions, from };
            let ran = run.to_end().await;
            let Some((text, held)) = edited(self.ctx, number) else { return (program, ran) };
            from = Some(From::of(&program, &text, held));
            program = text;
            self.programs += 1;
            self.written(&program, ProgramSource::Person);
        }
    }

    fn written(&self, program: &Arc<str>, from: ProgramSource) {
        let (number, text) = (self.programs, Arc::clone(program));
        self.ctx.say(|task| ProgramEvent::ProgramWritten { task, number, text, from });
    }

    /// A reply whose program cannot run.
    fn refused(&self, reply: String, program: &str, error: &Raised, more: &[Raised]) -> Sampled {
        let (number, told, others) = (self.programs, error.clone(), more.to_vec());
        self.ctx.say(|task| ProgramEvent::ProgramRefused {
            task,
            number,
            error: told,
            more: others,
        });
        let finding = self.finding(program, error, more, &ProgramEnd::default());
        Sampled::Failed { reply, finding, why: error.summary(), empty: None }
    }

    fn finding(&self, program: &str, error: &Raised, more: &[Raised], end: &ProgramEnd) -> String {
        let (printed, elsewhere, blamed) = (end.printed.as_str(), None, None);
        let found = Finding { program, error: Some(error), more, printed, elsewhere, blamed };
        self.ctx.state(|state| finding(state, &found))
    }

    /// The result of the tool's first answered call, or why there is none, with a result whose lists are empty.
    fn answer(
        &self,
        tool: &ToolName,
        program: &str,
        ran: &Ran,
    ) -> Result<ProbeResult, Box<NoAnswer>> {
        let name = self.names.name(tool).unwrap_or_default();
        let own = ran.called.iter().filter(|called| called.tool == *tool);
        let (mut why, mut empty) = (None, None);
        for called in own {
            match self.result(called) {
                Ok(result) if has_empty_lists_only(&result) => {
                    why =
                        Some("its lists are empty, so they do not show their elements".to_owned());
                    empty.get_or_insert_with(|| self.found(called, result, program, ran));
                }
                Ok(result) => return Ok(self.found(called, result, program, ran)),
                Err(failed) => why = Some(failed),
            }
        }
        // The program's own error names the line.
        let raised = ran.end.error.clone();
        let told = why.map(|why| Raised::new("NoResult", format!("{name}: {why}")));
        let uncalled = || Raised::new("NotCalled", format!("the program did not call {name}"));
        Err(Box::new(NoAnswer { error: raised.or(told).unwrap_or_else(uncalled), empty }))
    }

    /// A result with the arguments of its call, and where they come from.
    fn found(&self, call: &CallResult, result: Value, program: &str, ran: &Ran) -> ProbeResult {
        let before = ran.called.iter().take_while(|other| other.id != call.id);
        let results: Vec<_> = before
            .filter(|other| other.tool != call.tool)
            .filter_map(|other| Some((other.tool.clone(), self.result(other).ok()?)))
            .collect();
        let after = taken_from(&call.arguments, program, &results);
        let (question, program) = (String::new(), program.to_owned());
        ProbeResult { question, program, arguments: call.arguments.clone(), result, after }
    }

    /// The result of a call, if it is an answer.
    fn result(&self, called: &CallResult) -> Result<Value, String> {
        let text = match &called.observation {
            Observation::Result(_) if called.injected => {
                return Err("a fault changed its result".to_owned());
            }
            Observation::Result(text) | Observation::More(text) => text,
            Observation::Failed(error) => return Err(error.text.clone()),
            Observation::Refused(why) => return Err(why.clone()),
        };
        if let Some(why) = self.ctx.state(|state| state.nulled(&called.tool, Some(text))) {
            return Err(why.to_string());
        }
        let value = self.ctx.state(|state| state.json_result(called.id));
        let value = value.ok_or("its result is too long to be kept")?;
        no_answer(&value).map_or(Ok(value), Err)
    }

    fn functions(&self, menu: &[MenuItem]) -> Vec<Function> {
        let function = |item: &MenuItem| {
            let name = self.names.name(&item.tool)?;
            self.ctx.state(|state| {
                Some(identifiers::function(name, &state.tools.get(&item.tool)?.spec))
            })
        };
        menu.iter().filter_map(function).collect()
    }
}

/// The question above the program.
fn question(reply: &str) -> String {
    let above = reply.split("```").next().unwrap_or_default();
    let line = above.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    line.strip_prefix("Question:").unwrap_or(line).trim().to_owned()
}
