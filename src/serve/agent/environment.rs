//! The environment of a watched agent: variables that send its requests to the listener, and the endpoints to which
//! they are forwarded.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use reqwest::Url;

use super::bypass_variables::{self, Unwatched};
use super::foreign_addresses::LedAway;
use super::places::{self, ENVIRONMENT, Given, Place, value};
use super::recipes::{self, Endpoint, ProgramRecipe, Recipes, filled};
use crate::net::client::is_local;
use crate::net::known::remember_address;

/// Variables that name a proxy for requests over HTTP.
const PROXIES: [&str; 4] = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"];
/// Variables that name the hosts that are contacted without a proxy.
const NO_PROXY: [&str; 2] = ["no_proxy", "NO_PROXY"];

/// The name by which containers call their host machine.
const DOCKER_HOST: &str = "host.docker.internal";

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
    /// Variables with addresses of which no recipe knows.
    pub unwatched: Vec<Unwatched>,
    /// Addresses from files to which a key from elsewhere would go.
    pub led_away: Vec<LedAway>,
}

/// An endpoint behind the listener.
#[derive(Clone, Debug, PartialEq)]
pub struct Upstream {
    /// The name of its recipe.
    pub endpoint: String,
    /// The end of the listener's address for this endpoint: a request for `PATH/rest` goes on to `ADDRESS/rest`.
    pub path: String,
    pub address: Url,
    /// Whether no variable named the address.
    pub is_usual: bool,
}

/// A variable that was set before.
struct Before {
    variable: String,
    place: &'static str,
    address: Url,
    /// Whether its value ends in a slash.
    is_folder: bool,
}

impl Environment {
    /// The environment for the program that `command` starts; `None` for programs that are started elsewhere.
    pub fn new(recipes: &Recipes, command: Option<&Path>, given: &Given<'_>) -> Self {
        let mut made = Self::default();
        let places = places::read(given, &mut made.notes);
        let program = command.and_then(|command| recipes.program(command));
        for endpoint in &recipes.endpoints {
            made.add_endpoint(endpoint, given, &places);
        }
        made.add_providers(recipes, given, &places);
        // Such a program may use a login of its own instead of a key.
        if program.is_none() {
            made.led_away.retain(|led| led.gets_a_key(recipes, &places));
        }
        program.iter().for_each(|program| made.add_program(program, given));
        made.pass_by_proxies(given, &places);
        let is_other = |name: &str, address: &Url| {
            let is_set = made.variables.iter().any(|(set, _)| set == name);
            !is_set && !is_same(address, &given.address) && recipes.may_name_model(name)
        };
        made.unwatched = bypass_variables::among(&places, is_other);
        made
    }

    fn add_endpoint(&mut self, endpoint: &Endpoint, given: &Given<'_>, places: &[Place]) {
        let address = format!("{}{}", base(&given.address), endpoint.path);
        let fill = |text: &String| filled(text, &address, given.session);
        self.code.extend(endpoint.code.iter().map(fill));
        let mut before = self.before(&endpoint.variables, endpoint, given, places).into_iter();
        let first = before.next();
        first.iter().for_each(|first| self.note_before(first));
        let is_set = |name: &String| value(places, name).is_some();
        let refusing = endpoint.unless.iter().find(|name| is_set(name));
        let refusing = refusing.filter(|_| !endpoint.key.as_ref().is_some_and(is_set));
        match refusing.filter(|_| first.is_none()) {
            Some(refusing) => self.notes.push(format!(
                "toolyard does not set {}, since {refusing} is set{}: clients of that provider refuse it",
                endpoint.variables.join(" and "),
                endpoint.key.as_ref().map_or_else(String::new, |key| format!(", and {key} is not")),
            )),
            None => {
                let all = endpoint.variables.iter();
                self.variables.extend(all.map(|name| (name.clone(), address.clone())));
            }
        }
        let is_usual = first.is_none();
        let upstream = first.map_or_else(|| endpoint.upstream.clone(), |first| first.address);
        for Before { variable, place, address, .. } in before.filter(|it| it.address != upstream) {
            let shown = shown(&address);
            self.notes.push(format!(
                "{variable} was set in {place} to another address, which is not used: {shown}"
            ));
        }
        self.upstreams.push(Upstream {
            endpoint: endpoint.name.clone(),
            path: endpoint.path.clone(),
            address: upstream,
            is_usual,
        });
    }

