//! Programs as tools, with real processes: whatever they do, a call stays bounded and nothing of
//! them is left.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{collections::BTreeMap, env, fs, process::Command, sync::Arc};

use rustix::process::{Pid, test_kill_process};
use serde_json::{Value, json};
use tokio::time::timeout;
use toolyard::domain::{EffectClass, ToolSpec};
use toolyard::process::end_all;
use toolyard::tool::command::CommandSource;
use toolyard::tool::manifest::{Manifest, ToolSource};
use toolyard::tool::{Invocation, Tool, ToolError, ToolErrorKind, ToolOutput};

use crate::processes::{DAEMON, PATIENCE, STUBBORN, has_ended, read_pids, wait_until, with_reaper};

fn source(words: &[&str]) -> CommandSource {
    CommandSource {
        program: words[0].into(),
        args: words[1..].iter().map(|word| (*word).into()).collect(),
        env: vec!["PATH".into()],
        set: BTreeMap::new(),
        cwd: None,
        max_output: 64 * 1024,
    }
}

fn tool(source: CommandSource) -> Manifest {
    with_reaper();
    let spec = ToolSpec {
        name: "program".into(),
        description: String::new(),
        parameters: json!({ "type": "object" }).into(),
        class: String::new(),
        cost: None,
        effect: EffectClass::Unknown,
        timeout_ms: 1000,
        source: "command".into(),
        examples: Vec::new(),
        disabled: None,
        proposed: None,
        served_as: None,
        returns: None,
        request: None,
    };
    Manifest {
        spec: Arc::new(spec),
        source: ToolSource::Command(source),
        file: String::new(),
        remarks: Vec::new(),
    }
}

async fn run(source: CommandSource, arguments: Value) -> Result<ToolOutput, ToolError> {
    let invocation = Invocation { arguments, seed: 0 };
    timeout(PATIENCE, tool(source).call(&invocation)).await.expect("the call hangs")
}

async fn sh(script: &str) -> Result<ToolOutput, ToolError> {
    run(source(&["sh", "-c", script]), json!({})).await
}

/// Starts a script that writes process ids to `$1`, drops the call once there are `count`, and gives
/// the ids.
async fn drop_once_started(script: &str, count: usize) -> Vec<Pid> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pids");
    let invocation = Invocation { arguments: json!({}), seed: 0 };
    let tool = tool(source(&["sh", "-c", script, "sh", &file.display().to_string()]));
    let mut call = tool.call(&invocation);
    let started = Instant::now();
    loop {
        let step = timeout(Duration::from_millis(10), &mut call).await;
        assert!(step.is_err(), "ended by itself: {step:?}");
        let pids = read_pids(&file);
        if pids.len() == count {
            return pids;
        }
        assert!(started.elapsed() < PATIENCE, "did not start: {pids:?}");
    }
}

