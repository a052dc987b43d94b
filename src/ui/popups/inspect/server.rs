//! A server of tools: its status, its tools, the changed definitions, and its last message.

use super::Page;
use crate::domain::{ServerStage, State, words::counted};
use crate::panes::servers;

pub(super) fn write(state: &State, key: &str, page: &mut Page<'_>) {
    let Some(server) = state.servers.get(key) else {
        return page.not_yet("This server was not started");
    };
    let style = match &server.stage {
        ServerStage::Down { .. } => page.theme.bad,
        _ => page.theme.text,
    };
    page.field_in("stands", &servers::stage(server, state.at), style);
    if let ServerStage::Down { why, .. } | ServerStage::Off { why } = &server.stage {
        page.field_in("why", why, style);
    }
    page.field_if_any("program", &server.program);
    page.field_if_any("revision", &server.revision);
    page.field("started", &counted(server.starts as usize, "time"));
    let own = state.tools.values().filter(|tool| tool.spec.mcp_server() == Some(key));
    let offered: Vec<_> = own.filter(|tool| tool.present).collect();
    page.field("offered", &format!("{} of {}", offered.len(), server.tools));
    for (tool, changed) in &server.changed {
        page.heading(&format!("Changed definition of {tool}"));
        page.text(&changed.difference, page.theme.warn);
    }
    page.heading("Tools");
    for tool in offered {
        let said = tool.spec.disabled.as_deref().unwrap_or(&tool.spec.description);
        page.field(tool.spec.name.as_str(), said.lines().next().unwrap_or_default());
    }
    page.heading("What it said");
    let left_out = server.written - server.lines.len() as u64;
    if left_out > 0 {
        page.text(&format!("… {left_out} earlier lines are not kept"), page.theme.dim);
    }
    for line in &server.lines {
        page.text(line, page.theme.text);
    }
}
