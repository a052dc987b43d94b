//! What a folder or a journal brings is used after one question, which `toolyard trust` lists and withdraws.

use crate::program::Home;
use crate::sitting::Sitting;

const KEY: (&str, &str) = ("OPENAI_API_KEY", "sk-mine-3f9Qw7Zt");

/// Asks a person at a terminal; the screen or the end comes afterwards.
fn sit(home: &Home, words: &[&str], asked: &str, answer: &str) -> Sitting {
    let words = [&[env!("CARGO_BIN_EXE_toolyard")], words].concat();
    let mut sitting = Sitting::of(home, 160, 40, &words, &[KEY]);
    sitting.wait(asked);
    sitting.wait("[y/N]");
    sitting.press(answer);
    sitting
}

#[test]
fn the_answer_about_an_mcp_file_is_kept_for_the_user_and_not_in_the_folder() {
    let home = Home::new();
    home.write("w/tools/a.toml", TOOL);
    home.write("w/.mcp.json", r#"{"mcpServers": {"odd": {"command": "true"}}}"#);
    // The folder brings its own answer, as an earlier version kept it.
    let hash = toolyard::files::sha256::of_file(&home.path("w/.mcp.json")).unwrap();
    let path = home.path("w/.mcp.json").canonicalize().unwrap();
    let brought =
        serde_json::json!({"files": {path.to_str().unwrap(): {"hash": hash, "used": true}}});
    home.write("w/mcp-tools.json", brought.to_string());
    for again in [false, true] {
        let mut sitting = match again {
            false => sit(&home, &["--workspace", "w"], "names 1 MCP server: odd", "n\r"),
            true => Sitting::start(&home, 120, 40, &["--workspace", "w"]),
        };
        sitting.wait_header("PAUSED");
        sitting.press("q");
        sitting.end();
    }
    let list: serde_json::Value =
        serde_json::from_str(&home.succeed(&["trust", "--json"])).unwrap();
    assert_eq!((&list[0]["kind"], &list[0]["used"]), (&"mcp_file".into(), &false.into()), "{list}");
    assert_eq!(list[0]["what"], *hash);
    assert_eq!(list.as_array().unwrap().len(), 1);
    home.succeed(&["trust", "--forget", "1"]);
    home.write("w/.mcp.json", r#"{"mcpServers": {"new": {"command": "true"}}}"#);
    drop(sit(&home, &["--workspace", "w"], "names 1 MCP server: new", "n\r"));
}

const TOOL: &str = "name = \"a\"\ndescription = \"Says a.\"\neffect = \"read\"\n\
    [source]\ncommand = [\"true\"]\n";
