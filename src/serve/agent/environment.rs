//! The environment of a watched agent: variables that send its requests to the listener, and the endpoints to which
//! they are forwarded.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::{net::IpAddr, path::Path};

use reqwest::Url;

use super::dotenv;
use super::recipes::{self, Endpoint, ProgramRecipe, Recipes, filled};
use super::secrets::hide_variable;
use crate::net::known::remember_address;

/// Variables that name a proxy for requests over HTTP.
const PROXIES: [&str; 4] = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"];
/// Variables that name the hosts that are contacted without a proxy.
const NO_PROXY: [&str; 2] = ["no_proxy", "NO_PROXY"];

/// The name by which containers call their host machine.
const DOCKER_HOST: &str = "host.docker.internal";

/// The values of variables.
pub type Lookup<'l> = &'l dyn Fn(&str) -> Option<String>;

/// The facts that the environment of an agent depends on.
pub struct Given<'g> {
    /// The listener's address without a path of an endpoint, such as `http://127.0.0.1:4600/s/1`.
    pub address: &'g Url,
    /// The name of the agent's session.
    pub session: &'g str,
    /// The variables of this process.
    pub environment: Lookup<'g>,
    /// The text of the file `.env` in the agent's working directory.
    pub dotenv: Option<&'g str>,
}

/// The environment of an agent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Environment {
    /// The variables to set.
    pub variables: Vec<(String, String)>,
    /// Arguments to put before those of the user.
    pub arguments: Vec<String>,
    /// The endpoints to which requests are forwarded.
    pub upstreams: Vec<Upstream>,
    /// Lines for the agent's code, for an agent that reads no variable.
    pub code: Vec<String>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// An endpoint behind the listener.
#[derive(Clone, Debug, PartialEq)]
pub struct Upstream {
    /// The name of its recipe.
    pub endpoint: String,
    /// The end of the listener's address for this endpoint: a request for `PATH/rest` goes on to `ADDRESS/rest`.
    pub path: String,
    pub address: Url,
}

/// A variable that was set before.
struct Before {
    variable: String,
    place: &'static str,
    address: Url,
}

impl Environment {
    /// The environment for the program that `command` starts; `None` for programs that are started elsewhere.
    pub fn new(recipes: &Recipes, command: Option<&Path>, given: &Given<'_>) -> Self {
        let mut made = Self::default();
        let dotenv = dotenv::read(given.dotenv.unwrap_or_default(), given.environment);
        dotenv.iter().for_each(|(name, value)| hide_variable(name, value));
        for endpoint in &recipes.endpoints {
            made.add_endpoint(endpoint, given, &dotenv);
        }
        if let Some(program) = command.and_then(|command| recipes.program(command)) {
            made.add_program(program, given);
        }
        made.pass_by_proxies(given, &dotenv);
        made
    }

    fn add_endpoint(
        &mut self,
        endpoint: &Endpoint,
        given: &Given<'_>,
        dotenv: &BTreeMap<String, String>,
    ) {
        let address = format!("{}{}", base(given.address), endpoint.path);
        let fill = |text: &String| filled(text, &address, given.session);
        self.code.extend(endpoint.code.iter().map(fill));
        let mut before = self.before(endpoint, given, dotenv).into_iter();
        let first = before.next();
        if let Some(Before { variable, place, address }) = &first {
            let (shown, login) = (shown(address), login(address));
            self.notes
                .push(format!("{variable} was set in {place}: requests go on to {shown}{login}"));
        }
        let upstream = first.map_or_else(|| endpoint.upstream.clone(), |first| first.address);
        for Before { variable, place, address } in before.filter(|other| other.address != upstream)
        {
            let shown = shown(&address);
            self.notes.push(format!(
                "{variable} was set in {place} to another address, which is not used: {shown}"
            ));
        }
        let set = endpoint.variables.iter().map(|variable| (variable.clone(), address.clone()));
        self.variables.extend(set);
        self.upstreams.push(Upstream {
            endpoint: endpoint.name.clone(),
            path: endpoint.path.clone(),
            address: upstream,
        });
    }

