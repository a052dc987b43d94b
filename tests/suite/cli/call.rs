//! `toolyard tools call`: a tool called by hand.

use serde_json::Value;

use crate::program::{Home, Ran};

fn call(home: &Home, arguments: &[&str]) -> Ran {
    home.run(&[&["tools", "call"], arguments].concat())
}

#[test]
fn a_tool_is_called_with_pairs_or_with_json() {
    let home = Home::new();
    assert_eq!(call(&home, &["calculator", "expression=17 * 23"]).out, "391\n");
    let json = r#"{"expression": "17 * 23"}"#;
    assert_eq!(call(&home, &["calculator", json]).out, "391\n");
    let whole: Value =
        serde_json::from_str(&call(&home, &["calculator", json, "--json"]).out).unwrap();
    assert_eq!((&whole["by"], &whole["tool"]), (&"user".into(), &"calculator".into()));
    assert_eq!(whole["phase"]["done"]["output"]["text"], "391");
}

#[test]
fn what_cannot_be_called_is_said() {
    let home = Home::new();
    for (arguments, code, why) in [
        (&["calculate"][..], 2, "did you mean `calculator`?"),
        (&["calculator"], 2, "arguments.expression: missing"),
        (&["calculator", "17"], 2, "expected NAME=VALUE or one JSON object"),
        (&["calculator", "{"], 2, "not JSON"),
        (
            &["calculator", "expression=1", "--fault", "calculator:error:text=down"],
            1,
            "calculator failed: down",
        ),
    ] {
        let ran = call(&home, arguments);
        assert_eq!(ran.code, code, "{ran:?}");
        assert!(ran.err.contains(why), "{ran:?}");
    }
    let ran = home.run(&["call", "calculator", "expression=1"]);
    assert_eq!(ran.err, "toolyard: `toolyard call` is now `toolyard tools call`\n");
}
