//! Whatever a command is given, it prints text.

use crate::hostile_home::{EVIL, assert_text, hostile_home};

#[test]
fn no_command_prints_an_escape_sequence_of_what_it_is_given() {
    let home = hostile_home();
    for line in [
        "import qa qa.jsonl --out EVIL/q.jsonl",
        "import qa qa.jsonl --question EVIL --out q.jsonl",
        "import api-bank EVIL --out api",
        "program check flaw.py",
        "program check fails.py",
        "program check EVIL",
        "program run flaw.py",
        "program run fails.py",
        "program run value.py",
        "program run fails.py --json",
        "program run value.py --stop-at every-line",
        "program run --replies replies.jsonl",
        "program check --replies replies.jsonl --json",
        "program check --replies journal",
        "program run value.py --tools EVIL",
        "program run value.py --sample EVIL",
        "graph show graph.json",
        "graph show graph.json --format dot",
        "graph show EVIL",
        "graph weights graph.json",
        "cotools tools --query EVIL --reader EVIL",
        "compare EVIL",
        "bench papers --EVIL",
        "bench EVIL",
        "retrieval eval EVIL",
        "cotools train EVIL",
        "cotools eval question --data EVIL",
        "man EVIL",
        "--EVIL",
        "EVIL",
        "--help",
        "--version",
    ] {
        let words: Vec<String> = line.split(' ').map(|word| word.replace("EVIL", EVIL)).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        assert_text(line, &home.run(&words));
    }
}
