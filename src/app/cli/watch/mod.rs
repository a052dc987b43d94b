//! `toolyard watch`: the session of a watched agent.

mod agent;
pub mod faulted;
mod folder;
mod headless;
mod place;
pub mod recorded_run;
mod scenario;
pub mod screen_run;
mod servers;
pub mod verify;

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;

use clap::Args;
use tokio::sync::mpsc;

use self::place::AgentLaunch;
use self::recorded_run::AgainArgs;
use self::verify::VerifyArgs;
use super::ConfigArgs;
use super::out::warn;
use super::trouble::Trouble;
use crate::domain::{BreakpointSpec, FaultSpec, Knob};
use crate::model::relay::ListenerNews;
use crate::net::client::names_a_key;
use crate::net::known::without_known;
use crate::scenario::ScenarioFile;
use crate::serve::agent::secrets::TOKEN;
use crate::serve::watch::{Listener, Listening, listen};
use crate::session::{AgentCommand, Feed, JournalChoice, PreparedSession, SessionSpec, TaskSource};
use crate::store::kept_tree::KeptTree;
use crate::ui::NextSession;
use crate::ui::text::clean;

/// The arguments of `toolyard watch`.
#[derive(Debug, Args)]
pub struct WatchArgs {
    /// Command of the agent and its arguments, with or without `--` before it.
    ///
    /// Without a command, toolyard prints the variables for agents that you start elsewhere, and watches those.
    #[arg(value_name = "COMMAND", trailing_var_arg = true)]
    pub command: Vec<OsString>,
    /// Run without a screen; the exit code is the agent's.
    ///
    /// The agent keeps standard input and output. toolyard writes only to standard error.
    #[arg(long)]
    pub headless: bool,
    /// Give this terminal to the agent.
    ///
    /// `toolyard attach` shows the screen in another terminal. Agents that are known to need a terminal always get it.
    #[arg(long, conflicts_with = "headless", requires = "command")]
    pub tty: bool,
    /// Also write the agent's output to this file.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["headless", "tty"], requires = "command")]
    pub out: Option<PathBuf>,
    /// Listen at this address; port 0 takes a free port.
    ///
    /// An address that other machines can reach needs --token.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    pub listen: SocketAddr,
    /// Require this token in the address: http://ADDRESS:PORT/t/TOKEN.
    #[arg(long, value_name = "TOKEN", env = TOKEN, hide_env_values = true)]
    pub token: Option<String>,
    /// Make a tool or model fail, for example `get_weather:error:p=0.3`.
    ///
    /// The end of `toolyard run --help` lists targets, kinds and keys.
    #[arg(long, value_name = "SPEC")]
    pub fault: Vec<FaultSpec>,
    /// Set a breakpoint, for example `get_weather:after`.
    ///
    /// It stops the agent while a screen controls the session, here or by `toolyard attach`. Otherwise it only counts and
    /// logs its hits.
    #[arg(long = "break", value_name = "SPEC")]
    pub breakpoint: Vec<BreakpointSpec>,
    /// Do not run tools whose calls a fault or you answer.
    ///
    /// The agent does not see such a call, and toolyard sends the answer to the model. By default the tool runs, and the
    /// model reads the answer instead of the result.
    #[arg(long)]
    pub skip: bool,
    /// Score the tools at the end of each task, by rules.
    ///
    /// A tool loses if it failed or found nothing, and wins if the answer or a later call uses words of its result. The
    /// agent does not see the scores.
    #[arg(long)]
    pub scores: bool,
    /// Without a screen: stop at a breakpoint for up to N seconds.
    ///
    /// The agent continues after that time unless an attached screen controls the session. By default a breakpoint only
    /// counts its hits.
    #[arg(long, value_name = "N", value_parser = super::value::seconds)]
    pub hold: Option<f64>,
    /// End the agent before the session costs more than N US dollars.
    ///
    /// Requests for models without a price are refused. By default toolyard only warns once 5 dollars are spent.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = super::value::number)]
    pub max_dollars: Option<f64>,
    /// Continue a watched session where it ended.
    ///
    /// Your changes to calls and results stay.
    #[arg(long, value_name = "JOURNAL", conflicts_with = "recorded")]
    pub resume: Option<PathBuf>,
    /// Open the agent's encrypted connections to providers of models.
    ///
    /// For agents whose code names an address, or that log in with an account. The agent gets a proxy and a certificate of
    /// this session; both end with it. Connections to other hosts pass unread.
    #[arg(long, requires = "command")]
    pub intercept: bool,
    /// Also open connections to this host; `.example.com` stands for all hosts below it.
    #[arg(long, value_name = "HOST", requires = "intercept")]
    pub intercept_host: Vec<String>,
    /// Use addresses of `.env` and `.env.local` without asking.
    ///
    /// By default toolyard asks before it sends a key from elsewhere to such an address.
    #[arg(long)]
    pub trust_env: bool,
    /// Keep the agent's files as they are now, so that a fork runs in a copy of them.
    ///
    /// The agent has to run in a git repository. The files become a commit under `refs/toolyard/`, which lives as long as the
    /// journal; work tree, index and branches stay as they are.
    #[arg(long, requires = "command", conflicts_with = "no_journal")]
    pub snapshot: bool,
    /// With --snapshot: also keep files that git ignores, such as `.env`.
    #[arg(long, value_name = "PATTERN", requires = "snapshot")]
    pub with: Vec<String>,
    /// The files in which a fork runs, as `toolyard fork` gives them.
    #[arg(long, hide = true, conflicts_with = "snapshot")]
    pub tree: Option<KeptTreeWord>,
    /// Also control the calls to the MCP servers of this file.
    ///
    /// The agent starts these servers through relays. There you can hold, change or fail each call before the server gets
    /// it. The agent gets a changed copy of the file: as its recipe says, in place of `{mcp}` in its command, or by the
    /// variable TOOLYARD_MCP_CONFIG.
    #[arg(long, value_name = "FILE", requires = "command")]
    pub mcp: Vec<PathBuf>,
    /// Write the journal to this file instead of the data folder.
    #[arg(long, value_name = "FILE", conflicts_with = "no_journal")]
    pub journal: Option<PathBuf>,
    /// Write the journal to this folder, named after the running test.
    ///
    /// The name comes from TOOLYARD_TEST, pytest or Bats, or else from the agent's first message.
    #[arg(long, value_name = "FOLDER", requires = "headless", conflicts_with_all = ["journal", "no_journal"])]
    pub record: Option<PathBuf>,
    /// Write no journal.
    #[arg(long)]
    pub no_journal: bool,
    /// Check the agent against the expectations of this scenario.
    ///
    /// Expectations name conversations by their first words. The exit code is 1 if an expectation fails. Faults,
    /// breakpoints and the record of the scenario apply, too.
    #[arg(long, value_name = "FILE", requires = "headless")]
    pub scenario: Option<PathBuf>,
    /// Write the result of the scenario or of --fail-on to this file, as JUnit XML.
    #[arg(long, value_name = "FILE", requires = "headless")]
    pub junit: Option<PathBuf>,
    /// Write the report as an HTML page to this file at the end.
    #[arg(long, value_name = "FILE", requires = "headless")]
    pub html: Option<PathBuf>,
    /// Write the report as one JSON object to this file at the end.
    #[arg(long, value_name = "FILE", requires = "headless")]
    pub report: Option<PathBuf>,
    /// Write the final state as one JSON object to this file.
    ///
    /// A replay of the journal prints the same state.
    #[arg(long, value_name = "FILE", requires = "headless")]
    pub state: Option<PathBuf>,
    #[command(flatten)]
    pub verify: VerifyArgs,
    #[command(flatten)]
    pub again: AgainArgs,
    #[command(flatten)]
    pub config: ConfigArgs,
}

