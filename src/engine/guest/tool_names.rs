//! The names that agents give to the tools of servers.

/// Whether agents give this name to a server's tool.
pub fn is_named(name: &str, server: &str, tool: &str) -> bool {
    let (name, server, tool) = (plain(name), plain(server), plain(tool));
    let names = ["mcp__{}__", "{}__", "{}_"].map(|form| form.replace("{}", &server) + &tool);
    name == tool || names.contains(&name)
}

/// The name in the few characters that endpoints allow.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}
