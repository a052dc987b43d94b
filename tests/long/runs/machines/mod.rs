//! Sessions on several machines, which are killed, stopped and lied to. The machines are workers of this one.

mod server;
mod workers;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;
use toolyard::nats::{Entry, JobResult, JobServer, ResultEnd};

use self::server::NatsServer;
use self::workers::TestWorker;
use super::cases;
use crate::program::{Home, Ran};

/// Tasks of a session, each with one call of the tool.
const TASKS: usize = 4;
/// How long a run of a test may take.
const PATIENCE: Duration = Duration::from_secs(1200);

/// A workspace whose tool writes a line into a file each time that it runs.
fn workspace(home: &Home, seconds: &str) {
    home.write(
        "w/tools/note.toml",
        "name = \"note\"\ndescription = \"Looks up a question and returns its answer.\"\n\
         class = \"Information Retrieval\"\ncost = 1\neffect = \"read\"\ntimeout = \"60s\"\n\
         [parameters]\nrequired = [\"question\"]\n[parameters.properties.question]\ntype = \"string\"\n\
         [source]\ncommand = [\"sh\", \"./note.sh\"]\n",
    );
    let made = home.path("made.txt").display().to_string();
    let script =
        format!("read l\necho \"$l\" >> '{made}'\nsleep {seconds}\necho 'The answer is 42.'\n");
    home.write("w/tools/note.sh", script);
    let tasks: String =
        (0..TASKS).map(|n| format!("What is the answer to question {n}?\n")).collect();
    home.write("w/tasks.txt", tasks);
    home.write("made.txt", "");
}

/// Arguments of a sweep of this workspace with so many sessions.
fn sweep<'a>(nats: &'a str, out: &'a str, seeds: &'a str) -> Vec<&'a str> {
    let session = ["--workspace", "w", "--strategy", "react", "--tasks", "w/tasks.txt"];
    let sweep = ["sweep", "--over", "alpha=0.5", "--seeds", seeds, "--out", out, "--nats", nats];
    [&sweep[..], &session].concat()
}

fn made(home: &Home) -> usize {
    home.read("made.txt").lines().count()
}

fn results(home: &Home, out: &str) -> usize {
    let files = std::fs::read_dir(home.path(out)).into_iter().flatten().flatten();
    files.filter(|file| file.path().extension().is_some_and(|end| end == "json")).count()
}

/// The jobs of a server by their state.
fn states(home: &Home, nats: &str) -> BTreeMap<String, usize> {
    let all: Value =
        serde_json::from_str(&home.succeed(&["jobs", "--nats", nats, "--json"])).unwrap();
    let mut states = BTreeMap::new();
    for job in all.as_array().unwrap() {
        let end = match &job["end"] {
            Value::Null => job["state"].clone(),
            Value::String(end) => Value::String(end.clone()),
            other => Value::String(other.as_object().unwrap().keys().next().unwrap().clone()),
        };
        *states.entry(end.as_str().unwrap().to_owned()).or_default() += 1;
    }
    states
}

/// The ids of the jobs in this state.
fn jobs(home: &Home, nats: &str, state: &str) -> Vec<String> {
    let all: Value =
        serde_json::from_str(&home.succeed(&["jobs", "--nats", nats, "--json"])).unwrap();
    let is_it = |job: &&Value| job["state"] == state;
    let id = |job: &Value| job["job"].as_str().unwrap().to_owned();
    all.as_array().unwrap().iter().filter(is_it).map(id).collect()
}

/// Waits until this holds.
fn until(what: &str, holds: impl Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        sleep(Duration::from_millis(50));
    }
}

/// Asks the server itself.
fn asked<R>(nats: &str, ask: impl AsyncFnOnce(JobServer) -> R) -> R {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    runtime.unwrap().block_on(async {
        let server = JobServer::connect(nats.parse().unwrap(), false, Arc::new(|_| ())).await;
        ask(server.unwrap()).await
    })
}

/// Calls that sessions had made when they were killed: without what the server keeps, all of them would be made again.
fn made_before_deaths(home: &Home, nats: &str) -> usize {
    let done = jobs(home, nats, "ended");
    asked(nats, async |server| {
        let mut calls = 0;
        for job in done {
            let sessions = server.journal(&job, 0).await.unwrap().sessions();
            let (_, earlier) = sessions.split_last().unwrap();
            for (_, lines) in earlier {
                calls += String::from_utf8_lossy(lines).matches("\"ToolCallFinished\"").count();
            }
        }
        calls
    })
}

