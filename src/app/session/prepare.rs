//! From a spec to a session that is ready to start: everything that it names is read and checked.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{
    AGENT_IS_GONE, Feed, SessionError, SessionSpec, SpecField, TaskSource, servers, task_tools,
};
use crate::config::{Config, ModelConfig};
use crate::domain::{
    Base, FaultSpec, Knob, Role, Speed, Strategy, Target, Task, TaskList, state::Keeps,
};
use crate::engine::{Beginning, PurseShare};
use crate::learned::LearnedState;
use crate::mcp::trust::Trust;
use crate::model::http::Endpoint;
use crate::stage;
use crate::store::experience::SharedExperience;
use crate::store::journal::JournalCopy;
use crate::store::tasks;
use crate::tool::manifest::Manifest;
use crate::workspace::Workspace;

/// The strategy of the demo on a screen.
const SHOWN: Strategy =
    Strategy { base: Base::Workers, toolnet: true, prompt: false, btp: true, reflexion: false };

/// A session with all its inputs, checked. It can be sent to the thread on which it will run.
pub struct PreparedSession {
    /// The configuration with the spec's overrides.
    pub config: Config,
    pub workspace: Workspace,
    pub tasks: TaskList,
    /// Definitions of MCP tools that were seen before.
    pub(super) trust: Arc<Trust>,
    /// The beginning; the past of a continued session is copied into the new journal.
    pub beginning: Beginning,
    /// Details of ended tasks that the last state keeps.
    pub keeps: Keeps,
    /// The part of a purse that several sessions have together.
    pub purse: Option<PurseShare>,
    /// A place for the lines of the journal besides its file.
    pub copy: Option<JournalCopy>,
    /// True if other screens can attach, provided that the session has a journal.
    pub is_attachable: bool,
    pub(super) spec: SessionSpec,
    pub(super) learned: Option<PathBuf>,
    /// The file of past uses; `None`: they are lost at the session's end.
    pub(super) experience: Option<PathBuf>,
    /// Past uses that are already open, instead of that file.
    pub(super) past_uses: Option<SharedExperience>,
    /// Notices from the preparation, for the beginning of the session.
    pub(super) notices: Vec<String>,
    /// Notices among these about MCP servers.
    pub about_servers: Vec<String>,
    /// News of watched agents, if they act in this session.
    pub(super) feed: Option<Feed>,
}

impl SessionSpec {
    /// Reads and checks the inputs of a session with this spec. Nothing is written yet.
    ///
    /// # Errors
    /// Faults in the spec, or in a file that it names.
    pub fn prepare(&self) -> Result<PreparedSession, SessionError> {
        if let Some(journal) = &self.resumed {
            return self.resume(journal);
        }
        if let Some(fork) = &self.fork {
            return self.fork(fork);
        }
        let (spec, recorded) = self.with_recorded()?;
        let over = |of| Beginning::Over { of, until: self.fork_at };
        let beginning = recorded.map_or(Beginning::New, over);
        let mut prepared = PreparedSession { beginning, ..spec.read()? };
        // The speed of a recorded session was not chosen for this one, unless it differs from the default.
        let speed = Knob::Speed.spec();
        let chosen = &mut prepared.config.chosen;
        chosen.speed |= self.knobs.contains_key(&speed.knob)
            || prepared.config.knobs.get(speed.knob) != speed.default;
        chosen.strategy |= spec.strategy.is_some();
        Ok(prepared)
    }

