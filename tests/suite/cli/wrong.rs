//! Whatever is wrong with a file or an argument: exit code 2, and a message that names the file, the
//! line, the field and what was expected. With `--json` the same as JSON.

use serde_json::Value;

use crate::program::{Home, Ran};

/// What is written first, what is run then, and what the message says.
struct Case {
    files: &'static [(&'static str, &'static str)],
    run: &'static str,
    says: &'static [&'static str],
}

const fn case(
    files: &'static [(&'static str, &'static str)],
    run: &'static str,
    says: &'static [&'static str],
) -> Case {
    Case { files, run, says }
}

const HEADER: &str =
    "{\"toolyard_journal\":1,\"program\":\"0.1.0\",\"opened\":\"2026-11-21T10:00:00.000Z\"}\n";

/// A journal of a task that has begun, with a last line that is torn.
const TORN: &str = concat!(
    "{\"toolyard_journal\":1,\"program\":\"0.1.0\",\"opened\":\"2026-11-21T10:00:00.000Z\"}\n",
    "{\"n\":1,\"at\":1,\"kind\":\"Noticed\",\"data\":{\"text\":\"a\"}}\n",
    "{\"n\":2,\"at\":1,\"kind\":\"TaskStarted\",\"data\":{\"task\":1}}\n",
    "{\"n\":3,\"at\":1,\"kind\":\"Noticed\",\"data\":{\"text\":\"b\"}}\n",
    "{\"n\":4,\"at\":1,\"kind\":\"Noti",
);

/// A plan for the tools of a file.
const PLAN: &str = "plan --tools t --budget 1";

