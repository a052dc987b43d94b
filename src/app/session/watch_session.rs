//! A session that watches watched agents: it has no models, tools and tasks of its own.

use std::path::Path;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::moved::Moved;
use super::rerun_journals::{Rerun, is_before_all};
use super::resume::{next_to, spec_of as spec_of_journal};
use super::{JournalChoice, PreparedSession, SessionError, SessionSpec, SpecField};
use crate::config::{Config, ModelConfig, fill_watched};
use crate::domain::{Base, FaultSpec, Knob, ModelSpec, Record, TaskList, state::Keeps};
use crate::engine::{Again, Beginning, GuestFork, Inbox, Rest, without_end};
use crate::model::http::Endpoint;
use crate::model::relay::ListenerNews;
use crate::store::journal;
use crate::store::prices::PriceTable;
use crate::tool::foreign_calls;
use crate::workspace::Workspace;

/// Why a watched session cannot be started without its agent.
pub const AGENT_IS_GONE: &str = "watched agents acted in it, which only their own program can \
     continue: `toolyard watch --resume JOURNAL -- COMMAND` goes on with it, and `toolyard replay` shows what happened";

/// Input of a session of watched agents.
pub struct Feed {
    /// News from a listener.
    pub news: UnboundedReceiver<ListenerNews>,
    /// News from relays of MCP servers.
    pub relayed: UnboundedReceiver<foreign_calls::RelayNews>,
    /// Sender of such news for relays that connect to the session's socket; `None`: no relay can.
    pub relays: Option<UnboundedSender<foreign_calls::RelayNews>>,
    /// Describes a model by its name and its endpoint; `None`: with the prices of the configuration.
    pub spec_of: Option<fn(&str, &str) -> ModelSpec>,
    /// Endpoints of the configuration, whose prices come before those of a table.
    pub known: Vec<Endpoint>,
    /// How the agents run over the journal that the spec names, whose records are read into this; `None`: they run
    /// without it.
    pub again: Option<Again>,
}

impl Feed {
    /// A feed of this news, for a session that accepts relays.
    pub fn new(news: UnboundedReceiver<ListenerNews>) -> Self {
        let (relays, relayed) = unbounded_channel();
        Self { news, relayed, relays: Some(relays), spec_of: None, known: Vec::new(), again: None }
    }
}

impl SessionSpec {
    /// A session of watched agents, whose requests a listener reports through a feed.
    ///
    /// # Errors
    /// Faults in the spec, in the configuration, or in its table of prices.
    pub fn watch(&self, title: &str, mut feed: Feed) -> Result<PreparedSession, SessionError> {
        let past = self.resumed.as_deref().map(past_of).transpose()?.flatten();
        let rerun = self.recorded.as_deref().map(Rerun::load).transpose()?;
        let Rerun { records, seed, faults, skips, mut notices, names } = rerun.unwrap_or_default();
        if let Some(path) = self.resumed.as_deref().filter(|_| past.is_none()) {
            let shown = path.display();
            notices.push(format!(
                "{shown}: no agent had sent a request yet; the session starts from the beginning"
            ));
        }
        let is_one = names.len() == 1;
        let moved = self.moved()?;
        if let Some(again) = &mut feed.again {
            again.records = match &moved {
                Some(moved) => records.into_iter().map(|all| moved.records(all)).collect(),
                None => records,
            };
            again.names.clone_from(&names);
        }
        let own = self.faults.iter().filter(|fault| !faults.contains(fault)).cloned();
        let mut own: Vec<_> = own.collect();
        own.iter().chain(&faults).try_for_each(of_foreign)?;
        let mut breakpoints = self.breakpoints.clone();
        // What a person wants acts from the moment of a fork on.
        let mut fork = self.fork.clone();
        if let (Some(fork), Some(again)) = (&mut fork, &mut feed.again) {
            let (faults, breakpoints) =
                (std::mem::take(&mut own), std::mem::take(&mut breakpoints));
            let breakpoints = breakpoints.into_iter().map(|spec| (spec, true)).collect();
            let mut made = fork.of_agent()?;
            if let (Some((_, edit)), Some(moved)) = (&mut made.edit, &moved) {
                moved.value(edit).into_iter().for_each(|led| *edit = led);
            }
            (fork.at, fork.call) = (made.at, None);
            again.fork = Some(GuestFork { faults, breakpoints, ..made });
        }
        let mut knobs = self.knobs.clone();
        knobs.extend(skips.then_some((Knob::Skip, 1.0)));
        let spec = Self {
            knobs,
            seed: self.seed.or(seed),
            faults: own.into_iter().chain(faults).collect(),
            breakpoints,
            fork,
            // A folder of journals cannot be a parent.
            parent: names.into_iter().next().filter(|_| is_one),
            watched: true,
            journal: match (&self.resumed, &self.journal) {
                (Some(path), JournalChoice::Configured) => JournalChoice::File(next_to(path)),
                (_, chosen) => chosen.clone(),
            },
            ..self.clone()
        };
        let mut config = Config::find(self.config.as_deref()).map_err(SessionError::input)?;
        spec.settle(&mut config)?;
        let endpoints = config.models.drain(..).filter_map(|(_, model)| match model {
            ModelConfig::Hosted(endpoint) => Some(endpoint),
            ModelConfig::Simulated(_) => None,
        });
        feed.known.extend(endpoints);
        // The agent starts its servers itself.
        config.tools.servers.clear();
        config.roles.clear();
        config.reader = Default::default();
        config.experience.embeddings = None;
        // The agent's behaviour looks like this loop: every tool on every menu.
        config.session.strategy = Base::React.into();
        Ok(PreparedSession {
            tasks: TaskList::default(),
            workspace: Workspace::none(title),
            beginning: past.map_or(Beginning::New, |past| Beginning::Continued {
                past: past.into(),
                rest: Some(Rest::default()),
            }),
            keeps: Keeps::All,
            purse: None,
            copy: None,
            is_attachable: false,
            spec,
            learned: None,
            experience: None,
            past_uses: None,
            trust: Default::default(),
            about_servers: Vec::new(),
            notices,
            feed: Some(feed),
            config,
        })
    }
}