    pub(super) fn read(&self) -> Result<PreparedSession, SessionError> {
        if self.watched {
            return Err(SessionError::input(AGENT_IS_GONE));
        }
        let mut config = Config::find(self.config.as_deref()).map_err(SessionError::input)?;
        self.settle(&mut config)?;
        let folder = config.workspace(self.workspace.as_deref()).map_err(SessionError::input)?;
        let sample = self.sample.or_else(|| stage::sample_of(config.session.strategy));
        let has_own = folder.is_some() || self.sample.is_some() || !config.tools.folders.is_empty();
        let mut workspace = match has_own || self.mcp.is_empty() {
            true => Workspace::open(folder, sample, &config.tools.folders)
                .map_err(SessionError::input)?,
            // A user who names servers does not expect the sample tools beside theirs.
            false => {
                let files: Vec<_> =
                    self.mcp.iter().map(|file| file.display().to_string()).collect();
                Workspace::none(&format!("servers of {}", files.join(", ")))
            }
        };
        let mut notices = servers::add(&mut config, &self.mcp, workspace.folder.as_deref())?;
        let about_servers = notices.clone();
        notices.extend(config.gone.notices.iter().map(ToString::to_string));
        if let Some(total) = self.tools_total {
            fill(&mut workspace.manifests, total)?;
        }
        if let Some(costs) = self.costs {
            costs.draw(config.session.seed, &mut workspace.manifests);
        }
        let learned = self.recall(&mut workspace)?;
        for fault in &self.faults {
            known_target(&config, &workspace, fault)?;
        }
        notices.extend(workspace.notices(|_| true));
        let experience = match &self.experience {
            Some(file) => Some(file.clone()),
            None if self.fresh => None,
            None => config.experience_file(workspace.folder.as_deref()),
        };
        let mut tasks = self.tasks_of(&workspace.tasks)?;
        if let Some(count) = self.task_tools {
            let tools = workspace.manifests.iter().map(|manifest| &*manifest.spec);
            task_tools::give(tasks.distinct_mut(), tools, count);
        }
        let trust = servers::seen(&config, workspace.folder.as_deref())?;
        Ok(PreparedSession {
            tasks,
            trust,
            about_servers,
            config,
            beginning: Beginning::New,
            keeps: Keeps::All,
            purse: None,
            copy: None,
            is_attachable: false,
            // The sample stays even if the session goes on with another strategy.
            spec: Self { sample: workspace.sample, ..self.clone() },
            learned,
            experience,
            past_uses: None,
            notices,
            workspace,
            feed: None,
        })
    }

    /// Applies the spec's overrides to the configuration.
    pub(super) fn settle(&self, config: &mut Config) -> Result<(), SessionError> {
        config.approval.allow.extend(self.allow.iter().cloned());
        config.session.seed = self.seed.unwrap_or(config.session.seed);
        config.session.strategy = self.strategy.unwrap_or(config.session.strategy);
        if let Some(dollars) = self.max_dollars {
            if !(0.0..=1e6).contains(&dollars) {
                let why = format!("{dollars} is not from 0 to 1000000");
                return Err(SessionError::Spec { field: SpecField::MaxDollars, why });
            }
            config.max_dollars = Some(dollars);
        }
        let seed = config.session.seed.to_string();
        config.models.extend(self.endpoints.iter().map(|(name, url)| {
            let mut endpoint =
                Endpoint::new(name.as_str(), url.replace("{seed}", &seed), name.as_str());
            endpoint.stream = false;
            (endpoint.price_in, endpoint.price_out) = (Some(0.0), Some(0.0));
            (name.clone(), ModelConfig::Hosted(endpoint))
        }));
        if self.pair {
            let pair = stage::pair().into_iter();
            let pair = pair.map(|(name, model)| (name.into(), ModelConfig::Simulated(model)));
            config.models.extend(pair);
        }
        if let Some(model) = &self.model {
            config.bind_all(model.as_str()).map_err(SessionError::of(SpecField::Model))?;
        }
        for (role, model) in &self.roles {
            let bound = config.bind(*role, model.as_str());
            bound.map_err(SessionError::of(SpecField::Role(*role)))?;
        }
        for model in config.models.values_mut() {
            if let ModelConfig::Simulated(settings) = model {
                stage::settle(settings, self.simulated);
            }
        }
        config.knobs.set(Knob::Retrieve, f64::from(config.found_by() as u8));
        for (knob, value) in &self.knobs {
            let value = knob.spec().check(*value);
            config.knobs.set(*knob, value.map_err(SessionError::of(SpecField::Knob(*knob)))?);
        }
        Ok(())
    }

    /// The file for learned scores and edges, after loading those of earlier sessions.
    fn recall(&self, workspace: &mut Workspace) -> Result<Option<PathBuf>, SessionError> {
        if self.fresh {
            workspace.learned = LearnedState::default();
        }
        if let Some(path) = &self.learned {
            workspace.learned = LearnedState::load(path).map_err(SessionError::input)?;
        }
        let own = workspace.folder.as_deref().filter(|_| !self.fresh);
        Ok(self.learned.clone().or_else(|| own.map(|folder| folder.join("learned.json"))))
    }

