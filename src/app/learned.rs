//! The knowledge about tools that outlives a session. Several sessions may share one file: each adds what it has learned
//! since it last saved, so none overwrites the others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::{Learning, Scores, ToolGraph, ToolName};
use crate::files::private;
use crate::files::toml_file::{Problem, Problems};
use crate::store::json_store;

/// The format of the file; the first one did not name it.
const FORMAT: u32 = 2;

const EXPECTED: &str = "the file of an earlier session, or no file";

/// The number of tries for the lock, which another session holds for some milliseconds, and the time between them.
const TRIES: u32 = 400;
const BETWEEN: Duration = Duration::from_millis(5);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct LearnedState {
    pub scores: BTreeMap<ToolName, f64>,
    /// Explored edges, which exist without a prior.
    pub explored: Vec<(ToolName, ToolName)>,
}

/// The file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "struct Kept")]
struct KnowledgeFile {
    #[serde(default = "first")]
    format: u32,
    scores: BTreeMap<ToolName, f64>,
    explored: Vec<(ToolName, ToolName)>,
}

/// The part of a file that names its format.
#[derive(Default, Deserialize)]
#[serde(expecting = "struct Format")]
struct KnowledgeFormat {
    format: Option<u32>,
}

fn first() -> u32 {
    1
}

impl LearnedState {
    /// The part of a session worth saving.
    pub fn of(learning: &Learning) -> Self {
        Self::known(&learning.graph, learning.scores.iter().map(|(tool, n)| (tool.clone(), n)))
    }

    /// The knowledge of a session with this graph and these scores.
    pub fn known(graph: &ToolGraph, scores: impl IntoIterator<Item = (ToolName, f64)>) -> Self {
        let explored = graph.edges().into_iter().filter(|edge| edge.count == 0);
        Self {
            scores: scores.into_iter().collect(),
            explored: explored.map(|edge| (edge.from.clone(), edge.to.clone())).collect(),
        }
    }

    /// Reads saved knowledge; empty if there is none.
    ///
    /// # Errors
    /// The file exists, but no session wrote it, or a newer version did.
    pub fn load(path: &Path) -> Result<Self, Problems> {
        Ok(read(path)?.map(|(_, state)| state).unwrap_or_default())
    }

    /// Adds what a session learned from `before` to `now`. A score is a sum, so the difference is added. Edges of tools
    /// that were removed meanwhile stay: the tools may come back.
    fn with(mut self, before: &Self, now: &Self, graph: &ToolGraph) -> Self {
        let tools: BTreeSet<&ToolName> = before.scores.keys().chain(now.scores.keys()).collect();
        for tool in tools {
            let score = |of: &Self| of.scores.get(tool).copied();
            let (was, is, kept) = (score(before), score(now), score(&self));
            if was == is {
                continue;
            }
            // Without other sessions this is exact; a sum of differences may be off by the last digit.
            let next = if kept == was {
                is
            } else {
                let added = is.unwrap_or(0.0) - was.unwrap_or(0.0);
                Some((kept.unwrap_or(0.0) + added).clamp(-Scores::MAX, Scores::MAX))
            };
            match next {
                Some(next) => self.scores.insert(tool.clone(), next),
                None => self.scores.remove(tool),
            };
        }
        let there = |tool: &ToolName| tool.is_special() || graph.contains(tool.as_str());
        let is_gone = |edge: &(ToolName, ToolName)| {
            before.explored.contains(edge)
                && !now.explored.contains(edge)
                && there(&edge.0)
                && there(&edge.1)
        };
        self.explored.retain(|edge| !is_gone(edge));
        for edge in &now.explored {
            if !before.explored.contains(edge) && !self.explored.contains(edge) {
                self.explored.push(edge.clone());
            }
        }
        self
    }
}

fn read(path: &Path) -> Result<Option<(u32, LearnedState)>, Problems> {
    let format = json_store::load::<KnowledgeFormat>(path, EXPECTED)?
        .unwrap_or_default()
        .format
        .unwrap_or(1);
    if format > FORMAT {
        let text = format!(
            "written in format {format}, but this version reads formats up to {FORMAT}; \
             use a newer toolyard"
        );
        return Err(Problem::of_file(path.display().to_string(), text).into());
    }
    let kept: Option<KnowledgeFile> = json_store::load(path, EXPECTED)?;
    Ok(kept.map(|kept| {
        let KnowledgeFile { format, scores, explored } = kept;
        (format, LearnedState { scores, explored })
    }))
}

/// Saves what one session learns.
pub struct Keeper {
    path: PathBuf,
    /// Knowledge of the session at its last save or at its start.
    saved: LearnedState,
}

impl Keeper {
    /// Makes the folder of the file. A folder that is deleted later is not made again.
    pub fn new(path: PathBuf, known: LearnedState) -> Self {
        if let Some(folder) = folder(&path) {
            // The first save reports the error.
            let _ = fs::create_dir_all(folder);
        }
        Self { path, saved: known }
    }

    /// Adds everything learned since the last call to the file.
    ///
    /// # Errors
    /// The file cannot be read, locked or written; it is then unchanged, and the next call saves everything.
    pub fn keep(&mut self, learning: &Learning) -> Result<(), String> {
        let now = LearnedState::of(learning);
        let lock = lock(&self.path)?;
        let kept = read(&self.path).map_err(|problems| problems.to_string())?;
        if let Some((format, _)) = kept.as_ref().filter(|(format, _)| *format < FORMAT) {
            keep_copy(&self.path, *format)?;
        }
        let (_, kept) = kept.unwrap_or_default();
        let LearnedState { scores, explored } = kept.with(&self.saved, &now, &learning.graph);
        let file = KnowledgeFile { format: FORMAT, scores, explored };
        json_store::save(&self.path, &file).map_err(|error| error.to_string())?;
        drop(lock);
        self.saved = now;
        Ok(())
    }
}