const FILES: &[Case] = &[
    case(&[], "replay no.jsonl", &["no.jsonl: ", "No such file"]),
    case(
        &[("j", "hello\n")],
        "replay j",
        &["j:1: no journal header", "expected {\"toolyard_journal\""],
    ),
    case(&[("j", "")], "run --recorded j", &["j: the journal is empty: its session ended"]),
    case(
        &[("j", TORN)],
        "run --recorded j --fork-at 4 --fresh",
        &[
            "--fork-at 4: j: there is no event 4; expected a number from 2, where the first task begins, to 3, the last \
             event (",
        ],
    ),
    case(
        &[("j", TORN)],
        "run --recorded j --fork-at 0 --fresh",
        &["--fork-at 0: j: there is no event 0; expected a number from 2, "],
    ),
    case(
        &[("j", TORN)],
        "run --recorded j --fork-at 1 --fresh",
        &["--fork-at 1: j: no task has begun by event 1; expected a number from 2, "],
    ),
    case(&[("j", HEADER)], "run --recorded j --fork-at 1 --fresh", &["j: "]),
    case(
        &[("j", "{\"toolyard_journal\":99,\"program\":\"9.9\"}\n")],
        "replay j",
        &["written in format 99", "read it with toolyard 9.9"],
    ),
    case(&[], "run --log no/l.txt", &["no/l.txt: no such folder: no"]),
    case(
        &[("l/x", "")],
        "keys --log l",
        &["l: cannot write the log: Is a directory (os error 21)"],
    ),
    case(&[], "run --tasks no.toml", &["no.toml: cannot be read"]),
    case(
        &[("t.csv", "a,b")],
        "run --tasks t.csv",
        &["t.csv: ", "expected a file name ending in .toml, .jsonl"],
    ),
    case(
        &[("t.txt", "\n\n")],
        "run --tasks t.txt",
        &["t.txt: contains no task; expected at least one"],
    ),
    case(
        &[("t.jsonl", "{\"task\": \"a\"}\n{\"task\": 3}\n")],
        "run --tasks t.jsonl",
        &[
            "t.jsonl:2: task: invalid type: integer `3`, expected a string",
            "expected {\"task\": TEXT",
        ],
    ),
    case(
        &[("t.jsonl", "{\"task\": \"a\", \"gold\": [1]}\n")],
        "run --tasks t.jsonl",
        &["t.jsonl:1: gold: expected a text or a number"],
    ),
    case(
        &[("t.toml", "[[task]]\ntext = \"a\"\nglod = 1\n")],
        "run --tasks t.toml",
        &["t.toml:3: task[0].glod: unknown key; did you mean `gold`?"],
    ),
    case(&[], "run --workspace no", &["no: no such folder; expected one with tools/*.toml"]),
    case(
        &[(
            "w/tools/a.toml",
            "name = \"a\"\ndescription = \"A.\"\ntimeout = 5\n[source]\nbuiltin = \"calculater\"\n",
        )],
        "run --workspace w",
        &[
            "w/tools/a.toml:3: timeout: expected",
            "w/tools/a.toml:5: source.builtin: ",
            "did you mean `calculator`?",
        ],
    ),
    case(&[("w/tools/a.toml", "name = \"a")], "run --workspace w", &["w/tools/a.toml:1: not TOML"]),
    case(
        &[
            ("w/tools/.keep", ""),
            (
                "w/graph.json",
                "{\"nodes\": [\"a\"],\n\"edges\": [{\"from\": \"a\", \"to\": \"b\", \"prior\": 1}]}",
            ),
        ],
        "run --workspace w",
        &["w/graph.json: line 2: edges[0].to: \"b\" is not among the nodes"],
    ),
    case(
        &[
            ("w/tools/.keep", ""),
            ("w/learned.json", "{\"scores\": {\n\"a\": \"x\"}, \"explored\": []}"),
        ],
        "run --workspace w",
        &["w/learned.json:2: scores.a: invalid type: string \"x\", expected f64", "or no file"],
    ),
    case(
        &[("t", "{\"task\": \"\", \"tools\": [7]}")],
        "graph learn --format jsonl t --out g",
        &["t:1: tools", "invalid type: integer `7`"],
    ),
    case(&[("t", "")], "graph learn --format jsonl no --out g", &["no: no such file"]),
    case(&[], "import api-bank no --out w", &["toolyard-lab import api-bank"]),
    case(&[], "cotools train question", &["toolyard-lab cotools train"]),
    case(&[], "bench papers", &["toolyard-lab bench"]),
    case(&[], "compare toolnet --seeds 0", &["toolyard-lab compare toolnet"]),
    case(&[], "graph weights g", &["toolyard-lab graph weights"]),
    case(&[], "program run p.py", &["toolyard-lab program"]),
    case(&[], "plan --tools no --budget 1", &["no: no such file; expected a JSON file"]),
    case(
        &[("t", "{}")],
        PLAN,
        &["t:1: invalid type: map", "expected [{\"name\": TEXT, \"cost\": CREDITS"],
    ),
    case(
        &[("t", "[{\"name\": \"a\", \"cost\": 1, \"value\": 0.5}]")],
        PLAN,
        &["t:1: [0]: missing field `limit`"],
    ),
    case(
        &[("t", "[\n{\"name\": \"a\", \"cost\": 1, \"value\": 0.5, \"limit\": 1, \"costs\": 2}]")],
        PLAN,
        &["t:2: [0].costs: unknown field `costs`, expected one of `name`"],
    ),
    case(
        &[("t", "[\n{\"name\": \"a\",\n\"cost\": -2.5, \"value\": 0.5, \"limit\": 1}]")],
        PLAN,
        &["t:3: [0].cost: -2.5 is below 0", "no number below 0"],
    ),
    case(
        &[("t", "[{\"name\": \"a\", \"cost\": 1, \"value\": NaN, \"limit\": 1}]")],
        PLAN,
        &["t:1: ", "expected value", "(column 36)"],
    ),
    case(
        &[("t", "[{\"name\": \"a\", \"cost\": 1e999, \"value\": 1, \"limit\": 1}]")],
        PLAN,
        &["t:1: ", "number out of range"],
    ),
    case(
        &[("t", "[{\"name\": \"a\", \"cost\": 1, \"value\": 1, \"limit\": -1}]")],
        PLAN,
        &["t:1: [0].limit: invalid value: integer `-1`, expected u32"],
    ),
    case(
        &[(
            "t",
            "[{\"name\": \"a\", \"cost\": 1, \"value\": 1, \"limit\": 1},
            {\"name\": \"a\", \"cost\": 2, \"value\": 1, \"limit\": 1}]",
        )],
        PLAN,
        &["t: [1].name: [0] already has the name \"a\"; expected each tool once"],
    ),
    case(
        &[("t", "[]")],
        "plan --tools t --budget -1",
        &["the budget is -1; expected a finite number of credits, at least 0"],
    ),
    case(&[("t", "[]")], "plan --tools t --budget NaN", &["the budget is NaN; expected"]),
    case(&[("t", "[]")], "plan --tools t --budget inf", &["the budget is inf; expected"]),
    case(
        &[("c", "[session]\nseed = \"x\"\n")],
        "run --config c",
        &["c:2: session.seed: expected a whole number", "got \"x\""],
    ),
    case(
        &[("c", "[sesion]\n")],
        "keys --config c",
        &["c:1: sesion: unknown key; did you mean `session`?"],
    ),
    case(&[], "run --config no.toml", &["no.toml: no such file; start from config.example.toml"]),
    case(&[("j", "x")], "run --journal j", &["j: file exists", "choose another name"]),
    case(&[], "run --report no/r.json", &["no/r.json: no such folder: no"]),
];

const ARGUMENTS: &[Case] = &[
    case(&[], "run --knob alpha=99", &["alpha", "a number from 0 to 10"]),
    case(
        &[],
        "run --knob alpah=1",
        &["--knob alpah=1: there is no knob alpah; did you mean `alpha`?"],
    ),
    case(
        &[],
        "run --strategy rect",
        &["no strategy `rect` (did you mean `react`?); expected one of direct, react, toolnet"],
    ),
    case(&[], "run --model gpt", &["--model: no model \"gpt\"", "simulated"]),
    case(&[], "run --planner gpt", &["--planner: no model \"gpt\"", "simulated"]),
    case(&[], "run --budget -1", &["--budget: budget takes a number from 0"]),
    case(&[], "run --tau 2", &["--tau: tau takes a number from 0 to 1"]),
    // The task is a text of the user, not an option.
    case(&[], "--workspace no -- --json", &["no: no such folder"]),
    case(&[], "run --seed -1", &["'-1' for '--seed <N>': expected a whole number of at least 0"]),
    case(&[], "run --fault search_web", &["no kind given; expected TARGET:KIND"]),
    case(
        &[],
        "run --fault serch_web:error",
        &["--fault serch_web:error: there is no tool serch_web; did you mean `search_web`?"],
    ),
    case(&[], "run --fault role:planer:error", &["there is no role planer", "`planner`"]),
    case(&[], "run --fault model:gpt:timeout", &["there is no model gpt; known: simulated"]),
    case(&[], "run --fault class:Cooking:empty", &["no class Cooking", "Information Retrieval"]),
    case(&[], "run --fault embedding:timeout", &["no embedding model is configured"]),
    case(
        &[],
        "run --fault search_web:cut-stream",
        &["does not apply to a target of the kind tool"],
    ),
    case(&[], "run --task a --tasks b", &["--task", "cannot be used with"]),
    case(&[], "run --tasks-limit many", &["--tasks-limit <N>': expected a whole number"]),
    case(&[], "run --fault search_web:tiemout", &["`tiemout` (did you mean `timeout`?); expected"]),
    case(&[], "rnu", &["unknown command `rnu`; did you mean `run`?", "toolyard -- rnu"]),
    case(&[], "serve", &["unknown command `serve`; `toolyard --help` lists", "toolyard -- serve"]),
    case(&[], "serve --seed 3", &["unknown command `serve`; ", "toolyard -- serve"]),
    case(&[], "--seed 3 docter", &["unknown command `docter`; did you mean `doctor`?"]),
    case(&[], "--config no.toml keys", &["no.toml: no such file"]),
    case(
        &[],
        "plan --tools t --budget much",
        &["'much' for '--budget <B>': expected a number such as"],
    ),
    case(&[], "plan --budget 1", &["--tools <FILE>"]),
];

fn run(home: &Home, case: &Case, json: bool) -> Ran {
    for (name, text) in case.files {
        home.write(name, text);
    }
    let mut arguments: Vec<_> = case.run.split(' ').collect();
    if json {
        arguments.push("--json");
    }
    home.run(&arguments)
}

/// Makes sure that the program has refused, and said all of this.
fn assert_says(case: &Case, said: &str) {
    for phrase in case.says {
        assert!(said.contains(phrase), "`{}` says\n{said}\nwithout {phrase:?}", case.run);
    }
}

#[test]
fn what_is_wrong_is_said_to_a_person() {
    for case in FILES.iter().chain(ARGUMENTS) {
        let ran = run(&Home::new(), case, false);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "`{}`: {ran:?}", case.run);
        assert_says(case, &ran.err);
    }
}