/// The files in which a fork runs, as a word of the command line.
#[derive(Clone, Debug)]
pub struct KeptTreeWord(pub KeptTree);

impl FromStr for KeptTreeWord {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map(Self).map_err(|error| error.to_string())
    }
}

/// The end of a watched session.
pub enum WatchEnd {
    Code(ExitCode),
    /// The person chose another session on the screen.
    Next(NextSession),
}

/// Watches an agent until it ends, or until the person leaves.
///
/// # Errors
/// The agent or the session cannot be started, or an output cannot be written.
pub fn watch(args: &WatchArgs) -> Result<WatchEnd, Trouble> {
    let place = AgentLaunch::new(args)?;
    let tree = place.tree.clone();
    let ended = match args.headless || (place.wants_terminal && !args.command.is_empty()) {
        true => headless::run(args, place).map(WatchEnd::Code),
        false if args.hold.is_some() => Err(Trouble::usage(
            "--hold is for sessions without a screen here: add --headless or --tty",
        )),
        false => screen_run::run(args, place),
    };
    // A session that could not begin has no journal with which its files would be deleted.
    let could_not = ended.as_ref().is_err_and(|trouble| trouble.exit_code() == 2);
    if let Some(tree) = tree.filter(|_| could_not) {
        tree.delete().unwrap_or_else(|why| warn(&clean(&why)));
    }
    ended
}

impl WatchArgs {
    /// The exit code after an agent with this one. An agent that ends well without a request has failed where this run
    /// was to break, hold or check something. `has_asked`: whether a request was understood.
    fn exit_code(&self, code: i32, has_asked: bool) -> ExitCode {
        let given = [
            ("--fault", !self.fault.is_empty()),
            ("--break", !self.breakpoint.is_empty()),
            ("--scenario", self.scenario.is_some()),
            ("--strict", self.again.strict),
        ];
        let given = given.into_iter().find(|(_, is_given)| *is_given);
        match given.filter(|_| code == 0 && !has_asked) {
            Some((option, _)) => {
                warn(&format!("{option} had no effect, since no request was understood"));
                ExitCode::FAILURE
            }
            None => ExitCode::from(u8::try_from(code).unwrap_or(1)),
        }
    }

