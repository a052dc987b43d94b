//! The address to which agents send their requests, and the environment that makes them do so.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use reqwest::Url;

use super::servers::Servers;
use super::{KeptTreeWord, WatchArgs};
use crate::cli::{question, trouble::Trouble};
use crate::config;
use crate::files::text_file::{self, Expectation};
use crate::net::known::{adds_key, remember_address, without_known};
use crate::serve::agent::secrets::hide_keys;
use crate::serve::agent::{
    Environment, Given, KnownLogin, LedAway, ProgramRecipe, Recipes, Variables,
};
use crate::serve::intercept::{Authority, Intercepting, OpenedHosts, TrustBundle};
use crate::serve::watch::{Bound, Upstreams, bind, new_token};
use crate::store::kept_tree::KeptTree;
use crate::trust_answers::Brought;

/// The files from which agents read variables, first those that count first.
const FILES: [&str; 2] = [".env.local", ".env"];
const VARIABLES: Expectation =
    Expectation { what: "variables", missing: "create it", largest: 1024 * 1024 };

/// The file of further recipes, beside the configuration.
const RECIPES: &str = "agents.toml";

/// The address of the listener, and the environment for the agent.
pub struct AgentLaunch {
    pub socket: Option<Bound>,
    pub address: Url,
    /// The token in it.
    pub token: Option<String>,
    pub environment: Environment,
    /// The command that starts the agent.
    pub command: Vec<OsString>,
    /// The agent's MCP servers with their changed configuration, kept until the agent has ended.
    pub servers: Option<Servers>,
    /// The authority that opens its encrypted connections, and the certificates that it trusts, kept until it has ended.
    pub intercepting: Option<Intercepting>,
    _trusted: Option<TrustBundle>,
    /// The login of the agent.
    pub login: Option<KnownLogin>,
    /// True if a record may answer requests.
    pub has_record: bool,
    /// True if the agent gets the terminal.
    pub wants_terminal: bool,
    /// Rules that name the parts of the agent's requests that differ from run to run.
    pub varies: Vec<String>,
    /// The file of further recipes.
    pub recipes: PathBuf,
    /// The agent's files, if they are kept.
    pub tree: Option<KeptTree>,
}

impl AgentLaunch {
    /// Hides the agent's keys, binds the address, and builds the environment.
    ///
    /// # Errors
    /// The address is in use, or the recipes are wrong.
    pub fn new(args: &WatchArgs) -> Result<Self, Trouble> {
        hide_keys(&args.command);
        let file = recipes_file(args);
        let recipes = Recipes::load(&file).map_err(Trouble::usage)?;
        let socket = bind(args.listen).map_err(Trouble::usage)?;
        let own = Url::parse(&format!("http://{}", socket.address)).map_err(Trouble::usage)?;
        let command = args.command.first().map(Path::new);
        let mut notes = Vec::new();
        let files = FILES.iter().filter_map(|file| Some((*file, variables(file, &mut notes)?)));
        let session = format!("toolyard-{}", std::process::id());
        let mut given = Given {
            address: own,
            session: &session,
            environment: std::env::vars_os()
                .filter_map(|(name, value)| {
                    Some((name.into_string().ok()?, value.into_string().ok()?))
                })
                .collect(),
            files: files.collect(),
        };
        let mut environment = Environment::new(&recipes, command, &given);
        let mut token = args.token.clone();
        // Every user of this machine can reach the listener, but not every user may use this key.
        if token.is_none() && environment.upstreams.iter().any(|it| adds_key(&it.address)) {
            token = Some(new_token().map_err(Trouble::failed)?);
        }
        if let Some(token) = &token {
            given.address = given.address.join(&format!("/t/{token}")).map_err(Trouble::usage)?;
            environment = Environment::new(&recipes, command, &given);
        }
        let address = given.address;
        environment.notes.splice(0..0, notes);
        expect_own(args, &environment.led_away)?;
        let recipe = command.and_then(|command| recipes.program(command));
        let login = use_login(args, recipe, &given.environment, &mut environment);
        let servers = Servers::of(args)?;
        let mut started = args.command.clone();
        if let Some(servers) = &servers {
            servers.give(&mut started, recipe, &mut environment);
        }
        let (intercepting, trusted) = intercept(args, &address, &mut environment)?;
        let has_terminal = rustix::termios::isatty(std::io::stdin());
        let wants_terminal = args.tty || (has_terminal && recipe.is_some_and(|known| known.tty));
        let varies = recipes.varies(command);
        let tree = match &args.tree {
            None if args.snapshot => {
                let folder = std::env::current_dir().map_err(Trouble::failed)?;
                let (tree, notes) = KeptTree::keep(&folder, &args.with).map_err(Trouble::Usage)?;
                environment.notes.extend(notes);
                Some(tree)
            }
            given => given.clone().map(|KeptTreeWord(tree)| tree),
        };
        Ok(Self {
            socket: Some(socket),
            address,
            token,
            environment,
            command: started,
            servers,
            intercepting,
            _trusted: trusted,
            login,
            has_record: args.again.recorded.is_some(),
            wants_terminal,
            varies,
            recipes: file,
            tree,
        })
    }