#[tokio::test]
async fn arguments_come_as_a_line_of_json_and_stdout_is_the_answer() {
    let output = run(source(&["cat"]), json!({ "b": [1, "ä"], "a": null })).await.unwrap();
    assert_eq!(output, ToolOutput::of(r#"{"b":[1,"ä"],"a":null}"#));
}

#[tokio::test]
async fn a_program_sees_only_the_environment_that_is_listed() {
    let mut source = source(&["env"]);
    source.set = BTreeMap::from([("GREETING".into(), "hello; $(rm x)".into())]);
    let output = run(source, json!({})).await.unwrap();
    let mut lines: Vec<_> = output.text.lines().collect();
    lines.sort_unstable();
    let path = format!("PATH={}", env::var("PATH").unwrap());
    assert_eq!(lines, ["GREETING=hello; $(rm x)", &path]);
}

#[tokio::test]
async fn values_that_are_set_are_not_shown() {
    let mut source = source(&["true"]);
    source.set = BTreeMap::from([("KEY".into(), "s3cret".into())]);
    assert!(!format!("{source:?}").contains("s3cret"));
}

#[tokio::test]
async fn escape_sequences_are_data() {
    let output = sh(r"printf '\033[2J\033]0;owned\007\r\b'").await.unwrap();
    assert_eq!(output.text, "\u{1b}[2J\u{1b}]0;owned\u{7}\r\u{8}");
}

#[tokio::test]
async fn a_hundred_megabytes_are_drained_and_cut() {
    let output = sh("head -c 100000000 /dev/zero | tr '\\0' a").await.unwrap();
    assert_eq!(output.cut_from, Some(100_000_000));
    assert!(output.text.len() < 65 * 1024, "{}", output.text.len());
    assert!(output.text.ends_with("a\n[cut: the first 65536 of 100000000 bytes]"));
}

#[tokio::test]
async fn a_flood_of_errors_is_drained_too_and_its_end_is_shown() {
    let error = sh("head -c 30000000 /dev/zero | tr '\\0' e >&2; echo >&2; echo why >&2; exit 3");
    let error = error.await.unwrap_err();
    assert_eq!(error.kind, ToolErrorKind::Failed);
    assert!(error.text.starts_with("`sh` failed (exit status: 3): eee"), "{error}");
    assert!(error.text.ends_with("e\nwhy"), "{error}");
    assert!(error.text.len() < 3 * 1024, "{}", error.text.len());
}

#[tokio::test]
async fn bytes_that_are_no_text_are_replaced() {
    assert_eq!(sh(r"printf 'a\377\376b'").await.unwrap().text, "a\u{fffd}\u{fffd}b");
}

#[tokio::test]
async fn nothing_is_an_answer() {
    assert_eq!(sh("true").await, Ok(ToolOutput::of("")));
}

#[tokio::test]
async fn an_error_without_a_word_shows_what_was_printed() {
    let error = sh("echo 'no such flag'; exit 2").await.unwrap_err();
    assert_eq!(error.text, "`sh` failed (exit status: 2): no such flag");
    let error = sh("kill -9 $$").await.unwrap_err();
    assert!(error.text.contains("signal: 9"), "{error}");
}

#[tokio::test]
async fn arguments_that_nobody_reads_do_no_harm() {
    let huge = json!({ "text": "x".repeat(4 << 20) });
    assert_eq!(run(source(&["echo", "hi"]), huge.clone()).await.unwrap().text, "hi");
    let late = run(source(&["sh", "-c", "sleep 0.3; wc -c"]), huge.clone()).await.unwrap();
    assert_eq!(late.text.trim(), (huge.to_string().len() + 1).to_string());
}

#[tokio::test]
async fn a_program_may_close_its_output_and_work_on() {
    let started = Instant::now();
    let output = sh("echo done; exec 1>&- 2>&-; sleep 0.4").await.unwrap();
    assert_eq!(output.text, "done");
    assert!(started.elapsed() >= Duration::from_millis(400));
}

#[tokio::test]
async fn what_a_program_leaves_behind_ends_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pids");
    let script = "sleep 1000 & echo $! > \"$1\"; echo started";
    let words = ["sh", "-c", script, "sh", &file.display().to_string()];
    assert_eq!(run(source(&words), json!({})).await.unwrap().text, "started");
    let pid = read_pids(&file)[0];
    wait_until("the sleeper is gone", || has_ended(pid));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_daemon_that_keeps_the_pipes_open_does_not_hold_the_call() {
    let started = Instant::now();
    let output = sh("setsid sleep 1000 & echo $!; sleep 0.1").await.unwrap();
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    let pid = Pid::from_raw(output.text.parse().unwrap()).unwrap();
    wait_until("the daemon is gone", || has_ended(pid));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_daemon_ends_with_its_call_and_not_with_that_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pids");
    let script = format!("{DAEMON}; while ! test -s \"$1\"; do sleep 0.01; done; cat \"$1\"");
    let words = ["sh", "-c", &script, "sh", &file.display().to_string()];
    let both = format!("{DAEMON}; {STUBBORN}");
    let other = drop_once_started(&both, 2);
    let (output, others) = tokio::join!(run(source(&words), json!({})), other);
    assert_eq!(output.unwrap().text, fs::read_to_string(&file).unwrap().trim());
    let pid = read_pids(&file)[0];
    wait_until("the daemon is gone", || has_ended(pid));
    wait_until("the dropped call's are gone", || others.iter().all(|pid| has_ended(*pid)));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_end_of_one_call_leaves_the_daemons_of_another_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pids");
    // It fails if its daemon is gone before it ends itself.
    let script = format!("{DAEMON}; sleep 1; kill -0 $(cat \"$1\") && echo there");
    let words = ["sh", "-c", &script, "sh", &file.display().to_string()];
    let others = async {
        for _ in 0..20 {
            sh("true").await.unwrap();
        }
    };
    let (output, ()) = tokio::join!(run(source(&words), json!({})), others);
    assert_eq!(output.unwrap().text, "there");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_program_has_a_session_of_its_own_and_so_no_terminal() {
    let output = run(source(&["cut", "-d", " ", "-f", "1,6,7", "/proc/self/stat"]), json!({}));
    let output = output.await.unwrap().text;
    let [pid, session, terminal] = output.split(' ').collect::<Vec<_>>()[..] else {
        panic!("{output}");
    };
    assert_eq!((pid, terminal), (session, "0"));
}

#[tokio::test]
async fn a_dropped_call_ends_its_program_and_reaps_it() {
    let pids = drop_once_started("echo $$ > \"$1\"; exec sleep 1000", 1).await;
    wait_until("the program is reaped", || test_kill_process(pids[0]).is_err());
}

#[tokio::test]
async fn a_program_that_prints_without_end_can_be_dropped() {
    let pids = drop_once_started("echo $$ > \"$1\"; exec yes", 1).await;
    wait_until("the program is reaped", || test_kill_process(pids[0]).is_err());
}

#[tokio::test]
async fn grandchildren_that_refuse_to_end_are_killed() {
    let script = "trap '' TERM; (trap '' TERM; sleep 1000 & echo $! >> \"$1\"; wait) & \
                  echo $! >> \"$1\"; echo $$ >> \"$1\"; wait; wait; sleep 1000";
    let pids = drop_once_started(script, 3).await;
    wait_until("all three are gone", || pids.iter().all(|pid| has_ended(*pid)));
}

#[tokio::test]
async fn a_stopped_program_ends_too() {
    let pids = drop_once_started("echo $$ > \"$1\"; kill -STOP $$; sleep 1000", 1).await;
    wait_until("the program is reaped", || test_kill_process(pids[0]).is_err());
}

#[test]
fn a_call_ends_its_program_even_if_its_runtime_is_gone() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let pids = runtime.block_on(drop_once_started("echo $$ > \"$1\"; exec sleep 1000", 1));
    drop(runtime);
    wait_until("the program is reaped", || test_kill_process(pids[0]).is_err());
}

#[tokio::test(start_paused = true)]
async fn a_paused_clock_does_not_run_ahead_of_a_program() {
    assert_eq!(sh("sleep 0.3; echo hi").await.unwrap().text, "hi");
}

#[tokio::test]
async fn many_calls_at_once_leave_nothing() {
    let calls = (0..40).map(|n| async move {
        let script = format!("echo {n}; echo $$");
        sh(&script).await.unwrap().text
    });
    for (n, text) in futures::future::join_all(calls).await.iter().enumerate() {
        let (said, pid) = text.split_once('\n').unwrap();
        assert_eq!(said, n.to_string());
        let pid = Pid::from_raw(pid.parse().unwrap()).unwrap();
        wait_until("the program is reaped", || test_kill_process(pid).is_err());
    }
}

/// A thread that is kept from running for longer than output may be late must not lose it: the first
/// look at the pipes may then come after that time is over.
#[tokio::test]
async fn a_busy_thread_does_not_lose_what_was_printed() {
    for _ in 0..8 {
        let mut call = std::pin::pin!(sh("echo said"));
        let mut polls = 0;
        let output = std::future::poll_fn(|context| {
            polls += 1;
            if polls > 1 {
                return call.as_mut().poll(context);
            }
            // Started, ended, and seen to have ended, all before the runtime has looked at the pipes.
            for wait in [200, 400] {
                assert!(call.as_mut().poll(context).is_pending());
                std::thread::sleep(Duration::from_millis(wait));
            }
            std::task::Poll::Pending
        });
        assert_eq!(output.await.unwrap().text, "said");
    }
}

#[tokio::test]
async fn a_program_that_is_not_there_is_unavailable_and_says_where_it_was_looked_for() {
    let error = run(source(&["no-such-program-here"]), json!({})).await.unwrap_err();
    assert_eq!(error.kind, ToolErrorKind::Unavailable);
    assert!(
        error.text.starts_with("the program `no-such-program-here` is not in PATH ("),
        "{error}"
    );
    let error = run(source(&["./nothing"]), json!({})).await.unwrap_err();
    assert_eq!(error.kind, ToolErrorKind::Unavailable);
    let mut nowhere = source(&["true"]);
    nowhere.cwd = Some(PathBuf::from("/no/such/folder"));
    assert_eq!(run(nowhere, json!({})).await.unwrap_err().kind, ToolErrorKind::Unavailable);
}

/// In a process of its own, since it ends the programs of all tests.
#[test]
fn everything_ends_with_toolyard() {
    const MARK: &str = "TOOLYARD_TEST_END_ALL";
    if let Some(file) = env::var_os(MARK) {
        return end_all_in_here(Path::new(&file));
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pids");
    let me = ["--exact", "programs::everything_ends_with_toolyard", "--nocapture"];
    let status = Command::new(env::current_exe().unwrap()).args(me).env(MARK, &file).status();
    assert!(status.unwrap().success());
    let pid = read_pids(&file)[0];
    assert!(test_kill_process(pid).is_err(), "the program outlived toolyard");
}

fn end_all_in_here(file: &Path) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let script = "trap '' TERM; echo $$ > \"$1\"; while :; do sleep 1; done";
    let words = ["sh", "-c", script, "sh", &file.display().to_string()];
    let (tool, invocation) = (tool(source(&words)), Invocation { arguments: json!({}), seed: 0 });
    runtime.block_on(async {
        let mut call = tool.call(&invocation);
        while read_pids(file).is_empty() {
            let _still_running = timeout(Duration::from_millis(10), &mut call).await;
        }
        end_all();
    });
}
