//! The files of an agent that forks, and those of the person.

use std::path::Path;
use std::process::Command;
use std::thread;

use serde_json::Value;

use super::{Session, answers, calls};
use crate::program::text;

/// Forks of one session, four at once.
const FORKS: usize = 50;

/// git in a folder; `None` where it is not installed.
fn git(folder: &Path, words: &[&str]) -> Option<String> {
    let ran = Command::new("git").arg("-C").arg(folder).args(words).output().ok()?;
    assert!(ran.status.success(), "{words:?}: {ran:?}");
    Some(String::from_utf8(ran.stdout).unwrap())
}

/// Files with their contents.
type Files = Vec<(String, Vec<u8>)>;

/// All that a person has in a repository, apart from what git keeps for itself.
fn kept(folder: &Path) -> (Files, Vec<u8>, String) {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true if path.ends_with(".git") => {}
                true => folders.push(path),
                false => files.push((path.display().to_string(), std::fs::read(&path).unwrap())),
            }
        }
    }
    files.sort();
    let index = std::fs::read(folder.join(".git/index")).unwrap();
    (files, index, git(folder, &["branch", "--all", "--verbose"]).unwrap())
}

/// Forks run in copies of the agent's files as they were, and nothing of the person's changes; with their sessions the copies
/// go.
#[test]
fn forks_have_the_files_of_the_agent_and_touch_none_of_the_person() {
    if git(Path::new("."), &["--version"]).is_none() {
        eprintln!("SKIPPED: git is not installed");
        return;
    }
    let session =
        Session::record("Sum: 1 2 3 4", false, &["--snapshot", "--with", "secret.env"], |home| {
            let folder = home.path("agent");
            git(&folder, &["init", "--quiet"]);
            home.write("agent/.gitignore", "*.env\nlarge/\n");
            home.write("agent/edited/1", "one");
            let who = ["-c", "user.name=n", "-c", "user.email=e@x"];
            git(&folder, &["add", "."]);
            git(&folder, &[&who[..], &["commit", "--quiet", "-m", "first"]].concat());
            // Changed, staged, new and ignored files, and hooks that must not run.
            home.write("agent/notes.txt", "changed");
            home.write("agent/staged.txt", "staged");
            git(&folder, &["add", "staged.txt"]);
            home.write("agent/new.txt", "new");
            home.write("agent/secret.env", "K=1");
            home.write("agent/large/x", "x");
            for hook in ["post-checkout", "reference-transaction", "post-index-change"] {
                let path = format!("agent/.git/hooks/{hook}");
                home.write(&path, "#!/bin/sh\ntouch \"$HOME/hook-ran\"\n");
                let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
                std::fs::set_permissions(home.path(&path), mode).unwrap();
            }
        });
    let (home, folder) = (&session.home, session.home.path("agent"));
    assert!(!home.path("hook-ran").exists(), "a hook ran");
    let before = kept(&folder);
    let second = calls(&session.events(), "ModelCallFinished")[1].0.to_string();
    // Before the second answer only the first two files are edited.
    std::fs::create_dir(home.path("forks")).unwrap();
    let one = |n: usize| {
        let journal = home.path(&format!("forks/{n}.jsonl.zst"));
        let fork = [
            "fork",
            "j.jsonl.zst",
            "--call",
            &second,
            "--set",
            "reply=Stop.",
            "--headless",
            "--trust-journal",
            "--journal",
            text(&journal),
        ];
        let ran = session.run(".", &fork, &[]);
        let said = answers(&ran);
        let said = said.get("Sum: 1 2 3 4").map(String::as_str);
        assert_eq!((ran.code, said), (0, Some("Stop.")), "{ran:?}");
        let head = home.read(&format!("forks/{n}.jsonl.zst"));
        let head: Value = serde_json::from_str(head.lines().next().unwrap()).unwrap();
        assert_eq!(
            (&head["parent"], head["parent_event"].as_u64() > Some(9)),
            (&"j.jsonl.zst".into(), true)
        );
        let own = Path::new(head["spec"]["agent"]["folder"].as_str().unwrap()).to_owned();
        let names = [
            "edited/1",
            "edited/2",
            "edited/3",
            "notes.txt",
            "staged.txt",
            "new.txt",
            "secret.env",
            "large/x",
        ];
        let files = names.map(|name| std::fs::read_to_string(own.join(name)).ok());
        let files = files.each_ref().map(Option::as_deref);
        let by_agent = Some("by the agent");
        assert_eq!(
            files,
            [
                by_agent,
                by_agent,
                None,
                Some("changed"),
                Some("staged"),
                Some("new"),
                Some("K=1"),
                None
            ]
        );
        let status = git(&own, &["status", "--porcelain"]).unwrap();
        assert_eq!(status, " M edited/1\n M notes.txt\nA  staged.txt\n?? edited/2\n?? new.txt\n");
        own
    };
    let forks = (0..FORKS).collect::<Vec<_>>();
    let folders: Vec<_> = forks
        .chunks(4)
        .flat_map(|four| {
            thread::scope(|scope| {
                let started: Vec<_> = four.iter().map(|n| scope.spawn(|| one(*n))).collect();
                started.into_iter().map(|fork| fork.join().unwrap()).collect::<Vec<_>>()
            })
        })
        .collect();
    // An agent that commits, stashes and makes branches in its copy changes nothing of the person's.
    let who = ["-c", "user.name=n", "-c", "user.email=e@x"];
    for words in [
        &["stash"][..],
        &["stash", "apply"],
        &["branch", "agents"],
        &["commit", "-q", "-a", "-m", "c"],
    ] {
        git(&folders[0], &[&who[..], words].concat()).unwrap();
    }
    assert!(git(&folder, &["for-each-ref", "refs/stash"]).unwrap().is_empty());
    assert_eq!(
        git(&folders[1], &["branch", "--show-current"]),
        git(&folder, &["branch", "--show-current"])
    );
    // A fork of a fork has files of its own, too, and a fork that cannot begin leaves nothing.
    let again = [
        "fork",
        "forks/0.jsonl.zst",
        "--at",
        "30",
        "--headless",
        "--trust-journal",
        "--journal",
        "forks/again.jsonl.zst",
    ];
    assert_eq!(session.run(".", &again, &[]).code, 0);
    assert_eq!(session.run(".", &again, &[]).code, 2, "the name is taken");
    assert!(kept(&folder) == before, "something of the person changed");
    assert!(!home.path("hook-ran").exists(), "a hook ran");
    let listed = |words: &[&str]| git(&folder, words).unwrap().lines().count();
    assert_eq!(listed(&["worktree", "list"]), 1);
    assert_eq!(listed(&["for-each-ref", "refs/toolyard"]), FORKS + 2);
    // The parent goes first: its forks stay whole.
    std::fs::create_dir(home.path("parent")).unwrap();
    std::fs::rename(home.path("j.jsonl.zst"), home.path("parent/j.jsonl.zst")).unwrap();
    for sessions in ["parent", "forks"] {
        home.write("c.toml", format!("[session]\njournals = {:?}\n", home.path(sessions)));
        home.succeed(&["sessions", "prune", "--older", "0h", "--config", "c.toml"]);
        if sessions == "parent" {
            assert!(folders.iter().all(|folder| folder.join("notes.txt").exists()));
            assert_eq!(
                session
                    .run(
                        ".",
                        &[
                            "fork",
                            "forks/1.jsonl.zst",
                            "--at",
                            "30",
                            "--headless",
                            "--trust-journal",
                            "--journal",
                            "forks/late.jsonl.zst"
                        ],
                        &[]
                    )
                    .code,
                0
            );
        }
    }
    assert_eq!(listed(&["worktree", "list"]), 1);
    assert_eq!(listed(&["for-each-ref", "refs/toolyard"]), 0);
    assert!(folders.iter().all(|folder| !folder.exists()) && kept(&folder) == before);
}
