//! `toolyard experience`: past uses from files, into files, and what becomes of them.

use serde_json::{Value, json};

use crate::program::Home;

/// Five uses of two tools, one of them long ago.
fn lines() -> String {
    let line = |query: &str, tool: &str, helpful: bool, at: Option<&str>| {
        let mut line = json!({
            "query": query, "tool": tool, "parameters": { "q": query }, "result": "r",
            "helpful": helpful,
        });
        if let Some(at) = at {
            line["at"] = json!(at);
        }
        format!("{line}\n")
    };
    [
        line("weather in Paris", "forecast", true, Some("2001-02-03T04:05:06Z")),
        line("weather in Oslo", "forecast", true, None),
        line("weather in Oslo", "forecast", false, None),
        line("euros in dollars", "exchange", true, None),
        line("euros in dollars", "exchange", true, None),
    ]
    .concat()
}

fn imported() -> Home {
    let home = Home::new();
    home.write("uses.jsonl", lines());
    let said = home.succeed(&["experience", "import", "uses.jsonl", "--file", "e.sqlite"]);
    assert_eq!(said, "5 uses → e.sqlite\n");
    home
}

fn shown(home: &Home) -> Value {
    let text = home.succeed(&["experience", "show", "--json", "--file", "e.sqlite"]);
    serde_json::from_str(&text).unwrap()
}

#[test]
fn what_was_imported_is_counted_by_tool() {
    let home = imported();
    let counts = json!({
        "file": "e.sqlite", "uses": 5, "queries": 3,
        "tools": [
            { "tool": "forecast", "uses": 3, "helpful": 2, "queries": 2 },
            { "tool": "exchange", "uses": 2, "helpful": 2, "queries": 1 },
        ],
    });
    assert_eq!(shown(&home), counts);
    let table = home.succeed(&["experience", "show", "--file", "e.sqlite"]);
    let rows: Vec<Vec<&str>> =
        table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0][..3], ["5", "uses", "in"]);
    assert_eq!(rows[2], ["forecast", "3", "67%", "2"]);
    assert_eq!(rows[3], ["exchange", "2", "100%", "1"]);
}

#[test]
fn an_export_brings_all_of_it_into_another_file() {
    let home = imported();
    let said = home.succeed(&["experience", "export", "--out", "o.jsonl", "--file", "e.sqlite"]);
    assert_eq!(said, "5 uses → o.jsonl\n");
    let out = home.read("o.jsonl");
    assert_eq!(home.succeed(&["experience", "export", "--file", "e.sqlite"]), out);
    home.succeed(&["experience", "import", "o.jsonl", "--file", "again.sqlite"]);
    assert_eq!(home.succeed(&["experience", "export", "--file", "again.sqlite"]), out);

    let onto = ["experience", "export", "--out", "./e.sqlite", "--file", "e.sqlite"];
    let ran = home.run(&onto);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("the store itself"), "{}", ran.err);
    assert_eq!(shown(&home)["uses"], 5);
}

#[test]
fn pruning_says_what_it_would_do_and_does_it() {
    let home = imported();
    let prune =
        |what: &[&str]| home.run(&[&["experience", "prune", "--file", "e.sqlite"], what].concat());
    assert_eq!(prune(&[]).code, 2, "what is to go must be said");
    let dry = prune(&["--older-than", "30", "--dry-run"]);
    assert_eq!((dry.code, dry.out.as_str()), (0, "1 use would be deleted from e.sqlite\n"));
    assert_eq!(shown(&home)["uses"], 5);
    let wet = prune(&["--older-than", "30"]);
    let said = "deleted 1 use and 1 query without remaining uses from e.sqlite\n";
    assert_eq!((wet.code, wet.out.as_str()), (0, said));
    prune(&["--keep", "1", "--tool", "exchange"]);
    let left = |home: &Home| shown(home)["uses"].clone();
    assert_eq!(left(&home), 3);
    prune(&["--source", "nowhere"]);
    assert_eq!(left(&home), 3);
    prune(&["--source", "uses.jsonl", "--tool", "forecast"]);
    assert_eq!(left(&home), 1);
    prune(&["--all"]);
    assert_eq!(left(&home), 0);
    assert_eq!(prune(&["--older-than", "99999999"]).code, 2);
}

