//! From arguments, configuration and workspace to a session, in one place for the screen and for
//! scripts. What is prepared can be sent to the engine's thread; the session built from it stays there.

use std::{
    path::{Path, PathBuf},
    rc::Rc,
};

use super::{SessionArgs, costs::CostRange, trouble::Trouble};
use crate::{
    app::{
        config::{self, Config, ModelConfig},
        workspace::{self, Learned, Workspace},
    },
    domain::{
        chat::Role,
        event::{Opening, Record},
        fault::{FaultSpec, Target},
        knob::{Knob, Knobs},
        spec::Task,
        strategy::Strategy,
    },
    engine::{Keep, Memory, Reload, Setup},
    model::{Model, openai::OpenAi, simulated::Simulated},
    store::{
        experience::{Experience, Same},
        journal::{Header, Journal, JournalError},
    },
    tool::ToolBox,
};

/// How long a person is given at every boundary where nothing else takes time.
const DEMO_PACE_MS: f64 = 80.0;

/// Sessions that may start in one folder in the same second.
const MOST_A_SECOND: u32 = 1000;

/// Where a journal goes.
enum Place {
    /// This file, which must not be there yet.
    File(PathBuf),
    /// A new file in this folder.
    Folder(PathBuf),
}

/// Everything that a session needs, checked.
pub struct Prepared {
    pub config: Config,
    workspace: Workspace,
    strategy: Strategy,
    knobs: Knobs,
    tasks: Vec<Task>,
    faults: Vec<FaultSpec>,
    learned: Option<PathBuf>,
    /// Where past uses of tools are kept; `None`: they are forgotten with the session.
    experience: Option<PathBuf>,
    /// The user has named that file.
    experience_named: bool,
    same: Same,
    /// Nothing of earlier sessions counts, and nothing is kept for later ones.
    fresh: bool,
    costs: Option<CostRange>,
    journal: Option<Place>,
    /// On the screen: starts paused, and stays when the queue is empty.
    live: bool,
    /// What of the session has happened already.
    past: Vec<Record>,
}

impl Prepared {
    /// Reads everything and checks it, for a script.
    pub fn read(args: &SessionArgs, task: Option<&str>) -> Result<Self, Trouble> {
        let mut config = Config::find(args.config.config.as_deref()).map_err(Trouble::usage)?;
        if let Some(seed) = args.seed {
            config.session.seed = seed;
        }
        if let Some(model) = &args.model {
            config.bind_all(model).map_err(|why| Trouble::Usage(format!("--model: {why}")))?;
        }
        for (flag, role, model) in
            [("--planner", Role::Planner, &args.planner), ("--solver", Role::Solver, &args.solver)]
        {
            let Some(model) = model else { continue };
            config.bind(role, model).map_err(|why| Trouble::Usage(format!("{flag}: {why}")))?;
        }
        let strategy = match &args.strategy {
            Some(text) => text.parse().map_err(Trouble::Usage)?,
            None => config.session.strategy,
        };
        let mut knobs = config.knobs.clone();
        for text in &args.knob {
            let (knob, value) = parse_knob(text)?;
            knobs.set(knob, value);
        }
        for (flag, knob, value) in
            [("--budget", Knob::Budget, args.budget), ("--tau", Knob::Tau, args.tau)]
        {
            let Some(value) = value else { continue };
            let value = knob.spec().check(value);
            knobs.set(knob, value.map_err(|why| Trouble::Usage(format!("{flag}: {why}")))?);
        }
        let folder = args.workspace.clone().or_else(|| config.session.workspace.clone());
        let mut workspace =
            Workspace::open(folder.as_deref(), &config.tools.folders).map_err(Trouble::usage)?;
        if let Some(costs) = args.costs {
            costs.draw(config.session.seed, &mut workspace.manifests);
        }
        let learned = match (&args.learned, &workspace.folder) {
            (None, Some(folder)) if !args.fresh => Some(folder.join("learned.json")),
            (Some(path), _) => {
                workspace.learned = Learned::load(path).map_err(Trouble::usage)?;
                Some(path.clone())
            }
            (None, _) => None,
        };
        if args.fresh {
            workspace.learned = Learned::default();
        }
        for spec in &args.fault {
            known_target(&config, &workspace, spec)?;
        }
        let tasks = tasks(args, task, &workspace)?;
        let journal = journal_place(args, &config);
        let faults = args.fault.clone();
        let named_in_config = config.experience.file.is_some();
        let experience = match &args.experience {
            Some(file) => Some(file.clone()),
            None if args.fresh => None,
            None => config.experience_file(workspace.folder.as_deref()),
        };
        Ok(Self {
            config,
            workspace,
            strategy,
            knobs,
            tasks,
            faults,
            learned,
            experience,
            experience_named: args.experience.is_some() || named_in_config,
            same: if args.leak_guard { Same::LeftOut } else { Same::Counts },
            fresh: args.fresh,
            costs: args.costs,
            journal,
            live: false,
            past: Vec::new(),
        })
    }

