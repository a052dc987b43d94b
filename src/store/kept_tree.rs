//! The files of a watched agent as they were when its session began: a commit of its git repository under a reference of
//! its own. A fork runs in a repository of its own that is made of it, with the person's objects, branches and settings:
//! whatever the agent does there, work tree, index, branches, stash and hooks of the person stay as they are. It is no work
//! tree of theirs: that would share their stash and branches, and coding agents behave differently in one.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use super::journal::new_id;

/// The references of kept trees.
const REFERENCES: &str = "refs/toolyard/";
/// The reference that a person's stash is kept under.
const STASH: &str = "refs/stash";
/// The first words of settings that a copy does not take over: they lead to the person's files or hooks, or say how a
/// repository is stored.
const NOT_COPIED: [&str; 8] = [
    "core.bare",
    "core.fsmonitor",
    "core.hookspath",
    "core.repositoryformatversion",
    "core.worktree",
    "extensions.",
    "include",
    "core.sparsecheckout",
];
/// The folders above a work tree that was made here.
const PLACE: [&str; 2] = ["toolyard", "worktrees"];
/// The most bytes of changed and new files: git keeps a copy of each.
const LARGEST: u64 = 1 << 30;
/// The most names in a note.
const NAMES: usize = 8;
/// Settings with which git runs nothing of the repository, and writes nothing that was not asked for.
const SETTINGS: [&str; 10] = [
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "gc.auto=0",
    "-c",
    "commit.gpgSign=false",
    "-c",
    "advice.addEmbeddedRepo=false",
];
/// Variables that would lead git to another repository or index.
const OTHERS: [&str; 6] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_NAMESPACE",
];

/// The files of an agent at the beginning of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KeptTree {
    /// The top folder of the repository.
    pub repository: PathBuf,
    /// The name of its reference below `refs/toolyard/`.
    pub id: String,
    /// The agent's folder below the top.
    pub within: PathBuf,
    /// The branch that was checked out; `None`: none was, or it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The work tree in which this session ran; `None`: the person's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work_tree: Option<PathBuf>,
}

/// git in a folder.
struct Git<'a> {
    folder: &'a Path,
    /// The index, in place of the repository's.
    index: Option<&'a Path>,
}

impl Git<'_> {
    fn command<W: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = W>) -> Command {
        let mut git = Command::new("git");
        for name in OTHERS {
            git.env_remove(name);
        }
        git.env("GIT_TERMINAL_PROMPT", "0").env("GIT_OPTIONAL_LOCKS", "0").env("LC_ALL", "C");
        for who in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{who}_NAME"), "toolyard");
            git.env(format!("GIT_{who}_EMAIL"), "toolyard@localhost");
        }
        if let Some(index) = self.index {
            git.env("GIT_INDEX_FILE", index);
        }
        git.arg("-C").arg(self.folder).args(SETTINGS).args(words).stdin(Stdio::null());
        git
    }

    /// The output of a command, without the last line break.
    ///
    /// # Errors
    /// What git says.
    fn run<W: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = W>) -> Result<String, String> {
        let ran = self.command(words).output();
        let ran = ran.map_err(|error| format!("git cannot be started: {error}"))?;
        if !ran.status.success() {
            let said = String::from_utf8_lossy(&ran.stderr);
            return Err(format!("git: {}", said.trim().lines().next().unwrap_or("failed")));
        }
        let said = String::from_utf8_lossy(&ran.stdout);
        Ok(said.strip_suffix('\n').unwrap_or(&said).to_owned())
    }

    /// The names in the output of a command with `-z`.
    fn names(&self, words: &[&str]) -> Result<Vec<String>, String> {
        let said = self.run(words)?;
        Ok(said.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect())
    }
}