#[test]
fn mistakes_are_named_and_change_nothing() {
    let home = imported();
    home.write("bad.jsonl", lines() + "{\"query\": 1}\n");
    home.write("diary.txt", "dear diary ".repeat(500));
    for (arguments, says) in [
        (&["import", "bad.jsonl", "--file", "e.sqlite"][..], "bad.jsonl:6: query: invalid type"),
        (&["import", "none.jsonl", "--file", "e.sqlite"], "none.jsonl: No such file"),
        (&["import", "uses.jsonl", "--file", "diary.txt"], "diary.txt: not a SQLite database"),
        (&["show", "--file", "none.sqlite"], "none.sqlite: no such file"),
        (&["export", "--file", "none.sqlite"], "none.sqlite: no such file"),
        (&["prune", "--all", "--file", "none.sqlite"], "none.sqlite: no such file"),
    ] {
        let ran = home.run(&[&["experience"], arguments].concat());
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{arguments:?}");
        assert!(ran.err.contains(says), "{arguments:?}: {}", ran.err);
    }
    assert_eq!(shown(&home)["uses"], 5);
    assert!(!home.path("none.sqlite").exists());
    assert!(home.read("diary.txt").starts_with("dear diary"));
}

#[test]
fn the_file_is_the_named_one_then_the_configured_then_the_workspaces_then_the_platforms() {
    let home = Home::new();
    home.write("uses.jsonl", lines());
    home.write("c.toml", "[experience]\nfile = \"configured.sqlite\"\n");
    home.write("w/tools/none.txt", "");
    let import = |more: &[&str]| {
        home.succeed(&[&["experience", "import", "uses.jsonl"], more].concat());
    };
    import(&["--file", "named.sqlite", "--workspace", "w", "--config", "c.toml"]);
    assert!(home.path("named.sqlite").exists() && !home.path("configured.sqlite").exists());
    import(&["--workspace", "w", "--config", "c.toml"]);
    assert!(home.path("configured.sqlite").exists() && !home.path("w/experience.sqlite").exists());
    import(&["--workspace", "w"]);
    assert!(home.path("w/experience.sqlite").exists());
    assert!(!home.path("toolyard/experience.sqlite").exists());
    import(&[]);
    // The platform's folder for data is the home's own here.
    assert!(home.path("toolyard/experience.sqlite").exists());
}

#[test]
fn escape_sequences_in_a_tools_name_do_not_reach_the_terminal() {
    let home = Home::new();
    let hostile = json!({
        "query": "q", "tool": "\u{1b}[31mred\u{7}", "parameters": {}, "result": "", "helpful": 1,
    });
    home.write("uses.jsonl", hostile.to_string());
    home.succeed(&["experience", "import", "uses.jsonl", "--file", "e.sqlite"]);
    let table = home.succeed(&["experience", "show", "--file", "e.sqlite"]);
    assert!(table.contains("red") && !table.contains(['\u{1b}', '\u{7}']), "{table:?}");
}

#[test]
fn a_task_is_planned_from_what_helped_before_and_within_the_budget() {
    let home = Home::new();
    let line = |query: &str, tool: &str, helpful: bool| {
        let line = json!({
            "query": query, "tool": tool, "parameters": {}, "result": "r", "helpful": helpful,
        });
        format!("{line}\n")
    };
    let lines = line("What is 6 times 7?", "calculator", true).repeat(9)
        + &line("What is 6 times 8?", "search_web", false).repeat(9);
    home.write("uses.jsonl", lines);
    home.succeed(&["experience", "import", "uses.jsonl", "--file", "e.sqlite"]);
    let plan = |more: &[&str]| -> Value {
        let asked = ["plan", "--task", "What is 6 times 9?", "--experience", "e.sqlite"];
        let text = home.succeed(&[&asked[..], &["--budget", "20", "--json"], more].concat());
        serde_json::from_str(&text).unwrap()
    };
    let planned = plan(&["--estimate", "paper"]);
    assert!(planned["cost"].as_f64().unwrap() <= 20.0, "{planned}");
    assert_eq!(planned["tools"][0]["tool"], "calculator", "{planned}");
    assert_eq!(planned["tools"][0]["value"], 1.0, "{planned}");
    assert!(planned["plan"]["calculator"].as_u64().unwrap() >= 1, "{planned}");
    assert_eq!(plan(&["--candidates", "3"])["tools"].as_array().unwrap().len(), 3);
    for bad in [["--tau", "7"], ["--tau", "NaN"], ["--candidates", "0"], ["--estimate", "best"]] {
        let ran = home.run(&[&["plan", "--task", "t", "--budget", "20"], &bad[..]].concat());
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{bad:?}");
    }
    let nothing = home.run(&["plan", "--budget", "20"]);
    assert_eq!(nothing.code, 2, "{nothing:?}");
}

