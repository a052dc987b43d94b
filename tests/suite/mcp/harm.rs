//! Servers that harm: each is visible, and another server's call beside it is not disturbed.

use std::time::{Duration, Instant};

use futures::StreamExt;
use serde_json::json;
use tempfile::tempdir;
use tokio::time::timeout;
use toolyard::domain::ServerEvent;
use toolyard::domain::fault::Drift;
use toolyard::mcp::client::{McpServer, Stage};
use toolyard::tool::ToolErrorKind;
use toolyard::tool::provider::{Provider, ProviderChange};

use super::{LONG, call, log, named, start, tools};

/// What the server has told within a moment.
pub async fn changes(server: &McpServer) -> Vec<ProviderChange> {
    let mut changes = server.changes();
    let mut all = Vec::new();
    while let Ok(Some(change)) = timeout(Duration::from_millis(700), changes.next()).await {
        all.push(change);
    }
    all
}

/// The lines that it has written.
pub async fn lines(server: &McpServer) -> Vec<String> {
    let said = changes(server).await.into_iter().filter_map(|change| match change {
        ProviderChange::Told(ServerEvent::ServerSaid { lines, .. }) => Some(lines),
        _ => None,
    });
    said.flatten().collect()
}

#[tokio::test]
async fn a_server_that_exits_at_once_says_why_and_is_started_again() {
    let folder = tempdir().unwrap();
    let server = start("exits", folder.path());
    assert!(tools(&server).await.is_empty());
    let Stage::Down { why, again } = server.stage() else { panic!("{:?}", server.stage()) };
    assert!(why.contains("exit status: 3") && why.contains("speaks␛[31m"), "{why}");
    assert_eq!(again, Duration::from_secs(1));
    let twice = async {
        while log("exits", folder.path()).matches("started").count() < 2 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(LONG, twice).await.expect("it is not started again");
    assert!(lines(&server).await.iter().any(|line| line.contains("stand-in exits speaks")));
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_fails_it_and_comes_back() {
    let folder = tempdir().unwrap();
    let server = start("plain", folder.path());
    let mut all = server.changes();
    let listed = tools(&server).await;
    let died = call(&*named(&listed, "dies"), json!({})).await.unwrap_err();
    assert!(died.text.contains("unknown"), "{}", died.text);
    let down = async {
        while matches!(server.stage(), Stage::Ready(_)) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(LONG, down).await.expect("its death is not noticed");
    let away = call(&*named(&listed, "echo"), json!({})).await.unwrap_err();
    assert_eq!(away.kind, ToolErrorKind::Unavailable);
    let back = async {
        let mut had_died = false;
        while let Some(change) = all.next().await {
            match change {
                ProviderChange::Died { why } => {
                    assert!(why.contains("out of memory"), "{why}");
                    had_died = true;
                }
                ProviderChange::Back => return assert!(had_died),
                _ => {}
            }
        }
        panic!("it says nothing")
    };
    timeout(LONG, back).await.expect("it does not come back");
    let echo = named(&tools(&server).await, "echo");
    assert_eq!(call(&*echo, json!({"text": "again"})).await.unwrap(), "again");
}

/// A flood, garbage, silence and endless changes beside a server that works: its calls take as long as alone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn harm_stays_with_the_server_that_does_it() {
    let (folder, started) = (tempdir().unwrap(), Instant::now());
    let harmful: Vec<_> =
        ["floods", "garbage", "silent", "restless"].map(|name| start(name, folder.path())).into();
    let server = start("plain", folder.path());
    let echo = named(&tools(&server).await, "echo");
    let begun = Instant::now();
    for n in 0..50 {
        let text = n.to_string();
        assert_eq!(call(&*echo, json!({"text": text})).await.unwrap(), text);
    }
    // Alone it takes some milliseconds; a server that waits for another one would take seconds.
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    for other in harmful.iter().filter(|other| other.name() != "mcp:silent") {
        let echo = named(&tools(other).await, "echo");
        assert_eq!(call(&*echo, json!({"text": "x"})).await.unwrap(), "x", "{}", other.name());
    }
    assert!(matches!(harmful[2].stage(), Stage::Starting));
    tokio::time::sleep(Duration::from_secs(2)).await;
    let lists = log("restless", folder.path()).matches("tools/list").count();
    // Three pages each, at most once a second.
    let most = 3 * (started.elapsed().as_secs() as usize + 2);
    assert!(lists <= most, "{lists} lists, at most {most}");
    let said = lines(&harmful[0]).await;
    assert!(!said.is_empty() && said.len() < 300, "{} lines", said.len());
    assert!(said.iter().all(|line| line.len() < 1100));
}

#[tokio::test]
async fn a_hostile_definition_is_neither_shown_raw_nor_offered() {
    let folder = tempdir().unwrap();
    let server = start("hostile", folder.path());
    let listed = tools(&server).await;
    let escapes = named(&listed, "escapes");
    assert_eq!(escapes.spec().description, "␛]0;owned␇␛[2Jsum�");
    let large = named(&listed, "large");
    assert!(large.spec().disabled.as_ref().is_some_and(|why| why.contains("bytes")));
    assert!(large.spec().parameters.to_string().len() < 100);
}

/// The others are offered, and a notice names each one with its field.
#[tokio::test]
async fn a_tool_that_cannot_be_read_is_left_out_alone() {
    let folder = tempdir().unwrap();
    let server = start("careless", folder.path());
    let listed = tools(&server).await;
    assert_eq!(listed.len(), 1, "{:?}", server.stage());
    assert_eq!(call(&*named(&listed, "echo"), json!({"text": "x"})).await.unwrap(), "x");
    let left_out = server.left_out();
    let [bad, nameless] = left_out.as_slice() else { panic!("{left_out:?}") };
    assert_eq!(bad, "the tool \"bad\\u{1b}\" is left out: missing field `inputSchema`");
    assert!(nameless.starts_with("tool 3 of its list is left out: name: "), "{nameless}");
    // They are told once, however often the tools are listed.
    server.relist(Some((&"careless__echo".into(), Drift::Rename)));
    let again = async {
        while log("careless", folder.path()).matches("tools/list").count() < 2 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(LONG, again).await.expect("they are not listed again");
    let noticed = changes(&server).await.into_iter().filter_map(|change| match change {
        ProviderChange::Noticed { text } => Some(text),
        _ => None,
    });
    let expected = left_out.iter().map(|it| format!("the MCP server \"careless\": {it}"));
    assert_eq!(noticed.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}
