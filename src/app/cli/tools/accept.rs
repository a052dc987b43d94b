//! `toolyard tools accept`: the changed definitions of MCP tools.

use super::args::AcceptArgs;
use super::open::ToolSession;
use crate::cli::{out, trouble::Trouble};
use crate::domain::{ChangedDefinition, Command, Event, ServerEvent, SessionEvent, ToolName};
use crate::session::SessionSpec;

/// Accepts the named definitions, or prints the changes of all.
///
/// # Errors
/// The definition of a named tool has not changed.
pub fn accept(args: &AcceptArgs) -> Result<(), Trouble> {
    let mut session = ToolSession::open(&args.from, SessionSpec::default(), |_| true)?;
    let servers = session.state.servers.values();
    let changed: Vec<(ToolName, ChangedDefinition)> =
        servers.flat_map(|server| server.changed.clone()).collect();
    for name in &args.tools {
        let found = changed.iter().find(|(tool, _)| tool.as_str() == name);
        let Some((tool, ChangedDefinition { hash, .. })) = found else {
            session.tool(name)?;
            return Err(Trouble::Usage(format!("the definition of {name} has not changed")));
        };
        let (tool, hash) = (tool.clone(), hash.clone());
        session.send(Command::AcceptDefinition { tool, hash })?;
        session.fold_until(|_, event| {
            matches!(
                event,
                Event::Server(ServerEvent::DefinitionAccepted { .. })
                    | Event::Session(SessionEvent::CommandRefused { .. })
            )
        })?;
        if session.state.changed_definition(&ToolName::new(name)).is_some() {
            return Err(Trouble::Failed(format!("{name} was not accepted")));
        }
    }
    session.end()?;
    let lines = changed.iter().map(|(tool, ChangedDefinition { difference, .. })| {
        match args.tools.iter().any(|name| name == tool.as_str()) {
            true => format!("accepted {tool}"),
            false => format!("{tool} has changed:\n{difference}"),
        }
    });
    let lines: Vec<String> = lines.collect();
    match lines.is_empty() {
        true => out::print_line("no definition has changed"),
        false => out::print_line(lines.join("\n")),
    }
}