#[test]
fn a_session_plans_a_task_as_the_command_does_model_request_included() {
    let home = Home::new();
    let line = json!({
        "query": "What is 6 times 7?", "tool": "calculator", "parameters": {}, "result": "42",
        "helpful": true,
    });
    home.write("uses.jsonl", format!("{line}\n").repeat(3));
    home.succeed(&["experience", "import", "uses.jsonl", "--file", "e.sqlite"]);
    let priced = "[models.simulated]\nkind = \"simulated\"\nprice_in = 1\nprice_out = 2\n";
    home.write("c.toml", priced);
    let of_task = ["--task", "What is 6 times 9?", "--experience", "e.sqlite", "--budget", "20"];
    let of_task = [&of_task[..], &["--config", "c.toml"]].concat();
    let planned = home.succeed(&[&["plan", "--json"], &of_task[..]].concat());
    let planned: Value = serde_json::from_str(&planned).unwrap();
    let run = ["run", "--strategy", "react+btp", "--no-journal", "--state", "state.json"];
    home.run(&[&run[..], &of_task].concat());
    let state: Value = serde_json::from_str(&home.read("state.json")).unwrap();
    let of = |tools: &Value| -> Vec<[Value; 4]> {
        let tools = tools.as_array().unwrap().iter();
        tools.map(|tool| ["tool", "cost", "value", "limit"].map(|key| tool[key].clone())).collect()
    };
    let (command, session) = (&planned["tools"], &state["tasks"][0]["budget"]["first"]["tools"]);
    assert_eq!(of(command), of(session));
    let calculator = &command[0];
    // A thousand tokens in and 150 out are assumed, at a hundred credits a dollar.
    let ask = 0.13;
    assert!((calculator["cost"].as_f64().unwrap() - 1.0 - ask).abs() < 1e-9, "{calculator}");
}

#[test]
fn a_new_store_begins_with_the_past_uses_of_the_workspace() {
    let home = Home::new();
    let line = r#"{"query": "Who is it?", "tool": "calculator", "parameters": {}, "result": "x", "helpful": false}"#;
    home.write("w/experience.jsonl", format!("{line}\n{}\n", line.replace("Who", "What")));
    home.write("w/tasks.txt", "What is 17 times 23?\n");
    home.write(
        "w/tools/echo.toml",
        "name = \"echo\"\ndescription = \"Says it.\"\n[source]\ncommand = [\"cat\"]\n",
    );
    let run = || home.run(&["run", "--workspace", "w", "--no-journal", "--strategy", "direct"]);
    let ran = run();
    assert!(ran.out.contains("2 past uses come with the workspace: w/experience.jsonl"), "{ran:?}");
    let shown = || home.succeed(&["experience", "show", "--workspace", "w"]);
    assert!(shown().starts_with("2 uses in 2 queries"), "{}", shown());
    // What was deleted stays so.
    home.succeed(&["experience", "prune", "--workspace", "w", "--all"]);
    let ran = run();
    assert!(!ran.out.contains("past uses come"), "{ran:?}");
    assert!(shown().starts_with("0 uses") || shown().starts_with("no "), "{}", shown());
    home.write("v/experience.jsonl", "{\n");
    home.write("v/tools/echo.toml", home.read("w/tools/echo.toml"));
    let ran = home.run(&["run", "--workspace", "v", "--no-journal", "hello"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("v/experience.jsonl:1"), "{ran:?}");
}
