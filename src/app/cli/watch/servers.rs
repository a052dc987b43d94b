//! `toolyard watch --mcp FILE`: the agent starts the servers of the file through relays. The agent gets a changed copy
//! of the file; the file itself is not touched.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Write;
use std::net::Ipv4Addr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use reqwest::Url;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::LocalSet;

use super::WatchArgs;
use crate::mcp::config::{Configuration, Surroundings};
use crate::mcp::{OfferedTools, ServerEntry, Transport, header_values};
use crate::serve::SessionFolder;
use crate::serve::agent::{Environment, ProgramRecipe, apart};
use crate::serve::relay_socket::{dial, find};
use crate::serve::tools::{RelayTarget, Relaying, serve};
use crate::serve::watch::{Bound, DOOR, bind};
use crate::shell::runtime::runtime;
use crate::shell::trouble::Trouble;

/// The variable that names the copy to programs without a recipe.
const VARIABLE: &str = "TOOLYARD_MCP_CONFIG";
/// The placeholder for the copy's path in the arguments of the command.
const PLACEHOLDER: &str = "{mcp}";

/// Time between two looks for the own session.
const AGAIN: Duration = Duration::from_millis(20);

/// The changed copy, deleted when this value is dropped.
pub struct Servers {
    folder: SessionFolder,
    entries: Vec<(String, Value)>,
    /// Relays of servers over HTTP.
    listeners: Vec<Listener>,
    /// Notes for the person, such as servers that are left out.
    notes: Vec<String>,
}

/// A relay of a server over HTTP.
struct Listener {
    socket: Bound,
    target: RelayTarget,
    key: String,
    offered: OfferedTools,
}

impl Listener {
    /// Listens on its own thread until the program ends, and reports to the session of this program.
    fn listen(self) -> Result<(), Trouble> {
        let Self { socket, target, key, offered } = self;
        let runtime = runtime()?;
        let work = move || {
            let (news, told) = mpsc::unbounded_channel();
            let own = std::process::id();
            let tell = async {
                loop {
                    let found = find().await.running.into_iter().find(|it| it.hello.pid == own);
                    if let Some(session) = found {
                        return dial(session, &key, told).await;
                    }
                    tokio::time::sleep(AGAIN).await;
                }
            };
            let key = key.clone();
            let relaying = Relaying { socket, target, key, news, offered };
            let both = async { tokio::join!(serve(relaying), tell) };
            let (served, ()) = runtime.block_on(LocalSet::new().run_until(both));
            if let Err(error) = served {
                tracing::info!(%error, "a relay ended");
            }
        };
        let thread = thread::Builder::new().name("mcp".to_owned()).spawn(work);
        thread.map(drop).map_err(Trouble::failed)
    }
}

impl Servers {
    /// Begins to relay servers over HTTP.
    ///
    /// # Errors
    /// The system has no thread.
    pub fn listen(&mut self) -> Result<(), Trouble> {
        self.listeners.drain(..).try_for_each(Listener::listen)
    }

    /// Reads the files, and writes the copy; `None`: no file is named.
    ///
    /// # Errors
    /// No server can be started, or the copy cannot be written.
    pub fn of(args: &WatchArgs) -> Result<Option<Self>, Trouble> {
        if args.mcp.is_empty() {
            return Ok(None);
        }
        if args.no_journal {
            let text =
                "--mcp needs a journal: relays find the session by it; leave out --no-journal";
            return Err(Trouble::Usage(text.to_owned()));
        }
        let folder = SessionFolder::new().map_err(Trouble::failed)?;
        let mut made =
            Self { folder, entries: Vec::new(), listeners: Vec::new(), notes: Vec::new() };
        let mut keys = BTreeMap::<String, PathBuf>::new();
        for path in &args.mcp {
            let home = std::env::home_dir();
            let here = std::env::current_dir().map_err(Trouble::failed)?;
            let around = Surroundings::of_process(home.as_deref(), &here);
            let Configuration { entries, problems, remarks } = Configuration::load(path, &around);
            made.notes.extend(problems.iter().chain(&remarks).map(ToString::to_string));
            for entry in entries {
                if let Some(why) = &entry.disabled {
                    made.notes.push(format!("the server {} is left out: {why}", entry.key));
                } else if let Some(other) = keys.insert(entry.key.clone(), path.clone()) {
                    let (key, path) = (&entry.key, path.display());
                    let other = other.display();
                    made.notes
                        .push(format!("{path}: the server {key} is left out: {other} has it, too"));
                } else {
                    made.add(&entry)?;
                }
            }
        }
        if made.entries.is_empty() {
            let why = made.notes.join("\n");
            return Err(Trouble::Usage(format!("--mcp: no server can be started\n{why}")));
        }
        let servers: serde_json::Map<_, _> = made.entries.iter().cloned().collect();
        made.write("servers.json", &json!({ "mcpServers": servers }))?;
        Ok(Some(made))
    }

    /// The path of the copy.
    fn path(&self) -> PathBuf {
        self.folder.path().join("servers.json")
    }