/// A source of moments, printed so that a failure can be repeated.
struct Moments(u64);

impl Moments {
    fn new() -> Self {
        let said = std::env::var("MACHINES_SEED").ok().and_then(|text| text.parse().ok());
        let seed = said.unwrap_or_else(|| u64::from(std::process::id()) * 7919 + 1);
        println!("MACHINES_SEED={seed}");
        Self(seed)
    }

    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}

#[test]
fn sessions_whose_machines_are_killed_end_once_and_repeat_at_most_one_call_for_each_kill() {
    let Some(mut server) = NatsServer::start() else { return };
    let (all, kills, servers) = (cases(1000).max(24), cases(40).max(4), cases(3).max(1));
    let (home, nats, mut moments) = (Home::new(), server.address(), Moments::new());
    workspace(&home, "0.1");
    let seeds = all.to_string();
    let worker = || TestWorker::start(&home, &nats, &["--jobs", "1"]);
    let mut workers: Vec<_> = (0..4).map(|_| worker()).collect();
    let began = Instant::now();
    let mut run = home.command(&sweep(&nats, "out", &seeds));
    let mut run = run
        .stderr(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let (mut killed, mut servers_killed) = (0, 0);
    until("all jobs", || results(&home, "out") > 0 || made(&home) > 0);
    while run.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < PATIENCE, "{:?}", states(&home, &nats));
        // As many kills as there are, over all of the run.
        let share = made(&home) as f64 / (all * TASKS) as f64;
        if killed < kills && share * (kills as f64 + 1.0) > killed as f64 + 1.0 {
            sleep(Duration::from_millis(moments.below(400)));
            let at = moments.below(4) as usize;
            workers[at].signal_all(Signal::KILL);
            workers[at].wait();
            workers[at] = worker();
            killed += 1;
        }
        if servers_killed < servers && killed * (servers + 1) > kills * (servers_killed + 1) {
            server.kill(Duration::from_millis(300));
            servers_killed += 1;
        }
        sleep(Duration::from_millis(20));
    }
    assert_eq!(run.wait().unwrap().code(), Some(0), "{}", home.read("workers.log"));
    let seconds = began.elapsed().as_secs();
    let repeated = made(&home) - all * TASKS;
    let without = made_before_deaths(&home, &nats);
    println!(
        "{} of {all} results in {seconds} s after {killed} kills of workers and {servers_killed} of the server; \
         calls made again: {repeated}, and without checkpoints {}",
        results(&home, "out"),
        repeated + without,
    );
    assert_eq!((killed, servers_killed), (kills, servers), "the run was over before the kills");
    assert_eq!(results(&home, "out"), all);
    assert_eq!(states(&home, &nats), [("done".to_owned(), all)].into(), "no job is left");
    // Who loses its job to a server that forgot a message stops in a call, too.
    let all_kills = killed + servers_killed;
    assert!(repeated <= all_kills, "after {all_kills} kills: {}", home.read("workers.log"));
    drop(workers);
    let left = std::process::Command::new("pgrep")
        .args(["-f", &home.path("w").display().to_string()])
        .output();
    assert!(left.unwrap().stdout.is_empty(), "a process is left");
}

#[test]
fn a_sweep_has_the_same_answers_on_other_machines() {
    let Some(server) = NatsServer::start() else { return };
    let (home, nats) = (Home::new(), server.address());
    let seeds = (cases(200).max(8) / 4).to_string();
    let over =
        ["sweep", "--over", "alpha=0,1", "--over", "strategy=toolnet,react+btp", "--seeds", &seeds];
    let session = [
        "--tasks-limit",
        "4",
        "--fault",
        "search_web:error:p=0.3",
        "--costs",
        "1..10",
        "--csv",
        "s.csv",
    ];
    let args = |out: &'static str| [&over[..], &session, &["--out", out]].concat();
    let here = (home.succeed(&args("here")), home.read("s.csv"));
    let _workers: Vec<_> =
        (0..2).map(|_| TestWorker::start(&home, &nats, &["--jobs", "2"])).collect();
    let there = |out: &'static str| {
        let ran = home.run(&[&args(out)[..], &["--nats", &nats]].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        (ran.out, home.read("s.csv"))
    };
    assert_eq!(there("there"), here);
    // What is done is not done again, whoever asks.
    let before = states(&home, &nats);
    assert_eq!(there("again"), here);
    assert_eq!(states(&home, &nats), before);
    // Past uses come back, too.
    let compare = [
        "compare",
        "--strategies",
        "react,react+btp",
        "--seeds",
        "0..1",
        "--warm-up",
        "react",
        "--json",
    ];
    let session = ["--tasks-limit", "3"];
    let here = home.succeed(&[&compare[..], &session].concat());
    let there = home.succeed(&[&compare[..], &session, &["--nats", &nats]].concat());
    assert_eq!(there, here);
}

