//! Trajectories are read, and what is wrong with them is said.

use std::fs;

use toolyard::store::import::{TrajectoryFormat, read_trajectories};

#[test]
fn broken_trajectories_say_where_and_what() {
    for (text, says) in [
        ("nonsense", ":1: expected "),
        ("[7]", r#"expected {"task": TEXT, "tools": [NAME, …]}"#),
        ("\n{\"task\": \"x\"}", ":2: missing field `tools`"),
        (r#"{"tools": "a"}"#, ":1: tools: invalid type: string"),
        (r#"{"tools": ["a", 7]}"#, ":1: tools[1]: invalid type: integer `7`"),
        (r#"{"tools": ["end"]}"#, r#":1: tools[0]: "end" is not a valid tool name"#),
        (r#"{"task": 7, "tools": []}"#, ":1: task: invalid type: integer `7`"),
    ] {
        let says_it = refusal(TrajectoryFormat::Jsonl, text.as_bytes());
        assert!(says_it.contains(says), "{text}\n  says: {says_it}\n  not: {says}");
    }
    assert!(refusal(TrajectoryFormat::Jsonl, b"{\"tools\":[]}\n\xff").contains(":2: not UTF-8"));
}

#[test]
fn broken_dialogues_say_where_and_what() {
    let call = |rest: &str| format!(r#"{{"role": "API", {rest}}}"#);
    for (text, says) in [
        (r#"{"text": "x"}"#.into(), ":1: missing field `role`"),
        (
            r#"{"role": "Robot"}"#.into(),
            ":1: role: unknown variant `Robot`, expected one of `User`, `AI`, `API`",
        ),
        (r#"{"role": "User"}"#.into(), ":1: text: missing"),
        (call(r#""api_name": "A", "param_dict": {}"#), ":1: result: missing"),
        (call(r#""api_name": "A", "param_dict": {}, "result": {}"#), ":1: result.output: missing"),
        (
            call(r#""api_name": "", "result": {"output": 1}"#),
            r#":1: api_name: "" is not a valid tool name"#,
        ),
        (call(r#""api_name": "A", "result": {"output": 1}"#), ":1: param_dict: missing"),
    ] {
        let says_it = refusal(TrajectoryFormat::ApiBank, text.as_bytes());
        assert!(says_it.contains(says), "{text}\n  says: {says_it}\n  not: {says}");
    }
}

fn refusal(format: TrajectoryFormat, text: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.jsonl"), text).unwrap();
    let error = read_trajectories(format, [folder.path()]).unwrap_err().to_string();
    assert!(error.contains("t.jsonl"), "{error}");
    error
}

#[test]
fn a_folder_without_data_and_a_missing_one_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let error =
        read_trajectories(TrajectoryFormat::Jsonl, [folder.path()]).unwrap_err().to_string();
    assert!(error.contains("expected files *.jsonl"), "{error}");
    let missing = folder.path().join("nowhere");
    let error = read_trajectories(TrajectoryFormat::Jsonl, [missing]).unwrap_err().to_string();
    assert!(error.contains("nowhere: no such file"), "{error}");
}