    /// Writes a file that only this user can read, since it has keys.
    fn write(&self, name: &str, value: &Value) -> Result<PathBuf, Trouble> {
        let path = self.folder.path().join(name);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        let written = file.and_then(|mut file| file.write_all(value.to_string().as_bytes()));
        written.map_err(|error| Trouble::failed(format!("{}: {error}", path.display())))?;
        Ok(path)
    }

    fn add(&mut self, entry: &ServerEntry) -> Result<(), Trouble> {
        let key = &entry.key;
        let value = match &entry.transport {
            Transport::Stdio { command, args, env, cwd } => {
                let session = std::process::id().to_string();
                let mut words =
                    vec!["mcp".to_owned(), format!("--name={key}"), format!("--session={session}")];
                if !env.is_empty() {
                    let exposed =
                        env.iter().map(|(name, value)| (name.clone(), value.expose().into()));
                    let variables = Value::Object(exposed.collect());
                    let name = format!("variables-{}.json", self.entries.len());
                    let path = self.write(&name, &variables)?;
                    words.push(format!("--variables={}", path.display()));
                }
                words.extend(cwd.iter().map(|cwd| format!("--folder={}", cwd.display())));
                let OfferedTools { only, without } = &entry.offered;
                words.extend(only.iter().flatten().map(|tool| format!("--only={tool}")));
                words.extend(without.iter().map(|tool| format!("--without={tool}")));
                // An empty list offers nothing.
                let is_closed = only.as_ref().is_some_and(Vec::is_empty);
                words.extend(is_closed.then(|| "--without=*".to_owned()));
                words.extend(["--".to_owned(), command.clone()]);
                words.extend(args.iter().cloned());
                // The path by which toolyard starts its helpers does not work here: it is valid only in this process.
                let own = std::env::current_exe().map_err(Trouble::failed)?;
                let own = own.to_string_lossy();
                json!({ "command": own, "args": words })
            }
            Transport::Http { url, headers, any_address } => {
                let target =
                    Url::parse(url).map_err(|error| Trouble::usage(format!("{key}: {error}")))?;
                // The agent may write what it gets on a command line, so the relay adds the headers.
                let headers = header_values(headers).collect();
                let target = RelayTarget::new(target, *any_address, headers);
                let target = target.map_err(Trouble::failed)?;
                let socket = bind((Ipv4Addr::LOCALHOST, 0).into()).map_err(Trouble::failed)?;
                let own = target.address_at(&socket);
                self.listeners.push(Listener {
                    socket,
                    target,
                    key: key.clone(),
                    offered: entry.offered.clone(),
                });
                json!({ "type": "http", "url": own })
            }
        };
        self.entries.push((key.clone(), value));
        Ok(())
    }

    /// Gives the copy to the agent: by its recipe, by the placeholder in its command, or by a variable.
    pub fn give(
        &self,
        command: &mut [OsString],
        recipe: Option<&ProgramRecipe>,
        environment: &mut Environment,
    ) {
        let copy = self.path().display().to_string();
        let mut is_given = false;
        for word in command {
            if let Some(text) = word.to_str().filter(|text| text.contains(PLACEHOLDER)) {
                (*word, is_given) = (text.replace(PLACEHOLDER, &copy).into(), true);
            }
        }
        environment.variables.push((VARIABLE.to_owned(), copy.clone()));
        let recipe = recipe.filter(|recipe| {
            !is_given && (!recipe.servers.is_empty() || !recipe.each_server.is_empty())
        });
        if let Some(recipe) = recipe {
            let whole = recipe.servers.iter().map(|text| text.replace(PLACEHOLDER, &copy));
            environment.arguments.extend(whole);
            for (number, (key, entry)) in self.entries.iter().enumerate() {
                let table = table(&shown(entry, number, environment));
                let fill = |text: &String| text.replace("{key}", key).replace("{server}", &table);
                environment.arguments.extend(recipe.each_server.iter().map(fill));
            }
        } else if !is_given {
            environment.notes.push(format!(
                "the agent's MCP servers are in {copy}, which {VARIABLE} names; {PLACEHOLDER} in the command stands for it"
            ));
        }
        environment.notes.extend(self.notes.iter().cloned());
    }
}

/// An entry for the command line, which other users can read: the token of its address is in a variable.
fn shown(entry: &Value, number: usize, environment: &mut Environment) -> Value {
    let (address, token) = entry["url"].as_str().map(apart).unwrap_or_default();
    if token.is_empty() {
        return entry.clone();
    }
    let variable = format!("TOOLYARD_DOOR_{number}");
    environment.variables.push((variable.clone(), token.to_owned()));
    json!({ "type": "http", "url": address, "env_http_headers": { DOOR: variable } })
}

/// An entry as a table of TOML, in one line.
fn table(entry: &Value) -> String {
    match entry {
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| {
                format!("{}={}", Value::from(&**key), table(value))
            };
            format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(table).collect::<Vec<_>>().join(", "))
        }
        // JSON texts are valid TOML texts, except for one escape that is never written.
        other => other.to_string(),
    }
}
