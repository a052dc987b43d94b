//! The engine's input: from a prepared spec, or from a spec, models and tools.

use std::{path::PathBuf, rc::Rc, time::Duration};

use super::reader;
use super::watch_session;
use super::{
    PreparedSession, SessionError, SessionSpec, classes, embedding::embedder, schemas, servers,
};
use crate::config::{Config, MAX_DOLLARS, ModelConfig};
use crate::domain::{
    Event, ModelName, Opening, Prior, RunEvent, Strategy, Task, TaskList, ToolGraph,
};
use crate::domain::{state::Keeps, words::counted};
use crate::engine::{Beginning, Keep, KeepBreakpoints, Memory, SchemaBook, Setup};
use crate::files::toml_file::Problems;
use crate::learned::{Keeper, LearnedState};
use crate::model::{Model, hosted::Hosted, http::Endpoint};
use crate::stage;
use crate::store::experience::{Experience, Same};
use crate::store::{breakpoints, journal::Journal, prices};
use crate::tool::{
    ToolBox,
    manifest::{Loaded, Manifests},
    provider::Provider,
};
use crate::workspace;

impl SessionSpec {
    /// A session with these models and tools instead of configured ones. The first model plays
    /// every role that the spec does not bind.
    ///
    /// No configuration and no workspace are read, and nothing is saved: a journal and a memory can
    /// be added to the result.
    ///
    /// # Errors
    /// Faults in the spec.
    pub fn setup_with(
        &self,
        models: Vec<Rc<dyn Model>>,
        tools: ToolBox,
    ) -> Result<Setup, SessionError> {
        let mut config = Config::default();
        // Roles are bound by model names; the models' configuration does not matter here.
        let names = models.iter().map(|model| model.spec().name.clone());
        let named = |name| (name, ModelConfig::Hosted(Endpoint::new("", "", "")));
        config.models = names.map(named).collect();
        if let Some(first) = models.first() {
            config.bind_all(first.spec().name.as_str()).map_err(SessionError::input)?;
        }
        self.settle(&mut config)?;
        let title = self.workspace.as_ref().map(|folder| folder.display().to_string());
        let title = title.unwrap_or_else(|| "no workspace".to_owned());
        Ok(self.bare(&config, &title, self.tasks_of(&[])?, models, tools))
    }

    /// A session without past and without saved results.
    fn bare(
        &self,
        config: &Config,
        title: &str,
        tasks: TaskList,
        models: Vec<Rc<dyn Model>>,
        tools: ToolBox,
    ) -> Setup {
        let mut graph = ToolGraph::new(Prior::Uninformed);
        for spec in tools.specs() {
            graph.add_tool(spec.name.clone());
        }
        Setup {
            opening: Opening { paused: self.paused, ..opening(config, title, &models) },
            runs: Vec::new(),
            inbox: None,
            models,
            tools,
            providers: Vec::new(),
            graph,
            scores: Default::default(),
            tasks,
            faults: self.faults.clone(),
            tells_dollars: None,
            purse: None,
            breakpoints: self.breakpoints.iter().map(|spec| (spec.clone(), true)).collect(),
            journal: None,
            stay: self.stay,
            awaits_tools: self.awaits_tools || !self.stay,
            hold: self.hold.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            attached: None,
            keep_going: self.keep_going,
            memory: None,
            ranker: None,
            classes: None,
            schemas: SchemaBook::default(),
            notices: Vec::new(),
            keep: None,
            keep_breakpoints: None,
            stations: Vec::new(),
            beginning: Beginning::New,
            keeps: Keeps::All,
            taken: None,
        }
    }
}

impl PreparedSession {
    /// The strategies of the runs beside the first: those of the record, else as many as requested.
    fn runs(&self) -> Vec<Option<Strategy>> {
        let recorded = self.beginning.facts().iter().filter_map(|record| match &record.event {
            Event::Run(RunEvent::RunOpened { strategy, .. }) => Some(*strategy),
            _ => None,
        });
        let past = self.beginning.past().into_iter().flat_map(|past| past.state().runs.values());
        let opened: Vec<_> = recorded.chain(past.map(|run| run.strategy)).collect();
        if opened.is_empty() { vec![None; self.spec.more_runs] } else { opened }
    }

