//! `toolyard call`: a tool called by hand.

use serde_json::Value;

use crate::program::Home;

#[test]
fn a_tool_is_called_with_pairs_or_with_json() {
    let home = Home::new();
    assert_eq!(home.succeed(&["call", "calculator", "expression=17 * 23"]), "391\n");
    let json = r#"{"expression": "17 * 23"}"#;
    assert_eq!(home.succeed(&["call", "calculator", json]), "391\n");
    let whole: Value =
        serde_json::from_str(&home.succeed(&["call", "calculator", json, "--json"])).unwrap();
    assert_eq!((&whole["by"], &whole["tool"]), (&"user".into(), &"calculator".into()));
    assert_eq!(whole["phase"]["done"]["output"]["text"], "391");
}

#[test]
fn what_cannot_be_called_is_said() {
    let home = Home::new();
    for (arguments, code, why) in [
        (&["call", "calculate"][..], 2, "did you mean `calculator`?"),
        (&["call", "calculator"], 2, "arguments.expression: missing"),
        (&["call", "calculator", "17"], 2, "expected NAME=VALUE or one JSON object"),
        (&["call", "calculator", "{"], 2, "not JSON"),
        (
            &["call", "calculator", "expression=1", "--fault", "calculator:error:text=down"],
            1,
            "calculator failed: down",
        ),
    ] {
        let ran = home.run(arguments);
        assert_eq!(ran.code, code, "{ran:?}");
        assert!(ran.err.contains(why), "{ran:?}");
    }
}
