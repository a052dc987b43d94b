//! Checks that the names in a scenario exist. With a typo, an expectation would never hold, or always.

use serde_json::Value;

use super::ScenarioFile;
use super::expect::TaskRef;
use super::expected_call::ExpectedCall;
use crate::domain::breakpoint::BreakpointPlace;
use crate::domain::event::json_of;
use crate::domain::{Target, ToolName, words};
use crate::files::toml_file::{Problem, Problems};
use crate::session::{PreparedSession, SessionError, SessionSpec, SpecField};

impl ScenarioFile {
    /// Prepares the scenario's session with these changes.
    ///
    /// # Errors
    /// The session cannot be prepared, or an expectation names something that does not exist.
    pub fn prepare(
        &self,
        change: impl FnOnce(&mut SessionSpec),
    ) -> Result<PreparedSession, Problems> {
        let mut spec = self.scenario.session.clone();
        change(&mut spec);
        let prepared = spec.prepare().map_err(|error| self.refused(&error))?;
        let problems = self.unknown(&prepared);
        if problems.is_empty() { Ok(prepared) } else { Err(Problems(problems)) }
    }

    /// The session of a watched agent, which decides most settings itself.
    ///
    /// # Errors
    /// Fields that only apply to toolyard's own agent.
    pub fn watched(&self) -> Result<&SessionSpec, Problems> {
        let own = &self.scenario.session;
        let SessionSpec {
            config, faults, breakpoints, max_dollars, recorded, journal, seed, ..
        } = own.clone();
        let allowed = SessionSpec {
            config,
            faults,
            breakpoints,
            max_dollars,
            recorded,
            journal,
            seed,
            ..SessionSpec::default()
        };
        let fields = |spec: &SessionSpec| json_of(spec);
        let (given, allowed) = (fields(own), fields(&allowed));
        let given = given.as_object().into_iter().flatten();
        let wrong = given.filter(|(key, value)| allowed.get(key) != Some(value));
        let why = "this is for the agent of toolyard; your own agent decides it itself";
        let wrong = wrong.map(|(key, _)| self.lines.problem(key, why.to_owned()));
        let recovered = self.scenario.expect.recovered.map(|_| {
            let why = "only the agent of toolyard is judged by its recovery; remove this, and expect answers of your \
                       own agent in [[expect.conversation]]";
            self.lines.problem("expect.recovered", why)
        });
        let problems: Vec<_> = wrong.chain(recovered).collect();
        if problems.is_empty() { Ok(own) } else { Err(Problems(problems)) }
    }

    /// Why the session cannot start, at the line of the field.
    fn refused(&self, error: &SessionError) -> Problem {
        match error {
            SessionError::Spec { field, why } => {
                let path = self.path_of(field);
                self.lines.problem(&path, why.clone())
            }
            SessionError::Input(why) | SessionError::Failed(why) => {
                Problem::of_file(self.path.display().to_string(), why.to_string())
            }
            SessionError::Without(why) => {
                Problem::of_file(self.path.display().to_string(), why.clone())
            }
        }
    }

    /// The path of a session's field in the file.
    fn path_of(&self, field: &SpecField) -> String {
        let faults = &self.scenario.session.faults;
        match field {
            SpecField::Fault(fault) => {
                let at = faults.iter().position(|known| known == &**fault).unwrap_or_default();
                format!("faults[{at}]")
            }
            other => other.to_string(),
        }
    }

    fn unknown(&self, prepared: &PreparedSession) -> Vec<Problem> {
        let expect = &self.scenario.expect;
        let specs = || prepared.workspace.manifests.iter().map(|tool| &tool.spec);
        let names: Vec<&str> = specs().map(|spec| spec.name.as_str()).collect();
        let called = || {
            expect.limits().flat_map(|(table, limits)| {
                limits.called().map(move |(path, called)| (format!("{table}.{path}"), called))
            })
        };
        let session = &self.scenario.session;
        let breakpoints = session.breakpoints.iter().map(|it| &it.place).enumerate();
        let breakpoints = breakpoints
            .filter_map(|(at, place)| Some((format!("breakpoints[{at}]"), tool_of(place)?)));
        let rules = session.allow.iter().map(|rule| &rule.place).enumerate();
        let rules = rules.filter_map(|(at, place)| Some((format!("allow[{at}]"), tool_of(place)?)));
        let named = called().map(|(path, called)| (path, called.tool()));
        let named = breakpoints.chain(rules).chain(named);
        let tools = named.filter(|(_, tool)| !names.contains(&tool.as_str()));
        let tools = tools.map(|(path, tool)| {
            let expected = words::expected(tool.as_str(), names.iter().copied());
            self.lines.problem(&path, format!("there is no tool {tool}; {expected}"))
        });
        let arguments = called().filter_map(|(path, called)| {
            let ExpectedCall::With { tool, args } = called else { return None };
            let spec = specs().find(|spec| spec.name == *tool)?;
            let is_closed =
                matches!(spec.parameters["additionalProperties"], Value::Null | Value::Bool(false));
            let known = spec.parameters["properties"].as_object().filter(|_| is_closed)?;
            let wrong = args.keys().find(|name| !known.contains_key(*name))?;
            let expected = words::expected(wrong, known.keys().map(String::as_str));
            let why = format!("{tool} has no argument {wrong}; {expected}");
            Some(self.lines.problem(&format!("{path}.args.{wrong}"), why))
        });
        let tasks = expect.tasks.iter().enumerate().filter_map(|(at, task)| {
            let why = no_such_task(&task.task, prepared)?;
            Some(self.lines.problem(&format!("expect.task[{at}].task"), why))
        });
        let conversations = expect.conversations.iter().enumerate().map(|(at, _)| {
            let why =
                "only a watched agent has conversations: `toolyard watch --headless --scenario`";
            self.lines.problem(&format!("expect.conversation[{at}]"), why.to_owned())
        });
        let mut all: Vec<Problem> =
            tools.chain(arguments).chain(tasks).chain(conversations).collect();
        all.sort_by_key(|problem| problem.line);
        all
    }
}

/// The tool that a place is about. Without a screen no tools are added later.
fn tool_of(place: &BreakpointPlace) -> Option<&ToolName> {
    if let BreakpointPlace::Call(Target::Tool(tool)) = place { Some(tool) } else { None }
}

/// Why the session has no such task.
fn no_such_task(task: &TaskRef, prepared: &PreparedSession) -> Option<String> {
    let all = prepared.tasks.len();
    match task {
        TaskRef::Number(number) if usize::try_from(*number).is_ok_and(|number| number <= all) => {
            None
        }
        TaskRef::Number(number) => Some(format!(
            "there is no task {number}; the session has {}",
            words::counted(all, "task")
        )),
        TaskRef::Name(name) => {
            let names = || prepared.tasks.distinct().iter().map(|task| task.name.as_str());
            let named = || names().filter(|name| !name.is_empty());
            if named().any(|known| known == name) {
                return None;
            }
            let known: Vec<&str> = named().collect();
            Some(match known.is_empty() {
                true => format!("there is no task {name}; no task of the session has a name"),
                false => {
                    let expected = words::expected(name, known.iter().copied());
                    format!("there is no task {name}; {expected}")
                }
            })
        }
    }
}
