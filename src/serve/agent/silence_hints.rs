//! Hints for a person when no request of an agent arrives, and for the case that none has arrived at its end.

use super::environment::Environment;
use super::sockets::ProcessConnection;
pub use super::sockets::Sightings;
use crate::domain::words::counted;

/// The most connections, processes or variables that are named.
const MOST: usize = 5;

/// The fact that an agent was connected to nobody.
const NONE: &str = "no connection to another host was seen";

/// The facts that may explain why no request arrived, and what to do about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unseen {
    pub facts: Vec<String>,
    pub advice: Vec<String>,
    /// Processes that surely went past toolyard, even if others did not.
    pub past: Vec<String>,
}

impl Unseen {
    /// `left`: programs that the agent had started and that ended with it. `file`: the file of further recipes.
    pub fn new(seen: &Sightings, left: &[String], environment: &Environment, file: &str) -> Self {
        let mut facts = Vec::new();
        let to = |it: &ProcessConnection| {
            format!("{} (process {}) was connected to {}", it.program, it.pid, it.remote)
        };
        name(&mut facts, seen.connections.iter().map(to), "connections");
        let goes_past = |it: &&ProcessConnection| !is_proxied() && seen.ours.contains(&it.remote);
        let past = seen.connections.iter().filter(goes_past).take(MOST);
        let past = past.map(|it| format!("{}, past toolyard", to(it))).collect();
        if seen.connections.is_empty() && cfg!(target_os = "linux") {
            facts.push(NONE.to_owned());
        }
        let untold = seen.untold.iter().map(|(pid, program)| {
            format!("{program} (process {pid}) did not get the variables of toolyard")
        });
        name(&mut facts, untold, "such processes");
        if !left.is_empty() {
            let n = counted(left.len(), "process");
            let names = left.iter().take(MOST).cloned().collect::<Vec<_>>().join(", ");
            facts.push(format!("{n} that it had started still ran, and ended with it: {names}"));
        }
        let unwatched = &environment.unwatched;
        name(
            &mut facts,
            unwatched.iter().map(|it| format!("{} is not watched", it.variable)),
            "variables",
        );
        let mut advice = Vec::new();
        if !seen.connections.is_empty() {
            advice.push(
                "If it calls a model there, it does not read the variables of toolyard: its code or its configuration \
                 names the address, or loads .env over them. Write this instead:"
                    .to_owned(),
            );
            advice.extend(environment.code.iter().map(|line| format!("  {line}")));
        }
        advice.extend(unwatched.iter().take(MOST).flat_map(|it| it.advice(file)));
        Self { facts, advice, past }
    }

    /// Lines for a person while the agent still runs.
    pub fn lines(self, environment: &Environment) -> Vec<String> {
        let names: Vec<_> = environment.variables.iter().map(|(name, _)| name.as_str()).collect();
        let first = [
            "No request to a model has arrived yet.".to_owned(),
            format!("The agent was started with these variables: {}.", names.join(", ")),
        ];
        let fact = |fact: String| match fact.as_str() {
            NONE => "No connection to another host: probably no model call yet.".into(),
            _ => format!("So far {fact}."),
        };
        first.into_iter().chain(self.facts.into_iter().map(fact)).chain(self.advice).collect()
    }
}

/// Whether a proxy may be the way of all requests.
fn is_proxied() -> bool {
    std::env::vars_os().any(|(name, _)| {
        let name = name.to_string_lossy().to_lowercase();
        name.ends_with("_proxy") && name != "no_proxy"
    })
}

fn name(facts: &mut Vec<String>, all: impl ExactSizeIterator<Item = String>, what: &str) {
    let more = all.len().saturating_sub(MOST);
    facts.extend(all.take(MOST));
    if more > 0 {
        facts.push(format!("{more} more {what}"));
    }
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
        let untold = [(8, "env".to_owned())].into();
        let ours = [([162, 159, 140, 245], 446).into()].into();
        let seen = Sightings { connections: (440..447).map(connection).collect(), untold, ours };
        let left = ["node".to_owned(), "sh".to_owned()];
        let made = Unseen::new(&seen, &left, &environment(), "agents.toml");
        assert_eq!(made.facts[0], "python3 (process 7) was connected to 162.159.140.245:440");
        let past = "python3 (process 7) was connected to 162.159.140.245:446, past toolyard";
        assert!(is_proxied() || made.past == [past], "{:?}", made.past);
        assert_eq!(
            made.facts[5..],
            [
                "2 more connections",
                "env (process 8) did not get the variables of toolyard",
                "2 processes that it had started still ran, and ended with it: node, sh",
            ]
        );
        let lines = made.lines(&environment());
        assert!(lines[1].ends_with("these variables: OPENAI_BASE_URL."), "{lines:?}");
        assert_eq!(lines.last().unwrap(), "  OpenAI(base_url=\"http://127.0.0.1:1/v1\")");
    }

    #[test]
    fn an_agent_without_connections_is_waited_for() {
        let made = Unseen::new(&Sightings::default(), &[], &environment(), "agents.toml");
        assert!(made.advice.is_empty());
        if cfg!(target_os = "linux") {
            assert_eq!(made.facts, ["no connection to another host was seen"]);
        }
    }
}