#[test]
fn a_worker_that_stood_still_writes_nothing_after_another_took_its_job() {
    let Some(server) = NatsServer::start() else { return };
    let (home, nats) = (Home::new(), server.address());
    workspace(&home, "1");
    let still = TestWorker::start(&home, &nats, &["--jobs", "1"]);
    let mut run = home.command(&sweep(&nats, "out", "1"));
    let run = run.stderr(std::process::Stdio::null()).spawn().unwrap();
    until("a call", || made(&home) == 1);
    still.signal_all(Signal::STOP);
    let other = TestWorker::start(&home, &nats, &["--jobs", "1"]);
    sleep(Duration::from_secs(20));
    still.signal_all(Signal::CONT);
    let ran = Ran::of(run.wait_with_output().unwrap());
    assert_eq!(ran.code, 0, "{ran:?}");
    until("it is said", || home.read("workers.log").contains("another worker has it"));
    let job = jobs(&home, &nats, "ended").remove(0);
    let journal = asked(&nats, async |server| server.journal(&job, 0).await.unwrap());
    assert_eq!(journal.sessions().len(), 2, "it wrote nothing more");
    let calls = made(&home);
    assert!((TASKS..=TASKS + 2).contains(&calls), "{calls} calls of {TASKS}");
    drop(other);
}

#[test]
fn a_worker_that_leaves_loses_nothing_and_one_that_dies_three_times_sets_its_job_aside() {
    let Some(server) = NatsServer::start() else { return };
    let (home, nats) = (Home::new(), server.address());
    workspace(&home, "0.5");
    let start = || {
        let mut run = home.command(&sweep(&nats, "out", "1"));
        run.stderr(std::process::Stdio::piped()).spawn().unwrap()
    };
    let run = start();
    for calls in [1, 2, 3] {
        let mut worker = TestWorker::start(&home, &nats, &["--jobs", "1"]);
        until("a call", || made(&home) >= calls);
        worker.signal(Signal::TERM);
        assert_eq!(worker.wait(), 0);
    }
    assert_eq!(states(&home, &nats), [("waiting".to_owned(), 1)].into(), "nobody died");
    let mut calls = made(&home);
    for _ in 0..3 {
        let worker = TestWorker::start(&home, &nats, &["--jobs", "1"]);
        until("a call", || made(&home) > calls);
        calls = made(&home);
        drop(worker);
    }
    let last = TestWorker::start(&home, &nats, &["--jobs", "1"]);
    let ran = Ran::of(run.wait_with_output().unwrap());
    assert!(ran.err.contains("is set aside, since 3 workers ended in it"), "{ran:?}");
    assert_eq!((ran.code, states(&home, &nats)), (1, [("dead".to_owned(), 1)].into()));
    let job = jobs(&home, &nats, "ended").remove(0);
    home.succeed(&["jobs", "--nats", &nats, "--retry", &job]);
    let ran = Ran::of(start().wait_with_output().unwrap());
    assert_eq!((ran.code, results(&home, "out")), (0, 1), "{ran:?}");
    drop(last);
}

#[test]
fn a_job_that_is_cancelled_ends_where_it_runs() {
    let Some(server) = NatsServer::start() else { return };
    let (home, nats) = (Home::new(), server.address());
    workspace(&home, "1");
    let worker = TestWorker::start(&home, &nats, &["--jobs", "1"]);
    let mut run = home.command(&sweep(&nats, "out", "1"));
    let run = run.stderr(std::process::Stdio::piped()).spawn().unwrap();
    until("a call", || made(&home) == 1);
    let job = jobs(&home, &nats, "running").remove(0);
    home.succeed(&["jobs", "--nats", &nats, "--cancel", &job]);
    let ran = Ran::of(run.wait_with_output().unwrap());
    assert!(ran.err.contains(&format!("job {job} was cancelled")), "{ran:?}");
    until("it is said", || home.read("workers.log").contains("or it was cancelled"));
    let calls = made(&home);
    assert!(calls < TASKS, "{calls} calls of {TASKS}");
    let again = home.run(&["jobs", "--nats", &nats, "--cancel", &job]);
    assert!(again.code == 1 && again.err.contains("neither waits nor runs"), "{again:?}");
    drop(worker);
}