impl KeptTree {
    /// Keeps the files of this folder's repository as they are. `with`: patterns of files that git ignores and that are
    /// kept as well. Returns also what is not kept, for the person.
    ///
    /// # Errors
    /// The folder is in no repository; its changed and new files are too large; or git refuses.
    pub fn keep(folder: &Path, with: &[String]) -> Result<(Self, Vec<String>), String> {
        let git = Git { folder, index: None };
        let top = git.run(["rev-parse", "--show-toplevel"]).map_err(|why| {
            format!("--snapshot: {} is in no git repository with files ({why})", folder.display())
        })?;
        let within = git.run(["rev-parse", "--show-prefix"])?;
        let repository = PathBuf::from(top);
        let git = Git { folder: &repository, index: None };
        expect_small(&git, &repository)?;
        let mut notes = Vec::new();
        let place = git.run(["rev-parse", "--absolute-git-dir"])?;
        let own = tempfile::tempdir().map_err(|error| error.to_string())?;
        let index = own.path().join("index");
        // git then reads only files that have changed.
        let _ = fs::copy(Path::new(&place).join("index"), &index);
        let other = Git { folder: &repository, index: Some(&index) };
        let head = git.run(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).ok();
        let commit = |tree: &str, staged: Option<&String>| {
            let parents = head.iter().chain(staged).flat_map(|parent| ["-p", parent]);
            let words = ["commit-tree", tree, "-m", "files of an agent, kept by toolyard"];
            git.run(words.into_iter().chain(parents).collect::<Vec<_>>())
        };
        // The index as it is, as a second parent. One with conflicts is no tree.
        let staged = other.run(["write-tree"]).and_then(|tree| commit(&tree, None)).ok();
        other.run(["add", "--all"])?;
        if !with.is_empty() {
            let patterns = with.iter().map(String::as_str);
            other.run(["add", "--force", "--"].into_iter().chain(patterns))?;
        }
        let tree = other.run(["write-tree"])?;
        let commit = commit(&tree, staged.as_ref())?;
        notes.extend(left_out(&other)?);
        let kept = Self {
            repository: repository.clone(),
            id: new_id(),
            within: within.into(),
            branch: git.run(["symbolic-ref", "--quiet", "--short", "HEAD"]).ok(),
            work_tree: None,
        };
        git.run(["update-ref", &kept.reference()?, &commit])?;
        Ok((kept, notes))
    }

    /// The same files under a reference of its own, in a new work tree below toolyard's folder for data.
    ///
    /// # Errors
    /// The repository or its reference is gone, or git refuses.
    pub fn again(&self, data: &Path) -> Result<Self, String> {
        let git = Git { folder: &self.repository, index: None };
        let gone = |why| format!("{}: the files that were kept: {why}", self.repository.display());
        let commit = git.run(["rev-parse", "--verify", &self.reference()?]).map_err(gone)?;
        let id = new_id();
        let work_tree = data.join(PLACE[1]).join(&id);
        let made = Self { id, work_tree: Some(work_tree.clone()), ..self.clone() };
        git.run(["update-ref", &made.reference()?, &commit])?;
        made.fill(&git, &commit, &work_tree).inspect_err(|_| drop(made.delete()))?;
        Ok(made)
    }

    fn fill(&self, git: &Git<'_>, commit: &str, work_tree: &Path) -> Result<(), String> {
        let parent = |nth: u8| {
            git.run(["rev-parse", "--verify", "--quiet", &format!("{commit}^{nth}")]).ok()
        };
        let (head, staged) = (parent(1), parent(2));
        let base = head.as_deref().unwrap_or(commit);
        self.lay(git, work_tree)?;
        let own = Git { folder: work_tree, index: None };
        match &self.branch {
            Some(branch) => own.run(["update-ref", &format!("refs/heads/{branch}"), base])?,
            None => own.run(["update-ref", "--no-deref", "HEAD", base])?,
        };
        own.run(["read-tree", "--reset", "-u", commit])?;
        own.run(["read-tree", staged.as_deref().unwrap_or(base)]).map(drop)
    }

    /// Lays a repository without files: it reads the objects of the person's, and has the same references and settings.
    fn lay(&self, git: &Git<'_>, work_tree: &Path) -> Result<(), String> {
        let failed = |error: io::Error| format!("{}: {error}", work_tree.display());
        fs::create_dir_all(work_tree).map_err(failed)?;
        let own = Git { folder: work_tree, index: None };
        let form = git.run(["rev-parse", "--show-object-format"])?;
        let branch = self.branch.as_deref().unwrap_or("main");
        let words = ["--quiet", "--template="].map(str::to_owned);
        let more = [format!("--object-format={form}"), format!("--initial-branch={branch}")];
        own.run(["init".to_owned()].into_iter().chain(words).chain(more))?;
        // An older git says it relative to its folder.
        let place = |name: &str| {
            git.run(["rev-parse", "--git-path", name]).map(|path| self.repository.join(path))
        };
        let inner = work_tree.join(".git");
        fs::create_dir_all(inner.join("info")).map_err(failed)?;
        let objects = format!("{}\n", place("objects")?.display());
        fs::write(inner.join("objects/info/alternates"), objects).map_err(failed)?;
        for name in ["info/exclude", "info/attributes", "shallow"] {
            // Not every repository has them.
            let _ = fs::copy(place(name)?, inner.join(name));
        }
        let listed = git.run(["for-each-ref", "--format=%(objectname) %(refname)"])?;
        let is_theirs = |line: &&str| {
            !line
                .split(' ')
                .nth(1)
                .is_some_and(|name| name.starts_with(REFERENCES) || name == STASH)
        };
        let packed: String =
            listed.lines().filter(is_theirs).map(|line| format!("{line}\n")).collect();
        let packed = format!("# pack-refs with: sorted \n{packed}");
        fs::write(inner.join("packed-refs"), packed).map_err(failed)?;
        let settings = git.names(&["config", "--local", "--list", "-z"])?;
        for (key, value) in settings.iter().filter_map(|setting| setting.split_once('\n')) {
            if !NOT_COPIED.iter().any(|begin| key.starts_with(begin)) {
                own.run(["config", "--add", key, value])?;
            }
        }
        Ok(())
    }

