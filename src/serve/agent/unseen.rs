//! Hints for a person when no request of an agent arrives.

use rustix::process::Pid;

use super::environment::Environment;
use super::sockets::{ProcessConnection, connections};

/// The most connections that are named.
const MOST: usize = 5;

/// The variables that the agent got, the hosts to which it is connected instead, and lines for its code.
pub fn lines(pid: Pid, environment: &Environment) -> Vec<String> {
    said(&connections(pid), cfg!(target_os = "linux"), environment)
}

fn said(
    connections: &[ProcessConnection],
    is_known: bool,
    environment: &Environment,
) -> Vec<String> {
    let names: Vec<_> = environment.variables.iter().map(|(name, _)| name.as_str()).collect();
    let mut lines = vec![
        "No request to a model has arrived yet.".to_owned(),
        format!("The agent was started with these variables: {}.", names.join(", ")),
    ];
    for ProcessConnection { pid, program, remote } in connections.iter().take(MOST) {
        lines.push(format!("{program} (process {pid}) is connected to {remote}."));
    }
    if let Some(more) = connections.len().checked_sub(MOST).filter(|more| *more > 0) {
        lines.push(format!("There are {more} more connections to other hosts."));
    }
    if connections.is_empty() && is_known {
        lines.push(
            "It is connected to no other host, so it has probably not called a model yet.".into(),
        );
    } else {
        lines.push(
            "If it calls a model there, it does not read these variables: its code or its configuration names the \
             address, or loads .env over them. Write this instead:"
                .into(),
        );
        lines.extend(environment.code.iter().map(|line| format!("  {line}")));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment() -> Environment {
        Environment {
            variables: vec![("OPENAI_BASE_URL".into(), String::new())],
            code: vec!["OpenAI(base_url=\"http://127.0.0.1:1/v1\")".into()],
            ..Environment::default()
        }
    }

    #[test]
    fn connections_are_named_with_what_to_write() {
        let connection = |port| ProcessConnection {
            pid: 7,
            program: "python3".into(),
            remote: ([162, 159, 140, 245], port).into(),
        };
        let connections: Vec<_> = (440..447).map(connection).collect();
        let text = said(&connections, true, &environment()).join("\n");
        assert!(text.contains("these variables: OPENAI_BASE_URL.\npython3 (process 7) is connected to 162.159.140.245:440."));
        assert!(text.contains(":444.\nThere are 2 more connections"), "{text}");
        assert!(text.ends_with("\n  OpenAI(base_url=\"http://127.0.0.1:1/v1\")"), "{text}");
    }

    #[test]
    fn an_agent_without_connections_is_waited_for() {
        let lines = said(&[], true, &environment());
        assert!(lines.last().unwrap().contains("has probably not called a model yet"));
        assert!(said(&[], false, &environment()).len() > lines.len());
    }
}
