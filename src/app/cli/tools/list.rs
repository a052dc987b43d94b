//! `toolyard tools list` and `toolyard tools show`.

use std::fmt::Write as _;

use super::args::{ListArgs, ShowArgs};
use super::open::ToolSession;
use crate::cli::{colour, out, trouble::Trouble};
use crate::compare::table::PlainTable;
use crate::domain::{ServerStage, State, ToolSpec, words::clipped, words::credits};
use crate::session::SessionSpec;

/// The longest description in a list, in bytes.
const DESCRIPTION: usize = 80;

/// Prints the tools; returns whether all servers could be started.
pub fn list(args: &ListArgs) -> Result<bool, Trouble> {
    let session = ToolSession::open(&args.from, SessionSpec::default(), |_| true)?;
    let state = session.end()?;
    print(&state, args.json)?;
    let mut are_well = true;
    for (key, server) in &state.servers {
        match &server.stage {
            ServerStage::Down { why, .. } => {
                out::warn(&format!("mcp {key}: {why}"));
                are_well = false;
            }
            ServerStage::Off { why } => out::warn(&format!("mcp {key}: not started: {why}")),
            ServerStage::Starting | ServerStage::Ready { .. } => {}
        }
    }
    Ok(are_well)
}

fn print(state: &State, as_json: bool) -> Result<(), Trouble> {
    if as_json {
        let specs: Vec<_> = state.tools.values().map(|tool| &tool.spec).collect();
        return out::print_pretty(&specs);
    }
    let mut table = PlainTable::new("", 4, &["tool", "effect", "from", "description"]);
    for tool in state.tools.values() {
        let ToolSpec { name, effect, source, description, disabled, .. } = &*tool.spec;
        let said = match disabled {
            Some(why) => format!("disabled: {why}"),
            None => description.lines().next().unwrap_or_default().to_owned(),
        };
        let said = clipped(&said, DESCRIPTION);
        table.row(vec![name.to_string(), effect.name().to_owned(), source.clone(), said]);
    }
    match table.text() {
        none if none.is_empty() => out::print_line("no tools"),
        text => out::print(colour::headed(text.trim_start_matches('\n'), 0)),
    }
}

pub fn show(args: &ShowArgs) -> Result<(), Trouble> {
    let session = ToolSession::open(&args.from, SessionSpec::default(), |tool| tool == args.tool)?;
    let spec = session.tool(&args.tool)?.spec.clone();
    let state = session.end()?;
    if args.json {
        return out::print_pretty(&*spec);
    }
    out::print_line(text(&spec, &state).trim_end())
}

fn text(spec: &ToolSpec, state: &State) -> String {
    let mut text = format!("{}\n{}\n\n", spec.name, spec.description);
    let mut field = |name: &str, value: &str| {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{name:<10} {value}");
    };
    if let Some(why) = &spec.disabled {
        field("disabled", why);
    }
    field("from", &spec.source);
    field("effect", spec.effect.name());
    if let Some(proposed) = spec.proposed.filter(|proposed| *proposed != spec.effect) {
        field("proposed", &format!("{} by its server, which is not trusted", proposed.name()));
    }
    let cost = spec.cost.map(|cost| credits(*cost) + " a call");
    field("cost", cost.as_deref().unwrap_or("not declared"));
    field("timeout", &format!("{} s", spec.timeout_ms as f64 / 1e3));
    field("arguments", &format!("{:#}", spec.parameters));
    if let Some(returns) = &spec.returns {
        field("returns", &format!("{:#}", returns.schema));
    }
    if let Some(changed) = state.changed_definition(&spec.name) {
        field("changed", "");
        text.push_str(&changed.difference);
    }
    text
}
