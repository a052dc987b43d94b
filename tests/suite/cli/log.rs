//! `--log`: lines about endpoints, programs and files, in a file and nowhere else.

use crate::program::{Home, Ran};

const DECODE: [&str; 5] =
    ["run", "--journal", "j.jsonl", "--task", "Decode the ROT13 message Uvyqr Tneenpx."];

#[test]
fn a_log_tells_what_became_of_files_and_programs() {
    let silent = Home::new().succeed(&DECODE);
    let home = Home::new();
    let said = home.succeed(&[&DECODE[..], &["--log", "l.txt"]].concat());
    assert_eq!(said, silent, "nothing of it is printed");
    let log = home.read("l.txt");
    for line in [
        " INFO toolyard_app::start: toolyard started version=\"",
        " INFO toolyard_store::journal::write: started a journal path=\"j.jsonl\"",
        " INFO toolyard_store::experience::open: opening past uses of tools path=\"",
        "name=\"rot13\"}:call{tool=\"rot13\"}: toolyard_tool::command: a program started program=\"sed\"\n",
        " kind=\"model call\" name=\"actor\"}: toolyard_engine::effect::perform: ended origin=Live outcome=\"ok\"\n",
        " kind=\"tool call\" name=\"rot13\"}: toolyard_engine::effect::perform: ended origin=Live outcome=\"ok\"\n",
        ": a program ended program=\"sed\" status=exit status: 0 ms=",
    ] {
        assert!(log.contains(line), "no {line:?} in\n{log}");
    }
    assert!(!log.contains("Tneenpx"), "arguments are the journal's:\n{log}");

    home.succeed(&["keys", "--log", "l.txt"]);
    let more = home.read("l.txt");
    assert!(more.starts_with(&log) && more.len() > log.len(), "every command adds to it");
}

#[test]
fn a_level_leaves_lesser_lines_out() {
    let home = Home::new();
    let run = ["run", "--tasks", "no.toml", "--log", "l.txt"];
    let levels = [home.run(&[&run[..], &["--log-level", "error"]].concat()), {
        let mut command = home.command(&run);
        Ran::of(command.env("TOOLYARD_LOG", "error").output().unwrap())
    }];
    assert_eq!(levels.map(|ran| ran.code), [2, 2]);
    let log = home.read("l.txt");
    let lines: Vec<_> = log.lines().filter_map(|line| line.split_once("Z ")).collect();
    let [(_, one), (_, other)] = lines[..] else { panic!("{log}") };
    assert!(
        one.starts_with("ERROR toolyard_app::start: toolyard failed why=\"no.toml: cannot"),
        "{log}"
    );
    assert_eq!(one, other);
}