    /// The tasks of the session, given those of the workspace; as many as requested.
    pub(super) fn tasks_of(&self, workspace: &[Task]) -> Result<TaskList, SessionError> {
        let all = match &self.tasks {
            TaskSource::Workspace => workspace.to_vec(),
            TaskSource::File(path) => tasks::load(path).map_err(SessionError::input)?,
            TaskSource::List(list) => {
                if list.iter().any(|task| task.text.trim().is_empty()) {
                    return Err(SessionError::input("the task is empty".to_owned()));
                }
                list.iter().map(|task| known(task, workspace)).collect()
            }
        };
        Ok(match self.tasks_limit {
            Some(limit) => TaskList::repeated(all, limit),
            None => all.into(),
        })
    }
}

impl PreparedSession {
    /// Adds the settings for a screen, if nobody chose others: a speed at which the sample tools and the simulated
    /// model do not finish at once, and for the demo the strategy that shows most.
    pub fn for_a_screen(mut self) -> Self {
        let simulated = self.is_simulated();
        if simulated && !self.config.chosen.speed {
            self.config.knobs.set(Knob::Speed, f64::from(Speed::Normal as u8));
        }
        if self.workspace.folder.is_none() && !self.config.chosen.strategy {
            self.config.session.strategy = SHOWN;
        }
        self
    }

    /// The spec, with what it takes from an earlier session.
    pub fn spec(&self) -> &SessionSpec {
        &self.spec
    }

    /// Whether any role is played by a simulated model.
    pub fn is_simulated(&self) -> bool {
        self.config
            .roles
            .values()
            .any(|model| matches!(self.config.models.get(model), Some(ModelConfig::Simulated(_))))
    }

    /// The workspace's folder, unless only its tools count.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.workspace.folder.as_deref().filter(|_| !self.spec.fresh)
    }
}

/// The task, completed by the workspace's data if it has only a text.
fn known(task: &Task, workspace: &[Task]) -> Task {
    let text = Task::from_text(task.text.trim());
    let is_text = *task == Task { text: task.text.clone(), ..text.clone() };
    let known = workspace.iter().find(|known| is_text && known.text == text.text);
    known.cloned().unwrap_or_else(|| Task { text: text.text, ..task.clone() })
}

/// Checks that a target exists: with a typo, a fault would never fire.
fn known_target(
    config: &Config,
    workspace: &Workspace,
    fault: &FaultSpec,
) -> Result<(), SessionError> {
    let specs = || workspace.manifests.iter().map(|manifest| &manifest.spec);
    let declared = specs().map(|spec| spec.class.trim()).filter(|class| !class.is_empty());
    let classes = config.workers.classes.names().chain(declared.map(str::to_owned));
    let embeds = config.experience.embeddings.is_some() || config.reader.is_some();
    let embedding = embeds.then_some(Target::Embedding);
    let known: Vec<Target> = specs()
        .map(|spec| Target::Tool(spec.name.clone()))
        .chain(classes.map(Target::Class))
        .chain(Role::all().map(Target::Role))
        .chain(config.models.keys().cloned().map(Target::Model))
        .chain(config.models.values().filter_map(ModelConfig::server).map(Target::Server))
        .chain(config.tools.servers.iter().map(|server| Target::Mcp(server.key.clone())))
        .chain(embedding)
        .collect();
    if matches!(&fault.target, Target::Tool(tool) if servers::may_have(config, tool)) {
        return Ok(());
    }
    let field = SpecField::Fault(Box::new(fault.clone()));
    fault.target.among(&known).map_err(|why| SessionError::Spec { field, why })
}

/// Adds made-up tools until there are `total`. Existing tools keep their names.
fn fill(manifests: &mut Vec<Manifest>, total: usize) -> Result<(), SessionError> {
    let made_up = stage::made_up(total)
        .map_err(|why| SessionError::Spec { field: SpecField::ToolsTotal, why })?;
    let taken: HashSet<_> = manifests.iter().map(|tool| tool.spec.name.clone()).collect();
    let more = total.saturating_sub(manifests.len());
    let free = made_up.filter(|tool| !taken.contains(&tool.spec.name));
    manifests.extend(free.take(more));
    Ok(())
}