/// Copies a file of an earlier format, beside it; an older copy stays.
fn keep_copy(path: &Path, format: u32) -> Result<(), String> {
    let copy = path.with_extension(format!("format-{format}.json"));
    if copy.exists() {
        return Ok(());
    }
    let failed = |error| format!("{}: {error}", copy.display());
    fs::read(path).and_then(|old| private::write(&copy, &old)).map_err(failed)
}

/// The folder of a file, if its path names one.
fn folder(path: &Path) -> Option<&Path> {
    path.parent().filter(|folder| !folder.as_os_str().is_empty())
}

/// Locks out other sessions. The lock is a file of its own, because a save replaces the file itself; it ends with the
/// value, and with the process.
fn lock(path: &Path) -> Result<Option<File>, String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.lock"));
    let failed = |error: std::io::Error| format!("{}: {error}", beside.display());
    if let Some(folder) = folder(path).filter(|folder| !folder.exists()) {
        return Err(format!("the folder {} is gone", folder.display()));
    }
    let file = File::options().create(true).append(true).open(&beside).map_err(failed)?;
    for _ in 0..TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) => sleep(BETWEEN),
            // Some network folders have no locks; there a save is as safe as it was before.
            Err(TryLockError::Error(error)) if error.kind() == std::io::ErrorKind::Unsupported => {
                return Ok(None);
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
    }
    Err(format!("{}: another session is holding this lock for too long", beside.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Prior;

    /// A session over two tools that knows these scores.
    fn learning(scores: &[(&str, f64)], explored: &[(&str, &str)]) -> Learning {
        let mut graph = ToolGraph::new(Prior::Static);
        for tool in ["a", "b"] {
            graph.add_tool(tool.into());
        }
        for (from, to) in explored {
            assert!(graph.add_edge(from, to));
        }
        let mut learning = Learning::default();
        for (tool, score) in scores {
            learning.scores.set((*tool).into(), *score).unwrap();
        }
        learning.graph = graph;
        learning
    }

    #[test]
    fn what_two_sessions_learn_at_once_is_added_up() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("learned.json");
        let start = learning(&[("a", 1.0)], &[]);
        Keeper::new(path.clone(), LearnedState::default()).keep(&start).unwrap();
        let keeper = || Keeper::new(path.clone(), LearnedState::of(&start));
        let (mut one, mut other) = (keeper(), keeper());
        one.keep(&learning(&[("a", 4.0)], &[("a", "b")])).unwrap();
        other.keep(&learning(&[("a", -1.0), ("b", 2.0)], &[("b", "a")])).unwrap();
        // The same again is nothing new.
        one.keep(&learning(&[("a", 4.0)], &[("a", "b")])).unwrap();
        one.keep(&learning(&[("a", 5.0)], &[])).unwrap();
        let kept = LearnedState::load(&path).unwrap();
        let scores: Vec<_> = kept.scores.iter().map(|(tool, n)| (tool.as_str(), *n)).collect();
        assert_eq!(scores, [("a", 1.0 + 3.0 - 2.0 + 1.0), ("b", 2.0)]);
        assert_eq!(kept.explored, [("b".into(), "a".into())], "the other edge was taken back");
    }

    #[test]
    fn many_sessions_at_once_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("learned.json");
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    let mut keeper = Keeper::new(path.clone(), LearnedState::default());
                    for n in 1..=10 {
                        keeper.keep(&learning(&[("a", f64::from(n))], &[])).unwrap();
                    }
                });
            }
        });
        let kept = LearnedState::load(&path).unwrap();
        assert_eq!(kept.scores["a"], 60.0);
    }

    #[test]
    fn a_file_without_a_format_is_read_and_its_copy_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("learned.json");
        let old = "{\"scores\": {\"gone\": 7.0, \"a\": 1.0}, \"explored\": [[\"gone\", \"a\"]]}";
        fs::write(&path, old).unwrap();
        let known = LearnedState { scores: [("a".into(), 1.0)].into(), explored: Vec::new() };
        Keeper::new(path.clone(), known).keep(&learning(&[("a", 3.0)], &[])).unwrap();
        let copy = folder.path().join("learned.format-1.json");
        assert_eq!(fs::read_to_string(copy).unwrap(), old);
        let kept = LearnedState::load(&path).unwrap();
        assert_eq!((kept.scores["a"], kept.scores["gone"]), (3.0, 7.0), "its tool may come back");
        assert_eq!(kept.explored.len(), 1);
        assert!(fs::read_to_string(&path).unwrap().contains("\"format\": 2"));
    }

    #[test]
    fn a_newer_file_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("learned.json");
        let newer = "{\"format\": 9, \"more\": 1}";
        fs::write(&path, newer).unwrap();
        let said = LearnedState::load(&path).unwrap_err().to_string();
        assert!(said.contains("format 9") && said.contains("newer toolyard"), "{said}");
        let mut keeper = Keeper::new(path.clone(), LearnedState::default());
        assert!(keeper.keep(&learning(&[("a", 3.0)], &[])).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), newer);
    }
}