    /// For people.
    pub fn title(&self) -> &str {
        &self.workspace.title
    }

    /// For the screen: waits for the user, and goes slowly enough to follow if a simulated model
    /// would otherwise be done at once.
    pub fn for_the_screen(mut self) -> Self {
        self.live = true;
        let simulated =
            self.config.roles.values().any(|model| {
                matches!(self.config.models.get(model), Some(ModelConfig::Simulated(_)))
            });
        let untouched = self.knobs.get(Knob::Pace) == Knob::Pace.spec().default;
        if simulated && untouched {
            self.knobs.set(Knob::Pace, DEMO_PACE_MS);
        }
        self
    }

    /// For a session that was cut short and goes on: what has happened of it (see
    /// [`crate::engine::resumable`]). It is taken up into the new journal.
    pub fn behind(mut self, past: Vec<Record>) -> Self {
        self.past = past;
        self
    }

    /// Starts the journal, if one is wanted.
    pub fn take_journal(&mut self) -> Result<Option<Journal>, Trouble> {
        let header = Header::at(jiff::Timestamp::now());
        let journal = self.journal.take().map(|place| match place {
            Place::File(path) => Journal::create(&path, &header),
            Place::Folder(folder) => create_in(&folder, &header),
        });
        journal.transpose().map_err(Trouble::usage)
    }

    /// Builds the session. Its parts belong to the thread that calls this.
    pub fn build(self, journal: Option<Journal>) -> Result<Setup, Trouble> {
        let tasks: Vec<Task> = self.tasks.iter().chain(&self.workspace.tasks).cloned().collect();
        let models = models(&self.config, &tasks)?;
        let folder = self.workspace.folder.as_deref().filter(|_| !self.fresh);
        let classes = folder.map(super::classes::book).transpose()?;
        let (store, notices) = self.store()?;
        let embedder = embedder(&self.config)?;
        let memory = Some(Memory { store, same: self.same, embedder });
        let opening = Opening {
            seed: self.config.session.seed,
            workspace: self.workspace.title.clone(),
            strategy: self.strategy.to_string(),
            knobs: self.knobs.clone(),
            models: models.iter().map(|model| (**model.spec()).clone()).collect(),
            roles: self.config.roles.clone(),
            paused: self.live,
            rates: self.config.cost,
            workers: self.config.workers.clone(),
            prompts: self.workspace.prompts.clone(),
        };
        let keep = self
            .learned
            .map(|path| -> Keep { Box::new(move |learning| Learned::of(learning).save(&path)) });
        let folders = self.workspace.tool_folders.clone();
        let reload = (!folders.is_empty()).then(|| -> Reload {
            let embedded = self.workspace.folder.is_none();
            let (costs, seed) = (self.costs, self.config.session.seed);
            Box::new(move || {
                let mut manifests = workspace::manifests(embedded, &folders)
                    .map_err(|problems| problems.to_string())?;
                if let Some(costs) = costs {
                    costs.draw(seed, &mut manifests);
                }
                Ok(manifests)
            })
        });
        Ok(Setup {
            stations: Vec::new(),
            opening,
            models,
            graph: self.workspace.known_graph(),
            scores: self.workspace.known_scores(),
            tools: ToolBox::from_manifests(self.workspace.manifests),
            tasks: self.tasks,
            faults: self.faults,
            journal,
            memory,
            classes,
            notices,
            stay: self.live,
            keep,
            reload,
            past: self.past,
        })
    }

    /// Opens the store of past uses. One that nobody asked for by name and that cannot be opened must
    /// not keep the session from running: it is said, and what is learned ends with the session.
    fn store(&self) -> Result<(Experience, Vec<String>), Trouble> {
        let forgetful = || Experience::in_memory().map_err(Trouble::usage);
        let Some(file) = &self.experience else { return Ok((forgetful()?, Vec::new())) };
        match Experience::open(file) {
            Ok(store) => Ok((store, Vec::new())),
            Err(error) if self.experience_named => Err(Trouble::usage(error)),
            Err(error) => {
                let text = format!("{error}; uses of tools are forgotten with this session");
                Ok((forgetful()?, vec![text]))
            }
        }
    }
}