    /// Sets the variables of known providers that were set before. The listener has the same paths as their addresses.
    fn add_providers(&mut self, recipes: &Recipes, given: &Given<'_>, places: &[Place]) {
        let all: BTreeSet<&String> =
            places.iter().flat_map(|place| place.variables.keys()).collect();
        for name in all {
            let is_known = recipes.endpoints.iter().any(|it| it.variables.contains(name));
            let Some(example) = recipes.endpoints.first() else { return };
            if is_known || !recipes.is_of_provider(name) {
                continue;
            }
            let before = self.before(std::slice::from_ref(name), example, given, places);
            let Some(first) = before.into_iter().next() else { continue };
            self.note_before(&first);
            let path = format!("/{}", name.to_lowercase().replace('_', "-"));
            let same = first.address.path();
            let same = if first.is_folder { same } else { same.trim_end_matches('/') };
            self.variables.push((name.clone(), format!("{}{path}{same}", base(&given.address))));
            let mut address = first.address;
            address.set_path("");
            let endpoint = name.clone();
            self.upstreams.push(Upstream { endpoint, path, address, is_usual: false });
        }
    }

    fn note_before(&mut self, before: &Before) {
        let Before { variable, place, address, .. } = before;
        let (shown, login) = (shown(address), login(address));
        self.notes.push(format!("{variable} was set in {place}: forwarding to {shown}{login}"));
        if *place != ENVIRONMENT && !is_local(address) {
            let variable = variable.clone();
            self.led_away.push(LedAway { variable, file: place, address: shown });
        }
    }

    /// The addresses of other endpoints in these variables; the first counts.
    fn before(
        &mut self,
        variables: &[String],
        endpoint: &Endpoint,
        given: &Given<'_>,
        places: &[Place],
    ) -> Vec<Before> {
        let mut found = Vec::new();
        for Place { name: place, variables: own } in places {
            for variable in variables {
                let value = own.get(variable).map(|value| value.trim()).unwrap_or_default();
                if value.is_empty() {
                    continue;
                }
                match address(value, endpoint.port) {
                    Some(address) if is_same(&address, &given.address) => {}
                    Some(address) => {
                        remember_address(&address);
                        let (variable, is_folder) = (variable.clone(), value.ends_with('/'));
                        found.push(Before { variable, place, address, is_folder });
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
        let fill = |text: &str| filled(text, base(&given.address), given.session);
        self.arguments.extend(program.arguments.iter().map(|text| fill(text)));
        for (name, value) in &program.variables {
            let is_set = self.variables.iter().any(|(set, _)| set == name);
            if is_set {
                // The address that it had counts.
            } else if given.environment.get(name).is_some_and(|value| !value.is_empty()) {
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
    fn pass_by_proxies(&mut self, given: &Given<'_>, places: &[Place]) {
        let value = |name: &str| value(places, name);
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
pub fn base(address: &Url) -> &str {
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

/// An address without its possibly secret parts, for people.
fn shown(address: &Url) -> String {
    base(&without_secrets(address)).to_owned()
}

/// An address without its name, password and query.
pub fn without_secrets(address: &Url) -> Url {
    let mut shown = address.clone();
    // Both calls fail only for addresses without a host.
    let _ = shown.set_username("");
    let _ = shown.set_password(None);
    shown.set_query(None);
    shown.set_fragment(None);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(command: &str, set: &[(&str, &str)], dotenv: &str) -> Environment {
        with_files(command, set, &[(".env", dotenv)])
    }

    fn with_files(
        command: &str,
        set: &[(&str, &str)],
        files: &[(&'static str, &str)],
    ) -> Environment {
        let recipes = Recipes::load(Path::new("/no/such/file")).unwrap();
        let set = set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let address = Url::parse("http://127.0.0.1:4600/s/7").unwrap();
        let given = Given {
            address,
            session: "7",
            environment: set.collect(),
            files: files.iter().map(|(name, text)| (*name, (*text).to_owned())).collect(),
        };
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
                "OLLAMA_HOST=http://127.0.0.1:4600/s/7/ollama",
                "OLLAMA_API_BASE=http://127.0.0.1:4600/s/7/ollama",
                "GROQ_BASE_URL=http://127.0.0.1:4600/s/7/groq",
                "OPENROUTER_BASE_URL=http://127.0.0.1:4600/s/7/openrouter/api/v1",
                "OPENROUTER_API_BASE=http://127.0.0.1:4600/s/7/openrouter/api/v1",
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
                "OPENAI_API_BASE was set in the environment: forwarding to http://litellm:4000/v1",
                "OPENAI_BASE_URL was set in .env to another address, which is not used: http://other/v1",
                "ANTHROPIC_BASE_URL was set in .env: forwarding to https://gateway/anthropic, \
                 with its password unless they have an Authorization header",
                "GEMINI_API_BASE in .env is ignored: its value is not an address such as \
                 https://generativelanguage.googleapis.com/",
                "OLLAMA_HOST was set in the environment: forwarding to http://gpu.local:11434",
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
