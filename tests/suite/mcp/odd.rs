//! The client against servers that keep the protocol nearly: what is plain is taken, the rest fails at once.

use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::tempdir;
use toolyard::mcp::client::Stage;

use super::{call, configuration, log, named, start, tools};
use crate::program::Home;

#[tokio::test]
async fn a_broken_answer_fails_its_call_at_once() {
    let folder = tempdir().unwrap();
    let server = start("cuts", folder.path());
    let echo = named(&tools(&server).await, "echo");
    let begun = Instant::now();
    let failed = call(&*echo, json!({"text": "x"})).await.unwrap_err();
    assert!(failed.text.contains("its answer cannot be read: {\"jsonrpc\""), "{}", failed.text);
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    // A repaired one is an answer like others.
    assert_eq!(
        call(&*named(&tools(&server).await, "fails"), json!({})).await.unwrap(),
        "half \u{FFFD}"
    );
}

#[tokio::test]
async fn a_server_that_fears_other_requests_is_greeted_at_once_from_then_on() {
    let folder = tempdir().unwrap();
    for asked in ["server/discover \ninitialize ", "initialize "] {
        let _ = std::fs::remove_file(folder.path().join("fears.log"));
        let server = start("fears", folder.path());
        assert!(!tools(&server).await.is_empty(), "{:?}", server.stage());
        let log = log("fears", folder.path());
        let methods: Vec<_> = log.lines().filter(|line| !line.starts_with("started")).collect();
        assert!(methods.join("\n").starts_with(asked), "{log}");
    }
}

#[tokio::test]
async fn a_greeting_without_its_plain_parts_is_enough() {
    let folder = tempdir().unwrap();
    let server = start("forgets", folder.path());
    assert!(!tools(&server).await.is_empty(), "{:?}", server.stage());
    let Stage::Ready(offer) = server.stage() else { panic!("{:?}", server.stage()) };
    assert_eq!(offer.program, "");
    let server = start("unnamed", folder.path());
    assert!(tools(&server).await.is_empty());
    let Stage::Down { why, .. } = server.stage() else { panic!("{:?}", server.stage()) };
    assert!(why.contains("no text `protocolVersion`") && !why.contains("exit status"), "{why}");
}

#[tokio::test]
async fn pages_that_come_back_end_the_list_and_a_number_names_a_page() {
    let folder = tempdir().unwrap();
    let server = start("circles", folder.path());
    assert_eq!(tools(&server).await.len(), 1, "{:?}", server.stage());
    // The pane shows what the server has said.
    let said = super::harm::lines(&server).await;
    assert!(said.iter().any(|line| line.ends_with("no message: running 1 test")), "{said:?}");
    let remarks = server.left_out();
    let said = "its list of tools comes back to the page \"same\", and ends there";
    assert!(remarks.iter().any(|remark| remark == said), "{remarks:?}");
    let server = start("counts", folder.path());
    let tools = tools(&server).await;
    let names: Vec<_> = tools.iter().map(|tool| tool.spec().name.to_string()).collect();
    assert_eq!(names, ["counts__first", "counts__page_2"]);
}

#[test]
fn lines_that_are_no_messages_are_counted_and_shown() {
    let home = Home::new();
    let file = configuration(&["garbage"], &home.path("."));
    let checked = home.succeed(&["tools", "check", "--mcp", file.to_str().unwrap()]);
    let at = checked.find("warn  mcp garbage: it wrote ").expect(&checked);
    assert!(checked[at..].contains(" lines that are no messages: running 1 test"), "{checked}");
}
