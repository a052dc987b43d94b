//! From arguments to the spec of a session, and from its errors to those of the command line.

use std::num::NonZeroUsize;

use super::{SessionArgs, trouble::Trouble};
use crate::domain::{Knob, Role, Task};
use crate::session::{
    JournalChoice, SessionError, SessionSpec, SimulatedSpec, SpecField, TaskSource,
};

impl SessionArgs {
    /// The spec of a session on this task, if given, instead of a list of tasks.
    ///
    /// # Errors
    /// A strategy or a knob has the wrong form.
    pub fn spec(&self, task: Option<&str>) -> Result<SessionSpec, Trouble> {
        let strategy = self.strategy.as_deref().map(str::parse).transpose();
        let knobs = self.knob.iter().map(|text| parse_knob(text)).collect::<Result<Vec<_>, _>>()?;
        let budget = self.budget.map(|budget| (Knob::Budget, budget));
        let tau = self.tau.map(|tau| (Knob::Tau, tau));
        let roles = [(Role::Planner, &self.planner), (Role::Solver, &self.solver)];
        let bound = |(role, model): (Role, &Option<String>)| Some((role, model.clone()?.into()));
        Ok(SessionSpec {
            resumed: None,
            repeats_unknown: false,
            watched: false,
            agent: None,
            parent: None,
            config: self.config.config.clone(),
            workspace: self.workspace.clone(),
            sample: self.sample,
            strategy: strategy.map_err(Trouble::Usage)?,
            seed: self.seed,
            model: self.model.clone().map(Into::into),
            tasks_limit: self.tasks_limit,
            faults: self.fault.clone(),
            allow: self.allow.clone(),
            breakpoints: self.breakpoint.clone(),
            costs: self.costs,
            task_tools: self.task_tools.map(NonZeroUsize::get),
            tools_total: self.tools_total.map(NonZeroUsize::get),
            simulated: SimulatedSpec::default(),
            endpoints: Default::default(),
            pair: false,
            max_dollars: self.max_dollars,
            paused: false,
            stay: false,
            hold: None,
            keep_going: false,
            fresh: self.fresh,
            learned: self.learned.clone(),
            experience: self.experience.clone(),
            leak_guard: self.leak_guard,
            journal: match &self.journal {
                _ if self.no_journal => JournalChoice::None,
                Some(file) => JournalChoice::File(file.clone()),
                None => JournalChoice::Configured,
            },
            mcp: self.mcp.clone(),
            awaits_tools: false,
            recorded: self.recorded.clone(),
            fork_at: self.fork_at,
            fork: None,
            more_runs: usize::from(self.runs.unwrap_or(1).saturating_sub(1)),
            tasks: match (task, &self.tasks) {
                (Some(text), _) => TaskSource::List(vec![Task::from_text(text)]),
                (None, Some(file)) => TaskSource::File(file.clone()),
                (None, None) => TaskSource::Workspace,
            },
            roles: roles.into_iter().filter_map(bound).collect(),
            knobs: knobs.into_iter().chain(budget).chain(tau).collect(),
        })
    }
}

impl From<SessionError> for Trouble {
    fn from(error: SessionError) -> Self {
        let text = match &error {
            SessionError::Spec { field, why } => format!("{}: {why}", option(field)),
            SessionError::Input(cause) | SessionError::Failed(cause) => cause.to_string(),
            SessionError::Without(why) => why.clone(),
        };
        Trouble::Session { error, text }
    }
}

/// The option that sets a field.
fn option(field: &SpecField) -> String {
    match field {
        SpecField::Model => "--model".to_owned(),
        SpecField::Role(role) => format!("--{role}"),
        SpecField::Knob(Knob::Budget) => "--budget".to_owned(),
        SpecField::Knob(Knob::Tau) => "--tau".to_owned(),
        SpecField::Knob(knob) => format!("--knob {knob}"),
        SpecField::Fault(fault) => format!("--fault {fault}"),
        SpecField::ToolsTotal => "--tools-total".to_owned(),
        SpecField::MaxDollars => "--max-dollars".to_owned(),
        SpecField::ForkAt(at) => format!("--fork-at {at}"),
        SpecField::Set(edit) => format!("--set {edit}"),
    }
}

pub fn parse_knob(text: &str) -> Result<(Knob, f64), Trouble> {
    let expected = || {
        let names: Vec<_> = crate::domain::knob::KNOBS.iter().map(|spec| spec.name).collect();
        Trouble::Usage(format!(
            "--knob {text}: expected NAME=VALUE, NAME one of {}",
            names.join(", ")
        ))
    };
    let (name, value) = text.split_once('=').ok_or_else(expected)?;
    let knob = Knob::named(name.trim());
    let knob = knob.map_err(|why| Trouble::Usage(format!("--knob {text}: {why}")))?;
    let value =
        knob.spec().parse(value).map_err(|why| Trouble::Usage(format!("--knob {text}: {why}")))?;
    Ok((knob, value))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct OnlySession {
        task: Option<String>,
        #[command(flatten)]
        session: SessionArgs,
    }

    fn spec(arguments: &str) -> Result<SessionSpec, Trouble> {
        let arguments = ["toolyard"].into_iter().chain(arguments.split_whitespace());
        let cli = OnlySession::try_parse_from(arguments).unwrap();
        cli.session.spec(cli.task.as_deref())
    }

    #[test]
    fn every_option_of_a_session_is_in_its_spec() {
        let read = spec(
            "--config c --workspace w --strategy react+btp --budget 5 --tau 0.2 --model m --planner p \
             --solver s --seed 3 --tasks t.txt --tasks-limit 2 --fault a:timeout --allow c --break b:once --knob learn=off \
             --knob budget=9 --journal j --learned l --experience e --leak-guard --costs 1..4",
        );
        let right = SessionSpec {
            config: Some("c".into()),
            workspace: Some("w".into()),
            strategy: Some("react+btp".parse().unwrap()),
            seed: Some(3),
            model: Some("m".into()),
            tasks_limit: Some(2),
            faults: vec!["a:timeout".parse().unwrap()],
            allow: vec!["c".parse().unwrap()],
            breakpoints: vec!["b:once".parse().unwrap()],
            costs: Some("1..4".parse().unwrap()),
            learned: Some("l".into()),
            experience: Some("e".into()),
            leak_guard: true,
            journal: JournalChoice::File("j".into()),
            tasks: TaskSource::File("t.txt".into()),
            roles: [(Role::Planner, "p".into()), (Role::Solver, "s".into())].into(),
            // The separate option takes precedence.
            knobs: [(Knob::Budget, 5.0), (Knob::Tau, 0.2), (Knob::Learn, 0.0)].into(),
            ..SessionSpec::default()
        };
        assert_eq!(read.unwrap(), right);
        let task = TaskSource::List(vec![Task::from_text("why?")]);
        let (fresh, journal) = (true, JournalChoice::None);
        let right = SessionSpec { tasks: task, fresh, journal, ..SessionSpec::default() };
        assert_eq!(spec("why? --fresh --no-journal").unwrap(), right);
        assert_eq!(spec("").unwrap(), SessionSpec::default());
    }
}
