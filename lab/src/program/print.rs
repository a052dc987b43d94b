//! Output about programs, for people and for scripts.

use serde_json::{Value, json};

use crate::app::shell::{out, trouble::Trouble};
use crate::domain::program::{LineStop, Raised};
use crate::domain::state::ProgramState;
use crate::domain::{ProgramVerdict, State, ToolCallPhase, ToolCallState};
use crate::strategy::prompt::program::failure;

pub struct Printer {
    json: bool,
    is_well: bool,
}

impl Printer {
    pub fn new(json: bool) -> Self {
        Self { json, is_well: true }
    }

    /// Whether everything was right so far.
    pub fn is_well(&self) -> bool {
        self.is_well
    }

    /// The flaws of a program that was not run.
    pub fn checked(
        &mut self,
        id: Option<&Value>,
        program: &str,
        flaws: &[Raised],
    ) -> Result<(), Trouble> {
        self.is_well &= flaws.is_empty();
        if self.json {
            return print(id, json!({ "ok": flaws.is_empty(), "errors": flaws }));
        }
        if flaws.is_empty() {
            return out::print_line("the program can run");
        }
        flaws.iter().try_for_each(|flaw| out::print_line(format!("{}\n", failure(program, flaw))))
    }

    /// A reply that has no program.
    pub fn without(&mut self, id: Option<&Value>, why: &Raised) -> Result<(), Trouble> {
        self.is_well = false;
        if self.json {
            return print(
                id,
                json!({ "calls": [], "printed": "", "value": null, "error": why, "how": "failed" }),
            );
        }
        out::print_line(why.summary())
    }

    /// A moment between two statements.
    pub fn stopped(&self, at: &LineStop) -> Result<(), Trouble> {
        if self.json {
            return out::print_json(&json!({ "stop": at }).to_string());
        }
        let set = at.set.iter().map(|set| format!("  {} = {}", set.name, set.value));
        out::print_line(format!("line {}{}", at.line, set.collect::<String>()))
    }

    /// The calls of a program, what it printed, and its error.
    pub fn ran(
        &mut self,
        id: Option<&Value>,
        state: &State,
        program: &ProgramState,
    ) -> Result<(), Trouble> {
        self.is_well &=
            matches!(program.how, Some(ProgramVerdict::Fine | ProgramVerdict::Doubtful));
        let end = program.end.as_deref().cloned().unwrap_or_default();
        let remark = end.remark().filter(|_| program.refused.is_empty());
        let calls = program.calls.iter().filter_map(|id| state.tool_call(*id));
        if self.json {
            let calls: Vec<Value> = calls.map(call).collect();
            let how = program.how.map_or("refused", ProgramVerdict::name);
            let mut done = json!({
                "calls": calls, "printed": end.printed, "value": end.value, "error": program.error(), "how": how,
            });
            if let Some(remark) = remark {
                done["remark"] = json!(remark);
            }
            if program.refused.len() > 1 {
                done["more"] = json!(program.refused[1..]);
            }
            return print(id, done);
        }
        for made in calls {
            let line = made.line.unwrap_or_default();
            out::print_line(format!(
                "line {line:>3}  {}({})  {}",
                made.tool,
                made.arguments,
                outcome(made)
            ))?;
        }
        if !end.printed.is_empty() {
            out::print_line(end.printed.trim_end())?;
        }
        if let Some(value) = &end.value {
            out::print_line(format!("value: {value}"))?;
        }
        let errors = program.refused.iter().chain(&end.error);
        for error in errors {
            out::print_line(format!("\n{}", failure(&program.text, error)))?;
        }
        remark.map_or(Ok(()), out::print_line)
    }
}

fn print(id: Option<&Value>, mut object: Value) -> Result<(), Trouble> {
    if let (Some(id), Some(fields)) = (id, object.as_object_mut()) {
        fields.shift_insert(0, "id".to_owned(), id.clone());
    }
    out::print_json(&object.to_string())
}

fn call(made: &ToolCallState) -> Value {
    json!({ "tool": made.tool, "arguments": made.arguments, "line": made.line, "outcome": outcome(made) })
}

fn outcome(made: &ToolCallState) -> &'static str {
    match made.phase {
        ToolCallPhase::Done { .. } => "ok",
        ToolCallPhase::Failed { .. } => "error",
        ToolCallPhase::Refused { .. } => "refused",
        ToolCallPhase::Requested | ToolCallPhase::Running => "running",
    }
}