impl SessionSpec {
    /// The folder of the agent's files in its record, and that of a copy in which it runs again; `None`: it runs in no copy.
    fn moved(&self) -> Result<Option<Moved>, SessionError> {
        let own = self.agent.as_deref().and_then(|agent| agent.tree.as_ref());
        let (Some(own), Some(recorded)) = (own, self.recorded.as_deref().filter(|it| it.is_file()))
        else {
            return Ok(None);
        };
        let then = spec_of_journal(recorded)?.agent.and_then(|agent| agent.tree);
        Ok(then.and_then(|then| Moved::between(then.top(), own.top())))
    }
}

/// The past of a continued watched session: all records but those by which its end closed open calls and tasks. `None` if
/// no agent had asked anything.
///
/// # Errors
/// The journal cannot be read, is still being written, or watched agents did not act in it.
fn past_of(path: &Path) -> Result<Option<Vec<Record>>, SessionError> {
    if journal::is_written(path).map_err(SessionError::input)? {
        let shown = path.display();
        let why = format!(
            "{shown}: it is still being written: toolyard attach {shown} shows its session"
        );
        return Err(SessionError::input(why));
    }
    if is_before_all(path)? {
        return Ok(None);
    }
    let records = Rerun::load(path)?.records.into_iter().next();
    Ok(Some(without_end(records.unwrap_or_default())))
}

/// # Errors
/// The fault cannot act on calls of watched agents.
fn of_foreign(fault: &FaultSpec) -> Result<(), SessionError> {
    let field = || SpecField::Fault(Box::new(fault.clone()));
    fault.of_foreign().map_err(|why| SessionError::Spec { field: field(), why })
}

/// Describes the models of watched agents, with the prices of this configuration.
///
/// # Errors
/// Faults in the table of prices.
pub(super) fn inbox(config: &Config, feed: Feed) -> Result<Inbox, SessionError> {
    let Feed { news, relayed, spec_of: own, known, again, .. } = feed;
    if let Some(spec_of) = own {
        return Ok(Inbox { news, relayed, spec_of: Box::new(spec_of), again });
    }
    let table = config.price_table().map_err(SessionError::input)?;
    let spec_of =
        Box::new(move |model: &str, at: &str| spec_of((&known, table.as_ref()), model, at));
    Ok(Inbox { news, relayed, spec_of, again })
}

/// The model of this name at an endpoint, as `api.openai.com/v1`. Its price is the configured one of the same model at the
/// same address, else that of the table.
fn spec_of(
    (known, table): (&[Endpoint], Option<&PriceTable>),
    model: &str,
    endpoint: &str,
) -> ModelSpec {
    let mut asked = Endpoint::new(model, format!("https://{endpoint}"), model);
    let (host, _) = endpoint.split_once('/').unwrap_or((endpoint, ""));
    let is_same = |it: &&Endpoint| it.model == model && it.server().as_deref() == Some(host);
    match known.iter().find(is_same).filter(|it| it.price_in.is_some() && it.price_out.is_some()) {
        Some(known) => asked = Endpoint { name: asked.name, ..known.clone() },
        None => fill_watched(&mut asked, table),
    }
    ModelSpec {
        price_in: asked.price_in.map(Into::into),
        price_out: asked.price_out.map(Into::into),
        price_cached: asked.price_cached.map(Into::into),
        price_written: asked.price_written.map(Into::into),
        price_from: asked.price_from,
        listed: asked.listed,
        context: asked.context,
        ..ModelSpec::new(model, format!("{model} at {endpoint}"))
    }
}
