//! The description of a session, as plain data.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{AgentCommand, CostRange, ForkSpec, spec_fields};
use crate::domain::approval::Rule;
use crate::domain::{BreakpointSpec, FaultSpec, Knob, ModelName, Role, Strategy, Task};
use crate::stage::Sample;
use crate::store::tasks;

/// All settings that determine a session. Omitted fields use the configuration, or the default. A spec can be written
/// as TOML or JSON, and relative paths start at the working directory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SessionSpec {
    /// Configuration file, instead of the one in the platform's folder.
    pub config: Option<PathBuf>,
    /// Folder with tools, tasks, graph and learned scores.
    pub workspace: Option<PathBuf>,
    /// Configurations of MCP servers, whose tools join those of the workspace.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mcp: Vec<PathBuf>,
    /// The embedded sample, if there is no workspace, instead of the one that shows the strategy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<Sample>,
    pub strategy: Option<Strategy>,
    /// Seed of all randomness.
    pub seed: Option<u64>,
    /// The configured model for every role that `roles` does not bind.
    pub model: Option<ModelName>,
    /// Number of tasks: fewer than available, or more by repeating them.
    pub tasks_limit: Option<usize>,
    /// Faults armed from the start, each in the form of the command line.
    #[serde(with = "spec_fields::texts")]
    pub faults: Vec<FaultSpec>,
    /// Breakpoints set from the start, each in the form of the command line.
    #[serde(with = "spec_fields::texts")]
    pub breakpoints: Vec<BreakpointSpec>,
    /// Tool calls that need nobody's consent, besides those of the configuration.
    #[serde(with = "spec_fields::texts")]
    pub allow: Vec<Rule>,
    /// Range from which the cost of each tool is drawn, instead of its declared cost.
    pub costs: Option<CostRange>,
    /// Give each task this many tools of its own, as in data sets whose queries come with tools: those of its reference
    /// chain, filled up with tools that match its words.
    pub task_tools: Option<usize>,
    /// Fill the workspace up to this many tools with made-up ones that no task needs.
    pub tools_total: Option<usize>,
    /// Settings of every simulated model, instead of configured ones.
    pub simulated: SimulatedSpec,
    /// Addresses of free models besides the configured ones, by their names. They answer chat completions, each in one
    /// piece. `{seed}` is the session's seed.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub endpoints: BTreeMap<ModelName, String>,
    /// Two simulated models of different skill besides the configured ones, for comparisons of pairs.
    pub pair: bool,
    /// How many US dollars the session may cost, instead of the configured limit.
    pub max_dollars: Option<f64>,
    /// Start paused.
    pub paused: bool,
    /// Without a screen, how many seconds a breakpoint holds a call; `None`: it only counts.
    pub hold: Option<f64>,
    /// Wait for more tasks instead of ending after the last.
    pub stay: bool,
    /// Open only after all MCP servers have started or failed. Always so without `stay`.
    #[serde(skip)]
    pub awaits_tools: bool,
    /// Go on with the next task when a model cannot be used, instead of ending.
    pub keep_going: bool,
    /// Neither load nor save anything in the workspace; the files of the next two fields still
    /// count.
    pub fresh: bool,
    /// File of learned scores and edges, instead of the workspace's.
    pub learned: Option<PathBuf>,
    /// File of past uses, instead of the workspace's.
    pub experience: Option<PathBuf>,
    /// Ignore past uses of the identical task.
    pub leak_guard: bool,
    pub journal: JournalChoice,
    /// The journal of an earlier session: omitted seed, strategy, knobs and tasks are taken from
    /// it, and its calls are answered from it as long as they match.
    pub recorded: Option<PathBuf>,
    /// The event of that journal after which the session runs live.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fork_at: Option<u64>,
    /// The moment of an earlier session from which this one goes on: omitted fields are taken from that session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fork: Option<Box<ForkSpec>>,
    /// The number of runs beside the first: agents that work on tasks at the same time.
    #[serde(skip_serializing_if = "is_none_more")]
    pub more_runs: usize,
    /// The journal of an interrupted session that this one continues: omitted fields are taken from that session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resumed: Option<PathBuf>,
    /// Repeat interrupted calls of that session without asking, even if they change something.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub repeats_unknown: bool,
    /// Whether watched agents act in the session.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub watched: bool,
    /// The command of the watched agent; `None`: it was started elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<Box<AgentCommand>>,
    /// The journal name of the session whose twin this is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    pub tasks: TaskSource,
    /// Models of single roles.
    pub roles: BTreeMap<Role, ModelName>,
    /// Knobs set before the start, including the budget.
    #[serde(with = "spec_fields::knobs")]
    pub knobs: BTreeMap<Knob, f64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_none_more(more: &usize) -> bool {
    *more == 0
}