    /// The upstreams to which requests are forwarded.
    pub fn upstreams(&self) -> Upstreams {
        let mut upstreams = Upstreams::default();
        for known in &self.environment.upstreams {
            let address = known.address.to_string();
            match known.endpoint.as_str() {
                "openai" => {
                    (upstreams.openai, upstreams.openai_is_usual) = (address, known.is_usual);
                }
                "anthropic" => upstreams.anthropic = address,
                "gemini" => upstreams.gemini = address,
                // Some clients leave out its path.
                "ollama" => {
                    upstreams.ollama.clone_from(&address);
                    upstreams.others.push((known.path.clone(), address));
                }
                _ => upstreams.others.push((known.path.clone(), address)),
            }
        }
        upstreams
    }
}

/// Lets a program use the login that it has, and returns the login. Arguments of the recipe would replace it by a key, and
/// opened connections are seen without them.
fn use_login(
    args: &WatchArgs,
    recipe: Option<&ProgramRecipe>,
    variables: &Variables,
    environment: &mut Environment,
) -> Option<KnownLogin> {
    let login = recipe?.login.as_ref()?;
    let known = login.found(variables)?;
    let Some(key) = &login.key else { return Some(known) };
    let has_key = variables.get(key).is_some_and(|value| !value.is_empty());
    // An address that was set before is no provider's, and its key is for it.
    let is_usual = environment.upstreams.iter().all(|it| it.endpoint != "openai" || it.is_usual);
    if args.intercept && is_usual {
        environment.arguments.clear();
    } else if !has_key {
        environment.notes.push(format!(
            "{key} has no value, and the login in {} is not used: add --intercept to watch with it",
            known.path.display()
        ));
    }
    Some(known)
}

/// The authority that opens the agent's encrypted connections, if one was asked for. Its variables join the environment.
///
/// # Errors
/// A host is none, or the certificates cannot be written.
fn intercept(
    args: &WatchArgs,
    address: &Url,
    environment: &mut Environment,
) -> Result<(Option<Intercepting>, Option<TrustBundle>), Trouble> {
    if !args.intercept {
        return Ok((None, None));
    }
    let hosts = OpenedHosts::with(&args.intercept_host).map_err(Trouble::usage)?;
    let authority = Authority::new().map_err(Trouble::failed)?;
    let trusted = TrustBundle::new(authority.pem()).map_err(Trouble::failed)?;
    let token = new_token().map_err(Trouble::failed)?;
    let (host, port) = (address.host_str().unwrap_or_default(), address.port().unwrap_or(80));
    let proxy = format!("http://toolyard:{token}@{host}:{port}");
    // Its password is a key as others are.
    Url::parse(&proxy).iter().for_each(remember_address);
    environment.variables.extend(trusted.variables(&proxy));
    if trusted.is_alone {
        let text =
            "this system has no certificates, so the agent reaches only the hosts that are opened";
        environment.notes.push(text.to_owned());
    }
    Ok((Some(Intercepting { authority, hosts, token }), Some(trusted)))
}

/// The text of a file of variables; `None` if there is none. One that cannot be read is noted.
fn variables(file: &str, notes: &mut Vec<String>) -> Option<String> {
    let path = Path::new(file);
    let about = path.metadata().ok()?;
    // Reading a pipe would wait, and take from the agent what it is for.
    let read = match about.is_file() {
        true => text_file::read(path, &VARIABLES).map_err(|problem| problem.to_string()),
        false => Err(format!("{file}: no regular file")),
    };
    read.map_err(|why| notes.push(format!("{why}; its variables are not known"))).ok()
}

/// Expects a yes for addresses of files to which a key from elsewhere would go. Without it nothing starts: the usual
/// endpoint would be a wrong one, too, and get the key as well.
fn expect_own(args: &WatchArgs, led: &[LedAway]) -> Result<(), Trouble> {
    if args.trust_env {
        return Ok(());
    }
    let folder = std::env::current_dir().map_err(Trouble::failed)?;
    let brought = |led: &LedAway| {
        let LedAway { variable, file, address } = led;
        let told = format!("{variable} in {} leads to {address}", folder.join(file).display());
        (Brought::address(&folder, address), without_known(&told).into_owned())
    };
    let asked = "A key or login that is not from this file would go there. Start the agent?";
    let advice = "a key or login that is not from this file would go there: add --trust-env if that is right";
    question::expect_yes(led.iter().map(brought).collect(), !args.headless, asked, advice)
}

fn recipes_file(args: &WatchArgs) -> PathBuf {
    let config = args.config.config.clone().or_else(config::default_path);
    let folder = config.as_deref().and_then(Path::parent);
    folder.map_or_else(|| RECIPES.into(), |folder| folder.join(RECIPES))
}