    /// The addresses of other endpoints in the variables of this one; the first counts.
    fn before(
        &mut self,
        endpoint: &Endpoint,
        given: &Given<'_>,
        dotenv: &BTreeMap<String, String>,
    ) -> Vec<Before> {
        let mut found = Vec::new();
        let of_dotenv = |name: &str| dotenv.get(name).cloned();
        let places: [(_, Lookup<'_>); 2] =
            [("the environment", given.environment), (".env", &of_dotenv)];
        for (place, value_of) in places {
            for variable in &endpoint.variables {
                let value = value_of(variable).unwrap_or_default();
                let value = value.trim();
                if value.is_empty() {
                    continue;
                }
                match address(value, endpoint.port) {
                    Some(address) if is_same(&address, given.address) => {}
                    Some(address) => {
                        remember_address(&address);
                        found.push(Before { variable: variable.clone(), place, address });
                    }
                    // A value at the wrong place may be a key, so it is not shown.
                    None => self.notes.push(format!(
                        "{variable} in {place} is ignored: its value is not an address such as {}",
                        endpoint.upstream
                    )),
                }
            }
        }
        found
    }

    fn add_program(&mut self, program: &ProgramRecipe, given: &Given<'_>) {
        let fill = |text: &str| filled(text, base(given.address), given.session);
        self.arguments.extend(program.arguments.iter().map(|text| fill(text)));
        for (name, value) in &program.variables {
            if (given.environment)(name).is_some_and(|value| !value.is_empty()) {
                self.notes.push(format!(
                    "{name} is set in the environment and stays; for {} it should be {}",
                    program.name,
                    fill(value)
                ));
            } else {
                self.variables.push((name.clone(), fill(value)));
            }
        }
    }

    /// Exempts the listener's host from proxies, if there are any, by using a name that is contacted without one.
    fn pass_by_proxies(&mut self, given: &Given<'_>, dotenv: &BTreeMap<String, String>) {
        let value = |name: &str| {
            let value = (given.environment)(name).or_else(|| dotenv.get(name).cloned());
            value.filter(|value| !value.is_empty())
        };
        let Some(host) = given.address.host_str() else { return };
        if PROXIES.iter().all(|name| value(name).is_none()) {
            return;
        }
        let before = NO_PROXY.iter().find_map(|name| value(name));
        let hosts = before.map_or_else(|| host.to_owned(), |before| format!("{before},{host}"));
        self.variables.extend(NO_PROXY.map(|name| (name.to_owned(), hosts.clone())));
    }

    /// The lines to copy for an agent that is started elsewhere: for a shell, `.env`, Docker and Node.
    pub fn lines_to_copy(&self, listener: &Url) -> String {
        let mut text = "# Shell\n".to_owned();
        let mut write = |line: std::fmt::Arguments<'_>| {
            // Writing to a string never fails.
            let _ = text.write_fmt(line);
        };
        for (name, value) in &self.variables {
            write(format_args!("export {name}={value}\n"));
        }
        write(format_args!("\n# .env\n"));
        for (name, value) in &self.variables {
            write(format_args!("{name}={value}\n"));
        }
        write(format_args!(
            "\n# Docker calls this machine {DOCKER_HOST}. On Linux it reaches only a listener on the address of its\n\
             # bridge (often --listen 172.17.0.1:4600), or on any address with --network host and the lines for .env.\n\
             docker run --add-host={DOCKER_HOST}:host-gateway"
        ));
        let host = listener.host_str().unwrap_or_default();
        for (name, value) in &self.variables {
            write(format_args!(" \\\n  -e {name}={}", value.replacen(host, DOCKER_HOST, 1)));
        }
        write(format_args!(
            " \\\n  IMAGE\n\n# Node reads .env only if it is told to:\nnode --env-file=.env agent.mjs\n"
        ));
        text
    }
}

/// An address without the slash at its end.
fn base(address: &Url) -> &str {
    address.as_str().trim_end_matches('/')
}

/// The address in a variable. A host without a scheme has this port.
fn address(value: &str, port: Option<u16>) -> Option<Url> {
    if let (false, Some(port)) = (value.contains("://"), port) {
        let mut url = recipes::url(&format!("http://{value}"))?;
        if url.port().is_none() {
            url.set_port(Some(port)).ok()?;
        }
        return Some(url);
    }
    recipes::url(value)
}

/// Whether an address is one of the listener's.
fn is_same(address: &Url, listener: &Url) -> bool {
    let is_local = |url: &Url| {
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
    };
    let same_host = address.host() == listener.host() || is_local(address) && is_local(listener);
    same_host && address.port_or_known_default() == listener.port_or_known_default()
}

/// The use of an address's name and password, for people.
fn login(address: &Url) -> &'static str {
    match address.username().is_empty() && address.password().is_none() {
        true => "",
        false => ", with its password unless they have an Authorization header",
    }
}

