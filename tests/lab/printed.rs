//! Whatever a command is given, it prints text.

use crate::hostile_home::{EVIL, assert_text, hostile_home};

#[test]
fn no_command_prints_an_escape_sequence_of_what_it_is_given() {
    let home = hostile_home();
    for line in [
        "import qa qa.jsonl --out EVIL/q.jsonl",
        "import qa qa.jsonl --question EVIL --out q.jsonl",
        "import api-bank EVIL --out api",
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