    /// The engine's input. It belongs to the calling thread.
    ///
    /// # Errors
    /// A model, the past uses or the tool classes cannot be used.
    pub fn setup(mut self, journal: Option<Journal>) -> Result<Setup, SessionError> {
        let known: Vec<Task> =
            self.tasks.distinct().iter().chain(&self.workspace.tasks).cloned().collect();
        let models = models(&self.config, &known)?;
        let classes = self.folder().map(classes::book).transpose()?;
        let schemas = self.folder().map(schemas::book).transpose()?.unwrap_or_default();
        let inbox =
            self.feed.take().map(|feed| watch_session::inbox(&self.config, feed)).transpose()?;
        let is_watched = inbox.is_some();
        if !is_watched {
            self.open_past_uses()?;
        }
        let mut notices = std::mem::take(&mut self.notices);
        notices.extend(unpriced(&self.config));
        notices.extend(modelless(&self.config).filter(|_| !is_watched));
        notices.extend(self.unknown());
        let embedder = embedder(&self.config)?;
        let same = if self.spec.leak_guard { Same::LeftOut } else { Same::Counts };
        let is_kept = self.experience.is_some();
        let memory = self.past_uses.take();
        let memory = memory.map(|store| Memory { store, is_kept, same, embedder });
        // The queries of one workspace say nothing about those of another.
        let domain = self
            .folder()
            .map_or_else(|| self.workspace.title.clone(), |folder| folder.display().to_string());
        let memory_of_reader = match (&self.learned, self.spec.fresh) {
            (Some(_), _) => reader::Memory::Kept,
            (None, false) => reader::Memory::Copied,
            (None, true) => reader::Memory::Fresh,
        };
        let ranker = reader::of(&self.config.reader, &domain, memory_of_reader)?;
        let (graph, scores) = (self.workspace.known_graph(), self.workspace.known_scores());
        // What a continued session learned was saved after its last task.
        let known = match self.beginning.past() {
            None => LearnedState::known(&graph, scores.clone()),
            Some(past) => LearnedState::of(&past.state().learning),
        };
        let keep = |path: PathBuf| -> Keep {
            let mut keeper = Keeper::new(path, known);
            Box::new(move |learning| keeper.keep(learning))
        };
        let (tools, mut providers) = self.tools();
        // The servers start at once, and nothing waits for them.
        let folder = self.workspace.folder.clone();
        providers.extend(servers::start(&self.config, &self.trust, &self.spec, folder));
        let (breakpoints, keep_breakpoints) = self.breakpoints();
        let runs = self.runs();
        let Self { spec, config, workspace, tasks, .. } = self;
        let mut setup = Setup {
            graph,
            scores,
            journal,
            memory,
            ranker,
            classes,
            schemas,
            notices,
            keep: self.learned.map(keep),
            providers,
            beginning: self.beginning,
            inbox,
            runs,
            keeps: self.keeps,
            purse: self.purse,
            breakpoints,
            keep_breakpoints,
            ..spec.bare(&config, &workspace.title, tasks, models, tools)
        };
        setup.opening.watched = is_watched;
        if is_watched && config.max_dollars.is_none() {
            // A default must not end a watched agent.
            (setup.opening.max_dollars, setup.tells_dollars) = (None, Some(MAX_DOLLARS));
        }
        setup.opening.prompts = workspace.prompts;
        setup.opening.few_shots = workspace.few_shots;
        Ok(setup)
    }

    /// The initial breakpoints, and the function that saves them. Those of the workspace belong to the screen.
    fn breakpoints(&self) -> (breakpoints::SavedBreakpoints, Option<KeepBreakpoints>) {
        let own = self.spec.breakpoints.iter().map(|spec| (spec.clone(), true));
        let folder = self.folder().filter(|_| self.spec.stay && !self.spec.fresh);
        let Some(folder) = folder else { return (own.collect(), None) };
        let file = breakpoints::file(folder);
        let keep: KeepBreakpoints = Box::new(move |state| breakpoints::save(&file, state));
        // Over a record, those of the recorded session count.
        let saved = match self.beginning {
            Beginning::Over { .. } | Beginning::Forked { .. } => &[][..],
            Beginning::New | Beginning::Continued { .. } => &self.workspace.breakpoints,
        };
        (saved.iter().cloned().chain(own).collect(), Some(keep))
    }

    /// The workspace's tools with the drawn costs of this session; as a provider, if there are folders to read again.
    fn tools(&self) -> (ToolBox, Vec<Rc<dyn Provider>>) {
        let folders = self.workspace.tool_folders.clone();
        let manifests = self.workspace.manifests.clone();
        if folders.is_empty() {
            return (ToolBox::from_manifests(manifests), Vec::new());
        }
        let sample = self.workspace.sample;
        let (costs, seed) = (self.spec.costs, self.config.session.seed);
        let known = self.workspace.left_out.clone();
        let read = move || {
            let Loaded { mut manifests, problems } = workspace::manifests(sample, &folders)?;
            // A mistake made while the session runs is reported, but removes no tool.
            let new: Vec<_> =
                problems.into_iter().filter(|problem| !known.contains(problem)).collect();
            if !new.is_empty() {
                return Err(Problems(new));
            }
            if let Some(costs) = costs {
                costs.draw(seed, &mut manifests);
            }
            Ok(manifests)
        };
        (ToolBox::default(), vec![Rc::new(Manifests::new(manifests, read))])
    }

