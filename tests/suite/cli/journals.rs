//! Where journals go, and what happens when they cannot be written.

use std::process::{Command, Stdio};

use toolyard::store::journal;

use crate::program::{Home, Ran};

/// A limit on the size of files stands for a full disk: the write that crosses it comes to nothing,
/// or to half a line.
#[test]
fn a_disk_that_is_full_ends_the_session_at_once_and_leaves_a_journal() {
    let home = Home::new();
    let mut command = Command::new("sh");
    // `ulimit -f` counts blocks of 512 bytes; without the trap the system would kill the program.
    let script = "trap '' XFSZ; ulimit -f 64; exec \"$@\"";
    command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_toolyard")]);
    // Without tools nothing ever waits, so the session would notice last of all.
    let direct = ["--strategy", "direct", "--tasks-limit", "2000"];
    command.args(["run", "--journal", "j.jsonl"]).args(direct);
    command.current_dir(home.path("")).env_clear().envs(home.environment());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    // Going round without end is how it may fail.
    let mut waited = 0;
    while child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(50));
        waited += 50;
        if waited > 30_000 {
            child.kill().unwrap();
            panic!("it never ends");
        }
    }
    let ran = Ran::of(child.wait_with_output().unwrap());
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("j.jsonl"), "{ran:?}");
    let loaded = journal::read(&home.path("j.jsonl")).unwrap();
    assert!(loaded.records.len() > 3, "{loaded:?}");
}

#[test]
fn sessions_that_start_in_the_same_second_have_a_journal_each() {
    let home = Home::new();
    home.write("c.toml", "[session]\njournals = \"kept\"\n");
    let start = || {
        let mut command = home.command(&["run", "--config", "c.toml", "--tasks-limit", "1"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<_> = (0..6).map(|_| start()).collect();
    for child in children {
        let ran = Ran::of(child.wait_with_output().unwrap());
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    assert_eq!(std::fs::read_dir(home.path("kept")).unwrap().count(), 6);
}