/// Settings of the simulated model that a comparison varies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SimulatedSpec {
    pub thrift: Option<f64>,
    pub patience: Option<usize>,
    pub skill: Option<f64>,
    /// US dollars per million tokens in, in from the cache, and out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prices: Option<[f64; 3]>,
}

/// Whether and where to write a journal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JournalChoice {
    /// A new file in the configured folder.
    #[default]
    Configured,
    None,
    /// The file at this path, which must not exist yet.
    File(PathBuf),
}

/// The source of the tasks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskSource {
    #[default]
    Workspace,
    /// A file in `.toml`, `.jsonl` or `.txt`.
    File(PathBuf),
    /// A list of tasks. The workspace may complete a task that is only a text.
    List(#[serde(deserialize_with = "tasks::written")] Vec<Task>),
}

impl SessionSpec {
    /// The session without a screen or an earlier session, and without loading or saving learned scores.
    pub fn apart(&self) -> Self {
        Self {
            paused: false,
            stay: false,
            fresh: true,
            learned: None,
            experience: None,
            recorded: None,
            fork_at: None,
            fork: None,
            resumed: None,
            repeats_unknown: false,
            parent: None,
            ..self.clone()
        }
    }

    /// The spec with absolute paths, so that it means the same in another folder.
    pub fn anchored(&self) -> Self {
        self.moved_to(|path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
    }

    /// The spec with other paths of what it reads.
    pub fn moved_to(&self, to: impl Fn(&Path) -> PathBuf) -> Self {
        let each = |path: &Option<PathBuf>| path.as_deref().map(&to);
        let tasks = match &self.tasks {
            TaskSource::File(path) => TaskSource::File(to(path)),
            other => other.clone(),
        };
        Self {
            config: each(&self.config),
            workspace: each(&self.workspace),
            mcp: self.mcp.iter().map(|path| to(path)).collect(),
            learned: each(&self.learned),
            experience: each(&self.experience),
            recorded: each(&self.recorded),
            resumed: each(&self.resumed),
            fork: self.fork.clone().map(|mut fork| {
                fork.of = to(&fork.of);
                fork
            }),
            tasks,
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::EffectId;
    use crate::store::kept_tree::KeptTree;

    fn full() -> SessionSpec {
        SessionSpec {
            sample: None,
            watched: true,
            agent: Some(Box::new(AgentCommand {
                command: vec!["python".into(), "a.py".into()],
                folder: "/f".into(),
                variables: vec!["OPENAI_API_KEY".into()],
                tree: Some(KeptTree { id: "0".into(), ..KeptTree::default() }),
                options: vec!["--skip".into()],
            })),
            config: Some("c.toml".into()),
            workspace: Some("w".into()),
            mcp: vec![".mcp.json".into()],
            awaits_tools: false,
            strategy: Some("react+btp".parse().unwrap()),
            seed: Some(7),
            model: Some("small".into()),
            tasks_limit: Some(3),
            faults: vec!["a:error:p=0.5:text=no: none".parse().unwrap()],
            allow: vec!["a:if=args.n > 5".parse().unwrap()],
            breakpoints: vec!["a:after:if=ms > 5:log={ms} \\: {tool}".parse().unwrap()],
            costs: Some("1..10".parse().unwrap()),
            task_tools: Some(5),
            tools_total: Some(200),
            simulated: SimulatedSpec { thrift: Some(2.0), ..SimulatedSpec::default() },
            endpoints: [("own".into(), "http://127.0.0.1:1/{seed}".into())].into(),
            pair: true,
            max_dollars: Some(0.5),
            paused: true,
            hold: Some(30.0),
            stay: true,
            keep_going: true,
            fresh: true,
            learned: Some("l.json".into()),
            experience: Some("e.sqlite".into()),
            leak_guard: true,
            journal: JournalChoice::File("j.jsonl".into()),
            recorded: Some("r.jsonl".into()),
            fork_at: Some(12),
            fork: Some(Box::new(ForkSpec {
                of: "f.jsonl".into(),
                at: 7,
                call: Some(EffectId(3)),
                set: vec!["result=a=b".parse().unwrap(), "uses:a=2".parse().unwrap()],
                calls: "write=live".parse().unwrap(),
                strategy: Some("react".parse().unwrap()),
                seed: Some(u64::MAX),
                roles: [(Role::Solver, "large".into())].into(),
                knobs: [(Knob::Tau, 0.5)].into(),
            })),
            more_runs: 2,
            resumed: Some("i.jsonl".into()),
            repeats_unknown: true,
            parent: Some("p.jsonl".into()),
            tasks: TaskSource::List(vec![
                Task { gold: Some("4".into()), ..Task::from_text("2 + 2") },
                Task::from_text("3 + 3"),
            ]),
            roles: [(Role::Planner, "large".into()), (Role::Solver, "small".into())].into(),
            knobs: [
                (Knob::Budget, 12.5),
                (Knob::TopK, 4.0),
                (Knob::Blacklist, 2.0),
                (Knob::Learn, 0.0),
            ]
            .into(),
        }
    }

    #[test]
    fn a_copy_by_itself_has_no_earlier_session_and_keeps_what_it_is_to_do() {
        let spec = full();
        let apart = spec.apart();
        assert_eq!((apart.resumed, apart.recorded, apart.parent), (None, None, None));
        assert!(apart.fresh && !apart.stay && !apart.paused && !apart.repeats_unknown);
        assert_eq!((apart.workspace, apart.tasks), (spec.workspace, spec.tasks));
    }

    #[test]
    fn a_spec_is_the_same_after_it_was_json_or_toml() {
        let choices = [JournalChoice::Configured, JournalChoice::None];
        let sources = [TaskSource::Workspace, TaskSource::File("t.toml".into())];
        let others = choices.into_iter().zip(sources);
        let others =
            others.map(|(journal, tasks)| SessionSpec { journal, tasks, ..Default::default() });
        for spec in others.chain([full()]) {
            let json = serde_json::to_string(&spec).unwrap();
            assert_eq!(serde_json::from_str::<SessionSpec>(&json).unwrap(), spec, "{json}");
            let toml = toml::to_string(&spec).unwrap();
            assert_eq!(toml::from_str::<SessionSpec>(&toml).unwrap(), spec, "{toml}");
        }
    }

    #[test]
    fn a_person_writes_only_what_matters() {
        let text = "
            strategy = \"react+btp\"
            faults = [\"calculator:timeout\"]
            costs = \"1..10\"
            journal = \"none\"
            tasks.list = [{ text = \"2 + 2\", gold = 4 }]
            roles.planner = \"large\"
            [knobs]
            budget = 20
            blacklist = \"strict\"
            learn = false
        ";
        let spec = SessionSpec {
            strategy: Some("react+btp".parse().unwrap()),
            faults: vec!["calculator:timeout".parse().unwrap()],
            costs: Some("1..10".parse().unwrap()),
            journal: JournalChoice::None,
            tasks: TaskSource::List(vec![Task {
                gold: Some("4".into()),
                ..Task::from_text("2 + 2")
            }]),
            roles: [(Role::Planner, "large".into())].into(),
            knobs: [(Knob::Budget, 20.0), (Knob::Blacklist, 2.0), (Knob::Learn, 0.0)].into(),
            ..Default::default()
        };
        assert_eq!(toml::from_str::<SessionSpec>(text).unwrap(), spec);
        assert_eq!(toml::from_str::<SessionSpec>("").unwrap(), SessionSpec::default());
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line_and_what_was_expected() {
        for (text, line, says) in [
            ("seed = 1\nstratgy = \"react\"", 2, "unknown field `stratgy`, expected one of"),
            (
                "strategy = \"recat\"",
                1,
                "there is no strategy `recat` (did you mean `react`?); expected",
            ),
            ("[knobs]\nbugdet = 3", 2, "there is no knob bugdet; did you mean"),
            ("knobs.tau = 2", 1, "tau takes a number from 0 to 1"),
            ("knobs.blacklist = \"maybe\"", 1, "blacklist takes one of off, protected, strict"),
            ("knobs.learn = []", 1, "a number, true or false, or a name"),
            ("faults = [\"a:melt\"]", 1, "unknown kind `melt`; expected TARGET:KIND"),
            ("costs = \"5..1\"", 1, "the lower one first"),
            ("tasks.list = [{ text = \"a\", glod = 1 }]", 1, "unknown field `glod`"),
            ("tasks.list = [{ text = \" \" }]", 1, "expected a non-empty text"),
            ("tasks = \"mine\"", 1, "unknown variant `mine`, expected one of `workspace`"),
            ("roles.boss = \"m\"", 1, "unknown variant `boss`"),
        ] {
            let why = toml::from_str::<SessionSpec>(text).unwrap_err().to_string();
            assert!(why.contains(&format!("line {line}")) && why.contains(says), "{text}: {why}");
        }
    }
}
