//! `toolyard fork`: goes on from a moment of a session, with something changed there.

use std::collections::BTreeMap;

use super::agent_fork::{self, AgentForks};
use super::fork_args::ForkArgs;
use super::journal_end::JournalEnd;
use super::run::{self, Prints, RunOutputs};
use super::spec_trust::Agreed;
use super::{fork_table, live, spec_trust, trouble::Trouble};
use crate::domain::{EffectId, ModelName, Role};
use crate::session::{ForkSpec, JournalChoice, SessionSpec};
use crate::shell::parse_knob;
use crate::ui::{EndReason, NextSession};

/// Goes on from a moment of the session of a journal.
///
/// # Errors
/// The journal does not have the moment, a change is not possible there, or the session cannot go on here.
pub fn fork(args: &ForkArgs) -> Result<JournalEnd, Trouble> {
    match agent_fork::of_args(args)? {
        Some(AgentForks::One(words)) => {
            return Ok(JournalEnd::OnScreen(EndReason::For(NextSession::Watch(words))));
        }
        Some(AgentForks::ForEach(models)) => {
            return fork_table::run(args, &models).map(JournalEnd::Agent);
        }
        None => {}
    }
    if args.verify.verify.is_some() {
        return Err(Trouble::usage("--verify is for sessions of watched agents"));
    }
    let is_headless = args.headless || args.json;
    let agreed = Agreed {
        config: &args.config,
        workspace: args.workspace.as_deref(),
        trusts: args.trust_journal,
    };
    spec_trust::expect_known(&args.journal, &agreed, !is_headless)?;
    let spec = spec(args)?;
    if is_headless {
        let wanted = RunOutputs {
            prints: Prints::of(args.json, false),
            report: args.report.as_deref(),
            state: None,
        };
        return run::headless(spec.prepare()?, &wanted).map(JournalEnd::Headless);
    }
    live::show(spec, live::Show::default()).map(JournalEnd::OnScreen)
}

fn spec(args: &ForkArgs) -> Result<SessionSpec, Trouble> {
    let strategy = args.strategy.as_deref().map(str::parse).transpose();
    let knobs = args.knob.iter().map(|text| parse_knob(text)).collect::<Result<_, _>>()?;
    let fork = ForkSpec {
        of: args.journal.clone(),
        at: args.at.unwrap_or_default(),
        call: args.call.map(EffectId),
        set: args.set.clone(),
        calls: args.calls,
        strategy: strategy.map_err(Trouble::Usage)?,
        seed: args.seed,
        roles: roles(&args.model)?,
        knobs,
    };
    let journal = args.own_journal.clone();
    Ok(SessionSpec {
        config: args.config.config.clone(),
        workspace: args.workspace.clone(),
        faults: args.fault.clone(),
        breakpoints: args.breakpoint.clone(),
        allow: args.allow.clone(),
        max_dollars: args.max_dollars,
        learned: args.learned.clone(),
        journal: journal.map_or(JournalChoice::Configured, JournalChoice::File),
        fork: Some(Box::new(fork)),
        ..SessionSpec::default()
    })
}

/// The models of roles: `solver=small`, or one for all.
fn roles(named: &[String]) -> Result<BTreeMap<Role, ModelName>, Trouble> {
    let mut roles = BTreeMap::new();
    for text in named {
        let of_role = text.split_once('=').and_then(|(role, model)| {
            let role = Role::all().find(|known| known.name() == role.trim())?;
            Some((role, model.trim()))
        });
        match of_role {
            Some((role, model)) => drop(roles.insert(role, model.into())),
            None if text.contains('=') && !text.contains("://") => {
                let known: Vec<_> = Role::all().map(|role| role.name()).collect();
                let why = format!("--model {text}: the role is one of {}", known.join(", "));
                return Err(Trouble::Usage(why));
            }
            None => roles.extend(Role::all().map(|role| (role, text.trim().into()))),
        }
    }
    Ok(roles)
}