/// The configured models, of which a simulated one knows how these tasks are solved.
pub fn models(config: &Config, tasks: &[Task]) -> Result<Vec<Rc<dyn Model>>, Trouble> {
    let mut models: Vec<Rc<dyn Model>> = Vec::new();
    for (name, model) in &config.models {
        models.push(match model {
            ModelConfig::Simulated(settings) => {
                let (name, tasks) = (name.clone(), tasks.iter().cloned());
                Rc::new(Simulated::new(name, *settings, config.session.seed, tasks))
            }
            ModelConfig::OpenAi(endpoint) => {
                Rc::new(OpenAi::new(endpoint.clone()).map_err(Trouble::usage)?)
            }
        });
    }
    Ok(models)
}

/// The model that says what tasks mean, if one is configured.
pub fn embedder(config: &Config) -> Result<Option<Rc<dyn Model>>, Trouble> {
    let Some(endpoint) = config.experience.embeddings.clone() else { return Ok(None) };
    let model = OpenAi::embedding(endpoint).map_err(Trouble::usage)?;
    Ok(Some(Rc::new(model)))
}

fn parse_knob(text: &str) -> Result<(Knob, f64), Trouble> {
    let expected = || {
        let names: Vec<_> = crate::domain::knob::KNOBS.iter().map(|spec| spec.name).collect();
        Trouble::Usage(format!(
            "--knob {text}: expected NAME=VALUE, NAME one of {}",
            names.join(", ")
        ))
    };
    let (name, value) = text.split_once('=').ok_or_else(expected)?;
    let knob = Knob::by_name(name.trim()).ok_or_else(expected)?;
    let value = knob.spec().parse(value).map_err(|why| Trouble::Usage(format!("--knob {why}")))?;
    Ok((knob, value))
}

/// What is hit must be there: a slip in a name would be a fault that never fires.
fn known_target(config: &Config, workspace: &Workspace, fault: &FaultSpec) -> Result<(), Trouble> {
    let specs = || workspace.manifests.iter().map(|manifest| &manifest.spec);
    let declared = specs().map(|spec| spec.class.trim()).filter(|class| !class.is_empty());
    let classes = config.workers.classes.names().chain(declared.map(str::to_owned));
    let embedding = config.experience.embeddings.as_ref().map(|_| Target::Embedding);
    let known: Vec<Target> = specs()
        .map(|spec| Target::Tool(spec.name.clone()))
        .chain(classes.map(Target::Class))
        .chain(Role::ALL.map(Target::Role))
        .chain(config.models.keys().cloned().map(Target::Model))
        .chain(embedding)
        .collect();
    let is_known = fault.target.among(&known);
    is_known.map_err(|why| Trouble::Usage(format!("--fault {fault}: {why}")))
}

/// The tasks of a session: the one given, those of a file, or the workspace's, as many as wanted.
fn tasks(
    args: &SessionArgs,
    task: Option<&str>,
    workspace: &Workspace,
) -> Result<Vec<Task>, Trouble> {
    let all = match (task, &args.tasks) {
        (Some(text), _) if text.trim().is_empty() => {
            return Err(Trouble::Usage("the task is empty".to_owned()));
        }
        (Some(text), _) => {
            let known = workspace.tasks.iter().find(|task| task.text == text.trim());
            vec![known.cloned().unwrap_or_else(|| Task::from_text(text.trim()))]
        }
        (None, Some(path)) => crate::store::tasks::load(path).map_err(Trouble::usage)?,
        (None, None) => workspace.tasks.clone(),
    };
    match args.tasks_limit {
        Some(limit) => Ok(all.iter().cycle().take(limit).cloned().collect()),
        None => Ok(all),
    }
}

/// Where the journal goes, if it is wanted.
fn journal_place(args: &SessionArgs, config: &Config) -> Option<Place> {
    if args.no_journal {
        return None;
    }
    args.journal.clone().map(Place::File).or_else(|| {
        let folder = config.session.journals.clone().or_else(config::default_journals)?;
        Some(Place::Folder(folder))
    })
}

/// Starts a journal under a name that sorts by time. Sessions that start in the same second each get
/// a name of their own: a name is free if the file can be made, not if it was not there just before.
fn create_in(folder: &Path, header: &Header) -> Result<Journal, JournalError> {
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H-%M-%S").to_string();
    let mut n = 1;
    loop {
        match Journal::create(&folder.join(numbered(&now, n)), header) {
            Err(JournalError::Taken { .. }) if n < MOST_A_SECOND => n += 1,
            outcome => return outcome,
        }
    }
}

fn numbered(now: &str, n: u32) -> PathBuf {
    match n {
        1 => Path::new(&format!("{now}.jsonl")).to_owned(),
        n => Path::new(&format!("{now}-{n}.jsonl")).to_owned(),
    }
}
