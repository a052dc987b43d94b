//! Killed at any moment, toolyard leaves no process.

use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::processes::{DAEMON, STUBBORN, has_ended, read_pids, wait_until};
use crate::program::Home;

/// Starts a session of two tasks whose tool runs this script, and waits until it has written so many ids.
fn running(home: &Home, script: &str, count: usize) -> (Child, Vec<Pid>) {
    let pids = home.path("pids");
    let tool = format!(
        "name = \"weather\"\ndescription = \"Tells the weather of a city.\"\neffect = \"read\"\n\
         timeout = \"100s\"\n[parameters]\n[source]\nenv = [\"PATH\"]\ncommand = {}\n",
        serde_json::json!(["sh", "-c", script, "sh", pids]),
    );
    home.write("mine/tools/weather.toml", tool);
    home.write("mine/tasks.txt", "How is the weather in Lisbon?\nHow is the weather in Paris?\n");
    let mut command = home.command(&["run", "--workspace", "mine"]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("the tool runs", || read_pids(&pids).len() == count);
    (child, read_pids(&pids))
}

/// The process that is the parent of another.
fn parent(pid: Pid) -> Pid {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap();
    let (_, rest) = stat.rsplit_once(')').unwrap();
    Pid::from_raw(rest.split_whitespace().nth(1).unwrap().parse().unwrap()).unwrap()
}

fn kill(child: &mut Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
    child.wait().unwrap();
}

#[test]
fn a_running_tool_ends_when_toolyard_is_killed() {
    let home = Home::new();
    let (mut toolyard, pids) = running(&home, STUBBORN, 1);
    kill(&mut toolyard, Signal::KILL);
    wait_until("the tool is gone", || has_ended(pids[0]));
}

#[cfg(target_os = "linux")]
#[test]
fn a_tool_that_left_its_group_ends_too_and_so_does_the_reaper() {
    for signal in [Signal::KILL, Signal::TERM] {
        let home = Home::new();
        let (mut toolyard, pids) = running(&home, &format!("{DAEMON}; {STUBBORN}"), 2);
        // The tool itself is a child of the reaper, the daemon one of the tool.
        let parents: Vec<Pid> = pids.iter().map(|pid| parent(*pid)).collect();
        let reaper = *parents.iter().find(|parent| !pids.contains(parent)).unwrap();
        assert!(pids.contains(&parents[0]) || pids.contains(&parents[1]), "{pids:?} {parents:?}");
        assert_ne!(reaper, Pid::from_child(&toolyard));
        kill(&mut toolyard, signal);
        wait_until("all are gone", || pids.iter().all(|pid| has_ended(*pid)) && has_ended(reaper));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn where_the_reaper_is_killed_its_tool_ends_and_the_next_call_works() {
    let home = Home::new();
    let again = "test -s \"$1\" && { echo sunny >> \"$1\"; echo sunny; exit; }";
    let (mut toolyard, pids) = running(&home, &format!("{again}; {STUBBORN}"), 1);
    kill_process(parent(pids[0]), Signal::KILL).unwrap();
    wait_until("the tool is gone", || has_ended(pids[0]));
    toolyard.wait().unwrap();
    assert!(home.read("pids").contains("sunny"), "{}", home.read("pids"));
}

#[test]
fn a_person_cannot_be_the_one_who_asks_the_reaper() {
    let ran = Home::new().run(&["--reaper"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("--reaper is for toolyard itself"), "{ran:?}");
}