/// An address without its possibly secret parts.
fn shown(address: &Url) -> String {
    let mut shown = address.clone();
    // Both calls fail only for addresses without a host.
    let _ = shown.set_username("");
    let _ = shown.set_password(None);
    shown.set_query(None);
    base(&shown).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(command: &str, set: &[(&str, &str)], dotenv: &str) -> Environment {
        let recipes = Recipes::load(Path::new("/no/such/file")).unwrap();
        let value = |name: &str| {
            let found = set.iter().find(|(set, _)| *set == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let address = Url::parse("http://127.0.0.1:4600/s/7").unwrap();
        let given =
            Given { address: &address, session: "7", environment: &value, dotenv: Some(dotenv) };
        Environment::new(&recipes, Some(Path::new(command)), &given)
    }

    fn upstream(environment: &Environment, name: &str) -> String {
        let found = environment.upstreams.iter().find(|upstream| upstream.endpoint == name);
        found.unwrap().address.to_string()
    }

    fn variable<'e>(environment: &'e Environment, name: &str) -> Option<&'e str> {
        let found = environment.variables.iter().find(|(set, _)| set == name);
        found.map(|(_, value)| &**value)
    }

    #[test]
    fn every_variable_of_every_client_is_set() {
        let made = environment("python", &[], "");
        let set: Vec<_> =
            made.variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(
            set,
            [
                "OPENAI_BASE_URL=http://127.0.0.1:4600/s/7/v1",
                "OPENAI_API_BASE=http://127.0.0.1:4600/s/7/v1",
                "ANTHROPIC_BASE_URL=http://127.0.0.1:4600/s/7",
                "ANTHROPIC_API_URL=http://127.0.0.1:4600/s/7",
                "ANTHROPIC_API_BASE=http://127.0.0.1:4600/s/7",
                "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:4600/s/7",
                "GEMINI_API_BASE=http://127.0.0.1:4600/s/7",
                "OLLAMA_HOST=http://127.0.0.1:4600/s/7",
            ]
        );
        assert_eq!(upstream(&made, "openai"), "https://api.openai.com/v1");
        assert!(made.notes.is_empty() && made.arguments.is_empty());
        assert_eq!(made.code[0], "OpenAI(base_url=\"http://127.0.0.1:4600/s/7/v1\")  # Python");
    }

    #[test]
    fn a_variable_that_was_set_becomes_the_upstream() {
        let set = [
            ("OPENAI_API_BASE", "http://litellm:4000/v1"),
            ("OPENAI_BASE_URL", ""),
            ("OLLAMA_HOST", "gpu.local"),
            ("ANTHROPIC_API_URL", "http://localhost:4600"),
        ];
        let dotenv = "OPENAI_BASE_URL=http://other/v1\n\
                      ANTHROPIC_BASE_URL=https://me:s3cret-word@gateway/anthropic?key=1\n\
                      GEMINI_API_BASE=AIza-a-key\n";
        let made = environment("python", &set, dotenv);
        assert_eq!(upstream(&made, "openai"), "http://litellm:4000/v1");
        assert_eq!(upstream(&made, "ollama"), "http://gpu.local:11434/");
        let gateway = "https://me:s3cret-word@gateway/anthropic?key=1";
        assert_eq!(upstream(&made, "anthropic"), gateway);
        assert_eq!(upstream(&made, "gemini"), "https://generativelanguage.googleapis.com/");
        assert_eq!(
            made.notes,
            [
                "OPENAI_API_BASE was set in the environment: requests go on to http://litellm:4000/v1",
                "OPENAI_BASE_URL was set in .env to another address, which is not used: http://other/v1",
                "ANTHROPIC_BASE_URL was set in .env: requests go on to https://gateway/anthropic, \
                 with its password unless they have an Authorization header",
                "GEMINI_API_BASE in .env is ignored: its value is not an address such as \
                 https://generativelanguage.googleapis.com/",
                "OLLAMA_HOST was set in the environment: requests go on to http://gpu.local:11434",
            ]
        );
    }

    #[test]
    fn a_program_gets_its_arguments_and_variables() {
        let codex = environment("/opt/bin/codex", &[], "");
        assert_eq!(codex.arguments[..2], ["-c", "model_provider=\"toolyard\""]);
        assert!(codex.arguments[3].contains("base_url=\"http://127.0.0.1:4600/s/7/v1\""));
        let name = "ANTHROPIC_CUSTOM_HEADERS";
        let claude = environment("claude", &[], "");
        assert_eq!(variable(&claude, name), Some("x-toolyard-session: 7"));
        let claude = environment("claude", &[(name, "x-mine: 1")], "");
        assert_eq!((variable(&claude, name), claude.notes.len()), (None, 1));
    }

    #[test]
    fn a_proxy_is_not_asked_for_the_listener() {
        let made = environment("python", &[("HTTP_PROXY", "http://p"), ("NO_PROXY", "a.b")], "");
        assert_eq!(variable(&made, "NO_PROXY"), Some("a.b,127.0.0.1"));
        assert_eq!(variable(&made, "no_proxy"), Some("a.b,127.0.0.1"));
    }

    #[test]
    fn there_are_lines_to_copy() {
        let made = environment("python", &[], "");
        let text = made.lines_to_copy(&Url::parse("http://127.0.0.1:4600/s/7").unwrap());
        for line in [
            "export OPENAI_BASE_URL=http://127.0.0.1:4600/s/7/v1\n",
            "\nOPENAI_BASE_URL=http://127.0.0.1:4600/s/7/v1\n",
            "  -e OPENAI_BASE_URL=http://host.docker.internal:4600/s/7/v1 \\\n",
            "\nnode --env-file=.env agent.mjs\n",
        ] {
            assert!(text.contains(line), "{line} in\n{text}");
        }
    }
}
