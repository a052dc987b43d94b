//! Chooses the tools to probe, and the tools that help.

use super::Prober;
use crate::domain::probe::Probe;
use crate::domain::words::nearest;
use crate::domain::{InTask, Role, ToolName, ToolState};
use crate::papers::atc::blame;
use crate::papers::atc::probing::HELPERS;
use crate::prompt::probe as prompt;
use crate::{Context, Ending, Sought, close};

/// The most known tools among which a prober chooses; if there are more, only those that match the tool's description.
const LISTED: usize = 60;

/// The tools to probe, and the others with the reasons.
pub(super) struct Left {
    pub open: Vec<ToolName>,
    pub left_out: Vec<(ToolName, String)>,
}

pub(super) fn targets(state: &InTask<'_>, probe: &Probe) -> Left {
    let (mut open, mut left_out) = (Vec::new(), Vec::new());
    let present = |name: &ToolName| state.tools.get(name).filter(|tool| tool.present);
    for name in probe.tools.iter().filter(|name| present(name).is_none()) {
        let others = state.tools.values().filter(|tool| tool.present);
        let nearest = nearest(name.as_str(), others.map(|tool| tool.spec.name.as_str()));
        let meant = nearest.map_or_else(String::new, |name| format!("; did you mean {name}?"));
        left_out.push((name.clone(), format!("the workspace has no such tool{meant}")));
    }
    let named = probe.tools.iter().filter_map(present);
    let all = state.tools.values().filter(|tool| probe.tools.is_empty() && tool.present);
    for tool in named.chain(all) {
        match why_not(tool, !probe.tools.is_empty()) {
            None => open.push(tool.spec.name.clone()),
            Some(why) => left_out.push((tool.spec.name.clone(), why)),
        }
    }
    Left { open, left_out }
}

/// Why a tool is not probed.
fn why_not(tool: &ToolState, is_named: bool) -> Option<String> {
    if let Some(why) = &tool.spec.disabled {
        return Some(format!("disabled: {why}"));
    }
    if !tool.switched_on {
        return Some("switched off".to_owned());
    }
    if is_named {
        return None;
    }
    if !tool.spec.effect.is_repeatable() {
        return Some(match tool.spec.effect.name() {
            "unknown" => "its effect is not declared: name it to probe it".to_owned(),
            effect => format!("its effect is {effect}: name it to probe it"),
        });
    }
    tool.learned.as_ref().map(|_| "its schema is learned".to_owned())
}

impl<C: Context> Prober<'_, C> {
    /// The known tools whose results may have what a tool needs, the most useful first.
    pub(super) async fn helpers(&self, tool: &ToolName) -> Result<Vec<ToolName>, Ending> {
        let listed = self.listed(tool).await;
        if listed.len() <= HELPERS {
            return Ok(listed);
        }
        let request = self.ctx.state(|state| prompt::select(state, tool, &listed, &self.names));
        let reply = self.ctx.ask(Role::Prober, request).await;
        let reply = reply.map_err(|error| close::failed(&error))?;
        let names: Vec<&str> = listed.iter().filter_map(|tool| self.names.name(tool)).collect();
        let chosen = blame::by_reply(&reply.text, &names);
        let tools = chosen.iter().filter_map(|name| self.names.tool(name).cloned());
        Ok(tools.take(HELPERS).collect())
    }

    /// The known tools that may be called; if there are many, those that match the description of the tool.
    async fn listed(&self, tool: &ToolName) -> Vec<ToolName> {
        let may_call = |known: &&ToolName| {
            *known != tool && self.ctx.state(|state| state.offers(known.as_str()))
        };
        let known: Vec<ToolName> = self.known.iter().filter(may_call).cloned().collect();
        if known.len() <= LISTED {
            return known;
        }
        let about = self.ctx.state(|state| {
            state.tools.get(tool).map(|tool| {
                format!("{} {} {}", tool.spec.name, tool.spec.description, tool.spec.parameters)
            })
        });
        let about = about.unwrap_or_default();
        let found = self.ctx.retrieve(&about, Sought::Tool, usize::MAX).await;
        found.into_iter().filter(|tool| known.contains(tool)).take(LISTED).collect()
    }
}