    /// The title of the agent without keys, for people.
    fn title(&self) -> String {
        let words: Vec<_> = self.command.iter().map(|word| word.to_string_lossy()).collect();
        match words.is_empty() {
            true => "agents started elsewhere".to_owned(),
            false => without_known(&words.join(" ")).into_owned(),
        }
    }

    /// The command of the agent, for its journal.
    fn agent(&self, place: &AgentLaunch) -> Result<Option<Box<AgentCommand>>, Trouble> {
        if self.command.is_empty() {
            return Ok(None);
        }
        let words =
            self.command.iter().map(|word| without_known(&word.to_string_lossy()).into_owned());
        let variables = std::env::vars_os().filter(|(_, value)| !value.is_empty());
        let names = variables.filter_map(|(name, _)| name.into_string().ok());
        let switches =
            [("--intercept", self.intercept), ("--skip", self.skip), ("--scores", self.scores)];
        let switches = switches.into_iter().filter(|(_, is_on)| *is_on);
        let mut options: Vec<_> = switches.map(|(option, _)| option.to_owned()).collect();
        let hosts = self.intercept_host.iter().flat_map(|host| ["--intercept-host", host]);
        options.extend(hosts.map(str::to_owned));
        for file in &self.mcp {
            let file = std::path::absolute(file).map_err(Trouble::failed)?;
            options.extend(["--mcp".to_owned(), file.to_string_lossy().into_owned()]);
        }
        let folder = std::env::current_dir().map_err(Trouble::failed)?;
        Ok(Some(Box::new(AgentCommand {
            command: words.collect(),
            folder,
            tree: place.tree.clone(),
            variables: names.filter(|name| names_a_key(name)).collect(),
            options,
        })))
    }

    /// The session, and the channel for news about the agent. `place`: where it runs.
    fn session(
        &self,
        has_screen: bool,
        place: &AgentLaunch,
        scenario: Option<&ScenarioFile>,
    ) -> Result<(PreparedSession, mpsc::UnboundedSender<ListenerNews>), Trouble> {
        let (news, inbox) = mpsc::unbounded_channel();
        let folder = self.record.as_deref().map(folder::journal).transpose()?;
        let journal = match (self.journal.as_ref().or(folder.as_ref()), self.no_journal) {
            (Some(path), _) => JournalChoice::File(path.clone()),
            (None, true) => JournalChoice::None,
            (None, false) => JournalChoice::Configured,
        };
        let recorded = self.again.recorded.as_deref().map(folder::record).transpose()?;
        let spec = SessionSpec {
            agent: self.agent(place)?,
            fork: self.again.fork(recorded.as_deref())?,
            config: self.config.config.clone(),
            faults: self.fault.clone(),
            breakpoints: self.breakpoint.clone(),
            max_dollars: self.max_dollars,
            hold: self.hold,
            knobs: [(Knob::Skip, self.skip), (Knob::Scores, self.scores)]
                .into_iter()
                .filter_map(|(knob, is_on)| is_on.then_some((knob, 1.0)))
                .collect(),
            resumed: self.resume.clone(),
            tasks: TaskSource::List(Vec::new()),
            stay: has_screen,
            journal,
            recorded,
            ..SessionSpec::default()
        };
        let spec = scenario.into_iter().fold(spec, scenario::complete);
        let again = self.again.again(spec.recorded.is_some(), &place.varies)?;
        let feed = Feed { again, ..Feed::new(inbox) };
        Ok((spec.watch(&self.title(), feed)?, news))
    }
}

/// Listens for the requests of the agent.
///
/// # Errors
/// The address needs a token, or an upstream is not an address.
fn begin(
    place: &mut AgentLaunch,
    news: &mpsc::UnboundedSender<ListenerNews>,
) -> Result<Listener, Trouble> {
    for text in std::mem::take(&mut place.environment.notes) {
        // The session may have ended already.
        let _ = news.send(ListenerNews::Noticed(text));
    }
    if let Some(servers) = &mut place.servers {
        servers.listen()?;
    }
    let listening = Listening {
        socket: place.socket.take().ok_or_else(|| Trouble::failed("it listens already"))?,
        token: place.token.take(),
        upstreams: place.upstreams(),
        intercepting: place.intercepting.take(),
        has_record: place.has_record,
        login: place.login.take(),
        news: news.clone(),
    };
    if listening.intercepting.is_some() {
        let _ = news.send(ListenerNews::Intercepting);
    }
    listen(listening).map_err(Trouble::usage)
}
