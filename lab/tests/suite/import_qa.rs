//! Question sets as their authors publish them, read by the real program.

use std::{fs, path::Path};

use serde_json::Value;

use crate::{program::Home, shared};

fn tasks(home: &Home, file: &str) -> Vec<Value> {
    home.read(file).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Imports a set of this content; what was printed, and the tasks.
fn import(name: &str, content: &[u8], more: &[&str]) -> (String, Vec<Value>) {
    let home = Home::new();
    fs::write(home.path(name), content).unwrap();
    let all = [&["import", "qa", name, "--out", "t.jsonl"], more].concat();
    let said = home.succeed(&all);
    (said, tasks(&home, "t.jsonl"))
}

/// What is said of a set that cannot be imported; nothing is written.
fn refused(name: &str, content: &[u8], more: &[&str]) -> String {
    let home = Home::new();
    fs::write(home.path(name), content).unwrap();
    let all = [&["import", "qa", name, "--out", "t.jsonl"], more].concat();
    let ran = home.run(&all);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(!home.path("t.jsonl").exists() && !home.path("t.source.toml").exists());
    ran.err
}

#[test]
fn a_table_with_a_byte_order_mark_quoted_lines_and_several_answers_becomes_tasks() {
    let csv = "\u{feff}qid,input,target\r\n\
        1,\"Where,\r\nexactly?\",\"['here', 'there']\"\r\n\
        2,\"He said \"\"why\"\"?\",so\r\n";
    let (said, tasks) = import("s.csv", csv.as_bytes(), &[]);
    assert!(
        said.starts_with("2 tasks (question: input, answer: target, id: qid): 1 with several"),
        "{said}"
    );
    assert_eq!(tasks[0]["text"], "Where,\r\nexactly?");
    assert_eq!((&tasks[0]["gold"], &tasks[0]["golds"][0]), (&"here".into(), &"there".into()));
    assert_eq!((&tasks[1]["name"], &tasks[1]["text"]), (&"2".into(), &"He said \"why\"?".into()));
}

#[test]
fn json_lines_and_documents_are_read_row_by_row() {
    let lines = b"{\"question\":\"a\",\"answer\":true}\n\n{\"question\":\"b\",\"answer\":\"x\"}\n";
    let (_, of_lines) = import("s.jsonl", lines, &[]);
    assert_eq!((of_lines.len(), &of_lines[0]["gold"]), (2, &"yes".into()));
    assert_eq!(of_lines[1]["name"], "s-2");
    let document = br#"{"version": "1", "tags": ["x"], "data": [{"q": "a", "a": {"v": "b"}}]}"#;
    let (_, of_document) = import("s.json", document, &["--question", "q", "--answer", "a.v"]);
    assert_eq!(of_document[0]["gold"], "b");
}

#[test]
fn what_is_wrong_is_said_with_its_line_and_nothing_is_written() {
    for (name, content, more, says) in [
        (
            "s.csv",
            &b"frage,antwort\na,b\n"[..],
            &[][..],
            "s.csv:2: no column of questions is known",
        ),
        (
            "s.csv",
            b"question,answer\na,b\n",
            &["--answer", "anser"],
            "s.csv:2: there is no column \"anser\" for --answer; did you mean `answer`?",
        ),
        (
            "s.csv",
            b"id,question,answer\n1,a,b\n2,c,d\n1,e,f\n",
            &[],
            "s.csv:4: id: \"1\" is the id of an earlier row",
        ),
        ("s.csv", b"question,answer\na,b\nc\n", &[], "s.csv:3: 1 values, expected 2"),
        ("s.csv", b"question,answer\na,b\n\"c\nd\xff\",e\n", &[], "s.csv:4: question: not UTF-8"),
        (
            "s.csv",
            b"question,question\na,b\n",
            &[],
            "s.csv:1: question: two columns have this name",
        ),
        ("s.csv", b"question,answer\n", &[], "s.csv: contains no row"),
        ("s.csv", b"PAR1\x15\x04", &[], "s.csv: a Parquet file; convert it first"),
        ("s.jsonl", b"{\"question\":\"a\"}\n{\"q\":1}\n", &[], "s.jsonl:2: question: missing"),
        ("s.jsonl", b"{\"question\":\"a\"}\n\xff\n", &[], "s.jsonl:2: not UTF-8"),
        ("s.jsonl", b"{\"question\":\"a\"}\n[1]\n", &[], "s.jsonl:2: invalid type: sequence"),
        ("s.json", b"[{\"question\":\"a\"},\n{\"question\":]", &[], "s.json:2: expected value"),
        ("s.json", b"{\"data\": 1}", &[], "s.json: no row found; expected a list of rows"),
        ("s.json", b"[1]", &[], "s.json:1: not a row; expected an object"),
    ] {
        let said = refused(name, content, more);
        assert!(said.contains(says), "{said}\nnot {says}");
    }
}

#[test]
fn a_quote_that_is_never_closed_does_not_swallow_a_large_file() {
    let mut content = b"question,answer\na,b\n\"never closed,".to_vec();
    content.resize(content.len() + (17 << 20), b'x');
    let said = refused("s.csv", &content, &[]);
    assert!(
        said.contains("s.csv:3: cannot be read: a row is longer than 16 MiB; is a quote not"),
        "{said}"
    );
}

#[test]
fn every_wrong_row_is_said_at_once_and_an_empty_answer_is_a_task_without_one() {
    let said = refused("s.csv", b"question,answer\n,a\nb,c\n ,d\n", &[]);
    assert!(said.contains("s.csv:2: question") && said.contains("s.csv:4: question"), "{said}");
    let home = Home::new();
    fs::write(home.path("s.csv"), "question,answer\na,\nb,c\n").unwrap();
    let ran = home.run(&["import", "qa", "s.csv", "--out", "t.jsonl"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("s.csv:2: the answer is empty"), "{ran:?}");
    let tasks = tasks(&home, "t.jsonl");
    assert!(tasks[0].get("gold").is_none() && tasks[1]["gold"] == "c", "{tasks:?}");
}

#[test]
fn an_import_can_be_repeated_and_replaces_no_file_of_a_person() {
    let home = Home::new();
    fs::write(home.path("s.csv"), "question,answer\na,b\n").unwrap();
    let import = ["import", "qa", "s.csv", "--out", "w/tasks.jsonl", "--licence", "MIT"];
    home.succeed(&import);
    let first = (home.read("w/tasks.jsonl"), home.read("w/tasks.source.toml"));
    assert!(
        first.1.contains("file = \"s.csv\"") && first.1.contains("licence = \"MIT\""),
        "{first:?}"
    );
    home.succeed(&import);
    assert_eq!((home.read("w/tasks.jsonl"), home.read("w/tasks.source.toml")), first);
    fs::write(home.path("mine.jsonl"), "{\"task\": \"a\"}\n").unwrap();
    let other = ["import", "qa", "s.csv", "--out", "mine.jsonl"];
    let ran = home.run(&other);
    assert!(ran.code == 2 && ran.err.contains("is not an earlier import"), "{ran:?}");
    assert_eq!(home.read("mine.jsonl"), "{\"task\": \"a\"}\n");
    home.succeed(&[&other[..], &["--force"]].concat());
}

#[test]
fn the_sets_of_the_papers_are_read_as_they_are() {
    for (set, rows, several) in [
        ("SOTU_QA.csv", 0, 0),
        ("physics_question.csv", 53, 1),
        ("sports_understanding.csv", 1000, 0),
        ("strategy_qa.csv", 2290, 0),
    ] {
        let Some(file) = shared(&format!("data/qa/{set}")) else { return };
        let home = Home::new();
        let file: &Path = &file;
        home.succeed(&["import", "qa", file.to_str().unwrap(), "--out", "t.jsonl"]);
        let tasks = tasks(&home, "t.jsonl");
        assert!(tasks.len() >= rows && !tasks.is_empty(), "{set}: {}", tasks.len());
        assert!(tasks.iter().all(|task| task["gold"].is_string()), "{set}");
        let found = tasks.iter().filter(|task| task["golds"].is_array()).count();
        assert!(found >= several, "{set}: {found}");
    }
}
