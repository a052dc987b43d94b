//! Whatever a command is given, it prints text: no escape sequence of a file, an argument, a program or a tool.

use std::process::Command;

use crate::hostile_home::{EVIL, assert_text, hostile_home};
use crate::program::Ran;
use crate::sitting::Sitting;

#[test]
fn no_command_prints_an_escape_sequence_of_what_it_is_given() {
    let home = hostile_home();
    let run = ["run", "--workspace", EVIL, "--strategy", "react"];
    let file = |name: &str| format!("{EVIL}{name}");
    let (journal, report, state) = (file(".jsonl"), file(".json"), file("-state.json"));
    let with = |more: &[&str]| [&run[..], more].concat().into_iter().map(str::to_owned).collect();
    let mut lines: Vec<Vec<String>> = vec![
        with(&["--journal", &journal, "--report", &report, "--state", &state]),
        with(&["--no-journal", "--json", "--task", EVIL]),
        with(&["--no-journal", "--break", &format!("score:echo{EVIL}")]),
        with(&["--no-journal", "--break", &format!("before:echo if text == '{EVIL}'")]),
        with(&["--no-journal", "--break", &format!("before:echo note={EVIL}")]),
        with(&["--no-journal", "--fault", &format!("echo:error:text={EVIL}")]),
    ];
    let evil = |line: &str| line.split(' ').map(|word| word.replace("EVIL", EVIL)).collect();
    lines.extend(
        [
            "EVIL",
            "--EVIL",
            "rEVIL",
            "run --EVIL",
            "run --EVIL --json",
            "run --task x --strategy EVIL",
            "run --model EVIL",
            "run --knob EVIL=1",
            "run --knob speed=EVIL",
            "run --seed EVIL",
            "run --break EVIL",
            "run --fault EVIL",
            "run --allow EVIL",
            "run --tasks EVIL",
            "run --tasks tasks.jsonl",
            "run --workspace bad",
            "run --workspace EVIL.none",
            "run --journal EVIL/no/j.jsonl",
            "run --report EVIL/no/j",
            "run --log EVIL/no/l",
            "run --log EVIL",
            "run --log-level EVIL",
            "run --config c.toml",
            "run --config raw.toml",
            "run --config EVIL",
            "run --recorded EVIL",
            "run --scenario scenario.toml",
            "run --scenario EVIL",
            "run --learned EVIL",
            "run --costs EVIL",
            "run --experience EVIL",
            "run --prompts EVIL",
            "tools call echo --workspace EVIL",
            "tools call echo --workspace EVIL --json",
            "tools call EVIL --workspace EVIL",
            "tools call echo EVIL --workspace EVIL",
            "replay EVIL.jsonl --json",
            "replay journal --json",
            "replay EVIL --json",
            "report EVIL.jsonl",
            "report EVIL.jsonl --html",
            "report journal",
            "sessions --dir .",
            "sessions EVIL",
            "shot EVIL.jsonl --out EVIL.svg",
            "shot EVIL.jsonl --out EVIL.png",
            "shot EVIL.jsonl --at EVIL --out x.svg",
            "shot EVIL.jsonl --size EVIL --out x.svg",
            "follow EVIL.jsonl --json",
            "follow journal --json",
            "attach EVIL",
            "resume EVIL.jsonl",
            "resume journal",
            "plan --tools plan.json --budget 3",
            "plan --tools plan.json --budget EVIL",
            "plan --tools tasks.jsonl --budget 3",
            "plan --task EVIL --workspace EVIL --budget 3",
            "graph learn --format jsonl trajectories.jsonl --out EVIL.graph",
            "graph learn --format EVIL x --out y",
            "experience import uses.jsonl --file EVIL.db",
            "experience import good.jsonl --file EVIL.db",
            "experience export --file EVIL.db",
            "experience show --file EVIL.db",
            "experience show --file EVIL.db --json",
            "experience prune --tool EVIL --file EVIL.db",
            "experience show --file EVIL",
            "import qa qa.jsonl --out EVIL/q.jsonl",
            "import openapi api.json --out EVIL/api",
            "import openapi EVIL --out api",
            "import prices api.json",
            "import prices EVIL",
            "prompts EVIL",
            "prompts --write EVIL",
            "prompts --workspace EVIL.none",
            "init EVIL.new",
            "init EVIL",
            "keys --config c.toml",
            "keys --config EVIL",
            "doctor --config c.toml --workspace EVIL",
            "doctor --model EVIL",
            "doctor --workspace EVIL --json",
            "completions EVIL",
            "man EVIL",
            "demo EVIL",
            "compare EVIL",
            "compare --strategies EVIL --tasks EVIL",
            "bench EVIL",
            "probe --workspace EVIL --no-journal",
            "probe EVIL --workspace EVIL",
            "cotools encode EVIL",
            "retrieval eval EVIL",
            "help EVIL",
            "--help",
            "--version",
        ]
        .map(evil),
    );
    for line in lines {
        let words: Vec<&str> = line.iter().map(String::as_str).collect();
        assert_text(&line.join(" "), &home.run(&words));
    }
}

#[test]
fn variables_and_the_name_of_the_program_are_shown_as_text() {
    let home = hostile_home();
    let named = home.path(EVIL).join("tool");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_toolyard"), &named).unwrap();
    for arguments in [&["--help"][..], &["run", "--help"], &["run", "--none"], &["keys"]] {
        let mut command = Command::new(&named);
        command.args(arguments).current_dir(home.path("")).env_clear().envs(home.environment());
        for name in ["TOOLYARD_LOG", "EDITOR", "TERM", "LANG", "HTTPS_PROXY", "TOOLYARD_CONFIG"] {
            command.env(name, EVIL);
        }
        assert_text(&arguments.join(" "), &Ran::of(command.output().unwrap()));
    }
}

#[test]
fn a_terminal_gets_the_colours_of_the_program_and_no_other_sequence() {
    let home = hostile_home();
    let program = env!("CARGO_BIN_EXE_toolyard");
    let words = [program, "run", "--workspace", EVIL, "--no-journal", "--strategy", "react"];
    let (_, bytes) = Sitting::of(&home, 120, 40, &words, &[]).end();
    let own = ["\u{1b}[32m", "\u{1b}[1m\u{1b}[31m", "\u{1b}[0m"];
    assert!(bytes.contains(own[0]) || bytes.contains(own[1]), "it is coloured: {bytes:?}");
    let rest = own.iter().fold(bytes, |rest, own| rest.replace(own, "")).replace("\r\n", "\n");
    assert!(rest.contains("␛]0;owned"), "{rest:?}");
    assert_text("run on a terminal", &Ran { code: 0, out: rest, err: String::new() });
}