    /// The folder in which the agent runs again.
    pub fn folder(&self) -> PathBuf {
        self.top().join(&self.within)
    }

    /// The top folder of the files of this session.
    pub fn top(&self) -> &Path {
        self.work_tree.as_deref().unwrap_or(&self.repository)
    }

    /// Deletes the reference and the work tree. What is gone already is no error.
    ///
    /// # Errors
    /// git refuses, or what a journal names is not of toolyard.
    pub fn delete(&self) -> Result<(), String> {
        let reference = self.reference()?;
        if let Some(work_tree) = &self.work_tree {
            self.expect_own(work_tree)?;
            match fs::remove_dir_all(work_tree) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(format!("{}: {error}", work_tree.display()));
                }
                Ok(()) | Err(_) => {}
            }
        }
        if !self.repository.is_dir() {
            return Ok(());
        }
        let git = Git { folder: &self.repository, index: None };
        git.run(["update-ref", "-d", &reference]).map(drop)
    }

    /// The name of the reference: a journal from elsewhere must not name a branch.
    fn reference(&self) -> Result<String, String> {
        let is_id = self.id.len() == 16 && self.id.bytes().all(|byte| byte.is_ascii_hexdigit());
        match is_id {
            true => Ok(format!("{REFERENCES}{}", self.id)),
            false => Err(format!("{:?} is no name of kept files", self.id)),
        }
    }

    /// # Errors
    /// The work tree is none that was made here.
    fn expect_own(&self, work_tree: &Path) -> Result<(), String> {
        let mut names = work_tree.iter().rev();
        let own = [self.id.as_str(), PLACE[1], PLACE[0]].map(OsStr::new);
        let is_own = own.into_iter().all(|name| names.next() == Some(name));
        match is_own && !work_tree.is_symlink() {
            true => Ok(()),
            false => Err(format!("{} is no work tree of toolyard", work_tree.display())),
        }
    }
}

/// # Errors
/// The changed and new files are too large to keep.
fn expect_small(git: &Git<'_>, top: &Path) -> Result<(), String> {
    let names = git.names(&["ls-files", "-z", "--others", "--modified", "--exclude-standard"])?;
    let size = |name: &String| top.join(name).symlink_metadata().map_or(0, |about| about.len());
    let bytes: u64 = names.iter().map(size).sum();
    if bytes <= LARGEST {
        return Ok(());
    }
    let largest = names.iter().max_by_key(|name| size(name)).map_or("", String::as_str);
    Err(format!(
        "--snapshot: {} MB of changed and new files are too much to keep (at most {}); let git ignore the large ones, such \
         as {largest}",
        bytes >> 20,
        LARGEST >> 20,
    ))
}

/// Notes on all that the index lacks: files that git ignores, and the contents of other repositories in this one.
fn left_out(index: &Git<'_>) -> Result<Vec<String>, String> {
    let ignored = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
    let ignored = index.names(&ignored)?;
    let entries = index.names(&["ls-files", "-z", "--stage"])?;
    let inner = entries.iter().filter(|entry| entry.starts_with("160000 "));
    let inner: Vec<String> =
        inner.filter_map(|entry| Some(entry.split_once('\t')?.1.to_owned())).collect();
    let note = |names: &[String], why: &str| {
        let shown = names.iter().take(NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = if names.len() > NAMES { ", …" } else { "" };
        (!names.is_empty()).then(|| format!("a fork will not have {shown}{more}: {why}"))
    };
    let notes = [
        note(&ignored, "git ignores that; --with PATTERN takes it along"),
        note(&inner, "that is a repository of its own"),
    ];
    Ok(notes.into_iter().flatten().collect())
}
