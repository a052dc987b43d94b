//! What hostile programs take of the process that has them run: they are run in another one.

use std::process::Command;
use std::{env, fs};

use toolyard::domain::program::{
    CallAnswer, Function, Interpreter, Pause, ProgramLimits, ProgramStart, Stops,
};
use toolyard::program::Child;

/// Programs that use up time, memory, frames, calls, or what they may say.
const PROGRAMS: &[&str] = &[
    "while True: pass",
    "while True: tool(a=1)",
    "while True: tool(a='x' * 200000)",
    "def f(n): return f(n + 1)\nf(0)",
    "x = 'y' * 10 ** 10",
    "x = 'y' * 50_000_000",
    "x = []\nwhile True: x.append('y' * 1000)",
    "x = [0] * 10 ** 9",
    "x = 7 ** (10 ** 8)",
    "import re\nre.match('(a+)+$', 'a' * 40 + 'b')",
    "x = []\nfor i in range(200000): x = [x]\nprint(len(repr(x)))",
    "while True: print('x' * 1000)",
    "print('x' * 30_000_000)",
    "tool(a='x' * 30_000_000)",
    "tool(a=['x' * 1000] * 30_000)",
    "all_of(tool, [{'a': 'x' * 1000000}] * 40)",
    "'x' * 30_000_000",
    "raise ValueError('x' * 30_000_000)",
    "{'x' * 1_000_000: 1}['y']",
    "{}['x' * 30_000_000]",
    "tool(a=float('nan'))",
    "tool(a={1: 2})",
    "import os\nos.environ['PATH']",
    "open('/etc/passwd').read()",
    "import socket",
    "import datetime\nfor i in range(2000): datetime.datetime.now()",
];

/// Kilobytes of a line of `/proc/self/status`.
fn kilobytes(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

async fn run(child: &mut Child, text: &str, stoppable: bool) {
    let function =
        Function { name: "tool".into(), parameters: vec!["a".into()], takes_more: false };
    let limits = ProgramLimits::default();
    let (text, functions, extras) = (text.to_owned(), vec![function], Vec::new());
    let start = ProgramStart { text, functions, limits, stoppable, extras };
    let none = Stops::default();
    // What a session would keep of it.
    let mut kept = Vec::new();
    let mut pause = child.start(&start, &none).await;
    loop {
        let answers = match &pause {
            Pause::Ended(_) => break,
            Pause::Line(_) => Vec::new(),
            Pause::Clock => vec![CallAnswer::Time(0)],
            Pause::Call(_) => vec![CallAnswer::Result(String::new())],
            Pause::Calls(calls) => vec![CallAnswer::Result(String::new()); calls.len()],
        };
        kept.push(std::mem::replace(&mut pause, child.answer(answers, &none).await));
    }
}

const ALONE: &str = "TOOLYARD_TEST_ALONE";

#[test]
fn hostile_programs_leave_the_memory_of_their_parent_alone() {
    if env::var_os(ALONE).is_none() {
        // Other tests of this process would count.
        let name = "hostile_memory::hostile_programs_leave_the_memory_of_their_parent_alone";
        let mut alone = Command::new(env::current_exe().unwrap());
        alone.args([name, "--exact", "--nocapture"]).env(ALONE, "1");
        return assert!(alone.status().unwrap().success());
    }
    toolyard::process::set_reaper(env!("CARGO_BIN_EXE_toolyard").into());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut child = Child::default();
        run(&mut child, "print(1)", false).await;
        let before = kilobytes("VmRSS");
        // From now on its peak is counted anew.
        fs::write("/proc/self/clear_refs", "5").unwrap();
        let mut most = (0, "");
        for text in PROGRAMS {
            for stoppable in [false, true] {
                run(&mut child, text, stoppable).await;
                let grown = kilobytes("VmHWM").saturating_sub(before);
                if grown > most.0 {
                    most = (grown, text);
                    println!("{grown} kB more, after {text:.60}");
                }
            }
        }
        println!("{} programs: the parent has grown by {} kB at most", PROGRAMS.len(), most.0);
        assert!(most.0 < 32 << 10, "{} kB more, after {:.60}", most.0, most.1);
    });
}