#[test]
fn what_is_wrong_is_said_to_a_script() {
    // Only these commands have the flag.
    let with_json = |case: &&Case| {
        ["run ", "replay ", "plan "].iter().any(|command| case.run.starts_with(command))
    };
    for case in FILES.iter().chain(ARGUMENTS).filter(with_json) {
        let ran = run(&Home::new(), case, true);
        assert_eq!((ran.code, ran.err.as_str()), (2, ""), "`{}`: {ran:?}", case.run);
        let [line] = &ran.lines()[..] else { panic!("one line, not {ran:?}") };
        assert_eq!(line["error"]["exit_code"], 2);
        assert_eq!(line["error"]["kind"], "usage");
        let Value::String(said) = &line["error"]["text"] else { panic!("{line}") };
        assert_says(case, said);
    }
}

#[test]
fn a_broken_line_of_a_journal_is_named() {
    let home = Home::new();
    home.succeed(&["run", "--tasks-limit", "1", "--journal", "j.jsonl"]);
    let journal = home.read("j.jsonl");
    let lines: Vec<_> = journal.lines().collect();
    let started = lines.iter().position(|line| line.contains("\"TaskStarted\"")).unwrap();
    let broken = |name: &str, line: Option<&str>| {
        let mut lines: Vec<_> = lines.iter().map(|line| Some(*line)).collect();
        lines[started] = line;
        let text: Vec<_> = lines.into_iter().flatten().collect();
        home.write(name, text.join("\n") + "\n");
        let ran = home.run(&["replay", name, "--json"]);
        assert_eq!(ran.code, 2, "{ran:?}");
        ran.lines()[0]["error"]["text"].as_str().unwrap().to_owned()
    };
    let (n, line) = (started, started + 1);
    let wrong = lines[started].replace("\"data\":{\"task\":1}", "\"data\":{\"task\":\"x\"}");
    let said = broken("a", Some(&wrong));
    let says =
        format!("a:{line}: data.task: invalid type: string \"x\", expected u32; expected an event");
    assert!(said.starts_with(&says), "{said}");
    assert!(
        broken("b", None).contains(&format!("b:{line}: found event {}, expected event {n}", n + 1))
    );
    assert!(
        broken("c", Some("{\"n\": 3, \"at\"")).starts_with(&format!("c:{line}: EOF while parsing"))
    );
    assert!(broken("d", Some("null")).starts_with(&format!("d:{line}: ")));

    // Cut off by a crash: that is no fault, and it is said.
    home.write("e", journal.trim_end());
    let ran = home.run(&["replay", "e", "--report", "r.json"]);
    assert!(ran.code == 0 && ran.err.contains("e: ignored an incomplete last line"), "{ran:?}");
    let ran = home.run(&["replay", "j.jsonl", "--at", "9999", "--json"]);
    assert!(ran.code == 2 && ran.out.contains("the journal ends at event"), "{ran:?}");
}