    /// Opens the store of past uses, unless it is open. If a default store cannot be opened, the session still runs:
    /// it shows a notice, and its experience ends with it.
    ///
    /// # Errors
    /// A store that was named cannot be opened.
    pub fn open_past_uses(&mut self) -> Result<(), SessionError> {
        if self.past_uses.is_some() {
            return Ok(());
        }
        let is_named = self.spec.experience.is_some() || self.config.experience.file.is_some();
        let is_new = self.experience.as_deref().is_none_or(|file| !file.exists());
        let mut store = match self.experience.as_deref().map(Experience::open) {
            Some(Ok(store)) => store,
            Some(Err(error)) if is_named => return Err(SessionError::input(error)),
            Some(Err(error)) => {
                self.notices.push(format!("{error}; this session does not save past uses"));
                Experience::private().map_err(SessionError::input)?
            }
            None => Experience::private().map_err(SessionError::input)?,
        };
        if is_new {
            let begun = self.workspace.begin(&mut store).map_err(SessionError::input)?;
            self.notices.extend(begun.map(|(uses, file)| {
                format!("{} come with the workspace: {}", counted(uses, "past use"), file.display())
            }));
        }
        self.past_uses = Some(store.into());
        Ok(())
    }
}

/// The opening of a session with this configuration and these models.
pub fn opening(config: &Config, title: &str, models: &[Rc<dyn Model>]) -> Opening {
    Opening {
        seed: config.session.seed,
        workspace: title.to_owned(),
        strategy: config.session.strategy,
        knobs: config.knobs.clone(),
        models: models.iter().map(|model| (**model.spec()).clone()).collect(),
        roles: config.roles.clone(),
        paused: false,
        watched: false,
        rates: config.cost,
        max_dollars: Some(config.max_dollars.unwrap_or(MAX_DOLLARS).into()),
        workers: config.workers.clone(),
        approval: config.approval.clone(),
        prompts: Default::default(),
        sampling: config.sampling.clone(),
        few_shots: Vec::new(),
    }
}

/// The configured models; a simulated one knows the chains of these tasks.
pub fn models(config: &Config, tasks: &[Task]) -> Result<Vec<Rc<dyn Model>>, SessionError> {
    let mut models: Vec<Rc<dyn Model>> = Vec::new();
    for (name, model) in &config.models {
        models.push(match model {
            ModelConfig::Simulated(settings) => {
                stage::model(name.clone(), settings, config.session.seed, tasks)
            }
            ModelConfig::Hosted(endpoint) => {
                Rc::new(Hosted::new(endpoint.clone()).map_err(SessionError::input)?)
            }
        });
    }
    Ok(models)
}

fn is_bound(config: &Config, name: &ModelName) -> bool {
    config.roles.values().any(|model| model == name)
}

impl PreparedSession {
    /// Says that the simulated model cannot solve the person's own tasks, and what it does with them.
    fn unknown(&self) -> Option<String> {
        let is_unknown = |task: &&Task| task.chain.is_empty() && task.probe.is_none();
        let unknown = self.tasks.distinct().iter().filter(is_unknown).count();
        let has_tools = self.config.session.strategy.base.spec().calls_tools;
        (has_tools && self.is_simulated() && unknown > 0).then(|| {
            let which = counted(unknown, "task");
            format!(
                "the simulated model has no solution for {which}: it passes the question to a tool as its first text \
                 argument; use --model for real answers"
            )
        })
    }
}

/// Says that there is no model at all, which can happen in a program without the simulated one.
fn modelless(config: &Config) -> Option<String> {
    let text = "no model is configured: name one in [models.NAME], or run `toolyard init`";
    config.models.is_empty().then(|| text.to_owned())
}

/// Says which hosted models have no price: the limit of dollars cannot count their calls.
fn unpriced(config: &Config) -> Option<String> {
    let is_unpriced = |endpoint: &Endpoint| {
        let known = endpoint.price_in.is_some() && endpoint.price_out.is_some();
        !known && (endpoint.provider.is_some() || !prices::is_private(&endpoint.base_url))
    };
    let names = config.models.iter().filter_map(|(name, model)| match model {
        ModelConfig::Hosted(endpoint) if is_bound(config, name) && is_unpriced(endpoint) => {
            Some(name.as_str())
        }
        ModelConfig::Hosted(_) | ModelConfig::Simulated(_) => None,
    });
    let names = names.collect::<Vec<_>>().join(", ");
    (!names.is_empty()).then(|| {
        format!(
            "the price of {names} is unknown: --max-dollars cannot limit it; import prices \
             (toolyard import prices FILE), or set price_in and price_out"
        )
    })
}