#[test]
fn lies_and_other_versions_are_named_and_harm_no_other_job() {
    let Some(server) = NatsServer::start() else { return };
    let (home, nats) = (Home::new(), server.address());
    workspace(&home, "0.05");
    let seeds = "4";
    let mut run = home.command(&sweep(&nats, "out", seeds));
    let run = run.stderr(std::process::Stdio::piped()).spawn().unwrap();
    until("the jobs", || jobs(&home, &nats, "waiting").len() == 4);
    let waiting = jobs(&home, &nats, "waiting");
    asked(&nats, async |server| {
        let result = |of: &str| JobResult {
            job: of.to_owned(),
            worker: "liar".to_owned(),
            version: "9".to_owned(),
            end: ResultEnd::Done,
            journal: 0,
            past: None,
            tag: "any".to_owned(),
            order: None,
        };
        // One says that it is of another job, one has no journal, and one the journal of another session.
        assert!(server.put_result(&waiting[0], &result(&waiting[1])).await.unwrap());
        assert!(server.put_result(&waiting[1], &result(&waiting[1])).await.unwrap());
        let mut writer = server.claim(&waiting[2], 0, "liar").await.unwrap();
        let header = br#"{"toolyard_journal":4,"program":"9","opened":"2026-01-01T00:00:00Z"}"#;
        writer.append(Entry::Begin { after: 0, header: header[..].into() }).await.unwrap();
        writer
            .lines(b"{\"n\":1,\"at\":0,\"kind\":\"Noticed\",\"data\":{\"text\":\"x\"}}\n".to_vec())
            .await
            .unwrap();
        assert!(server.put_result(&waiting[2], &result(&waiting[2])).await.unwrap());
        server.put("any", "garbage", b"no order").await.unwrap();
        server.put("any", "newer", br#"{"version":"99.0.0","spec":7}"#).await.unwrap();
    });
    let worker = TestWorker::start(&home, &nats, &["--jobs", "2"]);
    let ran = Ran::of(run.wait_with_output().unwrap());
    assert_eq!((ran.code, results(&home, "out")), (1, 1), "{ran:?}");
    for said in [
        format!("the result of job {} says that it is of {}", waiting[0], waiting[1]),
        format!(
            "the journal of job {}, which liar wrote, is not used: it has no session",
            waiting[1]
        ),
        format!(
            "the journal of job {}, which liar wrote, is not used: it is of another session",
            waiting[2]
        ),
        "3 sessions without a result".to_owned(),
    ] {
        assert!(ran.err.contains(&said), "{said}: {ran:?}");
    }
    let said = || home.read("workers.log");
    until("both are named", || {
        said().contains("job newer: it is of toolyard 99.0.0")
            && said().contains("job garbage: it is no job")
    });
    for job in &waiting[..3] {
        // What a result says does not count, since its journal is wrong.
        home.succeed(&["jobs", "--nats", &nats, "--retry", job]);
    }
    let again = home.run(&sweep(&nats, "out", seeds));
    assert_eq!((again.code, results(&home, "out")), (0, 4), "{again:?}");
    drop(worker);
}

#[test]
fn servers_and_files_that_do_not_fit_are_said() {
    let Some(mut server) = NatsServer::start() else { return };
    let (home, nats) = (Home::new(), server.address());
    workspace(&home, "0");
    let ran = |nats: &str| {
        let ran = home.run(&sweep(nats, "out", "1"));
        assert!(ran.code != 0 && made(&home) == 0, "{ran:?}");
        ran.err
    };
    assert!(ran("http://a").contains("such as nats://host:4222"));
    let plain = NatsServer::with(&[]).unwrap();
    assert!(ran(&plain.address()).contains("has no JetStream"));
    let secret = "correct-horse-battery";
    let closed = NatsServer::with(&["-js", "--user", "me", "--pass", secret]).unwrap();
    let with = |password: &str| closed.address().replace("//", &format!("//me:{password}@"));
    let said = ran(&with("wrong-horse-battery"));
    assert!(
        said.contains("refuses the user, password or token") && !said.contains("horse"),
        "{said}"
    );
    let listed = home.run(&["jobs", "--nats", &with(secret)]);
    assert_eq!(listed.code, 0, "{listed:?}");
    assert!(listed.out.contains("0 jobs on nats://127.0.0.1") && !listed.out.contains(secret));
    // A key in a file, and files that are too large.
    home.write("c.toml", "[models.far]\nkind = \"openai\"\nurl = \"https://api.example.com/v1\"\nmodel = \"m\"\nkey_env = \"FAR_KEY\"\n");
    home.write("w/secret.txt", format!("key: sk-{secret}\n"));
    let mut command =
        home.command(&[&sweep(&nats, "out", "1")[..], &["--config", "c.toml"]].concat());
    let said = Ran::of(command.env("FAR_KEY", format!("sk-{secret}")).output().unwrap()).err;
    assert!(said.contains("secret.txt: a key is in it") && !said.contains(secret), "{said}");
    let with_key = |more: &[&str]| {
        let args = [&sweep(&nats, "out", "1")[..], &["--config", "c.toml"], more].concat();
        let ran =
            Ran::of(home.command(&args).env("FAR_KEY", format!("sk-{secret}")).output().unwrap());
        assert!(ran.code != 0 && ran.err.contains("no key is sent"), "{ran:?}");
        assert!(!ran.err.contains(secret), "{ran:?}");
    };
    home.write("w/secret.txt", [b"\xff key: sk-", secret.as_bytes()].concat());
    with_key(&[]);
    std::fs::remove_file(home.path("w/secret.txt")).unwrap();
    with_key(&["--fault", &format!("note:error:text=sk-{secret}")]);
    let config = home.read("c.toml");
    home.write(
        "c.toml",
        format!("{config}[tools.mcp.x]\ncommand = [\"x\"]\nenv = {{ K = \"sk-{secret}\" }}\n"),
    );
    with_key(&[]);
    std::fs::File::create(home.path("w/big.bin")).unwrap().set_len(2 << 30).unwrap();
    let said = ran(&nats);
    assert!(said.contains("2,147,48") && said.contains("--exclude"), "{said}");
    std::fs::remove_file(home.path("w/big.bin")).unwrap();
    // Small messages: files and lines are split, and what cannot be split is named.
    home.write("small.conf", "max_payload: 65536\n");
    let small =
        NatsServer::with(&["-js", "-c", &home.path("small.conf").display().to_string()]).unwrap();
    let worker = TestWorker::start(&home, &small.address(), &["--jobs", "1"]);
    home.write("w/tasks.txt", format!("What is the answer to {}?\n", "x".repeat(100_000)));
    let split = home.run(&sweep(&small.address(), "small", "1"));
    assert_eq!((split.code, results(&home, "small")), (0, 1), "{split:?}");
    let text = format!("note:error:text={}", "x".repeat(60_000));
    let long = home.run(&[&sweep(&small.address(), "long", "1")[..], &["--fault", &text]].concat());
    assert!(long.code == 1 && long.err.contains("max_payload"), "{long:?}");
    // A job is named by its id alone; a result whose journal is gone is no result.
    let all = home.run(&["jobs", "--nats", &small.address(), "--retry", "*"]);
    assert!(all.code == 2 && states(&home, &small.address())["done"] == 1, "{all:?}");
    let job = jobs(&home, &small.address(), "ended").remove(0);
    asked(&small.address(), async |server| server.forget_journal(&job).await.unwrap());
    let gone = home.run(&sweep(&small.address(), "gone", "1"));
    assert!(gone.err.contains(&format!("toolyard jobs --retry {job}")), "{gone:?}");
    home.succeed(&["jobs", "--nats", &small.address(), "--retry", &job]);
    let again = home.run(&sweep(&small.address(), "gone", "1"));
    assert_eq!((again.code, results(&home, "gone")), (0, 1), "{again:?}");
    drop(worker);
    // No server at all.
    let address = server.address();
    server.stop();
    let nobody = home.run(&sweep(&address, "out", "1"));
    assert!(nobody.code == 1 && nobody.err.contains("no NATS server answers"), "{nobody:?}");
}