#[test]
fn case_13_5_a_single_word_that_looks_like_a_command_is_no_task() {
    let home = Home::new();
    for word in ["serve", "list-tools", "docter"] {
        let ran = home.run(&[word]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{word}: {ran:?}");
        for part in [format!("unknown command `{word}`"), format!("toolyard -- {word}")] {
            assert!(ran.err.contains(&part), "{word}: {ran:?}");
        }
    }
}

#[test]
fn a_message_never_takes_the_terminal_over() {
    let home = Home::new();
    home.write("t.jsonl", "{\"task\": \"a\", \"\u{1b}]0;title\u{7}\": 1}\n");
    home.write(
        "j.jsonl",
        format!("{HEADER}{{\"n\":1,\"at\":1,\"kind\":\"\u{1b}[2J\",\"data\":3}}\n"),
    );
    for arguments in [
        &["run", "--tasks", "t.jsonl"][..],
        &["run", "--workspace", "\u{1b}[31mred"],
        &["replay", "j.jsonl", "--at", "\u{1b}c"],
        &["replay", "\u{1b}c"],
        &["report", "\u{9b}2J"],
    ] {
        let ran = home.run(arguments);
        assert_eq!(ran.code, 2, "{arguments:?}");
        let tame = |c: char| c == '\n' || !c.is_control();
        assert!(ran.err.chars().all(tame), "{arguments:?}: {:?}", ran.err);
    }
}
