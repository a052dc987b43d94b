//! `toolyard watch`: the session of a watched agent.

mod again;
mod agent;
mod beside;
mod folder;
mod place;
mod scenario;
mod servers;
pub mod shown;

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use tokio::sync::mpsc;

use self::again::AgainArgs;
use self::place::AgentLaunch;
use super::ConfigArgs;
use super::out::warn;
use super::trouble::Trouble;
use crate::domain::{BreakpointSpec, FaultSpec, Knob};
use crate::model::relay::ListenerNews;
use crate::net::known::without_known;
use crate::scenario::ScenarioFile;
use crate::serve::agent::secrets::TOKEN;
use crate::serve::watch::{Listener, Listening, listen};
use crate::session::{Feed, JournalChoice, PreparedSession, SessionSpec, TaskSource};

/// The arguments of `toolyard watch`.
#[derive(Debug, Args)]
pub struct WatchArgs {
    /// The agent: a command and its arguments, with or without `--` before it. Without a command, agents that are
    /// started elsewhere are watched, and the lines that make them send their requests here are printed.
    #[arg(value_name = "COMMAND", trailing_var_arg = true)]
    pub command: Vec<OsString>,
    /// Without a screen: the agent keeps input and output, and toolyard writes only to standard error. The exit code is
    /// the agent's.
    #[arg(long)]
    pub headless: bool,
    /// The agent gets this terminal; `toolyard attach` shows the screen in another one. Agents that are known to need it
    /// get it anyway.
    #[arg(long, conflicts_with = "headless", requires = "command")]
    pub tty: bool,
    /// Also write the agent's output to this file.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["headless", "tty"], requires = "command")]
    pub out: Option<PathBuf>,
    /// Where to listen; port 0 takes a free one. An address that other machines can reach needs --token.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    pub listen: SocketAddr,
    /// Token that addresses must begin with: http://ADDRESS:PORT/t/TOKEN.
    #[arg(long, value_name = "TOKEN", env = TOKEN, hide_env_values = true)]
    pub token: Option<String>,
    /// Arm a fault, such as `get_weather:error:p=0.3`. See the end of `toolyard run --help`.
    #[arg(long, value_name = "SPEC")]
    pub fault: Vec<FaultSpec>,
    /// Set a breakpoint, such as `get_weather:after`. It holds while a screen controls the session, here or by `toolyard
    /// attach`. Otherwise hits are only counted and logged.
    #[arg(long = "break", value_name = "SPEC")]
    pub breakpoint: Vec<BreakpointSpec>,
    /// A call that is answered by a fault or by you does not reach the agent, so that its tool does not run; the model is
    /// asked on instead. Without it, the tool runs, and the model does not read its result.
    #[arg(long)]
    pub skip: bool,
    /// Without a screen here, hold for up to N seconds at a breakpoint while no attached screen controls the session.
    /// Without it, a breakpoint then only counts.
    #[arg(long, value_name = "N", value_parser = super::value::seconds)]
    pub hold: Option<f64>,
    /// End the agent before a model call that would bring the session above N US dollars, and refuse requests for models
    /// that have no price. Without it, one line says that 5 dollars are spent.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = super::value::number)]
    pub max_dollars: Option<f64>,
    /// Go on with a watched session where it ended: what was made of results and calls stays so.
    #[arg(long, value_name = "JOURNAL", conflicts_with = "recorded")]
    pub resume: Option<PathBuf>,
    /// Use addresses of `.env` and `.env.local` without a question, even if a key from elsewhere goes there.
    #[arg(long)]
    pub trust_env: bool,
    /// The agent starts the MCP servers of this file through relays, so that each of their calls can be held, changed or
    /// failed before the server gets it. The agent gets a changed copy of the file: by its recipe, in place of `{mcp}` in
    /// its command, or by the variable TOOLYARD_MCP_CONFIG.
    #[arg(long, value_name = "FILE", requires = "command")]
    pub mcp: Vec<PathBuf>,
    /// Write the journal to this file instead of the platform's data folder.
    #[arg(long, value_name = "FILE", conflicts_with = "no_journal")]
    pub journal: Option<PathBuf>,
    /// Write the journal to this folder, named by the running test: by TOOLYARD_TEST, or as pytest or Bats say it to what a
    /// test starts; without one, by the first message of the agent.
    #[arg(long, value_name = "FOLDER", requires = "headless", conflicts_with_all = ["journal", "no_journal"])]
    pub record: Option<PathBuf>,
    /// Write no journal.
    #[arg(long)]
    pub no_journal: bool,
    /// Check what the agent does against what this scenario expects, of conversations by their first words: the exit code
    /// is 1 if something does not hold. Faults, breakpoints and the record of the scenario count, too.
    #[arg(long, value_name = "FILE", requires = "headless")]
    pub scenario: Option<PathBuf>,
    /// Write the result of the scenario to this file, as JUnit XML.
    #[arg(long, value_name = "FILE", requires = "scenario")]
    pub junit: Option<PathBuf>,
    /// Write the report as a page for people to this file, at the end.
    #[arg(long, value_name = "FILE", requires = "headless")]
    pub html: Option<PathBuf>,
    /// Write the report as one JSON object to this file, at the end.
    #[arg(long, value_name = "FILE", requires = "headless")]
    pub report: Option<PathBuf>,
    /// Write the final state as one JSON object to this file; a replay of the journal gives the same.
    #[arg(long, value_name = "FILE", requires = "headless")]
    pub state: Option<PathBuf>,
    #[command(flatten)]
    pub again: AgainArgs,
    #[command(flatten)]
    pub config: ConfigArgs,
}

/// Watches an agent until it ends, or until the person leaves.
///
/// # Errors
/// The agent or the session cannot be started, or an output cannot be written.
pub fn watch(args: &WatchArgs) -> Result<ExitCode, Trouble> {
    let place = AgentLaunch::new(args)?;
    match args.headless || (place.wants_terminal && !args.command.is_empty()) {
        true => beside::run(args, place),
        false if args.hold.is_some() => Err(Trouble::usage(
            "--hold is for sessions without a screen here: add --headless or --tty",
        )),
        false => shown::run(args, place),
    }
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

    /// The session, and the channel for news about the agent. `varies`: rules for request parts that vary by run.
    fn session(
        &self,
        has_screen: bool,
        varies: &[String],
        scenario: Option<&ScenarioFile>,
    ) -> Result<(PreparedSession, mpsc::UnboundedSender<ListenerNews>), Trouble> {
        let (news, inbox) = mpsc::unbounded_channel();
        let folder = self.record.as_deref().map(folder::journal).transpose()?;
        let journal = match (self.journal.as_ref().or(folder.as_ref()), self.no_journal) {
            (Some(path), _) => JournalChoice::File(path.clone()),
            (None, true) => JournalChoice::None,
            (None, false) => JournalChoice::Configured,
        };
        let spec = SessionSpec {
            config: self.config.config.clone(),
            faults: self.fault.clone(),
            breakpoints: self.breakpoint.clone(),
            max_dollars: self.max_dollars,
            hold: self.hold,
            knobs: self.skip.then_some((Knob::Skip, 1.0)).into_iter().collect(),
            resumed: self.resume.clone(),
            tasks: TaskSource::List(Vec::new()),
            stay: has_screen,
            journal,
            recorded: self.again.recorded.as_deref().map(folder::record).transpose()?,
            ..SessionSpec::default()
        };
        let spec = scenario.into_iter().fold(spec, scenario::complete);
        let again = self.again.again(spec.recorded.is_some(), varies)?;
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
        news: news.clone(),
    };
    listen(listening).map_err(Trouble::usage)
}
